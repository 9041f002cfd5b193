"""The headers of content behind a link: whether a browser shows it or saves it, and what it may do (A6-08)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from ...core.http.multipart import MediaType

PDF = "application/pdf"
_PICTURES = "apng avif bmp gif jpeg png svg+xml vnd.microsoft.icon webp x-icon"
SHOWN = frozenset({PDF, "application/javascript", "application/json", "application/xml"}) | {
    f"image/{subtype}" for subtype in _PICTURES.split()
}
"""Media types that browsers display, beside text, audio and video."""

_PLAYED = ("audio/", "video/")
_SHOWN_FAMILIES = ("text/", *_PLAYED)
_NAMES_ITS_CHARSET = frozenset({"text/html", "text/xml"})
_LONGEST_NAME = 1000


def link_headers(name: str, media_type: str, *, save: bool) -> list[tuple[str, str]]:
    """The headers for a file's content; `save`: the address asks for that."""
    shown = not save and is_shown(media_type)
    headers = [("Content-Disposition", disposition(name, "inline" if shown else "attachment"))]
    if shown and _lacks_charset(media_type):
        headers.append(("Content-Type", f"{media_type}; charset=utf-8"))
    return headers + confinement(media_type)


def is_shown(media_type: str) -> bool:
    """Whether a browser displays content of this type.

    >>> is_shown("video/mp4"), is_shown("image/tiff"), is_shown("application/zip")
    (True, False, False)
    """
    essence = MediaType.parse(media_type).essence
    return essence in SHOWN or essence.startswith(_SHOWN_FAMILIES)


def _lacks_charset(media_type: str) -> bool:
    """Whether a browser would guess the encoding of a text, and read UTF-8 as windows-1252."""
    essence = MediaType.parse(media_type).essence
    return essence.startswith("text/") and essence not in _NAMES_ITS_CHARSET and "charset=" not in media_type.lower()


def confinement(media_type: str) -> list[tuple[str, str]]:
    """Keep stored content from running scripts with the service's origin and the reader's cookie.

    A sandbox has an origin of its own: chromium's player cannot load audio and video again there, and older versions
    of it show no PDF. Content of these types holds no script that runs with the service's origin, and nosniff keeps
    it from being taken for a page, so a policy without scripts is enough.
    """
    essence = MediaType.parse(media_type).essence
    policy = "script-src 'none'" if essence == PDF or essence.startswith(_PLAYED) else "sandbox"
    return [("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff")]


def disposition(name: str, kind: str) -> str:
    """A Content-Disposition (RFC 6266) with the file's name, which is no path and may be longer than a header.

    >>> disposition('a"b.txt', "inline")
    'inline; filename="a_b.txt"; filename*=UTF-8\\'\\'a%22b.txt'
    """
    name = name[:_LONGEST_NAME]
    plain = "".join(_plain(name))
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


def _plain(name: str) -> Iterable[str]:
    return (mark if mark.isascii() and mark.isprintable() and mark not in '"\\%/' else "_" for mark in name)
