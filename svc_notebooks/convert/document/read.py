"""Sources that become documents: Word, OpenDocument, HTML, RTF, Markdown through pandoc, plain text by itself."""

from __future__ import annotations

import re
import sys
from typing import Any

from .. import office
from ..archive import open_archive
from ..charset import decode
from ..job import ConversionError, Job, TooLarge
from . import pandoc
from .clean import clean
from .model import Document, Node
from .rtf import parse

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_NESTED = 200
_RECURSION = 5_000  # of Python: the tree of a document nested so deep has four levels for each of its own
_VISIBLE = ("title", "subtitle", "author", "date", "abstract")


def docx(source: bytes, job: Job) -> Document:
    """A Word document (docx, docm, dotx, dotm); its title stays its title.

    Raises:
        ConversionError: it is damaged, encrypted, or none; TooLarge: it would need too much.
    """
    _check_archive(source, job, "word/")
    tree = pandoc.read(source, "docx", job)
    tree["meta"] = {name: value for name, value in tree["meta"].items() if name in _VISIBLE}
    return _cleaned(tree, job)


def doc(source: bytes, job: Job) -> Document:
    """A Word document of 1997 to 2003, which LibreOffice turns into a new one."""
    if source.startswith(b"PK"):
        return docx(source, job)
    if source.lstrip().startswith(b"{\\rtf"):
        return rtf(source, job)
    return docx(office.convert(source, "doc", "docx", job), job)


def odt(source: bytes, job: Job) -> Document:
    """An OpenDocument text."""
    _check_archive(source, job, "content.xml")
    return _of_body(pandoc.read(source, "odt", job), job)


def _check_archive(source: bytes, job: Job, part: str) -> None:
    if source.startswith(_OLE):
        raise ConversionError("the file is encrypted, or of an older format; send it without a password.")
    with open_archive(source, job.limits) as archive:
        if not any(name.startswith(part) for name in archive.namelist()):
            raise ConversionError(f"the file is not of its type: it has no {part}.")


_OPEN_OR_CLOSED = re.compile(
    rb"<(/?)(?:div|span|blockquote|ul|ol|dl|table|b|i|u|s|em|strong|font|section|article|center|small|big|sup|sub)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\b(col|row)span\s*=\s*([\"']?)\s*\d{4,}", re.IGNORECASE)
_UNSEEN_TAGS = ("script", "style", "iframe", "frame", "object", "embed", "applet", "template")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)


def html(source: bytes, job: Job) -> Document:
    """An HTML page: what is visible on it."""
    if source.startswith((_OLE, b"PK\x03\x04", b"%PDF")):
        raise ConversionError("this is no HTML page.")
    found = _META_CHARSET.search(source[:4096])
    text = decode(source, job.charset or (found and found[1].decode("ascii", "replace")))
    _check_nesting(_OPEN_OR_CLOSED, text.encode("utf-8", "replace"))
    plain = _SPAN.sub(r"\1span=\g<2>999", text).strip()
    return _of_body(pandoc.read(_well_formed(plain) if plain else b"", "html-raw_html", job), job)


def _well_formed(text: str) -> bytes:
    """A page with every tag closed: pandoc takes exponential time over lists that are not. Frames and script go."""
    from lxml import etree, html as markup

    parser = markup.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = markup.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # there is nothing but comments
        return b""
    etree.strip_elements(root, *_UNSEEN_TAGS, with_tail=False)
    page: bytes = markup.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    return page


def rtf(source: bytes, job: Job) -> Document:
    """Rich text, by a reader of our own: pandoc's loses headings, the order of lists, and letters beyond 65,536."""
    if not source.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        raise ConversionError("this is no rich text: it does not begin with {\\rtf.")
    return _cleaned(parse(source, job), job)


def _check_nesting(tags: re.Pattern[bytes], source: bytes) -> None:
    """Tags that are never closed count too: a reader would nest what follows."""
    depth = 0
    for match in tags.finditer(source):
        depth = depth - 1 if match[1] and depth else depth + (not match[1])
        if depth > _MOST_NESTED:
            raise TooLarge(f"it is nested more than {_MOST_NESTED} deep.")


def markdown(source: bytes, job: Job) -> Document:
    """Markdown; HTML in it is text."""
    text = decode(source, job.charset)
    reader = "markdown-raw_html-raw_tex-raw_attribute-yaml_metadata_block-native_divs-native_spans"
    return _of_body(pandoc.read(text.encode("utf-8", "replace"), reader, job), job)


_BREAK = re.compile(r"\n(?:[ \t\f\v]*\n)+|\f")
_BLANKS = re.compile(r" +")
_UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def text(source: bytes, job: Job) -> Document:
    """Plain text: blank lines part paragraphs, lines and blanks stay where they are."""
    plain = decode(source, job.charset).replace("\r\n", "\n").replace("\r", "\n")
    if plain.count("\0") > len(plain) // 100:
        raise ConversionError("this is no text.")
    plain = _UNSEEN.sub("", plain).strip("\n")
    return Document([_paragraph(part) for part in _BREAK.split(plain) if part.strip()])


def _paragraph(part: str) -> Node:
    inlines: list[Node] = []
    for line in part.strip("\n").split("\n"):
        inlines.append({"t": "LineBreak"})
        inlines += _line(line.expandtabs(8).rstrip())
    return {"t": "Para", "c": inlines[1:]}


def _line(line: str) -> list[Node]:
    """Words and the blanks between them; where there are several, all but the last do not break."""
    inlines: list[Node] = []
    for number, word in enumerate(_BLANKS.sub(_unbroken, line).split(" ")):
        inlines += [{"t": "Space"}] if number else []
        inlines += [{"t": "Str", "c": word}] if word else []
    return inlines


def _unbroken(blanks: re.Match[str]) -> str:
    width = len(blanks[0])
    return "\u00a0" * width if blanks.start() == 0 else "\u00a0" * (width - 1) + " "


def _of_body(tree: dict[str, Any], job: Job) -> Document:
    """What is on the pages; what a file says of itself beside them is not."""
    return _cleaned(tree | {"meta": {}}, job)


def _cleaned(tree: dict[str, Any], job: Job) -> Document:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        return clean(tree, job)
    finally:
        sys.setrecursionlimit(before)
