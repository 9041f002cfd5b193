"""Opens, lists, stops and renews notification channels (A8 to A10)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from ...core.http.redaction import mask_token, redact_url
from ..arguments import file_ids, is_frame, optional_text
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.frames import Record, frame
from ..frames.schemas import CHANNELS, STOPPED
from .channel_request import channel_token, expiration_time, receiver_for
from .open_receiver import receivers_of
from .receiver import Receiver

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from ...client.notifications.channels import Channel
    from ...client.session import Session
    from ..arguments import File

    Duration: TypeAlias = str | float | timedelta
    Instant: TypeAlias = datetime | str | int
    ChannelLike: TypeAlias = str | dict[str, Any] | Series[Any] | DataFrame | list[str]

_TOKEN_BYTES = 16


def watch_file(
    file: File,
    receiver: Receiver | str | None = None,
    *,
    channel_id: str | None = None,
    token: str | None = None,
    expires_in: Duration | None = None,
    expiration: Instant | None = None,
    channel_type: str | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Open a notification channel on a file, or on each of several.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        receiver: A `receiver()` that gets the messages, or the https address of one elsewhere, whose domain is
            registered. None means the last receiver that was created.
        channel_id: An id of at most 64 characters that was never used before. None generates a UUID.
        token: A text of at most 256 characters that every message carries. It must not be a credential. None generates
            one for a receiver of this kernel, which verifies it, and none for others. "" sends none.
        expires_in: The life of the channel in seconds, or as "2h". The service may shorten it (to a day, by default).
            None leaves it to the service (an hour, by default).
        expiration: The end of the channel instead of `expires_in`, as a datetime with its zone, a text like
            "2026-11-02 10:00+01:00", or Unix time in milliseconds, which is sent as the number or the text that it is.
        channel_type: The type of the channel. None means "web_hook", the only one of the interface.

    Returns:
        One row for each file: id (str, of the channel), watching (str, the file's id), state (str), opened,
        expiration (datetime64[ms, UTC], missing if it does not expire), resource_id, resource_uri, address (str),
        token (str: its first characters and its length, missing if there is none), kind (str).

    Raises:
        TypeError, ValueError: An argument is not valid, or the token begins with "Bearer " or is the session's own.
            Nothing was sent.
        BadRequest: The service refuses a property. The message has every problem.
        NotAllowed: The domain of the address is not registered.
        NotFound: There is no such file, or not for this user.

    See docs/rules.md#a8-watch-a-file (A8).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> file = svc.upload(b"draft", name="draft.txt")
    >>> channel = svc.watch_file(file, rx)
    >>> changed = svc.update(file, name="final.txt")
    >>> rx.wait_for("update")["changed"].tolist()
    ['properties']
    """
    session = session_or_current(session)
    ids = file_ids(file)
    if channel_id is not None and len(ids) != 1:
        raise ValueError(f"channel_id is for one file, but file has {len(ids)}; leave channel_id out")
    arguments = _watch_arguments(session, receiver, channel_id, token, expires_in, expiration, channel_type)
    return apply_to_rows(
        CHANNELS, ids, lambda file_id: channel_record(_open_channel(session, file_id, **arguments), session)
    )


