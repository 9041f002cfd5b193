"""Calls that open and stop notification channels, and a list of a session's channels (A8 to A10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

from ...core.errors.errors import BadRequest, ServiceFailed, SvcError
from ...core.http.messages import segment
from ...core.resources.files import Change, ChangeList, ChannelResource, ChannelToOpen, StartPageToken
from ...core.times import from_millis
from ..json_response import foreign_answer, read_fields, read_resource
from ..session import Session
from ..transport.bounds import PageTokens

_LATEST = 253_402_300_799_000  # the end of the year 9999 in milliseconds, because Python has no later times

_MAX_NEW_IDS = 3
_PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Channel:
    """A notification channel that the session opened on the file `file`, or on the change log if None.

    `expiration` is None if the channel never expires.
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
        """Return "active", "expired" or "stopped", the state of the channel at `now`."""
        if self.stopped:
            return "stopped"
        return "expired" if self.expiration is not None and self.expiration <= now else "active"


@dataclass(slots=True)
class ChannelRegistry:
    """The channels of a session by id, and the page token from which the session reads the change log next.

    `watched` has the watched file, or None for the change log, also of a channel whose request has no response yet.
    """

    channels: dict[str, Channel] = field(default_factory=dict)
    watched: dict[str, str | None] = field(default_factory=dict)
    page_token: str | None = None


_registries: WeakKeyDictionary[Session, ChannelRegistry] = WeakKeyDictionary()


def registry_of(session: Session) -> ChannelRegistry:
    """Return the channel registry of a session. The first call creates an empty registry."""
    return _registries.setdefault(session, ChannelRegistry())


def new_id(session: Session) -> str:
    """Return a new UUID from the session's random numbers. A seeded sandbox repeats the same ids."""
    return str(UUID(int=session.random.getrandbits(128), version=4))


def watch(session: Session, file: str | None, channel: ChannelToOpen, expect: Any = None) -> Channel:
    """Open a notification channel on a file, or on the change log if `file` is None, and return the channel.

    A `channel` without an id or a type gets an id that is generated, and the type of the interface.
    `expect(channel_id, token)` is called before the request, because the first message may arrive before the response.
    Raises SvcError.

    If a generated id is in use, the response to an earlier attempt was lost. The request is repeated with a random id
    of the system, because a seeded session may repeat used ids, and the earlier channel is stopped, because every
    message would be sent twice.
    """
    lost: list[str] = []
    for left in reversed(range(_MAX_NEW_IDS)):
        requested_id = channel["id"] if "id" in channel else str(uuid4()) if lost else new_id(session)
        registry_of(session).watched[requested_id] = file
        if expect:
            expect(requested_id, channel.get("token"))
        try:
            opened = _open_channel(session, file, {"id": requested_id, "type": "web_hook", **channel})
        except BadRequest as error:
            if error.reason != "channelIdNotUnique" or "id" in channel or not left:
                raise
            lost.append(requested_id)
        else:
            for lost_id in lost:  # all channels of a resource have its id (A8-09)
                with suppress(SvcError):  # a channel of another user stays
                    stop(session, lost_id, opened.resource_id)
            return opened
    raise AssertionError("unreachable")


def _open_channel(session: Session, file: str | None, body: ChannelToOpen) -> Channel:
    path = session.names.path(*(("changes",) if file is None else ("files", segment(file))), "watch")
    try:
        response = session.fetch("POST", path, body={**body})
    except BadRequest as error:
        if error.location != "pageToken":
            raise
        position = registry_of(session).page_token or start_page_token(session)  # other deployments require it
        response = session.fetch("POST", path, query={"pageToken": position}, body={**body})
    opened = read_resource(response, ChannelResource, session.base_url, identifier=body["id"])
    read_fields(response, ChannelResource, session.base_url, "resourceId")
    read_fields(response, ChannelResource, session.base_url, "resourceUri")
    expiration = opened.get("expiration")
    channel = Channel(
        id=opened["id"],
        resource_id=opened["resourceId"],
        resource_uri=opened["resourceUri"],
        file=file,
        address=body["address"],
        kind=opened.get("kind"),
        token=opened.get("token"),
        opened=session.clock.now(),
        expiration=None if expiration is None else from_millis(min(int(expiration), _LATEST)),
    )
    registry_of(session).channels[channel.id] = channel
    return channel


def stop(session: Session, channel_id: str, resource_id: str) -> None:
    """Stop a notification channel. Raises NotFound if the channel is not active or this user may not stop it."""
    path = session.names.path("channels", "stop")
    session.execute("POST", path, body={"id": channel_id, "resourceId": resource_id})
    known = registry_of(session).channels
    if channel_id in known:
        known[channel_id] = replace(known[channel_id], stopped=session.clock.now())


def start_page_token(session: Session) -> str:
    """Return the page token for the current end of the change log."""
    answer = session.fetch("GET", session.names.path("changes", "startPageToken"))
    return read_fields(answer, StartPageToken, session.base_url, "startPageToken")["startPageToken"]


_CHANGES = "nextPageToken,newStartPageToken,changes(time,removed,fileId,file(name,mimeType,trashed))"


def changes_since(session: Session, page_token: str) -> Iterator[Change]:
    """Yield the changes since a page token, and then set the registry's page token for later changes."""
    token, tokens = page_token, PageTokens()
    while token is not None:
        query = {"pageToken": token, "pageSize": _PAGE_SIZE, "fields": _CHANGES}
        answer = session.fetch("GET", session.names.path("changes"), query=query)
        page: Any = read_fields(answer, ChangeList, session.base_url, "changes", "newStartPageToken", "nextPageToken")
        changes = page.get("changes") or []
        if not all(change.get("fileId") or change.get("driveId") for change in changes):
            raise foreign_answer(session.base_url, "a change has no fileId", str(changes)[:99])
        yield from changes
        token, end = page.get("nextPageToken"), page.get("newStartPageToken")
        if end is not None:
            registry_of(session).page_token = end
        if token is not None and (problem := tokens.problem(token, changes)):
            raise ServiceFailed(problem, location="nextPageToken")
