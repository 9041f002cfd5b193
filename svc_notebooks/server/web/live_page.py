"""Builds the HTML of the live page, which shows the files, messages and requests of a service when they arrive.

The page (live_page.html) contains its style sheet and its script, and no data. The script asks for the data
(activity.py) and inserts every text as a text node. The Content-Security-Policy allows only this style sheet and this
script, by their hashes, so that the page loads nothing from elsewhere, and no stored file can run as a part of it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

from ...core.fault_plan import PRESETS
from ...core.http.messages import Headers, Response

_FOLDER = Path(__file__).parent


@cache
def live_page() -> Response:
    """Return the response with the live page, which is the same for everyone."""
    style, script = (f"\n{_read(name)}" for name in ("live_page.css", "live_page.js"))
    presets = "".join(f"<option>{escape(preset.name)}</option>" for preset in PRESETS)
    page = _read("live_page.html").replace("{presets}", presets).replace("{style}", style).replace("{script}", script)
    content = page.encode()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )
    headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(content))),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", policy),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
    ]
    return Response(200, Headers(headers), content)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
