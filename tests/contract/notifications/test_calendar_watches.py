from typing import Any

from tests.contract.calendar_client import ADA, BOB, SEMINAR, WEEKLY, CalendarClient, accepted, guests, path, refusal
from tests.contract.conftest import Wire
from tests.contract.watch_client import Watch


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
