"""Builds charts as HTML tables and SVG images. Every chart also has a text with the same content.

JupyterLab removes `<svg>` elements from the output of an untrusted notebook, so every drawing is an `<img>` whose
`data:` URL contains the SVG. If possible, a chart is a table with images beside the numbers (`bars`, without
alternative text). Other charts have an alternative text (`image`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from ...core.uploads.transitions import TRANSITIONS, UploadEvent, UploadState
from ..display import Markup, join_html, ranges, tag

INK = "currentColor"

# A blue with sufficient contrast in both themes, which is 4.6 to 1 on white and 4.1 to 1 on #111.
SENT = "#1976d2"

LIGHT_AND_DARK = "svg{color:#212121}@media(prefers-color-scheme:dark){svg{color:#e0e0e0}}"

_LEFT = "text-align: left; padding: 2px 8px; white-space: nowrap; vertical-align: middle; font-weight: normal"
_RIGHT = _LEFT.replace("left", "right", 1)
_NOTE = "margin: 4px 8px"
_CAPTION_STYLE = "text-align: left; font-weight: 600; padding: 4px 8px; caption-side: top"
_DATA_URL = "data:image/svg+xml,"


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that a notebook displays as HTML, and that other front ends display as the text `words`."""

    words: str
    html: Markup

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return str(self.html)  # some notebook programs accept no subclass of str


# How a column of a chart table is shown. A column of pictures is left out of the text.
LEFT, RIGHT, PICTURE = "left", "right", "picture"


def table_picture(title: str, columns: Mapping[str, str], rows: Sequence[Sequence[object]], *notes: object) -> Picture:
    """Return a table as text and as HTML, with notes below it. The first cell of each row is a row header.

    >>> table_picture("Sizes", {"name": LEFT, "bytes": RIGHT}, [["one", 3], ["three", 12345]])
    Sizes
      name   bytes
      one    3
      three  12,345
    """
    styles = [_RIGHT if kind == RIGHT else _LEFT for kind in columns.values()]
    cells: list[list[Any]] = [[number(value) if isinstance(value, int) else value for value in row] for row in rows]
    head = [tag("th", name, scope="col", style=style) for name, style in zip(columns, styles, strict=True)]
    body: list[Markup] = []
    for name, *values in cells:
        data = (tag("td", value, style=style) for value, style in zip(values, styles[1:], strict=True))
        body.append(tag("tr", tag("th", name, scope="row", style=_LEFT), *data))
    caption = tag("caption", title, style=_CAPTION_STYLE)
    table = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *body))
    below = tag("p", *notes, style=_NOTE) if notes else Markup()
    in_text = [n for n, kind in enumerate(columns.values()) if kind != PICTURE]
    lines = [[str(line[n]) for n in in_text] for line in [[*columns], *cells]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ("  ".join(map(str.ljust, line, widths)) for line in lines)
    text = "\n".join([title, *(f"  {line}".rstrip() for line in shown)])
    return Picture(text, tag("div", table, below, class_="svc-picture"))


def bars(width: int, height: int, *shapes: object) -> Markup:
    """Return shapes as an SVG image without alternative text. Screen readers read the numbers beside the image."""
    svg = drawing(width, height, tag("style", Markup(LIGHT_AND_DARK)), *shapes)
    return tag("img", src=_address(svg), alt="", width=width, height=height, style="vertical-align: middle")


def drawing(width: int, height: int, *parts: object) -> Markup:
    box = f"0 0 {width} {height}"
    return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=box)


def image(svg: Markup, words: str, width: int) -> Markup:
    """Return an `<img>` element that shows an SVG document. `words` is the alternative text."""
    return tag("img", src=_address(svg), alt=words, width=width, style="max-width: 100%; height: auto")


def _address(svg: Markup) -> str:
    return _DATA_URL + quote(svg, safe=" =:/;,.()*-+")


def number(value: int) -> str:
    """Return a number as text with thousands separators.

    >>> number(262144)
    '262,144'
    """
    return f"{value:,}"


def swatch(*shapes: object) -> Markup:
    return join_html(bars(16, 12, *shapes), " ")


# -- the states of an upload, with the transitions of `TRANSITIONS` in core


_STATES_CAPTION = "The numbers are steps of the history. Transitions with thin or dashed lines did not happen."

_EVENT_LABELS = {
    UploadEvent.ACCEPTED: "begun",
    UploadEvent.PART: "bytes",
    UploadEvent.ALL: "all bytes",
    UploadEvent.QUERY: "status query",
    UploadEvent.REFUSED: "invalid request",
    UploadEvent.GAP: "gap",
    UploadEvent.CANCEL: "cancel",
    UploadEvent.SILENCE: "a week",
}
# Has an element for each state and each arrow, with its id, and one for its label. The image has this width.
_DRAWING = Path(__file__).with_name("upload_states.svg")
_WIDTH = 860
_LINE = 15
_SVG = "http://www.w3.org/2000/svg"

