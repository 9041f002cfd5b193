"""The error catalogue, with one row of catalogue.csv per service error, and the body of error responses (X-01).

A handler raises `refuse("fileNotFound", fileId="x")`, and the request pipeline sends `envelope(error)`. The interface
defines status and reason; the messages are our own. `decided_by` is a rule id of tests/rules.csv ("A3-10"), a row name
of docs/decisions.md, a `Policy` field ("chunk_rule") or a step of a fault plan ("fault faults-1/0"). Only the journal
stores it. The catalogue has none for invalid fields, parameters and headers, whose rule core/api/error_rules.py finds.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from ..http.messages import JSON, has_lone_surrogate
from ..resources.errors import ErrorDetail, ErrorResponse


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the error catalogue. `message` and `location` may contain placeholders in braces."""

    status: int
    reason: str
    decided_by: str
    message: str
    location: str | None = None
    location_type: str | None = None
    domain: str = "global"


# The domain of errors that are caused by software missing on the service's machine.
ENGINE = "engine"

_HEADER, *_LINES = (files(__package__) / "catalogue.csv").read_text("utf-8").splitlines()
CATALOGUE = {
    key: Row(int(status), reason, decided_by, message, location or None, location_type or None, domain)
    for key, status, reason, decided_by, message, location, location_type, domain in csv.reader(_LINES)
}

# The reasons of a 403 response after which a client waits and retries.
RATE_LIMIT_REASONS = frozenset(
    {"userRateLimitExceeded", "rateLimitExceeded", "dailyLimitExceeded", "sharingRateLimitExceeded"}
)

# The reasons of 5xx errors that last until an operator repairs the service.
LASTING_REASONS = frozenset({"contentDamaged", "databaseDamaged", "insufficientStorage"})


class ApiError(Exception):
    """An error response of the service, with at least one catalogue row and optional extra headers."""

    def __init__(self, rows: Sequence[Row], headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(rows[0].message)
        self.rows = tuple(rows)
        self.headers = tuple(headers)

    @property
    def status(self) -> int:
        """The HTTP status of the first row."""
        return self.rows[0].status


def row(key: str, /, *, decided_by: str | None = None, **values: object) -> Row:
    """Return a catalogue row with `values` in its message and location. `decided_by` replaces the row's rule."""
    template = CATALOGUE[key]
    location = template.location.format(**values) if template.location else None
    message = template.message.format(**values)
    return replace(template, message=message, location=location, decided_by=decided_by or template.decided_by)


def refuse(
    key: str, /, *, decided_by: str | None = None, headers: Sequence[tuple[str, str]] = (), **values: object
) -> ApiError:
    """Return the ApiError for a catalogue key, for the caller to raise. `headers` are those of the response.

    >>> refuse("fileNotFound", fileId="x").status
    404
    """
    return ApiError([row(key, decided_by=decided_by, **values)], headers)


_NOT_FOUND = {
    resource: re.compile(re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(CATALOGUE[f"{resource}NotFound"].message)))
    for resource in ("file", "channel", "calendar", "event")
}


def missing_id(message: str) -> tuple[str, str] | None:
    """Return the type and id of the missing resource from a 404 message, or None if the message names no resource.

    >>> missing_id(refuse("fileNotFound", fileId="x").rows[0].message)
    ('file', 'x')
    """
    matches = ((resource, pattern.fullmatch(message)) for resource, pattern in _NOT_FOUND.items())
    return next(((resource, match[1]) for resource, match in matches if match), None)


# The largest number of problems in an error response, so that it is not much larger than the request.
_MAX_DETAILS = 100


def envelope(error: ApiError) -> ErrorResponse:
    """Return the JSON body of an error response (X-01)."""
    details: list[ErrorDetail] = []
    for problem in error.rows[:_MAX_DETAILS]:
        detail: ErrorDetail = {"domain": problem.domain, "reason": problem.reason, "message": problem.message}
        if problem.location:
            detail |= {"locationType": problem.location_type or "", "location": problem.location}
        details.append(detail)
    return {"error": {"errors": details, "code": error.status, "message": error.rows[0].message}}


NO_TEXT = "expected text without lone surrogates."


def lone_surrogates(value: JSON) -> list[Row]:
    """Return an error row for each text in a JSON value that contains a lone surrogate.

    >>> [error.location for error in lone_surrogates({"a": ["x", chr(0xD800)]})]
    ['a[1]']
    """
    if not has_lone_surrogate(value):
        return []
    return [row("invalid", field=path or "body", message=NO_TEXT) for path in _surrogate_paths(value, "")]


def _surrogate_paths(value: JSON, path: str) -> Iterator[str]:
    """Yield the path of each text with a lone surrogate, or of the parent object if the text is a key."""
    if isinstance(value, str) and has_lone_surrogate(value):
        yield path
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _surrogate_paths(member, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            member_path = f"{path}.{key}" if path else key
            yield from (path,) if has_lone_surrogate(key) else _surrogate_paths(member, member_path)
