"""Checks the output paths of a command before the command begins its work, and writes the output files."""

from __future__ import annotations

import sys
from pathlib import Path

from ..core.errors.errors import PathExists
from ..local.existing_file import DEVICE, existing
from ..local.paths import free_path
from ..local.saving import save_bytes


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """Return an error message for the first output path whose file exists, or None if all paths can be written.

    A path that is None is ignored. With `overwrite`, files can be replaced.
    """
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            return f"{path} exists ({existing_file.facts}); give --overwrite to replace it, or name another file"
    return None


def write_report(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a report to a file.

    If the file has been created since `check_output_paths`, write the report to a free name in the folder, and print
    the name.
    """
    content = text.encode()
    existing_file = existing(path)
    if existing_file and existing_file.kind == DEVICE:
        path.write_bytes(content)  # such as /dev/stdout
        return
    try:
        save_bytes(path, content, overwrite=overwrite)
    except PathExists:
        free = free_path(path)
        save_bytes(free, content, overwrite=False)
        sys.stderr.write(f"svc-notebooks: {path} exists now; the report is {free}\n")
