"""Uploads, downloads and channels under random plans of faults: success with the same content, or a clear error
after which the same call succeeds; requests within a bound; one file; messages in order."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note

from svc_notebooks.server.transports.socket_server import SocketServer
from tests.examples import examples
from tests.fuzz import fault_plans
from tests.scripted import Q

pytestmark = pytest.mark.spec(
    "X-05", "X-05a", "X-05b", "A3-20", "A3-21", "A3-21a", "A3-21b", "A6-06", "A6-06c", "N-02", "N-08", "N-08b"
)

FOR_EVER = {"steps": [{"match": {}, "times": fault_plans.ENDLESS, "action": {"status": 503}}]}
NO_END = {
    "upload": fault_plans.Upload(2 * Q, "resumable", "bytes", 1, False, FOR_EVER),
    "download": fault_plans.Download(2 * Q, None, 1, True, FOR_EVER),
    "watch": fault_plans.Watch(2, (503,) * 12, FOR_EVER),
}
SCENES = {
    "upload": (fault_plans.UPLOADS, fault_plans.run_upload),
    "download": (fault_plans.DOWNLOADS, fault_plans.run_download),
    "watch": (fault_plans.WATCHES, fault_plans.run_watch),
}


def search(scene: str, lab: fault_plans.Lab, share: float) -> None:
    strategy, run = SCENES[scene]

    @examples(share, suppress_health_check=list(HealthCheck))
    @given(given_plan=strategy)
    def once(given_plan: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lab.folder = Path(folder)
            note(repr(given_plan))
            ends[run(lab, given_plan)] += 1

    ends: Counter[str] = Counter()
    once()
    print(f"{scene}: {ends.total()} plans: {dict(ends.most_common())}")
    assert ends["success"]
    assert len(ends) > 1, "some plans must be too much"


@pytest.mark.parametrize("scene", SCENES)
def test_whatever_breaks_the_content_is_the_same_in_the_end(scene):
    search(scene, fault_plans.Lab(), 1)


@pytest.mark.parametrize("scene", SCENES)
def test_nobody_tries_for_ever(scene, tmp_path):
    assert SCENES[scene][1](fault_plans.Lab(folder=tmp_path), NO_END[scene]) != "success"


def plan_step(action: dict[str, Any], **match: Any) -> dict[str, Any]:
    return {"steps": [{"match": match, "action": action}]}


LOST, CUT = plan_step({"reset": "after"}), plan_step({"cut_response_after": Q + 5}, operation="files.get", nth=2)
OF_SESSION = plan_step({"reset": "after"}, operation="upload.session")
HARD = {
    "a receipt that is lost, of one request": (
        fault_plans.Upload(10, "media", "bytes", -1, False, LOST),
        "Interrupted",
    ),
    "the same with an id": (fault_plans.Upload(10, "multipart", "bytes", -1, True, LOST), "success"),
    "the same of a session": (fault_plans.Upload(10, "resumable", "path", 1, False, OF_SESSION), "success"),
    "a download that breaks": (fault_plans.Download(3 * Q, None, 1, True, CUT), "success"),
    "a part that breaks": (fault_plans.Download(3 * Q, 100, 2 * Q, True, CUT), "success"),
}


@pytest.mark.parametrize("case", HARD)
def test_what_is_easily_done_wrong(case, tmp_path):
    given_plan, end = HARD[case]
    run = fault_plans.run_upload if isinstance(given_plan, fault_plans.Upload) else fault_plans.run_download

    assert run(fault_plans.Lab(folder=tmp_path), given_plan) == end


@pytest.mark.parametrize("scene", SCENES)
def test_over_a_socket_it_is_the_same(scene):
    lab = fault_plans.Lab()
    with SocketServer(lab.service) as server:
        lab.base_url = server.base_url
        search(scene, lab, 0.2)
