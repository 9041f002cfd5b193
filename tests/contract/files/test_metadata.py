import gzip
from urllib.parse import quote

import pytest

from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.resources.field import Write
from tests.contract.conftest import Wire
from tests.contract.differences import choice

FILES = "/storage/v3/files"
NO_UTF_8 = "expected text in UTF-8, or Content-Encoding if it is compressed."


@pytest.mark.spec("A4-01", "A4-01a", "U-04", "U-01", "U-01b")
def test_a_file_is_created_without_content(wire: Wire) -> None:
    answer = wire.post_json(FILES, {})

    assert answer.status == 200
    assert answer.json["name"] == "Untitled"
    with choice("A file without content and without a type"):
        assert wire.download(answer.json["id"]).body == b""


@pytest.mark.spec("A4-01", "A4-01b", "X-02", "X-02a", "X-02b", "X-02c", "L-01", "L-01b")
def test_a_pregenerated_id_is_accepted_once(wire: Wire) -> None:
    file_id = wire.generated_id()
    assert wire.post_json(FILES, {"id": file_id, "name": "a"}).json["id"] == file_id

    begun = wire.initiate({"id": file_id})
    late = wire.put(begun.headers["location"], b"x") if begun.status == 200 else begun

    both = wire.multipart(f"/upload{FILES}?uploadType=multipart", {"id": file_id}, b"x", "text/plain")
    for again in (wire.post_json(FILES, {"id": file_id}), late, both):
        assert (again.status, again.error["reason"]) == (409, "fileIdInUse")
    with choice("Several errors in one body"):
        assert begun.status == 409
    assert wire.names() == ["a"]


@pytest.mark.spec("L-01", "L-01a")
def test_the_asked_number_of_ids_is_generated(wire: Wire) -> None:
    for query, count in (("", 10), ("?count=1", 1), ("?count=1000", 1000)):
        answer = wire.send("GET", f"{FILES}/generateIds{query}").json
        with choice("Default fields of a response"):
            assert (answer["kind"], answer["space"]) == ("svc#generatedIds", "storage")
        assert len(set(answer["ids"])) == count


@pytest.mark.spec("X-03", "X-03a")
def test_an_id_with_a_native_type_is_refused(wire: Wire) -> None:
    for native in ("document", "spreadsheet", "presentation", "drawing", "script"):
        body = {"id": wire.generated_id(), "mimeType": f"application/vnd.svc-apps.{native}"}
        answer = wire.post_json(FILES, body)
        assert (answer.status, answer.error["reason"], answer.error["location"]) == (400, "invalid", "id")


def test_an_id_that_was_not_generated_is_refused(wire: Wire) -> None:
    for file_id in ("made-up", "../etc", "", "x" * 5000):
        answer = wire.post_json(FILES, {"id": file_id})
        assert (answer.status, answer.error["reason"]) == (400, "invalid")
    assert wire.names() == []


NO_JSON = {
    **{repr(body): (body, "") for body in (b"{", b"[]", b'"text"', b"null", b"5", b"\xff\xfe", b'{"name": "a"')},
    "latin-1": (b'{"name": "' + "ü".encode("latin-1") + b'"}', NO_UTF_8),
    "UTF-16": ('{"name": "a"}'.encode("utf-16-le"), NO_UTF_8),
    "gzip": (gzip.compress(b'{"name": "a"}', mtime=0), NO_UTF_8),
    "digits": (b'{"starred": ' + b"9" * 5000 + b"}", "a number has more than 4000 digits"),
    "brackets": (b"[" * 50_000, ""),
    "nested": (b'{"name": ' * 50_000 + b"1" + b"}" * 50_000, "the JSON is nested more than 100 levels deep."),
}
"""Bodies, and the end of the message, which is for the sender and has no names of Python."""


@pytest.mark.spec("A4-02", "A4-02a")
@pytest.mark.parametrize("body, words", NO_JSON.values(), ids=NO_JSON)
def test_a_body_that_is_no_object_is_refused(wire: Wire, body: bytes, words: str) -> None:
    answer = wire.send("POST", FILES, body, {"Content-Type": "application/json"})

    assert answer.status == 400
    with choice("Reasons and locations of errors"):
        assert answer.error["reason"] in ({"parseError"} if words else {"parseError", "badRequest", "invalid"})
        assert answer.error["message"].endswith(words)
    assert wire.names() == []


