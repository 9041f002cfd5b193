from typing import Any

import pytest

from tests.contract.calendar_client import BOB, SEMINAR, CalendarClient, Fields, accepted, guests, refusal
from tests.contract.conftest import Wire
from tests.contract.differences import choice


@pytest.fixture
def handout(wire: Wire) -> Fields:
    return wire.post_json("/storage/v3/files?fields=*", {"name": "Handout", "mimeType": "text/plain"}).json


def insert_with_attachments(ada: CalendarClient, *urls: str, **parameters: Any) -> Any:
    return ada.insert({**SEMINAR, "attachments": [{"fileUrl": url} for url in urls]}, **parameters)


@pytest.mark.spec("E-17")
def test_a_stored_file_is_attached_by_its_link(ada: CalendarClient, handout: Fields) -> None:
    event = insert_with_attachments(ada, handout["webViewLink"], supportsAttachments="true").json

    (attachment,) = event["attachments"]
    assert attachment["fileUrl"] == handout["webViewLink"]
    with choice("Default fields of a response"):
        assert attachment["fileId"] == handout["id"]
        assert (attachment["title"], attachment["mimeType"]) == ("Handout", "text/plain")
        assert attachment["iconLink"].startswith("http")
    assert ada.read(event["id"])["attachments"] == [attachment]


@pytest.mark.spec("E-17")
@pytest.mark.parametrize("parameters", [{}, {"supportsAttachments": "false"}])
def test_attachments_are_ignored_without_support(ada: CalendarClient, handout: Fields, parameters: Fields) -> None:
    event = insert_with_attachments(ada, handout["webViewLink"], **parameters).json
    attached = insert_with_attachments(ada, handout["webViewLink"], supportsAttachments="true").json
    patched = ada.patch(attached["id"], {"attachments": [], "summary": "x"}, **parameters).json
    replaced = ada.put(attached["id"], SEMINAR, **parameters).json

    assert "attachments" not in event
    assert "attachments" not in ada.read(event["id"])
    with choice("Attachments"):
        assert patched["attachments"] == replaced["attachments"] == attached["attachments"]


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_a_link_to_an_invisible_file_is_refused_like_one_to_none(wire: Wire, ada: CalendarClient) -> None:
    token = wire.service.sign_in(BOB)
    secret = wire.post_json("/storage/v3/files?fields=*", {"name": "Secret"}, token=token).json
    link = secret["webViewLink"]

    hidden, missing = (
        insert_with_attachments(ada, url, supportsAttachments="true")
        for url in (link, link.replace(secret["id"], "1nothing"))
    )

    assert refusal(hidden) == (400, "invalid", "attachments[0].fileUrl")
    assert hidden.body == missing.body


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_a_guest_may_send_back_an_attachment_that_they_cannot_see(ada, bob, handout):
    body = {**SEMINAR, "attendees": guests(BOB), "guestsCanModify": True}
    event = ada.insert({**body, "attachments": [{"fileUrl": handout["webViewLink"]}]}, supportsAttachments="true").json

    changed = bob.put(event["id"], {**bob.read(event["id"]), "summary": "x"}, supportsAttachments="true")

    assert accepted(changed)["attachments"] == event["attachments"]


@pytest.mark.spec("E-17")
def test_an_attachment_without_a_link_keeps_its_other_fields_beside_any_number_of_others(ada: CalendarClient) -> None:
    linked = {"fileUrl": "https://elsewhere.example/a.pdf", "title": "Linked"}

    for attachment in ({"title": "Handout", "mimeType": "text/plain"}, {"fileUrl": None, "title": "A"}):
        event = accepted(ada.insert({**SEMINAR, "attachments": [attachment, linked]}, supportsAttachments="true"))
        changed = accepted(ada.put(event["id"], {**event, "summary": "x"}, supportsAttachments="true"))
        kept = {name: value for name, value in attachment.items() if value is not None}
        assert event["attachments"] == changed["attachments"] == [kept, linked]
    with choice("event_limits"):
        urls = [f"https://elsewhere.example/{n}" for n in range(1000)]
        event = accepted(insert_with_attachments(ada, *urls, supportsAttachments="true"))
        assert [attachment["fileUrl"] for attachment in ada.read(event["id"])["attachments"]] == urls
