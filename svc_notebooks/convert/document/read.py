"""Reads Word, OpenDocument, HTML, Markdown, RTF and plain text files as documents."""

from __future__ import annotations

import io
import re
from typing import Any

from ...core.http import media_types
from ..engines import libreoffice
from ..input.charset import decode, decode_markup
from ..input.detect import OLE, detect_source
from ..input.odf_file import open_package
from ..input.zip_file import check_tags, open_archive
from ..job import ConversionError, Job, TooLarge
from . import pandoc
from .clean import clean
from .html import well_formed
from .looks import Looks
from .model import SPACE, Document, Node, deep_recursion
from .rtf.parser import parse

_BREAK = re.compile(r"\n(?:[ \t\f\v]*\n)+|\f")
_SPACES = re.compile(r" +")
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_SPACES = 200  # the maximum number of successive spaces that are kept, which is wider than any page
_MAX_WORD = 1_000  # longer words are split, since writers represent a word as a list of letters
_LINE_BREAK: Node = {"t": "LineBreak"}


def text(source: bytes, job: Job) -> Document:
    """Read plain text in any character set. Raises ConversionError if over one percent of the characters are zero."""
    plain = decode(source, job).replace("\r\n", "\n").replace("\r", "\n")
    if plain.count("\0") > len(plain) // 100:
        raise ConversionError("the file is not text.")
    plain = _CONTROL_CHARACTERS.sub("", plain).strip("\n")
    nodes: dict[str, Node] = {}  # one node for each word: a book of ten megabytes has two million words
    return Document([_paragraph(part, nodes) for part in _BREAK.split(plain) if part.strip()])


def _paragraph(part: str, nodes: dict[str, Node]) -> Node:
    """Convert lines to a paragraph, with one breaking space in each sequence of spaces. `nodes` caches words."""
    inlines: list[Node] = []
    for line in part.strip("\n").split("\n"):
        inlines.append(_LINE_BREAK)
        for number, letters in enumerate(_SPACES.sub(_non_breaking, line.expandtabs(8).rstrip()).split(" ")):
            inlines += [SPACE] if number else []
            for start in range(0, len(letters), _MAX_WORD):
                word = letters[start : start + _MAX_WORD]
                inlines.append(nodes.get(word) or nodes.setdefault(word, {"t": "Str", "c": word}))
    return {"t": "Para", "c": inlines[1:]}


def _non_breaking(blanks: re.Match[str]) -> str:
    width = min(len(blanks[0]), _MAX_SPACES)
    return "\u00a0" * width if blanks.start() == 0 else "\u00a0" * (width - 1) + " "


_MAX_NESTING = 200
_VISIBLE_METADATA = ("title", "subtitle", "author", "date", "abstract")


def docx(source: bytes, job: Job) -> Document:
    """Read a docx, docm, dotx or dotm file. Raises ConversionError if the file is invalid, TooLarge above a limit."""
    from .docx.rewrite import rewrite

    with open_archive(source, job.limits, checks_markup=False) as archive:
        rewritten = io.BytesIO()
        pictures, looks = rewrite(archive, rewritten, job)
        tree = pandoc.read(rewritten.getvalue(), "docx", job)
        for name, member in pictures.items():
            path = job.folder / "media" / name
            if member is None:
                path.unlink(missing_ok=True)
            elif path.exists():
                path.write_bytes(archive.read(member))
    return _clean(tree, job, keeps_metadata=True, looks=looks)


def doc(source: bytes, job: Job) -> Document:
    """Read a file of the media type application/msword.

    LibreOffice converts a Word 97 to 2003 file to docx first. The readers for docx, odt, RTF and HTML read other files.
    LibreOffice never gets such a file, since LibreOffice would also read local files that an HTML page refers to.
    Raises ConversionError if the file is invalid, and TooLarge above a limit.
    """
    if source.startswith(OLE):
        return docx(libreoffice.convert(source, "doc", "docx", job), job)
    readers = {media_types.DOCX: docx, media_types.ODT: odt, media_types.RTF: rtf, media_types.HTML: html}
    if reader := readers.get(detect_source(source, "document") or ""):
        return reader(source, job)
    raise ConversionError("the file is not a Word document.")


def odt(source: bytes, job: Job) -> Document:
    """Read an odt file. Raises ConversionError if the file is invalid or encrypted, and TooLarge above a limit."""
    from .odt_page import OdtPage

    with open_package(source, job) as package:
        page = OdtPage(package, job)
        html = page.html()
    _check_nesting(html)
    return _clean(pandoc.read(html, "html-raw_html+epub_html_exts", job, extracts=False), job, looks=page.looks)


_NESTING_TAG = re.compile(
    rb"<(/?)(?:div|span|blockquote|ul|ol|dl|table|b|i|u|s|em|strong|font|section|article|center|small|big|sup|sub)\b",
    re.IGNORECASE,
)


def html(source: bytes, job: Job) -> Document:
    """Read an HTML page without scripts and styles. Raises ConversionError for other files, TooLarge above a limit."""
    text = decode_markup(source, job)
    markup = text.encode("utf-8", "replace")
    check_tags(markup)
    page, looks = well_formed(text, job) if text.strip() else (b"", None)
    _check_nesting(page)
    return _clean(pandoc.read(page, "html-raw_html", job), job, looks=looks)


def rtf(source: bytes, job: Job) -> Document:
    """Read RTF with the package `rtf` (see docs/decisions.md). Raises ConversionError if the file is not RTF."""
    if not source.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        raise ConversionError("the file is not RTF: the first characters must be {\\rtf.")
    return _clean(parse(source, job), job, keeps_metadata=True)


def _check_nesting(source: bytes) -> None:
    """Raise TooLarge if tags are nested too deeply. Pandoc also nests all content after an unclosed tag."""
    depth = 0
    for match in _NESTING_TAG.finditer(source):
        depth = depth - 1 if match[1] and depth else depth + (not match[1])
        if depth > _MAX_NESTING:
            raise TooLarge(f"the document is nested more than {_MAX_NESTING} levels deep.")


_MARKDOWN = "commonmark_x-raw_html-raw_attribute"  # the only reader that needs linear time for unclosed brackets
_NESTED_MARKERS = re.compile(rf"^(?:[ \t]*(?:>|[-+*][ \t]|\d{{1,9}}[.)][ \t])){{{_MAX_NESTING}}}", re.MULTILINE)


def markdown(source: bytes, job: Job) -> Document:
    """Read Markdown without embedded HTML. Raises TooLarge if lists and quotes are nested too deeply."""
    text = decode(source, job)
    if _NESTED_MARKERS.search(text):
        raise TooLarge(f"the document is nested more than {_MAX_NESTING} levels deep.")
    tree = pandoc.read(text.encode("utf-8", "replace"), _MARKDOWN, job)
    return _clean(tree, job, keeps_metadata=True)


def _clean(tree: dict[str, Any], job: Job, *, keeps_metadata: bool = False, looks: Looks | None = None) -> Document:
    """Convert a pandoc tree with markers of `looks` to a safe document. Raises TooLarge.

    `keeps_metadata` keeps `_VISIBLE_METADATA`.
    """
    names = _VISIBLE_METADATA if keeps_metadata else ()
    tree = tree | {"meta": {name: value for name, value in tree["meta"].items() if name in names}}
    with deep_recursion():
        return clean(looks.apply(tree) if looks else tree, job)
