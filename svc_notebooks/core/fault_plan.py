"""The steps of fault plans, with the requests that each step matches and its action (X-05).

    {"match": {"operation"?, "method"?, "path"?, "user"?, "nth"?, "probability"?, "seed"?}, "times": 1, "action": {...}}

`operation` is a name of core/api/operations.py, `path` a glob without the query, and `nth` counts matching requests
from 1. An action is one of `ACTIONS`, or short in a header as `status=503`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.resources import files
from random import Random
from types import UnionType
from typing import Any

from .api.operations import OPERATIONS, SESSION
from .api.public_endpoints import PUBLIC_ENDPOINTS
from .byte_counts import byte_count
from .http.messages import JSON, JSONObject, has_lone_surrogate
from .suggestions import nearest_name
from .time_arguments import parse_duration

MAX_DELAY = 86_400

# The `times` from which a step may happen less often.
ANY_NUMBER = 1000

_MAX_BYTES = 2**53  # larger than any file, and exact as a float
_WITH_STATUS = ("headers", "body")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class FaultTarget:
    """A request to which a fault may apply. `size` is the body's declared size in bytes, or None."""

    operation: str | None
    method: str
    path: str
    user: str | None
    size: int | None = None

    def __str__(self) -> str:
        return " ".join((self.method, self.path, *([f"({self.operation})"] if self.operation else [])))


@dataclass(frozen=True, slots=True)
class Match:
    """The condition that selects the requests to which a step applies."""

    operation: str | None = None
    method: str | None = None
    path: str = "*"
    user: str | None = None
    nth: int = 1
    probability: float = 1
    seed: int = 0

    @classmethod
    def read(cls, members: JSONObject) -> Match:
        """Create a match from its JSON object. Raises ValueError if the object is invalid.

        >>> str(Match.read({"operation": "upload.session", "nth": 2}))
        'the 2nd request of upload.session'
        """
        check_keys("match", members, MATCH_KEYS)
        for name, value in members.items():
            _READERS.get(name, _text)(name, value)
        _operation(str(members.get("operation", SESSION.name)))
        values: dict[str, object] = {**members}
        for name, normalize in (("method", str.upper), ("user", str.lower)):  # upper or lower case, as in the service
            if name in members:
                values[name] = normalize(str(members[name]))
        return cls(**values)  # type: ignore[arg-type]

    def mismatches(self, target: FaultTarget) -> tuple[str, ...]:
        """Return the names of the match's fields that differ from a request. Empty if the request matches."""
        matches = {
            "operation": self.operation in (None, target.operation),
            "method": self.method in (None, target.method),
            "path": fnmatchcase(target.path, self.path),
            "user": self.user in (None, target.user),
        }
        return tuple(name for name, matched in matches.items() if not matched)

    def happens(self, number: int) -> bool:
        """Return True if the step happens to the matching request with this number, from 1."""
        return number >= self.nth and (
            self.probability == 1 or Random(f"{self.seed}/{number}").random() < self.probability
        )

    def __str__(self) -> str:
        tail = self.nth % 100
        ending = "th" if 11 <= tail <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(tail % 10, "th")
        parts = [f"the {self.nth}{ending}" if self.probability == 1 else "each", self.method or "", "request"]
        parts += [f"of {self.operation}"] if self.operation else []
        parts += [f"on {self.path}"] if self.path != "*" else []
        parts += [f"by {self.user}"] if self.user else []
        parts += [f"with the probability {self.probability}"] if self.probability < 1 else []
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Action:
    """The action of a step. `kind` is a key of `ACTIONS` with this `value`, and `raw` is the whole JSON object."""

    kind: str
    value: JSON
    raw: JSONObject

    @classmethod
    def read(cls, members: JSONObject) -> Action:
        """Create an action from its JSON object. Raises ValueError if the object is invalid.

        >>> print(Action.read({"reset": "after"}).description)
        performs the request, and closes the connection without a response
        """
        check_keys("action", members, ACTION_KEYS)
        members = _with_numbers(members)
        kinds = [name for name in ACTIONS if name in members]
        if len(kinds) != 1:
            given = ", ".join(kinds) or "none"
            raise ValueError(f"an action must have exactly one of {', '.join(ACTIONS)}; given: {given}")
        effect = ACTIONS[kinds[0]]
        if not effect.is_valid(members[kinds[0]]):
            raise ValueError(f"{effect.expected}, not {members[kinds[0]]!r:.60}")
        if kinds != ["status"] and (extra := members.keys() & set(_WITH_STATUS)):
            raise ValueError(f"{min(extra)} is allowed only in an action with status, not with {kinds[0]}")
        _headers(members.get("headers", {}))
        if has_lone_surrogate(members):
            raise ValueError("the strings of an action must not have lone surrogates")
        return cls(kinds[0], members[kinds[0]], members)

    @classmethod
    def parse_header(cls, text: str) -> Action:
        """Parse an action in a header, as JSON or as name=value. Raises ValueError if the text is not an action.

        >>> Action.parse_header("cut_request_after=300000").value, Action.parse_header('{"reset": "after"}').value
        (300000, 'after')
        """
        name, mark, value = (part.strip() for part in text.partition("="))
        if text.lstrip().startswith("{"):
            try:
                members = json.loads(text)
            except (ValueError, RecursionError):
                members = None
            if not isinstance(members, dict):
                raise ValueError("the fault must be a JSON object")
            return cls.read(members)
        if not mark:
            raise ValueError(f"{text[:40]!r} is not a fault; write status=503, or an action as a JSON object")
        return cls.read({name: _number_or_text(value)})

    @property
    def number(self) -> float:
        """The action's value as a float. Requires a numeric value."""
        return float(str(self.value))

    @property
    def description(self) -> str:
        """An English description of the action's effect, such as "returns 503"."""
        return ACTIONS[self.kind].describe(self.value)

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


