"""Draws a chart with the bytes that each request of an upload sent, sent again and stored (A3-20, A3-21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..html import Markup, tag
from .svg import INK, SENT, Picture, TableColumn, bars, chart, number, swatch, text_table

WIDTH, HEIGHT = 300, 22
_HOLLOW = {"fill": "none", "stroke": SENT, "stroke_dasharray": "3 2"}
_SOLID = {"fill": SENT}
_STORED = {"fill": INK, "fill_opacity": "0.45"}
_TRACK = {"fill": "none", "stroke": INK, "stroke_opacity": "0.35"}

_COLUMNS = (
    *(TableColumn("request"), TableColumn("bytes of the file"), TableColumn("sent", True)),
    *(TableColumn("sent again", True), TableColumn("stored", True), TableColumn("response")),
)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request of an upload, which sent `sent` bytes of the file from position `first`.

    `again` is the number of repeated bytes. `stored` is the number of stored bytes after the request. `response` is its
    status as text.
    """

    n: int
    action: str
    first: int
    sent: int
    again: int
    stored: int
    response: str


def upload_picture(name: str, total: int | None, history: Iterable[Mapping[str, Any]]) -> Picture:
    """Return the chart of an upload for the rows of its history. `total` is the file size, or None if unknown."""
    requests = requests_of(history)
    size = total or max((request.first + request.sent for request in requests), default=0) or 1
    sent, again = (number(sum(getattr(request, name) for request in requests)) for name in ("sent", "again"))
    stored = number(requests[-1].stored if requests else 0)
    twice = "none sent twice" if again == "0" else f"{again} of them sent twice"
    title = f"{name}: {sent} bytes sent, {stored} stored, {twice}"
    drawn = [_row(request, size) for request in requests]
    words = [
        [f"{request.n} {request.action}", request.sent, request.again, request.stored, request.response]
        for request in requests
    ]
    names = ["request", "sent", "sent again", "stored", "response"]
    return Picture(text_table(title, names, words), chart(title, _COLUMNS, drawn, *_legend()))


def requests_of(history: Iterable[Mapping[str, Any]]) -> list[SentRequest]:
    """Return the requests of an upload's history. Rows with the action "wait" are not requests and are left out.

    >>> lost = {"n": 1, "action": "send", "first": 0, "sent": 300, "stored": 0, "status": None, "error": "cut"}
    >>> next_ = {"n": 2, "action": "send", "first": 256, "sent": 256, "stored": 512, "status": 200, "error": None}
    >>> [request.again for request in requests_of([lost, next_])]
    [0, 44]
    """
    requests: list[SentRequest] = []
    reached = 0
    for row in history:
        if row["action"] == "wait":
            continue
        first, sent = row["first"] or 0, row["sent"] if row["action"] == "send" else 0
        again = max(0, min(first + sent, reached) - first)
        reached = max(reached, first + sent)
        response = "none" if row["status"] is None else str(row["status"])
        requests.append(SentRequest(row["n"], row["action"], first, sent, again, row["stored"], response))
    return requests


def _row(request: SentRequest, size: int) -> list[object]:
    shapes = [
        *_piece(request.first, request.again, size, 1, _HOLLOW),
        *_piece(request.first + request.again, request.sent - request.again, size, 1, _SOLID),
        *_piece(0, request.stored, size, 12, _STORED),
        tag("rect", x=0.5, y=12.5, width=WIDTH - 1, height=8, **_TRACK),
    ]
    cells: list[object] = [f"{request.n} {request.action}", bars(WIDTH, HEIGHT, *shapes)]
    return [*cells, number(request.sent), number(request.again), number(request.stored), request.response]


def _piece(first: int, length: int, size: int, top: int, look: Mapping[str, str]) -> list[Markup]:
    if length <= 0:
        return []
    x, width = round(WIDTH * first / size, 1), max(round(WIDTH * length / size, 1), 2.0)
    return [tag("rect", x=x, y=top, width=width, height=8, **look)]


def _legend() -> list[object]:
    box = {"x": 1, "y": 2, "width": 14, "height": 8}
    return [
        *(swatch(tag("rect", **box, **_SOLID)), "sent for the first time, "),
        *(swatch(tag("rect", **box, **_HOLLOW)), "sent again, "),
        *(swatch(tag("rect", **box, **_STORED)), "stored by then"),
    ]
