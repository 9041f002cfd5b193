"""Writes notebooks of students, with one cell for each text."""

import json
from pathlib import Path

FIRST = "import svc_notebooks as svc\nfrom svc_notebooks import course"
SOLVED = """given = course.exercise("upload-with-a-name").begin()
svc.upload(given.content, name=given.name)"""


def notebook(*cells: str) -> bytes:
    every = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    return json.dumps({"cells": every, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def write_notebook(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook(*cells))
    return path
