"""Wraps the public functions and methods, so that an error names the wrong argument and fits on one screen.

An unknown argument is refused with the nearest one that the function has, and an error that names no argument becomes
one that does. In a notebook, ValueError, TypeError and the other built-in errors show the user's own lines, as an
SvcError does. Their type and their traceback do not change.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..suggestions import nearest_name
from .tracebacks import shorten_traceback


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


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

SHORT = (ValueError, TypeError, OSError, RuntimeError, ImportError, KeyboardInterrupt)
"""The errors whose message is enough. Any other error, such as KeyError, is a defect, and shows where it was raised."""


def public(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function with clear errors. Name, signature and docstring do not change."""

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except (*SHORT, AttributeError) as error:
            message = _better_message(error, function, args, kwargs)
            if message is not None:
                better = (ValueError if isinstance(error, UnicodeEncodeError) else TypeError)(message)
                shorten_traceback(better)
                raise better from error
            if isinstance(error, SHORT):
                shorten_traceback(error)
            raise

    return call


def public_methods(owner: Class) -> Class:
    """Give the constructor and the public methods of a class clear errors. This is a class decorator."""
    for name, value in list(vars(owner).items()):
        if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
            setattr(owner, name, public(value))
    return owner


def public_constructor(owner: Class) -> Class:
    """Give the constructor of a class clear errors. Its methods, which only this package calls, stay as they are."""
    setattr(owner, "__init__", public(vars(owner)["__init__"]))  # noqa: B010 -- mypy refuses an assignment
    return owner


def _better_message(
    error: BaseException, function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Return a message that names the wrong argument, or None if the error names it or no argument is wrong."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        near = error.object[max(0, error.start - 10) : error.end + 10]
        return f"the text {near!r} has a lone surrogate, which cannot be sent; replace this character"
    if type(error) not in (TypeError, ValueError, AttributeError):
        return None
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # no line of the function has run
        return _call_problem(function, args, kwargs)
    if type(error) is not AttributeError and any(
        re.search(rf"\b{name}\b", str(error)) for name in inspect.signature(function).parameters
    ):
        return None
    return wrong_argument(function, args, kwargs)


def _call_problem(function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, object]) -> str | None:
    """Return the message for arguments that are not in the signature, or None for another problem."""
    parameters = inspect.signature(function).parameters.values()
    by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_method = by_position[:1] == ["self"]
    count, allowed = len(args) - is_method, by_position[is_method:]
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)][is_method:]
    name = function.__qualname__.removesuffix(".__init__")
    kinds = {p.kind for p in parameters}
    unknown = [keyword for keyword in kwargs if keyword not in by_name]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        return unknown_argument(name, unknown[0], by_name)
    if count > len(allowed) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        places = f"only {' and '.join(allowed)}" if allowed else "no argument"
        rest = [keyword for keyword in by_name if keyword not in allowed]
        hint = f"; name the others, like {rest[0]}=..." if rest else ""
        return f"{name}() takes {places} without a name, not {count} argument{'' if count == 1 else 's'}{hint}"
    return None


def unknown_argument(function: str, name: str, known: list[str]) -> str:
    """Return the error message for an argument that a function does not have.

    >>> unknown_argument("upload", "mimeType", ["name", "mime_type"])
    "upload() has no argument 'mimeType'; did you mean 'mime_type'?"
    """
    near = nearest_name(name, known)
    if near is not None:
        return f"{function}() has no argument {name!r}; did you mean {near!r}?"
    if len(known) > _MAX_LISTED:
        return f"{function}() has no argument {name!r}; help({function}) lists its arguments"
    return f"{function}() has no argument {name!r}; it takes {', '.join(known) or 'none'}"


_MAX_LISTED = 25
"""The most arguments that an error message lists."""
