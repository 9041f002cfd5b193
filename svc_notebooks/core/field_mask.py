"""The `fields` mask, which selects the fields of a response.

    mask   = item *("," item)
    item   = name *("/" name) ["(" mask ")"]

`parse` converts a mask into a tree of names, such as `{"files": {"id": ALL}}`. `*` selects all fields at its position.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from types import UnionType
from typing import Any, Final, get_args, get_origin, is_typeddict

from .errors.catalogue import refuse
from .http.messages import JSON
from .resources.field import hints, split

# A tree of the selected field names. An empty dict below a name selects the whole value of that field.
Mask = dict[str, "Mask"]

# A tree of the field names of a resource. None below a name is a plain value, and `ANY_KEY` a map with any keys.
Shape = Mapping[str, "Shape | None"]

ALL: Final[Mask] = {}
STAR = "*"
ANY_KEY: Final[Shape] = {"": None}
MAX_DEPTH = 20

_TOKEN = re.compile(r"\s*([^\s,/()]+|[,/()])")


def shape_of(resource: Any) -> Shape:
    """Return the tree of the field names of a TypedDict of core/resources.

    >>> from .resources.calendars import AclRule
    >>> shape_of(AclRule)["scope"]
    {'type': None, 'value': None}
    """
    return {name: _shape_of_value(split(annotation)[0]) for name, annotation in hints(resource).items()}


def _shape_of_value(annotation: Any) -> Shape | None:
    value = get_args(annotation)[0] if get_origin(annotation) in (list, UnionType) else annotation
    if is_typeddict(value):
        return shape_of(value)
    return ANY_KEY if value is Any or get_origin(value) is dict else None


@lru_cache(maxsize=64)  # a program asks for the same fields again and again
def parse(text: str) -> Mask:
    """Parse a mask into a tree of field names, {} for "". Raises ApiError (invalidFields) if the syntax is invalid.

    The tree must not be changed.

    >>> parse("a,b/c,files(id,owners(email))")
    {'a': {}, 'b': {'c': {}}, 'files': {'id': {}, 'owners': {'email': {}}}}
    """
    mask: Mask = {}
    if not text.strip():
        return mask
    if _read(iter(_TOKEN.findall(text)), mask, 0) != "":
        raise refuse("invalidFields", name=text)
    return mask


def _read(tokens: Iterator[str], into: Mask, depth: int) -> str:
    """Parse items into the tree `into`. Returns the token after the items, which is ")", or "" at the end."""
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
    """Check that a mask names only fields of the resource. Raises ApiError (invalidFields) for any other name."""
    if "" in shape:
        return
    for name, below in mask.items():
        known = name == STAR or name in shape
        inner = shape.get(name)
        if not known or (below and inner is None and name != STAR):
            raise refuse("invalidFields", name=path + name)
        if below and inner is not None:
            check(below, inner, f"{path}{name}/")


def apply(mask: Mask, value: JSON) -> JSON:
    """Return a JSON value with only the fields that the mask selects. An empty mask selects all fields."""
    if not mask or STAR in mask:
        return value
    if isinstance(value, list):
        return [apply(mask, entry) for entry in value]
    if isinstance(value, dict):
        return {key: apply(mask[key], inner) for key, inner in value.items() if key in mask}
    return value


# -- names of fields that the family has and this service never fills, which `fields` accepts --------------------------

_FAMILY: dict[str, Mask] = json.loads((files(__package__) / "family_fields.json").read_text("utf-8"))
FAMILY_FILE, FAMILY_ABOUT, FAMILY_CALENDAR = _FAMILY["file"], _FAMILY["about"], _FAMILY["calendar"]
FAMILY_EVENT, FAMILY_SETTING, FAMILY_REVISION = _FAMILY["event"], _FAMILY["setting"], _FAMILY["revision"]


def with_family_fields(shape: Shape | None, family: Mask) -> Shape:
    """Return a shape with these further names.

    >>> with_family_fields({"id": None, "user": {"me": None}}, parse("user/photo,size"))
    {'id': None, 'user': {'me': None, 'photo': None}, 'size': None}
    """
    own = {} if shape in (None, ANY_KEY) else dict(shape or {})
    return own | {name: with_family_fields(own.get(name), below) if below else None for name, below in family.items()}
