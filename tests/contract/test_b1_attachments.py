"""B1: attachments, which are stored for whoever says that they support them."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebooks.server.service import Service

from .chosen import choice
from .conftest import Wire
from .diary import BOB, SEMINAR, Diary, Fields, accepted, emptied, guests, refusal


@pytest.fixture
def service() -> Service:
    return emptied()


@pytest.fixture
def handout(wire: Wire) -> Fields:
    return wire.post_json("/storage/v3/files?fields=*", {"name": "Handout", "mimeType": "text/plain"}).json


def attached(ada: Diary, *urls: str, **parameters: Any) -> Any:
    return ada.insert({**SEMINAR, "attachments": [{"fileUrl": url} for url in urls]}, **parameters)


@pytest.mark.spec("E-17")
def test_a_stored_file_is_attached_by_its_link(ada: Diary, handout: Fields) -> None:
    event = attached(ada, handout["webViewLink"], supportsAttachments="true").json

    (attachment,) = event["attachments"]
    assert attachment["fileUrl"] == handout["webViewLink"]
    with choice("What an answer shows unasked"):
        assert attachment["fileId"] == handout["id"]
        assert (attachment["title"], attachment["mimeType"]) == ("Handout", "text/plain")
        assert attachment["iconLink"].startswith("http")
    assert ada.read(event["id"])["attachments"] == [attachment]


@pytest.mark.spec("E-17")
@pytest.mark.parametrize("parameters", [{}, {"supportsAttachments": "false"}])
def test_who_does_not_support_attachments_stores_none(ada: Diary, handout: Fields, parameters: Fields) -> None:
    event = attached(ada, handout["webViewLink"], **parameters).json

    assert "attachments" not in event
    assert "attachments" not in ada.read(event["id"])


@pytest.mark.spec("E-17")
@pytest.mark.parametrize("attachments", [{}, [{}], [{"fileUrl": "notes.pdf"}], [{"fileUrl": "https://a.example"}] * 26])
def test_attachments_that_nobody_looks_at_are_not_wrong(ada: Diary, attachments: Any) -> None:
    assert "attachments" not in accepted(ada.insert({**SEMINAR, "attachments": attachments}))


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
@pytest.mark.parametrize("parameters", [{}, {"supportsAttachments": "false"}])
def test_a_change_without_support_leaves_attachments_alone(ada: Diary, handout: Fields, parameters: Fields) -> None:
    event = attached(ada, handout["webViewLink"], supportsAttachments="true").json

    patched = ada.patch(event["id"], {"attachments": [], "summary": "x"}, **parameters).json
    replaced = ada.put(event["id"], SEMINAR, **parameters).json

    assert patched["attachments"] == replaced["attachments"] == event["attachments"]


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_another_page_is_attached_as_it_is(ada: Diary) -> None:
    attachment = {"fileUrl": "https://elsewhere.example/a.pdf", "title": "A", "mimeType": "application/pdf"}

    event = ada.insert({**SEMINAR, "attachments": [attachment]}, supportsAttachments="true").json

    assert event["attachments"] == [attachment]


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_an_attachment_is_given_another_title(ada: Diary, handout: Fields) -> None:
    urls = handout["webViewLink"], "https://elsewhere.example/a.pdf"
    event = attached(ada, *urls, supportsAttachments="true").json

    renamed = [{"fileUrl": url, "title": "Sheet"} for url in urls]
    changed = accepted(ada.patch(event["id"], {"attachments": renamed}, supportsAttachments="true"))

    assert [one["title"] for one in changed["attachments"]] == ["Sheet", "Sheet"]
    assert changed["attachments"][0]["fileId"] == handout["id"]


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_a_link_tells_nothing_of_a_file_that_one_may_not_see(wire: Wire, ada: Diary) -> None:
    token = wire.service.sign_in(BOB)
    secret = wire.post_json("/storage/v3/files?fields=*", {"name": "Secret"}, token=token).json
    link = secret["webViewLink"]

    hidden, missing = (
        attached(ada, url, supportsAttachments="true") for url in (link, link.replace(secret["id"], "1nothing"))
    )

    assert refusal(hidden) == (400, "invalid", "attachments[0].fileUrl")
    assert hidden.body == missing.body


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
def test_a_guest_sends_an_attachment_back_that_they_may_not_see(wire: Wire, ada: Diary, handout: Fields) -> None:
    bob = Diary(wire, BOB)
    body = {**SEMINAR, "attendees": guests(BOB), "guestsCanModify": True}
    event = ada.insert({**body, "attachments": [{"fileUrl": handout["webViewLink"]}]}, supportsAttachments="true").json

    changed = bob.put(event["id"], {**bob.read(event["id"]), "summary": "x"}, supportsAttachments="true")

    assert accepted(changed)["attachments"] == event["attachments"]


@pytest.mark.parametrize("number, status", [(25, 200), (26, 400)])
def test_an_event_has_so_many_attachments(ada: Diary, number: int, status: int) -> None:
    answer = attached(ada, *(f"https://elsewhere.example/{n}" for n in range(number)), supportsAttachments="true")

    assert answer.status == status
    assert status == 200 or refusal(answer) == (400, "invalid", "attachments")


@pytest.mark.spec("E-17")
@pytest.mark.choice("Attachments")
@pytest.mark.parametrize("value", ["yes", "1", "", "TRUE "])
def test_support_is_true_or_false(ada: Diary, value: str) -> None:
    assert refusal(ada.insert(SEMINAR, supportsAttachments=value)) == (400, "invalidParameter", "supportsAttachments")
