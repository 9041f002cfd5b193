import json
import logging
from copy import deepcopy
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import vobject
from hypothesis import HealthCheck, assume, example, given, strategies as st

from svc_notebooks.client.events.ical import calendar_file
from svc_notebooks.core.events.validation import problems, with_defaults
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.examples import examples

EVENTS = "http://svc.test/calendar/v3/calendars/primary/events"
ALL = "?conferenceDataVersion=1&supportsAttachments=true"
POLICY = Policy()

WHOLE: dict[str, Any] = {
    "id": "abcde",
    "summary": "Seminar",
    "description": "Bring a laptop",
    "location": "Room 5",
    "status": "confirmed",
    "visibility": "private",
    "transparency": "opaque",
    "colorId": "3",
    "sequence": 1,
    "anyoneCanAddSelf": False,
    "guestsCanInviteOthers": True,
    "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True,
    "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-02T11:30:00+01:00", "timeZone": "Europe/Berlin"},
    "originalStartTime": {"date": "2026-11-01"},
    "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=3", "EXDATE:20261104T090000Z"],
    "attendees": [{"email": "bob@svc.example", "optional": True, "additionalGuests": 1, "responseStatus": "accepted"}],
    "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 10}]},
    "extendedProperties": {"private": {"a": "1"}, "shared": {"b": "2"}},
    "gadget": {"display": "chip", "height": 1, "width": 1, "link": "https://svc.example/", "preferences": {"a": "b"}},
    "source": {"title": "Source", "url": "https://svc.example/"},
    "attachments": [{"fileUrl": "https://svc.example/a.pdf", "title": "A"}],
    "conferenceData": {"createRequest": {"requestId": "r", "conferenceSolutionKey": {"type": "hangoutsMeet"}}},
}
DAYS = {"start": {"date": "2026-12-24"}, "end": {"date": "2026-12-27"}}

TELLING = [
    "", "2026-11-02", "2026-02-30", "2026-11-02T10:00:00Z", "2026-11-02T10:00:00", "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00", "Europe/Berlin", "UTC", "../..", "bob@svc.example", "RRULE:FREQ=DAILY",
    "RRULE:FREQ=SECONDLY;COUNT=999999999999", "RDATE:99991231T235959Z", "DTSTART:20261102T090000Z", "email", "11",
    "https://svc.example", "\x00", "\ud800", "\u202e", "cancelled", "a" * 9000,
]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
scalars |= st.sampled_from([0, 1, -1, 40320, 40321, 2**31, 2**63, 10**30, *TELLING])
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield the path of every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([here] if here else []), *(place for key, member in inside for place in places(member, (*here, key)))]


def replaced(event: Any, place: tuple[Any, ...], value: Any) -> Any:
    changed = deepcopy(event)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def without(event: Any, fields: set[str]) -> Any:
    return {field: value for field, value in event.items() if field not in fields}


