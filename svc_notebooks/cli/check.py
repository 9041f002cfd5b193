"""Implements `svc-notebooks check`, which checks a service's data folder for damage."""

import argparse
import json
import sys


def check(options: argparse.Namespace) -> int:
    """Check a store, print a report, and return 0 without damage, 1 with damage, or 2 if the check failed."""
    from ..server.state.check import check_store

    try:
        report = check_store(options.directory)
    except OSError as error:
        sys.stderr.write(f"svc-notebooks check: {error}\n")
        return 2
    text = json.dumps(report.as_json(), indent=2) if options.json else "\n".join(report.lines())
    sys.stdout.write(text + "\n")
    return 1 if report.problems else 0
