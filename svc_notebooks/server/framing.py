"""What the headers of a request say of the connection, and where its body ends."""

from __future__ import annotations


def framing(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """What was sent under each name that says how the connection is used."""
    said: dict[str, list[str]] = {"connection": [], "content-length": [], "expect": [], "transfer-encoding": []}
    for name, value in pairs:
        values = said.get(name.lower())
        if values is not None:
            values.append(value)
    return said


def check_framing(said: dict[str, list[str]]) -> None:
    """Where a body ends must not be open to doubt: two readings are a way to smuggle a request."""
    lengths = set(said["content-length"])
    if len(lengths) > 1 or any(not (text.isascii() and text.isdigit() and len(text) <= 18) for text in lengths):
        raise ValueError("Content-Length must be one number of bytes")
    coding = [value.lower() for value in said["transfer-encoding"]]
    if coding and (coding != ["chunked"] or lengths):
        raise ValueError("Transfer-Encoding must be chunked alone, without a Content-Length")


def connection_wish(said: list[str]) -> bytes:
    """What the client wants of the connection, as cheroot spells it: close goes before all else."""
    words = {word.strip() for word in ",".join(said).lower().split(",")}
    return b"close" if "close" in words else b"Keep-Alive" if "keep-alive" in words else b""


def header(line: bytes) -> tuple[str, str]:
    """The name and the value in a line. Raises ValueError."""
    name, colon, value = line.decode("latin-1").partition(":")
    if not line.endswith(b"\r\n") or not colon or not name or name != name.strip():
        raise ValueError(f"{line[:40]!r} is no header line")
    return name, value.strip()
