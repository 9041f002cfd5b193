import http.client
import json
from typing import Any

import pytest

from svc_notebooks.core.http.messages import Disconnected, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.times import to_millis
from svc_notebooks.server.service import open_service
from tests.contract.calendar_client import ADA, BOB, SEMINAR, WEEKLY, CalendarClient, accepted, guests, path, refusal
from tests.contract.conftest import Answer, InProcess, Wire
from tests.contract.differences import choice
from tests.contract.watch_client import Watch

HOUR = 3_600_000
SOON = 5_000
"""The largest difference of two readings of one running clock."""


def now(watch: Watch) -> int:
    return to_millis(watch.wire.service.clock.now())


@pytest.mark.spec("A8-01", "A8-01a", "A8-01b", "A8-01c", "V-01", "V-01b")
def test_the_response_is_the_channel(watch: Watch) -> None:
    file = watch.wire.create()
    answer = watch.file(file["id"], id="my-channel", token="my token")

    assert (answer.status, answer.json["kind"]) == (200, "api#channel")
    assert (watch.own_channel_id(answer.json["id"]), answer.json["token"]) == ("my-channel", "my token")
    assert answer.json["resourceId"]
    assert f"/storage/v3/files/{file['id']}" in answer.json["resourceUri"]
    with choice("Default fields of a response"):
        assert answer.json.keys() == {"kind", "id", "resourceId", "resourceUri", "token", "expiration"}
        assert answer.json["resourceUri"] == f"{watch.wire.base_url}/storage/v3/files/{file['id']}?alt=json"
    with choice("channel_lifetime"):
        assert answer.json["expiration"] == pytest.approx(now(watch) + HOUR, abs=SOON)


@pytest.mark.spec("A9-01", "A9-01a")
def test_the_change_log_is_watched_in_the_same_way(watch: Watch) -> None:
    answer = watch.changes(id="log", token="t")

    assert (answer.status, answer.json["kind"]) == (200, "api#channel")
    assert {"id", "resourceId", "resourceUri", "token"} <= answer.json.keys()
    assert "/storage/v3/changes" in answer.json["resourceUri"]
    assert watch.changes(type="other").error["reason"] == "push.channelTypeNotSupported"


def refused(
    rules: tuple[str, ...], field: str, reason: str, *values: object, choices: tuple[str, ...] = ()
) -> list[Any]:
    marks = [pytest.mark.spec("A9-01", "A9-01b", *rules), *map(pytest.mark.choice, choices)]
    return [pytest.param(field, value, reason, marks=marks) for value in values]


REASONS = ("Reasons and locations of errors",)
REFUSED = [
    *refused(("A8-02", "A8-02a", "A8-02b"), "id", "required", None, ""),
    *refused(("A8-02", "A8-02a", "A8-02b"), "id", "invalid", "x" * 65),
    *refused(("A8-02", "A8-02a"), "id", "invalid", 7, choices=REASONS),
    *refused(("A8-03",), "type", "required", None),
    *refused(("A8-03",), "type", "push.channelTypeNotSupported", "pigeon", "web-hook", "WEB_HOOK", 1, ["web_hook"]),
    *refused(("A8-03",), "type", "push.channelTypeNotSupported", "webhook", choices=("channel_types",)),
    *refused(("A8-04", "A8-04a"), "address", "push.webhookUrlNotHttps", "http://localhost/x", "ftp://localhost/x"),
    *refused(("A8-04", "A8-04a"), "address", "required", "", None),
    *refused(("A8-04", "A8-04a"), "address", "invalid", "localhost/x", "https://", "https:///x", 17,
             "https://localhost:99999/x", "https://local host/x", "https://localhost/x\r\nHost: evil", "https://[::1/x"),
    *refused(("A8-04", "A8-04a"), "address", "invalid", "https://user:secret@localhost/x",
             "https://localhost\\@evil.example/", choices=("A registered domain",)),
    *refused(("A8-06",), "token", "invalid", "x" * 257),
    *refused(("A8-06",), "token", "invalid", 5, "two\r\nlines", " blank", choices=("Header values",)),
    *refused(("A8-07", "A8-07a"), "expiration", "invalid",
             "soon", 1.5, True, "", -1, 1, "1e99", "9" * 400, {}, 1767600000000, choices=REASONS),
]  # fmt: skip


@pytest.mark.parametrize("field, value, reason", REFUSED)
def test_a_channel_is_refused_by_its_field(watch: Watch, field: str, value: object, reason: str) -> None:
    answer = watch.changes(**{field: value})

    assert (answer.status, answer.error["reason"], answer.error["location"]) == (400, reason, field)
    assert watch.file(watch.wire.create()["id"], **{field: value}).body == answer.body