Arrow = tuple[UploadState, UploadState]
Key = tuple[UploadState, UploadEvent]


@dataclass(frozen=True, slots=True)
class StatePath:
    """The transitions of an upload, with the history step numbers of each transition, and the current state `now`."""

    steps: Mapping[Key, tuple[int, ...]]
    now: UploadState


def state_path(history: Iterable[Mapping[str, Any]], *, begun_elsewhere: bool = False) -> StatePath:
    """Return the state transitions for the rows of an upload's history.

    A step without a response causes no transition. If `begun_elsewhere`, the history does not include the request that
    began the upload session.

    >>> rows = [{"n": 1, "action": "begin", "status": 200}, {"n": 2, "action": "send", "status": 308}]
    >>> [(event.name, steps) for (_, event), steps in state_path(rows).steps.items()]
    [('ACCEPTED', (1,)), ('PART', (2,))]
    """
    now = UploadState.OPEN if begun_elsewhere else UploadState.NONE
    steps: dict[Key, tuple[int, ...]] = {}
    for row in history:
        before = UploadState.NONE if row["action"] == "begin" else now
        event = _event(row["action"], row["status"], before)
        if event is not None and (before, event) in TRANSITIONS:
            steps[before, event] = (*steps.get((before, event), ()), row["n"])
            now = TRANSITIONS[before, event].state
    return StatePath(steps, now)


def _event(action: str, status: int | None, before: UploadState) -> UploadEvent | None:
    """Return the upload event that follows from an action and its response status, or None if there is no event."""
    if status in (404, 410):
        return UploadEvent.SILENCE
    if action == "begin":
        return UploadEvent.ACCEPTED if status in (200, 201) else None
    if action == "cancel":
        return UploadEvent.CANCEL if status in (200, 201, 204, 499) else None
    if action == "ask" and (status == 308 or before is not UploadState.OPEN):
        return UploadEvent.QUERY
    return {308: UploadEvent.PART, 200: UploadEvent.ALL, 201: UploadEvent.ALL}.get(status or 0)


def state_chart(name: str, path: StatePath) -> Picture:
    """Return the state diagram with an upload's transitions highlighted. `name` is the name of the uploaded file."""
    order = sorted((n, before, event) for (before, event), steps in path.steps.items() for n in steps)
    parts = [f"{n} {_EVENT_LABELS[event]} ({TRANSITIONS[before, event].status})" for n, before, event in order]
    words = f"{name}: {'; '.join([*parts, f'now {_state_label(path.now)}'])}"
    note = tag("p", _STATES_CAPTION, style=_NOTE)
    return Picture(words, tag("div", image(_svg(words, path), words, _WIDTH), note, class_="svc-picture"))


def _state_label(state: UploadState) -> str:
    return "not begun" if state is UploadState.NONE else state.value


