from datetime import datetime

import pytest

from tests.contract.calendar_client import (
    ADA,
    BOB,
    EVE,
    GUEST,
    SEMINAR,
    CalendarClient,
    guests,
    invitations,
    mailed,
    refusal,
)
from tests.contract.conftest import Wire


@pytest.fixture
def ada(wire: Wire) -> CalendarClient:
    CalendarClient(wire, BOB)  # Bob has an account here
    return CalendarClient(wire)


INVITED = {"summary": "Tea", "attendees": guests(ADA, BOB, GUEST)}


@pytest.mark.spec("E-16", "E-16a", "E-16b", "E-16c")
@pytest.mark.parametrize(
    "parameters, to",
    [
        ({}, []),
        *(({"sendUpdates": value}, []) for value in ("none", "false")),
        *(({"sendUpdates": value}, [BOB, GUEST]) for value in ("all", "true", "True")),
        *(({"sendNotifications": value}, [BOB, GUEST]) for value in ("true", "True")),
        *(({"sendNotifications": value}, []) for value in ("false", "FALSE")),
        ({"sendUpdates": "externalOnly"}, [GUEST]),
        ({"sendUpdates": "none", "sendNotifications": "true"}, []),
        ({"sendUpdates": "all", "sendNotifications": "false"}, [BOB, GUEST]),
    ],
)
def test_send_updates_decides_who_gets_a_message(wire, ada, parameters, to):
    event = ada.insert({**SEMINAR, **INVITED}, **parameters).json

    assert mailed(wire) == [(recipient, "request") for recipient in to]
    assert all(mail["event_id"] == event["id"] for mail in invitations(wire))


@pytest.mark.spec("E-16", "E-16a", "E-16c")
def test_an_invitation_has_its_time_and_a_subject_and_a_resource_gets_none(wire: Wire, ada: CalendarClient) -> None:
    attendees = [{"email": "room5@elsewhere.example", "resource": True}, *guests(GUEST)]
    event = ada.insert({**SEMINAR, "summary": "Tea", "attendees": attendees}, sendUpdates="all").json

    (mail,) = invitations(wire)

    assert mail.keys() == {"time", "event_id", "to", "method", "subject"}
    assert (mail["event_id"], mail["to"], mail["method"]) == (event["id"], GUEST, "request")
    assert "Tea" in mail["subject"]
    assert abs((datetime.fromisoformat(mail["time"]) - wire.service.clock.now()).total_seconds()) < 5


@pytest.mark.spec("E-16", "E-16a", "E-16b")
@pytest.mark.parametrize("name, value", [("sendUpdates", "some"), ("sendUpdates", ""), ("sendUpdates", "ALL"),
                                         ("sendNotifications", "1"), ("sendNotifications", "all")])  # fmt: skip
def test_another_value_of_send_updates_is_refused_and_nothing_is_created(wire, ada, name, value):
    answer = ada.insert({**SEMINAR, **INVITED}, **{name: value})

    assert refusal(answer) == (400, "invalidParameter", name)
    assert (mailed(wire), ada.items()) == ([], [])


@pytest.mark.spec("E-16", "E-16a")
def test_added_attendees_are_invited_and_removed_ones_are_informed(wire: Wire, ada: CalendarClient) -> None:
    event = ada.made(attendees=guests(BOB, GUEST))

    ada.patch(event["id"], {"attendees": guests(BOB, EVE)}, sendUpdates="all")

    assert sorted(mailed(wire)) == sorted([(BOB, "update"), (EVE, "request"), (GUEST, "cancel")])


@pytest.mark.spec("E-16", "E-16a")
@pytest.mark.parametrize("parameters, to", [({}, []), ({"sendUpdates": "all"}, [BOB, GUEST]),
                                            ({"sendUpdates": "externalOnly"}, [GUEST])])  # fmt: skip
def test_send_updates_decides_who_gets_a_message_about_a_deletion(wire, ada, parameters, to):
    event = ada.made(INVITED)

    ada.delete(event["id"], **parameters)

    assert mailed(wire) == [(recipient, "cancel") for recipient in to]
