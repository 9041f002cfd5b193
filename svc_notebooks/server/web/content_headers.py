"""The response headers that make a browser display or save linked content and that restrict its scripts (A6-08)."""

from __future__ import annotations

from urllib.parse import quote

from ...core.http.multipart import MediaType

PDF = "application/pdf"
_PICTURES = "apng avif bmp gif jpeg png svg+xml vnd.microsoft.icon webp x-icon"
SHOWN = frozenset({PDF, "application/javascript", "application/json", "application/xml"}) | {
    f"image/{subtype}" for subtype in _PICTURES.split()
}
"""Media types that browsers display in addition to text, audio and video."""

_PLAYED = ("audio/", "video/")
_SHOWN_FAMILIES = ("text/", *_PLAYED)
_NAMES_ITS_CHARSET = frozenset({"text/html", "text/xml"})
_LONGEST_NAME = 1000


def link_headers(name: str, media_type: str, *, save: bool) -> list[tuple[str, str]]:
    """Return the response headers for a file's content. If `save` is true, the browser saves content of every type."""
    shown, essence = not save and is_shown(media_type), MediaType.parse(media_type).essence
    headers = [("Content-Disposition", disposition(name, "inline" if shown else "attachment"))]
    is_text = essence.startswith("text/") and essence not in _NAMES_ITS_CHARSET
    if shown and is_text and "charset=" not in media_type.lower():  # a browser would read UTF-8 as windows-1252
        headers.append(("Content-Type", f"{media_type}; charset=utf-8"))
    return headers + confinement(media_type)


def is_shown(media_type: str) -> bool:
    """Return True if browsers display content of this media type, False if they save it.

    >>> is_shown("video/mp4"), is_shown("image/tiff"), is_shown("application/zip")
    (True, False, False)
    """
    essence = MediaType.parse(media_type).essence
    return essence in SHOWN or essence.startswith(_SHOWN_FAMILIES)


def confinement(media_type: str) -> list[tuple[str, str]]:
    """Return headers that keep scripts in stored content from using the service's origin and the reader's cookie.

    A sandbox gives the content an origin of its own. But in a sandbox, Chromium cannot reload audio and video, and
    older versions show no PDF. These types run no scripts with the service's origin, so a policy without scripts is
    enough.
    """
    essence = MediaType.parse(media_type).essence
    policy = "script-src 'none'" if essence == PDF or essence.startswith(_PLAYED) else "sandbox"
    return [("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff")]


def disposition(name: str, kind: str) -> str:
    """Return the value of a Content-Disposition header (RFC 6266) with the name of a file.

    `kind` is "inline" or "attachment". A long name is shortened to fit in a header.

    >>> disposition('a"b.txt', "inline")
    'inline; filename="a_b.txt"; filename*=UTF-8\\'\\'a%22b.txt'
    """
    name = name[:_LONGEST_NAME]
    plain = "".join(mark if mark.isascii() and mark.isprintable() and mark not in '"\\%/' else "_" for mark in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
