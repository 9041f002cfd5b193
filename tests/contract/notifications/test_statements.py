"""Rules about channels and messages that no other test proves (A8 to A10, Events)."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from svc_notebooks.core.http.messages import Disconnected
from tests.contract.calendar_client import BOB
from tests.contract.conftest import Wire
from tests.contract.watch_client import Watch, open_watch

BROKEN = (Disconnected, http.client.HTTPException, OSError)


@pytest.fixture
def watch(wire: Wire) -> Iterator[Watch]:
    with open_watch(wire) as watch:
        yield watch


@pytest.mark.spec("N-07", "N-07a", "N-07c")
def test_every_message_has_a_content_type_of_json_and_the_length_of_its_body(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    watch.file(file)
    watch.changes()
    watch.patch(file, {"name": "other"})
    watch.messages()

    assert len(watch.receiver.requests) == 4
    for message in watch.receiver.requests:
        assert message.headers["content-type"].partition(";")[0] == "application/json"
        assert message.headers["content-length"] == str(len(message.body))
    assert {bool(message.body) for message in watch.receiver.requests} == {True, False}


@pytest.mark.spec("N-01", "N-01a")
def test_sync_may_arrive_before_the_answer_to_the_watch(watch: Watch) -> None:
    """The response is lost and the sync message arrives, because it does not wait for the response."""
    file = watch.wire.create()["id"]
    step = {"match": {"operation": "files.watch"}, "action": {"reset": "after"}}
    with watch.wire.service.faults(step), pytest.raises(BROKEN):
        watch.file(file)

    (message,) = watch.receiver.wait_for(1)
    assert (watch.own_channel_id(message.channel_id), message.resource_state, message.number) == (
        "channel-1",
        "sync",
        1,
    )


@pytest.mark.spec("A8-08", "A8-08a")
@pytest.mark.parametrize("service_account", [False, True], ids=["user", "service account"])
def test_a_user_with_access_to_a_file_may_watch_it(watch: Watch, service_account: bool) -> None:
    wire = watch.wire
    file = wire.create()["id"]
    reader = wire.service.sign_in(BOB, service_account=service_account)
    path = f"/storage/v3/files/{file}/watch"
    assert wire.post_json(path, watch.request(), token=reader).status == 404
    body = {"type": "user", "role": "reader", "emailAddress": BOB}
    assert wire.post_json(f"/storage/v3/files/{file}/permissions", body).status == 200

    assert wire.post_json(path, watch.request(), token=reader).status == 200
    watch.new_messages()
    watch.patch(file, {"name": "other"})
    assert watch.new_messages() == [("channel-2", "update", "properties")]


@pytest.mark.spec("A10-01", "A10-01a")
def test_one_operation_stops_channels_on_files_and_on_the_change_log(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    channels = [watch.file(file).json, watch.changes().json]
    watch.new_messages()

    assert [watch.stop(channel).status // 100 for channel in channels] == [2, 2]
    watch.patch(file, {"name": "other"})
    assert watch.new_messages() == []