@dataclass(frozen=True, slots=True)
class _Effect:
    """The check and the description of an action type. `expected` is the error message for an invalid value."""

    is_valid: Callable[[Any], bool]
    expected: str
    describe: Callable[[Any], str]


def _with_numbers(members: JSONObject) -> JSONObject:
    """Return an action with its delay and bytes as numbers, which may also be texts such as "90s" and "256 KB"."""
    members = {name: byte_count(value) if name in _BYTES else value for name, value in members.items()}
    delay: object = members.get("delay")
    if not isinstance(delay, str | timedelta):
        return members
    seconds = parse_duration(delay, "delay").total_seconds()
    return {**members, "delay": int(seconds) if seconds.is_integer() else seconds}


_BYTES = ("cut_request_after", "cut_response_after")


def _number_or_text(text: str) -> JSON:
    try:
        return int(text) if text.isascii() and text.isdigit() else float(text)
    except ValueError:
        return text


def check_keys(name: str, members: JSONObject, keys: tuple[str, ...]) -> None:
    """Raise ValueError if an object has a key that is not in `keys`. The message suggests the nearest key."""
    if unknown := members.keys() - set(keys):
        wrong = min(map(str, unknown))[:60]
        near = nearest_name(wrong, keys)
        hint = f"; did you mean {near}?" if near else ""
        raise ValueError(f"{name} can have only {', '.join(keys)}, not {wrong}{hint}")


def object_member(members: JSONObject, name: str) -> JSONObject:
    """Return the JSON object in a step's member `name`, or {} if missing. Raises ValueError for any other value."""
    value = members.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object")
    return value


