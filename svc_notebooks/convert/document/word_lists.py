"""Gives Word's list styles ("List Bullet 2") their list level before pandoc reads the file."""

from __future__ import annotations

import io
import re
import zipfile

from .postprocess import rewrite_parts

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
    """Return the file with the level in each list style that it uses.

    Word gives each such style a list of its own with one level, and pandoc would read them as lists side by side.
    """
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        if not all(part in archive.namelist() for part in _PARTS):
            return source
        styles, numbering = (archive.read(part) for part in _PARTS)
        styles_by_id = {match[2]: match for match in _STYLE.finditer(styles)}
        names = (name for name in archive.namelist() if name.startswith("word/document") and name.endswith(".xml"))
        texts = map(archive.read, names)
        if not any(b'<w:pStyle w:val="' + style + b'"' in text for text in texts for style in styles_by_id):
            return source
    levels = {match[5]: int(match[3]) - 1 for match in styles_by_id.values()}
    styles = _STYLE.sub(lambda match: match[1] + b'<w:ilvl w:val="%d"/>' % levels[match[5]] + match[4], styles)
    numbering = _numbering_with_levels(numbering, levels)
    return rewrite_parts(source, {_PARTS[0]: lambda _: styles, _PARTS[1]: lambda _: numbering})


def _numbering_with_levels(numbering: bytes, levels: dict[bytes, int]) -> bytes:
    """Give the only level of each of these lists the number of the style's level."""
    levels_by_abstract_num = {match[2]: levels[match[1]] for match in _NUM.finditer(numbering) if match[1] in levels}

    def with_level(plan: re.Match[bytes]) -> bytes:
        if plan[1] not in levels_by_abstract_num or plan[0].count(b"<w:lvl ") != 1:
            return plan[0]
        return plan[0].replace(b'<w:lvl w:ilvl="0"', b'<w:lvl w:ilvl="%d"' % levels_by_abstract_num[plan[1]])

    return _ABSTRACT_NUM.sub(with_level, numbering)
