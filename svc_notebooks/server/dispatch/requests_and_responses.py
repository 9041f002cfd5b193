"""Reads parameters, conditions and bodies of requests, and builds responses with JSON or text (X-01).

Bodies count their bytes in the journal, and need a length (A1-03).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from json.encoder import encode_basestring
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from ...core import field_mask
from ...core.api.documented_parameters import COMMON
from ...core.api.operations import SESSION, Operation
from ...core.errors.catalogue import ApiError, envelope, refuse
from ...core.field_mask import Mask, Shape
from ...core.http.messages import (
    JSON,
    Body,
    Disconnected,
    Headers,
    JSONObject,
    Query,
    Request,
    Response,
    abort_body,
    close_body,
    is_gone,
)
from ...core.thread_permit import FEW, in_slices
from ..store.blob_store import BLOCK
from .journal import JournalEntry

if TYPE_CHECKING:
    from .service_context import RequestContext

JSON_TYPE = ("Content-Type", "application/json; charset=UTF-8")
_NO_STORE = ("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode_json(value: object, *, compact: bool = False) -> bytes:
    """Return a value as JSON in UTF-8, on one line if `compact` is true, else indented by two spaces."""
    newline, members = "" if compact else "\n", value.items() if isinstance(value, dict) else ()
    long = {n for n, m in members if type(m) is GeneratorType or (type(m) is list and len(m) > FEW)}
    # An error message may quote lone surrogates of the request.
    if isinstance(value, dict) and long:
        return b"".join([text.encode("utf-8", "replace") for text in _object_texts(value, long, newline)])
    return (json_text(value, newline) + newline).encode("utf-8", "replace")


def _object_texts(value: Mapping[str, Any], long: Container[str], newline: str) -> Iterator[str]:
    """Yield the text of an object in pieces, with a piece for each element of the members with the names `long`.

    A generator is a list of which only a few elements are in memory.
    """
    inner, colon, before = newline and f"{newline}  ", ": " if newline else ":", "{"
    for name, member in value.items():
        yield f"{before}{inner}{encode_basestring(name)}{colon}"
        before = ","
        if name in long:
            indent, opening = inner and f"{inner}  ", "["
            elements = in_slices(member)
            while some := [*islice(elements, FEW)]:
                for element in some:
                    yield f"{opening}{indent}{json_text(element, indent)}"
                    opening = ","
            yield "[]" if opening == "[" else f"{inner}]"
        else:
            yield json_text(member, inner)
    yield f"{newline}}}{newline}"


def json_text(value: object, newline: str = "") -> str:
    """Return a value as JSON text on one line, or indented by two spaces more than `newline`, which ends each line.

    The text is that of json.dumps(indent=2), which is slow when it indents.

    >>> json_text({"a": [1]}), json_text({"a": 1}, "\\n")
    ('{"a":[1]}', '{\\n  "a": 1\\n}')
    """
    if not newline or not value or not isinstance(value, dict | list):
        return _COMPACT.encode(value)
    inner, quote, pieces = newline + "  ", encode_basestring, []
    if isinstance(value, dict):
        for key, member in value.items():  # the usual members without another call
            if type(member) is str:
                pieces.append(f"{quote(key)}: {quote(member)}")
            elif type(member) is bool or type(member) is int:
                pieces.append(f"{quote(key)}: {str(member).lower()}")
            else:
                pieces.append(f"{quote(key)}: {json_text(member, inner)}")
        return f"{{{inner}{f',{inner}'.join(pieces)}{newline}}}"
    for member in value if len(value) <= FEW else in_slices(value):
        pieces.append(quote(member) if type(member) is str else json_text(member, inner))
    return f"[{inner}{f',{inner}'.join(pieces)}{newline}]"


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


# The headers of `check_headers` in lower case.
CHECKED_HEADERS = frozenset({"content-range", "expect", "if-match", "if-none-match"})

_ETAG = re.compile(r'(W/)?("[^"]*")')


def lists_etag(headers: Headers, name: str, etag: str | None) -> bool:
    """Return True if If-Match or If-None-Match is `*` or has the etag of a resource, which is None without an etag.

    An etag with the mark W/ counts in If-None-Match only.

    >>> lists_etag(Headers([("If-Match", '"1", W/"2"')]), "If-Match", '"2"')
    False
    """
    text = ",".join(headers.all(name))
    return text.strip() == "*" or etag in [tag for mark, tag in _ETAG.findall(text) if not mark or name != "If-Match"]


def check_conditions(headers: Headers, etag: str | None, *, changes: bool = True) -> None:
    """Raise ApiError (412) if a condition forbids a request for a resource with this etag.

    If-None-Match forbids only changes.
    """
    if "If-Match" in headers and not lists_etag(headers, "If-Match", etag):
        raise refuse("conditionNotMet", name="If-Match")
    if changes and "If-None-Match" in headers and lists_etag(headers, "If-None-Match", etag):
        raise refuse("conditionNotMet", name="If-None-Match")


def check_headers(headers: Headers, method: str, operation: Operation) -> None:
    """Check the headers of a request.

    Raises ApiError (400) for a Content-Range outside of an upload session, because a part would replace the whole,
    (412) for a condition on the etag of a file, which has none, and (417) for an unknown expectation.
    """
    expectations = ",".join(headers.all("Expect")).lower().split(",")
    if any(text.strip() not in ("", "100-continue") for text in expectations):
        raise refuse("expectation")
    if method in ("POST", "PUT", "PATCH") and "Content-Range" in headers and operation is not SESSION:
        raise refuse("invalidHeader", name="Content-Range", message="only resumable uploads can be sent in parts.")
    if method != "POST" and not operation.calendar:
        check_conditions(headers, None, changes=method not in ("GET", "HEAD"))


_HASHED_AT_ONCE = 64 * 1024


def with_etag(response: Response, headers: Headers) -> Response:
    """Return a response with an ETag that is computed from its body, or 304 if the request has this etag."""
    content, digest = memoryview(response.content()), blake2b(digest_size=15)
    for start in in_slices([*range(0, len(content), _HASHED_AT_ONCE)]):
        digest.update(content[start : start + _HASHED_AT_ONCE])
    etag = f'"{digest.hexdigest()}"'
    if "If-None-Match" in headers and lists_etag(headers, "If-None-Match", etag):
        return empty_response(304, [("ETag", etag)])
    return Response(response.status, Headers([*response.headers.pairs, ("ETag", etag)]), response.body)


_MAX_NESTING = 100
_MAX_DIGITS = 4000


def read_json(body: Body, limit: int) -> JSONObject:
    """Return the JSON object in a body, or {} if empty. Raises ApiError if invalid or longer than `limit` bytes."""
    pieces, size = [], 0
    while block := body.read(BLOCK):
        pieces.append(block)
        size += len(block)
        if size > limit:
            raise refuse("metadataTooLarge", limit=limit)
    return parse_json(b"".join(pieces))


def parse_json(text: bytes) -> JSONObject:
    """Return the JSON object in a text, or {} if empty. Raises ApiError (400 parseError) for any other text."""
    if not text.strip():
        return {}
    too_deep = f"the JSON is nested more than {_MAX_NESTING} levels deep."
    try:
        if b"\0" in text:
            raise UnicodeError
        value: JSON = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant, parse_int=_integer)
    except UnicodeError:  # a zero is a byte of another encoding, such as UTF-16
        raise refuse("parseError", message="expected text in UTF-8, or Content-Encoding if it is compressed.") from None
    except RecursionError:
        raise refuse("parseError", message=too_deep) from None
    except ValueError as error:
        raise refuse("parseError", message=str(error)[:200]) from None
    if not isinstance(value, dict):
        raise refuse("parseError", message="expected an object.")
    if text.count(b"{") + text.count(b"[") > _MAX_NESTING and _is_deeper(value, _MAX_NESTING):
        raise refuse("parseError", message=too_deep)  # deep JSON can be parsed, but not always encoded
    return value


def _is_deeper(value: JSON, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth == 0 or any(_is_deeper(each, depth - 1) for each in inner)


def _reject_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")
    return int(digits)


def parse_fields_param(query: Query, default: Mask, shape: Shape) -> Mask | None:
    """Return the field mask in the parameter `fields`. Raises ApiError for an invalid mask.

    Returns `default` if the parameter is missing, and None if it is blank.
    """
    text = query.get("fields")
    if text is None:
        return default
    mask = field_mask.parse(text)
    field_mask.check(mask, shape)
    return mask or None


def select_fields(mask: Mask | None, value: Mapping[str, object]) -> JSONObject:
    """Return the fields of a resource that a mask selects. Returns {} if the mask is None."""
    whole: Any = value
    if not mask:
        return {} if mask is None else whole
    selection = field_mask.apply(mask, whole)
    return selection if isinstance(selection, dict) else {}


def resource_response(request: RequestContext, value: Mapping[str, object], shape: Shape) -> Response:
    """Return a JSON response with the fields that `fields` selects. Raises ApiError (400) if `fields` is invalid."""
    return json_response(request.query, select_fields(parse_fields_param(request.query, {}, shape), value))


def int_param(query: Query, name: str, default: int, maximum: int) -> int:
    """Return an integer parameter, or `default` if missing. Raises ApiError (400) for values outside 1 to `maximum`."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= maximum):
        raise refuse("invalidParameter", name=name, message=f"expected a whole number from 1 to {maximum}.")
    return int(text)