WRONG_TYPES = [
    ("description", {}), ("starred", "yes"), ("trashed", 1), ("parents", "root"), ("parents", [5]), ("properties", []),
    ("properties", {"a": 5}), ("appProperties", "x"), ("createdTime", "yesterday"), ("modifiedTime", 5),
    ("copyRequiresWriterPermission", "true"),
]  # fmt: skip


@pytest.mark.spec("A4-02", "A4-02b")
@pytest.mark.parametrize(
    "field, value",
    [
        *(("name", 5), ("name", ["a"]), ("mimeType", 7), ("viewersCanCopyContent", 0), ("id", 5)),
        *(
            pytest.param(*wrong, marks=pytest.mark.choice("Operations that the interface does not specify"))
            for wrong in WRONG_TYPES
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_named(wire: Wire, field: str, value: object) -> None:
    answer = wire.post_json(FILES, {field: value})

    assert answer.status == 400
    assert answer.error["location"].split(".")[0].split("[")[0] == field
    assert wire.names() == []


def test_a_refusal_says_who_sets_a_field(wire: Wire) -> None:
    """`is set by the service` is said of the fields that responses have, and only of these."""
    folder = wire.post_json(FILES, {"name": "f", "mimeType": "application/vnd.svc-apps.folder"}).json["id"]
    shared = wire.create()["id"]
    metadata = {"name": "a.tar.gz", "description": "d", "appProperties": {"a": "b"}, "properties": {"a": "b"}}
    wire.json_request("PATCH", f"{FILES}/{shared}?addParents={folder}", metadata)
    document = wire.post_json(FILES, {"mimeType": "application/vnd.svc-apps.document"}).json["id"]
    bob = wire.service.sign_in("bob@svc.example")
    wire.share(shared, "bob@svc.example", "writer")
    seen = set[str]()
    for file, token in ((shared, wire.token), (shared, bob), (document, wire.token)):
        wire.json_request("PATCH", f"{FILES}/{file}", {"trashed": True})
        seen |= wire.send("GET", f"{FILES}/{file}?fields=*", token=token).json.keys()
    others = {"id", "parents", "shortcutDetails"}  # on creation

    set_by_service = set()
    for field in [field for field in FILE_FIELDS if field.write is not Write.ALWAYS]:
        refused = wire.json_request("PATCH", f"{FILES}/{document}", {field.name: "x"})
        assert (refused.status, refused.error["reason"]) == (403, "fieldNotWritable")
        if refused.error["message"] == f"{field.name} is set by the service and cannot be written here.":
            set_by_service.add(field.name)
        else:
            expected = "can be set on creation only." if field.name in others else "is not part of this service: leave"
            assert expected in refused.error["message"]
    assert set_by_service == seen - others - {field.name for field in FILE_FIELDS if field.write is Write.ALWAYS}


@pytest.mark.parametrize(
    "field, value, refused",
    [
        ("contentRestrictions", [{"readOnly": False, "systemRestricted": True}], (403, "[0].systemRestricted")),
        ("contentRestrictions", [{}, {"readonly": True}], (403, "[1].readonly")),
        ("contentRestrictions", [{"readOnly": "yes"}], (400, "[0].readOnly")),
        ("contentHints", {"indexableText": 5}, (400, ".indexableText")),
    ],
)
def test_a_member_of_a_field_is_checked(wire: Wire, field: str, value: object, refused: tuple[int, str]) -> None:
    answer = wire.post_json(FILES, {field: value})

    assert (answer.status, answer.error["location"]) == (refused[0], field + refused[1])


def test_everything_that_is_wrong_is_said_at_once_and_values_come_first(wire: Wire) -> None:
    refused = wire.post_json(FILES, {"kind": "x", "name": 5, "starred": "yes", "shoe": 1})

    assert refused.status == 400
    assert [row["location"] for row in refused.json["error"]["errors"]] == ["name", "starred", "kind", "shoe"]


def test_metadata_is_kept(wire: Wire) -> None:
    metadata = {
        "name": "Ünïcödé 🗂.txt",
        "description": "d",
        "starred": True,
        "properties": {"a": "1"},
        "appProperties": {"b": "2"},
        "createdTime": "2020-01-02T03:04:05.678Z",
        "modifiedTime": "2021-01-02T03:04:05.000Z",
        "viewersCanCopyContent": True,
        "copyRequiresWriterPermission": True,
        "mimeType": "text/x-special",
    }
    file_id = wire.post_json(FILES, metadata).json["id"]

    resource = wire.send("GET", f"{FILES}/{file_id}?fields=*").json

    assert {key: resource[key] for key in metadata} == metadata


@pytest.mark.parametrize(
    "mask, keys",
    [
        *((mask, {"id", "size"}) for mask in ("id,size", "id, size")),
        *(("owners(emailAddress)", {"owners"}), ("owners/emailAddress,id", {"owners", "id"}), ("", set())),
    ],
)
def test_a_mask_picks_fields(wire: Wire, mask: str, keys: set[str]) -> None:
    file_id = wire.create()["id"]

    selection = wire.send("GET", f"{FILES}/{file_id}?fields={quote(mask)}").json

    assert set(selection) == keys
    if "owners" in keys:
        assert [set(owner) for owner in selection["owners"]] == [{"emailAddress"}]


def test_an_invalid_mask_is_refused(wire: Wire) -> None:
    for mask in ("kind,", "files(id", "kind)", "files//id", "(kind)", "kind files", ",", "files(" * 100):
        answer = wire.send("GET", f"{FILES}?fields={quote(mask)}")
        assert (answer.status, answer.error["location"]) == (400, "fields")


def test_properties_are_merged_and_null_removes_and_each_has_a_size(wire: Wire) -> None:
    file_id = wire.post_json(FILES, {"properties": {"a": "1", "b": "2"}}).json["id"]

    wire.json_request("PATCH", f"{FILES}/{file_id}", {"properties": {"a": None, "c": "3"}})

    assert wire.send("GET", f"{FILES}/{file_id}?fields=properties").json == {"properties": {"b": "2", "c": "3"}}
    assert wire.post_json(FILES, {"properties": {"k": "é" * 61 + "x"}}).status == 200
    assert wire.post_json(FILES, {"properties": {"k": "é" * 62}}).status == 400


def test_parents_move_by_parameter_only_and_a_trashed_folder_takes_its_content_along(wire: Wire) -> None:
    folder = wire.post_json(FILES, {"name": "f", "mimeType": "application/vnd.svc-apps.folder"}).json["id"]
    inside, file = (f"{FILES}/{wire.create()['id']}" for _ in range(2))

    refused = wire.json_request("PATCH", inside, {"parents": [folder]})
    moved = wire.json_request("PATCH", f"{inside}?addParents={folder}&fields=parents", {})
    wire.json_request("PATCH", f"{FILES}/{folder}", {"trashed": True})

    assert (refused.status, refused.error["reason"]) == (403, "fieldNotWritable")
    assert moved.json == {"parents": [folder]}
    resource = wire.send("GET", f"{inside}?fields=trashed,explicitlyTrashed").json
    assert resource == {"trashed": True, "explicitlyTrashed": False}
    answer = wire.send("DELETE", file)
    assert (answer.status, answer.body) == (204, b"")
    for again in (wire.send("GET", file), wire.send("GET", f"{file}?alt=media"), wire.send("DELETE", file)):
        assert (again.status, again.error["location"]) == (404, "fileId")


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


ABSENT = ["GET drives/x", "GET files/x/comments", "GET apps", "POST drives", "DELETE files/x/revisions/1",
          "GET nothing", "GET files/generateCseToken", "POST files/x/approvals:start", "GET files/x/y/z"]  # fmt: skip


def test_an_operation_that_does_not_exist_is_named(wire: Wire) -> None:
    for method, path in map(str.split, ABSENT):
        refused = wire.send(method, f"/storage/v3/{path}", b"")
        assert (refused.status, refused.error["reason"]) == (404, "unknownOperation")
        assert f"{method} /storage/v3/{path}" in refused.error["message"]
        assert "access proposals, approvals, apps, " in refused.error["message"]
    assert wire.send("PATCH", "/storage/v3/about", b"").status == 405
    assert wire.send("GET", "/storage/v2/files").error["reason"] == "unknownOperation"


def test_a_list_that_did_not_change_is_not_sent_again(wire: Wire) -> None:
    wire.create()
    etag = wire.send("GET", FILES).headers["ETag"]
    same = wire.send("GET", FILES, headers={"If-None-Match": f'"x", W/{etag}'})
    wire.create()

    assert (same.status, same.body, same.headers["ETag"]) == (304, b"", etag)
    assert wire.send("GET", FILES, headers={"If-None-Match": etag}).status == 200