@pytest.mark.spec("A8-02", "A8-02c")
def test_an_id_can_never_be_used_again(watch: Watch) -> None:
    channel = watch.changes(id="once").json
    again = watch.file(watch.wire.create()["id"], id="once")
    assert (again.status, again.error["reason"]) == (400, "channelIdNotUnique")

    assert watch.stop(channel).status == 204
    assert watch.changes(id="once").error["reason"] == "channelIdNotUnique"
    watch.changes(id="twice")
    watch.wire.service.clock.advance("2h")  # type: ignore[union-attr]
    assert watch.changes(id="twice").error["reason"] == "channelIdNotUnique"


UNREGISTERED = ["https://evil.example/in", "https://hooks.localhost/in", "https://localhost.evil.example/in",
                "https://evillocalhost/in", "https://127.0.0.1/in", "https://evil.example/localhost",
                "https://evil.example#localhost", "https://evil.example?localhost"]  # fmt: skip


@pytest.mark.spec("A8-05")
def test_a_domain_must_be_registered(watch: Watch) -> None:
    for address in UNREGISTERED:
        answer = watch.changes(address=address)
        assert (answer.status, answer.error["reason"]) == (401, "push.webhookUrlUnauthorized"), address


@pytest.mark.spec("A8-05", "N-01", "N-01b")
def test_a_refused_channel_gets_no_message(watch: Watch) -> None:
    address = watch.receiver.address.replace("localhost", "127.0.0.1")
    watch.messages()

    assert watch.changes(address=address).status == 401
    assert not watch.messages()


@pytest.mark.spec("A8-06", "A8-07", "A8-07b")
def test_the_limits_of_a_token_and_of_an_expiration(watch: Watch) -> None:
    file, start = watch.wire.create()["id"], now(watch)

    def lasts(channel: Answer) -> object:
        return pytest.approx(channel.json["expiration"] - start, abs=SOON)

    assert watch.changes(token="x" * 256).json["token"] == "x" * 256
    with choice("Header values"):
        assert watch.changes(token="ü" * 256).json["token"] == "ü" * 256
    with choice("max_file_channel_lifetime"):
        assert lasts(watch.file(file, expiration=start + 48 * HOUR)) == 24 * HOUR
        assert lasts(watch.changes(expiration=start + 48 * HOUR)) == 48 * HOUR
        assert lasts(watch.changes(expiration=10**17)) == 7 * 24 * HOUR


@pytest.mark.spec("A8-09", "A8-09a")
def test_a_resource_has_one_resource_id(watch: Watch) -> None:
    file, other = watch.wire.create()["id"], watch.wire.create()["id"]
    first, second = watch.file(file).json, watch.file(file).json

    assert first["resourceId"] == second["resourceId"]
    with choice("Default fields of a response"):
        assert file not in first["resourceId"]
    others = {watch.file(other).json["resourceId"], watch.changes().json["resourceId"]}
    assert len({first["resourceId"], *others}) == 3
    assert watch.changes().json["resourceId"] in others


@pytest.mark.spec("A8-09", "A8-09b", "V-01", "V-01b")
def test_a_resource_id_does_not_follow_the_address(watch: Watch) -> None:
    file, elsewhere = watch.wire.create()["id"], {"Host": "api.example.org"}
    first = watch.file(file).json

    body = json.dumps(watch.request()).encode()
    second = watch.wire.send("POST", f"/storage/v3/files/{file}/watch", body, elsewhere).json

    assert first["resourceUri"] != second["resourceUri"]
    assert first["resourceId"] == second["resourceId"]


