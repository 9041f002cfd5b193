"""The fields of the Event resource, as lists that follow from its TypedDict, and checks of their values.

The path `attendees[].email` is the `email` of every entry of `attendees`. event_times.py checks event times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ..errors.catalogue import Row, row
from ..field_mask import FAMILY_EVENT, shape_of, with_family_fields
from ..http.messages import JSON
from ..resources.calendars import MAX_REMINDER_MINUTES as MAX_REMINDER_MINUTES
from ..resources.events import Event
from ..resources.field import Field, fields_of

EVENT_FIELDS: Final[tuple[Field, ...]] = tuple(fields_of(Event))

# The order of the top-level fields in an event response.
FIELD_ORDER: Final = tuple(Event.__annotations__)

_VALUES = {field.path: field.values for field in EVENT_FIELDS}
RESPONSES: Final = _VALUES["attendees[].responseStatus"]
METHODS: Final = _VALUES["reminders.overrides[].method"]
EVENT_TYPES: Final = _VALUES["eventType"]

MAX_REMINDERS = 5

# The field names that a `fields` mask for an event may contain.
EVENT_SHAPE = with_family_fields(shape_of(Event), FAMILY_EVENT)


_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_QUOTED = r'"(?:[\t !#-\[\]-~]|\\[\t -~])*"'
_LITERAL = r"\[[!-Z^-~]*\]"
# The addr-spec syntax of RFC 5322, section 3.4.1, without comments and obsolete syntax.
_ADDRESS = re.compile(rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_ATOM}(?:\.{_ATOM})*|{_LITERAL})")

_ID = re.compile(r"[0-9a-v]{5,1024}")
_MAX_ADDRESS = 998  # the longest line of a mail message


def is_address(text: object) -> bool:
    """Return whether a value is an e-mail address in the syntax of RFC 5322 (E-07).

    >>> is_address("ada@svc.example"), is_address('"a b"@svc.example'), is_address("ada@"), is_address("a b@c")
    (True, True, False, False)
    """
    return isinstance(text, str) and len(text) <= _MAX_ADDRESS and _ADDRESS.fullmatch(text) is not None


# The Python type of a field's JSON value, and its name in messages. An integer and a time have their own checks.
_PYTHON_TYPES: Mapping[str, tuple[type[Any], str]] = {
    **dict.fromkeys(("string", "enum", "email", "id", "url", "https", "link"), (str, "text")),
    "boolean": (bool, "true or false"),
    "object": (dict, "an object"),
    "list": (list, "a list"),
    "map": (dict, "an object of texts"),
}
# The allowed URL schemes by field type. A URL of type "link" may have any scheme.
_SCHEMES = {"url": ("http", "https"), "https": ("https",), "link": ()}


def check(field: Field, value: Any, path: str) -> list[Row]:
    """Return the error rows for a field value, empty if valid. `path` is the field path in the rows."""
    python_type, expected = _PYTHON_TYPES.get(field.type, (object, ""))
    if not isinstance(value, python_type):
        return invalid(path, wrong_type(value, expected, field.values), field.decided_by)
    if field.max_length is not None and isinstance(value, str | list) and len(value) > field.max_length:
        unit = "characters" if isinstance(value, str) else "entries"
        return too_long(path, f"expected at most {field.max_length} {unit}, not {len(value)}.")
    if field.type in _SCHEMES:
        schemes = _SCHEMES[field.type]
        if not _is_url(value, schemes):
            beginnings = " or ".join(f"{scheme}://" for scheme in schemes)
            example = f"that begins with {beginnings}" if schemes else "such as https://example.com/a.pdf"
            return invalid(path, f"expected a URL {example}.")
    elif field.type in _CHECKS:  # event_times.py checks the members of a time
        return _CHECKS[field.type](field, value, path)
    return []


def wrong_type(value: object, expected: str, allowed: tuple[str, ...] = ()) -> str:
    """Return the message about a value of a wrong JSON type. `allowed` has the allowed texts, if there are few.

    >>> wrong_type(5, "text", ("4", "5"))
    'expected text, one of "4", "5", not the number 5.'
    """
    values = ", ".join(f'"{text}"' for text in allowed)
    return f"expected {expected}{', one of ' if values else ''}{values}, not {_describe(value)}."


def invalid(path: str, message: str, decided_by: str | None = None) -> list[Row]:
    """Return a list with the error row for an invalid value. `decided_by` replaces the field's rule."""
    return [row("invalid", decided_by=decided_by, field=path, message=message)]


def too_long(path: str, message: str) -> list[Row]:
    """Return a list with the error row for a value above an `event_limits` maximum."""
    return invalid(path, message, "event_limits")


def _integer(field: Field, value: JSON, path: str) -> list[Row]:
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(number, bool) or not isinstance(number, int):
        return [row("badNumber", field=path, message=wrong_type(value, "a whole number"))]
    minimum, maximum = field.minimum, field.maximum
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        bounds = f"from {minimum} to {maximum}" if maximum is not None else f"of {minimum} or more"
        return invalid(path, f"expected a whole number {bounds}, not {str(number)[:20]}.", field.decided_by)
    return invalid(path, "expected a 32-bit number.", "Integers beyond 32 bits") if abs(number) >= 2**31 else []


def _enum(field: Field, value: JSON, path: str) -> list[Row]:
    if value in field.values:
        return []
    message = f"{str(value)[:40]!r} is not allowed; expected one of {', '.join(field.values)}."
    return invalid(path, message, field.decided_by)


def _is_url(text: str, schemes: tuple[str, ...]) -> bool:
    if not re.fullmatch(r"[^\s\x00-\x1f\x7f]+", text):
        return False
    try:
        parts = urlsplit(text)
        known = parts.scheme in schemes if schemes else bool(parts.scheme)
        return known and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False


def _email(field: Field, value: JSON, path: str) -> list[Row]:
    if value == "":
        return [row("required", field=path)]
    wanted = f"expected an e-mail address, such as ada@example.com, not {_describe(value)}."
    return [] if is_address(value) else invalid(path, wanted)


def _id(field: Field, value: JSON, path: str) -> list[Row]:
    return [] if _ID.fullmatch(str(value)) else invalid(path, "expected 5 to 1024 characters of 0-9 and a-v.")


def _map(field: Field, value: JSON, path: str) -> list[Row]:
    for key, text in value.items():  # type: ignore[union-attr]  # the type is checked before
        if text is not None and not isinstance(text, str):
            return invalid(f"{path}.{key[:60]}", wrong_type(text, "text"), field.decided_by)
    return []


def _describe(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return (
        "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else f"the number {value}"[:40]
    )


_CHECKS: Mapping[str, Callable[[Field, JSON, str], list[Row]]] = {
    "integer": _integer,
    "enum": _enum,
    "email": _email,
    "id": _id,
    "map": _map,
}
