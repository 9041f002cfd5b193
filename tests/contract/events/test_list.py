import pytest

from svc_notebooks.server.dispatch.service_context import SizedCache
from tests.contract.calendar_client import (
    ADA,
    BOB,
    HOLIDAY,
    SEMINAR,
    WEEKLY,
    CalendarClient,
    Fields,
    accepted,
    guests,
    refusal,
)
from tests.contract.conftest import Wire


def hour(n: int, day: int = 2) -> Fields:
    return {
        "summary": f"{day}.{n}",
        "start": {"dateTime": f"2026-11-{day:02}T{n:02}:00:00Z"},
        "end": {"dateTime": f"2026-11-{day:02}T{n + 1:02}:00:00Z"},
    }


def test_a_list_describes_its_calendar_with_times_in_the_requested_zone(ada: CalendarClient) -> None:
    event = ada.made()

    page = accepted(ada.list())
    (shown,) = ada.items(timeZone="Asia/Tokyo")

    assert page["kind"] == "svc#events"
    assert (page["summary"], page["accessRole"]) == (ADA, "owner")
    assert page["timeZone"]
    assert page["items"] == [event]
    assert "nextPageToken" not in page
    assert shown["start"]["dateTime"] == "2026-11-02T18:00:00+09:00"
    assert ada.read(event["id"], timeZone="America/New_York")["start"]["dateTime"] == "2026-11-02T04:00:00-05:00"


@pytest.mark.parametrize(
    "window, summaries",
    [
        ({}, ["2.8", "2.10", "2.12"]),
        ({"timeMin": "2026-11-02T09:00:00Z"}, ["2.10", "2.12"]),
        ({"timeMin": "2026-11-02T08:59:59Z"}, ["2.8", "2.10", "2.12"]),
        ({"timeMax": "2026-11-02T12:00:00Z"}, ["2.8", "2.10"]),
        ({"timeMax": "2026-11-02T12:00:01Z"}, ["2.8", "2.10", "2.12"]),
        ({"timeMin": "2026-11-02T10:30:00Z", "timeMax": "2026-11-02T10:31:00Z"}, ["2.10"]),
        ({"timeMin": "2026-11-02T11:00:00+01:00", "timeMax": "2026-11-02T12:00:00+01:00"}, ["2.10"]),
        ({"timeMin": "2026-11-02T13:00:00Z"}, []),
    ],
)
def test_a_window_bounds_the_end_and_the_start(ada: CalendarClient, window: Fields, summaries: list[str]) -> None:
    for n in (8, 10, 12):
        ada.made(hour(n))

    assert ada.summaries(**window, singleEvents="true", orderBy="startTime") == summaries


def test_a_window_has_a_length_and_the_order_of_starts_is_for_single_events(ada: CalendarClient) -> None:
    for until in ("2026-11-02T10:00:00Z", "2026-11-02T09:00:00Z"):
        answer = ada.list(timeMin="2026-11-02T10:00:00Z", timeMax=until)
        assert refusal(answer) == (400, "timeRangeEmpty", "timeMax")
    for answer in (ada.list(orderBy="startTime"), ada.list(orderBy="startTime", singleEvents="false")):
        assert (answer.status, answer.error["reason"]) == (400, "badRequest")


def test_a_series_is_one_event_unless_single_events_are_asked_for(ada: CalendarClient) -> None:
    series = ada.made(WEEKLY, summary="series")
    inside = {"timeMin": "2026-11-16T00:00:00Z", "timeMax": "2026-11-17T00:00:00Z"}
    outside = {"timeMin": "2026-11-17T00:00:00Z", "timeMax": "2026-11-18T00:00:00Z"}

    singles = ada.items(singleEvents="true")

    assert [item["id"] for item in ada.items()] == [item["id"] for item in ada.items(**inside)] == [series["id"]]
    assert [item["recurringEventId"] for item in singles] == [series["id"]] * 4
    assert all("recurrence" not in item for item in singles)
    assert [item["start"]["dateTime"][:10] for item in ada.items(**inside, singleEvents="true")] == ["2026-11-16"]
    assert ada.items(**outside) == []


@pytest.mark.parametrize(
    "parameters",
    [{"q": "nothing"}, {"privateExtendedProperty": "a=b"}, {"sharedExtendedProperty": "a=b"}, {"iCalUID": "nobody"},
     {"updatedMin": "2036-01-01T00:00:00Z"}, {"eventTypes": "birthday"}],
)  # fmt: skip
@pytest.mark.parametrize("rule", ["RRULE:FREQ=DAILY", "RRULE:FREQ=SECONDLY"])
def test_a_search_without_hits_in_an_endless_series_ends_soon(ada, rule, parameters):
    ada.made(recurrence=[rule])

    assert ada.items(singleEvents="true", **parameters) == []


