"""Converts names in snake_case in queries and sort orders, and adds the place and the nearest name to their errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...core.errors.errors import BadRequest
from ...core.files.query import FIELDS, PAIRS, QueryError, compared_values, parse_query
from ...core.files.sort_order import SORT_KEYS, sort_key_problem
from ..arguments import texts
from ..frames.frames import snake

_FIELDS = {snake(name): name for name in (*FIELDS, *PAIRS) if snake(name) != name}
_KEYS = {**{snake(name): name for name in SORT_KEYS}, "size": "quotaBytesUsed"}
_STRING_OR_NAME = re.compile(r"'(?:[^'\\]|\\.)*'|[A-Za-z][A-Za-z0-9_.]*", re.DOTALL)
_OPERATOR = re.compile(r"[=<>']|\b(?:contains|in|has)\b")
_WIDTH = 100  # of the part of a long query that an error shows, in characters


def wire_query(query: str) -> str:
    """Replace field names in snake_case by their wire names. Strings and all other words are not changed.

    >>> wire_query("modified_time > '2026-01-01' and name = 'modified_time'")
    "modifiedTime > '2026-01-01' and name = 'modified_time'"
    """
    return _STRING_OR_NAME.sub(lambda match: _FIELDS.get(match[0], match[0]), query)


def media_types(query: str) -> list[str]:
    """Return the media types with which a query compares. The service answers a query that is not valid.

    >>> media_types("mime_type = 'text/csv' and name = 'a/b'"), media_types("mime_type")
    (['text/csv'], [])
    """
    try:
        return [str(value) for value in compared_values(parse_query(query, _FIELDS), "mimeType")]
    except QueryError:
        return []


def sort_keys(order_by: str | Iterable[str] | None) -> list[str]:
    """Return the sort keys of an `order_by` argument, which is a text with commas or a list. None gives an empty list.

    >>> sort_keys("folder, modified_time desc"), sort_keys(["name"])
    (['folder', 'modified_time desc'], ['name'])
    """
    items = [] if order_by is None else texts("order_by", order_by)
    return [key.strip() for item in items for key in item.split(",") if key.strip()]


def wire_order(keys: Iterable[str]) -> str | None:
    """Return sort keys with wire names as one text, or None without a key. Unknown keys are not changed.

    >>> wire_order(["folder", "modified_time DESC"]), wire_order(["size desc"])
    ('folder,modifiedTime desc', 'quotaBytesUsed desc')
    """
    return ",".join(_wire_key(*key.split()) for key in keys) or None


def _wire_key(name: str, *direction: str) -> str:
    return " ".join((_KEYS.get(name, name), *map(str.lower, direction)))


def explain_bad_request(error: BadRequest, query: str | None, keys: Iterable[str]) -> None:
    """Change the message of a 400 for a query or a sort order, so that it shows the place or names the right key.

    An error that the grammar of this package does not have, as of another service, is not changed.
    """
    if error.location == "q" and query is not None:
        try:
            parse_query(query, _FIELDS)
        except QueryError as invalid:
            _show_place(error, query, invalid)
    elif error.location == "orderBy":
        problems = (_sort_key_problem(*key.split()) for key in keys)
        if problem := next(filter(None, problems), None):
            error.message, error.advice = f"order_by: {problem}", ""


def _sort_key_problem(name: str, *direction: str) -> str | None:
    return sort_key_problem(name, direction, SORT_KEYS if name in SORT_KEYS else tuple(_KEYS))


def _show_place(error: BadRequest, query: str, invalid: QueryError) -> None:
    problem = invalid.problem
    if not _OPERATOR.search(query) and wire_query(query).split()[0] not in FIELDS:
        problem = f"{query.strip()!r:.60} is not a query; files(name=...) searches names, and files(text=...) words."
    error.message, error.advice = f"query: {problem}\n{_excerpt(query, invalid.start, invalid.end)}", ""


def _excerpt(query: str, start: int, end: int) -> str:
    """Return the part of a query around a place, and a line with carets below the place."""
    first = max(0, min(start - _WIDTH // 2, len(query) - _WIDTH))
    before, after = "…" if first else "", "…" if first + _WIDTH < len(query) else ""
    shown = re.sub(r"\s", " ", query[first : first + _WIDTH])
    carets = max(1, min(end, first + _WIDTH) - start)
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + start - first)}{'^' * carets}"
