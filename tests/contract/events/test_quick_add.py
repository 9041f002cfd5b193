from typing import Any

import pytest

from tests.contract.calendar_client import CalendarClient, accepted, path, refusal
from tests.contract.conftest import Wire


def quick_add(client: CalendarClient, **parameters: Any) -> Any:
    return client.call("POST", path(client.calendar, "quickAdd"), **parameters)


def test_an_event_is_created_in_the_zone_of_the_calendar(ada: CalendarClient) -> None:
    ada.call("PATCH", "/calendar/v3/calendars/primary", {"timeZone": "Asia/Tokyo"})

    event = accepted(quick_add(ada, text="Dentist at Main Street 2026-11-05 10:00-10:30"))
    series = accepted(quick_add(ada, text="Standup every weekday 9:00 3 times starting 2026-11-06"))

    assert (event["summary"], event["location"]) == ("Dentist", "Main Street")
    assert event["start"] == {"dateTime": "2026-11-05T10:00:00+09:00", "timeZone": "Asia/Tokyo"}
    assert ada.read(event["id"]) == event
    assert series["recurrence"] == ["RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;COUNT=3"]
    days = [instance["start"]["dateTime"][:10] for instance in ada.instances(series["id"])]
    assert days == ["2026-11-06", "2026-11-09", "2026-11-10"]


def test_the_parameters_may_be_a_form(wire: Wire, ada: CalendarClient) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    other = ada.new_calendar()

    made = wire.send("POST", path("primary", "quickAdd"), b"text=Caf%C3%A9+2026-11-05&fields=id,summary", form).json
    moved = wire.send("POST", path("primary", made["id"], "move"), f"destination={other}".encode(), form)

    assert (made["summary"], list(made)) == ("Café", ["id", "summary"])
    assert moved.json["organizer"]["email"] == other


@pytest.mark.parametrize(
    "parameters, expected",
    [
        ({}, (400, "required", "text")),
        ({"text": ""}, (400, "required", "text")),
        ({"text": "Lunch one of these days"}, (400, "invalidParameter", "text")),
        ({"text": "Lunch 9999-12-31"}, (400, "invalidParameter", "text")),
        ({"text": "Lunch tomorrow", "sendUpdates": "some"}, (400, "invalidParameter", "sendUpdates")),
        ({"text": "Lunch tomorrow", "fields": "nothing"}, (400, "invalidParameter", "fields")),
    ],
)
def test_other_words_create_nothing(ada: CalendarClient, parameters: dict[str, str], expected: tuple[Any, ...]) -> None:
    assert refusal(quick_add(ada, **parameters)) == expected
    assert ada.items() == []
