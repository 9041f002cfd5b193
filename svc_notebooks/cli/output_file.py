"""Checks the paths of a command's output files before its work, and writes the files."""

from __future__ import annotations

import sys
from pathlib import Path

from ..core.errors.errors import PathExists
from ..local.existing_file import DEVICE, existing
from ..local.paths import free_path
from ..local.saving import save_bytes


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """Return an error message for the first path that may not be written, None if there is none."""
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            return f"{path} exists ({existing_file.facts}); give --overwrite to replace it, or name another file"
    return None


def write_report(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a report. If the file was created meanwhile, use a free name beside it and print that."""
    content = text.encode()
    existing_file = existing(path)
    if existing_file and existing_file.kind == DEVICE:
        path.write_bytes(content)  # as /dev/stdout
        return
    try:
        save_bytes(path, content, overwrite=overwrite)
    except PathExists:
        free = free_path(path)
        save_bytes(free, content, overwrite=False)
        sys.stderr.write(f"svc-notebooks: {path} exists now; the report is {free}\n")
