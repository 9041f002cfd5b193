"""Exchanges as a sequence diagram, in the text that JupyterLab and GitHub draw (Mermaid)."""

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
    """Mermaid text that draws itself where Markdown is shown."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self}\n```"


def diagram(exchanges: Iterable[Exchange]) -> Diagram:
    """Who said what to whom, one arrow for a request and one for its answer."""
    lines = ["sequenceDiagram", "    participant C as client", "    participant S as service"]
    for exchange in exchanges:
        lines += [
            f"    C->>S: {_safe(_request_label(exchange))}",
            f"    {_arrow(exchange)}: {_safe(_response_label(exchange))}",
        ]
    return Diagram("\n".join(lines))


def _request_label(exchange: Exchange) -> str:
    headers = dict(exchange.request_headers)
    byte_range = headers.get("Content-Range") or headers.get("Range") or ""
    body = f"({size_text(exchange.sent)})" if exchange.sent else ""
    return " ".join(part for part in (exchange.method, _target(exchange.url), byte_range, body) if part)


def _target(url: str) -> str:
    """The path and the parameter that says what is meant; a session URI by its name, it is long."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    parameters = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *parameters])


def _response_label(exchange: Exchange) -> str:
    if exchange.status is None:
        return exchange.error or "no answer"
    headers = dict(exchange.response_headers)
    return f"{status_line(exchange.status)} {headers.get('Range') or headers.get('Content-Range') or ''}".rstrip()


def _arrow(exchange: Exchange) -> str:
    return "S--xC" if exchange.status is None else "S-->>C"


def _safe(text: str) -> str:
    return text.translate(_SPECIAL)
