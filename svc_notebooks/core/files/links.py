"""Finds the id of a file in a link: a web page of the file, its download, or its address in the API."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

_PATHS = (
    re.compile(r"/d/(?P<id>[^/]+)"),  # webViewLink, such as /file/d/abc/view and /document/d/abc/edit
    re.compile(r"/folders/(?P<id>[^/]+)"),
    re.compile(r"/v\d+/files/(?!generateIds$|trash$)(?P<id>[^/]+)"),  # the API, whatever the brand's first segment is
)
_DOWNLOADS = ("uc", "open")
"""The last segments of paths whose query parameter `id` is the id of a file, such as in webContentLink."""


def is_link(text: str) -> bool:
    """Return True if a text begins like a web address."""
    return text.lstrip().lower().startswith(("http://", "https://"))


def file_id_in_link(link: str) -> str | None:
    """Return the id of the file to which a link leads, or None for a link to anything else.

    >>> file_id_in_link("https://svc.example/document/d/abc/edit?usp=storagesdk")
    'abc'
    >>> file_id_in_link("https://svc.example/uc?id=abc"), file_id_in_link("https://svc.example/drive/v3/files/abc?alt=media")
    ('abc', 'abc')
    """
    url = urlsplit(link.strip())
    for pattern in _PATHS:
        if match := pattern.search(url.path):
            return unquote(match["id"])
    if url.path.rpartition("/")[2] in _DOWNLOADS:
        return next(iter(parse_qs(url.query).get("id", ())), None)
    return None
