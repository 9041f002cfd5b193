"""What the head of a request says of its address, of the connection, and of where its body ends."""

from __future__ import annotations

import re
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

OLD = "HTTP/1.0"
MOST_HEADER_BYTES = 65_536
MOST_HEADERS = 200

WHY_UNREADABLE = {
    400: "its first line must be a method in capital letters, an address and a version, like "
    "GET /storage/v3/files HTTP/1.1, and end with CR LF",
    408: "it did not come in time",
    413: f"its first line and its headers have more than {MOST_HEADER_BYTES} bytes",
    414: f"its first line has more than {MOST_HEADER_BYTES} bytes",
    500: "something failed inside the service",
    503: "too many others wait; try again later",
    505: f"its version must be HTTP/1.1 or {OLD}",
}
"""Why there is no request to be answered, by the status that says so."""


class SupportsReadline(Protocol):
    """What lines are read from."""

    def readline(self) -> bytes: ...


_NAME = re.compile(r"[0-9A-Za-z!#$%&'*+\-.^_`|~]+")
_NAMES = ("connection", "content-length", "expect", "host", "transfer-encoding")
_NOT_IN_A_VALUE = re.compile(r"[\r\n\0]")


def framing(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """What was sent under each name that says how the connection is used."""
    said: dict[str, list[str]] = {name: [] for name in _NAMES}
    for name, value in pairs:
        values = said.get(name.lower())
        if values is not None:
            values.append(value)
    return said


def check_framing(said: dict[str, list[str]], version: str) -> None:
    """Where a body ends, and for whom it is, must not be open to doubt: two readings are a way to smuggle a request."""
    lengths = set(said["content-length"])
    if len(lengths) > 1 or any(not (text.isascii() and text.isdigit() and len(text) <= 18) for text in lengths):
        raise ValueError("Content-Length must be one number of bytes")
    coding = [value.lower() for value in said["transfer-encoding"]]
    if coding and (coding != ["chunked"] or lengths):
        raise ValueError("Transfer-Encoding must be chunked alone, without a Content-Length")
    if coding and version == OLD:
        raise ValueError(f"{OLD} has no Transfer-Encoding")
    if len(said["host"]) > 1 or not (said["host"] or version == OLD):
        raise ValueError("there must be one Host header")


def connection_wish(said: list[str]) -> bytes:
    """What the client wants of the connection, as cheroot spells it: close goes before all else."""
    words = {word.strip() for word in ",".join(said).lower().split(",")}
    return b"close" if "close" in words else b"Keep-Alive" if "keep-alive" in words else b""


def read_headers(file: SupportsReadline) -> list[tuple[str, str]]:
    """Every header as it was sent, up to the blank line. Raises ValueError."""
    pairs: list[tuple[str, str]] = []
    while (line := file.readline()) != b"\r\n":
        pairs.append(header(line))
        if len(pairs) > MOST_HEADERS:
            raise ValueError(f"there are more than {MOST_HEADERS} headers")
    return pairs


def header(line: bytes) -> tuple[str, str]:
    """The name and the value in a line. Raises ValueError."""
    name, colon, value = line.decode("latin-1").partition(":")
    value = value.removesuffix("\r\n")
    if not line.endswith(b"\r\n") or not colon or not _NAME.fullmatch(name) or _NOT_IN_A_VALUE.search(value):
        raise ValueError(f"{line[:40]!r} is no header line")
    return name, value.strip(" \t")


def address(target: str, pairs: list[tuple[str, str]], base_url: str) -> tuple[str, list[tuple[str, str]]]:
    """The URL, which always begins with the address that we listen at, and the headers with the host that counts.

    That is the host of a target in absolute form, where there is one (RFC 9112, 3.2.2).

    >>> address("http://files.example/x?a=1", [("Host", "other.example")], "http://127.0.0.1:8080")
    ('http://127.0.0.1:8080/x?a=1', [('Host', 'files.example')])
    """
    if not target.lower().startswith(("http://", "https://")):
        return base_url + (target if target.startswith("/") else f"/{target}"), pairs
    parts, others = urlsplit(target), [pair for pair in pairs if pair[0].lower() != "host"]
    return base_url + urlunsplit(("", "", parts.path or "/", parts.query, "")), [("Host", parts.netloc), *others]
