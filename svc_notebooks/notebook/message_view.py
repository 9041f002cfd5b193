"""Messages as a table for people: the newest first, each with its headers to unfold and what they mean."""

from __future__ import annotations

from collections.abc import Iterable

from ..client.inbox import Received
from ..core.names import Names
from .markup import Markup, tag
from .receiver import explained

MOST = 50
"""So many messages are shown, the latest; `result` has all."""

_HEADINGS = ("Channel", "Received", "Message", "State", "Changed", "Answered", "Token")
_CELL = "text-align: left; padding: 2px 1.2em 0 0; vertical-align: top; white-space: nowrap"
_BELOW = "text-align: left; padding: 0 0 4px 1.2em; font-size: 90%"
_SCROLL = "overflow-x: auto; line-height: 1.5"
_VERIFIED = {True: "right", False: "wrong: refused", None: "unknown channel"}


def message_table(messages: list[Received], names: Names, watched: dict[str, str]) -> Markup:
    """The messages; `watched` says by channel id what it watches."""
    if not messages:
        return tag("p", "No message has come yet.", style="margin: 4px 2px")
    caption = tag("caption", _caption(messages), style="text-align: left")
    head = tag("tr", *(tag("th", text, scope="col", style=_CELL) for text in _HEADINGS))
    bodies = (_body(one, names, watched) for one in reversed(messages[-MOST:]))
    table = tag("table", caption, tag("thead", head), *bodies)
    return tag("div", table, style=_SCROLL, tabindex="0", role="region", aria_label="Messages")


def _caption(messages: list[Received]) -> str:
    count = len(messages)
    words = "1 message" if count == 1 else f"{count} messages, the newest first"
    return words if count <= MOST else f"{words}; the last {MOST} are shown"


def _body(one: Received, names: Names, watched: dict[str, str]) -> Markup:
    """A message in a line, and below it its headers, folded."""
    found = one.notification
    cells: Iterable[object] = (
        watched.get(found.channel_id or "", found.channel_id),
        f"{one.received:%H:%M:%S}",
        found.number,
        tag("b", found.state),
        ", ".join(found.changed),
        ", ".join(map(str, one.answers)),
        _VERIFIED[one.verified],
    )
    line = tag("tr", *(tag("td", "" if cell is None else cell, style=_CELL) for cell in cells))
    return tag("tbody", line, tag("tr", tag("td", _headers(one, names), colspan=len(_HEADINGS), style=_BELOW)))


def _headers(one: Received, names: Names) -> Markup:
    lines = (
        tag("div", tag("code", f"{row['header']}: {row['value']}"), " – ", tag("i", row["meaning"]))
        for row in explained(one, names)
    )
    title = f"The headers of message {one.notification.number}, and what they mean"
    return tag("details", tag("summary", "headers", title=title), *lines)
