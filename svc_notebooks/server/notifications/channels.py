"""Opens and stops notification channels (A8 to A10), and registers the domains and receivers of messages."""

from __future__ import annotations

import hmac
import json
import re
from base64 import urlsafe_b64encode
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

from ...core import field_mask
from ...core.errors.catalogue import ApiError, Row, refuse, row as error_row
from ...core.http.messages import Response, join_url
from ...core.notifications import channels
from ...core.notifications.deliveries import FIRST_NUMBER
from ...core.policy import Policy
from ...core.resources.files import ChannelResource
from ..dispatch.requests_and_responses import (
    empty_response,
    json_response,
    parse_fields_param,
    read_json,
    select_fields,
)
from ..dispatch.service_context import RequestContext, ServiceContext, external_base_url
from ..store.store import Store
from .tables import ChannelRow

_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"


class Endpoint(NamedTuple):
    """The address of a receiver. `authority` and `path` have the form that an HTTP request needs."""

    host: str
    port: int
    authority: str
    path: str

    def __str__(self) -> str:
        return f"{_add_brackets(self.host)}:{self.port}"


@lru_cache(maxsize=1024)
def parse_endpoint(address: str) -> Endpoint:
    """Parse the URL of a receiver. Raises ValueError if the URL is not https or has no host.

    >>> parse_endpoint("https://[::1]:8443/in?x=ü")
    Endpoint(host='::1', port=8443, authority='[::1]:8443', path='/in?x=%C3%BC')
    """
    parts = urlsplit(address)
    if parts.scheme != "https":
        raise ValueError("messages are sent over https only")
    host, port = channels.host_of(address), parts.port or 443
    host.encode("idna")  # raises UnicodeError, a ValueError, for an invalid host name
    if not host:
        raise ValueError("the address has no host")
    path = quote(parts.path or "/", safe=_SAFE_CHARACTERS) + (
        f"?{quote(parts.query, safe=_SAFE_CHARACTERS + '?')}" if parts.query else ""
    )
    return Endpoint(host, port, _add_brackets(host) + ("" if port == 443 else f":{port}"), path)


def _add_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host


_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
# A host name in ASCII and lower case (RFC 1123, 2.1). Underscores are allowed, because real host names have them.
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*", re.ASCII)


def register(store: Store, domain: str) -> str:
    """Register a host name or an IP address and return its normalized form. Raises ValueError for any other text."""
    text = domain.strip().removeprefix("[").removesuffix("]")
    try:
        host = channels.plain_host(text)
        if not _HOST_NAME.fullmatch(host):
            host = str(ip_address(host))
    except ValueError:
        expected = "expected a host name or IP address alone, such as hooks.example.com, without scheme, port or path"
        raise ValueError(f"{domain[:80]!r} is not a domain: {expected}") from None
    with store.transaction():
        store.trusted.add_domain(host)
    return host


def list_domains(store: Store, policy: Policy) -> list[str]:
    """Return the registered domains. The domains of the policy come first, the others follow in alphabetical order."""
    return list(dict.fromkeys([*policy.verified_domains, *store.trusted.all_domains()]))


def is_registered(store: Store, policy: Policy, address: str) -> bool:
    """Return True if the host of an address is registered. A subdomain of a registered domain is not registered."""
    host = channels.host_of(address)
    return "*" in policy.verified_domains or host in policy.verified_domains or store.trusted.has_domain(host)


_RECEIVERS = "class receivers"
_MOST_OF_A_USER = 20


def register_receiver(store: Store, user: str, address: str, ca_pem: str | None) -> Endpoint:
    """Register the host and port of an address for a user. The oldest of more than 20 receivers is removed.

    Raises ValueError for an invalid address, and ApiError (409) for a receiver of another user.
    """
    endpoint = parse_endpoint(address)
    with store.transaction():
        known = registered_receivers(store)
        before = known.pop(str(endpoint), None)
        if before and before["user"] != user:
            raise refuse("receiverOfAnother", address=str(endpoint))
        own = [key for key, receiver in known.items() if receiver["user"] == user]
        for key in own[: max(0, len(own) + 1 - _MOST_OF_A_USER)]:
            del known[key]
        known[str(endpoint)] = {"user": user, "ca_pem": ca_pem}
        store.users.set_named_value(_RECEIVERS, json.dumps(known))
    return endpoint


def registered_receivers(store: Store) -> dict[str, dict[str, Any]]:
    """Return the registered receivers by host and port, such as "localhost:8443", in the order of registration.

    A receiver has the `user` whose channels may name it, and `ca_pem`, the certificate authority of its deliveries.
    """
    return cast(dict[str, dict[str, Any]], json.loads(store.users.named_value(_RECEIVERS) or "{}"))


def receiver_owner(store: Store, address: str) -> str | None:
    """Return the user of the registered receiver at an address, or None if no user has registered it."""
    receivers = registered_receivers(store)
    try:
        receiver = receivers.get(str(parse_endpoint(address))) if receivers else None
    except ValueError:  # a host name that is not valid
        return None
    return receiver["user"] if receiver else None


def open_channel(
    context: ServiceContext, request: RequestContext, watched: str, path: str, *, of_changes: bool = False
) -> Response:
    """Store a channel on the resource at a path of this service, queue its sync message and return the channel.

    `watched` is the name of the resource in the store. `of_changes` is true for the change log.
    """
    uri = join_url(external_base_url(request.http_request, context), path) + "?alt=json"
    mask = parse_fields_param(request.query, {field_mask.STAR: {}}, channels.CHANNEL_SHAPE)
    policy, now = context.policy, context.millis()
    limit = policy.max_changes_channel_lifetime if of_changes else policy.max_file_channel_lifetime
    channel = channels.check_channel(
        read_json(request.body, policy.max_metadata_size), now=now, types=policy.channel_types
    )
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
        expiration=channels.actual_expiration(
            channel.expiration, now=now, default=policy.channel_lifetime, limit=limit
        ),
        state=channels.ChannelState.ACTIVE.value,
        number=FIRST_NUMBER,
    )
    with context.store.transaction():  # the channel and its sync message, or neither (N-01)
        if context.store.channels.get(row.id):
            raise refuse("channelIdNotUnique", id=row.id)
        quota = context.quotas.get(row.user)
        if quota and context.store.channels.count_active(row.user, now) >= quota.channels:
            raise refuse("channelQuota", limit=quota.channels)
        context.store.channels.enqueue_for_channel(context.store.channels.add(row), "sync", step=0, now=now)
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
            problems.append(error_row("required", field=name))
        elif not isinstance(value, str):
            problems.append(error_row("invalid", field=name, message="expected a string."))
    if problems or not isinstance(channel_id, str) or not isinstance(resource_id, str):
        raise ApiError(problems)
    with context.store.transaction():
        channel = context.store.channels.get(channel_id)
        if (
            channel is None
            or channel.state == channels.ChannelState.STOPPED.value
            or (channel.expiration is not None and channel.expiration <= context.millis())
            or not hmac.compare_digest(channel.resource_id.encode(), resource_id.encode("utf-8", "replace"))
        ):
            raise refuse("channelNotFound", id=channel_id[: channels.MAX_ID_LENGTH])
        # Only the user and client that opened a channel may stop it. Any user of the client may stop a channel that a
        # service account opened (A10-02).
        own_user = channel.service_account or channel.user == request.caller.user
        if channel.client != request.caller.client or not own_user:
            raise refuse("channelNotFound", decided_by="A10-02", id=channel_id[: channels.MAX_ID_LENGTH])
        context.store.channels.set_state(channel.seq, channels.ChannelState.STOPPED)
    return empty_response(204)
