"""Gives Word's list styles ("List Bullet 2") their list level before pandoc reads the file."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable

_WITHIN_STYLE = rb"(?:(?!</w:style>).)*?"
_STYLE = re.compile(
    rb'(<w:style\b[^>]*w:styleId="([^"]{1,99})"' + _WITHIN_STYLE + rb'<w:name w:val="List (?:Bullet|Number) ([2-5])"'
    + _WITHIN_STYLE + rb'<w:numPr>)\s*(<w:numId w:val="(\d{1,9})"\s*/>)',
    re.DOTALL,
)  # fmt: skip
_NUM = re.compile(rb'<w:num\b[^>]*\bw:numId="(\d{1,9})"[^>]*>\s*<w:abstractNumId w:val="(\d{1,9})"')
_ABSTRACT_NUM = re.compile(rb'<w:abstractNum\b[^>]*\bw:abstractNumId="(\d{1,9})".*?</w:abstractNum>', re.DOTALL)
_PARTS = ("word/styles.xml", "word/numbering.xml")


def with_list_levels(source: bytes) -> bytes:
    """The same file, or one in which those styles name their level.

    Each such style has a list of its own, of one level; a reader that goes by levels would see lists side by side.
    """
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        if not all(part in archive.namelist() for part in _PARTS):
            return source
        styles, numbering = (archive.read(part) for part in _PARTS)
        styles_by_id = {match[2]: match for match in _STYLE.finditer(styles)}
        if not any(
            _uses_styles(styles_by_id, archive.read(name)) for name in archive.namelist() if _is_document_part(name)
        ):
            return source
        levels = {match[5]: int(match[3]) - 1 for match in styles_by_id.values()}
        return _rewrite_parts(
            archive,
            dict(
                zip(
                    _PARTS,
                    (_STYLE.sub(_style_with_level, styles), _numbering_with_levels(numbering, levels)),
                    strict=True,
                )
            ),
        )


def _is_document_part(name: str) -> bool:
    return name.startswith("word/document") and name.endswith(".xml")


def _uses_styles(styles: Iterable[bytes], text: bytes) -> bool:
    return any(b'<w:pStyle w:val="' + style + b'"' in text for style in styles)


def _style_with_level(match: re.Match[bytes]) -> bytes:
    return match[1] + b'<w:ilvl w:val="%d"/>' % (int(match[3]) - 1) + match[4]


def _numbering_with_levels(numbering: bytes, levels: dict[bytes, int]) -> bytes:
    """The plans of those lists, their only level being the one that the style has."""
    levels_by_abstract_num = {match[2]: levels[match[1]] for match in _NUM.finditer(numbering) if match[1] in levels}

    def with_level(plan: re.Match[bytes]) -> bytes:
        if plan[1] not in levels_by_abstract_num or plan[0].count(b"<w:lvl ") != 1:
            return plan[0]
        return plan[0].replace(b'<w:lvl w:ilvl="0"', b'<w:lvl w:ilvl="%d"' % levels_by_abstract_num[plan[1]])

    return _ABSTRACT_NUM.sub(with_level, numbering)


def _rewrite_parts(archive: zipfile.ZipFile, parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, parts.get(name) or archive.read(name))
    return target.getvalue()
