"""Lists of Word whose levels are styles ("List Bullet 2"): made into the levels of one list, as pandoc reads them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable

_INSIDE = rb"(?:(?!</w:style>).)*?"
_STYLE = re.compile(
    rb'(<w:style\b[^>]*w:styleId="([^"]{1,99})"' + _INSIDE + rb'<w:name w:val="List (?:Bullet|Number) ([2-5])"'
    + _INSIDE + rb'<w:numPr>)\s*(<w:numId w:val="(\d{1,9})"\s*/>)',
    re.DOTALL,
)  # fmt: skip
_NUMBER = re.compile(rb'<w:num\b[^>]*\bw:numId="(\d{1,9})"[^>]*>\s*<w:abstractNumId w:val="(\d{1,9})"')
_PLAN = re.compile(rb'<w:abstractNum\b[^>]*\bw:abstractNumId="(\d{1,9})".*?</w:abstractNum>', re.DOTALL)
_PARTS = ("word/styles.xml", "word/numbering.xml")


def nested(source: bytes) -> bytes:
    """The same file, or one in which those styles name their level.

    Each such style has a list of its own, of one level; a reader that goes by levels would see lists side by side.
    """
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        if not all(part in archive.namelist() for part in _PARTS):
            return source
        styles, numbering = (archive.read(part) for part in _PARTS)
        found = {match[2]: match for match in _STYLE.finditer(styles)}
        if not any(_are_used(found, archive.read(name)) for name in archive.namelist() if _is_text(name)):
            return source
        levels = {match[5]: int(match[3]) - 1 for match in found.values()}
        return _with(archive, dict(zip(_PARTS, (_STYLE.sub(_level, styles), _deeper(numbering, levels)), strict=True)))


def _is_text(name: str) -> bool:
    return name.startswith("word/document") and name.endswith(".xml")


def _are_used(styles: Iterable[bytes], text: bytes) -> bool:
    return any(b'<w:pStyle w:val="' + style + b'"' in text for style in styles)


def _level(match: re.Match[bytes]) -> bytes:
    return match[1] + b'<w:ilvl w:val="%d"/>' % (int(match[3]) - 1) + match[4]


def _deeper(numbering: bytes, levels: dict[bytes, int]) -> bytes:
    """The plans of those lists, their only level being the one that the style has."""
    plans = {match[2]: levels[match[1]] for match in _NUMBER.finditer(numbering) if match[1] in levels}

    def moved(plan: re.Match[bytes]) -> bytes:
        if plan[1] not in plans or plan[0].count(b"<w:lvl ") != 1:
            return plan[0]
        return plan[0].replace(b'<w:lvl w:ilvl="0"', b'<w:lvl w:ilvl="%d"' % plans[plan[1]])

    return _PLAN.sub(moved, numbering)


def _with(archive: zipfile.ZipFile, parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, parts.get(name) or archive.read(name))
    return target.getvalue()
