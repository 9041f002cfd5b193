from typing import Any

from tests.contract.calendar_client import BOB
from tests.contract.conftest import Answer, Wire
from tests.contract.differences import choice

DOCUMENT = "application/vnd.svc-apps.document"
FOLDER = "application/vnd.svc-apps.folder"


def copied(wire: Wire, file_id: str, body: dict[str, Any] | None = None, **options: Any) -> Answer:
    return wire.post_json(f"/storage/v3/files/{file_id}/copy?fields=*", body or {}, **options)


def test_a_copy_has_the_content_and_another_id(wire: Wire) -> None:
    file = wire.create(b"Feed the ducks.", "text/markdown")

    made = copied(wire, file["id"], {"name": "plan.md"}).json

    assert made["id"] != file["id"]
    assert {key: made[key] for key in ("name", "mimeType", "size", "md5Checksum")} == {
        "name": "plan.md",
        "mimeType": "text/markdown",
        "size": "15",
        "md5Checksum": file["md5Checksum"],
    }
    assert wire.download(made["id"]).body == b"Feed the ducks."
    with choice("Copies"):
        assert copied(wire, file["id"]).json["name"] == f"Copy of {file['name']}"


def test_a_copy_and_its_original_change_independently(wire: Wire) -> None:
    file = wire.create(b"first")
    made = copied(wire, file["id"]).json["id"]

    wire.send("PUT", f"/upload/storage/v3/files/{file['id']}?uploadType=media", b"second")
    assert wire.download(made).body == b"first"

    assert wire.send("DELETE", f"/storage/v3/files/{file['id']}").status == 204
    assert wire.download(made).body == b"first"


def test_a_reader_has_a_copy_of_their_own(wire: Wire) -> None:
    file = wire.create(b"shared")
    wire.share(file["id"], BOB)

    made = copied(wire, file["id"], token=wire.service.sign_in(BOB)).json

    assert made["ownedByMe"] is True
    assert made["parents"] != file["parents"]
    assert wire.send("GET", f"/storage/v3/files/{made['id']}").status == 404  # it is not Ada's


def test_the_description_and_properties_are_copied(wire: Wire) -> None:
    metadata = {"name": "a", "description": "ducks", "properties": {"season": "winter"}, "starred": True}
    file = wire.post_json("/storage/v3/files", metadata).json["id"]

    made = copied(wire, file, {"properties": {"season": "summer"}, "starred": False}).json

    assert made["properties"] == {"season": "summer"}
    assert made["starred"] is False
    with choice("Copies"):
        assert made["description"] == "ducks"


def test_a_copy_can_be_converted_to_a_document(wire: Wire) -> None:
    file = wire.create(b"# Birds", "text/markdown")
    page = wire.create(b"<h1>Birds</h1>", "text/html")

    made = copied(wire, page["id"], {"mimeType": DOCUMENT}).json
    again = copied(wire, made["id"]).json

    for copy in (made, again):
        assert copy["mimeType"] == DOCUMENT
        text = wire.send("GET", f"/storage/v3/files/{copy['id']}/export?mimeType=text/plain").body
        assert b"Birds" in text
    assert wire.download(page["id"]).body == b"<h1>Birds</h1>"
    assert copied(wire, again["id"], {"mimeType": "text/plain"}).status == 400
    assert copied(wire, file["id"], {"mimeType": FOLDER}).status == 400


def test_a_folder_is_not_copied(wire: Wire) -> None:
    folder = wire.post_json("/storage/v3/files", {"mimeType": FOLDER}).json["id"]

    refused = copied(wire, folder)

    assert (refused.status, refused.error["reason"]) == (403, "cannotCopyFile")


def test_a_flagged_file_stays_flagged(wire: Wire) -> None:
    file = wire.create(b"not what it seems")
    wire.service.flag(file["id"], abusive=True)

    made = copied(wire, file["id"]).json["id"]

    assert wire.download(made).status == 403
    assert wire.send("GET", f"/storage/v3/files/{made}?alt=media&acknowledgeAbuse=true").status == 200


def test_a_shortcut_leads_to_the_same_file(wire: Wire) -> None:
    file = wire.create()["id"]
    shortcut = {"mimeType": "application/vnd.svc-apps.shortcut", "shortcutDetails": {"targetId": file}}
    made = wire.post_json("/storage/v3/files", shortcut).json["id"]

    assert copied(wire, made).json["shortcutDetails"]["targetId"] == file
