"""Links on the page of a file, to the files of a folder or the target of a shortcut that the token may see."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.contract.calendar_client import BOB
from tests.contract.conftest import Wire

pytestmark = pytest.mark.choice("Links of files")

FOLDER = "application/vnd.svc-apps.folder"
SHORTCUT = "application/vnd.svc-apps.shortcut"


def make(wire: Wire, **metadata: Any) -> dict[str, Any]:
    return wire.post_json("/storage/v3/files?fields=*", metadata).json


def share(wire: Wire, file: dict[str, Any], grantee: dict[str, str]) -> None:
    body = {"role": "reader", **grantee}
    assert wire.post_json(f"/storage/v3/files/{file['id']}/permissions", body).status == 200


def shown(wire: Wire, file: dict[str, Any], token: str | None = "own") -> str:
    parts = urlsplit(file["webViewLink"])
    answer = wire.send("GET", f"{parts.path}?{parts.query}", headers={"Accept": "text/html"}, token=token)
    assert answer.status == 200
    return answer.body.decode()


def test_a_folder_page_links_to_its_files(wire: Wire) -> None:
    folder = make(wire, name="Birds", mimeType=FOLDER)
    duck = make(wire, name="duck <1>.txt", parents=[folder["id"]])
    gone = make(wire, name="gone.txt", parents=[folder["id"]])
    wire.json_request("PATCH", f"/storage/v3/files/{gone['id']}", {"trashed": True})

    page = shown(wire, folder)

    assert urlsplit(duck["webViewLink"]).path in page
    assert "duck &lt;1&gt;.txt" in page
    assert "gone.txt" not in page


def test_a_folder_shared_with_anyone_opens_with_its_files(wire: Wire) -> None:
    folder = make(wire, name="Open", mimeType=FOLDER)
    duck = make(wire, name="duck.txt", parents=[folder["id"]])
    share(wire, folder, {"type": "anyone"})

    assert "duck.txt" in shown(wire, folder, token=None)
    assert "<h1>duck.txt</h1>" in shown(wire, duck, token=None)


def test_a_shortcut_links_to_its_target_only_with_access(wire: Wire) -> None:
    secret = make(wire, name="secret.txt")
    shortcut = make(wire, name="this way", mimeType=SHORTCUT, shortcutDetails={"targetId": secret["id"]})
    share(wire, shortcut, {"type": "user", "emailAddress": BOB})

    assert "secret.txt" in shown(wire, shortcut)
    assert "secret.txt" not in shown(wire, shortcut, wire.service.sign_in(BOB))


@pytest.mark.spec("T-03", "T-03b")
def test_scopes_that_see_a_file_and_not_its_content_are_shown_no_content(wire: Wire) -> None:
    file = wire.create(b"the content itself")
    narrow = wire.service.sign_in(scopes=["storage.file", "storage.metadata.readonly"], client="another")

    assert "the content itself" in shown(wire, file)
    assert "the content itself" not in shown(wire, file, narrow)
