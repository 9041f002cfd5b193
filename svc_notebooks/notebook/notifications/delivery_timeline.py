"""When each notification was tried, and how it went: the growing waits of N-08 as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..arguments import file_ids
from ..current_session import session_or_current
from ..exchanges.svg import INK, SENT, Picture, TableColumn, bars, chart, swatch, text_table
from ..sandbox.sandbox import sandbox_of
from ..widgets.html import Markup, joined, tag

if TYPE_CHECKING:
    from ...client.session import Session
    from .channels import ChannelLike

WIDTH, HEIGHT, _EDGE = 320, 20, 8
_COLUMNS = (
    TableColumn("message"),
    TableColumn("first try"),
    TableColumn("tries"),
    TableColumn("answers"),
    TableColumn("waited", True),
)
_MEANT = {"delivered": "delivered", "retry": "tried again", "failed": "failed for good", "cancelled": "given up"}


@dataclass(frozen=True, slots=True)
class TimelineAttempt:
    """One try: seconds after the first, what was answered, how it counts."""

    after: float
    answer: str
    outcome: str


@dataclass(frozen=True, slots=True)
class TimelineMessage:
    """A message and its tries."""

    name: str
    begun: str
    attempts: tuple[TimelineAttempt, ...]

    @property
    def lasted(self) -> float:
        """Seconds from the first try to the last."""
        return self.attempts[-1].after


def delivery_timeline(channel: ChannelLike | None = None, *, session: Session | None = None) -> Picture:
    """The attempts of every message against time, each row from its first try on.

    Args:
        channel: Of this channel alone, or of several: ids, rows or a frame of `channels()`. None: of all.

    Raises:
        ValueError: The session is no sandbox's: only the service knows of tries that nobody heard.

    Interface: Events, Delivery; rule N-08.

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> rx.answer_with(503, times=1)
    >>> channel = svc.watch_changes(rx)
    >>> later = lab.clock.advance("1m")
    >>> svc.delivery_timeline(channel)
    Deliveries: 1 message, 2 tries
      message  first try  answers   waited
      1 sync   09:00:00   503, 200  0.9 s
    """
    lab = sandbox_of(session_or_current(session))
    if lab is None:
        raise ValueError("delivery_timeline() needs a sandbox: a service elsewhere does not tell of its tries")
    wanted = None if channel is None else set(file_ids(channel, "channel"))
    return timeline_of([row for row in lab.service.deliveries() if wanted is None or row["channel_id"] in wanted])


def timeline_of(deliveries: Iterable[Mapping[str, Any]]) -> Picture:
    """The picture of the rows of `Service.deliveries`."""
    messages = messages_of(deliveries)
    tries = sum(len(one.attempts) for one in messages)
    title = f"Deliveries: {_many(len(messages), 'message', 'messages')}, {_many(tries, 'try', 'tries')}"
    longest = max((one.lasted for one in messages), default=0.0)
    words = [[one.name, one.begun, _answers(one), _waited(one)] for one in messages]
    drawn = [[one.name, one.begun, _lane(one, longest), _answers(one), _waited(one)] for one in messages]
    names = ["message", "first try", "answers", "waited"]
    notes = [*_legend(), f"; a row is {longest:.1f} seconds long" if longest else ""]
    return Picture(text_table(title, names, words), chart(title, _COLUMNS, drawn, *notes))


def messages_of(deliveries: Iterable[Mapping[str, Any]]) -> list[TimelineMessage]:
    """The messages, in the order of their first tries."""
    rows = list(deliveries)
    several = len({row["channel_id"] for row in rows}) > 1
    clock = "%H:%M:%S" if len({row["time"][:10] for row in rows}) == 1 else "%d %b %H:%M:%S"
    first: dict[tuple[str, int], int] = {}
    for at, row in enumerate(rows):
        first.setdefault(_key(row), at)
    ordered = sorted(enumerate(rows), key=lambda pair: (first[_key(pair[1])], pair[0]))
    grouped = groupby((row for _, row in ordered), key=_key)
    return [_message(list(group), clock, named=several) for _, group in grouped]


def _key(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["channel_id"], row["message_number"]


def _message(rows: Sequence[Mapping[str, Any]], clock: str, *, named: bool) -> TimelineMessage:
    times = [datetime.fromisoformat(row["time"]) for row in rows]
    attempts = [
        TimelineAttempt((time - times[0]).total_seconds(), _answer(row), row["outcome"])
        for time, row in zip(times, rows, strict=True)
    ]
    about = f"{rows[0]['message_number']} {rows[0]['state']}"
    channel = f" on {rows[0]['channel_id'][:8]}" if named else ""
    return TimelineMessage(about + channel, times[0].strftime(clock), tuple(attempts))


def _answer(row: Mapping[str, Any]) -> str:
    return str(row["status"]) if row["status"] is not None else str(row["error"] or "none")


def _answers(one: TimelineMessage) -> str:
    said = ", ".join(attempt.answer for attempt in one.attempts)
    last = one.attempts[-1].outcome
    return said if last == "delivered" else f"{said} ({_MEANT.get(last, last)})"


def _waited(one: TimelineMessage) -> str:
    return f"{one.lasted:.1f} s" if len(one.attempts) > 1 else ""


def _lane(one: TimelineMessage, longest: float) -> Markup:
    scale = (WIDTH - 2 * _EDGE) / (longest or 1.0)
    middle = HEIGHT / 2
    line = tag("line", x1=_EDGE, y1=middle, x2=WIDTH - _EDGE, y2=middle, stroke=INK, stroke_opacity="0.3")
    marks = [_mark(round(_EDGE + attempt.after * scale, 1), middle, attempt.outcome) for attempt in one.attempts]
    return bars(WIDTH, HEIGHT, line, *marks)


def _mark(x: float, y: float, outcome: str) -> Markup:
    """A shape for each outcome: full, hollow, or crossed."""
    if outcome == "delivered":
        return tag("circle", cx=x, cy=y, r=5, fill=SENT)
    if outcome == "retry":
        return tag("circle", cx=x, cy=y, r=4.5, fill="none", stroke=SENT, stroke_width=2)
    cross = f"M{x - 4},{y - 4} l8,8 m0,-8 l-8,8"
    return tag("path", d=cross, fill="none", stroke=INK, stroke_width=2)


def _legend() -> list[object]:
    shown = [[swatch(_mark(8, 6, one)), _MEANT[one]] for one in ("delivered", "retry", "failed")]
    return [joined(*shown[0], ", "), joined(*shown[1], ", "), joined(*shown[2])]


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
