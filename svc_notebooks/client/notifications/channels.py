"""The channels that a session has opened: the service has no list of them, so the client keeps one (A8 to A10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

from ...core.clock import from_millis
from ...core.errors.errors import BadRequest, SvcError
from ...core.http.messages import JSON, JSONObject, segment
from ..session import Session

_TYPE = "web_hook"
_ID_IN_USE = "channelIdNotUnique"
_MAX_NEW_IDS = 3
_PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel; `file` is None for the change log, `token` the channel's own, `expiration` None: it does not end.

    `kind`, `token` and `expiration` are those of the service's answer.
    """

    id: str
    resource_id: str
    resource_uri: str
    file: str | None
    address: str
    kind: str | None
    token: str | None = field(repr=False)
    opened: datetime
    expiration: datetime | None
    stopped: datetime | None = None

    def state(self, now: datetime) -> str:
        """active, expired or stopped."""
        if self.stopped:
            return "stopped"
        return "expired" if self.expiration is not None and self.expiration <= now else "active"


@dataclass(slots=True)
class ChannelRegistry:
    """What a session remembers of its channels, and where it is in the change log."""

    channels: dict[str, Channel] = field(default_factory=dict)
    page_token: str | None = None


_registries: WeakKeyDictionary[Session, ChannelRegistry] = WeakKeyDictionary()


def registry_of(session: Session) -> ChannelRegistry:
    """The register of a session."""
    return _registries.setdefault(session, ChannelRegistry())


def new_id(session: Session) -> str:
    """A UUID, from the session's own randomness: a sandbox draws the same ones at every run."""
    return str(UUID(int=session.random.getrandbits(128), version=4))


def watch(
    session: Session,
    file: str | None,
    address: str,
    *,
    channel_id: str | None,
    token: str | None,
    expiration: int | str | None,
    channel_type: str | None = None,
    expect: Any = None,
) -> Channel:
    """Open a channel on a file, or on the change log. Raises SvcError.

    `expiration` is Unix time in milliseconds, and goes out as a number or as a text, as it is given.
    `expect(channel_id, token)` is called before the request: the first message may come before its answer.
    A drawn id that is taken was taken by a try whose answer was lost: another one is drawn, and the lost channel is
    stopped, or every message would come twice. The other one comes from the system's randomness: a seeded session
    that repeats an earlier one would draw one taken id after the other.
    """
    type_name = _TYPE if channel_type is None else channel_type
    lost: list[str] = []
    for left in reversed(range(_MAX_NEW_IDS)):
        requested_id = channel_id if channel_id is not None else str(uuid4()) if lost else new_id(session)
        if expect:
            expect(requested_id, token)
        try:
            channel = _open_channel(session, file, _body(requested_id, type_name, address, token, expiration))
        except BadRequest as error:
            if error.reason != _ID_IN_USE or channel_id is not None or not left:
                raise
            lost.append(requested_id)
        else:
            _stop_lost(session, lost, channel.resource_id)
            return channel
    raise AssertionError("unreachable")


def _stop_lost(session: Session, lost: list[str], resource_id: str) -> None:
    """All channels on one resource have its id (A8-09); somebody else's channel is not ours to stop, and stays."""
    for channel_id in lost:
        with suppress(SvcError):
            stop(session, channel_id, resource_id)


def _body(channel_id: str, type_name: str, address: str, token: str | None, expiration: int | str | None) -> JSONObject:
    body: JSONObject = {
        "id": channel_id,
        "type": type_name,
        "address": address,
        "token": token,
        "expiration": expiration,
    }
    return {name: value for name, value in body.items() if value is not None}


def _open_channel(session: Session, file: str | None, body: JSONObject) -> Channel:
    path = ("changes",) if file is None else ("files", segment(file))
    answer = session.call("POST", session.names.path(*path, "watch"), body=body)
    ends = answer.get("expiration")
    made = Channel(
        id=str(answer["id"]),
        resource_id=str(answer["resourceId"]),
        resource_uri=str(answer["resourceUri"]),
        file=file,
        address=str(body["address"]),
        kind=_text(answer.get("kind")),
        token=_text(answer.get("token")),
        opened=session.clock.now(),
        expiration=None if ends is None else from_millis(int(str(ends))),
    )
    registry_of(session).channels[made.id] = made
    return made


def _text(value: JSON) -> str | None:
    return None if value is None else str(value)


def stop(session: Session, channel_id: str, resource_id: str) -> None:
    """Stop a channel. Raises NotFound where there is no such active one, or not for this user."""
    path = session.names.path("channels", "stop")
    session.call("POST", path, body={"id": channel_id, "resourceId": resource_id})
    known = registry_of(session).channels
    if channel_id in known:
        known[channel_id] = replace(known[channel_id], stopped=session.clock.now())


def start_page_token(session: Session) -> str:
    """The token that stands for now in the change log."""
    answer = session.call("GET", session.names.path("changes", "startPageToken"))
    return str(answer["startPageToken"])


def changes_since(session: Session, page_token: str, fields: str) -> Iterator[JSONObject]:
    """Every change since a token, page by page; at the end the session remembers where it is."""
    token: str | None = page_token
    while token:
        query = {
            "pageToken": token,
            "pageSize": _PAGE_SIZE,
            "fields": f"nextPageToken,newStartPageToken,changes({fields})",
        }
        page = session.call("GET", session.names.path("changes"), query=query)
        changes = page.get("changes")
        yield from (change for change in changes if isinstance(change, dict)) if isinstance(changes, list) else ()
        following, end = page.get("nextPageToken"), page.get("newStartPageToken")
        token = None if following is None else str(following)
        if end is not None:
            registry_of(session).page_token = str(end)
