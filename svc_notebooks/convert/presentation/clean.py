"""Removes characters that XML cannot hold, and unsafe links, from the text of slides."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_BREAKS = str.maketrans({"\v": "\n", "\f": "\n", "\r": ""})
_FORBIDDEN = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SCHEMES = frozenset({"http", "https", "mailto"})
_LINK = 2_048


def text(given: str) -> str:
    """Text that every format can hold.

    >>> text("a\\vb\\x01")
    'a\\nb'
    """
    return _FORBIDDEN.sub("", given.translate(_BREAKS))


def escaped(given: str) -> str:
    """Text as Office Open XML writes it: what XML cannot hold is there as `_x000B_`."""
    if "_x" in given:
        given = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), given)
    return text(given)


def link(given: str | None) -> str | None:
    """A link that only leads somewhere, or None.

    >>> link(" https://svc.example/a "), link("#3"), link("javascript:alert(1)")
    ('https://svc.example/a', '#3', None)
    """
    address = "".join(text(given or "").split())
    if address.startswith("#") and len(address) <= _LINK:
        return address
    try:
        safe = urlsplit(address).scheme.lower() in _SCHEMES and len(address) <= _LINK
    except ValueError:
        return None
    return address if safe else None
