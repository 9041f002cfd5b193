"""Writes the call of `create_event` as Python code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_LINE_LENGTH = 88
_INDENT = "    "


def call_text(arguments: Mapping[str, Any]) -> str:
    """`create_event` with these arguments, in one line if that is not too long; the title needs no name.

    >>> call_text({"summary": "Tea", "start": "2026-11-02 16:00", "end": "2026-11-02 16:30"})
    "svc.create_event('Tea', start='2026-11-02 16:00', end='2026-11-02 16:30')"
    """
    first = [repr(arguments["summary"])] if "summary" in arguments else []
    named = {name: value for name, value in arguments.items() if name != "summary"}
    line = f"svc.create_event({', '.join([*first, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(line) <= _LINE_LENGTH:
        return line
    lines = [*first, *(f"{name}={_text(value, len(name))}" for name, value in named.items())]
    return "\n".join(["svc.create_event(", *_indented(lines), ")"])


def _text(value: Any, before: int) -> str:
    """A list that is too long for its line has a line for each of its entries."""
    text = repr(value)
    if not isinstance(value, list) or len(text) + before + len(_INDENT) + 2 <= _LINE_LENGTH:
        return text
    return "\n".join(["[", *_indented(map(repr, value)), "]"])


def _indented(lines: Iterable[str]) -> list[str]:
    """The lines one step to the right, with a comma each."""
    return [_INDENT + line.replace("\n", f"\n{_INDENT}") + "," for line in lines]
