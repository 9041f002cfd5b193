"""Draws a diagram of the upload states in `TRANSITIONS` of core, which highlights the transitions of one upload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.uploads.states import TRANSITIONS, UploadEvent, UploadState
from ..html import Markup, join_html, tag
from .svg import Picture, drawing, image

WIDTH, HEIGHT = 860, 400
_BOX = (104, 38)
_LINE = 15
_NOTE = "margin: 4px 8px"
_CAPTION = "The numbers are steps of the history. Transitions with thin or dashed lines did not happen."

_POSITIONS = {
    UploadState.NONE: (60, 215),
    UploadState.OPEN: (270, 215),
    UploadState.COMPLETE: (520, 115),
    UploadState.CANCELLED: (520, 315),
    UploadState.EXPIRED: (700, 215),
}
_STATE_LABELS = {UploadState.NONE: "not begun"}
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
_LOOPS_ABOVE = frozenset({UploadState.OPEN, UploadState.COMPLETE})
# x, y and text anchor of the label of each arrow. y is the position of the first line of the label. For a loop above a
# box, y is the position of the last line.
_LABEL_POSITIONS = {
    (UploadState.NONE, UploadState.OPEN): (165, 206, "middle"),
    (UploadState.OPEN, UploadState.OPEN): (268, 158, "end"),
    (UploadState.OPEN, UploadState.COMPLETE): (384, 146, "end"),
    (UploadState.OPEN, UploadState.CANCELLED): (384, 292, "end"),
    (UploadState.OPEN, UploadState.EXPIRED): (480, 208, "middle"),
    (UploadState.COMPLETE, UploadState.COMPLETE): (520, 62, "middle"),
    (UploadState.COMPLETE, UploadState.EXPIRED): (708, 150, "start"),
    (UploadState.CANCELLED, UploadState.CANCELLED): (520, 376, "middle"),
    (UploadState.CANCELLED, UploadState.EXPIRED): (708, 288, "start"),
    (UploadState.EXPIRED, UploadState.EXPIRED): (786, 219, "start"),
}

_LOOK = """
svg{color:#212121;background:#fff;font:12px system-ui,sans-serif}
rect{fill:#fff;stroke:currentColor}rect.been{fill:#e3f2fd;stroke-width:2.5}rect.now{fill:#bbdefb}
path{fill:none;stroke:currentColor;stroke-dasharray:3 4;opacity:.6}
path.been{stroke-width:2.5;stroke-dasharray:none;opacity:1}
text{fill:currentColor}.been{font-weight:700}
@media(prefers-color-scheme:dark){svg{color:#e0e0e0;background:#111}
rect{fill:#111}rect.been{fill:#0d2b45}rect.now{fill:#114a7a}}
"""

Arrow = tuple[UploadState, UploadState]
Key = tuple[UploadState, UploadEvent]


@dataclass(frozen=True, slots=True)
class StatePath:
    """The transitions of an upload, with the history step numbers of each transition, and the current state `now`."""

    steps: Mapping[Key, tuple[int, ...]]
    now: UploadState

    def has_visited(self, state: UploadState) -> bool:
        return state is self.now or any(
            state in (before, TRANSITIONS[before, event].state) for before, event in self.steps
        )


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
    note = tag("p", _CAPTION, style=_NOTE)
    return Picture(words, tag("div", image(_svg(words, path), words, WIDTH), note, class_="svc-picture"))


def _state_label(state: UploadState) -> str:
    return _STATE_LABELS.get(state, state.value)


def _svg(title: str, path: StatePath) -> Markup:
    head = tag(
        "marker",
        tag("path", d="M0,0 L8,4 L0,8 z", style="fill:currentColor;stroke:none;opacity:1"),
        **{"id": "head", "viewBox": "0 0 8 8", "refX": 7, "refY": 4},
        markerWidth=8,
        markerHeight=8,
        orient="auto",
        markerUnits="userSpaceOnUse",
    )
    parts = [tag("title", title), tag("style", Markup(_LOOK)), tag("defs", head)]
    parts += [_arrow(arrow, keys, path) for arrow, keys in arrows().items()]
    parts += [_box(state, path) for state in UploadState]
    return drawing(WIDTH, HEIGHT, *parts)


def arrows() -> dict[Arrow, list[Key]]:
    """Return a dict from each arrow (a pair of states) to the keys of `TRANSITIONS` that the arrow stands for."""
    keys_by_arrow: dict[Arrow, list[Key]] = {}
    for (before, event), after in TRANSITIONS.items():
        keys_by_arrow.setdefault((before, after.state), []).append((before, event))
    return keys_by_arrow


def _box(state: UploadState, path: StatePath) -> Markup:
    (x, y), (width, height) = _POSITIONS[state], _BOX
    look = " ".join(word for word, true in (("been", path.has_visited(state)), ("now", state is path.now)) if true)
    rect = {"x": x - width / 2, "y": y - height / 2, "width": width, "height": height, "rx": 8}
    label = _state_label(state) + (" (now)" if state is path.now else "")
    text = tag("text", label, x=x, y=y + 4, text_anchor="middle", class_=look or None)
    return join_html(tag("rect", **rect, class_=look or None), text)


def _arrow(arrow: Arrow, keys: list[Key], path: StatePath) -> Markup:
    taken = any(key in path.steps for key in keys)
    line = tag("path", d=_path(arrow), marker_end="url(#head)", class_="been" if taken else None)
    x, y, anchor = _LABEL_POSITIONS[arrow]
    lines = _label_lines(keys, path)
    top = y - _LINE * (len(lines) - 1) if arrow[0] is arrow[1] and arrow[0] in _LOOPS_ABOVE else y
    labels = [
        tag("text", label, x=x, y=top + row * _LINE, text_anchor=anchor, class_="been" if steps else None)
        for row, (label, steps) in enumerate(lines)
    ]
    return join_html(line, *labels)


def _label_lines(keys: list[Key], path: StatePath) -> list[tuple[str, tuple[int, ...]]]:
    """Return the lines of an arrow label, as pairs of a text and step numbers.

    Each transition of the upload has its own line. The other transitions have one line for each response status.
    """
    lines: list[tuple[str, tuple[int, ...]]] = []
    others: dict[int, list[str]] = {}
    for key in keys:
        label, status = _EVENT_LABELS[key[1]], TRANSITIONS[key].status
        if key in path.steps:
            lines.append((f"{_numbers(path.steps[key])}: {label} {status}", path.steps[key]))
        else:
            others.setdefault(status, []).append(label)
    return [*lines, *((f"{', '.join(names)} {status}", ()) for status, names in others.items())]


def _numbers(steps: tuple[int, ...]) -> str:
    """Return step numbers as text, with ranges for consecutive numbers.

    >>> _numbers((2, 3, 4, 7))
    '2-4, 7'
    """
    runs: list[list[int]] = []
    for n in steps:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _path(arrow: Arrow) -> str:
    (x, y), (to_x, to_y) = (_POSITIONS[state] for state in arrow)
    half, tall = _BOX[0] / 2, _BOX[1] / 2
    if arrow == (UploadState.EXPIRED, UploadState.EXPIRED):
        return f"M{x + half},{y - 10} C{x + half + 34},{y - 24} {x + half + 34},{y + 24} {x + half},{y + 10}"
    if arrow[0] is arrow[1]:
        up = -1 if arrow[0] in _LOOPS_ABOVE else 1
        edge, over = y + up * tall, y + up * (tall + 34)
        return f"M{x - 20},{edge} C{x - 34},{over} {x + 34},{over} {x + 20},{edge}"
    if y == to_y:
        return f"M{x + half},{y} L{to_x - half},{to_y}"
    if arrow[1] is UploadState.EXPIRED:
        side = tall if to_y < y else -tall
        return f"M{x + half},{y} Q{to_x},{y} {to_x},{to_y + side}"
    return f"M{x + half},{y + (to_y - y) * 0.12} L{to_x - half},{to_y}"
