"""Rights on files: each field that restricts others, and each operation that could get around it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from tests.contract.conftest import Answer
from tests.contract.files.test_permissions import ADA, BOB, EVE, FOLDER, People

DOCUMENT = "application/vnd.svc-apps.document"
FILES = "/storage/v3/files"
PUBLIC = {"type": "anyone", "role": "reader"}

Act: TypeAlias = Callable[[People, str], Answer]


def shared(people: People, role: str, parent: str | None = None, **metadata: Any) -> str:
    """A file of Ada with the content "hello", which Bob has with this role."""
    file: str = people.wire.create(b"hello")["id"]
    people.patch(ADA, file, {"name": "plan.txt"}, f"?addParents={parent}" if parent else "")
    people.share(file, role)
    if metadata:
        assert people.patch(ADA, file, metadata).status == 200
    return file


def folder_of(people: People, user: str, **metadata: Any) -> str:
    return people.made(user, **{"mimeType": FOLDER, "name": "folder"} | metadata)


def publish(people: People, file: str) -> Answer:
    return people.share(file, "reader", None, by=BOB, type="anyone", emailAddress=None)


def public_folder(people: People) -> str:
    folder = folder_of(people, BOB)
    assert publish(people, folder).status == 200
    return folder


def move(people: People, file: str, folder: str, by: str = BOB) -> Answer:
    return people.patch(by, file, {}, f"?addParents={folder}")


def batch(people: People, user: str, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
    content = json.dumps(body or {})
    part = (
        f"--b\r\nContent-Type: application/http\r\n\r\n{method} {path} HTTP/1.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n{content}\r\n--b--\r\n"
    )
    kind = {"Content-Type": "multipart/mixed; boundary=b"}
    answer = people.send(user, "POST", "/batch/storage/v3", part.encode(), **kind)
    status = int(answer.body.split(b"HTTP/1.1 ")[1][:3])
    return replace(answer, status=status)


def multipart(people: People, user: str, file: str, metadata: dict[str, Any]) -> Answer:
    path = f"/upload{FILES}/{file}?uploadType=multipart"
    return people.wire.multipart(path, metadata, b"new", None, "PATCH", token=people.tokens[user])


def resumable(people: People, user: str, file: str, metadata: dict[str, Any]) -> Answer:
    path = f"/upload{FILES}/{file}?uploadType=resumable"
    begun = people.wire.json_request("PATCH", path, metadata, token=people.tokens[user])
    return people.send(user, "PUT", begun.headers["location"], b"new") if begun.status == 200 else begun


CHANGES: dict[str, Callable[[People, str, dict[str, Any]], Answer]] = {
    "patch": lambda people, file, body: people.patch(BOB, file, body),
    "put": lambda people, file, body: people.wire.json_request(
        "PUT", f"{FILES}/{file}", body, token=people.tokens[BOB]
    ),
    "override": lambda people, file, body: people.send(
        BOB, "POST", f"{FILES}/{file}", json.dumps(body).encode(),
        **{"X-HTTP-Method-Override": "PATCH", "Content-Type": "application/json"},
    ),
    "multipart": lambda people, file, body: multipart(people, BOB, file, body),
    "resumable": lambda people, file, body: resumable(people, BOB, file, body),
    "batch": lambda people, file, body: batch(people, BOB, "PATCH", f"{FILES}/{file}", body),
}  # fmt: skip
LOCK = {"contentRestrictions": [{"readOnly": True, "reason": "final"}]}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "field, value, lifted",
    [
        ("writersCanShare", False, [True, None]),
        ("writersCanShare", True, [False]),
        ("copyRequiresWriterPermission", True, [False, None]),
        ("copyRequiresWriterPermission", False, [True]),
        ("contentRestrictions", LOCK["contentRestrictions"], [None, [], [{"readOnly": False}], [{"readOnly": True}]]),
        ("contentRestrictions", None, [[{"readOnly": True}]]),
    ],
)
def test_only_the_owner_changes_a_field_that_restricts_others(people, change, field, value, lifted):
    file = shared(people, "writer", **{field: value})

    for other in lifted:
        answer = CHANGES[change](people, file, {field: other})
        assert (answer.status, b"insufficientFilePermissions" in answer.body) == (403, True), other

    assert people.get(ADA, file, f"?fields={field}").json.get(field) == value
    assert people.get(ADA, file, "?alt=media").body == b"hello"


SHARING: dict[str, Act] = {
    "a permission": lambda people, file: people.share(file, "reader", EVE, by=BOB),
    "a link": publish,
    "a higher role": lambda people, file: people.wire.json_request(
        "PATCH", f"{FILES}/{file}/permissions/{people.share(file, 'reader', EVE).json['id']}", {"role": "writer"},
        token=people.tokens[BOB],
    ),
    "the end of a permission": lambda people, file: people.unshare(
        file, people.share(file, "reader", EVE).json["id"], by=BOB
    ),
    "a move into an own public folder": lambda people, file: move(people, file, public_folder(people)),
    "a move into an own private folder": lambda people, file: move(people, file, folder_of(people, BOB)),
    "a move with an upload": lambda people, file: people.send(
        BOB, "PATCH", f"/upload{FILES}/{file}?uploadType=media&addParents={public_folder(people)}", b"new"
    ),
    "a move in a batch": lambda people, file: batch(
        people, BOB, "PATCH", f"{FILES}/{file}?addParents={public_folder(people)}"
    ),
    "a permission in a batch": lambda people, file: batch(people, BOB, "POST", f"{FILES}/{file}/permissions", PUBLIC),
    # of the folder above the file instead of the file
    "a permission of the folder": lambda people, file: people.share(
        people.get(ADA, file, "?fields=parents").json["parents"][0], "reader", EVE, by=BOB
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", ["the file", "its folder"])
@pytest.mark.parametrize("way", SHARING)
def test_a_file_that_writers_cannot_share_is_shared_in_no_way(people: People, way: str, where: str) -> None:
    folder = folder_of(people, ADA)
    people.share(folder, "writer")
    file = shared(people, "writer", folder)
    people.patch(ADA, file if where == "the file" else folder, {"writersCanShare": False})

    answer = SHARING[way](people, file)

    assert (answer.status, b"insufficientFilePermissions" in answer.body) == (403, True)
    assert people.get(EVE, file).status == (200 if way in ("a higher role", "the end of a permission") else 404)
    assert people.get(ADA, file, "?fields=parents").json["parents"] == [folder]
    assert people.get(BOB, file, "?fields=capabilities").json["capabilities"]["canShare"] is False


def test_a_folder_with_a_file_that_only_its_owner_may_share_cannot_be_shared(people: People) -> None:
    folder = folder_of(people, BOB)
    people.share(folder, "writer", ADA, by=BOB)
    below = people.made(BOB, mimeType=FOLDER, parents=[folder])
    file = people.made(ADA, parents=[below])
    people.patch(ADA, file, {"writersCanShare": False})

    assert people.share(folder, "reader", EVE, by=BOB).status == 403
    assert move(people, below, public_folder(people)).status == 403
    assert people.get(EVE, file).status == 404
    people.patch(ADA, file, {"writersCanShare": True})
    assert people.share(folder, "reader", EVE, by=BOB).status == 200


@pytest.mark.parametrize("field, value", [("writersCanShare", False), ("copyRequiresWriterPermission", True)])
def test_a_writers_own_folder_does_not_lift_the_restrictions_of_the_folder_above(people, field, value):
    above = folder_of(people, ADA)
    people.share(above, "writer")
    own = people.made(BOB, mimeType=FOLDER, parents=[above])
    assert people.share(own, "reader", EVE, by=BOB).status == 200  # nothing of others is in it
    file = people.made(ADA, parents=[own])
    people.patch(ADA, above, {field: value})

    assert move(people, own, public_folder(people)).status == 403
    assert move(people, own, f"root&removeParents={above}").status == 403
    assert publish(people, own).status == (403 if field == "writersCanShare" else 200)
    move(people, file, above, by=ADA)
    assert move(people, own, f"root&removeParents={above}").status == 200


def shortcut(people: People, file: str) -> str:
    details = {"shortcutDetails": {"targetId": file}, "name": "link"}
    return people.made(BOB, mimeType="application/vnd.svc-apps.shortcut", **details)


def page(people: People, file: str, kind: str) -> Answer:
    return people.send(BOB, "GET", f"/{kind}/d/{file}/{'view' if kind == 'file' else 'edit'}", Accept="text/html")


TAKING: dict[str, Act] = {
    "download": lambda people, file: people.get(BOB, file, "?alt=media"),
    "a range": lambda people, file: people.send(BOB, "GET", f"{FILES}/{file}?alt=media", Range="bytes=0-3"),
    "a revision": lambda people, file: people.get(BOB, file, "/revisions/head?alt=media"),
    "export": lambda people, file: people.get(BOB, file, "/export?mimeType=text/plain"),
    "copy": lambda people, file: people.copy(BOB, file),
    "a copy as a document": lambda people, file: people.copy(BOB, file, {"mimeType": DOCUMENT}),
    "a copy in a batch": lambda people, file: batch(people, BOB, "POST", f"{FILES}/{file}/copy"),
    "content link": lambda people, file: people.send(BOB, "GET", f"/uc?id={file}&export=download"),
    "the page of a file": lambda people, file: page(people, file, "file"),
    "the page of a document": lambda people, file: page(people, file, "document"),
    "a shortcut": lambda people, file: people.get(BOB, shortcut(people, file), "?alt=media"),
    "the page of a shortcut": lambda people, file: page(people, shortcut(people, file), "file"),
    "a copy of a shortcut": lambda people, file: people.get(
        BOB, people.copy(BOB, shortcut(people, file)).json["id"], "?alt=media"
    ),
}  # fmt: skip


@pytest.mark.spec("A6-05", "A6-05a")
@pytest.mark.parametrize("where", ["the file", "its folder"])
@pytest.mark.parametrize("flag", ["viewersCanCopyContent", "copyRequiresWriterPermission"])
@pytest.mark.parametrize("way", TAKING)
def test_no_way_takes_the_content_of_a_restricted_file(people: People, way: str, flag: str, where: str) -> None:
    folder = folder_of(people, ADA)
    file = shared(people, "reader", folder)
    people.patch(ADA, file if where == "the file" else folder, {flag: True})

    answer = TAKING[way](people, file)

    assert b"hello" not in answer.body
    assert answer.status in (200, 403)
    assert answer.status == 403 or "page" in way
    assert people.get(BOB, file, "?fields=capabilities").json["capabilities"]["canDownload"] is False


def test_a_move_or_a_copy_keeps_an_inherited_restriction(people: People) -> None:
    file = shared(people, "writer", folder_of(people, ADA, copyRequiresWriterPermission=True))

    assert move(people, file, folder_of(people, BOB)).status == 403
    assert people.copy(BOB, file).json["copyRequiresWriterPermission"] is True
    assert move(people, file, folder_of(people, ADA), by=ADA).status == 200


CONTENT: dict[str, Callable[[People, str, str], Answer]] = {
    "media": lambda people, user, file: people.send(user, "PATCH", f"/upload{FILES}/{file}?uploadType=media", b"new"),
    "multipart": lambda people, user, file: multipart(people, user, file, {"description": "x"}),
    "resumable": lambda people, user, file: resumable(people, user, file, {}),
    "a new name": lambda people, user, file: people.patch(user, file, {"name": "new"}),
    "a new type": lambda people, user, file: people.patch(user, file, {"mimeType": "text/csv"}),
    "a new name in a batch": lambda people, user, file: batch(
        people, user, "PATCH", f"{FILES}/{file}", {"name": "new"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("user", [ADA, BOB])
@pytest.mark.parametrize("way", CONTENT)
def test_a_locked_file_keeps_its_content_and_its_name(people: People, way: str, user: str) -> None:
    file = shared(people, "writer", **LOCK)

    assert CONTENT[way](people, user, file).status == 403

    assert people.get(ADA, file, "?alt=media").body == b"hello"
    assert people.get(ADA, file, "?fields=name,mimeType").json == {"name": "plan.txt", "mimeType": "text/plain"}
    assert multipart(people, ADA, file, {"contentRestrictions": None}).status == 200
    assert people.get(ADA, file, "?alt=media").body == b"new"


TRASHED = {"trashed": True}
TRASH: dict[str, Act] = {
    "patch": lambda people, file: people.patch(BOB, file, TRASHED),
    "upload": lambda people, file: multipart(people, BOB, file, TRASHED),
    "batch": lambda people, file: batch(people, BOB, "PATCH", f"{FILES}/{file}", TRASHED),
    "move": lambda people, file: move(people, file, f"{folder_of(people, BOB, name='bin')}&trashed=true"),
}


@pytest.mark.parametrize("way", [*TRASH, "own folder"])
def test_only_its_owner_trashes_a_file(people: People, way: str) -> None:
    file = shared(people, "writer")

    if way in TRASH:
        TRASH[way](people, file)
    else:  # into which the file was moved
        folder = folder_of(people, BOB)
        move(people, file, folder)
        people.patch(BOB, folder, TRASHED)

    assert people.get(ADA, file, "?fields=trashed").json == {"trashed": False}
    people.send(BOB, "DELETE", f"{FILES}/trash")
    assert people.get(ADA, file, "?alt=media").body in (b"hello", b"new")


@pytest.mark.parametrize("query", [f"'{EVE}' in readers", f"'{EVE}' in writers", f"not '{EVE}' in owners"])
def test_a_search_tells_a_reader_nothing_about_the_permissions_of_others(people: People, query: str) -> None:
    with_eve, without = shared(people, "reader"), shared(people, "reader")
    people.share(with_eve, "writer", EVE)

    listed = people.listed(BOB, "?q=" + query.replace(" ", "%20").replace("'", "%27"))

    assert (with_eve in listed) == (without in listed)
    assert with_eve in people.listed(ADA, f"?q=%27{EVE}%27%20in%20writers")
