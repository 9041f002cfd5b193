"""Builds responses with JSON, with an error envelope, with plain text and without a body (X-01)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from types import GeneratorType

from ...core.errors.catalogue import ApiError, envelope
from ...core.http.messages import Headers, Query, Response
from ...core.thread_permit import SLICE, in_slices

JSON_TYPE = ("Content-Type", "application/json; charset=UTF-8")
_NO_STORE = ("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=list)  # for generators


def encode_json(value: object, *, compact: bool = False) -> bytes:
    """Return a value as JSON in UTF-8, on one line if `compact` is true, else indented by two spaces."""
    text = _COMPACT.encode(value) if compact else _indent(value, "\n", {}) + "\n"
    return text.encode("utf-8", "replace")  # an error message may quote lone surrogates of the request


def json_text(value: object, newline: str = "") -> str:
    """Return a value as JSON text on one line, or indented by two spaces more than `newline`, which ends each line.

    >>> json_text({"a": [1]}), json_text({"a": 1}, "\\n")
    ('{"a":[1]}', '{\\n  "a": 1\\n}')
    """
    return _indent(value, newline, {}) if newline else _COMPACT.encode(value)


def _indent(value: object, newline: str, texts: dict[tuple[int, str], str]) -> str:
    """Return the text of json.dumps(indent=2), but faster, because json.dumps is slow when it indents.

    `texts` has the texts of the objects and arrays so far, because the resources of a list share many of them.
    """
    if known := texts.get((id(value), newline)):
        return known
    inner, quote, pieces = newline + "  ", encode_basestring, []
    if value and isinstance(value, dict):
        for key, member in value.items():  # the usual members without another call
            if type(member) is str:
                pieces.append(f"{quote(key)}: {quote(member)}")
            elif type(member) is bool or type(member) is int:
                pieces.append(f"{quote(key)}: {str(member).lower()}")
            else:
                pieces.append(f"{quote(key)}: {_indent(member, inner, texts)}")
        text = f"{{{inner}{f',{inner}'.join(pieces)}{newline}}}"
    elif value and isinstance(value, list | GeneratorType):
        is_lazy = not isinstance(value, list)  # a long array, of which only one element is in memory
        for member in in_slices(value) if isinstance(value, list) and len(value) > SLICE else value:
            pieces.append(quote(member) if type(member) is str else _indent(member, inner, {} if is_lazy else texts))
        text = f"[{inner}{f',{inner}'.join(pieces)}{newline}]" if pieces else "[]"
    else:
        return _COMPACT.encode(value)
    texts[id(value), newline] = text
    return text


def json_response(query: Query, value: Mapping[str, object], status: int = 200) -> Response:
    """Return a JSON response, indented unless the query has prettyPrint=false."""
    return json_bytes(encode_json(value, compact=query.get("prettyPrint") == "false"), status)


def json_bytes(content: bytes, status: int = 200, extra: Iterable[tuple[str, str]] = ()) -> Response:
    """Return a JSON response whose body is already encoded."""
    headers = Headers([JSON_TYPE, ("Content-Length", str(len(content))), _NO_STORE, *extra])
    return Response(status, headers, content)


def error_response(error: ApiError) -> Response:
    """Return the JSON response to an API error, with the status and the headers of the error."""
    return json_bytes(encode_json(envelope(error)), error.status, error.headers)


def empty_response(status: int, extra: Iterable[tuple[str, str]] = ()) -> Response:
    """Return a response without a body."""
    headers = [("Content-Length", "0"), *extra] if status not in (204, 304) else list(extra)
    return Response(status, Headers(headers))


def text_response(status: int, text: str) -> Response:
    """Return a response in plain text."""
    content = text.encode()
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(content)))]
    return Response(status, Headers(headers), content)


def sandbox_headers(headers: Headers) -> list[tuple[str, str]]:
    """Return response headers that stop a browser from running the scripts in stored content.

    Such a script would run with the service's origin and with the cookie of the reader. Return [] if the request has an
    Authorization header, because a browser that opens a link sends none.
    """
    if "Authorization" in headers:
        return []
    return [("Content-Security-Policy", "sandbox"), ("X-Content-Type-Options", "nosniff")]
