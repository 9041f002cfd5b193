"""Writes the output files of a command; checks before the work that no existing file is in the way."""

from __future__ import annotations

import sys
from pathlib import Path

from ..core.errors.errors import PathExists
from ..local.existing_file import DEVICE, existing
from ..local.paths import free_path
from ..local.saving import save_bytes


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """What is wrong with these paths, None if all may be written."""
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            return f"{path} exists ({existing_file.facts}); give --overwrite to replace it, or name another file"
    return None


def write_report(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a report; beside a file that came meanwhile, under a free name, which is said."""
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
