"""What the interface leaves open about events is a choice, and each choice can be made otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebooks.core.policy import Policy

from .conftest import Wire
from .diary import BOB, END, SEMINAR, Diary, Fields, accepted, guests, mailed, path, refusal

REQUEST = {"conferenceData": {"createRequest": {"requestId": "r1"}}}


class TestConferencesTakeTime:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(conference="pending-then-success")

    def test_a_conference_is_there_at_the_second_look(self, ada: Diary) -> None:
        event = accepted(ada.insert({**SEMINAR, **REQUEST}, conferenceDataVersion=1))

        first, second = ada.read(event["id"]), ada.read(event["id"])

        for early in (event, first):
            assert status(early) == "pending"
            assert early["conferenceData"].keys() == {"createRequest"}
            assert "hangoutLink" not in early
        assert status(second) == "success"
        assert second["conferenceData"]["entryPoints"][0]["uri"] == second["hangoutLink"]
        assert ada.read(event["id"])["conferenceData"] == second["conferenceData"]

    @pytest.mark.spec("E-09")
    def test_all_guests_have_one_conference(self, wire: Wire, ada: Diary) -> None:
        bob = Diary(wire, BOB)
        event = accepted(ada.insert({**SEMINAR, **REQUEST, "attendees": guests(BOB)}, conferenceDataVersion=1))
        bob.read(event["id"])
        ada.read(event["id"])

        assert ada.read(event["id"])["hangoutLink"] == bob.read(event["id"])["hangoutLink"]


class TestConferencesFail:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(conference="failure")

    def test_a_failure_is_said(self, ada: Diary) -> None:
        event = accepted(ada.insert({**SEMINAR, **REQUEST}, conferenceDataVersion=1))

        for shown in (event, ada.read(event["id"]), ada.read(event["id"])):
            assert status(shown) == "failure"
            assert "hangoutLink" not in shown


def status(event: Fields) -> str:
    found: str = event["conferenceData"]["createRequest"]["status"]["statusCode"]
    return found


class TestOtherConferences:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(conference_types=("smoke",))

    @pytest.mark.parametrize("kind, code", [("smoke", 200), ("hangoutsMeet", 400)])
    def test_the_types_are_listed(self, ada: Diary, kind: str, code: int) -> None:
        request = {"requestId": "r1", "conferenceSolutionKey": {"type": kind}}
        body = {**SEMINAR, "conferenceData": {"createRequest": request}}

        assert ada.insert(body, conferenceDataVersion=1).status == code

    def test_the_first_is_made_where_none_is_named(self, ada: Diary) -> None:
        event = accepted(ada.insert({**SEMINAR, **REQUEST}, conferenceDataVersion=1))

        assert event["conferenceData"]["conferenceSolution"]["key"] == {"type": "smoke"}


class TestTheScopesOfTheFamily:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(event_scopes="family")

    @pytest.mark.parametrize("scope, status", [("calendar.events.owned", 200), ("calendar.events.readonly", 403)])
    def test_a_narrower_scope_creates_events_in_the_own_calendar(self, wire: Wire, scope: str, status: int) -> None:
        token = wire.service.sign_in(scopes=[scope])

        assert wire.post_json(path(), SEMINAR, token=token).status == status

    def test_a_scope_for_calendars_of_the_app_does_not_reach_the_primary_one(self, wire: Wire) -> None:
        token = wire.service.sign_in(scopes=["calendar.app.created"])
        made = wire.post_json("/calendar/v3/calendars", {"summary": "Team"}, token=token).json

        answers = [wire.post_json(path(name), SEMINAR, token=token) for name in (made["id"], "primary")]

        assert [one.status for one in answers] == [200, 404]


class TestTheStartAsTheFamilySaysIt:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(missing_start="live")

    def test_a_missing_start_does_not_go_with_the_end(self, ada: Diary) -> None:
        assert refusal(ada.insert({"end": END})) == (400, "invalid", "start")

    def test_a_missing_end_is_still_missing(self, ada: Diary) -> None:
        assert ada.insert({"summary": "x"}).error["reason"] == "required"


class TestNumbers:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(
            max_attendees=2, max_attachments=1, default_reminder=25, outbox_length=1, calendar_zone="Asia/Tokyo"
        )

    @pytest.mark.parametrize("number, code", [(2, 200), (3, 400)])
    def test_attendees(self, ada: Diary, number: int, code: int) -> None:
        attendees = guests(*(f"guest{n}@elsewhere.example" for n in range(number)))

        assert ada.insert({**SEMINAR, "attendees": attendees}).status == code

    @pytest.mark.parametrize("number, code", [(1, 200), (2, 400)])
    def test_attachments(self, ada: Diary, number: int, code: int) -> None:
        attachments: list[Any] = [{"fileUrl": f"https://elsewhere.example/{n}"} for n in range(number)]

        assert ada.insert({**SEMINAR, "attachments": attachments}, supportsAttachments="true").status == code

    def test_the_calendars_own_reminder(self, ada: Diary) -> None:
        assert ada.list().json["defaultReminders"] == [{"method": "popup", "minutes": 25}]

    def test_the_zone_of_a_calendar(self, ada: Diary) -> None:
        assert ada.list().json["timeZone"] == "Asia/Tokyo"
        assert ada.made()["start"]["dateTime"] == "2026-11-02T18:00:00+09:00"

    def test_the_outbox_keeps_the_last(self, wire: Wire, ada: Diary) -> None:
        ada.insert({**SEMINAR, "attendees": guests("a@elsewhere.example", "b@elsewhere.example")}, sendUpdates="all")

        assert mailed(wire) == [("b@elsewhere.example", "request")]