def _svg(title: str, path: StatePath) -> Markup:
    """Return the drawing with the path of an upload, as an SVG document."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(_DRAWING.read_text(encoding="utf-8"))
    parts = {part.get("id"): part for part in root.iter()}
    root[0].text = title
    visited = {path.now, *(state for key in path.steps for state in (key[0], TRANSITIONS[key].state))}
    for state in UploadState:
        is_now, label = state is path.now, parts[f"{state.value}-label"]
        look = " ".join(["been"] * (state in visited) + ["now"] * is_now)
        parts[state.value].set("class", look)
        label.set("class", look)
        label.text = _state_label(state) + " (now)" * is_now
    for (before, after), keys in arrows().items():
        name = f"{before.value}-{after.value}"
        parts[name].set("class", "been" if any(key in path.steps for key in keys) else "")
        label, lines = parts[f"{name}-label"], _label_lines(keys, path)
        # The place of a label is that of its first line, or of its last one if it grows upwards.
        step = _LINE * (1 - len(lines)) if label.get("data-grows") == "up" else 0
        for text, steps in lines:
            attributes = {"x": label.get("x", ""), "dy": str(step), "class": "been" if steps else ""}
            ElementTree.SubElement(label, f"{{{_SVG}}}tspan", attributes).text = text
            step = _LINE
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def arrows() -> dict[Arrow, list[Key]]:
    """Return a dict from each arrow (a pair of states) to the keys of `TRANSITIONS` that the arrow stands for."""
    keys_by_arrow: dict[Arrow, list[Key]] = {}
    for (before, event), after in TRANSITIONS.items():
        keys_by_arrow.setdefault((before, after.state), []).append((before, event))
    return keys_by_arrow


def _label_lines(keys: list[Key], path: StatePath) -> list[tuple[str, tuple[int, ...]]]:
    """Return the lines of an arrow label, as pairs of a text and step numbers.

    Each transition of the upload has its own line. The other transitions have one line for each response status.
    """
    lines: list[tuple[str, tuple[int, ...]]] = []
    others: dict[int, list[str]] = {}
    for key in keys:
        label, status = _EVENT_LABELS[key[1]], TRANSITIONS[key].status
        if key in path.steps:
            lines.append((f"{', '.join(ranges(path.steps[key]))}: {label} {status}", path.steps[key]))
        else:
            others.setdefault(status, []).append(label)
    return [*lines, *((f"{', '.join(names)} {status}", ()) for status, names in others.items())]


# -- the bytes that each request of an upload sent, sent again and stored (A3-20, A3-21)


_BAR_WIDTH, _BAR_HEIGHT = 300, 22
_HOLLOW = {"fill": "none", "stroke": SENT, "stroke_dasharray": "3 2"}
_SOLID = {"fill": SENT}
_STORED = {"fill": INK, "fill_opacity": "0.45"}
_TRACK = {"fill": "none", "stroke": INK, "stroke_opacity": "0.35"}

_COLUMNS = {
    **{"request": LEFT, "bytes of the file": PICTURE, "sent": RIGHT},
    **{"sent again": RIGHT, "stored": RIGHT, "response": LEFT},
}


def upload_picture(name: str, total: int | None, history: Iterable[Mapping[str, Any]]) -> Picture:
    """Return the chart of an upload for the rows of its history. `total` is the file size, or None if unknown."""
    requests = requests_of(history)
    size = total or max((request["first"] + request["sent"] for request in requests), default=0) or 1
    sent, again = (number(sum(request[name] for request in requests)) for name in ("sent", "again"))
    stored = number(requests[-1]["stored"] if requests else 0)
    twice = "none sent twice" if again == "0" else f"{again} of them sent twice"
    title = f"{name}: {sent} bytes sent, {stored} stored, {twice}"
    return table_picture(title, _COLUMNS, [_row(request, size) for request in requests], *_legend())


def requests_of(history: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the requests of an upload's history, which are those without the action "wait".

    A request sent `sent` bytes of the file from position `first`, of which `again` were repeated.

    >>> lost = {"n": 1, "action": "send", "first": 0, "sent": 300, "stored": 0, "status": None, "error": "cut"}
    >>> next_ = {"n": 2, "action": "send", "first": 256, "sent": 256, "stored": 512, "status": 200, "error": None}
    >>> [request["again"] for request in requests_of([lost, next_])]
    [0, 44]
    """
    requests: list[dict[str, Any]] = []
    reached = 0
    for row in (row for row in history if row["action"] != "wait"):
        first, sent = row["first"] or 0, row["sent"] if row["action"] == "send" else 0
        again = max(0, min(first + sent, reached) - first)
        reached = max(reached, first + sent)
        requests.append({**row, "first": first, "sent": sent, "again": again})
    return requests


def _row(request: Mapping[str, Any], size: int) -> list[object]:
    first, sent, again, stored = (request[name] for name in ("first", "sent", "again", "stored"))
    shapes = [
        *_piece(first, again, size, 1, _HOLLOW),
        *_piece(first + again, sent - again, size, 1, _SOLID),
        *_piece(0, stored, size, 12, _STORED),
        tag("rect", x=0.5, y=12.5, width=_BAR_WIDTH - 1, height=8, **_TRACK),
    ]
    picture = bars(_BAR_WIDTH, _BAR_HEIGHT, *shapes)
    response = "none" if request["status"] is None else str(request["status"])
    return [f"{request['n']} {request['action']}", picture, sent, again, stored, response]


def _piece(first: int, length: int, size: int, top: int, look: Mapping[str, str]) -> list[Markup]:
    if length <= 0:
        return []
    x, width = round(_BAR_WIDTH * first / size, 1), max(round(_BAR_WIDTH * length / size, 1), 2.0)
    return [tag("rect", x=x, y=top, width=width, height=8, **look)]


def _legend() -> list[object]:
    box = {"x": 1, "y": 2, "width": 14, "height": 8}
    return [
        *(swatch(tag("rect", **box, **_SOLID)), "sent for the first time, "),
        *(swatch(tag("rect", **box, **_HOLLOW)), "sent again, "),
        *(swatch(tag("rect", **box, **_STORED)), "stored by then"),
    ]
