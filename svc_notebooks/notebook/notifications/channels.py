"""Opens, lists, stops and renews notification channels (A8 to A10), and draws the deliveries of their messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from ...client.notifications.channels import Channel, registry_of, start_page_token, stop, watch
from ...client.session import Session, SessionLike, session_or_current
from ...core.http.redaction import mask_token, redact_url
from ...core.time_arguments import Duration, parse_duration, python_time, without_words
from ...core.times import to_millis
from ..arguments import File, files_at, is_frame, optional_text, row_ids
from ..batch.batch import apply_to_rows
from ..display import Markup, count_text, join_html, tag
from ..exchanges.charts import INK, LEFT, PICTURE, RIGHT, SENT, Picture, bars, swatch, table_picture
from ..frames import CHANNELS, STOPPED, Record, frame
from ..sandbox.sandbox import sandbox_of
from .receiver import DELIVERY_SECONDS, Receiver, receivers_of

_BEARER = re.compile(r"\s*bearer\s", re.IGNORECASE)
_MILLISECONDS = re.compile(r"-?[0-9]+")
_REFUSED = (
    "token {reason}, and every message would send the credential to the receiver. Give a str that is not a credential,"
    " or leave token out: for a receiver() of this kernel a random token is generated"
)


def receiver_for(session: Session, to: object) -> Receiver | str:
    """Return `to`, or the session's latest receiver for None. Raises TypeError, or ValueError without a receiver."""
    if to is None and not (receivers := receivers_of(session)):
        raise ValueError("there is no receiver yet; call receiver() first, or give an https address")
    receiver = receivers[-1] if to is None else to
    if not isinstance(receiver, Receiver | str):
        raise TypeError(f"receiver must be a Receiver, an https address or None, not {type(to).__name__}")
    return receiver


def channel_token(session: Session, token: object) -> str | None:
    """Return the channel token unchanged. Raises ValueError if the token looks like a credential."""
    text = optional_text("token", token)
    if text and _BEARER.match(text):
        raise ValueError(_REFUSED.format(reason="begins with 'Bearer ', as a credential does"))
    if text and session.is_own_token(text.strip()):
        raise ValueError(_REFUSED.format(reason="is the access token of this session"))
    return text


def expiration_time(session: Session, expires_in: Any, expiration: object) -> int | str | None:
    """Return the expiration time of a channel as Unix time in milliseconds, or None if both arguments are None.

    A number keeps its type, int or str. Raises TypeError or ValueError if an argument is not valid or both are given.
    """
    if expiration is None:
        return None if expires_in is None else to_millis(session.clock.now() + parse_duration(expires_in, "expires_in"))
    if expires_in is not None:
        raise ValueError("expires_in and expiration both set when the channel ends; give only one of them")
    if isinstance(expiration, int) and not isinstance(expiration, bool):
        return expiration
    if isinstance(expiration, str) and _MILLISECONDS.fullmatch(expiration):
        return expiration
    moment = python_time("expiration", without_words(expiration, session.clock.now()))
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError(f"expiration is {expiration!r}; give a time with its zone, like 2026-11-02 10:00+01:00")
    return to_millis(moment)


if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas import DataFrame, Series

    Instant: TypeAlias = datetime | str | int
    ChannelLike: TypeAlias = str | dict[str, Any] | Series[Any] | DataFrame | Sequence[Any]
    from ...server.notifications.delivery_queue import DeliveryRow