whole_or_less = st.sets(st.sampled_from(sorted(WHOLE.keys() - {"start", "end"}))).map(lambda gone: without(WHOLE, gone))
near_valid = [st.builds(replaced, st.just(event), st.sampled_from(places(event)), anything) for event in (WHOLE, DAYS)]
events = st.one_of(near_valid) | whole_or_less | st.dictionaries(st.sampled_from(sorted(WHOLE)), anything, max_size=4)
hypothesis_settings = examples(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


class ServiceUnderTest:
    def __init__(self, service: Service) -> None:
        self.service = service
        self.token = service.sign_in()
        self.empty = service.snapshot()

    def send(self, method: str, url: str, body: bytes = b"") -> Response:
        pairs = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        return self.service.handle(Request(method, url, Headers(pairs), body))

    def event(self, method: str, url: str, event: Any) -> Response:
        return self.send(method, url, json.dumps(event).encode())

    def sweep(self) -> None:
        self.service.restore(self.empty)


@pytest.fixture(scope="module")
def service():
    return ServiceUnderTest(open_service(seed=0))


def outcome(response: Response) -> tuple[int, dict[str, Any]]:
    """Return the status and the body. An error has the one shape and names its field."""
    body = json.loads(response.content() or b"{}")
    if response.status >= 400:
        assert body["error"]["code"] == response.status
        assert all(error["message"] for error in body["error"]["errors"])
    return response.status, body


@pytest.mark.spec("X-01", "E-22")
@hypothesis_settings
@given(
    body=st.binary(max_size=60) | anything.map(lambda value: json.dumps(value).encode()),
    method=st.sampled_from(["POST", "PATCH", "PUT", "import"]),
)
def test_any_body_has_an_answer(service, caplog, body, method):
    service.sweep()
    service.event("POST", EVENTS + ALL, WHOLE)
    url = {"POST": EVENTS, "import": f"{EVENTS}/import"}.get(method, f"{EVENTS}/abcde")

    with caplog.at_level(logging.ERROR):
        response = service.send("POST" if method == "import" else method, url + ALL, body)

    assert response.status in (200, 400, 403), caplog.text
    outcome(response)


@pytest.mark.spec(
    "X-01", "E-02", "E-02a", "E-02b", "E-02c", "E-03", "E-03a", "E-03b", "E-03c", "E-07", "E-07a", "E-07b"
)
@pytest.mark.spec("E-12", "E-12b", "E-12c", "E-13", "E-13a", "E-13b", "E-13c", "E-13d")
@hypothesis_settings
@given(event=events, method=st.sampled_from(["POST", "PATCH", "PUT"]))
def test_any_event_has_a_response_that_names_its_problems(service, caplog, event, method):
    service.sweep()
    if method != "POST":
        service.event("POST", EVENTS + ALL, WHOLE)
    url = EVENTS if method == "POST" else f"{EVENTS}/abcde"

    with caplog.at_level(logging.ERROR):
        status, body = outcome(service.event(method, url + ALL, event))

    assert status in (200, 400), caplog.text
    if status == 400 and body["error"]["errors"][0]["reason"] != "parseError":
        assert all(error["location"] for error in body["error"]["errors"])


@pytest.mark.spec("E-02", "E-02a", "E-02b", "E-02c", "E-03", "E-03a", "E-03b", "E-03c", "E-05", "E-05b")
@pytest.mark.spec("E-13", "E-13a", "E-13b", "E-13c", "E-13d", "E-22")
@hypothesis_settings
@given(event=events)
@example(event={})
@example(event=WHOLE)
@example(event={**DAYS, "summary": "\ud800"})
@example(event=DAYS)
def test_the_problems_of_an_event_are_those_that_the_service_finds(service, event):
    service.sweep()
    sent = json.loads(json.dumps(event))
    known = [(row.reason, row.location) for row in problems(sent, POLICY)]

    status, body = outcome(service.event("POST", EVENTS + ALL, event))

    assume(status == 200 or body["error"]["errors"][0]["reason"] != "parseError")
    errors = [(error["reason"], error.get("location")) for error in body["error"]["errors"]] if status == 400 else []
    assert known == errors
    assert status == (400 if known else 200)


@pytest.mark.spec("E-06", "E-06b")
@hypothesis_settings
@given(event=events)
def test_defaults_are_filled_in_once(event):
    before = deepcopy(event)

    filled = with_defaults(event)

    assert with_defaults(filled) == filled
    assert event == before
    valid = event if not problems(event, POLICY) else {}
    assert all(filled[field] == value for field, value in valid.items() if isinstance(value, str | bool | int))


@pytest.mark.spec("E-06", "E-06a", "E-06b")
def test_the_defaults_are_those_of_the_interface():
    filled = with_defaults({**DAYS, "attendees": [{"email": "bob@svc.example"}]})

    assert filled["anyoneCanAddSelf"] is filled["guestsCanModify"] is False
    assert filled["guestsCanInviteOthers"] is filled["guestsCanSeeOtherGuests"] is True
    (attendee,) = filled["attendees"]
    assert attendee["additionalGuests"] == 0
    assert attendee["optional"] is attendee["resource"] is False


@pytest.mark.spec("E-18", "E-18a")
@hypothesis_settings
@given(event=whole_or_less)
def test_an_accepted_event_is_returned_and_may_be_sent_again(service, event):
    service.sweep()

    made = outcome(service.event("POST", EVENTS + ALL, event))[1]
    again = outcome(service.event("PUT", f"{EVENTS}/{made['id']}{ALL}", made))[1]

    stamps = {"etag", "updated"}
    assert without(again, stamps) == without(made, stamps)
    assert outcome(service.send("GET", f"{EVENTS}/{made['id']}"))[1] == again


@hypothesis_settings
@given(event=events)
def test_any_accepted_event_is_one_event_of_a_file(service, event):
    service.sweep()
    status, made = outcome(service.event("POST", EVENTS + ALL, event))
    assume(status == 200 and made["status"] != "cancelled")

    (vevent,) = vobject.readOne(calendar_file([made], name=str(made.get("summary"))).decode()).vevent_list

    assert vevent.uid.value == made["iCalUID"]


parameters = st.sampled_from(
    ["timeMin", "timeMax", "updatedMin", "singleEvents", "orderBy", "maxResults", "pageToken", "syncToken", "q",
     "showDeleted", "timeZone", "iCalUID", "privateExtendedProperty", "sharedExtendedProperty", "maxAttendees",
     "eventTypes", "fields", "originalStart", "alwaysIncludeEmail", "showHiddenInvitations", "x"]
)  # fmt: skip
values = st.text(max_size=20) | st.sampled_from(
    [*TELLING, "true", "startTime", "updated", "1", "250", "9" * 30, "a=b", "=", "items(id)", "default", "a=b=c"]
)


@pytest.mark.spec("X-01")
@hypothesis_settings
@given(
    query=st.lists(st.tuples(parameters, values), max_size=4),
    below=st.sampled_from(["", "/abcde", "/abcde/instances", "/nothing/instances", "/abcde_20261102T090000Z"]),
)
def test_any_parameter_of_a_list_has_an_answer(service, caplog, query, below):
    service.sweep()
    service.event("POST", EVENTS + ALL, {**WHOLE, "recurrence": ["RRULE:FREQ=DAILY"]})
    text = urlencode(query, errors="surrogatepass")

    with caplog.at_level(logging.ERROR):
        status, _ = outcome(service.send("GET", f"{EVENTS}{below}?{text}"))

    assert status in (200, 400, 404, 410), caplog.text


@pytest.mark.spec("X-01")
@hypothesis_settings
@given(
    calendar=st.text(max_size=20) | st.sampled_from(TELLING),
    event=st.text(max_size=20) | st.sampled_from([*TELLING, "abcde_99999999T999999Z", "abcde_"]),
    method=st.sampled_from(["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"]),
)
def test_any_name_of_a_calendar_or_an_event_has_an_answer(service, caplog, calendar, event, method):
    service.sweep()
    names = [quote(name.encode("utf-8", "surrogatepass"), safe="") for name in (calendar, event)]

    with caplog.at_level(logging.ERROR):
        status = service.send(method, "http://svc.test/calendar/v3/calendars/{}/events/{}".format(*names), b"{}").status

    assert 400 <= status < 500 or (status == 200 and not event), caplog.text


CALENDARS = "http://svc.test/calendar/v3/"
RULE = {"role": "reader", "scope": {"type": "user", "value": "bob@svc.example"}}
rules = st.dictionaries(st.sampled_from(["role", "scope"]), anything, max_size=2)
rules |= st.builds(replaced, st.just(RULE), st.sampled_from(places(RULE)), anything)
calendars = st.dictionaries(st.sampled_from(["summary", "description", "location", "timeZone", "id"]), anything)


@pytest.mark.spec("X-01")
@hypothesis_settings
@given(
    call=st.sampled_from(
        [("POST", "calendars"), ("PATCH", "calendars/primary"), ("PUT", "calendars/primary"),
         ("POST", "calendars/primary/acl"), ("PATCH", "calendars/primary/acl/user:bob@svc.example")]
    ),
    body=rules | calendars | anything,
    query=st.lists(st.tuples(parameters, values), max_size=2),
)  # fmt: skip
def test_any_calendar_and_any_share_has_an_answer(service, caplog, call, body, query):
    service.sweep()
    service.event("POST", f"{CALENDARS}calendars/primary/acl", {"role": "reader", "scope": {"type": "default"}})
    text = urlencode(query, errors="surrogatepass")

    with caplog.at_level(logging.ERROR):
        status, _ = outcome(service.event(call[0], f"{CALENDARS}{call[1]}?{text}", body))

    assert status in (200, 400, 404), caplog.text
    assert outcome(service.send("GET", f"{CALENDARS}users/me/calendarList"))[0] == 200
