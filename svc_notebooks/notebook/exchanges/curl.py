"""Writes an exchange as a curl command for bash.

No secret is in it: the token comes from the shell's `SVC_TOKEN`, and so does, for a service inside this kernel, its
address from `SVC_BASE_URL`. What the record does not hold of a body comes from `FILE`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.recorder import KEPT
from ...core.http.multipart import MultipartError, boundary_of
from ...core.http.ranges import ContentRange
from ...core.http.redaction import REDACTED

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

_SET_BY_CURL = frozenset({"authorization", "host", "content-length", "user-agent", "accept-encoding"})
_METHOD_OPTIONS: dict[str, list[str]] = {"GET": [], "HEAD": ["--head"]}
_ESCAPES = {ord("\\"): "\\\\", ord("'"): "\\'", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}


def curl_text(exchange: Exchange, base: str | None = None) -> str:
    """The command that sends the same request; `base`: the address to send it to, instead of the record's."""
    source, data = _body(exchange)
    options = [*_method(exchange), *_headers(exchange), *data, _url(exchange.url, base)]
    return f"{source}curl " + " \\\n  ".join(options)


def _method(exchange: Exchange) -> list[str]:
    return _METHOD_OPTIONS.get(exchange.method, [f"-X {exchange.method}"])


def _headers(exchange: Exchange) -> Iterator[str]:
    names = {name.lower() for name, _ in exchange.request_headers}
    if "authorization" in names:
        yield '-H "Authorization: Bearer $SVC_TOKEN"'
    for name, value in exchange.request_headers:
        if name.lower() not in _SET_BY_CURL and value != REDACTED:
            yield f"-H {_quoted(f'{name}: {value}' if value else f'{name};')}"
    if exchange.sent and "content-type" not in names:
        yield "-H 'Content-Type:'"  # or curl would call it a form


def _url(url: str, base: str | None) -> str:
    """The address in quotes; what is in brackets or braces is no pattern of curl's."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    start, rest = (origin, url[len(origin) :]) if base is None else (base.rstrip("/"), url[len(origin) :])
    shown = f'"{start}"{_with_token(rest)}' if start.startswith("$") else _with_token(start + rest)
    return f"--globoff {shown}" if any(mark in url for mark in "[]{}") else shown


def _with_token(text: str) -> str:
    """A token in the address is the shell's as well."""
    return '"$SVC_TOKEN"'.join(shlex.quote(part) if part else "" for part in text.split(REDACTED))


def _body(exchange: Exchange) -> tuple[str, list[str]]:
    """What the command reads from a pipe, and its options for that."""
    if not exchange.sent:
        return "", ["-H 'Content-Length: 0'"] if exchange.method in {"POST", "PUT", "PATCH"} else []
    if _is_whole(exchange):
        return "", [f"--data-raw {_quoted(exchange.request_body or '')}"]
    source = _chunk(exchange) or _multipart(exchange)
    return source, ["--data-binary @-" if source else '--data-binary "@$FILE"']


def _is_whole(exchange: Exchange) -> bool:
    """Whether the record holds the whole body: longer ones are cut, binary ones are not kept."""
    recorded = exchange.request_body or ""
    whole = len(recorded.encode()) == exchange.sent or (REDACTED in recorded and len(recorded) < KEPT)
    return bool(recorded) and whole and "\0" not in recorded


def _chunk(exchange: Exchange) -> str:
    """What cuts the chunk out of the file."""
    content_range = dict(exchange.request_headers).get("Content-Range")
    span = ContentRange.parse(content_range).span if content_range else None
    return f'tail -c +{span.first + 1} "$FILE" | head -c {exchange.sent} | ' if span else ""


def _multipart(exchange: Exchange) -> str:
    """What puts the metadata in front of the file and the last boundary behind it."""
    try:
        boundary = boundary_of(dict(exchange.request_headers).get("Content-Type") or "")
    except MultipartError:
        return ""
    first, mark, second = (exchange.request_body or "").partition(f"\r\n--{boundary}\r\n")
    headers, blank, _ = second.partition("\r\n\r\n")
    if not blank:
        return ""  # the metadata is longer than what is kept: the whole body must come from the file
    head, tail = first + mark + headers + blank, f"\r\n--{boundary}--\r\n"
    return f"""{{ printf %s {_quoted(head)}; cat "$FILE"; printf %s {_quoted(tail)}; }} | """


def _quoted(text: str) -> str:
    """A word for bash: in plain quotes, or with escapes where a line end would end the command."""
    if text.isprintable() or text.replace("\n", "").isprintable():
        return shlex.quote(text)
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def _escaped(character: str) -> str:
    if escape := _ESCAPES.get(ord(character)):
        return escape
    return (
        character
        if character.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "replace"))
    )
