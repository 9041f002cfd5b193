"""Everything that the client receives has a bound, whatever a service declares (tests/hostile_service.py)."""

import json
import subprocess
import sys

import pytest

from svc_notebooks.client.transport.bounds import EXPORT
from tests.hostile_service import EVERY, LIES, HostileService

ERRORS = {"BadRequest", "ContentMismatch", "Interrupted", "RateLimited", "ServiceFailed"}
# The lies that a function does not notice, because it gets what it has asked for.
TOLERATED = {
    ("a short length", "export"),  # the size of an export is not known before
    ("short chunks", "export"),
    ("short chunks", "download of a part"),  # has the part
    ("chunks of one byte", "export"),
    ("chunks of one byte", "download of a part"),  # has the part
    ("extensions of chunks", "download of a part"),  # has the part
    ("many names", "export"),
    ("gzip that is cut", "download of a part"),
    ("206 of more", "export"),
    ("206 of another place", "download of a part"),  # is the place of the part
    ("deep JSON", "export"),
    ("a long text", "export"),
}


@pytest.fixture(scope="module")
def report():
    service = HostileService()
    command = [sys.executable, "-m", "tests.hostile_service", service.url]
    yield json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    service.close()


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_one_short_error_of_the_service(report, lie):
    for function, outcome in report["outcomes"][lie].items():
        if (lie, function) not in TOLERATED:
            assert outcome.partition(":")[0] in ERRORS, (function, outcome)
            assert len(outcome) < 2300


def test_honest_answers_are_returned_and_lies_take_little_memory_and_disk_space(report):
    assert {report["outcomes"]["honesty"][function] for function in EVERY} == {"returned"}
    assert report["memory"] < 100_000_000
    assert report["left"] < EXPORT.most
