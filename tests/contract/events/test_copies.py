from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.calendar_client import ADA, BOB, EVE, GUEST, CalendarClient, accepted, emails, guests
from tests.contract.conftest import Wire


@pytest.mark.spec("E-06", "E-06a", "E-19", "E-19b")
def test_a_guest_has_a_copy_and_with_the_right_changes_the_event(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(summary="Tea", attendees=guests(BOB, GUEST), location="Kitchen", guestsCanModify=True)

    copy = bob.read(event["id"])

    assert (copy["iCalUID"], copy["summary"], copy["location"]) == (event["iCalUID"], "Tea", "Kitchen")
    assert copy["organizer"] == copy["creator"] == {"email": ADA}
    assert [attendee.get("self", False) for attendee in copy["attendees"]] == [True, False]
    assert bob.summaries() == ["Tea"]
    assert accepted(bob.patch(event["id"], {"summary": "Coffee"}))["summary"] == "Coffee"
    assert ada.read(event["id"])["summary"] == "Coffee"


@pytest.mark.spec("E-19", "E-19a", "E-19b")
def test_every_copy_has_private_properties_of_its_own(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(attendees=guests(BOB), extendedProperties={"private": {"a": "ada"}, "shared": {"s": "1"}})

    changed = accepted(bob.patch(event["id"], {"extendedProperties": {"private": {"a": "bob"}}}))
    ada.patch(event["id"], {"extendedProperties": {"shared": {"s": "2"}}})

    assert changed["extendedProperties"]["private"] == {"a": "bob"}
    assert ada.read(event["id"])["extendedProperties"] == {"private": {"a": "ada"}, "shared": {"s": "2"}}
    assert bob.read(event["id"])["extendedProperties"] == {"private": {"a": "bob"}, "shared": {"s": "2"}}
    assert [item["id"] for item in bob.items(privateExtendedProperty="a=bob")] == [event["id"]]
    assert ada.items(privateExtendedProperty="a=bob") == []


@pytest.mark.parametrize("answer", ["accepted", "declined", "tentative"])
def test_the_response_of_a_guest_is_on_all_copies_and_not_one_for_others(ada, bob, eve, answer):
    event = ada.made(attendees=guests(BOB, EVE))

    responses = [*guests(BOB, responseStatus=answer), *guests(EVE, responseStatus="accepted")]
    bob.patch(event["id"], {"attendees": responses})

    for client in (ada, bob, eve):
        assert client.responses(event["id"]) == {BOB: answer, EVE: "needsAction"}


def test_answers_at_once_are_all_kept(wire: Wire, ada: CalendarClient) -> None:
    invited = [CalendarClient(wire, f"guest{n}@svc.example") for n in range(6)]
    event = ada.made(attendees=guests(*(client.user for client in invited)))

    def accept(client: CalendarClient) -> int:
        seen = client.read(event["id"])["attendees"]
        return client.patch(event["id"], {"attendees": [
            {**attendee, "responseStatus": "accepted"} if attendee.get("self") else attendee for attendee in seen
        ]}).status  # fmt: skip

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(accept, invited)) == [200] * 6
    assert set(ada.responses(event["id"]).values()) == {"accepted"}


@pytest.mark.spec("E-06", "E-06a")
@pytest.mark.parametrize("allowed", [None, True, False])
def test_guests_see_each_other_and_bring_others_unless_they_may_not(ada, bob, allowed):
    may = {} if allowed is None else {"guestsCanInviteOthers": allowed}
    see = {} if allowed is None else {"guestsCanSeeOtherGuests": allowed}
    event, shown = ada.made(attendees=guests(BOB), **may), ada.made(attendees=guests(EVE, BOB), **see)

    answer = bob.patch(event["id"], {"attendees": guests(BOB, EVE)})

    assert answer.status == (403 if allowed is False else 200)
    assert emails(ada.read(event["id"])) == ([BOB] if allowed is False else [BOB, EVE])
    assert emails(bob.read(shown["id"])) == ([BOB] if allowed is False else [EVE, BOB])
    assert emails(ada.read(shown["id"])) == [EVE, BOB]


def test_a_guest_deletes_their_own_copy_until_they_are_invited_again(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(summary="Tea", attendees=guests(BOB))

    assert bob.delete(event["id"]).status == 204

    assert bob.items() == []
    assert ada.read(event["id"])["status"] == "confirmed"
    assert ada.responses(event["id"]) == {BOB: "declined"}
    ada.patch(event["id"], {"summary": "Coffee"})
    assert bob.items() == []
    ada.patch(event["id"], {"attendees": []})
    ada.patch(event["id"], {"attendees": guests(BOB)})
    assert bob.summaries() == ["Coffee"]


SAME_ID = pytest.param("id", marks=[pytest.mark.spec("E-11", "E-11b"), pytest.mark.choice("Ids of events")])


@pytest.mark.parametrize("taken", [SAME_ID, "iCalUID"])
def test_an_event_of_the_same_id_or_uid_in_another_calendar_is_another_event(ada, bob, taken):
    """Ids are unique per calendar. An invitation does not replace an event of the guest."""
    theirs = bob.made(id=bob.wire.once("abcde"), summary="Bob's")
    adas = ada.made({taken: theirs[taken]}, summary="Ada's", attendees=guests(EVE, BOB))["id"]
    ada.patch(adas, {"summary": "changed"})

    assert bob.read(theirs["id"]) == theirs
    ada.patch(adas, {"attendees": guests(GUEST)})
    ada.delete(adas)
    assert bob.read(theirs["id"]) == theirs
