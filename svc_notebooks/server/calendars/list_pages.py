"""The pages of the lists of calendars, access rules and settings, and the entries that changed since a sync token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.field_mask import Shape
from ...core.http.messages import Response
from ..dispatch.requests import (
    bool_param,
    decode_page_token,
    decode_sync_token,
    encode_page_token,
    selecting_parameters,
)
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import resource_response
from .event_request import page_size

_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 100, 250
_PAGE = dict.fromkeys(("kind", "etag", "nextPageToken", "nextSyncToken"))


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What a list request asks for. `log` is the name of the list's log, and `last` the last number in all logs.

    `changed` has the ids of the entries that changed since the sync token, or is None without a sync token.
    `is_selection` is True for a list of the calendars with a minimum role, which has no sync token.
    """

    log: str
    last: int
    changed: frozenset[str] | None
    is_selection: bool = False


def read_sync_request(context: ServiceContext, request: RequestContext, log: str) -> SyncRequest:
    """Read the sync token of a list request. Raises ApiError (410) if it is not of this list, or is too old."""
    query, last = request.query, context.store.changes.last()
    token = query.get("syncToken")
    given = {parameter.name for parameter in request.operation.parameters if parameter.name in query}
    if token is None:
        return SyncRequest(log, last, None, "minAccessRole" in given)
    if "minAccessRole" in given:
        raise refuse("invalidParameter", name="minAccessRole", message="cannot be combined with syncToken.")
    for name in sorted(given & {"showDeleted", "showHidden"}):
        if not bool_param(query, name, default=True):
            raise refuse("invalidParameter", name=name, message="must not be false with syncToken.")
    (since,) = decode_sync_token(token, ("sync", context.store.history(), log), 1, context.secret)
    return SyncRequest(log, last, frozenset(context.store.changes.since(log, since)))


def list_response(
    context: ServiceContext,
    request: RequestContext,
    sync: SyncRequest,
    kind: str,
    entries: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]],
    shape: Shape,
) -> Response:
    """Return a page of entries, in the order of their keys. A page token has the key of the last entry of its page."""
    size, token = page_size(request.query, _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE), request.query.get("pageToken")
    about = (sync.log, selecting_parameters(request.query, request.operation))
    after, last = decode_page_token(token, about, 2, context.secret) if token else ([], sync.last)
    rest = sorted((entry for entry in entries if entry[0] > tuple(after)), key=lambda entry: entry[0])
    page: dict[str, Any] = {
        "kind": kind,
        "etag": f'"{last:017d}"',
        "items": [resource for _, resource in rest[:size]],
    }
    if len(rest) > size:
        page["nextPageToken"] = encode_page_token((rest[size - 1][0], last), about, context.secret)
    elif not sync.is_selection:
        synchronized = ("sync", context.store.history(), sync.log)
        page["nextSyncToken"] = encode_page_token((last,), synchronized, context.secret)
    return resource_response(request, page, {**_PAGE, "items": shape})
