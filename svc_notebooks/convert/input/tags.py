"""Refuses markup with so many tags or attributes that parsers take minutes."""

from __future__ import annotations

import re

from ..job import TooLarge

_MAX_TAGS = 1_000_000
_MAX_ATTRIBUTES = 5_000
_LONG_TAG = re.compile(rb"""<[A-Za-z](?:[^<>"']|"[^"]*+"|'[^']*+'){5000,}+""")
_VALUES = re.compile(rb""""[^"]*"|'[^']*'""")
_NAMES = re.compile(rb"[^\s/]+")


def check_tags(markup: bytes) -> None:
    """Raise TooLarge if markup has more than `_MAX_TAGS` tags, or an element more than `_MAX_ATTRIBUTES` attributes.

    >>> check_tags(b"<p " + b'a="1" ' * 6_000 + b">")
    Traceback (most recent call last):
    svc_notebooks.convert.job.TooLarge: an element has more than 5000 attributes.
    """
    if markup.count(b"<") > _MAX_TAGS:
        raise TooLarge(f"the file has more than {_MAX_TAGS} tags.")
    for tag in _LONG_TAG.finditer(markup):
        if sum(1 for _ in _NAMES.finditer(_VALUES.sub(b" ", tag[0]))) > _MAX_ATTRIBUTES:
            raise TooLarge(f"an element has more than {_MAX_ATTRIBUTES} attributes.")
