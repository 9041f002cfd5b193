from typing import Any

import pytest

from tests.contract.calendar_client import SEMINAR, CalendarClient, Fields, accepted
from tests.contract.differences import choice

REQUEST = {"createRequest": {"requestId": "r1", "conferenceSolutionKey": {"type": "hangoutsMeet"}}}
VIDEO = {"entryPointType": "video", "uri": "https://meet.example/abc", "label": "meet.example/abc"}
PHONE = {"entryPointType": "phone", "uri": "tel:+49-30-1", "pin": "123"}
SIP = {"entryPointType": "sip", "uri": "sip:abc@meet.example"}
MORE = {"entryPointType": "more", "uri": "https://meet.example/more"}
SOLUTION = {"key": {"type": "addOn"}, "name": "Meet example", "iconUri": "https://meet.example/icon.png"}


def conference_elsewhere(*entry_points: Fields, **more: Any) -> Fields:
    return {"conferenceSolution": SOLUTION, "entryPoints": list(entry_points), **more}


def with_conference(ada: CalendarClient, conference: Any, version: object = 1) -> Any:
    return ada.insert({**SEMINAR, "conferenceData": conference}, conferenceDataVersion=version)


@pytest.mark.spec("E-09", "E-09c")
@pytest.mark.parametrize(
    "solution_type", ["hangoutsMeet", pytest.param("svcMeet", marks=pytest.mark.choice("conference_types"))]
)
def test_a_conference_is_made_on_request(ada: CalendarClient, solution_type: str) -> None:
    request = {"requestId": "r1", "conferenceSolutionKey": {"type": solution_type}}

    event = with_conference(ada, {"createRequest": request}).json

    conference = event["conferenceData"]
    with choice("conference"):
        assert conference["createRequest"] == {**request, "status": {"statusCode": "success"}}
        assert conference["conferenceSolution"]["key"] == {"type": solution_type}
        assert conference["conferenceId"]
        videos = [point["uri"] for point in conference["entryPoints"] if point["entryPointType"] == "video"]
        assert videos == [event["hangoutLink"]]
        assert videos[0].startswith("https://")
        assert ada.read(event["id"]) == event


@pytest.mark.spec("E-09", "E-09a", "E-27")
@pytest.mark.parametrize(
    "conference",
    [
        *(REQUEST, conference_elsewhere(VIDEO), conference_elsewhere({}), {"conferenceId": "abc"}),
        *({}, "no object", 5, [], {"createRequest": {"requestId": 5}}, {"notes": "\ud800"}),
    ],
)
def test_version_0_ignores_the_conference_and_does_not_check_it(ada: CalendarClient, conference: Any) -> None:
    event = accepted(ada.insert({**SEMINAR, "conferenceData": conference}, conferenceDataVersion=0))
    other = accepted(ada.insert({**SEMINAR, "conferenceData": conference}))

    assert {"conferenceData", "hangoutLink"}.isdisjoint(event.keys() | other.keys())
    assert ada.patch(event["id"], {"conferenceData": conference}).status == 200
    assert ada.put(event["id"], {**SEMINAR, "conferenceData": conference}).status == 200
    assert "conferenceData" not in ada.read(event["id"])


@pytest.mark.spec("E-09", "E-09a", "E-09b", "E-09c")
@pytest.mark.choice("conference")
def test_a_change_needs_version_1_and_another_request(ada: CalendarClient) -> None:
    event = with_conference(ada, REQUEST).json
    other = {"createRequest": {**REQUEST["createRequest"], "requestId": "r2"}}

    for parameters in ({}, {"conferenceDataVersion": 0}):
        patched = ada.patch(event["id"], {"conferenceData": None, "summary": "x"}, **parameters).json
        replaced = ada.put(event["id"], SEMINAR, **parameters).json
        assert patched["conferenceData"] == replaced["conferenceData"] == event["conferenceData"]
    again, new, gone = (
        ada.patch(event["id"], {"conferenceData": conference}, conferenceDataVersion=1).json
        for conference in (REQUEST, other, None)
    )
    assert again["conferenceData"] == event["conferenceData"]
    assert new["conferenceData"]["conferenceId"] != event["conferenceData"]["conferenceId"]
    assert gone.keys().isdisjoint({"conferenceData", "hangoutLink"})


@pytest.mark.spec("E-09", "E-09b", "E-09c")
@pytest.mark.choice("conference")
def test_a_conference_that_exists_is_copied(ada: CalendarClient) -> None:
    elsewhere = conference_elsewhere(VIDEO, PHONE, SIP, MORE, conferenceId="abc", notes="Ring twice", signature="s")
    forged = {"createRequest": {"requestId": "r1", "status": {"statusCode": "success"}}}

    copied, first = with_conference(ada, elsewhere).json, accepted(with_conference(ada, forged))

    assert copied["conferenceData"] == ada.read(copied["id"])["conferenceData"] == elsewhere
    assert first["conferenceData"]["conferenceId"], "a request with a forged status creates a conference"
    assert first["hangoutLink"] == first["conferenceData"]["entryPoints"][0]["uri"]
    for names in (["conferenceData"], ["conferenceData", "hangoutLink"]):
        fields = {name: first[name] for name in names}
        second = accepted(ada.insert({**SEMINAR, "summary": "second", **fields}, conferenceDataVersion=1))
        assert second["conferenceData"] == ada.read(second["id"])["conferenceData"] == first["conferenceData"]
        assert second["hangoutLink"] == first["hangoutLink"]


@pytest.mark.parametrize(
    "conference",
    [
        conference_elsewhere(VIDEO, VIDEO),
        conference_elsewhere(VIDEO, SIP, SIP),
        conference_elsewhere(VIDEO, MORE, MORE),
        conference_elsewhere(MORE),
        conference_elsewhere(),
        {"entryPoints": [VIDEO]},
        conference_elsewhere({"entryPointType": "smoke", "uri": "https://meet.example"}),
        conference_elsewhere(VIDEO, notes=5),
        *(5, [], {"createRequest": 5}, {"createRequest": {"requestId": 5}}),
        {"createRequest": {"requestId": "r", "conferenceSolutionKey": "hangoutsMeet"}},
    ],
)
def test_a_conference_of_another_form_is_refused(ada: CalendarClient, conference: Any) -> None:
    answer = with_conference(ada, conference)

    assert answer.status == 400
    assert answer.error["location"].startswith("conferenceData")
    assert ada.items() == []
