"""Language tags as BCP 47 writes them (ocrLanguage, A5-03)."""

from __future__ import annotations

import re

_TAG = re.compile(
    r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-(?:[A-Za-z]{2}|[0-9]{3}))?(-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
)


def check_tag(text: str) -> str:
    """A well-formed tag. Raises ValueError.

    >>> check_tag("pt-BR")
    'pt-BR'
    """
    if not _TAG.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no language tag; expected one like de, pt-BR or zh-Hant.")
    return text
