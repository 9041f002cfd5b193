"""Revisions and shared drives, which clients list where a service keeps none."""

import pytest

from tests.contract.wire import Wire

FILES = "/storage/v3/files"


def test_the_current_content_is_the_only_revision(wire: Wire) -> None:
    file = wire.create(b"one")
    revision = wire.send("GET", f"{FILES}/{file['id']}/revisions?fields=revisions(id,size,md5Checksum)").json
    only = f"{FILES}/{file['id']}/revisions/{file['headRevisionId']}"

    expected = {"id": file["headRevisionId"], "md5Checksum": file["md5Checksum"], "size": "3"}
    assert revision == {"revisions": [expected]}
    assert wire.send("GET", only).json["kind"] == "svc#revision"
    assert wire.send("GET", f"{only}?alt=media", headers={"Range": "bytes=1-"}).body == b"ne"
    wire.send("PATCH", f"/upload{FILES}/{file['id']}?uploadType=media", b"two")
    assert wire.send("GET", only).status == 404


@pytest.mark.parametrize("path", ["drives/x", "files/x/comments", "apps", "files/x/listLabels"])
def test_what_the_family_has_and_this_service_does_not_is_named(wire: Wire, path: str) -> None:
    refused = wire.send("GET", f"/storage/v3/{path}")

    assert (refused.status, refused.error["reason"]) == (404, "unknownOperation")


def test_a_list_that_did_not_change_is_not_sent_again(wire: Wire) -> None:
    wire.create()
    etag = wire.send("GET", FILES).headers["ETag"]
    same = wire.send("GET", FILES, headers={"If-None-Match": f'"x", W/{etag}'})
    wire.create()

    assert (same.status, same.body, same.headers["ETag"]) == (304, b"", etag)
    assert wire.send("GET", FILES, headers={"If-None-Match": etag}).status == 200