def count(name: str, value: JSON) -> int:
    """Return a positive integer unchanged. Raises ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number of 1 or more")
    return value


def _probability(name: str, value: JSON) -> None:
    if not _is_number(value, 0, 1, int | float):
        raise ValueError(f"{name} must be a number from 0 to 1, not {value!r:.60}")


def _seed(name: str, value: JSON) -> None:
    if type(value) is not int:
        raise ValueError(f"{name} must be a whole number, not {value!r:.60}")


def _text(name: str, value: JSON) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string")


_OPERATIONS = sorted({operation.name for operation in (SESSION, *OPERATIONS, *PUBLIC_ENDPOINTS)})


def _operation(name: str) -> None:
    if name not in _OPERATIONS:
        names = {"upload": "create", "files.upload": "create", "download": "get", "files.download": "get"}
        meant = f"files.{names.get(name, name[:60])}"
        meant = meant if meant in _OPERATIONS else name[:60]
        meant = f"files.{name}" if f"files.{name}" in _OPERATIONS else meant
        suggestions = get_close_matches(meant, _OPERATIONS, n=2) or ["files.create", SESSION.name]
        raise ValueError(f"match: {name[:60]!r} is not an operation; did you mean {' or '.join(suggestions)}?")


def _headers(value: JSON) -> None:
    if not isinstance(value, dict) or not all(isinstance(text, str | int) for text in value.values()):
        raise ValueError("headers must be a JSON object of names and values")
    for name, text in value.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(str(text)):
            raise ValueError(f"headers must be valid HTTP headers, not {name!r:.40}: {str(text)!r:.40}")


def _is_number(value: object, least: float, most: float, types: type | UnionType = int) -> bool:
    return isinstance(value, types) and not isinstance(value, bool) and least <= value <= most  # type: ignore[operator]


# The action types by name. `expire`, which is not in the interface, lets the request's upload session expire.
ACTIONS: Mapping[str, _Effect] = {
    "status": _Effect(
        lambda value: _is_number(value, 200, 599),
        "status must be a number from 200 to 599",
        lambda value: f"returns {value}",
    ),
    "reset": _Effect(
        lambda value: value in ("before", "after"),
        "reset must be before or after",
        lambda value: (
            "closes the connection before it performs the request"
            if value == "before"
            else "performs the request, and closes the connection without a response"
        ),
    ),
    "cut_request_after": _Effect(
        lambda value: _is_number(value, 0, _MAX_BYTES),
        "cut_request_after must be a number of bytes, 0 or more",
        lambda value: f"closes the connection after {value:,} bytes of the request",
    ),
    "cut_response_after": _Effect(
        lambda value: _is_number(value, 0, _MAX_BYTES),
        "cut_response_after must be a number of bytes, 0 or more",
        lambda value: f"closes the connection after {value:,} bytes of the response",
    ),
    "delay": _Effect(
        lambda value: _is_number(value, 0, MAX_DELAY, int | float),
        f'delay must be a duration from 0 to {MAX_DELAY} seconds: a number of seconds or a string such as "90s"',
        lambda value: f"delays the response by {value:g} seconds",
    ),
    "expire": _Effect(
        lambda value: value == "session", "expire must be session", lambda value: "expires the upload session"
    ),
}

MATCH_KEYS = Match.__slots__
_READERS: Mapping[str, Callable[[str, JSON], object]] = {"nth": count, "probability": _probability, "seed": _seed}
ACTION_KEYS = (*ACTIONS, *_WITH_STATUS)


@dataclass(frozen=True, slots=True)
class Preset:
    """A named fault plan and its lesson. A `faults` block fails only if none of the preset's steps happened."""

    name: str
    teaches: str
    steps: list[JSONObject]
    in_order: bool = False

    def descriptions(self) -> list[str]:
        """Return an English description of each step's action."""
        return [Action.read(object_member(step, "action")).description for step in self.steps]


PRESETS = tuple(
    Preset(name, **fields)
    for name, fields in json.loads((files(__package__) / "fault_presets.json").read_text("utf-8")).items()
)


# Names that mean the fault `delay`, for the error message of a preset that does not exist.
_DELAYS = frozenset({"delay", "hang", "latency", "slow", "sleep", "stall", "timeout", "time out", "wait"})


def preset(name: str) -> Preset:
    """Return the preset with this name. Raises ValueError, which lists all names, for an unknown name.

    >>> preset("lost receipt").teaches
    'The service performs a request, but the response is lost: check before you repeat it'
    """
    for candidate in PRESETS:
        if candidate.name == name:
            return candidate
    names = [entry.name for entry in PRESETS]
    if name.strip().lower() in _DELAYS:
        raise ValueError(f"{name!r} is not a fault preset; delay='20s' delays the response, as for a test of a timeout")
    near = nearest_name(name[:60], names)
    hint = f"did you mean {near!r}? The" if near else "the"
    raise ValueError(f"{name[:60]!r} is not a fault preset; {hint} presets are {', '.join(map(repr, names))}")


def network_outage(seconds: float) -> JSONObject:
    """Return a plan that closes the connections of all users without a response for some seconds of real time.

    >>> network_outage(60)["seconds"]
    60
    """
    return {"steps": [{"action": {"reset": "before"}, "times": 1_000_000}], "seconds": seconds}
