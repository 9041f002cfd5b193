"""Draws a chart of the attempts to deliver each notification message over time (N-08)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from ..arguments import row_ids
from ..current_session import SessionLike, session_or_current
from ..exchanges.charts import INK, SENT, Picture, TableColumn, bars, chart, swatch, text_table
from ..html import Markup, join_html, tag
from ..sandbox.sandbox import sandbox_of

if TYPE_CHECKING:
    from ...server.notifications.delivery_queue import DeliveryRow
    from .channels import ChannelLike

WIDTH, HEIGHT, _EDGE = 320, 20, 8
_COLUMNS = (
    TableColumn("message"),
    TableColumn("first attempt"),
    TableColumn("attempts"),
    TableColumn("responses"),
    TableColumn("waited", True),
)
_OUTCOME_LABELS = {"delivered": "delivered", "retry": "tried again", "failed": "failed", "cancelled": "given up"}


@dataclass(frozen=True, slots=True)
class TimelineAttempt:
    """An attempt to deliver a message, `after` seconds after the first attempt. `response` is a status or an error."""

    after: float
    response: str
    outcome: str


@dataclass(frozen=True, slots=True)
class TimelineMessage:
    """A message with its delivery attempts. `name` is like "1 sync", and `begun` is the time of the first attempt."""

    name: str
    begun: str
    attempts: tuple[TimelineAttempt, ...]

    @property
    def lasted(self) -> float:
        return self.attempts[-1].after


def delivery_timeline(channel: ChannelLike | None = None, *, session: SessionLike = None) -> Picture:
    """Draw a chart of the attempts to deliver each message, with a row for each message.

    The time axis of a row starts at the first attempt to deliver the message.

    Args:
        channel: The id of a channel, a list of ids, or a row or a DataFrame of `channels()`. None means all channels.

    Raises:
        ValueError: The session does not belong to a sandbox. Other services do not report their attempts.

    See docs/rules.md#n-08a (N-08).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> rx.answer_with(503, times=1)
    >>> channel = svc.watch_changes(rx)
    >>> later = lab.clock.advance("1m")
    >>> svc.delivery_timeline(channel)
    Deliveries: 1 message, 2 attempts
      message  first attempt  responses  waited
      1 sync   09:00:00       503, 200   0.9 s
    """
    lab = sandbox_of(session_or_current(session))
    if lab is None:
        raise ValueError("delivery_timeline() needs a sandbox, because other services do not report delivery attempts")
    channel_ids = None if channel is None else set(row_ids(channel, "channel"))
    return timeline_of(
        [row for row in lab.service.deliveries() if channel_ids is None or row["channel_id"] in channel_ids]
    )


def timeline_of(deliveries: Iterable[DeliveryRow]) -> Picture:
    """Draw the delivery timeline for rows of `Service.deliveries`, each of which is one delivery attempt."""
    messages = messages_of(deliveries)
    attempts = sum(len(message.attempts) for message in messages)
    counts = _count_text(len(messages), "message", "messages"), _count_text(attempts, "attempt", "attempts")
    title = f"Deliveries: {', '.join(counts)}"
    longest = max((message.lasted for message in messages), default=0.0)
    text_rows, rows = [], []
    for message in messages:
        waited = f"{message.lasted:.1f} s" if len(message.attempts) > 1 else ""
        text_rows.append([message.name, message.begun, _responses(message), waited])
        rows.append([message.name, message.begun, _lane(message, longest), _responses(message), waited])
    names = ["message", "first attempt", "responses", "waited"]
    legend: list[object] = []
    for outcome, after in (("delivered", ", "), ("retry", ", "), ("failed", "")):
        legend.append(join_html(swatch(_mark(8, 6, outcome)), _OUTCOME_LABELS[outcome], after))
    legend.append(f"; the width of a row is {longest:.1f} seconds" if longest else "")
    return Picture(text_table(title, names, text_rows), chart(title, _COLUMNS, rows, *legend))


def messages_of(deliveries: Iterable[DeliveryRow]) -> list[TimelineMessage]:
    """Group delivery attempts by message, and return the messages in the order of their first attempts."""
    rows = list(deliveries)
    several = len({row["channel_id"] for row in rows}) > 1
    clock = "%H:%M:%S" if len({row["time"][:10] for row in rows}) == 1 else "%d %b %H:%M:%S"
    first: dict[tuple[str, int], int] = {}
    for at, row in enumerate(rows):
        first.setdefault(_key(row), at)
    ordered = sorted(enumerate(rows), key=lambda pair: (first[_key(pair[1])], pair[0]))
    grouped = groupby((row for _, row in ordered), key=_key)
    return [_message(list(group), clock, named=several) for _, group in grouped]


def _key(row: DeliveryRow) -> tuple[str, int]:
    return row["channel_id"], row["message_number"]


def _message(rows: Sequence[DeliveryRow], clock: str, *, named: bool) -> TimelineMessage:
    times = [datetime.fromisoformat(row["time"]) for row in rows]
    attempts = []
    for time, row in zip(times, rows, strict=True):
        response = str(row["status"]) if row["status"] is not None else str(row["error"] or "none")
        attempts.append(TimelineAttempt((time - times[0]).total_seconds(), response, row["outcome"]))
    label = f"{rows[0]['message_number']} {rows[0]['state']}"
    channel = f" on {rows[0]['channel_id'][:8]}" if named else ""
    return TimelineMessage(label + channel, times[0].strftime(clock), tuple(attempts))


def _responses(message: TimelineMessage) -> str:
    responses = ", ".join(attempt.response for attempt in message.attempts)
    last = message.attempts[-1].outcome
    return responses if last == "delivered" else f"{responses} ({_OUTCOME_LABELS.get(last, last)})"


def _lane(message: TimelineMessage, longest: float) -> Markup:
    scale = (WIDTH - 2 * _EDGE) / (longest or 1.0)
    middle = HEIGHT / 2
    line = tag("line", x1=_EDGE, y1=middle, x2=WIDTH - _EDGE, y2=middle, stroke=INK, stroke_opacity="0.3")
    marks = [_mark(round(_EDGE + attempt.after * scale, 1), middle, attempt.outcome) for attempt in message.attempts]
    return bars(WIDTH, HEIGHT, line, *marks)


def _mark(x: float, y: float, outcome: str) -> Markup:
    """Draw the symbol of an attempt, which is a disc for "delivered", a ring for "retry", and otherwise a cross."""
    if outcome == "delivered":
        return tag("circle", cx=x, cy=y, r=5, fill=SENT)
    if outcome == "retry":
        return tag("circle", cx=x, cy=y, r=4.5, fill="none", stroke=SENT, stroke_width=2)
    cross = f"M{x - 4},{y - 4} l8,8 m0,-8 l-8,8"
    return tag("path", d=cross, fill="none", stroke=INK, stroke_width=2)


def _count_text(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"
