"""The call of a cell that makes an event, as Python text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_LONGEST = 88
_STEP = "    "


def call_text(arguments: Mapping[str, Any]) -> str:
    """`create_event` with these arguments, in one line if that is not too long; the title needs no name.

    >>> call_text({"summary": "Tea", "start": "2026-11-02 16:00", "end": "2026-11-02 16:30"})
    "svc.create_event('Tea', start='2026-11-02 16:00', end='2026-11-02 16:30')"
    """
    first = [repr(arguments["summary"])] if "summary" in arguments else []
    named = {name: value for name, value in arguments.items() if name != "summary"}
    line = f"svc.create_event({', '.join([*first, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(line) <= _LONGEST:
        return line
    lines = [*first, *(f"{name}={_text(value, len(name))}" for name, value in named.items())]
    return "\n".join(["svc.create_event(", *_stepped(lines), ")"])


def _text(value: Any, before: int) -> str:
    """A list that is too long for its line has a line for each of its entries."""
    text = repr(value)
    if not isinstance(value, list) or len(text) + before + len(_STEP) + 2 <= _LONGEST:
        return text
    return "\n".join(["[", *_stepped(map(repr, value)), "]"])


def _stepped(lines: Iterable[str]) -> list[str]:
    """The lines one step to the right, with a comma each."""
    return [_STEP + line.replace("\n", f"\n{_STEP}") + "," for line in lines]
