from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.calendar_client import ADA, BOB, EVE, GUEST, CalendarClient, Fields, accepted, emails, guests
from tests.contract.conftest import Wire


@pytest.mark.spec("E-19", "E-19b")
def test_a_guest_has_a_copy(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(summary="Tea", attendees=guests(BOB, GUEST), location="Kitchen")

    copy = bob.read(event["id"])

    assert (copy["iCalUID"], copy["summary"], copy["location"]) == (event["iCalUID"], "Tea", "Kitchen")
    assert copy["organizer"] == copy["creator"] == {"email": ADA}
    assert [attendee.get("self", False) for attendee in copy["attendees"]] == [True, False]
    assert bob.summaries() == ["Tea"]


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
def test_the_response_of_a_guest_is_on_all_copies(ada, bob, eve, answer):
    event = ada.made(attendees=guests(BOB, EVE))

    bob.patch(event["id"], {"attendees": [*guests(BOB, responseStatus=answer), *guests(EVE)]})

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


def test_a_guest_cannot_respond_for_others(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(attendees=guests(BOB, EVE))

    bob.patch(event["id"], {"attendees": [*guests(BOB), *guests(EVE, responseStatus="accepted")]})

    assert ada.responses(event["id"]) == {BOB: "needsAction", EVE: "needsAction"}


@pytest.mark.spec("E-06", "E-06a")
def test_a_guest_with_the_right_changes_the_event_for_all(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(summary="Tea", attendees=guests(BOB), guestsCanModify=True)

    assert accepted(bob.patch(event["id"], {"summary": "Coffee"}))["summary"] == "Coffee"
    assert ada.read(event["id"])["summary"] == "Coffee"


@pytest.mark.spec("E-06", "E-06a")
@pytest.mark.parametrize("allowed", [None, True, False])
def test_guests_bring_others_unless_they_may_not(ada, bob, allowed):
    choice = {} if allowed is None else {"guestsCanInviteOthers": allowed}
    event = ada.made(attendees=guests(BOB), **choice)

    answer = bob.patch(event["id"], {"attendees": guests(BOB, EVE)})

    assert answer.status == (403 if allowed is False else 200)
    assert emails(ada.read(event["id"])) == ([BOB] if allowed is False else [BOB, EVE])


@pytest.mark.spec("E-06", "E-06a")
@pytest.mark.parametrize("allowed", [None, True, False])
def test_guests_see_each_other_unless_they_may_not(ada, bob, allowed):
    choice = {} if allowed is None else {"guestsCanSeeOtherGuests": allowed}
    event = ada.made(attendees=guests(EVE, BOB), **choice)

    assert emails(bob.read(event["id"])) == ([BOB] if allowed is False else [EVE, BOB])
    assert emails(ada.read(event["id"])) == [EVE, BOB]


def test_a_guest_deletes_their_own_copy(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(attendees=guests(BOB))

    assert bob.delete(event["id"]).status == 204

    assert bob.items() == []
    assert ada.read(event["id"])["status"] == "confirmed"
    assert ada.responses(event["id"]) == {BOB: "declined"}


def test_a_deleted_copy_stays_deleted_until_the_guest_is_invited_again(ada, bob):
    event = ada.made(summary="Tea", attendees=guests(BOB))
    bob.delete(event["id"])

    ada.patch(event["id"], {"summary": "Coffee"})
    assert bob.items() == []

    ada.patch(event["id"], {"attendees": []})
    ada.patch(event["id"], {"attendees": guests(BOB)})
    assert bob.summaries() == ["Coffee"]


class TestOneIdInTwoCalendars:
    """Ids are unique per calendar (E-11). An event of the same id or uid in another calendar is another event."""

    @pytest.fixture
    def theirs(self, bob: CalendarClient) -> Fields:
        return bob.made(id=bob.wire.once("abcde"), summary="Bob's")

    @pytest.mark.spec("E-11", "E-11b")
    @pytest.mark.choice("Ids of events")
    def test_what_becomes_of_one_is_nothing_to_the_other(self, ada, bob, theirs):
        ada.made(id=theirs["id"], summary="Ada's", attendees=guests(EVE))
        ada.patch(theirs["id"], {"summary": "changed", "attendees": guests(GUEST)})
        ada.delete(theirs["id"])

        assert bob.read(theirs["id"]) == theirs

    @pytest.mark.spec("E-11", "E-11b")
    @pytest.mark.choice("Ids of events")
    def test_an_invitation_does_not_replace_it(self, ada: CalendarClient, bob: CalendarClient, theirs: Fields) -> None:
        ada.made(id=theirs["id"], summary="Ada's", attendees=guests(BOB))
        ada.patch(theirs["id"], {"summary": "changed"})

        assert bob.read(theirs["id"]) == theirs

    def test_an_event_that_takes_anothers_uid_is_no_copy_of_it(self, ada, bob, theirs):
        taken = ada.made(iCalUID=theirs["iCalUID"], summary="Ada's", attendees=guests(BOB))
        ada.patch(taken["id"], {"summary": "changed"})

        assert bob.read(theirs["id"]) == theirs
