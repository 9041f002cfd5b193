"""Implements `svc-notebooks backup`, `check`, `migrate` and `sweep`, the commands for a store."""

import argparse
import json
import sys
import time
from datetime import UTC, datetime

from ..core.printable_text import terminal_text
from .output_file import fail


def backup(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, 1 if a part of the store is damaged, or 2 if the copy failed."""
    from ..server.auth.class_accounts import TOKEN_FILE
    from ..server.store.backup import back_up
    from ..server.user_backup import BACKUPS

    try:
        result = back_up(options.directory, options.target, TOKEN_FILE, BACKUPS)
    except OSError as error:
        return fail("backup", error)
    for problem in result.damaged:
        sys.stderr.write(
            f"svc-notebooks backup: {terminal_text(problem)}; svc-notebooks check {options.directory} names its files\n"
        )
    sys.stdout.write(f"{options.target}: {result.files:,} files, {result.size:,} bytes in {result.parts:,} parts\n")
    return 1 if result.damaged else 0


def check(options: argparse.Namespace) -> int:
    """Check a store, print a report, and return 0 without damage, 1 with damage, or 2 if the check failed."""
    from ..server.store.check import check_store

    try:
        report = check_store(options.directory)
    except OSError as error:
        return fail("check", error)
    text = json.dumps(report.as_json(), indent=2) if options.json else "\n".join(map(terminal_text, report.lines()))
    sys.stdout.write(text + "\n")
    return 1 if report.problems else 0


def migrate(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, or 2 if the store could not be copied or discarded."""
    from ..server.auth.class_accounts import TOKEN_FILE
    from ..server.store.migration import discard, migrate
    from ..server.user_backup import BACKUPS

    def report(step: str) -> None:
        sys.stderr.write(f"svc-notebooks migrate: {terminal_text(step)}\n")

    try:
        if options.discard:
            discard(options.source, options.target, options.content)
            sys.stdout.write("the unfinished copy was deleted\n")
            return 0
        done = migrate(options.source, options.target, options.content, (TOKEN_FILE, BACKUPS), report)
    except KeyboardInterrupt:
        report("interrupted; repeat the command to continue, or add --discard to delete what was copied")
        return 130
    except (ImportError, OSError, ValueError) as error:
        report(str(error))
        return 2
    for name in done.left:
        report(f"{name} was not copied, because the contents have no folder: keep the file")
    before = f", {done.reused:,} of them in an earlier run" if done.reused else ""
    sys.stdout.write(
        f"copied and verified: {done.rows:,} rows, {done.size:,} bytes in {done.parts:,} parts{before}\n"
        "the source is unchanged: do not start both, because both would deliver the messages of the same channels\n"
    )
    return 0


def sweep(options: argparse.Namespace) -> int:
    """List or delete stray parts, and return 0, 1 if a part could not be deleted, or 2 if the store cannot be used."""
    from ..server.store.migration import sweep

    try:
        swept = sweep(options.store, options.content, min_age=options.min_age, now=time.time(), delete=options.delete)
    except (ImportError, OSError, ValueError) as error:
        return fail("sweep", error)
    for part in swept.old:
        written = datetime.fromtimestamp(part.modified, UTC).isoformat(timespec="seconds")
        state = "deleted" if part.key in swept.deleted else "stays" if options.delete else "found"
        sys.stdout.write(f"{state}: {terminal_text(part.key)}  {part.size:,} bytes  {written}\n")
    size = sum(part.size for part in swept.old)
    sys.stdout.write(f"{len(swept.old):,} parts with {size:,} bytes belong to no file or upload\n")
    if swept.younger:
        sys.stdout.write(f"{swept.younger:,} further parts are younger than --min-age\n")
    if swept.old and not options.delete:
        sys.stdout.write("nothing was deleted: add --delete to delete them\n")
    return 1 if options.delete and len(swept.deleted) < len(swept.old) else 0