def watch_changes(
    receiver: Receiver | str | None = None,
    *,
    channel_id: str | None = None,
    token: str | None = None,
    expires_in: Duration | None = None,
    expiration: Instant | None = None,
    channel_type: str | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Open a notification channel on the change log, which sends a message whenever any of this user's files changes.

    `changes()` returns what has changed. The arguments and the columns are those of `watch_file`, with "changes" in the
    column watching. The channel lives for a week at most, by default.

    See docs/rules.md#a9-watch-the-change-log (A9).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx)
    >>> file = svc.upload(b"new")
    >>> rx.wait_for("change")["kind"].tolist()
    ['svc#changes']
    """
    from ...client.notifications.channels import registry_of, start_page_token

    session = session_or_current(session)
    registry = registry_of(session)
    arguments = _watch_arguments(session, receiver, channel_id, token, expires_in, expiration, channel_type)
    registry.page_token = registry.page_token or start_page_token(session)
    return frame(CHANNELS, [channel_record(_open_channel(session, None, **arguments), session)])


def _watch_arguments(
    session: Session,
    receiver: object,
    channel_id: object,
    token: object,
    expires_in: Any,
    expiration: object,
    channel_type: object = None,
) -> dict[str, Any]:
    """Check the arguments of a watch call. Returns those of `_open_channel`."""
    return {
        "receiver": receiver_for(session, receiver),
        "channel_id": optional_text("channel_id", channel_id),
        "token": channel_token(session, token),
        "expiration": expiration_time(session, expires_in, expiration),
        "channel_type": optional_text("channel_type", channel_type),
    }


def _open_channel(
    session: Session, file_id: str | None, *, receiver: Receiver | str, token: str | None, **arguments: Any
) -> Channel:
    from ...client.notifications.channels import watch

    if isinstance(receiver, str):
        return watch(session, file_id, receiver, token=token or None, **arguments)
    if token is None:
        token = f"{session.random.getrandbits(8 * _TOKEN_BYTES):032x}"
    return watch(session, file_id, receiver.address, token=token or None, expect=receiver.expect, **arguments)


def channel_record(channel: Channel, session: Session) -> Record:
    """Return a channel as a row of `CHANNELS`."""
    return {
        "id": channel.id,
        "watching": channel.file or "changes",
        "state": channel.state(session.clock.now()),
        "opened": channel.opened,
        "expiration": channel.expiration,
        "resource_id": channel.resource_id,
        "resource_uri": channel.resource_uri,
        "address": redact_url(channel.address),
        "token": None if channel.token is None else mask_token(channel.token),
        "kind": channel.kind,
    }


def channels(*, session: Session | None = None) -> DataFrame:
    """List the channels that this session has opened, oldest first. The service has no such list.

    Returns:
        One row each, with the columns of `watch_file`. state is active, expired or stopped.

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx, expires_in="10m")
    >>> later = lab.clock.advance("1h")
    >>> svc.channels()[["watching", "state"]].values.tolist()
    [['changes', 'expired']]
    """
    from ...client.notifications.channels import registry_of

    session = session_or_current(session)
    return frame(CHANNELS, [channel_record(channel, session) for channel in registry_of(session).channels.values()])


def stop_channel(channel: ChannelLike, *, session: Session | None = None) -> DataFrame:
    """Stop channels, and drop their queued messages.

    Args:
        channel: An id of this session's `channels()`, a row or frame of them, or a list of ids. For a channel of
            another session, a row with id and resource_id.

    Returns:
        One row each: id (str), stopped (boolean).

    Raises:
        ValueError: This session has not opened such a channel.
        NotFound: The channel is not active any more, or another user or client has opened it.

    See docs/rules.md#a10-stop-a-channel (A10).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> svc.stop_channel(svc.watch_changes(rx))["stopped"].tolist()
    [True]
    """
    from ...client.notifications.channels import stop

    session = session_or_current(session)

    def stop_row(pair: tuple[str, str]) -> dict[str, object]:
        stop(session, *pair)
        return {"id": pair[0], "stopped": True}

    return apply_to_rows(STOPPED, _channel_pairs(session, channel), stop_row)


def _channel_pairs(session: Session, channel: Any) -> list[tuple[str, str]]:
    """Return the id and the resource id of each channel. Raises ValueError if a resource id is not known."""
    from ...client.notifications.channels import registry_of

    ids, known = file_ids(channel, "channel"), registry_of(session).channels
    resource_ids: list[Any] = [None] * len(ids)
    if not isinstance(channel, str | list | tuple) and "resource_id" in channel:
        resource_ids = list(channel["resource_id"]) if is_frame(channel) else [channel["resource_id"]]
    pairs = []
    for channel_id, resource_id in zip(ids, resource_ids, strict=True):
        if not resource_id and channel_id not in known:
            advice = "give a row with id and resource_id"
            raise ValueError(f"channel {channel_id!r} was not opened by this session: {advice}")
        pairs.append((channel_id, resource_id or known[channel_id].resource_id))
    return pairs


def renew_channel(
    channel: ChannelLike,
    *,
    expires_in: Duration | None = None,
    expiration: Instant | None = None,
    keep_old: bool = False,
    session: Session | None = None,
) -> DataFrame:
    """Replace a channel by a new one before it expires, because no channel renews itself.

    The new channel watches the same resource and sends to the same address. For a receiver of this kernel it has a new
    token, and the old channel is stopped when the new one's sync message has arrived. For others it is stopped at once.

    Args:
        channel: One or more of this session's channels, as for `stop_channel`.
        expires_in, expiration: As for `watch_file`.
        keep_old: Do not stop the old channel, so that every message comes twice.

    Returns:
        One row for each new channel, with the columns of `watch_file`.

    See docs/rules.md#a8-watch-a-file (A8 to A10).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> old = svc.watch_changes(rx)
    >>> new = svc.renew_channel(old, expires_in="2h")
    >>> svc.channels()["state"].tolist()
    ['stopped', 'active']
    """
    from ...client.notifications.channels import registry_of

    session = session_or_current(session)
    ids, known = file_ids(channel, "channel"), registry_of(session).channels
    if unknown := [channel_id for channel_id in ids if channel_id not in known]:
        raise ValueError(f"channel {unknown[0]!r} was not opened by this session, so it cannot be renewed")
    return apply_to_rows(
        CHANNELS, ids, lambda channel_id: _renew(session, known[channel_id], expires_in, expiration, keep_old)
    )


def _renew(session: Session, old: Channel, expires_in: Any, expiration: Any, keep_old: bool) -> Record:
    from ...client.notifications.channels import stop

    own_receiver = next((receiver for receiver in receivers_of(session) if receiver.address == old.address), None)
    arguments = _watch_arguments(
        session, own_receiver or old.address, None, None if own_receiver else old.token, expires_in, expiration
    )
    new = _open_channel(session, old.file, **arguments)
    if own_receiver:
        own_receiver.wait_for("sync", channel=new.id)
    if not keep_old and old.state(session.clock.now()) == "active":
        stop(session, old.id, old.resource_id)
    return channel_record(new, session)
