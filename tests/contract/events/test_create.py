import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.contract.calendar_client import ADA, BOB, HOLIDAY, SEMINAR, CalendarClient, accepted, guests, path, refusal
from tests.contract.conftest import Wire
from tests.contract.differences import choice


@pytest.mark.spec("E-01", "E-01a", "E-18", "E-18a", "E-18b", "E-18c")
def test_an_event_is_created_and_has_what_the_service_adds(ada: CalendarClient) -> None:
    now = ada.wire.service.clock.now()

    answer = ada.insert({**SEMINAR, "summary": "Seminar", "location": "Room 5", "description": "Bring a laptop"})

    event = accepted(answer)
    assert (event["summary"], event["location"], event["description"]) == ("Seminar", "Room 5", "Bring a laptop")
    assert event["htmlLink"].startswith("http")
    assert ada.read(event["id"]) == event
    assert [item["id"] for item in ada.items()] == [event["id"]]
    with choice("Default fields of a response"):
        assert (event["kind"], event["status"], event["eventType"]) == ("svc#event", "confirmed", "default")
        assert event["creator"] == event["organizer"] == {"email": ADA, "self": True}
        assert event["iCalUID"] == f"{event['id']}@svc.example"
        assert (event["sequence"], event["reminders"]) == (0, {"useDefault": True})
        assert datetime.fromisoformat(event["created"]) == now.replace(microsecond=0)
        assert abs((datetime.fromisoformat(event["updated"]) - now).total_seconds()) < 1


@pytest.mark.spec("E-01", "E-01b")
@pytest.mark.parametrize(
    "name", ["primary", ADA, pytest.param("ADA@svc.example", marks=pytest.mark.choice("Shared calendars"))]
)
def test_primary_is_the_callers_main_calendar_under_another_name(wire: Wire, ada: CalendarClient, name: str) -> None:
    event = accepted(CalendarClient(wire, calendar=name).insert(SEMINAR))

    assert ada.read(event["id"])["id"] == event["id"]


@pytest.mark.spec("E-01", "E-01c")
def test_an_unknown_calendar_is_404(wire: Wire) -> None:
    for name in ("nobody@svc.example", "nothing", "PRIMARY2"):
        answer = CalendarClient(wire, calendar=name).insert(SEMINAR)
        assert (answer.status, answer.error["reason"]) == (404, "notFound")
    for name in ("..", "a/b", "%00", "ü"):
        with choice("Unknown paths and methods"):
            answer = CalendarClient(wire, calendar=name).insert(SEMINAR)
            assert (answer.status, answer.error["reason"]) == (404, "notFound")


@pytest.mark.spec("E-01", "E-01c")
def test_a_calendar_that_is_not_shared_is_404(wire: Wire) -> None:
    bobs = CalendarClient(wire, BOB).made()
    ada = CalendarClient(wire, ADA, calendar=BOB)

    for answer in (ada.insert(SEMINAR), ada.get(bobs["id"]), ada.list(), ada.delete(bobs["id"])):
        assert (answer.status, answer.error["reason"]) == (404, "notFound")


@pytest.mark.spec("T-02")
@pytest.mark.parametrize(
    "scopes, status",
    [
        *(([scope], 200) for scope in ("calendar", "calendar.events", "https://svc.example/auth/calendar.events")),
        (["storage", "calendar.events"], 200),
        *(([f"calendar.{scope}"], 403) for scope in ("readonly", "events.readonly", "events.owned", "app.created")),
        *((scopes, 403) for scopes in (["storage"], ["storage.readonly", "storage.file"], [])),
    ],
)
def test_creation_needs_a_scope_of_calendars(wire: Wire, scopes: list[str], status: int) -> None:
    token = wire.service.sign_in(scopes=scopes)

    answer = wire.post_json(path(), SEMINAR, token=token)

    assert answer.status == status
    assert len(CalendarClient(wire).items()) == (1 if status == 200 else 0)
    if status == 403:
        assert answer.error["reason"] == "insufficientPermissions"
        assert "insufficient_scope" in answer.headers["www-authenticate"]


ROBOT = "robot@svc.example"


@pytest.mark.spec("E-30")
def test_a_service_account_creates_events_where_it_may_write(wire: Wire, ada: CalendarClient) -> None:
    robot, narrow = (
        wire.service.sign_in(ROBOT, scopes=[scope], service_account=True) for scope in ("calendar", "calendar.events")
    )
    for role, status in ((None, 404), ("reader", 403)):
        if role:
            ada.share(role, ROBOT)
        assert wire.post_json(path(ADA), SEMINAR, token=robot).status == status
        assert ada.items() == []
    ada.share("writer", ROBOT)

    for token in (robot, narrow):
        own, shared = (accepted(wire.post_json(path(name), SEMINAR, token=token)) for name in ("primary", ADA))
        assert own["creator"]["email"] == shared["creator"]["email"] == ROBOT
        assert shared["organizer"]["email"] == ADA
        assert shared["id"] in [item["id"] for item in ada.items()]
        for name, event in (("primary", own), (ADA, shared)):
            assert accepted(wire.send("GET", path(name, event["id"]), token=token))["id"] == event["id"]
    with choice("Attendees of a service account's event"):
        inviting = wire.post_json(path(), {**SEMINAR, "attendees": guests(BOB)}, token=robot)
        assert (inviting.status, inviting.error["reason"]) == (403, "forbiddenForServiceAccounts")


