from typing import Any

import pytest

from tests.contract.calendar_client import ADA, BOB, WEEKLY, CalendarClient, accepted, guests, path, refusal

QUERY = "/calendar/v3/freeBusy"
NOVEMBER = {"timeMin": "2026-11-01T00:00:00Z", "timeMax": "2026-12-01T00:00:00Z"}


def busy(client: CalendarClient, *calendars: str, **fields: Any) -> dict[str, Any]:
    items = [{"id": name} for name in calendars or ("primary",)]
    return accepted(client.call("POST", QUERY, {**NOVEMBER, "items": items, **fields}))


def periods(client: CalendarClient, **fields: Any) -> list[tuple[str, str]]:
    times = busy(client, **fields)["calendars"]["primary"]["busy"]
    return [(period["start"].removeprefix("2026-"), period["end"].removeprefix("2026-")) for period in times]


def event(start: str, end: str, **fields: Any) -> dict[str, Any]:
    return {"start": {"dateTime": f"2026-{start}:00Z"}, "end": {"dateTime": f"2026-{end}:00Z"}, **fields}


def test_overlapping_events_are_one_period_and_periods_end_at_the_window(ada: CalendarClient) -> None:
    for start, end in (("11-02T10:00", "11-02T11:00"), ("11-02T10:30", "11-02T12:00"), ("11-02T12:00", "11-02T13:00"),
                       ("11-03T10:00", "11-03T11:00"), ("10-31T22:00", "11-01T02:00"),
                       ("12-01T00:00", "12-01T01:00")):  # fmt: skip
        ada.made(event(start, end))
    ada.made({"start": {"date": "2026-11-30"}, "end": {"date": "2026-12-02"}})

    assert periods(ada) == [
        ("11-01T00:00:00Z", "11-01T02:00:00Z"), ("11-02T10:00:00Z", "11-02T13:00:00Z"),
        ("11-03T10:00:00Z", "11-03T11:00:00Z"), ("11-30T00:00:00Z", "12-01T00:00:00Z"),
    ]  # fmt: skip


def test_moved_instances_and_free_time(ada: CalendarClient, bob: CalendarClient) -> None:
    first, second, third, _ = ada.instances(ada.made(WEEKLY)["id"])
    ada.delete(first["id"])
    ada.patch(second["id"], event("11-20T08:00", "11-20T09:00"))
    ada.patch(third["id"], {"transparency": "transparent"})
    ada.made(event("11-02T10:00", "11-02T11:00"), transparency="transparent")
    ada.delete(ada.made(event("11-03T10:00", "11-03T11:00"))["id"])
    invited = ada.made(event("11-04T10:00", "11-04T11:00"), attendees=guests(BOB))
    bob.patch(invited["id"], {"attendees": guests(BOB, responseStatus="declined")})

    assert periods(bob) == []
    assert periods(ada) == [
        ("11-04T10:00:00Z", "11-04T11:00:00Z"), ("11-20T08:00:00Z", "11-20T09:00:00Z"),
        ("11-23T09:00:00Z", "11-23T10:30:00Z"),
    ]  # fmt: skip


