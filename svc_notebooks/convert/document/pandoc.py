"""Runs pandoc as a sandboxed subprocess with limits of memory and time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from ..engines.available import pandoc
from ..job import ConversionError, Job, TooLarge
from .model import Document

_HEAP_EXHAUSTED = 251


def read(source: bytes, reader: str, job: Job, *options: str) -> dict[str, Any]:
    """Parse a source with pandoc's reader `reader`, and return the tree.

    Pandoc extracts pictures to the job's folder `media`. Raises ConversionError if pandoc cannot read the source, and
    TooLarge if a limit of memory, time or nesting is exceeded.
    """
    extract = f"--extract-media={job.folder / 'media'}"
    text = run((f"--from={reader}", "--to=json", extract, *options), source, job)
    try:
        tree: dict[str, Any] = json.loads(text)
    except RecursionError as error:
        raise TooLarge("the document is nested too deeply.") from error
    return tree


def write(document: Document, writer: str, job: Job, *options: str) -> bytes:
    """Convert a document with a pandoc writer. Image targets must be data URIs or valid paths in the target file."""
    tree = json.dumps(document.tree, ensure_ascii=False).encode("utf-8", "replace")
    return run(("--from=json", f"--to={writer}", "--output=-", "--syntax-highlighting=none", *options), tree, job)


def run(options: Sequence[str], source: bytes, job: Job) -> bytes:
    """Run pandoc with standard input `source`, and return standard output.

    Pandoc can access only files that the options name, and no network. SOURCE_DATE_EPOCH is `job.now`. Raises
    ConversionError if pandoc reports an error, and TooLarge if pandoc exceeds the limit of memory or time.
    """
    environment = {
        "LANG": "C.UTF-8",
        "HOME": str(job.folder),
        "SOURCE_DATE_EPOCH": str(int(job.now.timestamp())),
        "PATH": "",
    }
    command = [
        str(pandoc()),
        "+RTS",
        f"-M{job.limits.memory * 9 // 10}",
        "-RTS",
        "--sandbox",
        f"--data-dir={job.folder}",
        *options,
    ]
    try:
        process = subprocess.run(
            command, input=source, capture_output=True, check=False, env=environment, cwd=job.folder,
            timeout=job.limits.seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:  # pandoc has no time limit of its own
        raise TooLarge(f"the conversion took more than {job.limits.seconds:g} seconds.") from error
    if process.returncode == _HEAP_EXHAUSTED:
        raise TooLarge("the conversion needs more memory than the limit.")
    if process.returncode:
        raise ConversionError(_reason(process.stderr))
    return process.stdout


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    message = next((line for line in lines if not line.startswith("[WARNING]")), "")
    return (
        f"the file is damaged, or does not match its media type: {message[:200]}" if message else "the file is damaged."
    )