@pytest.mark.spec("A10-01", "A10-01a", "A10-03")
def test_stop_and_expiration_end_delivery(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    channel, short = watch.file(file).json, watch.file(file, expiration=now(watch) + 60_000).json
    syncs = [("channel-1", "sync", None), ("channel-2", "sync", None)]
    assert sorted(watch.messages()) == syncs

    answer = watch.stop(channel)
    watch.wire.service.clock.advance("60s")  # type: ignore[union-attr]
    watch.patch(file, {"name": "other"})

    assert answer.status == 204
    with choice("Default fields of a response"):
        assert answer.body == b""
    assert sorted(watch.messages()) == syncs
    assert [watch.stop(ended).status for ended in (channel, short)] == [404, 404]


@pytest.mark.spec("A10-01", "A10-01b", "A10-01c")
def test_stop_needs_both_ids_of_an_active_channel(watch: Watch) -> None:
    channel, other = watch.file(watch.wire.create()["id"]).json, watch.changes().json
    incomplete = [({}, "id"), ({"id": "channel-1"}, "resourceId"), ({"resourceId": "r"}, "id")]

    for body, location in (*incomplete, ({"id": 5, "resourceId": "r"}, "id")):
        answer = watch.wire.post_json("/storage/v3/channels/stop", body)
        assert (answer.status, answer.error["location"]) == (400, location)
    nothing = watch.wire.post_json("/storage/v3/channels/stop", {})
    with choice("Several errors in one body"):
        assert [error["location"] for error in nothing.json["error"]["errors"]] == ["id", "resourceId"]
    assert watch.stop({"id": channel["id"], "resourceId": other["resourceId"]}).status == 404
    assert watch.stop({"id": "unknown", "resourceId": channel["resourceId"]}).error["reason"] == "notFound"
    assert watch.stop(channel).status == 204


@pytest.mark.spec("A10-01", "A10-01a")
def test_queued_messages_of_a_stopped_channel_are_dropped(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    channel = watch.file(file).json
    watch.messages()
    watch.receiver.answers = [503]
    watch.patch(file, {"name": "other"})
    watch.patch(file, {"name": "another"})
    watch.messages()

    watch.stop(channel)
    watch.wire.service.clock.advance("1h")  # type: ignore[union-attr]
    assert [state for _, state, _ in watch.messages()] == ["sync", "update"]
    assert watch.deliveries("state", "outcome")[1:] == [
        ("update", "retry"), ("update", "cancelled"), ("update", "cancelled"),
    ]  # fmt: skip


def channel_of(wire: Wire, **fields: Any) -> Any:
    body = {"id": "c", "type": "web_hook", "address": "https://hooks.example/in", **fields}
    return wire.post_json("/storage/v3/changes/watch", body).json


@pytest.mark.policy(channel_types=("web_hook", "webhook"), verified_domains=("*",))
def test_webhook_as_a_type(wire: Wire) -> None:
    assert channel_of(wire, type="webhook")["id"] == "c"


@pytest.mark.spec("N-06", "N-06c")
@pytest.mark.parametrize("word", ["change", "changed"])
def test_the_word_for_the_change_log(word: str) -> None:
    with open_service(seed=0, policy=Policy(change_state=word, verified_domains=("*",)), background=False) as service:
        wire, states = InProcess(service, "http://svc.test"), []

        def receive(request: Request) -> Response:
            states.append(request.headers["X-Svc-Resource-State"])
            return Response(200)

        service.receive_at("https://hooks.example/in", receive)
        channel_of(wire)
        wire.create()
        service.deliver()
        assert states == ["sync", word]


BROKEN = (Disconnected, http.client.HTTPException, OSError)


@pytest.mark.spec("N-01", "N-01a")
def test_sync_may_arrive_before_the_answer_to_the_watch(watch: Watch) -> None:
    """The response is lost and the sync message arrives, because it does not wait for the response."""
    file = watch.wire.create()["id"]
    step = {"match": {"operation": "files.watch"}, "action": {"reset": "after"}}
    with watch.wire.service.faults(step), pytest.raises(BROKEN):
        watch.file(file)

    (message,) = watch.receiver.wait_for(1)
    assert (message.resource_state, message.number) == ("sync", 1)
    assert watch.own_channel_id(message.channel_id) == "channel-1"


@pytest.mark.spec("A8-08", "A8-08b")
def test_a_file_can_be_watched_only_by_users_who_see_it(watch: Watch) -> None:
    path = f"/storage/v3/files/{watch.wire.create()['id']}/watch"

    answer = watch.wire.post_json(path, watch.request(), token=watch.wire.service.sign_in(BOB))
    assert (answer.status, answer.error["reason"]) == (404, "notFound")
    assert watch.wire.post_json(path, watch.request(), token=None).status == 401
    assert watch.file("no-such-file").status == 404


@pytest.mark.spec("A8-08", "A8-08a")
@pytest.mark.parametrize("service_account", [False, True], ids=["user", "service account"])
def test_a_user_with_access_to_a_file_may_watch_it(watch: Watch, service_account: bool) -> None:
    wire = watch.wire
    file = wire.create()["id"]
    reader = wire.service.sign_in(BOB, service_account=service_account)
    path = f"/storage/v3/files/{file}/watch"
    assert wire.post_json(path, watch.request(), token=reader).status == 404
    wire.share(file, BOB)

    assert wire.post_json(path, watch.request(), token=reader).status == 200
    watch.new_messages()
    watch.patch(file, {"name": "other"})
    assert watch.new_messages() == [("channel-2", "update", "properties")]


CALENDARS = ["/calendar/v3/calendars/primary/events/watch", "/calendar/v3/users/me/calendarList/watch"]


@pytest.mark.spec("A8-10")
@pytest.mark.policy(extensions=False, verified_domains=("*",))
def test_without_extensions_no_calendar_can_be_watched(wire: Wire) -> None:
    request = {"id": "c1", "type": "web_hook", "address": "https://hooks.example/in"}

    for watched in CALENDARS:
        refused = wire.post_json(watched, request)
        assert (refused.status, refused.error["reason"]) == (404, "unknownOperation")
    assert wire.post_json("/storage/v3/changes/watch", request).status == 200, "the id is free: no channel has it"


@pytest.mark.spec("A8-10")
@pytest.mark.parametrize("path", [
    "/calendar/v3/calendars/primary/events/{event}/watch", "/calendar/v3/calendars/primary/watch",
    "/calendar/v3/calendars/primary/acl/watch", "/calendar/v3/calendars/watch",
    "/calendar/v3/users/me/settings/watch", "/calendar/v3/colors/watch", "/storage/v3/about/watch",
    "/storage/v3/files/watch", "/storage/v3/files/generateIds/watch", "/storage/v3/files/{file}/permissions/watch",
    "/storage/v3/files/{file}/permissions/{permission}/watch", "/storage/v3/channels/watch",
    "/storage/v3/channels/{channel}/watch", "/storage/v3/changes/1/watch", "/upload/storage/v3/files/{file}/watch",
    "/upload/storage/v3/changes/watch",
])  # fmt: skip
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
        assert (refused.status, refused.error["reason"]) == (404, "unknownOperation")
    assert 400 <= refused.status < 500
    assert watch.new_messages() == [], "there is no sync message"
    assert wire.post_json("/storage/v3/changes/watch", request).status == 200, "the id is still free: no channel has it"


def watch_events(watch: Watch, client: CalendarClient, **fields: Any) -> dict[str, Any]:
    """A channel on the events of the client's calendar, after its sync message."""
    channel = accepted(client.call("POST", path(client.calendar, "watch"), watch.request(**fields)))
    watch.new_messages()
    return channel


def states(watch: Watch) -> list[str | None]:
    """The states of the messages since the last call."""
    return [state for _, state, _ in watch.new_messages()]


def test_each_request_that_changes_events_sends_one_message(watch: Watch, ada: CalendarClient) -> None:
    watch_events(watch, ada)

    event = ada.made(WEEKLY)
    assert states(watch) == ["exists"]
    first = ada.instances(event["id"])[0]
    ada.patch(first["id"], {"summary": "changed"})
    assert states(watch) == ["exists"]
    ada.put(event["id"], {**SEMINAR, "summary": "single"})
    assert states(watch) == ["exists"]
    ada.delete(event["id"])
    assert states(watch) == ["exists"]
    ada.call("POST", path("primary", "quickAdd"), text="Lunch tomorrow 12:00")
    ada.call("POST", path("primary", "import"), {**SEMINAR, "iCalUID": "a@elsewhere.example"})
    ada.call("POST", "/calendar/v3/calendars/primary/clear")
    assert states(watch) == ["exists"] * 3
    event = ada.made()
    assert states(watch) == ["exists"]
    ada.list()
    ada.get(event["id"])
    ada.insert({"start": 5})
    ada.patch(event["id"], {"start": None})
    assert states(watch) == [], "nothing has changed"


def test_an_invitation_changes_the_calendar_of_the_guest(watch: Watch, wire: Wire, ada: CalendarClient) -> None:
    watch_events(watch, CalendarClient(wire, BOB))

    ada.made(attendees=guests(BOB))

    assert states(watch) == ["exists"]


def test_a_channel_ends_with_the_access_of_its_user_and_with_its_calendar(watch, wire, ada):
    bob, course = CalendarClient(wire, BOB, ADA), ada.new_calendar()
    assert refusal(bob.call("POST", path(ADA, "watch"), watch.request()))[0] == 404
    rule_id = ada.share("reader", BOB)["id"]
    watch_events(watch, bob)
    watch_events(watch, CalendarClient(wire, calendar=course))

    ada.call("DELETE", f"/calendar/v3/calendars/primary/acl/{rule_id}")
    ada.made()
    assert states(watch) == ["not_exists"]
    ada.call("DELETE", f"/calendar/v3/calendars/{course}")
    assert states(watch) == ["not_exists"]
