from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.contract.calendar_client import SEMINAR, WEEKLY, CalendarClient, Fields, accepted, path, refusal


@pytest.mark.spec("E-25")
def test_recurrence_is_left_out_of_instances_and_exceptions(ada: CalendarClient) -> None:
    """A changed, a moved and a cancelled instance too, and one to which a client sends the line back."""
    event = ada.made(WEEKLY)
    plain, changed, moved, cancelled = (instance["id"] for instance in ada.instances(event["id"]))
    lines = {"recurrence": WEEKLY["recurrence"]}
    shown = [accepted(ada.patch(changed, {"summary": "Colloquium", **lines}))]
    shown += [accepted(ada.put(moved, {**SEMINAR, "summary": "Moved", **lines}))]
    ada.delete(cancelled)

    shown += [ada.read(instance_id) for instance_id in (plain, changed, moved)]
    shown += ada.instances(event["id"], showDeleted="true")
    shown += ada.items(singleEvents="true", showDeleted="true")

    assert len(shown) == 13
    assert [instance["id"] for instance in shown if "recurrence" in instance] == []
    assert ada.read(event["id"])["recurrence"] == WEEKLY["recurrence"]


def local(instance: Fields) -> str:
    return datetime.fromisoformat(instance["start"]["dateTime"]).astimezone(ZoneInfo("Europe/Berlin")).isoformat()


@pytest.mark.spec("E-04", "E-04b")
def test_the_clock_on_the_wall_stays_over_the_change_to_winter(ada: CalendarClient) -> None:
    start, end = ({"dateTime": f"2026-10-18T{hour}:00:00", "timeZone": "Europe/Berlin"} for hour in (10, 11))

    instances = ada.instances(ada.made(start=start, end=end, recurrence=["RRULE:FREQ=WEEKLY;COUNT=3"])["id"])

    starts = [local(instance) for instance in instances]
    assert starts == ["2026-10-18T10:00:00+02:00", "2026-10-25T10:00:00+01:00", "2026-11-01T10:00:00+01:00"]
    assert {instance["start"]["timeZone"] for instance in instances} == {"Europe/Berlin"}


def test_instances_have_ids_of_their_own(ada: CalendarClient) -> None:
    event = ada.made(WEEKLY, summary="Seminar")

    instances = ada.instances(event["id"])

    ids = [f"{event['id']}_202611{day}T090000Z" for day in ("02", "09", "16", "23")]
    assert [instance["id"] for instance in instances] == ids
    for instance in instances:
        assert instance["recurringEventId"] == event["id"]
        assert (instance["summary"], instance["iCalUID"]) == ("Seminar", event["iCalUID"])
        assert instance["originalStartTime"] == instance["start"]
        assert "recurrence" not in instance
        assert ada.read(instance["id"]) == instance


@pytest.mark.parametrize(
    "window, days",
    [
        ({"timeMin": "2026-11-09T10:30:00Z"}, ["16", "23"]),
        ({"timeMin": "2026-11-09T10:29:59Z"}, ["09", "16", "23"]),
        ({"timeMax": "2026-11-09T09:00:00Z"}, ["02"]),
        ({"timeMin": "2026-11-08T00:00:00Z", "timeMax": "2026-11-17T00:00:00Z"}, ["09", "16"]),
        ({"timeMin": "2027-01-01T00:00:00Z"}, []),
    ],
)
def test_a_window_selects_instances(ada: CalendarClient, window: Fields, days: list[str]) -> None:
    event = ada.made(WEEKLY)

    assert [instance["start"]["dateTime"][8:10] for instance in ada.instances(event["id"], **window)] == days


def test_one_instance_is_changed_alone(ada: CalendarClient) -> None:
    event = ada.made(WEEKLY, summary="Seminar")
    second = ada.instances(event["id"])[1]
    later = {"start": {"dateTime": "2026-11-10T14:00:00+01:00", "timeZone": "Europe/Berlin"},
             "end": {"dateTime": "2026-11-10T15:00:00+01:00", "timeZone": "Europe/Berlin"}}  # fmt: skip

    changed = accepted(ada.patch(second["id"], {"summary": "Moved", **later}))

    assert changed["id"] == second["id"]
    assert changed["originalStartTime"] == second["originalStartTime"]
    instances = ada.instances(event["id"])
    assert [instance["summary"] for instance in instances] == ["Seminar", "Moved", "Seminar", "Seminar"]
    assert local(instances[1]) == "2026-11-10T14:00:00+01:00"
    assert ada.read(second["id"]) == instances[1]
    assert ada.read(event["id"])["summary"] == "Seminar"


def test_instances_can_be_cancelled(ada: CalendarClient) -> None:
    event = ada.made(WEEKLY)["id"]
    second, third = (instance["id"] for instance in ada.instances(event)[1:3])

    assert (ada.delete(second).status, ada.patch(third, {"status": "cancelled"}).status) == (204, 200)

    assert [instance["id"][-16:-8] for instance in ada.instances(event)] == ["20261102", "20261123"]
    shown = ada.instances(event, showDeleted="true")
    cancelled = [instance for instance in shown if instance["status"] == "cancelled"]
    assert [(each["id"], each["recurringEventId"]) for each in cancelled] == [(second, event), (third, event)]
    assert all(each["originalStartTime"]["dateTime"] for each in cancelled)
    assert ada.read(event)["status"] == "confirmed"


UNKNOWN = ["20261103T090000Z", "20261102", "soon", "20261102T090000", "99999999T999999Z", "", "00010101", "99991231",
           "99991231T235959Z"]  # fmt: skip


def test_an_unknown_instance_is_404(ada: CalendarClient) -> None:
    event, single = ada.made(WEEKLY), ada.made()

    for stamp in UNKNOWN:
        for answer in (ada.get(f"{event['id']}_{stamp}"), ada.patch(f"{event['id']}_{stamp}", {"summary": "x"})):
            assert (answer.status, answer.error["reason"]) == (404, "notFound")
    for moment in ("0001-01-01T00:00:00Z", "9999-12-31T00:00:00-05:00"):
        assert ada.instances(event["id"], originalStart=moment) == []
    ada.delete(event["id"])
    ada.delete(single["id"])
    assert refusal(ada.call("GET", path(ada.calendar, event["id"], "instances"))) == (410, "deleted", "eventId")
    assert refusal(ada.call("GET", path(ada.calendar, single["id"], "instances"))) == (400, "invalid", "eventId")
