"""Builds HTML responses without scripts and without resources of other origins."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from ...core.http.messages import Headers, Response

_STYLE = (files(__package__) / "page.css").read_text("utf-8")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; base-uri 'none'"


def html_page(
    title: str, body: str, *, status: int = 200, forms: str | None = "'self'", extra: Iterable[tuple[str, str]] = ()
) -> Response:
    """Return the response with an HTML page. `body` is HTML, and `title` is plain text.

    `forms` lists the URLs to which the forms of the page may be sent, in CSP syntax. None allows all URLs.
    """
    content = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>{body}</html>\n'
    ).encode("utf-8", "replace")
    policy = _POLICY + (f"; form-action {forms}" if forms else "") + "; frame-ancestors 'none'"
    return page_response(content, policy, ("Referrer-Policy", "same-origin"), *extra, status=status)


def page_response(content: bytes, policy: str, *extra: tuple[str, str], status: int = 200) -> Response:
    """Return the response with an HTML page. `policy` is its Content-Security-Policy."""
    headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(content))),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        *extra,
    ]
    return Response(status, Headers(headers), content)


def description_list(rows: Iterable[tuple[str, str]]) -> str:
    """Return an HTML description list (<dl>) of names and values, which are plain text."""
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows) + "</dl>"


def redirect(address: str, status: int = 303, extra: Iterable[tuple[str, str]] = ()) -> Response:
    """Return a redirect response to another address."""
    headers = [("Location", address), ("Content-Length", "0"), ("Cache-Control", "no-store"), *extra]
    return Response(status, Headers(headers))
