"""Watch and stop: channels open here, and the first message of each is queued (A8 to A10)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode

from ...core import field_mask
from ...core.errors.catalogue import ApiError, Row, refuse, row
from ...core.http.messages import JSON, JSONObject, Response, join_url, segment
from ...core.notifications.channels import (
    CHANNEL_SHAPE,
    MAX_ID_LENGTH,
    ChannelEvent,
    ChannelRequest,
    ChannelState,
    actual_expiration,
    check_channel,
    next_state,
    transitions_of,
)
from ...core.notifications.messages import FIRST_NUMBER
from ..context.access_tokens import Caller
from ..context.external_origin import external_origin
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.change_list import check_start
from ..files.change_log import change_log_of
from ..files.operations import parse_fields_param, read_json, select_fields
from ..files.rows import readable_file
from ..tables.channels import ChannelRow
from .domains import is_registered

_KIND = "api#channel"


def watch_file(context: ServiceContext, request: RequestContext) -> Response:
    """Open a channel on a file that the caller has access to (A8-08)."""
    row = readable_file(context, request.caller, request.file_id)
    uri = _uri(context, request, "files", segment(row.id))
    return _open(context, request, row.id, uri, context.policy.max_file_channel_lifetime, of_changes=False)


def watch_changes(context: ServiceContext, request: RequestContext) -> Response:
    """Open a channel on the caller's change log (A9)."""
    check_start(context, request, required=context.policy.strict_page_token)
    uri = _uri(context, request, "changes")
    log = change_log_of(request.caller.user)
    return _open(context, request, log, uri, context.policy.max_changes_channel_lifetime, of_changes=True)


def _uri(context: ServiceContext, request: RequestContext, *segments: str) -> str:
    return join_url(external_origin(request.http_request, context), context.names.path(*segments)) + "?alt=json"


def _open(
    context: ServiceContext, request: RequestContext, watched: str, uri: str, most: float, *, of_changes: bool
) -> Response:
    mask = parse_fields_param(request.query, {field_mask.STAR: {}}, CHANNEL_SHAPE)
    policy, now = context.policy, context.millis()
    channel = check_channel(read_json(request.body, policy.max_metadata_size), now=now, types=policy.channel_types)
    if not is_registered(context.store, policy, channel.address):
        raise refuse("webhookUnauthorized", address=channel.address[:200])
    row = ChannelRow(
        id=channel.id,
        watched=watched,
        resource_id=_resource_id(context, watched),
        resource_uri=uri,
        of_changes=int(of_changes),
        user=request.caller.user,
        client=request.caller.client,
        service_account=int(request.caller.service_account),
        address=channel.address,
        token=channel.token,
        expiration=actual_expiration(channel.expiration, now=now, default=policy.channel_lifetime, limit=most),
        state=next_state(ChannelState.NONE, ChannelEvent.WATCH).value,
        number=FIRST_NUMBER,
    )
    _add(context, row, now)
    return json_response(request.query, select_fields(mask, _resource(context, row, channel)))


def _resource_id(context: ServiceContext, watched: str) -> str:
    """Opaque, and the same for every channel on one resource (A8-09)."""
    return urlsafe_b64encode(hmac.digest(context.secret.encode(), watched.encode(), "sha256")[:20]).decode().rstrip("=")


def _add(context: ServiceContext, row: ChannelRow, now: int) -> None:
    """The channel and its sync message, or neither (N-01)."""
    with context.store.transaction():
        if context.store.channels.get(row.id):
            raise refuse("channelIdNotUnique", id=row.id)
        channel = context.store.channels.add(row)
        context.store.channels.enqueue_for_channel(channel, "sync", "", step=0, now=now)


def _resource(context: ServiceContext, row: ChannelRow, channel: ChannelRequest) -> JSONObject:
    expiration = str(row.expiration) if context.policy.int64_as_string else row.expiration
    resource: JSONObject = {"kind": _KIND, "id": row.id, "resourceId": row.resource_id, "resourceUri": row.resource_uri}
    if row.token is not None:
        resource["token"] = row.token
    if row.expiration is not None:
        resource["expiration"] = expiration
    return resource | channel.extra


def stop(context: ServiceContext, request: RequestContext) -> Response:
    """Stop a channel: nothing more is sent, and what waits is taken back (A10)."""
    body = read_json(request.body, context.policy.max_metadata_size)
    channel_id, resource_id = _stop_pair(body)
    with context.store.transaction():
        row = context.store.channels.get(channel_id)
        if row is None or not _is_open(context, row, resource_id):
            raise refuse("channelNotFound", id=channel_id[:MAX_ID_LENGTH])
        if not _may_stop(request.caller, row):
            raise refuse("channelNotFound", decided_by="A10-02", id=channel_id[:MAX_ID_LENGTH])
        context.store.channels.set_state(row.seq, next_state(ChannelState(row.state), ChannelEvent.STOP).value)
    return empty_response(204)


def _stop_pair(body: JSONObject) -> tuple[str, str]:
    """The two texts that a stop request needs. Raises ApiError with everything that is wrong."""
    problems = [row for name in ("id", "resourceId") if (row := _problem(name, body.get(name)))]
    if problems:
        raise ApiError(problems)
    return str(body["id"]), str(body["resourceId"])


def _problem(name: str, value: JSON) -> Row | None:
    if value in (None, ""):
        return row("required", field=name)
    return None if isinstance(value, str) else row("invalid", field=name, message="expected a text.")


def _is_open(context: ServiceContext, row: ChannelRow, resource_id: str) -> bool:
    """Whether a channel is one that can be stopped, and this is what it watches."""
    active = ChannelState(row.state) in transitions_of(ChannelEvent.STOP) and (
        row.expiration is None or row.expiration > context.millis()
    )
    return active and hmac.compare_digest(row.resource_id.encode(), resource_id.encode("utf-8", "replace"))


def _may_stop(caller: Caller, row: ChannelRow) -> bool:
    """Its own user, from the same OAuth client; one of a service account any user of that client (A10-02)."""
    return row.client == caller.client and bool(row.service_account or row.user == caller.user)
