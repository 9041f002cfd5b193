"""Reads parameters, conditions, JSON and page tokens of requests, and builds responses with JSON or text (X-01)."""

from __future__ import annotations

import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from json.encoder import encode_basestring
from types import GeneratorType
from typing import Any

from ...core import field_mask
from ...core.api.operations import SESSION, Operation
from ...core.api.parameters import COMMON
from ...core.errors.catalogue import ApiError, envelope, refuse
from ...core.field_mask import Mask, Shape
from ...core.http.messages import JSON, Body, Headers, JSONObject, Query, Response
from ...core.thread_permit import SLICE, in_slices
from ..store.blob_store import BLOCK
from ..store.ids import SHARD

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


_SIGNATURE_SIZE = 16
_PAGING = ("pageToken", "maxResults")


def encode_page_token(keys: tuple[Any, ...], about: tuple[str, ...], secret: str) -> str:
    """Return a signed token with the sort keys at which the next page begins. `about` identifies the listing."""
    text = json.dumps(keys, ensure_ascii=False).encode()
    return f"{SHARD}." + urlsafe_b64encode(_signature(text, about, secret) + text).decode().rstrip("=")


def decode_page_token(token: str, about: tuple[str, ...], width: int, secret: str) -> tuple[Any, ...]:
    """Return the `width` sort keys in a page token. Raises ApiError (400) for a token of another listing or service."""
    shard, _, token = token.rpartition(".")
    if shard not in ("", str(SHARD)):  # tokens of older versions have none
        raise _wrong()
    try:
        raw = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
    except ValueError:
        raise _wrong() from None
    signature, text = raw[:_SIGNATURE_SIZE], raw[_SIGNATURE_SIZE:]
    if not hmac.compare_digest(signature, _signature(text, about, secret)):
        raise _wrong()
    keys = tuple(json.loads(text))
    if len(keys) != width:
        raise _wrong()
    return keys


def decode_sync_token(token: str, about: tuple[str, ...], width: int, secret: str) -> tuple[Any, ...]:
    """Return the `width` values in a sync token. Raises ApiError (410) for a token of another listing or service."""
    try:
        return decode_page_token(token, about, width, secret)
    except ApiError:
        raise refuse("fullSyncRequired") from None


def selecting_parameters(query: Query, operation: Operation) -> str:
    """Return the query parameters that must be the same in the requests for all pages of a list, as one text.

    These are the parameters of the operation. Unknown parameters, and those of the response format, may differ.
    """
    names = {parameter.name for parameter in operation.parameters}.difference(_PAGING)
    return str(sorted(pair for pair in query.pairs if pair[0] in names))


def _signature(text: bytes, about: tuple[str, ...], secret: str) -> bytes:
    signed = json.dumps(about).encode() + b"\n" + text
    return hmac.digest(secret.encode(), signed, "sha256")[:_SIGNATURE_SIZE]


def _wrong() -> Exception:
    return refuse(
        "invalidValue",
        name="pageToken",
        message="this token does not belong to this list; start again without pageToken.",
    )


CHECKED_HEADERS = frozenset({"content-range", "expect", "if-match", "if-none-match"})
"""The headers of `check_headers` in lower case."""

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


def with_etag(response: Response, headers: Headers) -> Response:
    """Return a response with an ETag that is computed from its body, or 304 if the request has this etag."""
    etag = f'"{blake2b(response.content(), digest_size=15).hexdigest()}"'
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
    selection = {} if mask is None else field_mask.apply(mask, whole)
    return selection if isinstance(selection, dict) else {}


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
    return choice_param(query, name, ("true", "false") if default else ("false", "true")) == "true"


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