def watch_file(
    file: File,
    receiver: Receiver | str | None = None,
    *,
    channel_id: str | None = None,
    token: str | None = None,
    expires_in: Duration | None = None,
    expiration: Instant | None = None,
    channel_type: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """Open a notification channel on each file. The service then sends a message whenever the file changes.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        receiver: A `receiver()` that gets the messages, or the https address of another receiver, whose domain must
            be registered with the service. None means the latest receiver of the session.
        channel_id: A new channel id of at most 64 characters. None generates a UUID.
        token: A text of at most 256 characters that the service adds to every message. It must not be a credential.
            For a `receiver()` of this kernel, None generates a token, and the receiver verifies it. For an address,
            None sends no token. "" never sends a token.
        expires_in: The lifetime of the channel in seconds, or a text like "2h". The service may shorten the lifetime
            (to a day by default). None lets the service choose (an hour by default).
        expiration: The time at which the channel expires, instead of `expires_in`. Give a datetime with a time zone,
            a text like "2026-11-02 10:00+01:00", or Unix time in milliseconds as an int or a str.
        channel_type: The type of the channel. None means "web_hook", the only type that the interface defines.

    Returns:
        One row for each file: id (str, of the channel), watching (str, the file id), state (str: active, expired or
        stopped), opened, expiration (datetime64[ms, UTC]; expiration is missing if the channel never expires),
        resource_id, resource_uri, address (str), token (str: the first characters and the length of the token,
        missing if the channel has no token), kind (str, of the channel resource).

    Raises:
        TypeError, ValueError: An argument is not valid, or the token begins with "Bearer " or is the session's access
            token. Nothing was sent.
        BadRequest: The service refuses one or more properties. The message lists every problem.
        NotAllowed: The domain of the address is not registered.
        NotFound: The file does not exist, or this user may not see it.

    See tests/rules.csv (A8).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> file = svc.upload(b"draft", name="draft.txt")
    >>> channel = svc.watch_file(file, rx)
    >>> changed = svc.update(file, name="final.txt")
    >>> rx.wait_for("update")["changed"].tolist()
    ['properties']
    """
    session = session_or_current(session)
    ids = files_at(session, file)
    if channel_id is not None and len(ids) != 1:
        raise ValueError(f"channel_id is for one file, but file has {len(ids)}; leave channel_id out")
    open_channel = _watcher(session, receiver, channel_id, token, (expires_in, expiration), channel_type)
    return apply_to_rows(CHANNELS, ids, lambda file_id: channel_record(open_channel(file_id), session), session)


def watch_changes(
    receiver: Receiver | str | None = None,
    *,
    channel_id: str | None = None,
    token: str | None = None,
    expires_in: Duration | None = None,
    expiration: Instant | None = None,
    channel_type: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """Open a notification channel on the change log, which sends a message whenever any of this user's files changes.

    `changes()` lists the changed files, `changes(channel)` those since the channel was opened. The arguments and the
    columns of the result are the same as for `watch_file`, except that the column watching contains "changes". By
    default the channel lives at most a week.

    See tests/rules.csv (A9).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx)
    >>> file = svc.upload(b"new")
    >>> rx.wait_for("change")["kind"].tolist()
    ['svc#changes']
    """

    session = session_or_current(session)
    registry = registry_of(session)
    open_channel = _watcher(session, receiver, channel_id, token, (expires_in, expiration), channel_type)
    before = registry.page_token
    registry.page_token = before or start_page_token(session)  # before the channel, whose messages may come at once
    try:
        channel = open_channel(None)
    except BaseException:
        registry.page_token = before
        raise
    opened = frame(CHANNELS, [channel_record(channel, session)])
    opened.attrs["page_token"] = registry.page_token
    return opened


def _watcher(
    session: Session, receiver: object, channel_id: object, token: object, end: Any, channel_type: object = None
) -> Callable[[str | None], Channel]:
    """Check the arguments of a watch call. Return a function that opens a channel on a file, or on the change log."""
    target, text = receiver_for(session, receiver), channel_token(session, token)
    body: Any = {
        "id": optional_text("channel_id", channel_id),
        "expiration": expiration_time(session, *end),
        "type": optional_text("channel_type", channel_type),
        "address": target if isinstance(target, str) else target.address,
    }
    body = {name: value for name, value in body.items() if value is not None}

    def open_channel(file_id: str | None) -> Channel:
        expect, chosen = None if isinstance(target, str) else target.expect, text
        if expect and text is None:
            chosen = f"{session.random.getrandbits(128):032x}"
        return watch(session, file_id, body | {"token": chosen} if chosen else body, expect)

    return open_channel


def channel_record(channel: Channel, session: Session) -> Record:
    """Convert a channel to a dict with the columns of the `CHANNELS` frame. The token is masked."""
    names = ("id", "opened", "expiration", "resource_id", "resource_uri", "kind")
    return {
        **{name: getattr(channel, name) for name in names},
        "watching": channel.file or "changes",
        "state": channel.state(session.clock.now()),
        "address": redact_url(channel.address),
        "token": None if channel.token is None else mask_token(channel.token),
    }


def channels(*, session: SessionLike = None) -> DataFrame:
    """List the notification channels that this session has opened, oldest first.

    The session keeps this list, because the service cannot list channels.

    Returns:
        One row for each channel, with the columns of `watch_file`. The column state is active, expired or stopped.

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx, expires_in="10m")
    >>> later = lab.clock.advance("1h")
    >>> svc.channels()[["watching", "state"]].values.tolist()
    [['changes', 'expired']]
    """

    session = session_or_current(session)
    return frame(CHANNELS, [channel_record(channel, session) for channel in registry_of(session).channels.values()])


def stop_channel(channel: ChannelLike, *, session: SessionLike = None) -> DataFrame:
    """Stop notification channels. The service does not deliver their queued messages.

    In a sandbox, first wait until the messages that are due have been delivered, for at most a second.

    Args:
        channel: The id of a channel of this session, a list of ids, or a row or a DataFrame of `channels()`. For a
            channel of another session, give a row with id and resource_id. Of rows and lists, the channels of this
            session that are stopped or expired are left as they are.

    Returns:
        One row for each channel: id (str), stopped (boolean, always True), outcome (str: done or unchanged).

    Raises:
        ValueError: This session did not open the channel, and no resource_id is given.
        NotFound: The channel with this id is not active any more, or another user or client opened it.

    See tests/rules.csv (A10).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> svc.stop_channel(svc.watch_changes(rx))["stopped"].tolist()
    [True]
    """

    session = session_or_current(session)

    if lab := sandbox_of(session):
        lab.service.deliver(DELIVERY_SECONDS)
    known = registry_of(session).channels

    def stop_row(pair: tuple[str, str]) -> dict[str, object]:
        own = None if isinstance(channel, str) else known.get(pair[0])
        is_active = own is None or own.state(session.clock.now()) == "active"
        if is_active:
            stop(session, *pair)
        return {"id": pair[0], "stopped": True, "outcome": "done" if is_active else "unchanged"}

    return apply_to_rows(STOPPED, _channel_pairs(session, channel), stop_row, session)


def _channel_pairs(session: Session, channel: Any) -> list[tuple[str, str]]:
    """Return pairs of channel id and resource id. Raises ValueError for an unknown channel without a resource id."""

    if isinstance(channel, list | tuple):
        return [pair for row in channel for pair in _channel_pairs(session, row)]
    ids, known = row_ids(channel, "channel"), registry_of(session).channels
    resource_ids: list[Any] = [None] * len(ids)
    if not isinstance(channel, str) and "resource_id" in channel:
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
    session: SessionLike = None,
) -> DataFrame:
    """Replace each channel with a new channel that expires later. The service does not extend a channel.

    The new channel watches the same resource and sends to the same address. If the address is a receiver of this
    kernel, the new channel gets a new token, and the old channel is stopped after the sync message of the new channel
    has arrived. For another address, the token stays the same and the old channel is stopped at once.

    Args:
        channel: The id of a channel of this session, a list of ids, or a row or a DataFrame of `channels()`.
        expires_in, expiration: The end of the new channel, as for `watch_file`.
        keep_old: True does not stop the old channel. Every message is then delivered twice.

    Returns:
        One row for each new channel, with the columns of `watch_file`.

    Raises:
        ValueError: This session did not open the channel.
        TimeoutError: The sync message of the new channel did not arrive at the receiver of this kernel.

    See tests/rules.csv (A8 to A10).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> old = svc.watch_changes(rx)
    >>> new = svc.renew_channel(old, expires_in="2h")
    >>> svc.channels()["state"].tolist()
    ['stopped', 'active']
    """

    session = session_or_current(session)
    ids, known = row_ids(channel, "channel"), registry_of(session).channels
    if unknown := [channel_id for channel_id in ids if channel_id not in known]:
        raise ValueError(f"channel {unknown[0]!r} was not opened by this session, so it cannot be renewed")

    def renew(channel_id: str) -> Record:
        old = known[channel_id]
        own_receiver = next((receiver for receiver in receivers_of(session) if receiver.address == old.address), None)
        token = None if own_receiver else old.token
        new = _watcher(session, own_receiver or old.address, None, token, (expires_in, expiration))(old.file)
        if own_receiver:
            own_receiver.wait_for("sync", channel=new.id)
        if not keep_old and old.state(session.clock.now()) == "active":
            stop(session, old.id, old.resource_id)
        return channel_record(new, session)

    return apply_to_rows(CHANNELS, ids, renew, session)


# -- a chart of the attempts to deliver each notification message over time (N-08)


WIDTH, HEIGHT, _EDGE = 320, 20, 8
_COLUMNS = {"message": LEFT, "first attempt": LEFT, "attempts": PICTURE, "responses": LEFT, "waited": RIGHT}
_OUTCOME_LABELS = {"delivered": "delivered", "retry": "tried again", "failed": "failed", "cancelled": "given up"}


def delivery_timeline(channel: ChannelLike | None = None, *, session: SessionLike = None) -> Picture:
    """Draw a chart of the attempts to deliver each message, with a row for each message.

    The time axis of a row starts at the first attempt to deliver the message.

    Args:
        channel: The id of a channel, a list of ids, or a row or a DataFrame of `channels()`. None means all channels.

    Raises:
        ValueError: The session does not belong to a sandbox. Other services do not report their attempts.

    See tests/rules.csv (N-08).

    >>> lab = svc.sandbox(seed=1)
    >>> rx = svc.receiver(direct=True)
    >>> rx.answer_with(503, times=1)
    >>> channel = svc.watch_changes(rx)
    >>> later = lab.clock.advance("1m")
    >>> svc.delivery_timeline(channel)
    Deliveries: 1 message, 2 attempts
      message  first attempt  responses  waited
      1 sync   09:00:00       503, 200   1.0 s
    """
    lab = sandbox_of(session_or_current(session))
    if lab is None:
        raise ValueError("delivery_timeline() needs a sandbox, because other services do not report delivery attempts")
    channel_ids = None if channel is None else set(row_ids(channel, "channel"))
    deliveries = lab.service.deliveries()
    return timeline_of([row for row in deliveries if channel_ids is None or row["channel_id"] in channel_ids])


def timeline_of(deliveries: Iterable[DeliveryRow]) -> Picture:
    """Draw the delivery timeline for rows of `Service.deliveries`, each of which is one delivery attempt."""
    messages: dict[tuple[str, int], list[DeliveryRow]] = {}
    for row in deliveries:
        messages.setdefault((row["channel_id"], row["message_number"]), []).append(row)
    attempts = [row for group in messages.values() for row in group]
    title = f"Deliveries: {count_text(len(messages), 'message')}, {count_text(len(attempts), 'attempt')}"
    several = len({channel for channel, _ in messages}) > 1
    clock = "%H:%M:%S" if len({row["time"][:10] for row in attempts}) == 1 else "%d %b %H:%M:%S"
    times = [[datetime.fromisoformat(row["time"]) for row in group] for group in messages.values()]
    longest = max(((moments[-1] - moments[0]).total_seconds() for moments in times), default=0.0)
    scale = (WIDTH - 2 * _EDGE) / (longest or 1.0)
    line = tag("line", x1=_EDGE, y1=HEIGHT / 2, x2=WIDTH - _EDGE, y2=HEIGHT / 2, stroke=INK, stroke_opacity="0.3")
    rows = []
    for ((channel, number), group), moments in zip(messages.items(), times, strict=True):
        name = f"{number} {group[0]['state']}" + (f" on {channel[:8]}" if several else "")
        after = [(moment - moments[0]).total_seconds() for moment in moments]
        places = [round(_EDGE + time * scale, 1) for time in after]
        marks = [_mark(place, HEIGHT / 2, row["outcome"]) for place, row in zip(places, group, strict=True)]
        lane = bars(WIDTH, HEIGHT, line, *marks)
        waited = f"{after[-1]:.1f} s" if len(after) > 1 else ""
        rows.append([name, moments[0].strftime(clock), lane, _responses(group), waited])
    legend: list[object] = []
    for outcome, separator in (("delivered", ", "), ("retry", ", "), ("failed", "")):
        legend.append(join_html(swatch(_mark(8, 6, outcome)), _OUTCOME_LABELS[outcome], separator))
    legend.append(f"; the width of a row is {longest:.1f} seconds" if longest else "")
    return table_picture(title, _COLUMNS, rows, *legend)


def _responses(attempts: Sequence[DeliveryRow]) -> str:
    texts = [str(row["error"] or "none") if row["status"] is None else str(row["status"]) for row in attempts]
    last = attempts[-1]["outcome"]
    return ", ".join(texts) + ("" if last == "delivered" else f" ({_OUTCOME_LABELS.get(last, last)})")


def _mark(x: float, y: float, outcome: str) -> Markup:
    """Draw the symbol of an attempt, which is a disc for "delivered", a ring for "retry", and otherwise a cross."""
    if outcome == "delivered":
        return tag("circle", cx=x, cy=y, r=5, fill=SENT)
    if outcome == "retry":
        return tag("circle", cx=x, cy=y, r=4.5, fill="none", stroke=SENT, stroke_width=2)
    cross = f"M{x - 4},{y - 4} l8,8 m0,-8 l-8,8"
    return tag("path", d=cross, fill="none", stroke=INK, stroke_width=2)