@pytest.mark.spec("E-18", "E-18b")
@pytest.mark.choice("open_links")
def test_the_link_names_event_and_calendar_and_opens(ada: CalendarClient) -> None:
    event = ada.made(summary="<b>Tea</b> & cake")
    eid = parse_qs(urlsplit(event["htmlLink"]).query)["eid"][0]

    page = ada.wire.send("GET", event["htmlLink"], token=ada.token)

    assert event["htmlLink"].startswith(f"{ada.wire.base_url}/calendar/event?eid=")
    assert base64.urlsafe_b64decode(eid + "=" * (-len(eid) % 4)).decode() == f"{event['id']} {ADA}"
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert b"&lt;b&gt;Tea&lt;/b&gt; &amp; cake" in page.body
    assert b"Last changed" in page.body


@pytest.mark.policy(open_links=False)
def test_a_link_opens_nothing_where_the_policy_says_so(ada: CalendarClient) -> None:
    link = ada.made(summary="Secret tea")["htmlLink"]

    page = ada.wire.send("GET", link, token=None)

    assert page.status in (401, 404)
    assert b"Secret tea" not in page.body


@pytest.mark.spec("E-18", "E-18a")
@pytest.mark.choice("Default fields of a response")
def test_a_mask_chooses_fields(ada: CalendarClient) -> None:
    event = {**SEMINAR, "summary": "Seminar", "id": ada.wire.once("abcde")}

    answer = ada.insert(event, fields="summary,start/timeZone")

    assert answer.json == {"summary": "Seminar", "start": {"timeZone": "Europe/Berlin"}}
    assert refusal(ada.insert(SEMINAR, fields="cake")) == (400, "invalidParameter", "fields")


@pytest.mark.spec("E-06", "E-06a")
@pytest.mark.parametrize(
    "field, default",
    [
        ("anyoneCanAddSelf", False),
        ("guestsCanInviteOthers", True),
        ("guestsCanModify", False),
        ("guestsCanSeeOtherGuests", True),
        ("transparency", "opaque"),
        ("visibility", "default"),
    ],
)
def test_a_default_is_returned_only_if_it_was_sent(ada: CalendarClient, field: str, default: object) -> None:
    silent, sent = ada.made(), ada.made({field: default})

    assert silent.get(field, default) == sent.get(field, default) == default
    with choice("Default fields of a response"):
        assert field not in silent
        assert sent[field] == ada.read(sent["id"])[field] == default


@pytest.mark.spec("E-11", "E-11a", "E-11c")
def test_a_client_may_choose_the_id_or_the_service_makes_one(ada: CalendarClient) -> None:
    for text in ("abcde", "00000", "0123456789abcdefghijklmnopqrstuv", "v" * 1024):
        event_id = ada.wire.once(text)
        assert ada.made(id=event_id)["id"] == event_id
        with choice("Default fields of a response"):
            assert ada.read(event_id)["iCalUID"] == f"{event_id}@svc.example"
    made = [ada.made()["id"] for _ in range(20)]
    assert len(set(made)) == 20
    with choice("Default fields of a response"):
        assert all(re.fullmatch("[0-9a-v]{26}", event_id) for event_id in made)


@pytest.mark.spec("E-11", "E-11b")
def test_only_one_of_many_concurrent_requests_gets_an_id(ada: CalendarClient) -> None:
    event_id = ada.wire.once("abcde")
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: ada.insert({**SEMINAR, "id": event_id, "summary": str(n)}), range(8)))

    (made,) = [answer.json for answer in answers if answer.status == 200]
    assert [refusal(answer)[:2] for answer in answers if answer.status != 200] == [(409, "duplicate")] * 7
    assert ada.items() == [made]


@pytest.mark.spec("X-01")
@pytest.mark.choice("The error envelope")
def test_a_body_that_is_no_json_object_is_400(wire: Wire) -> None:
    for body in (b"", b"{", b"[]", b'"event"', b"null", b"\xff", b'{"start": NaN}'):
        answer = wire.send("POST", path(), body, {"Content-Type": "application/json"})
        assert answer.status == 400
        with choice("Reasons and locations of errors"):
            assert answer.error["reason"] in {"parseError", "required"}


def test_a_body_with_too_deep_nesting_is_refused(wire: Wire) -> None:
    deep, days = '{"parameters": ' * 900 + "1" + "}" * 900, json.dumps(HOLIDAY)[:-1]
    for field in ("conferenceData", "gadget", "birthdayProperties", "extendedProperties"):
        body = f'{days}, "{field}": {deep}}}'.encode()
        answer = wire.send("POST", f"{path()}?conferenceDataVersion=1", body, {"Content-Type": "application/json"})
        assert (answer.status, answer.error["reason"]) == (400, "parseError")


@pytest.mark.spec("X-01")
@pytest.mark.choice("Several errors in one body")
def test_all_errors_are_reported_together(ada: CalendarClient) -> None:
    wrong = {**SEMINAR, "colorId": "99", "status": "maybe", "attendees": guests("nobody")}

    answer = ada.insert(wrong)

    assert answer.status == 400
    locations = {error["location"] for error in answer.json["error"]["errors"]}
    assert locations == {"colorId", "status", "attendees[0].email"}
