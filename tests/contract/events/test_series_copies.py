import pytest

from tests.contract.calendar_client import BOB, EVE, WEEKLY, CalendarClient, accepted, emails, guests, mailed

WEEKS = ["02", "09", "16", "23"]


def instance_id(event: str, week: int) -> str:
    return f"{event}_202611{WEEKS[week]}T090000Z"


def series(ada: CalendarClient, *invited: str, **more: object) -> str:
    event: str = ada.made(WEEKLY, summary="Seminar", attendees=guests(*invited), **more)["id"]
    return event


def weekly_summaries(client: CalendarClient) -> list[str]:
    return [f"{item['originalStartTime']['dateTime'][8:10]} {item['summary']}"
            for item in client.items(singleEvents="true", orderBy="startTime")]  # fmt: skip


UNCHANGED = [f"{week} Seminar" for week in WEEKS]


def test_a_guest_responds_to_one_instance_which_still_follows_its_series(ada, bob, eve):
    event = series(ada, BOB, EVE)

    accepted(bob.patch(instance_id(event, 1), {"attendees": [*guests(BOB, responseStatus="accepted"), *guests(EVE)]}))
    bob.patch(instance_id(event, 2), {"colorId": "5"})

    for client in (ada, bob, eve):
        assert client.responses(instance_id(event, 1)) == {BOB: "accepted", EVE: "needsAction"}
        for other in (instance_id(event, 0), event):
            assert client.responses(other) == {BOB: "needsAction", EVE: "needsAction"}
    ada.patch(event, {"summary": "Colloquium"})
    assert weekly_summaries(bob) == weekly_summaries(ada) == [f"{week} Colloquium" for week in WEEKS]
    assert bob.read(instance_id(event, 2))["colorId"] == "5"


def test_a_guest_deletes_one_instance(ada: CalendarClient, bob: CalendarClient, eve: CalendarClient) -> None:
    event = series(ada, BOB, EVE)

    assert bob.delete(instance_id(event, 1)).status == 204
    ada.patch(instance_id(event, 1), {"location": "Room 6"})

    assert weekly_summaries(bob) == [UNCHANGED[0], *UNCHANGED[2:]]
    assert weekly_summaries(ada) == weekly_summaries(eve) == UNCHANGED
    assert ada.responses(instance_id(event, 1)) == {BOB: "declined", EVE: "needsAction"}


@pytest.mark.parametrize("later", [False, True], ids=["invited before", "invited later"])
def test_every_guest_has_the_changed_instances(ada: CalendarClient, bob: CalendarClient, later: bool) -> None:
    event = series(ada) if later else series(ada, BOB)
    ada.patch(instance_id(event, 1), {"summary": "Guest lecture"})
    ada.delete(instance_id(event, 2))

    if later:
        ada.patch(event, {"attendees": guests(BOB)})

    assert weekly_summaries(bob) == weekly_summaries(ada) == [UNCHANGED[0], "09 Guest lecture", UNCHANGED[3]]


def test_a_guest_is_removed_from_one_instance_or_from_all(ada, bob, eve):
    event = series(ada, BOB, EVE)
    ada.patch(instance_id(event, 1), {"attendees": guests(BOB)})

    assert weekly_summaries(eve) == [UNCHANGED[0], *UNCHANGED[2:]]
    assert weekly_summaries(bob) == UNCHANGED
    assert emails(ada.read(instance_id(event, 1))) == [BOB]
    bob.patch(instance_id(event, 2), {"attendees": [*guests(BOB, responseStatus="accepted"), *guests(EVE)]})
    ada.patch(event, {"attendees": guests(EVE)})
    assert weekly_summaries(bob) == []
    assert [emails(ada.read(instance_id(event, week))) for week in (2, 3)] == [[EVE], [EVE]]


def test_a_guest_of_one_instance_sees_only_that_one(ada, bob, eve):
    event = series(ada, EVE)

    ada.patch(instance_id(event, 1), {"attendees": guests(EVE, BOB)})
    ada.patch(instance_id(event, 1), {"summary": "Guest lecture"})

    assert bob.summaries() == bob.summaries(singleEvents="true") == ["Guest lecture"]
    assert bob.read(instance_id(event, 1))["start"]["dateTime"][:10] == "2026-11-09"
    bob.patch(instance_id(event, 1), {"attendees": [*guests(EVE), *guests(BOB, responseStatus="accepted")]})
    assert ada.responses(instance_id(event, 1))[BOB] == "accepted"
    ada.delete(instance_id(event, 1))
    assert bob.items() == []


@pytest.mark.spec("E-16", "E-16a")
def test_a_guest_who_has_deleted_a_series_gets_its_messages_and_none_of_its_instances(wire, ada, bob):
    event = series(ada, BOB)
    bob.delete(event)

    ada.patch(instance_id(event, 1), {"summary": "Guest lecture"})

    assert (bob.items(), bob.items(singleEvents="true")) == ([], [])
    other = series(ada, BOB)
    ada.patch(other, {"status": "cancelled"}, sendUpdates="all")
    assert mailed(wire) == [(BOB, "cancel")]
