"""Writes the error messages and the output files of commands, and checks the paths of these files before."""

from __future__ import annotations

import sys
from pathlib import Path

from ..core.errors.errors import PathExists
from ..core.printable_text import terminal_text
from ..local.existing_file import DEVICE, existing, free_path
from ..local.saving import save_bytes


def fail(command: str, message: object, status: int = 2) -> int:
    """Write the error message of a command, and return its exit status."""
    sys.stderr.write(f"svc-notebooks {command}: {terminal_text(message)}\n")
    return status


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """Return an error message for the first path whose file must not be replaced. Return None if there is no error."""
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            return (
                f"{path} exists ({existing_file.facts}); give --overwrite to replace the file, or choose another path"
            )
    return None


def write_report(path: Path, text: str, *, overwrite: bool) -> Path:
    """Write a report and return its path, which is a free name if the file was created after `check_output_paths`."""
    content = text.encode(errors="backslashreplace")  # a file name that is not UTF-8 has lone surrogates
    existing_file = existing(path)
    if existing_file and existing_file.kind == DEVICE:
        path.write_bytes(content)  # such as /dev/stdout
        return path
    try:
        save_bytes(path, content, overwrite=overwrite)
    except PathExists:
        free = free_path(path)
        save_bytes(free, content, overwrite=False)
        sys.stderr.write(f"svc-notebooks: {path} exists now; the report is {free}\n")
        return free
    return path
