"""The public functions work with a service that has the names and the rules of other deployments."""

from collections.abc import Iterator

import pytest

import svc_notebooks as svc
from svc_notebooks import Sandbox
from tests.family import FAMILY, FAMILY_POLICY


@pytest.fixture
def lab() -> Iterator[Sandbox]:
    with svc.sandbox(names=FAMILY, policy=FAMILY_POLICY) as lab:
        yield lab


@pytest.mark.parametrize("upload_type", ["media", "multipart", "resumable"])
def test_new_content_is_sent_with_the_method_of_the_deployment(lab, upload_type):
    metadata = {} if upload_type == "media" else {"description": "second"}
    file = svc.upload(b"one", name="a.txt")

    svc.update(file, b"two", upload_type=upload_type, **metadata)

    assert svc.read(file) == b"two"
    assert (svc.exchanges()["method"] == "PATCH").sum() == 1


def test_a_channel_on_the_change_log_says_from_where(lab):
    receiver = svc.receiver(direct=True)

    svc.watch_changes(receiver)
    svc.upload(b"new", name="new.txt")

    assert receiver.wait_for("change")["kind"].tolist() == ["drive#changes"]
    watched = svc.exchanges()[lambda rows: rows["path"] == "/drive/v3/changes/watch"]
    assert watched["status"].tolist() == [400, 200]
    assert watched["query"].str.contains("pageToken=").tolist() == [False, True]


def test_a_scope_has_the_name_of_the_deployment(lab):
    for scope in ("drive.readonly", "https://www.googleapis.com/auth/drive.readonly", "storage.readonly"):
        session = lab.sign_in("bob@svc.example", scopes=[scope])
        assert svc.token_info(session=session)["scopes"].item() == ["drive.readonly"]
        assert svc.files(session=session).empty
