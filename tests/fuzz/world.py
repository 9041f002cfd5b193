"""A service with something of everything in it, and the ids of all that: what a random request can hit upon."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.framed import framed

BASE = "http://localhost"
ADA, BOB = "ada@svc.example", "bob@svc.example"
START = {"dateTime": "2026-03-02T10:00:00Z", "timeZone": "UTC"}
END = {"dateTime": "2026-03-02T11:00:00Z", "timeZone": "UTC"}


@dataclass
class World:
    """The service, ada's token, and for each name of a parameter the values that mean something."""

    service: Service
    token: str
    known: dict[str, list[str]] = field(default_factory=dict)

    def ask(self, method: str, target: str, value: Any = None, *, token: str | None = None, **headers: str) -> Response:
        body = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        sent.setdefault("Content-Type", "application/json; charset=UTF-8")
        pairs = {**sent, "Authorization": f"Bearer {token or self.token}", "Content-Length": str(len(body))}
        return self.service.handle(framed(Request(method, BASE + target, Headers(pairs), body)))

    def get(self, method: str, target: str, value: Any = None, **options: Any) -> Any:
        """The JSON of an answer that must be a success."""
        answer = self.ask(method, target, value, **options)
        assert answer.status == 200, (method, target, answer)
        return json.loads(answer.content() or b"{}")


def make_world(policy: Policy | None = None) -> World:
    """Files of every kind, calendars and events, an upload under way, a channel."""
    service = open_service(seed=7, policy=policy or Policy(verified_domains=("*",)), background=False)
    world = World(service, service.sign_in(ADA))
    bob = service.sign_in(BOB, client="other")
    world.known["fileId"] = [*_files(world), *_shared_files(world, bob)]
    world.known["permissionId"] = ["anyoneWithLink", *_permissions(world)]
    world.known["calendarId"], world.known["eventId"] = _calendars(world)
    world.known["ruleId"] = [f"user:{ADA}", f"user:{BOB}", "default"]
    world.known["upload_id"] = [_session(world) for _ in range(3)]
    world.known["channel"] = _channels(world)
    world.known |= {"id": world.known["fileId"], "access_token": [world.token], "token": [bob]}
    world.known |= _client(world)
    return world


def _upload(world: World, content: bytes, kind: str, **options: Any) -> str:
    return world.get("POST", "/upload/storage/v3/files?uploadType=media", content, Content_Type=kind, **options)["id"]


def _create(world: World, token: str | None = None, **metadata: Any) -> str:
    return world.get("POST", "/storage/v3/files", metadata, token=token)["id"]


def _files(world: World) -> list[str]:
    native = "application/vnd.svc-apps."
    folder = _create(world, name="folder", mimeType=f"{native}folder")
    blob = _upload(world, b"0123456789" * 30, "text/plain")
    inside = _create(world, name="inside", parents=[folder])
    trashed = _create(world, name="trashed")
    world.get("PATCH", f"/storage/v3/files/{trashed}", {"trashed": True})
    shortcut = _create(world, mimeType=f"{native}shortcut", shortcutDetails={"targetId": blob})
    documents = [_create(world, name=word, mimeType=native + word) for word in ("document", "spreadsheet", "script")]
    abusive = _upload(world, b"bad", "application/octet-stream")
    world.service.flag(abusive, abusive=True)
    return ["root", folder, blob, inside, trashed, shortcut, *documents, abusive]


def _shared_files(world: World, bob: str) -> list[str]:
    file_ids = []
    for role in ("reader", "commenter", "writer"):
        file_ids.append(_upload(world, role.encode(), "text/csv", token=bob))
        share = {"type": "user", "role": role, "emailAddress": ADA}
        world.get("POST", f"/storage/v3/files/{file_ids[-1]}/permissions", share, token=bob)
    closed = _create(world, bob, name="closed", viewersCanCopyContent=True)
    world.get("POST", f"/storage/v3/files/{closed}/permissions", {"type": "anyone", "role": "reader"}, token=bob)
    return [*file_ids, closed, _create(world, bob, name="bob's own")]


def _permissions(world: World) -> list[str]:
    blob = world.known["fileId"][2]
    for who in ({"type": "user", "emailAddress": BOB}, {"type": "domain", "domain": "svc.example"}, {"type": "anyone"}):
        world.get("POST", f"/storage/v3/files/{blob}/permissions", {"role": "commenter", **who})
    listed = world.get("GET", f"/storage/v3/files/{blob}/permissions")["permissions"]
    return [permission["id"] for permission in listed]


def _calendars(world: World) -> tuple[list[str], list[str]]:
    second = world.get("POST", "/calendar/v3/calendars", {"summary": "second"})["id"]
    share = {"role": "writer", "scope": {"type": "user", "value": BOB}}
    world.get("POST", f"/calendar/v3/calendars/{second}/acl", share)
    events = [
        {"summary": "single"},
        {"summary": "with guests", "attendees": [{"email": BOB}, {"email": "eve@elsewhere.example"}]},
        {"summary": "series", "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=9"]},
        {"summary": "private", "visibility": "private", "location": "nowhere"},
        {"summary": "gone"},
    ]
    insert = "/calendar/v3/calendars/primary/events"
    ids = [world.get("POST", insert, {"start": START, "end": END, **event})["id"] for event in events]
    assert world.ask("DELETE", f"{insert}/{ids[-1]}").status == 204
    world.get("POST", f"/calendar/v3/calendars/{second}/events", {"start": START, "end": END, "id": "abcde"})
    return ["primary", ADA, second, BOB], [*ids, f"{ids[2]}_20260309T100000Z", "abcde"]


def _session(world: World) -> str:
    answer = world.ask("POST", "/upload/storage/v3/files?uploadType=resumable", {"name": "later"})
    return parse_qs(urlsplit(answer.headers["Location"]).query)["upload_id"][0]


def _client(world: World) -> dict[str, list[str]]:
    made = world.service.oauth_client("fuzzed", redirect_uris=["https://app.example/back"])
    known = {"redirect_uri": made["redirect_uris"], "response_type": ["code"], "scope": ["storage"], "prompt": ["none"]}
    return {"client_id": [made["client_id"]], "client_secret": [made["client_secret"]], **known}


def _channels(world: World) -> list[str]:
    body = {"id": "one", "type": "web_hook", "address": "https://hooks.example/in"}
    world.service.receive_at(body["address"], lambda request: Response(200))
    return [world.get("POST", "/storage/v3/changes/watch", body)["resourceId"]]
