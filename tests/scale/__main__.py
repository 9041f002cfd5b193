"""Runs the tests of a service on PostgreSQL with a server of their own: `make scale`.

    python -m tests.scale               the tests of this folder, and the contract suite
    python -m tests.scale --sample      the tests of this folder, and a part of the contract suite (90 s)
    python -m tests.scale -k uploads    further arguments go to pytest

Exit status 77: PostgreSQL cannot be started, for the reason that is printed.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.contract.tested_store import SERVER
from tests.scale.postgres_server import NoServer, running_server

_SAMPLE_OPTION = "--sample"
_SAMPLE = [
    "tests/contract/files/test_list.py",
    "tests/contract/files/test_permissions.py",
    "tests/contract/events/test_changes.py",
    "tests/contract/notifications/test_watchable.py",
    "tests/contract/uploads/test_simple.py",
]
"""Tests with searches, roles, sync tokens, messages and uploads."""


def main(arguments: list[str]) -> int:
    """Start a server, run the tests, and return the exit status."""
    is_sample = _SAMPLE_OPTION in arguments
    arguments = [each for each in arguments if each != _SAMPLE_OPTION]
    pytest = [sys.executable, "-m", "pytest", "-p", "no:nbval", "-q"]
    runs = [["-m", "scale", "tests/scale"], ["-n", "2", "tests/contract"]]
    if is_sample:
        runs = [[*runs[0], "-k", "not killed and not refused"], ["-n", "2", *_SAMPLE]]
    try:
        with running_server() as address:
            environment = {**os.environ, SERVER: address}
            statuses = [
                subprocess.run([*pytest, *run, *arguments], env=environment, check=False).returncode for run in runs
            ]
    except NoServer as error:
        print(f"make scale: {error}", file=sys.stderr)
        return 77
    return next((status for status in statuses if status not in (0, 5)), 0)  # 5: -k selects no test of a run


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
