"""What a run has made in a deployment, so that exactly this is removed at its end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

FILES = "/storage/v3/files"
CALENDARS = "/calendar/v3/calendars"


@dataclass(frozen=True)
class CreatedResource:
    """One thing, how it is called in a report, and the request that removes it."""

    description: str
    method: str
    path: str
    token: str | None = field(repr=False)
    body: Mapping[str, str] | None = None


@dataclass
class CreatedResources:
    resources: list[CreatedResource] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    """Ids of files, events, calendars, rules: what may be deleted."""
    sessions: dict[str, str | None] = field(default_factory=dict)
    """Upload ids of sessions that may be open, and whose they are."""
    unseen: bool = False
    """Whether something may have been made whose id nobody told."""

    def note(self, method: str, target: str, token: str | None, sent: Mapping[str, Any], answer: Any) -> None:
        """Look at one exchange; `sent` is the body where it was a JSON object."""
        if answer.status >= 300:
            return
        if "location" in answer.headers and (upload := upload_id(answer.headers["location"])):
            self.sessions[upload] = token
        elif method in ("POST", "PUT", "PATCH"):
            self._note_made(method, target, token, sent, _object(answer))

    def _note_made(
        self, method: str, target: str, token: str | None, sent: Mapping[str, Any], answer_body: Mapping[str, Any]
    ) -> None:
        parts = [unquote(segment) for segment in urlsplit(target).path.strip("/").split("/")]
        name = answer_body.get("id") or sent.get("id")
        upload = upload_id(target)
        if upload is not None:
            self.sessions.pop(upload, None)
        if not (method == "POST" or upload is not None):
            return
        if not isinstance(name, str):
            self.unseen = True
            return
        match parts:
            case ["upload", _, _, "files"] | [_, _, "files"] | [_, _, "files", _, "copy"]:
                self._add(f"file {name}", f"{FILES}/{quote(name)}", token, name)
            case [_, "v3", "calendars", calendar, "events", *more] if more in ([], ["import"]):
                path = f"{CALENDARS}/{quote(calendar, safe='')}/events/{quote(name)}"
                self._add(f"event {name}", path, token, name)
            case [_, "v3", "calendars"]:
                self._add(f"calendar {name}", f"{CALENDARS}/{quote(name, safe='')}", token, name)
            case [_, "v3", "calendars", calendar, "acl"]:
                path = f"{CALENDARS}/{quote(calendar, safe='')}/acl/{quote(name, safe='')}"
                self._add(f"rule {name}", path, token, name)
            case [*_, "watch"] if "resourceId" in answer_body:
                body, stop = {"id": name, "resourceId": str(answer_body["resourceId"])}, "/storage/v3/channels/stop"
                self.resources.append(CreatedResource(f"channel {name}", "POST", stop, token, body))

    def _add(self, description: str, path: str, token: str | None, name: str) -> None:
        if name not in self.ids:
            self.ids.add(name)
            self.resources.append(CreatedResource(description, "DELETE", path, token))

    def contains(self, target: str) -> bool:
        """Whether an address names something that is noted here, or is that of a session."""
        parts = [unquote(segment) for segment in urlsplit(target).path.split("/")]
        return upload_id(target) is not None or any(
            part in self.ids or part.partition("_")[0] in self.ids for part in parts
        )

    def remove(self, send: Callable[[CreatedResource], Any]) -> list[str]:
        """Remove everything, the last first; what could not be, in words."""
        left = []
        for upload, token in self.sessions.items():
            path = f"/upload{FILES}?uploadType=resumable&upload_id={quote(upload)}"
            send(CreatedResource("session", "DELETE", path, token))  # one that is over says so, and needs nothing
        for made in reversed(self.resources):
            status = send(made)
            if not (200 <= status < 300 or status in (404, 410)):
                left.append(f"{made.description} (removing it was answered {status})")
        self.resources, self.ids, self.sessions, self.unseen = [], set(), {}, False
        return left


def upload_id(address: str) -> str | None:
    """The id of the session that an address belongs to."""
    return parse_qs(urlsplit(address).query).get("upload_id", [None])[0]


def _object(answer: Any) -> Mapping[str, Any]:
    try:
        body = answer.json
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
