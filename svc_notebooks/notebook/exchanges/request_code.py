"""Reads the recorded headers and body of a request, so that another program can send the request again."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from ...client.transport.recorder import KEPT, Exchange
from ...client.transport.urls import is_loopback
from ...core.http.messages import reason
from ...core.http.multipart import MultipartError, boundary_of
from ...core.http.ranges import ByteSpan, ContentRange
from ...core.http.redaction import REDACTED

# -- reads the recorded headers and body of a request, so that another program can send the request again


def status_line(status: int | None) -> str:
    """Return an HTTP status code with its reason phrase, or "no response" if the status is None.

    >>> status_line(308), status_line(200), status_line(None)
    ('308 Resume Incomplete', '200 OK', 'no response')
    """
    if status is None:
        return "no response"
    return f"{status} {reason(status)}".rstrip()


def target(exchange: Exchange) -> str:
    """Return the request target of an exchange, which is the path with the query of the URL."""
    parts = urlsplit(exchange.url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def body_text(size: int, text: str | None) -> str:
    """Return the recorded body text and the number of bytes that were not recorded, or "" for an empty body."""
    if not text:
        return f"<{size} bytes>" if size else ""
    shown = len(text.encode())
    hidden = REDACTED in text and shown < KEPT  # the whole body is recorded, except for the secrets
    remaining = 0 if hidden else size - shown
    return text + (f"\n<{remaining} bytes more>" if remaining > 0 else "")


def http_text(exchange: Exchange) -> str:
    """Return the request and the response of an exchange as HTTP text. A binary body is replaced by its size."""
    request = [f"{exchange.method} {target(exchange)} HTTP/1.1"]
    request += [f"{name}: {value}" for name, value in exchange.request_headers]
    parts = ["\n".join(request), body_text(exchange.sent, exchange.request_body)]
    if exchange.status is None:
        parts.append(f"(no response: {exchange.error or 'still under way'})")
    else:
        response = [f"HTTP/1.1 {status_line(exchange.status)}"]
        response += [f"{name}: {value}" for name, value in exchange.response_headers]
        parts += ["\n".join(response), body_text(exchange.received, exchange.response_body)]
    return "\n\n".join(part for part in parts if part)


# Headers that curl and the library requests set themselves, and the token, which is a variable.
_SET_BY_CLIENT = frozenset({"authorization", "host", "content-length", "user-agent", "accept-encoding"})

# The bytes of the longest character of UTF-8. A recorder does not keep a character whose bytes were cut.
_LONGEST_CHARACTER = 4


def whole_body(exchange: Exchange) -> str | None:
    """Return the request body if all of it was recorded, apart from secrets. Otherwise return None.

    A recorder keeps at most 2 KiB of a text body, and nothing of a binary body.
    """
    recorded = exchange.request_body or ""
    size = len(recorded.encode())
    if size == exchange.sent:
        return recorded
    boundary = _boundary(exchange)  # the text of a multipart body ends at binary data
    was_cut = size > KEPT - _LONGEST_CHARACTER or (boundary is not None and f"--{boundary}--" not in recorded)
    return recorded if REDACTED in recorded and not was_cut else None


def headers_without(exchange: Exchange, names: Collection[str]) -> list[tuple[str, str]]:
    """Return the request headers without those of some names and without those that have secrets."""
    pairs = exchange.request_headers
    return [(name, value) for name, value in pairs if name.lower() not in names and REDACTED not in value]


def has_token(exchange: Exchange) -> bool:
    """Return True if the request had the header Authorization."""
    return any(name.lower() == "authorization" for name, _ in exchange.request_headers)


def sent_span(exchange: Exchange) -> ByteSpan | None:
    """Return the byte range of the file that the request body has, or None if the request has no Content-Range."""
    content_range = dict(exchange.request_headers).get("Content-Range")
    return ContentRange.parse(content_range).span if content_range else None


def multipart_frame(exchange: Exchange) -> tuple[str, str] | None:
    """Return the text before and after the file in a multipart body.

    Return None if the body is not multipart, or if the recorded text does not include all metadata.
    """
    boundary = _boundary(exchange)
    if boundary is None:
        return None
    first, mark, second = (exchange.request_body or "").partition(f"\r\n--{boundary}\r\n")
    headers, blank, _ = second.partition("\r\n\r\n")
    if not blank:
        return None  # the metadata is longer than the recorded part, so the whole body must come from the file
    return first + mark + headers + blank, f"\r\n--{boundary}--\r\n"


def _boundary(exchange: Exchange) -> str | None:
    """Return the boundary of a multipart body, or None for another body."""
    try:
        return boundary_of(dict(exchange.request_headers).get("Content-Type") or "")
    except MultipartError:
        return None


# -- curl commands for a POSIX shell, with shell variables instead of secrets


_VARIABLES = {
    "SVC_BASE_URL": "lab.serve().base_url",
    "SVC_TOKEN": "lab.access_token, or a token of another service",
    "FILE": "the path of the file",
}
_ESCAPES = {"\\": "\\\\", "'": "\\0047", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def curl_text(exchange: Exchange, base: str | None = None) -> str:
    """Return the curl command that sends a request again. `base` replaces the scheme and host of the recorded URL.

    A comment before the command names the shell variables that it uses.
    """
    source, data = _curl_body(exchange)
    options = [*_method(exchange), *_curl_headers(exchange), *data, _curl_url(exchange.url, base)]
    command = f"{source}curl " + " \\\n  ".join(options)
    used = [f"{name} ({meaning})" for name, meaning in _VARIABLES.items() if f"${name}" in command]
    return f"# first export {', '.join(used)}\n{command}" if used else command


def _method(exchange: Exchange) -> list[str]:
    """Return the option for the method. Without one, curl sends GET, or POST if there is a body."""
    if exchange.method == "HEAD":
        return ["--head"]
    return [] if exchange.method == "GET" and not exchange.sent else [f"-X {shlex.quote(exchange.method)}"]


def _curl_headers(exchange: Exchange) -> Iterator[str]:
    if has_token(exchange):
        yield '-H "Authorization: Bearer $SVC_TOKEN"'
    for name, value in headers_without(exchange, _SET_BY_CLIENT):
        yield f"-H {shlex.quote(f'{name}: {value}' if value else f'{name};')}"
    if exchange.sent and "content-type" not in {name.lower() for name, _ in exchange.request_headers}:
        yield "-H 'Content-Type:'"  # otherwise curl sends the media type of an HTML form


def _curl_url(url: str, base: str | None) -> str:
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
    """Quote a text for a shell, with the shell variable `SVC_TOKEN` instead of each redacted token."""
    return '"$SVC_TOKEN"'.join(shlex.quote(part) if part else "" for part in text.split(REDACTED))


def _curl_body(exchange: Exchange) -> tuple[str, list[str]]:
    """Return a pair of the shell commands that pipe the body to curl, and curl's options for the body.

    The commands are an empty str if no pipe is needed.
    """
    if not exchange.sent:
        return "", ["-H 'Content-Length: 0'"] if exchange.method in {"POST", "PUT", "PATCH"} else []
    recorded = whole_body(exchange)
    if recorded and recorded.replace("\n", "").isprintable():
        return "", [f"--data-raw {shlex.quote(recorded)}"]
    if recorded:
        return f"{_printf(recorded)} | ", ["--data-binary @-"]
    if span := sent_span(exchange):
        return f'tail -c +{span.first + 1} "$FILE" | head -c {exchange.sent} | ', ["--data-binary @-"]
    if frame := multipart_frame(exchange):
        head, tail = map(_printf, frame)
        return f"""{{ {head}; cat "$FILE"; {tail}; }} | """, ["--data-binary @-"]
    return "", ['--data-binary "@$FILE"']


def _printf(text: str) -> str:
    """Return the command that prints a text, with escapes for control characters, in every POSIX shell."""
    escaped: list[str] = []
    for character in text:
        octal = "".join(f"\\0{byte:03o}" for byte in character.encode("utf-8", "replace"))
        escaped.append(_ESCAPES.get(character) or (character if character.isprintable() else octal))
    return f"printf %b '{''.join(escaped)}'"


# -- Python code with the library requests


_TOKEN = 'os.environ["SVC_TOKEN"]'
_BASE_URL = 'os.environ["SVC_BASE_URL"]'
_FILE = 'open(os.environ["FILE"], "rb")'


def python_text(exchange: Exchange, base_url: str | None = None, *, in_process: bool = False) -> str:
    """Return Python code that sends the request of an exchange again.

    If `base_url` is given, it replaces the scheme and host of the recorded URL. Otherwise the environment variable
    `SVC_BASE_URL` replaces them if the service is in this kernel.
    """
    body, data = _python_body(exchange)
    is_here = is_loopback(urlsplit(base_url or exchange.url).hostname) or (in_process and base_url is None)
    parts = urlsplit(exchange.url)
    origin = f"{parts.scheme}://{parts.netloc}"
    rest = exchange.url[len(origin) :]
    url = _with_token((base_url or origin).rstrip("/") + rest)
    if in_process and base_url is None:
        url = f"{_BASE_URL} + {_with_token(rest)}"
    call = [
        f"{_literal(exchange.method)},",
        f"{url},",
        *_python_headers(exchange),
        *([f"data={data},"] if data else []),
        "auth=lambda request: request,  # otherwise an entry of ~/.netrc replaces the header Authorization",
        *(['proxies={"no_proxy": "*"},  # the service is on this machine'] if is_here else []),
        "timeout=60,",
    ]
    lines = [*body, "response = requests.request(", *(f"    {argument}" for argument in call), ")"]
    code = "\n".join([*lines, "print(response.status_code, response.text)"])
    return ("import os\n\n" if "os.environ" in code else "") + "import requests\n\n" + code


def _with_token(text: str) -> str:
    """Return the text as a Python expression in which the token replaces each redacted secret."""
    return f" + {_TOKEN} + ".join(_literal(part) for part in text.split(REDACTED))


def _python_headers(exchange: Exchange) -> Iterator[str]:
    headers = headers_without(exchange, _SET_BY_CLIENT)
    lines = [f"        {_literal(name)}: {_literal(value)}," for name, value in headers]
    if has_token(exchange):
        lines.insert(0, f'        "Authorization": "Bearer " + {_TOKEN},')
    if lines:
        yield "\n".join(["headers={", *lines, "    },"])


def _python_body(exchange: Exchange) -> tuple[list[str], str]:
    """Return the lines of code that read the body, and the expression of the body, or "" if there is no body."""
    if not exchange.sent:
        return [], ""
    if recorded := whole_body(exchange):
        return [], f"{_literal(recorded)}.encode()"
    read = ["    body = file.read()"]
    if span := sent_span(exchange):
        read = [f"    file.seek({span.first})", f"    body = file.read({exchange.sent})"]
    elif frame := multipart_frame(exchange):
        head, tail = (f"{_literal(text)}.encode()" for text in frame)
        read = [f"    body = {head} + file.read() + {tail}"]
    return [f"with {_FILE} as file:", *read], "body"


def _literal(text: str) -> str:
    """Return the text as a Python literal, in double quotes if nothing in it must be escaped."""
    return f'"{text}"' if text.isprintable() and not {'"', "\\"}.intersection(text) else repr(text)