@pytest.mark.parametrize(
    "start, rule, count",
    [
        ("2020-01-05", "RRULE:FREQ=WEEKLY", 418),  # until 5 January 2028, because the clock shows that of 2026
        ("2026-11-02", "RRULE:FREQ=DAILY", 730),
        ("2026-11-02", "RRULE:FREQ=DAILY;UNTIL=20281231", 791),
        ("2026-11-02", "RRULE:FREQ=YEARLY;COUNT=9", 9),
        ("2040-11-02", "RRULE:FREQ=DAILY", 730),
        ("2026-11-02", "RRULE:FREQ=YEARLY\nRDATE;VALUE=DATE:20261225", 3),
        ("2026-11-02", "RRULE:FREQ=YEARLY\nRRULE:FREQ=MONTHLY", 24),
        ("9998-12-01", "RRULE:FREQ=DAILY", 23),
    ],
)
def test_an_endless_series_ends_at_the_horizon(ada: CalendarClient, start: str, rule: str, count: int) -> None:
    ada.made({"start": {"date": start}, "end": {"date": f"{start[:-1]}9"}, "recurrence": rule.split("\n")})
    later = ada.made({"start": {"date": "2090-01-01"}, "end": {"date": "2090-01-02"}})

    listed = ada.items(singleEvents="true", maxResults="2500")

    assert len([event for event in listed if event["id"] != later["id"]]) == count
    assert later["id"] in [event["id"] for event in listed]


LONG_AGO = {"dateTime": "0002-01-01T03:00:00Z", "timeZone": "America/New_York"}
LATE = {"dateTime": "9998-12-31T23:00:00Z", "timeZone": "Europe/Berlin"}
AT_THE_EDGE = [
    (HOLIDAY, "RDATE;VALUE=DATE:00010101"),
    (HOLIDAY, "RDATE;VALUE=DATE:99991231"),
    (SEMINAR, "RDATE:00020101T000000Z"),
    (SEMINAR, "RDATE;TZID=America/New_York:00020101T000000"),
    (SEMINAR, "RDATE:99981231T235959Z"),
    (SEMINAR, "RDATE;VALUE=PERIOD:20261130T100000Z/P999999999D"),
    (SEMINAR, "RDATE;VALUE=PERIOD:20261130T100000Z/P1000000W"),
    (SEMINAR, "RDATE;VALUE=PERIOD:99980630T100000Z/P365D"),
    ({**SEMINAR, "start": LONG_AGO}, "RRULE:FREQ=YEARLY;COUNT=2"),
    ({"start": {"date": "2026-01-01"}, "end": {"date": "9998-01-01"}}, "RRULE:FREQ=DAILY"),
    ({"start": {"date": "9998-12-29"}, "end": {"date": "9998-12-31"}}, "RRULE:FREQ=DAILY"),
    ({"start": LATE, "end": {**LATE, "dateTime": "9998-12-31T23:30:00Z"}}, "RRULE:FREQ=MINUTELY"),
]


@pytest.mark.spec("E-12", "E-12a")
@pytest.mark.parametrize("event, line", AT_THE_EDGE)
def test_an_event_in_the_first_or_last_year_does_not_break_a_list(ada, event, line):
    made = ada.insert({**event, "recurrence": [line]})

    assert made.status in (200, 400)
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
        window = {"singleEvents": "true", "orderBy": "startTime", "timeZone": zone}
        assert ada.list(**window).status == 200
        assert ada.list(**window, timeMin="2026-11-03T00:00:00Z").status == 200
        assert ada.list(**window, timeMin="9998-12-30T00:00:00Z").status == 200


def test_singles_and_instances_come_in_the_order_of_their_start(ada: CalendarClient) -> None:
    ada.made(hour(12, day=10))
    ada.made(WEEKLY, summary="series")
    ada.made(hour(8, day=3))
    ada.made(HOLIDAY, summary="holiday")

    summaries = ada.summaries(singleEvents="true", orderBy="startTime")

    assert summaries == ["series", "3.8", "series", "10.12", "series", "series", "holiday"]


def test_pages_of_instances_are_of_one_list(ada: CalendarClient) -> None:
    ada.made(recurrence=["RRULE:FREQ=DAILY;COUNT=7"])
    ada.made(recurrence=["RRULE:FREQ=DAILY;COUNT=4"])
    whole = [item["id"] for item in ada.items(singleEvents="true", orderBy="startTime")]

    id_pages = list(ada.pages(maxResults=3, singleEvents="true", orderBy="startTime"))

    assert id_pages[0] == next(ada.pages(maxResults=3, singleEvents="true", orderBy="startTime", pageToken=""))
    assert [len(page) for page in id_pages] == [3, 3, 3, 2]
    assert [event_id for page in id_pages for event_id in page] == whole
    long = ada.made(recurrence=["RRULE:FREQ=DAILY;COUNT=2501"])["id"]
    assert [len(page) for page in ada.pages(singleEvents="true", maxResults=5000)] == [2500, 12], "the limit"
    assert len(ada.instances(long, maxResults=5000)) == 2500


