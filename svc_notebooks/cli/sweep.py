"""Implements `svc-notebooks sweep`, which lists or deletes parts that belong to no file."""

import argparse
import sys
import time
from datetime import UTC, datetime


def sweep(options: argparse.Namespace) -> int:
    """List or delete stray parts, and return 0, 1 if a part could not be deleted, or 2 if the store cannot be used."""
    from ..server.state.sweep import sweep

    try:
        swept = sweep(options.store, options.content, min_age=options.min_age, now=time.time(), delete=options.delete)
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"svc-notebooks sweep: {error}\n")
        return 2
    for part in swept.old:
        written = datetime.fromtimestamp(part.modified, UTC).isoformat(timespec="seconds")
        state = "deleted" if part.key in swept.deleted else "stays" if options.delete else "found"
        sys.stdout.write(f"{state}: {part.key}  {part.size:,} bytes  {written}\n")
    size = sum(part.size for part in swept.old)
    sys.stdout.write(f"{len(swept.old):,} parts with {size:,} bytes belong to no file or upload\n")
    if swept.younger:
        sys.stdout.write(f"{swept.younger:,} further parts are younger than --min-age\n")
    if swept.old and not options.delete:
        sys.stdout.write("nothing was deleted: add --delete to delete them\n")
    return 1 if options.delete and len(swept.deleted) < len(swept.old) else 0
