"""Removes unsafe links, and characters that XML does not allow, from the text of slides."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_OOXML_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_BREAKS = str.maketrans({"\v": "\n", "\f": "\n", "\r": ""})
_FORBIDDEN = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SCHEMES = frozenset({"http", "https", "mailto"})
_MAX_LINK = 2_048


def text(raw: str) -> str:
    """Remove the characters that XML does not allow. Vertical tabs and form feeds become line breaks.

    >>> text("a\\vb\\x01")
    'a\\nb'
    """
    return _FORBIDDEN.sub("", raw.translate(_BREAKS))


def ooxml_text(raw: str) -> str:
    """Decode the `_x000B_` escapes of Office Open XML, and remove the characters that XML does not allow."""
    if "_x" in raw:
        raw = _OOXML_ESCAPE.sub(lambda match: chr(int(match[1], 16)), raw)
    return text(raw)


def link(address_text: str | None) -> str | None:
    """Return a web address, email address or slide ("#3") without white space, or None for other addresses.

    >>> link(" https://svc.example/a "), link("#3"), link("javascript:alert(1)")
    ('https://svc.example/a', '#3', None)
    """
    url = "".join(text(address_text or "").split())
    if url.startswith("#") and len(url) <= _MAX_LINK:
        return url
    try:
        safe = urlsplit(url).scheme.lower() in _SCHEMES and len(url) <= _MAX_LINK
    except ValueError:
        return None
    return url if safe else None
