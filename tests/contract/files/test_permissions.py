from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.conftest import Answer, Wire
from tests.contract.watch_client import FOLDER, Watch, open_watch

ADA, BOB, EVE = "ada@svc.example", "bob@svc.example", "eve@svc.example"
READER = {"type": "user", "role": "reader", "emailAddress": BOB}


class People:
    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.tokens = {user: wire.service.sign_in(user) for user in (ADA, BOB, EVE)}

    def share(self, file: str, role: str = "reader", user: str = BOB, by: str = ADA, **more: Any) -> Answer:
        body = {"type": "user", "role": role, "emailAddress": user, **more}
        body = {name: value for name, value in body.items() if value is not None}
        return self.wire.post_json(f"/storage/v3/files/{file}/permissions?fields=*", body, token=self.tokens[by])

    def unshare(self, file: str, permission: str, by: str = ADA) -> Answer:
        return self.send(by, "DELETE", f"/storage/v3/files/{file}/permissions/{permission}")

    def send(self, user: str, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        return self.wire.send(method, path, body, headers, token=self.tokens[user])

    def patch(self, user: str, file: str, body: dict[str, Any], query: str = "") -> Answer:
        return self.wire.json_request("PATCH", f"/storage/v3/files/{file}{query}", body, token=self.tokens[user])

    def copy(self, user: str, file: str, body: dict[str, Any] | None = None) -> Answer:
        return self.wire.post_json(f"/storage/v3/files/{file}/copy?fields=*", body or {}, token=self.tokens[user])

    def get(self, user: str, file: str, query: str = "") -> Answer:
        return self.send(user, "GET", f"/storage/v3/files/{file}{query}")

    def made(self, user: str = ADA, **metadata: Any) -> str:
        answer = self.wire.post_json("/storage/v3/files", metadata, token=self.tokens[user])
        assert answer.status == 200, answer.body
        return answer.json["id"]

    def listed(self, user: str, query: str = "") -> set[str]:
        answer = self.send(user, "GET", f"/storage/v3/files{query}")
        assert answer.status == 200, answer.body
        return {file["id"] for file in answer.json["files"]}


@pytest.fixture
def file(people: People) -> str:
    return people.wire.create()["id"]


def test_the_sharing_fields_of_a_file(people: People, file: str) -> None:
    people.share(file, "reader")
    resource = people.get(BOB, file, "?fields=*").json

    assert (resource["shared"], resource["ownedByMe"], resource["owners"][0]["emailAddress"]) == (True, False, ADA)
    assert resource["sharingUser"]["emailAddress"] == ADA
    assert resource["sharedWithMeTime"]
    assert "permissions" not in resource
    can = resource["capabilities"]
    assert (can["canDownload"], can["canEdit"], can["canShare"], can["canDelete"]) == (True, False, False, False)
    owners = people.get(ADA, file, "?fields=*").json
    assert [permission["role"] for permission in owners["permissions"]] == ["owner", "reader"]
    assert owners["permissionIds"] == [permission["id"] for permission in owners["permissions"]]
    assert owners["capabilities"]["canDelete"]


def test_listings_and_searches(people: People, file: str) -> None:
    other, bobs = people.made(name="other"), people.made(BOB, name="bobs")
    people.share(file, "reader")

    assert people.listed(BOB) == {file, bobs}
    assert people.listed(BOB, "?q=sharedWithMe") == {file}
    assert people.listed(BOB, "?q=sharedWithMe=false") == {bobs}
    assert people.listed(BOB, "?q='me'+in+owners") == {bobs}
    assert people.listed(BOB, f"?q='{ADA}'+in+owners") == {file}
    assert people.listed(ADA, f"?q='{BOB}'+in+readers") == {file}
    assert people.listed(ADA, f"?q='{BOB}'+in+writers") == set()
    assert people.listed(ADA, "?orderBy=sharedWithMeTime") == {file, other}
    people.share(file, "reader", None, type="anyone")  # type: ignore[arg-type]
    assert people.listed(ADA, "?q=visibility='anyoneWithLink'") == {file}
    assert people.listed(ADA, "?q=visibility='limited'") == {other}


def test_a_folder_shares_what_is_in_it(people: People) -> None:
    top = people.made(name="top", mimeType=FOLDER)
    middle = people.made(name="middle", mimeType=FOLDER, parents=[top])
    leaf = people.made(name="leaf", parents=[middle])
    permission = people.share(top, "writer").json["id"]

    assert people.patch(BOB, leaf, {"name": "by bob"}).status == 200
    assert people.listed(BOB) == {top, middle, leaf}
    mine = people.made(BOB, name="mine", parents=[middle])
    assert people.get(ADA, mine, "?fields=ownedByMe").json == {"ownedByMe": False}
    assert people.patch(ADA, mine, {"name": "ada may write"}).status == 200
    assert people.unshare(leaf, permission).status == 403  # it is the folder's

    assert people.unshare(top, permission).status == 204
    assert people.get(BOB, leaf).status == 404
    assert people.get(BOB, mine).status == 200
    assert people.send(ADA, "DELETE", f"/storage/v3/files/{top}").status == 204
    root = people.get(BOB, "root").json["id"]
    assert people.get(BOB, mine, "?fields=parents").json == {"parents": [root]}


@pytest.mark.parametrize("grantee_type, more", [("anyone", {}), ("domain", {"domain": "svc.example"})])
def test_anyone_and_domains(people: People, file: str, grantee_type: str, more: dict[str, str]) -> None:
    answer = people.share(file, "reader", None, type=grantee_type, **more)  # type: ignore[arg-type]

    assert answer.status == 200, answer.body
    assert people.get(EVE, file, "?alt=media").status == 200
    assert file not in people.listed(EVE)
    stranger = people.wire.service.sign_in("x@elsewhere.example")
    stranger_answer = people.wire.send("GET", f"/storage/v3/files/{file}", token=stranger)
    assert stranger_answer.status == (200 if grantee_type == "anyone" else 404)


def test_a_role_is_changed_and_given_up(people: People, file: str) -> None:
    permission = people.share(file, "reader").json["id"]
    path = f"/storage/v3/files/{file}/permissions/{permission}"

    answer = people.wire.json_request("PATCH", path, {"role": "writer"})
    assert (answer.status, answer.json["role"]) == (200, "writer")
    assert people.share(file, "reader").json == {**people.share(file, "reader").json, "id": permission}
    assert people.patch(BOB, file, {"name": "x"}).status == 403
    assert people.unshare(file, permission, by=BOB).status == 204
    assert people.get(BOB, file).status == 404
    assert people.unshare(file, permission).error["location"] == "permissionId"


@pytest.mark.parametrize(
    "body, status, location",
    [
        ({}, 400, ["type", "role"]),
        ({"type": "alien", "role": "king"}, 400, ["type", "role"]),
        ({"type": "user", "role": "reader"}, 400, ["emailAddress"]),
        ({"type": "user", "role": "reader", "emailAddress": "nobody"}, 400, ["emailAddress"]),
        ({"type": "user", "role": "reader", "emailAddress": "bob@svc.example\u200b"}, 400, ["emailAddress"]),
        ({"type": "domain", "role": "reader", "domain": "a b"}, 400, ["domain"]),
        ({"type": ["user"], "role": {}}, 400, ["type", "role"]),
        ({**READER, "expirationTime": "2030-01-01T00:00:00Z"}, 403, ["expirationTime"]),
        ({**READER, "view": "published"}, 403, ["view"]),
        ({**READER, "pendingOwner": True}, 403, ["pendingOwner"]),
        ({**READER, "allowFileDiscovery": True}, 400, ["allowFileDiscovery"]),
    ],
)
def test_a_wrong_permission_is_refused(people, file, body, status, location):
    answer = people.wire.post_json(f"/storage/v3/files/{file}/permissions", body)

    assert answer.status == status
    assert [error["location"] for error in answer.json["error"]["errors"]] == location


def test_impossible_permissions_are_refused(people: People, file: str) -> None:
    owner = people.send(ADA, "GET", f"/storage/v3/files/{file}/permissions").json["permissions"][0]["id"]
    path = f"/storage/v3/files/{file}/permissions/{owner}"

    assert people.share(file, "owner").error["reason"] == "forbidden"
    assert people.wire.json_request("PATCH", path, {"role": "reader"}).status == 403
    assert people.unshare(file, owner).status == 403
    assert people.share(file, id="mine").error["message"].startswith("id is set by the service")
    assert people.share(file, view="x").error["message"].startswith("view is not part of this service")
    assert people.share(file, rol="x").error["message"].startswith("rol is not a field of this resource")
    assert people.share("root").status == 403
    assert people.share(file, user=ADA).json["role"] == "owner"
    assert people.get(ADA, f"{file}/permissions/unknown").error["location"] == "permissionId"
    read_only = people.wire.service.sign_in(ADA, scopes=["storage.readonly"])
    body = {"type": "anyone", "role": "reader"}
    refused = people.wire.post_json(f"/storage/v3/files/{file}/permissions", body, token=read_only)
    assert refused.error["reason"] == "insufficientPermissions"


def test_permissions_come_in_pages(people: People, file: str) -> None:
    for n in range(5):
        people.share(file, "reader", f"user{n}@svc.example")
    path = f"/storage/v3/files/{file}/permissions"
    pages = [page["permissions"] for page in people.wire.pages(f"{path}?pageSize=2")]
    roles = [permission["role"] for page in pages for permission in page]

    assert [len(page) for page in pages] == [2, 2, 2]
    assert roles == ["owner"] + ["reader"] * 5
    assert len(people.send(ADA, "GET", path).json["permissions"]) == 6
    for wrong in ("pageSize=0", "pageSize=101", "pageSize=x", "pageToken=x"):
        assert people.send(ADA, "GET", f"{path}?{wrong}").status == 400


class TestMessages:
    @pytest.fixture
    def watch(self, wire: Wire) -> Iterator[Watch]:
        with open_watch(wire) as opened:
            yield opened

    def watch_file(self, watch: Watch, people: People, user: str, file: str) -> None:
        path = f"/storage/v3/files/{file}/watch"
        answer = watch.wire.post_json(path, watch.request(id=f"{user[:3]}-{file[:4]}"), token=people.tokens[user])
        assert answer.status == 200, answer.body

    def messages(self, watch: Watch) -> list[tuple[str, str | None, str | None]]:
        return sorted((str(channel)[:3], state, changes) for channel, state, changes in watch.new_messages())

    @pytest.mark.spec("N-04", "N-04a", "N-06", "N-06b", "A8-08", "A8-08a")
    def test_share_change_the_role_and_unshare(self, watch: Watch, people: People, file: str) -> None:
        self.watch_file(watch, people, ADA, file)
        watch.new_messages()
        permission = people.share(file).json["id"]
        assert self.messages(watch) == [("ada", "add", None)]
        self.watch_file(watch, people, BOB, file)
        watch.new_messages()

        people.share(file, "writer")
        assert self.messages(watch) == [("ada", "update", "permissions"), ("bob", "update", "permissions")]
        people.share(file, "writer")
        assert self.messages(watch) == []
        people.unshare(file, permission)
        assert self.messages(watch) == [("ada", "update", "permissions"), ("bob", "remove", None)]
        people.patch(ADA, file, {"name": "secret"})
        assert self.messages(watch) == [("ada", "update", "properties")]

        folder = people.made(name="top", mimeType=FOLDER)
        leaf = people.made(name="leaf", parents=[folder])
        permission = people.share(folder).json["id"]
        self.watch_file(watch, people, BOB, leaf)
        watch.new_messages()
        people.unshare(folder, permission)
        assert self.messages(watch) == [("bob", "remove", None)], "an unshared folder takes its files along"

    @pytest.mark.spec("N-06", "N-06c", "A9-01", "A9-01a")
    def test_change_logs(self, watch: Watch, people: People, file: str) -> None:
        start = people.send(BOB, "GET", "/storage/v3/changes/startPageToken").json["startPageToken"]
        watch.wire.post_json("/storage/v3/changes/watch", watch.request(id="bob"), token=people.tokens[BOB])
        watch.new_messages()
        people.patch(ADA, file, {"name": "not bobs"})
        assert watch.new_messages() == []
        permission = people.share(file).json["id"]
        people.patch(ADA, file, {"name": "bobs too"})
        people.unshare(file, permission)
        people.patch(ADA, file, {"name": "not bobs any more"})
        assert watch.new_messages() == [("bob", "change", None)] * 3

        answer = people.send(BOB, "GET", f"/storage/v3/changes?pageToken={start}")
        assert [(change["fileId"], change["removed"]) for change in answer.json["changes"]] == [(file, True)]
        assert "file" not in answer.json["changes"][0]
