"""Only files and the change log can be watched (A8-10), and with extensions events and the list of calendars."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.contract.conftest import InProcess, Wire
from tests.contract.differences import choice
from tests.contract.watch_client import Watch, open_watch


@pytest.fixture
def watch(wire: Wire) -> Iterator[Watch]:
    with open_watch(wire) as watch:
        yield watch


CALENDARS = ["/calendar/v3/calendars/primary/events/watch", "/calendar/v3/users/me/calendarList/watch"]


@pytest.mark.spec("A8-10")
@pytest.mark.parametrize("path", CALENDARS)
def test_without_extensions_no_calendar_can_be_watched(path: str) -> None:
    with open_service(seed=0, policy=Policy(extensions=False, verified_domains=("*",))) as service:
        wire = InProcess(service, "https://svc.test")
        request = {"id": "c1", "type": "web_hook", "address": "https://hooks.example/in"}

        refused = wire.post_json(path, request)

        assert (refused.status, refused.error["reason"]) == (404, "notFound")
        assert wire.post_json("/storage/v3/changes/watch", request).status == 200, "the id is free: no channel has it"


@pytest.mark.spec("A8-10")
@pytest.mark.parametrize(
    "path",
    [
        "/calendar/v3/calendars/primary/events/{event}/watch",
        "/calendar/v3/calendars/primary/watch",
        "/calendar/v3/calendars/primary/acl/watch",
        "/calendar/v3/calendars/watch",
        "/calendar/v3/users/me/settings/watch",
        "/calendar/v3/colors/watch",
        "/storage/v3/about/watch",
        "/storage/v3/files/watch",
        "/storage/v3/files/generateIds/watch",
        "/storage/v3/files/{file}/permissions/watch",
        "/storage/v3/files/{file}/permissions/{permission}/watch",
        "/storage/v3/channels/watch",
        "/storage/v3/channels/{channel}/watch",
        "/storage/v3/changes/1/watch",
        "/upload/storage/v3/files/{file}/watch",
        "/upload/storage/v3/changes/watch",
    ],
)
def test_nothing_else_can_be_watched(watch: Watch, path: str) -> None:
    wire = watch.wire
    file, channel = wire.create()["id"], watch.changes().json["id"]
    permission = wire.send("GET", f"/storage/v3/files/{file}/permissions").json["permissions"][0]["id"]
    times = {"start": {"date": "2030-01-01"}, "end": {"date": "2030-01-02"}}
    event = wire.post_json("/calendar/v3/calendars/primary/events", times).json["id"]
    names = {"file": file, "permission": permission, "event": event, "channel": channel}
    watch.new_messages()
    request = watch.request()

    refused = wire.post_json(path.format(**names), request)

    with choice("A watch on other resources"):
        assert (refused.status, refused.error["reason"]) == (404, "notFound")
    assert 400 <= refused.status < 500
    assert watch.new_messages() == [], "there is no sync message"
    assert wire.post_json("/storage/v3/changes/watch", request).status == 200, "the id is still free: no channel has it"
