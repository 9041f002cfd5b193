"""Renders each notification message as a line of HTML, which expands to the message's headers and their meanings."""

from __future__ import annotations

from ...client.notifications.inbox import Received
from ...core.brand_names import Names
from ..widgets.html import Markup, join_html, tag
from .receiver import explain_headers

MAX_SHOWN = 50
"""The maximum number of messages in the view, which are the latest. The attribute `result` has all messages."""

_WIDTHS = " ".join(f"minmax(0, {width}em)" for width in (5, 6, 11, 14, 6, 10))
_LINE = (
    f"display: inline-grid; grid-template-columns: {_WIDTHS} minmax(3em, 1fr); column-gap: 1em;"
    " width: calc(100% - 2em); vertical-align: top; overflow-wrap: anywhere"
)
_LINES = "line-height: 1.6; margin: 0"
_HEADERS = "margin: 0 0 4px 1.4em; font-size: 90%; overflow-wrap: anywhere"
_HEADINGS = ("number", "state", "changed", "channel", "received", "answered", "token")
_VERIFIED = {True: "right", False: "wrong: refused", None: "unknown channel"}


def headings(messages: list[Received]) -> Markup:
    """Render the number of messages and the column headings, or a sentence if there are no messages."""
    count = len(messages)
    if not count:
        return tag("p", "No message has come yet.", role="status", style="margin: 4px 2px")
    words = "1 message" if count == 1 else f"{count} messages"
    if count > MAX_SHOWN:
        words += f"; the last {MAX_SHOWN} are shown"
    names = tag("span", *(tag("b", name) for name in _HEADINGS), style=_LINE)
    return join_html(
        tag("p", words, role="status", style="margin: 4px 2px"), tag("div", names, style="padding-left: 1em")
    )


def message_line(message: Received, names: Names, watched: dict[str, str]) -> Markup:
    """Render a message as a line that expands to its headers. `watched` maps channel ids to resource names."""
    notification = message.notification
    parts: tuple[object, ...] = (
        notification.number,
        tag("b", notification.state),
        ", ".join(notification.changed),
        watched.get(notification.channel_id or "", notification.channel_id),
        f"{message.received:%H:%M:%S}",
        ", ".join(map(str, message.answers)),
        _VERIFIED[message.verified],
    )
    line = tag("span", *(tag("span", part) for part in parts), style=_LINE)
    headers = (
        tag("div", tag("code", f"{row['header']}: {row['value']}"), tag("i", row["meaning"], style="padding-left: 1em"))
        for row in explain_headers(message, names)
    )
    title = "The headers of this message, and what they mean"
    return tag("details", tag("summary", line, title=title), tag("div", *headers, style=_HEADERS), style=_LINES)
