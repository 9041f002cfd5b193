"""The permissions of users, clients and service accounts on files (T-03, T-04).

What is expected comes from a model of a few lines, written from the interface and the choices that stand beside it,
never from the tables of the service.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, strategies as st

from svc_notebooks.server.service import Service, open_service
from tests.contract.calendar_client import ADA, BOB, EVE
from tests.contract.conftest import Answer, InProcess, Wire
from tests.examples import examples

FILES = "/storage/v3/files"
DOCUMENT = "application/vnd.svc-apps.document"
FOLDER = "application/vnd.svc-apps.folder"


pytestmark = pytest.mark.policy(verified_domains=("*",))


SEES = {"storage", "storage.file", "storage.metadata", "storage.metadata.readonly", "storage.readonly"}
READS = {"storage", "storage.file", "storage.readonly"}
WRITES = {"storage", "storage.file"}
RANK = {None: 0, "reader": 1, "commenter": 2, "writer": 3, "owner": 4}


@dataclass(frozen=True)
class FileOperation:
    scopes: set[str]
    least: str
    ask: Callable[[Wire, str, str], Answer]
    native: bool = False


def get(path: str, method: str = "GET") -> Callable[[Wire, str, str], Answer]:
    return lambda wire, file, token: wire.send(method, f"{FILES}/{file}{path}", token=token)


def send(method: str, path: str, body: Any = None) -> Callable[[Wire, str, str], Answer]:
    return lambda wire, file, token: wire.json_request(method, f"{FILES}/{file}{path}", body or {}, token=token)


def put(wire: Wire, file: str, token: str) -> Answer:
    return wire.send("PUT", f"/upload{FILES}/{file}?uploadType=media", b"new", {"Content-Type": "a/b"}, token=token)


def watch(wire: Wire, file: str, token: str) -> Answer:
    channel = {"id": wire.once(f"c-{file}"), "type": "web_hook", "address": "https://hooks.example/in"}
    return wire.post_json(f"{FILES}/{file}/watch", channel, token=token)


SHARE = {"type": "user", "role": "reader", "emailAddress": "somebody@svc.example"}
FILE_OPERATIONS = {
    "get": FileOperation(SEES, "reader", get("")),
    "content": FileOperation(READS, "reader", get("?alt=media")),
    "export": FileOperation(READS, "reader", get("/export?mimeType=text/plain"), True),
    "copy": FileOperation(WRITES, "reader", send("POST", "/copy")),
    "watch": FileOperation(SEES, "reader", watch),
    "rename": FileOperation({*WRITES, "storage.metadata"}, "writer", send("PATCH", "", {"name": "new"})),
    "replace": FileOperation({*WRITES, "storage.metadata"}, "writer", put),
    "share": FileOperation(WRITES, "writer", send("POST", "/permissions", SHARE)),
    "delete": FileOperation(WRITES, "owner", get("", "DELETE")),
}
TOKENS = [*({scope} for scope in sorted(SEES)), {"storage.file", "storage.metadata.readonly"}, {"calendar"}]
TOKENS_THAT_TRAVEL = [({"storage.metadata"}, "this app")]
"""Over a socket a few are enough: what decides is the same."""


def expected(operation: FileOperation, role: str | None, scopes: set[str], made_here: bool) -> tuple[int, str | None]:
    """Return status and reason. The token is checked first, then its scopes, then the user's role."""
    useful = scopes & operation.scopes
    if not useful:
        return 403, "insufficientPermissions"
    if role is None or (useful == {"storage.file"} and not made_here):
        return 404, "notFound"
    if RANK[role] < RANK[operation.least]:
        return 403, "insufficientFilePermissions"
    return 200, None


def create_shared_file(wire: Wire, role: str | None, *, native: bool, client: str) -> str:
    ada = wire.service.sign_in(ADA, client=client)
    if native:
        file = wire.post_json(FILES, {"name": "d", "mimeType": DOCUMENT}, token=ada).json["id"]
    else:
        target = f"/upload{FILES}?uploadType=media"
        file = wire.send("POST", target, b"content", {"Content-Type": "text/plain"}, token=ada).json["id"]
    if role in ("reader", "commenter", "writer"):
        wire.share(file, BOB, role, token=ada)
    return str(file)


