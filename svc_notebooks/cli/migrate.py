"""Implements `svc-notebooks migrate`, which copies a store from a folder to PostgreSQL, or back."""

import argparse
import sys


def migrate(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, or 2 if the store could not be copied or discarded."""
    from ..server.auth.token_file import TOKEN_FILE
    from ..server.state.migration import discard, migrate
    from ..server.state.user_backup import BACKUPS

    def report(step: str) -> None:
        sys.stderr.write(f"svc-notebooks migrate: {step}\n")

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
