"""Runs an answer as a student would: below `begin()`, with whatever happens in it."""

# ruff: noqa: E501 - a line of code is a line

import contextlib
import io

import svc_notebooks as svc
from svc_notebooks import course
from svc_notebooks.course.catalogue import solution_code
from svc_notebooks.course.definition import Verdict

BEGINNING = r"""import contextlib, itertools, json, tempfile
import pandas as pd
from svc_notebooks.course.catalogue import solution_code
from urllib.parse import quote
JSON = {"Content-Type": "application/json"}
def send(method, path, value=None, **headers):
    body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
    return given.send(method, path, {**JSON, **{name.replace("_", "-"): text for name, text in headers.items()}}, body)
def multipart(metadata, content, method="POST", path="/upload/storage/v3/files"):
    parts = json.dumps(metadata).encode() + b"\r\n--x\r\nContent-Type: text/plain\r\n\r\n" + content + b"\r\n--x--"
    body = b"--x\r\nContent-Type: application/json\r\n\r\n" + parts
    return given.send(method, path + "?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"}, body)
def batch(method, path, value):
    part = f"{method} {path} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{json.dumps(value)}"
    body = f"--b\r\nContent-Type: application/http\r\n\r\n{part}\r\n--b--".encode()
    return given.send("POST", f"/batch/{path.split('/')[1]}/v3", {"Content-Type": "multipart/mixed; boundary=b"}, body)
def stored(response): return int(response.headers["Range"].rpartition("-")[2]) + 1 if "Range" in response.headers else 0
def put(uri, first, content, total, method="PUT"):
    return given.send(method, uri, {"Content-Range": f"bytes {first}-{first + len(content) - 1}/{total}"}, content)
def ask(uri, total, method="PUT"): return given.send(method, uri, {"Content-Range": f"bytes */{total}"})
def session(**metadata): return send("POST", "/upload/storage/v3/files?uploadType=resumable", metadata).headers["Location"]
def solved(*changes):
    code = solution_code("two-way-sync")[0]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in code, old
        code = code.replace(old, new)
    exec(code, globals())
"""
"""The code before each answer in right.py and wrong.py."""


def solution(name: str) -> str:
    return solution_code(name)[0]


def answered(name: str, code: str, seed: str | int = 0) -> Verdict:
    """What the check says of an answer; its exceptions are the student's, and stay there."""
    exercise = course.exercise(name, seed=seed)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            given = exercise.begin()
            with contextlib.suppress(Exception):
                exec(compile(code, name, "exec"), {"svc": svc, "course": course, "given": given})
        return exercise.check()
    finally:
        exercise.reset()


def read(text: str) -> dict[str, dict[str, str]]:
    """The code of each answer by exercise and idea, from texts as in right.py and wrong.py.

    "== name" begins an exercise, and "-- idea" an answer. The lines before the first answer are part of all answers.
    """
    answers: dict[str, dict[str, str]] = {}
    for exercise in text.split("\n== ")[1:]:
        head, *entries = exercise.rstrip("\n").split("\n-- ")
        name, _, beginning = head.partition("\n")
        for entry in entries:
            idea, _, code = entry.partition("\n")
            answers.setdefault(name, {})[idea] = f"{BEGINNING}{beginning}\n{code}\n"
    return answers
