import pytest

from tests.contract.calendar_client import ADA, BOB, GUEST, SEMINAR, CalendarClient, emails, guests
from tests.contract.differences import choice

GOOD = [
    "bob@svc.example",
    "first.last+tag@sub.example.org",
    "o'brien!#$%&*/=?^_`{|}~-@example.org",
    '"quoted local"@example.org',
    '"a\\"b"@example.org',
    "x@[192.0.2.1]",
    "root@localhost",
    "a@b.co",
]


@pytest.mark.spec("E-07", "E-07b")
def test_an_address_of_rfc_5322_is_accepted(ada: CalendarClient) -> None:
    assert emails(ada.made(attendees=guests(*GOOD))) == GOOD


@pytest.mark.choice("An attendee listed twice")
def test_an_attendee_who_is_given_twice_is_one_and_gets_one_invitation(ada, bob):
    twice = [*guests(BOB, displayName="Bob"), *guests(GUEST, ADA), *guests(BOB.upper(), optional=True)]

    event = ada.made(attendees=twice)

    assert emails(event) == [BOB, GUEST, ADA]
    assert event["attendees"][1].keys() == {"email", "responseStatus"}
    assert event["attendees"][2] == {"email": ADA, "organizer": True, "self": True, "responseStatus": "accepted"}
    assert (event["attendees"][0]["displayName"], event["attendees"][0]["optional"]) == ("Bob", True)
    assert [attendee["self"] for attendee in bob.read(event["id"])["attendees"] if "self" in attendee] == [True]


@pytest.mark.spec("E-06", "E-06a")
@pytest.mark.parametrize("field, default", [("additionalGuests", 0), ("optional", False), ("resource", False)])
def test_a_default_of_an_attendee_is_returned_only_if_it_was_sent(ada, field, default):
    silent, spoken = ada.made(attendees=guests(BOB)), ada.made(attendees=guests(BOB, **{field: default}))

    for event in (silent, spoken):
        assert event["attendees"][0].get(field, default) == default
    with choice("Default fields of a response"):
        assert field not in silent["attendees"][0]
        assert spoken["attendees"][0][field] == default


@pytest.mark.spec("E-28")
def test_the_name_and_the_comment_of_an_attendee_are_kept(ada: CalendarClient, bob: CalendarClient) -> None:
    details = {"displayName": "Bob B. ✓", "comment": "Late:\n\t10 minutes"}

    event = ada.made(attendees=[{"email": BOB, **details}, {"email": GUEST}])
    changed = ada.patch(event["id"], {"summary": "x"}).json

    for shown in (event, ada.read(event["id"]), changed, bob.read(event["id"])):
        named, guest = shown["attendees"]
        assert details.items() <= named.items()
        assert guest.keys().isdisjoint(details)


@pytest.mark.spec("E-08", "E-08a", "E-08b")
@pytest.mark.parametrize("first, later", [(True, False), (False, True)])
def test_resource_is_set_only_when_an_attendee_is_added(ada: CalendarClient, first: bool, later: bool) -> None:
    event = ada.made(attendees=guests(GUEST, resource=first))

    room = guests("room5@svc.example", resource=True)
    attendees = [*guests(GUEST, resource=later, comment="changed"), *room]
    changed = ada.patch(event["id"], {"attendees": attendees}).json

    assert changed["attendees"][1]["resource"] is True
    assert changed["attendees"][0].get("resource", False) is first
    assert changed["attendees"][0]["comment"] == "changed"


@pytest.mark.spec("E-15")
def test_above_max_attendees_only_the_participant_is_returned(ada: CalendarClient) -> None:
    body = {**SEMINAR, "attendees": guests(GUEST, ADA, BOB)}
    event = ada.made(body)

    for limit in (1, 2):
        answer = ada.insert(body, maxAttendees=limit)
        for shown in (answer.json, ada.read(event["id"], maxAttendees=limit)):
            assert emails(shown) == [ADA]
            with choice("Default fields of a response"):
                assert shown["attendeesOmitted"] is True
        assert emails(ada.read(answer.json["id"])) == [GUEST, ADA, BOB]
    for limit in (3, 4, 10**6):
        answer = ada.insert(body, maxAttendees=limit)
        assert emails(answer.json) == [GUEST, ADA, BOB]
        assert "attendeesOmitted" not in answer.json


@pytest.mark.spec("E-15")
def test_every_participant_sees_themselves(ada: CalendarClient, bob: CalendarClient) -> None:
    event = ada.made(attendees=guests(GUEST, ADA, BOB))

    assert emails(bob.read(event["id"], maxAttendees=1)) == [BOB]
    assert [emails(event) for event in bob.items(maxAttendees=1)] == [[BOB]]
