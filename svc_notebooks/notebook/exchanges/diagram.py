"""Exchanges as a sequence diagram, in the text that JupyterLab and GitHub draw (Mermaid)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...core.http.messages import Query
from ..sizes import size_text
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
    for one in exchanges:
        lines += [f"    C->>S: {_safe(_asked(one))}", f"    {_arrow(one)}: {_safe(_answered(one))}"]
    return Diagram("\n".join(lines))


def _asked(one: Exchange) -> str:
    named = dict(one.request_headers)
    about = named.get("Content-Range") or named.get("Range") or ""
    body = f"({size_text(one.sent)})" if one.sent else ""
    return " ".join(part for part in (one.method, _place(one.url), about, body) if part)


def _place(url: str) -> str:
    """The path and the parameter that says what is meant; a session URI by its name, it is long."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    meant = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *meant])


def _answered(one: Exchange) -> str:
    if one.status is None:
        return one.error or "no answer"
    named = dict(one.response_headers)
    return f"{status_line(one.status)} {named.get('Range') or named.get('Content-Range') or ''}".rstrip()


def _arrow(one: Exchange) -> str:
    return "S--xC" if one.status is None else "S-->>C"


def _safe(text: str) -> str:
    return text.translate(_SPECIAL)