def bool_param(query: Query, name: str, *, default: bool) -> bool:
    """Return a boolean parameter, or `default` if missing. Raises ApiError (400) unless "true" or "false"."""
    return choice_param(query, name, ("false", "true")) == "true" if name in query else default


def check_booleans(query: Query, operation: Operation) -> None:
    """Raise ApiError (400) if a boolean parameter of an operation is neither "true" nor "false"."""
    for parameter in (*COMMON, *operation.parameters):
        if parameter.type == "boolean" and parameter.name in query:
            choice_param(query, parameter.name, ("false", "true"))


def choice_param(query: Query, name: str, allowed: tuple[str, ...]) -> str:
    """Return a query parameter, or the first `allowed` value if missing. Raises ApiError (400) for any other value."""
    text = query.get(name)
    if text is None:
        return allowed[0]
    if text not in allowed:
        raise refuse("invalidParameter", name=name, message=f"expected one of {', '.join(filter(None, allowed))}.")
    return text


_log = logging.getLogger(__name__)

_MAX_LENGTH_DIGITS = 18


class RequestBody:
    """The body of a request, limited to the declared length. Adds the number of received bytes to the journal entry."""

    __slots__ = ("_body", "_entry", "_read")

    def __init__(self, body: Body | bytes, entry: JournalEntry) -> None:
        self._body = BytesIO(body) if isinstance(body, bytes) else body
        self._entry = entry
        self._read: Callable[[int], bytes] = self._body.read

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or b"" at the end. Raises Disconnected if the body is shorter than declared."""
        declared, entry = self._entry.declared, self._entry
        if declared is not None:
            remaining = declared - entry.received
            size = remaining if size < 0 else min(size, remaining)
        block = self._read(size) if size else b""
        if size and not block and declared is not None:
            raise Disconnected("the body ended before its declared length")
        entry.received += len(block)
        return block

    def abort(self) -> None:
        """Stop the transfer from the client, if the transport supports this."""
        abort_body(self._body)

    def gone(self) -> bool:
        """Return True if the client has closed its connection."""
        return is_gone(self._body)


class ResponseStream:
    """The blocks of a streamed response. Adds the number of sent bytes to the journal entry.

    Iteration raises Disconnected if the body ends before `length`, if the source fails, and after `cut_after` bytes.
    `on_end` is called when the body has ended or is closed.
    """

    __slots__ = ("_blocks", "_cut_after", "_entry", "_length", "_source", "on_end")

    def __init__(
        self, source: Iterable[bytes], entry: JournalEntry, *, length: int | None, cut_after: int | None = None
    ) -> None:
        self.on_end: Callable[[JournalEntry], None] | None = None
        self._source = source
        self._blocks = iter(source)
        self._entry = entry
        self._length = length
        self._cut_after = cut_after

    def __iter__(self) -> ResponseStream:
        return self

    def __next__(self) -> bytes:
        try:
            return self._next()
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        function, self.on_end = self.on_end, None
        if function:
            function(self._entry)

    def _next(self) -> bytes:
        sent, cut_after = self._entry.sent, self._cut_after
        if cut_after is not None and sent >= cut_after:
            raise Disconnected("a fault cut the response")
        try:
            block = next(self._blocks)
        except StopIteration:
            if self._length is not None and sent < self._length:
                raise Disconnected(f"the body ended after {sent} of {self._length} bytes") from None
            raise
        except OSError as error:
            _log.error("a response was cut after %d bytes: %s", sent, error)
            raise Disconnected(str(error)) from error
        if cut_after is not None:
            block = block[: cut_after - sent]
        self._entry.sent = sent + len(block)
        if self._entry.sent == self._length:
            self._end()  # before the client can have the whole body
        return block

    def close(self) -> None:
        """Close the source of the blocks."""
        close_body(self._source)
        self._end()


def content_length(request: Request, *, required: bool = False) -> int | None:
    """Return the length of a request body in bytes, or None for a stream without a declared length.

    Raises ApiError (400) for an invalid Content-Length and ApiError (411) if a `required` length is missing.
    """
    headers = request.headers.by_name()
    texts, is_coded = headers.get("content-length"), "transfer-encoding" in headers
    if not texts and required and not is_coded:
        raise refuse("lengthRequired")
    if not texts or is_coded:
        return len(request.body) if isinstance(request.body, bytes) and not texts else None
    text = texts[0]
    if texts.count(text) < len(texts) or not (text.isascii() and text.isdigit() and len(text) <= _MAX_LENGTH_DIGITS):
        raise refuse("invalidHeader", name="Content-Length", message="expected one number of bytes.")
    return int(text)