def test_calendars_of_others_need_a_role(ada: CalendarClient, bob: CalendarClient) -> None:
    ada.made(event("11-02T10:00", "11-02T11:00"), visibility="private")

    hidden = busy(bob, ADA, "nobody@svc.example")["calendars"]
    ada.share("freeBusyReader", BOB)
    shared = busy(bob, ADA)["calendars"]

    error = {"busy": [], "errors": [{"domain": "calendar", "reason": "notFound"}]}
    assert hidden == {ADA: error, "nobody@svc.example": error}
    assert shared == {ADA: {"busy": [{"start": "2026-11-02T10:00:00Z", "end": "2026-11-02T11:00:00Z"}]}}
    limited = busy(bob, "primary", "primary", BOB, calendarExpansionMax=1)["calendars"]
    assert limited["primary"] == {"busy": []}
    assert limited[BOB]["errors"][0]["reason"] == "tooManyCalendars"


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"timeMin": None}, (400, "required", "timeMin")),
        ({"timeMax": "2026-12-01"}, (400, "invalid", "timeMax")),
        ({"timeMax": "2026-12-01T00:00:00"}, (400, "invalid", "timeMax")),
        ({"timeMax": NOVEMBER["timeMin"]}, (400, "timeRangeEmpty", "timeMax")),
        ({"timeZone": "Mars"}, (400, "invalid", "timeZone")),
        ({"items": {}}, (400, "invalid", "items")),
        ({"items": [{"id": "primary"}] * 1001}, (400, "invalid", "items")),
        ({"items": [{"id": "primary"}, {"id": 5}]}, (400, "invalid", "items[1].id")),
        ({"calendarExpansionMax": 51}, (400, "invalid", "calendarExpansionMax")),
        ({"groupExpansionMax": True}, (400, "invalid", "groupExpansionMax")),
    ],
)
def test_invalid_queries(ada: CalendarClient, fields: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert refusal(ada.call("POST", QUERY, {**NOVEMBER, **fields})) == expected


@pytest.mark.policy(expansion_steps=100)
def test_all_calendars_of_a_query_share_its_steps(ada: CalendarClient) -> None:
    course = ada.new_calendar()
    for calendar in ("primary", course):
        CalendarClient(ada.wire, calendar=calendar).made(recurrence=["RRULE:FREQ=HOURLY;INTERVAL=12"])

    alone = [busy(ada, calendar)["calendars"] for calendar in ("primary", course)]
    together = ada.call("POST", QUERY, {**NOVEMBER, "items": [{"id": "primary"}, {"id": course}]})

    assert [len(period["busy"]) for answer in alone for period in answer.values()] == [58, 58]
    assert refusal(together) == (400, "timeRangeTooLong", "timeMax")


DAY = {"start": {"date": "2026-11-10"}, "end": {"date": "2026-11-11"}}
DAYS = {**DAY, "recurrence": ["RRULE:FREQ=DAILY;INTERVAL=3;COUNT=3"]}


def set_zone(client: CalendarClient, name: str) -> None:
    accepted(client.call("PATCH", f"/calendar/v3/calendars/{client.calendar}", {"timeZone": name}))


def in_other_zone(ada: CalendarClient, event_id: str) -> CalendarClient:
    set_zone(ada, "Pacific/Auckland")
    return ada


def in_other_calendar(ada: CalendarClient, event_id: str) -> CalendarClient:
    other = CalendarClient(ada.wire, calendar=ada.new_calendar(timeZone="Pacific/Auckland"))
    accepted(ada.call("POST", f"{path('primary', event_id)}/move", destination=other.calendar))
    return other


def of_a_guest(ada: CalendarClient, event_id: str) -> CalendarClient:
    bob = CalendarClient(ada.wire, BOB)
    set_zone(bob, "Pacific/Auckland")
    accepted(ada.patch(event_id, {"attendees": guests(BOB)}))
    return bob


@pytest.mark.parametrize("change", [in_other_zone, in_other_calendar, of_a_guest])
@pytest.mark.parametrize("fields", [DAY, DAYS], ids=["single", "series"])
def test_days_begin_in_the_zone_of_the_calendar(ada: CalendarClient, fields: Any, change: Any) -> None:
    set_zone(ada, "America/Los_Angeles")
    made = ada.made(fields)
    if "recurrence" in fields:
        accepted(ada.patch(f"{made['id']}_20261113", {"summary": "changed"}))
    days = [10, 13, 16] if "recurrence" in fields else [10]

    calendar = change(ada, made["id"])

    name = calendar.user if calendar.calendar == "primary" else calendar.calendar
    found = busy(calendar, name)["calendars"][name]["busy"]
    assert found == [{"start": f"2026-11-{day - 1:02}T11:00:00Z", "end": f"2026-11-{day:02}T11:00:00Z"} for day in days]
    for day in days:
        window = {"timeMin": f"2026-11-{day - 1:02}T11:00:00Z", "timeMax": f"2026-11-{day - 1:02}T11:00:01Z"}
        listed = calendar.items(singleEvents=True, orderBy="startTime", **window)
        assert [each["start"]["date"] for each in listed] == [f"2026-11-{day}"]
