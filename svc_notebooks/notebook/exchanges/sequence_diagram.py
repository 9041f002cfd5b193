"""Converts exchanges to a sequence diagram in the Mermaid language, which JupyterLab and GitHub display as an image."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...core.http.messages import Query
from ..byte_sizes import size_text
from .http_text import status_line

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

_SPECIAL = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "})


class Diagram(str):
    """A str with a diagram in the Mermaid language. A front end that renders Markdown displays it as an image."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self}\n```"


def diagram(exchanges: Iterable[Exchange]) -> Diagram:
    """Return a Mermaid sequence diagram with an arrow for each request and an arrow for each response."""
    lines = ["sequenceDiagram", "    participant C as client", "    participant S as service"]
    for exchange in exchanges:
        arrow = "S--xC" if exchange.status is None else "S-->>C"
        lines.append(f"    C->>S: {_request_label(exchange).translate(_SPECIAL)}")
        lines.append(f"    {arrow}: {_response_label(exchange).translate(_SPECIAL)}")
    return Diagram("\n".join(lines))


def _request_label(exchange: Exchange) -> str:
    headers = dict(exchange.request_headers)
    byte_range = headers.get("Content-Range") or headers.get("Range") or ""
    body = f"({size_text(exchange.sent)})" if exchange.sent else ""
    return " ".join(part for part in (exchange.method, _target(exchange.url), byte_range, body) if part)


def _target(url: str) -> str:
    """Return "session URI" for an upload session, otherwise the path with the parameters `uploadType` and `alt`."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    parameters = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *parameters])


def _response_label(exchange: Exchange) -> str:
    if exchange.status is None:
        return exchange.error or "no response"
    headers = dict(exchange.response_headers)
    return f"{status_line(exchange.status)} {headers.get('Range') or headers.get('Content-Range') or ''}".rstrip()
