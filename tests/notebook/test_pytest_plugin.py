"""The pytest plugin that users of the package get: its fixtures, its marker and its section in reports."""

import pytest

from svc_notebooks.pytest_plugin import ServedSandbox

pytest_plugins = ["pytester"]

PASSING = """
import sys

import pytest
import requests
import svc_notebooks as svc
from svc_notebooks import Policy

ids = []


def test_nothing_is_imported_before_a_fixture_is_used():
    assert "svc_notebooks.pytest_plugin" in sys.modules
    assert not {"pandas", "sqlalchemy", "svc_notebooks.server.service"} & sys.modules.keys()


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_a_service_of_its_own_with_the_same_ids(svc_service, turn):
    headers = {"Authorization": f"Bearer {svc_service.token}"}
    url = f"{svc_service.base_url}/upload/storage/v3/files?uploadType=media"
    ids.append(requests.post(url, data=b"hello", headers=headers).json()["id"])
    assert len(svc_service.lab.journal()) == 1
    assert len(set(ids)) == 1


def test_the_session_is_current_during_the_test(svc_sandbox):
    assert len(svc.upload(b"hello", name="a.txt")) == len(svc.files()) == 1


def test_the_session_is_not_current_after_the_test():
    with pytest.raises(RuntimeError, match="no session"):
        svc.files()


@pytest.mark.svc(tls=True, policy=Policy(chunk_rule="floor"))
class TestOptions:
    @pytest.mark.svc(policy=Policy(chunk_rule="strict"))
    def test_the_marker_of_the_function_wins(self, svc_service):
        headers = {"Authorization": f"Bearer {svc_service.token}"}
        address = f"{svc_service.base_url}/storage/v3/files"
        assert address.startswith("https://")
        assert requests.get(address, headers=headers, verify=str(svc_service.ca)).status_code == 200
        assert svc_service.lab.service.policy.chunk_rule == "strict"

    @pytest.mark.svc(tls=False, fault_delay="clock", rate_limit=5)
    def test_the_marker_adds_settings_to_the_policy(self, svc_service):
        before = svc_service.lab.clock.now()
        with svc_service.lab.faults(delay="1 hour"):
            requests.get(svc_service.base_url + "/storage/v3/files", timeout=60)
        assert (svc_service.lab.clock.now() - before).total_seconds() == 3600
        assert svc_service.lab.service.policy.rate_limit == 5


def test_a_delay_is_real_time_for_a_client_on_the_socket(svc_service):
    with svc_service.lab.faults(delay=0.5), pytest.raises(requests.Timeout):
        requests.get(svc_service.base_url + "/storage/v3/files", timeout=0.05)
"""

FAILING = """
import pytest
import requests


def test_list(svc_service):
    address = f"{svc_service.base_url}/storage/v3/files"
    requests.get(f"{address}/nothing", headers={"Authorization": f"Bearer {svc_service.token}"})
    assert requests.get(address + "?pageSize=1").status_code == 200


def test_no_request(svc_sandbox):
    raise AssertionError


@pytest.mark.svc(polcy=None)
def test_misspelt_option(svc_sandbox):
    pass


@pytest.mark.svc("strict")
def test_option_without_a_name(svc_sandbox):
    pass


@pytest.mark.svc(policy="strict")
def test_option_of_a_wrong_type(svc_sandbox):
    pass
"""


def test_fixtures_the_marker_and_reports(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_1_passing=PASSING, test_2_failing=FAILING)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbval")

    result.assert_outcomes(passed=8, failed=2, errors=3)
    result.stdout.fnmatch_lines(["*takes seed*, tls and the settings of Policy as keyword arguments, not polcy"])
    result.stdout.fnmatch_lines(["*the settings of Policy as keyword arguments, not 'strict'"])
    result.stdout.fnmatch_lines(["*TypeError: policy must be a Policy*, not str"])
    result.stdout.fnmatch_lines(
        [
            "*requests to the svc service*",
            "GET /storage/v3/files/nothing -> 404 (*)",
            "GET /storage/v3/files[?]pageSize=1 -> 401 (*)",
            "*requests to the svc service*",
            "The service received no request.",
        ]
    )


def test_a_service_shows_its_address_and_not_its_token() -> None:
    assert repr(ServedSandbox("http://127.0.0.1:1", "secret", None, None)) == "<ServedSandbox http://127.0.0.1:1>"  # type: ignore[arg-type]
