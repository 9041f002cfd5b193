"""Handles watch and stop requests, which open and stop notification channels (A8 to A10)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode

from ...core import field_mask
from ...core.errors.catalogue import ApiError, Row, refuse, row
from ...core.http.messages import Response, join_url, segment
from ...core.notifications.channels import (
    CHANNEL_SHAPE,
    MAX_ID_LENGTH,
    ChannelEvent,
    ChannelState,
    actual_expiration,
    check_channel,
    next_state,
    transitions_of,
)
from ...core.notifications.messages import FIRST_NUMBER
from ...core.resources.files import ChannelResource
from ..context.external_origin import external_base_url
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.change_list import check_start
from ..files.change_log import change_log_of
from ..files.operations import parse_fields_param, read_json, select_fields
from ..files.rows import file_for
from ..tables.channels import ChannelRow
from .class_receivers import receiver_owner
from .domains import is_registered


def watch_file(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches a file (A8-08). Raises ApiError (404) if the file is not visible."""
    row = file_for(context, request.caller, request.file_id)
    uri = resource_uri(context, request, context.names.path("files", segment(row.id)))
    return open_channel(context, request, row.id, uri, context.policy.max_file_channel_lifetime, of_changes=False)


def watch_changes(context: ServiceContext, request: RequestContext) -> Response:
    """Open a channel that watches the caller's change log and return the response with the channel (A9)."""
    check_start(context, request, required=context.policy.strict_page_token)
    uri = resource_uri(context, request, context.names.path("changes"))
    log = change_log_of(request.caller.user)
    return open_channel(context, request, log, uri, context.policy.max_changes_channel_lifetime, of_changes=True)


def resource_uri(context: ServiceContext, request: RequestContext, path: str) -> str:
    """Return the URI of the watched resource at a path of this service."""
    return join_url(external_base_url(request.http_request, context), path) + "?alt=json"


def open_channel(
    context: ServiceContext, request: RequestContext, watched: str, uri: str, limit: float, *, of_changes: bool
) -> Response:
    """Store a channel, queue its sync message and return the channel. `limit` is the maximum lifetime in seconds."""
    mask = parse_fields_param(request.query, {field_mask.STAR: {}}, CHANNEL_SHAPE)
    policy, now = context.policy, context.millis()
    channel = check_channel(read_json(request.body, policy.max_metadata_size), now=now, types=policy.channel_types)
    owner = receiver_owner(context.store, channel.address)
    if owner != request.caller.user and (owner or not is_registered(context.store, policy, channel.address)):
        raise refuse("webhookUnauthorized", address=channel.address[:200])
    digest = hmac.digest(context.secret.encode(), watched.encode(), "sha256")
    row = ChannelRow(
        id=channel.id,
        watched=watched,
        # Opaque, and the same for every channel on one resource (A8-09).
        resource_id=urlsafe_b64encode(digest[:20]).decode().rstrip("="),
        resource_uri=uri,
        of_changes=int(of_changes),
        user=request.caller.user,
        client=request.caller.client,
        service_account=int(request.caller.service_account),
        address=channel.address,
        token=channel.token,
        expiration=actual_expiration(channel.expiration, now=now, default=policy.channel_lifetime, limit=limit),
        state=next_state(ChannelState.NONE, ChannelEvent.WATCH).value,
        number=FIRST_NUMBER,
    )
    with context.store.transaction():  # the channel and its sync message, or neither (N-01)
        if context.store.channels.get(row.id):
            raise refuse("channelIdNotUnique", id=row.id)
        quota = context.quotas.get(row.user)
        if quota and context.store.channels.count_active(row.user, now) >= quota.channels:
            raise refuse("channelQuota", limit=quota.channels)
        context.store.channels.enqueue_for_channel(context.store.channels.add(row), "sync", "", step=0, now=now)
    resource: ChannelResource = {
        "kind": "api#channel",
        "id": row.id,
        "resourceId": row.resource_id,
        "resourceUri": row.resource_uri,
    }
    if row.token is not None:
        resource["token"] = row.token
    if row.expiration is not None:
        resource["expiration"] = str(row.expiration) if policy.int64_as_string else row.expiration
    return json_response(request.query, select_fields(mask, resource | channel.extra))


def stop(context: ServiceContext, request: RequestContext) -> Response:
    """Stop a channel and delete its messages (A10). Raises ApiError (404) if the caller cannot stop the channel."""
    body = read_json(request.body, context.policy.max_metadata_size)
    channel_id, resource_id = body.get("id"), body.get("resourceId")
    problems: list[Row] = []
    for name, value in (("id", channel_id), ("resourceId", resource_id)):
        if value in (None, ""):
            problems.append(row("required", field=name))
        elif not isinstance(value, str):
            problems.append(row("invalid", field=name, message="expected a string."))
    if problems or not isinstance(channel_id, str) or not isinstance(resource_id, str):
        raise ApiError(problems)
    with context.store.transaction():
        channel = context.store.channels.get(channel_id)
        if channel is None or not _is_stoppable(context, channel, resource_id):
            raise refuse("channelNotFound", id=channel_id[:MAX_ID_LENGTH])
        # Only the user and client that opened a channel may stop it. Any user of the client may stop a channel that a
        # service account opened (A10-02).
        own_user = channel.service_account or channel.user == request.caller.user
        if channel.client != request.caller.client or not own_user:
            raise refuse("channelNotFound", decided_by="A10-02", id=channel_id[:MAX_ID_LENGTH])
        context.store.channels.set_state(channel.seq, next_state(ChannelState(channel.state), ChannelEvent.STOP).value)
    return empty_response(204)


def _is_stoppable(context: ServiceContext, channel: ChannelRow, resource_id: str) -> bool:
    active = ChannelState(channel.state) in transitions_of(ChannelEvent.STOP) and (
        channel.expiration is None or channel.expiration > context.millis()
    )
    return active and hmac.compare_digest(channel.resource_id.encode(), resource_id.encode("utf-8", "replace"))
