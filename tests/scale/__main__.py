"""Runs the tests of a service on PostgreSQL and in a bucket with servers of their own: `make scale`.

    python -m tests.scale               the tests of this folder, and the contract suite in one process, partly with
                                        contents in a bucket, and in two processes
    python -m tests.scale --sample      some tests of this folder and of the contract suite (90 s)
    python -m tests.scale --two FOLDERS only the contract suite, or some folders of it, in two processes
    python -m tests.scale --writes      only measures the writes a second, see tests/scale/writes.py
    python -m tests.scale -k uploads    further arguments go to pytest

Exit status 77: PostgreSQL or the S3 server (make s3-env) cannot be started, for the reason that is printed.
"""

import os
import signal
import subprocess
import sys

from tests.contract.tested_store import BUCKETS, SERVER, TWO_WORKERS
from tests.s3_server import ENDPOINT, NoS3Server, s3_endpoint
from tests.scale import writes
from tests.scale.postgres_server import NoServer, running_server

_PYTEST = [sys.executable, "-m", "pytest", "-p", "no:nbval", "-q", "-rs"]
_BLOBS = "tests/unit/server/test_blobs.py"
_SAMPLE_OPTION, _TWO_OPTION = "--sample", "--two"
_SAMPLE_OF_SCALE = [
    "test_bucket.py::test_a_large_part_is_a_multipart_upload",
    "test_deploy.py::test_a_worker_gets_and_stores_the_bytes_of_a_chunk_that_stops_in_its_middle",
    "test_migrate.py::test_a_client_goes_on_after_a_copy_to_postgresql_and_back[folder]",
    "test_postgres.py::test_names_are_sorted_by_their_bytes_and_found_regardless_of_case",
    "test_postgres.py::test_the_service_connects_again_after_the_server_has_ended_its_connections",
    "test_postgres_upgrades.py::test_an_old_database_is_upgraded_with_all_rows",
    "test_statements.py::test_a_request_needs_few_round_trips",
    "test_sweep.py::test_parts_that_no_row_names_are_swept[bucket]",
    "test_two_processes.py::test_no_update_is_lost",
    "test_two_processes.py::test_no_change_is_hidden_from_a_list_of_changes",
    "test_two_processes.py::test_no_change_is_hidden_from_an_incremental_sync",
    "test_two_processes.py::test_a_revoked_token_is_refused_by_the_other_process",
    "test_two_processes.py::test_every_message_is_sent_once_and_in_order",
    "test_two_processes.py::test_the_chunks_of_an_upload_reach_different_processes[bucket]",
]
_SAMPLE = [
    *(f"tests/scale/{test}" for test in _SAMPLE_OF_SCALE),
    "tests/contract/files/test_permissions.py",
    "tests/contract/events/test_changes.py",
    "tests/contract/notifications/test_calendar_watches.py",
    "tests/contract/uploads/test_simple.py",
]
"""One test of each kind, and contract tests of roles, sync tokens, messages and uploads with contents in a bucket."""

_SAMPLE_OF_TWO = ["tests/contract/control/test_rate_limits.py"]
"""Tests of the clock and of what requests count, in two processes."""

_CONTENTS = ["tests/contract/uploads", "tests/contract/files/test_download.py"]
"""Tests that write and read contents, which run with a bucket, too."""


def main(arguments: list[str]) -> int:
    if "--writes" in arguments:
        return writes.main([each for each in arguments if each != "--writes"])
    is_sample, is_two = _SAMPLE_OPTION in arguments, _TWO_OPTION in arguments
    folders = [each for each in arguments if each.startswith("tests/")] or ["tests/contract"]
    options = [each for each in arguments if each not in (_SAMPLE_OPTION, _TWO_OPTION, *folders)]
    own, contract = ["-m", "scale", "tests/scale", _BLOBS], ["-n", "2", *folders]
    try:
        with running_server() as server, s3_endpoint() as endpoint:
            servers = {**os.environ, SERVER: server, ENDPOINT: endpoint}
            bucket = servers | {BUCKETS: "s3://tests", "AWS_ENDPOINT_URL": endpoint}
            two = servers | {TWO_WORKERS: "1"}
            runs = [(own, servers), (contract, servers), (["-n", "2", *_CONTENTS], bucket), (contract, two)]
            if is_two:
                runs = runs[-1:]
            if is_sample:  # with files and not tests as units, so that tests share their processes
                sample = ["-m", "", "-n", "2", "--dist", "loadfile", *_SAMPLE]
                runs = [(sample, bucket), (["-n", "2", *_SAMPLE_OF_TWO], two)]
            statuses = [
                subprocess.run([*_PYTEST, *run, *options], env=environment, check=False).returncode
                for run, environment in runs
            ]
    except (NoServer, NoS3Server) as error:
        print(f"make scale: {error}", file=sys.stderr)
        return 77
    return next((status for status in statuses if status not in (0, 5)), 0)  # 5: -k selects no test of a run


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    sys.exit(main(sys.argv[1:]))
