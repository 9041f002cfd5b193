"""Finds the argument that made a call fail, by the annotations of the function.

A public function checks its arguments itself, with messages that say more. This module is for the other errors, such as
"The truth value of a Series is ambiguous", which name no argument.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def _is_named(name: str) -> Callable[[object], bool]:
    """Return a check for instances of a class that this module cannot import."""
    return lambda value: any(kind.__name__ == name for kind in type(value).__mro__)


_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    # annotation    in words           check
    "str": ("a str", lambda value: isinstance(value, str)),
    "bool": ("True or False", lambda value: type(value).__name__ in ("bool", "bool_")),  # numpy's too
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: isinstance(value, float) or _is_whole(value)),
    "Mapping": ("a dict", lambda value: isinstance(value, Mapping)),
    "PathLike": ("a path", lambda value: hasattr(value, "__fspath__")),
    "Path": ("a path", lambda value: hasattr(value, "__fspath__")),
    "Iterable": ("a list", lambda value: hasattr(value, "__iter__")),
    "Sequence": ("a list", lambda value: hasattr(value, "__iter__")),
    "Callable": ("a function", callable),
    "Literal": ("a str", lambda value: isinstance(value, str)),
    "Policy": ("a Policy", _is_named("Policy")),
    "Names": ("Names", _is_named("Names")),
    "OAuthClient": ("an OAuthClient", _is_named("OAuthClient")),
    "ServiceAccount": ("a ServiceAccount", _is_named("ServiceAccount")),
    "date": ("a date", _is_named("date")),
    "datetime": ("a datetime", _is_named("datetime")),
    "tzinfo": ("a time zone", _is_named("tzinfo")),
    "None": ("None", lambda value: value is None),
}

_SINGLE = {"When", "Zone", "Duration", "Instant"}
"""Annotations of one value, which its function reads in many ways."""


def wrong_argument(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Return an error message for the first argument that its annotation does not allow, or None without one."""
    parameters = inspect.signature(function).parameters.values()
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name: p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    named = [(by_name[name], value) for name, value in kwargs.items() if name in by_name]
    messages = (_problem(parameter, value) for parameter, value in [*zip(by_position, args, strict=False), *named])
    return next((message for message in messages if message), None)


def _problem(parameter: inspect.Parameter, value: object) -> str | None:
    if parameter.annotation is parameter.empty or value is parameter.default:
        return None
    parts = re.split(r"\|(?![^\[]*\])", str(parameter.annotation))
    names = [part.strip().partition("[")[0].rpartition(".")[2] for part in parts]
    if all(name in _TYPES for name in names):
        if any(_TYPES[name][1](value) for name in names):
            return None
        expected = " or ".join(dict.fromkeys(_TYPES[name][0] for name in names))
        return f"{parameter.name} must be {expected}, not {_described(value)}"
    if not _SINGLE.isdisjoint(names) and (_is_collection(value) or _is_missing(value)):
        return f"{parameter.name} must be one value, not {_described(value)}"
    return None


def _is_collection(value: object) -> bool:
    """Return True for a Series, an Index, a DataFrame or an array, without importing pandas or numpy."""
    return any(kind.__name__ in ("Series", "Index", "DataFrame", "ndarray") for kind in type(value).__mro__)


def _is_missing(value: Any) -> bool:
    """Return True for NaN, NaT and pandas' NA."""
    kind = type(value).__name__
    return kind in ("NaTType", "NAType") or (isinstance(value, float) and value != value)


def _described(value: Any) -> str:
    if _is_collection(value):
        return f"a {type(value).__name__} of {value.size}; choose one of its values"
    if _is_missing(value):
        return f"a missing value ({value})"
    is_short = value is None or (isinstance(value, str | bool) and len(repr(value)) < 80)
    return repr(value) if is_short else type(value).__name__
