"""Removes unsafe links and characters from slides, and checks and stores their pictures."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..engines.images import validate_image
from ..input.native_package import resource_name
from ..job import ConversionError, Job

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


_VECTOR = (b"\x01\x00\x00\x00", b"\xd7\xcd\xc6\x9a", b"<svg", b"<?xml")


class ImageStore:
    """Stores the valid pictures of a presentation by name in `pictures`."""

    def __init__(self, job: Job) -> None:
        self.pictures: dict[str, bytes] = {}
        self._job = job
        self._names: dict[str, str | None] = {}

    def name_of(self, key: str, data: bytes) -> str | None:
        """Store a picture, and return its name, or None if it is missing (empty) or not valid."""
        if key in self._names:
            return self._names[key]
        self._names[key] = None
        if not data:
            self._job.note("a picture that is not in the file itself was left out.")
            return None
        try:
            picture = validate_image(data, self._job.limits)
        except ConversionError as error:  # also TooLarge
            drawing = "A drawing (emf, wmf or svg) was left out." if data[:5].startswith(_VECTOR) else ""
            self._job.note(drawing or f"A picture was left out: {error}")
            return None
        self._names[key] = name = resource_name(picture.data, picture.extension)
        self.pictures[name] = picture.data
        return name
