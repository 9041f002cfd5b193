"""Reads Word, OpenDocument, HTML, Markdown, RTF and plain text files as documents."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from typing import Any

from ...core.http import native_formats
from ..engines import libreoffice
from ..input.charset import decode
from ..input.detect import OLE, detect_source
from ..input.zip_file import open_archive
from ..job import ConversionError, Job, TooLarge
from . import pandoc
from .clean import clean
from .model import Document
from .postprocess import rewrite_parts
from .rtf import parse
from .text import text

__all__ = ["doc", "docx", "html", "markdown", "odt", "rtf", "text"]

_MAX_NESTING = 200
_RECURSION_LIMIT = 5_000  # for Python, since each level of nesting in a document adds four levels to the tree
_VISIBLE_METADATA = ("title", "subtitle", "author", "date", "abstract")


def docx(source: bytes, job: Job) -> Document:
    """Read a docx, docm, dotx or dotm file. Raises ConversionError if the file is invalid, TooLarge above a limit."""
    _check_archive(source, job, "word/")
    return _clean(pandoc.read(_with_list_levels(source), "docx", job), job, keeps_metadata=True)


def doc(source: bytes, job: Job) -> Document:
    """Read a file of the media type application/msword.

    LibreOffice converts a Word 97 to 2003 file to docx first. The readers for docx, odt, RTF and HTML read other files.
    LibreOffice never gets such a file, since LibreOffice would also read local files that an HTML page refers to.
    Raises ConversionError if the file is invalid, and TooLarge above a limit.
    """
    if source.startswith(OLE):
        return docx(libreoffice.convert(source, "doc", "docx", job), job)
    readers = {native_formats.DOCX: docx, native_formats.ODT: odt, native_formats.RTF: rtf, native_formats.HTML: html}
    reader = readers.get(detect_source(source, "document") or "")
    if reader is None:
        raise ConversionError("the file is not a Word document.")
    return reader(source, job)


def odt(source: bytes, job: Job) -> Document:
    """Read an odt file. Raises ConversionError if the file is invalid or encrypted, and TooLarge above a limit."""
    _check_archive(source, job, "content.xml")
    return _clean(pandoc.read(source, "odt", job), job)


def _check_archive(source: bytes, job: Job, part: str) -> None:
    if source.startswith(OLE):
        raise ConversionError("the file is encrypted or in an older format; save the file without a password.")
    with open_archive(source, job.limits) as archive:
        if not any(name.startswith(part) for name in archive.namelist()):
            raise ConversionError(f"the file does not match its media type: {part} is missing.")


_NESTING_TAG = re.compile(
    rb"<(/?)(?:div|span|blockquote|ul|ol|dl|table|b|i|u|s|em|strong|font|section|article|center|small|big|sup|sub)\b",
    re.IGNORECASE,
)
_MAX_COLUMNS = 1_000
_INVISIBLE_TAGS = ("script", "style", "iframe", "frame", "template")
_FOREIGN_TAGS = ("object", "embed", "applet")
"""The tags of embedded objects, whose content (usually a fallback text) is kept."""
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)


def html(source: bytes, job: Job) -> Document:
    """Read an HTML page without scripts and styles. Raises ConversionError for other files, TooLarge above a limit."""
    if source.startswith((OLE, b"PK\x03\x04", b"%PDF")):
        raise ConversionError("the file is not an HTML page.")
    charset_match = _META_CHARSET.search(source[:4096])
    text = decode(source, job.charset or (charset_match and charset_match[1].decode("ascii", "replace")))
    _check_nesting(_NESTING_TAG, text.encode("utf-8", "replace"))
    page = _close_tags(text) if text.strip() else b""
    return _clean(pandoc.read(page, "html-raw_html", job), job)


def _close_tags(text: str) -> bytes:
    """Close all tags, since pandoc needs exponential time for unclosed lists, and remove invisible elements."""
    from lxml import etree, html as markup

    parser = markup.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = markup.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # the page has only comments
        return b""
    etree.strip_elements(root, *_INVISIBLE_TAGS, with_tail=False)
    etree.strip_tags(root, *_FOREIGN_TAGS)
    for row in root.iter("tr"):
        _check_spans(row)
    page: bytes = markup.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    return page


def _check_spans(row: Any) -> None:
    """Limit the row and column spans in a table row. Raises TooLarge if the columns exceed `_MAX_COLUMNS`."""
    spans = [cell for cell in row if "colspan" in cell.attrib or "rowspan" in cell.attrib]
    for cell in spans:
        for name in {"colspan", "rowspan"} & set(cell.attrib):
            cell.set(name, _span(cell.get(name)))
    if sum(int(cell.get("colspan", "1")) for cell in spans) > _MAX_COLUMNS:
        raise TooLarge(f"a table has more than {_MAX_COLUMNS} columns.")


def _span(text: str) -> str:
    """Return the value of a colspan or rowspan attribute as digits, between 1 and 999.

    >>> _span(" 12px"), _span("99999999"), _span("x")
    ('12', '999', '1')
    """
    match = re.match(r"\s*0*(\d{1,9})", text)
    return str(min(max(int(match[1]), 1), _MAX_COLUMNS - 1)) if match else "1"


def rtf(source: bytes, job: Job) -> Document:
    """Read RTF with the package `rtf` (see docs/decisions.md). Raises ConversionError if the file is not RTF."""
    if not source.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        raise ConversionError("the file is not RTF: the first characters must be {\\rtf.")
    return _clean(parse(source, job), job, keeps_metadata=True)


def _check_nesting(tags: re.Pattern[bytes], source: bytes) -> None:
    """Raise TooLarge if tags are nested too deeply. Pandoc also nests all content after an unclosed tag."""
    depth = 0
    for match in tags.finditer(source):
        depth = depth - 1 if match[1] and depth else depth + (not match[1])
        if depth > _MAX_NESTING:
            raise TooLarge(f"the document is nested more than {_MAX_NESTING} levels deep.")


_MARKDOWN = "commonmark_x-raw_html-raw_attribute"
"""The only Markdown reader in pandoc that needs linear time for unclosed brackets."""
_NESTED_MARKERS = re.compile(rf"^(?:[ \t]*(?:>|[-+*][ \t]|\d{{1,9}}[.)][ \t])){{{_MAX_NESTING}}}", re.MULTILINE)


def markdown(source: bytes, job: Job) -> Document:
    """Read Markdown without embedded HTML. Raises TooLarge if lists and quotes are nested too deeply."""
    text = decode(source, job.charset)
    if _NESTED_MARKERS.search(text):
        raise TooLarge(f"the document is nested more than {_MAX_NESTING} levels deep.")
    tree = pandoc.read(text.encode("utf-8", "replace"), _MARKDOWN, job)
    return _clean(tree, job, keeps_metadata=True)


def _clean(tree: dict[str, Any], job: Job, *, keeps_metadata: bool = False) -> Document:
    """Convert a pandoc tree to a safe document. `keeps_metadata` keeps `_VISIBLE_METADATA`. Raises TooLarge."""
    names = _VISIBLE_METADATA if keeps_metadata else ()
    tree = tree | {"meta": {name: value for name, value in tree["meta"].items() if name in names}}
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        return clean(tree, job)
    except RecursionError as error:
        raise TooLarge("the document is nested too deeply.") from error
    finally:
        sys.setrecursionlimit(before)


_WITHIN_STYLE = rb"(?:(?!</w:style>).)*?"
_LIST_STYLE = re.compile(
    rb'(<w:style\b[^>]*w:styleId="([^"]{1,99})"' + _WITHIN_STYLE + rb'<w:name w:val="List (?:Bullet|Number) ([2-5])"'
    + _WITHIN_STYLE + rb'<w:numPr>)\s*(<w:numId w:val="(\d{1,9})"\s*/>)',
    re.DOTALL,
)  # fmt: skip
_NUM = re.compile(rb'<w:num\b[^>]*\bw:numId="(\d{1,9})"[^>]*>\s*<w:abstractNumId w:val="(\d{1,9})"')
_ABSTRACT_NUM = re.compile(rb'<w:abstractNum\b[^>]*\bw:abstractNumId="(\d{1,9})".*?</w:abstractNum>', re.DOTALL)
_LIST_PARTS = ("word/styles.xml", "word/numbering.xml")


def _with_list_levels(source: bytes) -> bytes:
    """Return a docx file in which the styles "List Bullet 2", "List Number 3" and so on have their list level.

    Word defines a separate one-level list for each style, and pandoc would not nest these lists.
    """
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        if not all(part in archive.namelist() for part in _LIST_PARTS):
            return source
        styles, numbering = (archive.read(part) for part in _LIST_PARTS)
        styles_by_id = {match[2]: match for match in _LIST_STYLE.finditer(styles)}
        names = (name for name in archive.namelist() if name.startswith("word/document") and name.endswith(".xml"))
        texts = map(archive.read, names)
        if not any(b'<w:pStyle w:val="' + style + b'"' in text for text in texts for style in styles_by_id):
            return source
    levels = {match[5]: int(match[3]) - 1 for match in styles_by_id.values()}
    styles = _LIST_STYLE.sub(lambda match: match[1] + b'<w:ilvl w:val="%d"/>' % levels[match[5]] + match[4], styles)
    numbering = _numbering_with_levels(numbering, levels)
    return rewrite_parts(source, {_LIST_PARTS[0]: lambda _: styles, _LIST_PARTS[1]: lambda _: numbering})


def _numbering_with_levels(numbering: bytes, levels: dict[bytes, int]) -> bytes:
    """Set levels in the one-level lists of a docx numbering part. `levels` maps list ids (numId) to levels."""
    levels_by_abstract_num = {match[2]: levels[match[1]] for match in _NUM.finditer(numbering) if match[1] in levels}

    def with_level(plan: re.Match[bytes]) -> bytes:
        if plan[1] not in levels_by_abstract_num or plan[0].count(b"<w:lvl ") != 1:
            return plan[0]
        return plan[0].replace(b'<w:lvl w:ilvl="0"', b'<w:lvl w:ilvl="%d"' % levels_by_abstract_num[plan[1]])

    return _ABSTRACT_NUM.sub(with_level, numbering)