def outcome(answer: Answer) -> tuple[int, str | None]:
    return (200, None) if answer.status in (200, 204) else (answer.status, answer.error["reason"])


@pytest.mark.spec("T-03", "T-03a", "T-03b", "T-04", "T-04b")
@pytest.mark.parametrize("role", ["owner", "writer", "commenter", "reader", None], ids=str)
@pytest.mark.parametrize("name", FILE_OPERATIONS)
def test_what_somebody_may_do_with_a_file_follows_from_role_and_scopes(wire: Wire, name: str, role: str | None) -> None:
    operation, user = FILE_OPERATIONS[name], {"owner": ADA, None: EVE}.get(role, BOB)
    apart = [({"storage"}, "another app"), ({"storage.file"}, "another app")]
    tokens = [(scopes, "this app") for scopes in TOKENS] if isinstance(wire, InProcess) else TOKENS_THAT_TRAVEL

    for scopes, client in [*tokens, *apart]:
        file = create_shared_file(wire, role, native=operation.native, client="this app")
        token = wire.service.sign_in(user, scopes=sorted(scopes), client=client)

        actual = outcome(operation.ask(wire, file, token))

        assert actual == expected(operation, role, scopes, client == "this app"), (sorted(scopes), client)


@pytest.mark.spec("T-03", "T-03a", "T-03b")
def test_a_metadata_token_lists_and_reads_and_gets_no_byte(wire: Wire) -> None:
    file = create_shared_file(wire, "owner", native=False, client="a")
    token = wire.service.sign_in(ADA, scopes=["storage.metadata.readonly"])

    answer = wire.send("GET", f"{FILES}/{file}?fields=id,name,size,md5Checksum", token=token)
    refused = wire.send("GET", f"{FILES}/{file}?alt=media", token=token)

    assert (answer.status, answer.json["size"]) == (200, "7")
    assert file in [listed_file["id"] for listed_file in wire.files(token=token)]
    assert (refused.status, refused.error["reason"]) == (403, "insufficientPermissions")
    assert "insufficient_scope" in refused.headers["WWW-Authenticate"]
    assert b"content" not in refused.body
    search = wire.send("GET", f"{FILES}?q=fullText+contains+'a'", token=token)
    assert (search.status, search.error["reason"]) == (403, "insufficientPermissions")
    assert wire.send("GET", f"{FILES}?q=name+contains+'a'", token=token).status == 200


@pytest.mark.spec("T-04", "T-04b")
def test_nobody_learns_of_files_that_are_not_theirs(wire: Wire) -> None:
    """Not from the change log, and not from the answer about an id, which is that about an id of no file."""
    eve = wire.service.sign_in(EVE)
    start = wire.send("GET", "/storage/v3/changes/startPageToken", token=eve).json["startPageToken"]

    file = create_shared_file(wire, "reader", native=False, client="a")
    send("PATCH", "", {"name": "secret"})(wire, file, wire.service.sign_in(ADA))
    changes = wire.send("GET", f"/storage/v3/changes?pageToken={start}", token=eve)

    assert changes.json["changes"] == []
    assert file.encode() not in changes.body
    nobodys = file[:-1] + ("A" if file[-1] != "A" else "B")
    for path in ("", "?alt=media", "/permissions", "/export?mimeType=text/plain"):
        unshared, unknown = (get(path)(wire, which, eve) for which in (file, nobodys))
        assert unshared.status == unknown.status == 404
        assert unshared.body.replace(file.encode(), b"") == unknown.body.replace(nobodys.encode(), b"")


TAKING = {
    "content": (False, get("?alt=media"), "cannotDownloadFile"),
    "export": (True, get("/export?mimeType=text/plain"), "cannotExportFile"),
    "copy": (False, send("POST", "/copy"), "cannotCopyFile"),
    "copy of a document": (True, send("POST", "/copy"), "cannotCopyFile"),
}


