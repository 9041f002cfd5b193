"""Messages as a table for people: the newest first, each with its headers to unfold and what they mean."""

from __future__ import annotations

from collections.abc import Iterable

from ..client.inbox import Received
from ..core.names import Names
from .markup import Markup, joined, tag
from .receiver import explained

MOST = 50
"""So many messages are shown, the latest; `result` has all."""

_HEADINGS = ("Received", "Message", "State", "Changed", "Answered", "Token", "Headers")
_CELL = "text-align: left; padding: 2px 1.2em 2px 0; vertical-align: top"
_SCROLL = "overflow-x: auto; line-height: 1.5"
_VERIFIED = {True: "right", False: "wrong: refused", None: "unknown channel"}


def message_table(messages: list[Received], names: Names, watched: dict[str, str]) -> Markup:
    """The messages; `watched` says by channel id what it watches."""
    if not messages:
        return tag("p", "No message has come yet.", style="margin: 4px 2px")
    head = tag("tr", *(tag("th", text, scope="col", style=_CELL) for text in ("Channel", *_HEADINGS)))
    rows = (_row(one, names, watched) for one in reversed(messages[-MOST:]))
    table = tag(
        "table", tag("caption", _caption(messages), style="text-align: left"), tag("thead", head), tag("tbody", *rows)
    )
    return tag("div", table, style=_SCROLL, tabindex="0", role="region", aria_label="Messages")


def _caption(messages: list[Received]) -> str:
    count = len(messages)
    words = "1 message" if count == 1 else f"{count} messages, the newest first"
    return words if count <= MOST else f"{words}; the last {MOST} are shown"


def _row(one: Received, names: Names, watched: dict[str, str]) -> Markup:
    found = one.notification
    cells: Iterable[object] = (
        watched.get(found.channel_id or "", found.channel_id),
        f"{one.received:%H:%M:%S}",
        found.number,
        tag("b", found.state),
        ", ".join(found.changed),
        ", ".join(map(str, one.answers)),
        _VERIFIED[one.verified],
        _headers(one, names),
    )
    return tag("tr", *(tag("td", "" if cell is None else cell, style=_CELL) for cell in cells))


def _headers(one: Received, names: Names) -> Markup:
    rows = explained(one, names)
    items = (
        joined(tag("dt", tag("code", f"{row['header']}: {row['value']}")), tag("dd", row["meaning"])) for row in rows
    )
    return tag("details", tag("summary", "explained"), tag("dl", *items, style="margin: 2px 0"))
