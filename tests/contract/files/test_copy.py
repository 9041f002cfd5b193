from typing import Any

from tests.contract.calendar_client import BOB
from tests.contract.conftest import Answer, Wire
from tests.contract.differences import choice

DOCUMENT = "application/vnd.svc-apps.document"
FOLDER = "application/vnd.svc-apps.folder"


def copied(wire: Wire, file_id: str, body: dict[str, Any] | None = None, **options: Any) -> Answer:
    return wire.post_json(f"/storage/v3/files/{file_id}/copy?fields=*", body or {}, **options)


def test_a_copy_has_the_content_and_another_id_and_changes_independently(wire: Wire) -> None:
    file = wire.create(b"Feed the ducks.", "text/markdown")

    made = copied(wire, file["id"], {"name": "plan.md"}).json

    assert made["id"] != file["id"]
    assert (made["name"], made["mimeType"], made["size"]) == ("plan.md", "text/markdown", "15")
    assert made["md5Checksum"] == file["md5Checksum"]
    with choice("Copies"):
        assert copied(wire, file["id"]).json["name"] == f"Copy of {file['name']}"
    wire.send("PUT", f"/upload/storage/v3/files/{file['id']}?uploadType=media", b"second")
    assert wire.download(made["id"]).body == b"Feed the ducks."
    assert wire.send("DELETE", f"/storage/v3/files/{file['id']}").status == 204
    assert wire.download(made["id"]).body == b"Feed the ducks."


def test_a_reader_has_a_copy_of_their_own_with_the_description_and_properties(wire: Wire) -> None:
    metadata = {"name": "a", "description": "ducks", "properties": {"season": "winter"}, "starred": True}
    file = wire.post_json("/storage/v3/files?fields=*", metadata).json
    wire.share(file["id"], BOB)

    made = copied(wire, file["id"], {"properties": {"season": "summer"}, "starred": False}).json
    bobs = copied(wire, file["id"], token=wire.service.sign_in(BOB)).json

    assert (made["properties"], made["starred"]) == ({"season": "summer"}, False)
    with choice("Copies"):
        assert made["description"] == "ducks"
    assert bobs["ownedByMe"] is True
    assert bobs["parents"] != file["parents"]
    assert wire.send("GET", f"/storage/v3/files/{bobs['id']}").status == 404  # it is not Ada's


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


def test_a_flagged_file_stays_flagged_a_shortcut_has_its_target_and_a_folder_is_not_copied(wire: Wire) -> None:
    file = wire.create(b"not what it seems")["id"]
    wire.service.flag(file, abusive=True)
    target = {"mimeType": "application/vnd.svc-apps.shortcut", "shortcutDetails": {"targetId": file}}
    folder, shortcut = (wire.post_json("/storage/v3/files", body).json["id"] for body in ({"mimeType": FOLDER}, target))

    made, refused = copied(wire, file).json["id"], copied(wire, folder)

    assert wire.download(made).status == 403
    assert wire.send("GET", f"/storage/v3/files/{made}?alt=media&acknowledgeAbuse=true").status == 200
    assert copied(wire, shortcut).json["shortcutDetails"]["targetId"] == file
    assert (refused.status, refused.error["reason"]) == (403, "cannotCopyFile")
