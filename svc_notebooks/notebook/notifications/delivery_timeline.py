"""Draws a chart of the attempts to deliver each notification message over time (N-08)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ...client.session import SessionLike, session_or_current
from ..arguments import row_ids
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


def delivery_timeline(channel: ChannelLike | None = None, *, session: SessionLike = None) -> Picture:
    """Draw a chart of the attempts to deliver each message, with a row for each message.

    The time axis of a row starts at the first attempt to deliver the message.

    Args:
        channel: The id of a channel, a list of ids, or a row or a DataFrame of `channels()`. None means all channels.

    Raises:
        ValueError: The session does not belong to a sandbox. Other services do not report their attempts.

    See tests/rules.csv (N-08).

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
    messages: dict[tuple[str, int], list[DeliveryRow]] = {}
    for row in deliveries:
        messages.setdefault((row["channel_id"], row["message_number"]), []).append(row)
    attempts = [row for group in messages.values() for row in group]
    title = f"Deliveries: {_count_text(len(messages), 'message')}, {_count_text(len(attempts), 'attempt')}"
    several = len({channel for channel, _ in messages}) > 1
    clock = "%H:%M:%S" if len({row["time"][:10] for row in attempts}) == 1 else "%d %b %H:%M:%S"
    times = [[datetime.fromisoformat(row["time"]) for row in group] for group in messages.values()]
    longest = max(((moments[-1] - moments[0]).total_seconds() for moments in times), default=0.0)
    text_rows, rows = [], []
    for ((channel, number), group), moments in zip(messages.items(), times, strict=True):
        name = f"{number} {group[0]['state']}" + (f" on {channel[:8]}" if several else "")
        after = [(moment - moments[0]).total_seconds() for moment in moments]
        begun, responses = moments[0].strftime(clock), _responses(group)
        waited = f"{after[-1]:.1f} s" if len(after) > 1 else ""
        text_rows.append([name, begun, responses, waited])
        rows.append([name, begun, _lane(after, [row["outcome"] for row in group], longest), responses, waited])
    names = ["message", "first attempt", "responses", "waited"]
    legend: list[object] = []
    for outcome, separator in (("delivered", ", "), ("retry", ", "), ("failed", "")):
        legend.append(join_html(swatch(_mark(8, 6, outcome)), _OUTCOME_LABELS[outcome], separator))
    legend.append(f"; the width of a row is {longest:.1f} seconds" if longest else "")
    return Picture(text_table(title, names, text_rows), chart(title, _COLUMNS, rows, *legend))


def _responses(attempts: Sequence[DeliveryRow]) -> str:
    texts = [str(row["error"] or "none") if row["status"] is None else str(row["status"]) for row in attempts]
    last = attempts[-1]["outcome"]
    return ", ".join(texts) + ("" if last == "delivered" else f" ({_OUTCOME_LABELS.get(last, last)})")


def _lane(after: Sequence[float], outcomes: Sequence[str], longest: float) -> Markup:
    """Draw the attempts of a message, which were made so many seconds after the first one."""
    scale = (WIDTH - 2 * _EDGE) / (longest or 1.0)
    middle = HEIGHT / 2
    line = tag("line", x1=_EDGE, y1=middle, x2=WIDTH - _EDGE, y2=middle, stroke=INK, stroke_opacity="0.3")
    pairs = zip(after, outcomes, strict=True)
    return bars(
        WIDTH, HEIGHT, line, *(_mark(round(_EDGE + time * scale, 1), middle, outcome) for time, outcome in pairs)
    )


def _mark(x: float, y: float, outcome: str) -> Markup:
    """Draw the symbol of an attempt, which is a disc for "delivered", a ring for "retry", and otherwise a cross."""
    if outcome == "delivered":
        return tag("circle", cx=x, cy=y, r=5, fill=SENT)
    if outcome == "retry":
        return tag("circle", cx=x, cy=y, r=4.5, fill="none", stroke=SENT, stroke_width=2)
    cross = f"M{x - 4},{y - 4} l8,8 m0,-8 l-8,8"
    return tag("path", d=cross, fill="none", stroke=INK, stroke_width=2)


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