@pytest.mark.spec("A6-05", "A6-05a", "A6-05b")
@pytest.mark.parametrize("flag", ["viewersCanCopyContent", "copyRequiresWriterPermission"])
@pytest.mark.parametrize("role", ["owner", "writer", "commenter", "reader"])
@pytest.mark.parametrize("name", TAKING)
def test_who_only_reads_cannot_take_a_restricted_file_along(wire: Wire, name: str, role: str, flag: str) -> None:
    native, ask, reason = TAKING[name]
    file, ada = create_shared_file(wire, role, native=native, client="a"), wire.service.sign_in(ADA)
    token = wire.service.sign_in(ADA if role == "owner" else BOB)
    assert ask(wire, file, token).status == 200

    assert send("PATCH", "", {flag: True})(wire, file, ada).status == 200
    answer = ask(wire, file, token)

    if role in ("owner", "writer"):
        assert answer.status == 200
    else:
        assert (answer.status, answer.error["reason"]) == (403, reason)
        assert send("PATCH", "", {flag: False})(wire, file, token).status == 403
        assert ask(wire, file, token).status == 403
    assert send("PATCH", "", {flag: False})(wire, file, ada).status == 200
    assert ask(wire, file, token).status == 200
    assert get("")(wire, file, token).status == 200


@pytest.mark.spec("A6-03")
@pytest.mark.parametrize("role", ["owner", "writer", "commenter", "reader", None], ids=str)
@pytest.mark.parametrize("acknowledged", [True, False])
def test_an_abusive_file_is_for_its_owner_who_says_so(wire: Wire, role: str | None, acknowledged: bool) -> None:
    file = create_shared_file(wire, role, native=False, client="a")
    wire.service.flag(file, abusive=True)
    token = wire.service.sign_in({"owner": ADA, None: EVE}.get(role, BOB))

    answer = get(f"?alt=media&acknowledgeAbuse={str(acknowledged).lower()}")(wire, file, token)
    part = wire.send("GET", f"{FILES}/{file}?alt=media", headers={"Range": "bytes=0-0"}, token=token)

    assert part.status == (403 if role else 404)
    if role == "owner" and acknowledged:
        assert (answer.status, answer.body) == (200, b"content")
    elif role is None:
        assert answer.status == 404
    else:
        assert (answer.status, answer.error["reason"]) == (403, "cannotDownloadAbusiveFile")


@pytest.mark.spec("T-04", "T-04a", "T-04b")
def test_a_client_has_properties_that_no_other_client_sees(wire: Wire) -> None:
    file = create_shared_file(wire, None, native=False, client="a")
    tokens = {client: wire.service.sign_in(ADA, client=client) for client in ("a", "b")}
    for client, token in tokens.items():
        send("PATCH", "", {"appProperties": {"of": client}, "properties": {client: "for all"}})(wire, file, token)

    shown = [get("?fields=appProperties,properties")(wire, file, token).json for token in tokens.values()]

    both = {"a": "for all", "b": "for all"}
    assert shown == [{"properties": both, "appProperties": {"of": client}} for client in tokens]


@pytest.mark.spec("A10-02", "A10-02a", "A10-02b")
@pytest.mark.parametrize("by_robot", [False, True], ids=["a user's", "a service account's"])
@pytest.mark.parametrize("same_user", [False, True], ids=["another user", "the same user"])
@pytest.mark.parametrize("same_client", [False, True], ids=["another client", "the same client"])
def test_who_may_stop_a_channel(wire: Wire, by_robot: bool, same_user: bool, same_client: bool) -> None:
    wire.service.register_domain("hooks.example")
    maker = "robot@svc.example" if by_robot else BOB
    opener = wire.service.sign_in(maker, client="one", service_account=by_robot)
    channel = {"id": wire.once("to-be-stopped"), "type": "web_hook", "address": "https://hooks.example/in"}
    opened = wire.post_json("/storage/v3/changes/watch", channel, token=opener).json
    robot = by_robot and same_user
    stopper = wire.service.sign_in(
        maker if same_user else EVE, client="one" if same_client else "two", service_account=robot
    )

    pair = {"id": opened["id"], "resourceId": opened["resourceId"]}
    answer = wire.post_json("/storage/v3/channels/stop", pair, token=stopper)

    if same_client and (same_user or by_robot):
        assert answer.status == 204
    else:
        assert answer.status == 404
        assert wire.post_json("/storage/v3/channels/stop", pair, token=opener).status == 204


