"""The `fields` mask: which parts of a resource an answer has.

    mask   = item *("," item)
    item   = name *("/" name) ["(" mask ")"]

A mask is read once into a tree of names, `{"files": {"id": ALL}}`, checked against the names that the
resource knows, and applied to the answer. `*` stands for everything at its place; an empty mask selects nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from .errors.catalogue import refuse
from .http.messages import JSON

Mask = dict[str, "Mask"]
"""Names and what is wanted below them; an empty dict below a name means all of it."""

Shape = Mapping[str, "Shape | None"]
"""The names that a resource knows; None below a name: a plain value; `ANY_KEY`: a map with free keys."""

ALL: Final[Mask] = {}
STAR = "*"
ANY_KEY: Final[Shape] = {"": None}
MAX_DEPTH = 20

_TOKEN = re.compile(r"\s*([^\s,/()]+|[,/()])")


def parse(text: str) -> Mask:
    """Read a mask. Raises ApiError (invalidFields).

    >>> parse("a,b/c,files(id,owners(email))")
    {'a': {}, 'b': {'c': {}}, 'files': {'id': {}, 'owners': {'email': {}}}}
    """
    mask: Mask = {}
    if not text.strip():
        return mask
    tokens = _tokens(text)
    if _read(tokens, mask, 0) != "":
        raise refuse("invalidFields", name=text)
    return mask


def _tokens(text: str) -> Iterator[str]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        assert match  # every character is in one of the two classes
        yield match[1]
        at = match.end()


def _read(tokens: Iterator[str], into: Mask, depth: int) -> str:
    """Read items until `)` or the end. The token that stopped it."""
    if depth > MAX_DEPTH:
        raise refuse("invalidFields", name="(")
    while True:
        node, stop = _path(tokens, into)
        if stop == "(":
            if _read(tokens, node, depth + 1) != ")":
                raise refuse("invalidFields", name="(")
            stop = next(tokens, "")
        if stop != ",":
            return stop


def _path(tokens: Iterator[str], into: Mask) -> tuple[Mask, str]:
    node = into
    while True:
        name = next(tokens, "")
        if name in ("", ",", "/", "(", ")"):
            raise refuse("invalidFields", name=name or "(end)")
        node = node.setdefault(name, {})
        if (stop := next(tokens, "")) != "/":
            return node, stop


def check(mask: Mask, shape: Shape, path: str = "") -> None:
    """Refuse the first name that the resource does not know. Raises ApiError (invalidFields)."""
    for name, below in mask.items():
        known = name == STAR or name in shape or "" in shape
        inner = shape.get(name)
        if not known or (below and inner is None and name != STAR):
            raise refuse("invalidFields", name=path + name)
        if below and inner is not None:
            check(below, inner, f"{path}{name}/")


def apply(mask: Mask, value: JSON) -> JSON:
    """The selected parts of a value. The order of the value is kept, absent names are left out."""
    if not mask or STAR in mask:
        return value
    if isinstance(value, list):
        return [apply(mask, entry) for entry in value]
    if isinstance(value, dict):
        return {key: apply(mask[key], inner) for key, inner in value.items() if key in mask}
    return value
