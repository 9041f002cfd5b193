from typing import Any

import pytest

from tests.contract.calendar_client import BOB, SEMINAR, CalendarClient, guests, refusal
from tests.contract.differences import choice

POPUP = {"method": "popup", "minutes": 10}
EMAIL = {"method": "email", "minutes": 60}
FOUR_WEEKS = pytest.mark.spec("E-13", "E-13c")


def insert_with_reminders(ada: CalendarClient, **reminders: Any) -> Any:
    return ada.insert({**SEMINAR, "reminders": reminders})


@pytest.mark.spec("E-13", "E-13b", "E-13d", "E-18", "E-18a")
@pytest.mark.parametrize(
    "sent, shown",
    [
        (None, {"useDefault": True}),
        ({"useDefault": True}, {"useDefault": True}),
        ({"useDefault": False}, {"useDefault": False}),
        ({"useDefault": False, "overrides": []}, {"useDefault": False}),
        ({"useDefault": False, "overrides": [POPUP]}, {"useDefault": False, "overrides": [POPUP]}),
        ({"overrides": [EMAIL, POPUP]}, {"useDefault": False, "overrides": [EMAIL, POPUP]}),
        *(
            pytest.param({"overrides": [reminder]}, {"useDefault": False, "overrides": [reminder]}, marks=FOUR_WEEKS)
            for reminder in ({**EMAIL, "minutes": 0}, {**EMAIL, "minutes": 1}, {**EMAIL, "minutes": 40320})
        ),
    ],
)
def test_reminders_are_the_calendars_or_the_events(ada: CalendarClient, sent: Any, shown: Any) -> None:
    event = ada.made({} if sent is None else {"reminders": sent})

    assert event["reminders"].get("overrides", []) == shown.get("overrides", [])
    with choice("Default fields of a response"):
        assert event["reminders"] == shown
    assert ada.read(event["id"])["reminders"] == event["reminders"]


@pytest.mark.spec("E-26")
@pytest.mark.parametrize("sent", [{}, {"overrides": None}, {"overrides": []}])
def test_without_the_calendars_reminders_and_overrides_there_are_none(wire, ada, sent):
    event = ada.made(attendees=guests(BOB), reminders={"useDefault": False, **sent})

    changed = ada.patch(event["id"], {"summary": "x"}).json

    for shown in (event, ada.read(event["id"]), changed, *ada.items()):
        assert shown["reminders"]["useDefault"] is False
        assert not shown["reminders"].get("overrides")
    with choice("Operations that the interface does not specify"):
        assert CalendarClient(wire, BOB).read(event["id"])["reminders"] == {"useDefault": True}


@pytest.mark.spec("E-13", "E-13a", "E-13d")
def test_an_event_has_at_most_five_reminders_and_not_also_those_of_the_calendar(ada: CalendarClient) -> None:
    for number in (6, 100):
        answer = insert_with_reminders(ada, useDefault=False, overrides=reminders_of(number))
        assert refusal(answer) == (400, "eventRemindersCountExceedsLimit", "reminders.overrides")
        assert answer.error["domain"] == "calendar"
    with choice("Reminder overrides with useDefault"):
        answer = insert_with_reminders(ada, useDefault=True, overrides=[POPUP])
        assert (answer.status, answer.error["reason"]) == (400, "cannotUseDefaultRemindersAndSpecifyOverride")
        assert answer.error["location"].startswith("reminders")
    assert ada.items() == []
    event = insert_with_reminders(ada, useDefault=False, overrides=reminders_of(5)).json
    assert event["reminders"]["overrides"] == reminders_of(5)


def reminders_of(number: int) -> list[dict[str, Any]]:
    return [{"method": "popup", "minutes": n} for n in range(number)]


def test_a_change_of_reminders_is_no_change_of_the_event(ada: CalendarClient) -> None:
    event = ada.made()
    ada.wire.service.clock.advance(3600)

    changed = ada.patch(event["id"], {"reminders": {"useDefault": False, "overrides": [POPUP]}}).json

    assert changed["reminders"]["overrides"] == [POPUP]
    assert changed["updated"] == event["updated"]


MINUTES = [(-5, 0), (40321, 40320), (10, 10)]


@pytest.mark.policy(reminders="clamp")
@pytest.mark.parametrize(
    "overrides, kept",
    [
        *(([{**POPUP, "minutes": sent}], [{**POPUP, "minutes": kept}]) for sent, kept in MINUTES),
        ([POPUP, POPUP, {"method": "sms", "minutes": 5}], [POPUP]),
    ],
)
def test_minutes_are_brought_into_the_range_and_the_rest_is_dropped(ada, overrides, kept):
    """With this policy values out of range are repaired, as other services of the family do."""
    answer = insert_with_reminders(ada, useDefault=False, overrides=overrides)

    assert answer.json["reminders"]["overrides"] == kept
