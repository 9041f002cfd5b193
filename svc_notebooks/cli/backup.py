"""Implements `svc-notebooks backup`, which copies a service's data folder while the service uses it."""

import argparse
import sys


def backup(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, 1 if a part of the store is damaged, or 2 if the copy failed."""
    from ..server.auth.token_file import TOKEN_FILE
    from ..server.state.backup import back_up
    from ..server.state.user_backup import BACKUPS

    try:
        result = back_up(options.directory, options.target, TOKEN_FILE, BACKUPS)
    except OSError as error:
        sys.stderr.write(f"svc-notebooks backup: {error}\n")
        return 2
    for problem in result.damaged:
        sys.stderr.write(f"svc-notebooks backup: {problem}; svc-notebooks check {options.directory} names its files\n")
    sys.stdout.write(f"{options.target}: {result.files:,} files, {result.size:,} bytes in {result.parts:,} parts\n")
    return 1 if result.damaged else 0