PEOPLE = [ADA, BOB, EVE, "dan@elsewhere.example"]


@dataclass(frozen=True)
class Node:
    owner: int
    folder: bool
    parent: int | None
    grants: tuple[tuple[str, int], ...]


GRANTS = st.tuples(st.sampled_from(["reader", "writer"]), st.integers(0, 3))


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    """Draw files and folders. Each is in a folder of its owner, or in one where the owner may write."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(1, 7))):
        folders = [None, *(n for n, node in enumerate(nodes) if node.folder)]
        above = draw(st.sampled_from(folders))
        writers = range(4) if above is None else sorted(may_write(nodes, above))
        grants = draw(st.lists(GRANTS, max_size=2, unique_by=lambda grant: grant[1]))
        nodes.append(Node(draw(st.sampled_from(list(writers))), draw(st.booleans()), above, tuple(grants)))
    return nodes


def chain(nodes: list[Node], n: int) -> list[Node]:
    """Return a node and the folders above it."""
    node = nodes[n]
    return [node, *([] if node.parent is None else chain(nodes, node.parent))]


def may_see(nodes: list[Node], n: int) -> set[int]:
    return {who for node in chain(nodes, n) for who in (node.owner, *(grantee for _, grantee in node.grants))}


def may_write(nodes: list[Node], n: int) -> set[int]:
    line = chain(nodes, n)
    writers = {grantee for node in line for role, grantee in node.grants if role == "writer"}
    return writers | {node.owner for node in line}


ServiceWithUsers = tuple[Service, list[str]]


@pytest.fixture(scope="module")
def service_with_users() -> ServiceWithUsers:
    service = open_service(seed=0)
    return service, [service.sign_in(person) for person in PEOPLE]


@pytest.mark.spec("T-04", "T-04b")
@examples(0.8, suppress_health_check=list(HealthCheck))
@given(nodes=graphs())
def test_nobody_ever_sees_what_is_neither_theirs_nor_shared(service_with_users, nodes):
    service, tokens = service_with_users
    service.reset()
    wire = InProcess(service, "http://svc.test")
    ids: list[str] = []
    for n, node in enumerate(nodes):
        ids.append(create_node(wire, tokens, nodes, ids, n))
        for role, grantee in node.grants:
            if grantee != node.owner:
                wire.share(ids[n], PEOPLE[grantee], role, token=tokens[node.owner])

    for who, token in enumerate(tokens):
        seen = {ids[n] for n in range(len(nodes)) if who in may_see(nodes, n)}
        listed = wire.send("GET", f"{FILES}?pageSize=1000", token=token)
        assert {listed_file["id"] for listed_file in listed.json["files"]} == seen
        for n, file in enumerate(ids):
            assert (get("")(wire, file, token).status == 200) == (file in seen)
            renamed = send("PATCH", "", {"description": "x"})(wire, file, token).status
            assert renamed == (200 if who in may_write(nodes, n) else 403 if file in seen else 404)


def create_node(wire: Wire, tokens: list[str], nodes: list[Node], ids: list[str], n: int) -> str:
    node = nodes[n]
    body = {"name": f"n{n}", "mimeType": FOLDER if node.folder else "text/plain"}
    if node.parent is not None:
        body["parents"] = [ids[node.parent]]  # type: ignore[assignment]
    made = wire.post_json(FILES, body, token=tokens[node.owner])
    assert made.status == 200, made.body
    return str(made.json["id"])
