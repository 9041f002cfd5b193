"""Converts a recorded exchange to a curl command for bash, with shell variables instead of secrets."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.http_options import is_loopback
from ...core.http.redaction import REDACTED
from .recorded_body import client_headers, has_token, multipart_frame, sent_span, whole_body

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

_ESCAPES = {ord("\\"): "\\\\", ord("'"): "\\'", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}


def curl_text(exchange: Exchange, base: str | None = None) -> str:
    """Return the curl command that sends a request again. `base` replaces the scheme and host of the recorded URL."""
    source, data = _body(exchange)
    options = [*_method(exchange), *_headers(exchange), *data, _url(exchange.url, base)]
    return f"{source}curl " + " \\\n  ".join(options)


def _method(exchange: Exchange) -> list[str]:
    """Return the option for the method. Without one, curl sends GET, or POST if there is a body."""
    if exchange.method == "HEAD":
        return ["--head"]
    return [] if exchange.method == "GET" and not exchange.sent else [f"-X {shlex.quote(exchange.method)}"]


def _headers(exchange: Exchange) -> Iterator[str]:
    if has_token(exchange):
        yield '-H "Authorization: Bearer $SVC_TOKEN"'
    for name, value in client_headers(exchange):
        yield f"-H {_quote(f'{name}: {value}' if value else f'{name};')}"
    if exchange.sent and "content-type" not in {name.lower() for name, _ in exchange.request_headers}:
        yield "-H 'Content-Type:'"  # otherwise curl sends the media type of an HTML form


def _url(url: str, base: str | None) -> str:
    """Return the quoted URL for curl, after `--noproxy` if the service is on this machine.

    If the URL has brackets or braces, which curl would expand, `--globoff` is added.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    start, rest = (origin, url[len(origin) :]) if base is None else (base.rstrip("/"), url[len(origin) :])
    shown = f'"{start}"{_quote_with_token(rest)}' if start.startswith("$") else _quote_with_token(start + rest)
    shown = f"--globoff {shown}" if any(mark in url for mark in "[]{}") else shown
    is_here = start.startswith("$") or is_loopback(urlsplit(start).hostname)
    return f"--noproxy '*' {shown}" if is_here else shown


def _quote_with_token(text: str) -> str:
    """Quote a text for bash, with the shell variable `SVC_TOKEN` instead of each redacted token."""
    return '"$SVC_TOKEN"'.join(shlex.quote(part) if part else "" for part in text.split(REDACTED))


def _body(exchange: Exchange) -> tuple[str, list[str]]:
    """Return a pair of the shell commands that pipe the body to curl, and curl's options for the body.

    The commands are an empty str if no pipe is needed.
    """
    if not exchange.sent:
        return "", ["-H 'Content-Length: 0'"] if exchange.method in {"POST", "PUT", "PATCH"} else []
    recorded = whole_body(exchange)
    if recorded and "\0" not in recorded:
        return "", [f"--data-raw {_quote(recorded)}"]
    if span := sent_span(exchange):
        return f'tail -c +{span.first + 1} "$FILE" | head -c {exchange.sent} | ', ["--data-binary @-"]
    if frame := multipart_frame(exchange):
        head, tail = map(_quote, frame)
        return f"""{{ printf %s {head}; cat "$FILE"; printf %s {tail}; }} | """, ["--data-binary @-"]
    return "", ['--data-binary "@$FILE"']


def _quote(text: str) -> str:
    """Quote a text as a word for bash. If the text has control characters, use the $'...' form with escapes."""
    if text.isprintable() or text.replace("\n", "").isprintable():
        return shlex.quote(text)
    escaped: list[str] = []
    for character in text:
        hexadecimal = "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "replace"))
        escaped.append(_ESCAPES.get(ord(character)) or (character if character.isprintable() else hexadecimal))
    return f"$'{''.join(escaped)}'"
