"""Draws recorded exchanges as a sequence diagram: as text with lines, as an SVG image and in Mermaid (D-04d)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...core.http.messages import Query
from ...core.printable_text import terminal_text
from ..byte_sizes import size_text
from ..html import Markup, tag
from .charts import LIGHT_AND_DARK, SENT, drawing, image
from .request_code import status_line

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

_ESCAPES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"})
_MARGIN, _ROW, _LETTER = 40, 34, 7.3
_LOOK = LIGHT_AND_DARK + (
    "svg{background:#fff;font:12px ui-monospace,monospace}text{fill:currentColor}"
    "line{stroke:currentColor;stroke-opacity:.5}@media(prefers-color-scheme:dark){svg{background:#111}}"
)


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow of the diagram. `lost` is True for a response that did not arrive."""

    label: str
    is_request: bool
    lost: bool = False


class Diagram(str):
    """A sequence diagram as text with a line for each request and each response. A notebook displays an image.

    `mermaid` is the same diagram in the Mermaid language, for a Markdown page.
    """

    arrows: tuple[Arrow, ...]

    def __new__(cls, arrows: Iterable[Arrow]) -> Diagram:
        arrows = tuple(arrows)
        diagram = super().__new__(cls, "\n".join(_lines(arrows)))
        diagram.arrows = arrows
        return diagram

    def __getnewargs__(self) -> tuple[tuple[Arrow, ...]]:  # type: ignore[override]  # for pickle and copy
        return (self.arrows,)

    @property
    def mermaid(self) -> str:
        """The diagram as a str in the Mermaid language."""
        lines = ["sequenceDiagram", "    participant C as client", "    participant S as service"]
        for arrow in self.arrows:
            head = "C->>S" if arrow.is_request else "S--xC" if arrow.lost else "S-->>C"
            lines.append(f"    {head}: {arrow.label.translate(_ESCAPES)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        width = round(2 * _MARGIN + _LETTER * (4 + max((len(arrow.label) for arrow in self.arrows), default=0)))
        return str(image(_svg(self.arrows, width), self, width))


def sequence_diagram(exchanges: Iterable[Exchange]) -> Diagram:
    """Return the sequence diagram of exchanges, the oldest first."""
    arrows: list[Arrow] = []
    for exchange in exchanges:
        arrows.append(Arrow(terminal_text(_request_label(exchange)), is_request=True))
        lost = exchange.status is None
        arrows.append(Arrow(terminal_text(_response_label(exchange)), is_request=False, lost=lost))
    return Diagram(arrows)


def _request_label(exchange: Exchange) -> str:
    headers = dict(exchange.request_headers)
    byte_range = headers.get("Content-Range") or headers.get("Range") or ""
    body = f"({size_text(exchange.sent)})" if exchange.sent else ""
    return " ".join(part for part in (exchange.method, _target(exchange.url), byte_range, body) if part)


def _target(url: str) -> str:
    """Return "session URI" for an upload session, otherwise the path with the parameters `uploadType` and `alt`."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    parameters = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *parameters])


def _response_label(exchange: Exchange) -> str:
    if exchange.status is None:
        return exchange.error or "no response"
    headers = dict(exchange.response_headers)
    return f"{status_line(exchange.status)} {headers.get('Range') or headers.get('Content-Range') or ''}".rstrip()


def _lines(arrows: Sequence[Arrow]) -> Iterable[str]:
    width = max((len(arrow.label) for arrow in arrows), default=10) + 4
    yield f"client{'service':>{width + 5}}"
    for label, is_request, lost in ((arrow.label, arrow.is_request, arrow.lost) for arrow in arrows):
        if is_request:
            yield f"  │─ {label} {'─' * (width - len(label))}>│"
        else:
            yield f"  │{'  x' if lost else '<'}- {label} {'-' * (width - len(label) - 2 * lost)} │"


def _svg(arrows: Sequence[Arrow], width: int) -> Markup:
    left, right, height = _MARGIN, width - _MARGIN, _MARGIN + _ROW * len(arrows)
    parts = [tag("style", Markup(_LOOK))]
    for x, name in ((left, "client"), (right, "service")):
        parts += [tag("text", name, x=x, y=18, text_anchor="middle", font_weight=700)]
        parts += [tag("line", x1=x, x2=x, y1=26, y2=height)]
    for row, arrow in enumerate(arrows, start=1):
        y, end = _MARGIN - 6 + _ROW * row, right if arrow.is_request else left
        start, back = (left, -9) if arrow.is_request else (right, 9)
        end += 5 * back if arrow.lost else 0
        head = f"M{end + back},{y - 4} L{end},{y} L{end + back},{y + 4}"
        if arrow.lost:
            head = f"M{end - 5},{y - 5} L{end + 5},{y + 5} M{end - 5},{y + 5} L{end + 5},{y - 5}"
        dashes = None if arrow.is_request else "4 3"
        parts += [
            tag("text", arrow.label, x=left + 14, y=y - 7),
            tag("path", d=f"M{start},{y} L{end},{y}", stroke=SENT, stroke_width=1.5, stroke_dasharray=dashes),
            tag("path", d=head, stroke=SENT, stroke_width=1.5, fill="none"),
        ]
    return drawing(width, height, *parts)
