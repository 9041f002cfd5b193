"""The pages of the lists of calendars, access rules and settings, and the entries that changed since a sync token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.field_mask import Shape
from ...core.http.messages import Response
from ..context.page_tokens import decode_page_token, decode_sync_token, encode_page_token, selecting_parameters
from ..context.service_context import RequestContext, ServiceContext
from ..events.calendars import resource_response
from ..events.event_request import page_size
from ..files.operations import bool_param

_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 100, 250
_PAGE = dict.fromkeys(("kind", "etag", "nextPageToken", "nextSyncToken"))


@dataclass(frozen=True, slots=True)
class ListRequest:
    """What a list request asks for. `log` is the name of the list's log, and `last` the last number in all logs.

    `changed` has the ids of the entries that changed since the sync token, or is None without a sync token.
    """

    log: str
    last: int
    changed: frozenset[str] | None


def read_list_request(context: ServiceContext, request: RequestContext, log: str) -> ListRequest:
    """Read the sync token of a list request. Raises ApiError (410) if it is not of this list, or is too old."""
    query, last = request.query, context.store.changes.last()
    token = query.get("syncToken")
    if token is None:
        return ListRequest(log, last, None)
    if "minAccessRole" in query:
        raise refuse("invalidParameter", name="minAccessRole", message="cannot be combined with syncToken.")
    for name in ("showDeleted", "showHidden"):
        if not bool_param(query, name, default=True):
            raise refuse("invalidParameter", name=name, message="must not be false with syncToken.")
    (since,) = decode_sync_token(token, ("sync", log), 1, context.secret)
    if since > last:
        raise refuse("fullSyncRequired")
    return ListRequest(log, last, frozenset(context.store.changes.since(log, since)))


def list_response(
    context: ServiceContext,
    request: RequestContext,
    listed: ListRequest,
    kind: str,
    entries: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]],
    shape: Shape,
) -> Response:
    """Return a page of entries, in the order of their keys. A page token has the key of the last entry of its page."""
    size, token = page_size(request.query, _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE), request.query.get("pageToken")
    about = (listed.log, selecting_parameters(request.query, request.operation))
    after, last = decode_page_token(token, about, 2, context.secret) if token else ([], listed.last)
    rest = sorted((entry for entry in entries if entry[0] > tuple(after)), key=lambda entry: entry[0])
    page: dict[str, Any] = {
        "kind": kind,
        "etag": f'"{last:017d}"',
        "items": [resource for _, resource in rest[:size]],
    }
    if len(rest) > size:
        page["nextPageToken"] = encode_page_token((rest[size - 1][0], last), about, context.secret)
    elif "minAccessRole" not in request.query:
        page["nextSyncToken"] = encode_page_token((last,), ("sync", listed.log), context.secret)
    return resource_response(request, page, {**_PAGE, "items": shape})