def test_words_are_searched_in_every_field(ada: CalendarClient) -> None:
    ada.made(summary="tea", location="Kitchen", description="with lemon", attendees=guests("guest@elsewhere.example"))
    ada.made(summary="seminar", extendedProperties={"private": {"nothing": "nothing"}})

    for words in ("tea", "TEA", "kitchen", "lemon", "guest@elsewhere"):
        assert ada.summaries(q=words) == ["tea"]
    assert [ada.summaries(q=words) for words in ("seminar", "nothing", "%", "_")] == [["seminar"], [], [], []]
    many = {"q": " ".join(map(str, range(101))), "privateExtendedProperty": [f"{n}=1" for n in range(101)]}
    for name, value in many.items():
        assert refusal(ada.list(**{name: value})) == (400, "invalidParameter", name), "at most 100"


@pytest.mark.spec("E-19", "E-19a", "E-19b")
@pytest.mark.choice("Operations that the interface does not specify")
def test_events_are_found_by_their_properties(ada: CalendarClient) -> None:
    ada.made(summary="a", extendedProperties={"private": {"course": "B1", "room": "5"}, "shared": {"day": "Mo"}})
    ada.made(summary="b", extendedProperties={"private": {"course": "B2", "room": "5"}})

    assert ada.summaries(privateExtendedProperty="course=B1") == ["a"]
    assert sorted(ada.summaries(privateExtendedProperty="room=5")) == ["a", "b"]
    assert ada.summaries(privateExtendedProperty=["room=5", "course=B2"]) == ["b"]
    assert ada.summaries(sharedExtendedProperty="day=Mo") == ["a"]
    assert ada.summaries(sharedExtendedProperty="course=B1") == []


def test_updated_min_selects_events_that_have_changed_since(ada: CalendarClient) -> None:
    old, deleted = ada.made(summary="old"), ada.made(summary="deleted")
    ada.wire.service.clock.advance(3600)
    instant = ada.wire.service.clock.now().isoformat()
    ada.made(summary="new")
    ada.delete(deleted["id"])

    since = ada.items(updatedMin=instant)
    assert sorted((item["id"] == deleted["id"], item["status"]) for item in since) == [
        (False, "confirmed"), (True, "cancelled"),
    ]  # fmt: skip
    assert deleted["id"] in [item["id"] for item in ada.items(showDeleted="true") if item["status"] == "cancelled"]
    assert sorted(ada.summaries()) == ["new", "old"]
    ada.wire.service.clock.advance(10)
    ada.patch(old["id"], {"location": "there"})
    assert ada.summaries(orderBy="updated") == ["new", "old"]


@pytest.mark.parametrize("change", [{"summary": "new"}, {"colorId": "3"}, {"location": "Room 7"}])
def test_a_list_after_a_change_has_the_new_event(ada: CalendarClient, change: Fields) -> None:
    event = ada.made(summary="old")
    ada.items()

    changed = accepted(ada.patch(event["id"], change))

    assert ada.items() == [changed]
    assert changed["etag"] != event["etag"]


def test_each_user_gets_what_the_role_allows(ada: CalendarClient, wire: Wire) -> None:
    ada.made(summary="Surgery", visibility="private")
    ada.share("reader", BOB)
    bob = CalendarClient(wire, BOB, ADA)

    assert [event.get("summary") for event in ada.items()] == ["Surgery"]
    assert [event.get("summary") for event in bob.items()] == [None]
    assert [event.get("summary") for event in ada.items()] == ["Surgery"]


def test_links_have_the_address_of_each_request(ada: CalendarClient, wire: Wire) -> None:
    ada.made()
    first = ada.items()[0]["htmlLink"]

    host = {"Host": "other.example"}
    listed = wire.send("GET", "/calendar/v3/calendars/primary/events", token=ada.token, headers=host)

    link = accepted(listed)["items"][0]["htmlLink"]
    assert link.startswith("http://other.example/")
    assert ada.items()[0]["htmlLink"] == first != link


def test_the_oldest_texts_leave_a_full_cache() -> None:
    cache = SizedCache[str](12)
    for key, text in (("a", "text"), ("b", "text"), ("c", "text"), ("large", "x" * 13)):
        cache.keep(key, text, len(text) + 2)

    assert [cache.get(key) for key in ("a", "b", "c", "large")] == [None, "text", "text", None]
