"""Adds pictures, looks, pages, dates and table borders to the files that pandoc writes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from datetime import UTC
from xml.sax.saxutils import escape

from ..job import Job
from .model import Document, Page
from .package_looks import docx_looks, odt_looks, odt_page
from .placeholders import Placeholders
from .reference_files import with_docx_styles, with_odt_styles

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TABLE_STYLE = re.compile(rb'(w:styleId="Table"(?:(?!</w:style>).)*?<w:tblInd [^>]*/>)', re.DOTALL)
_TABLE_BORDERS = b"<w:tblBorders>%s</w:tblBorders>" % b"".join(
    b'<w:%s w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>' % side
    for side in (b"top", b"left", b"bottom", b"right", b"insideH", b"insideV")
)
_SIDES = ("top", "right", "bottom", "left")
_SECTION_END = re.compile(rb"</w:sectPr>(?=\s*</w:body>)")
_DOCX_SIZE = re.compile(rb'(<w:szC?s? w:val=")\d+(")')
_RTF_HEADER = re.compile(rb"(\{\\colortbl[^}]*)(\}\s*\\widowctrl\\hyphauto\n)")
_RTF_ROW = re.compile(rb"^(?:(?:\\clbrdrb\\brdrs)?\\cellx\d+)+\r?$", re.MULTILINE)
_RTF_CELL = re.compile(rb"(?:\\clbrdrb\\brdrs)?(\\cellx\d+)")
_RTF_CELL_BORDERS = rb"\\clbrdrt\\brdrs\\clbrdrl\\brdrs\\clbrdrb\\brdrs\\clbrdrr\\brdrs\1"


def docx(archive: bytes, placeholders: Placeholders, document: Document, job: Job) -> bytes:
    """Add the pictures, table borders, looks, the page, and the job's date and title to a docx file."""
    return rewrite_parts(
        archive,
        {
            "word/document.xml": lambda part: _SECTION_END.sub(_docx_page(document.page), docx_looks(part)),
            "word/footnotes.xml": docx_looks,
            "word/styles.xml": lambda part: _docx_size(
                _TABLE_STYLE.sub(rb"\1" + _TABLE_BORDERS, with_docx_styles(part)), document
            ),
            "docProps/core.xml": lambda part: _with_metadata(job, part),
        },
        placeholders,
    )


def _docx_size(styles: bytes, document: Document) -> bytes:
    """Set the default size of text, which stands first in the part."""
    size = round(2 * document.text_size) if document.text_size else None
    return _DOCX_SIZE.sub(rb"\g<1>%d\2" % size, styles, count=2) if size else styles


def _docx_page(page: Page | None) -> bytes:
    if page is None:
        return rb"\g<0>"
    width, height, *margins = (round(20 * length) for length in astuple(page))
    orientation = "landscape" if width > height else "portrait"
    sides = "".join(f' w:{side}="{margin}"' for side, margin in zip(_SIDES, margins, strict=True))
    size = f'<w:pgSz w:w="{width}" w:h="{height}" w:orient="{orientation}"/>'
    return f'{size}<w:pgMar{sides} w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>'.encode()


def odt(archive: bytes, placeholders: Placeholders, document: Document, job: Job) -> bytes:
    """Add the pictures, looks, the page, and the job's date and title to an odt file."""
    border = b'fo:border="0.5pt solid #bfbfbf" fo:padding="0.04in"'
    return rewrite_parts(
        archive,
        {
            "content.xml": lambda part: odt_looks(part.replace(b'fo:border="none"', border)),
            "styles.xml": lambda part: odt_page(with_odt_styles(part), document),
            "meta.xml": lambda part: _with_metadata(job, part),
        },
        placeholders,
    )


def epub(archive: bytes, placeholders: Placeholders, job: Job) -> bytes:
    """Add the pictures and the job's date to an EPUB file, and the job's title if the title is empty."""
    return rewrite_parts(archive, {"EPUB/content.opf": lambda part: _with_metadata(job, part)}, placeholders)


def rtf(text: bytes, document: Document, colors: Iterable[str]) -> bytes:
    """Add colours, the page and table borders to an RTF file."""
    table = "".join(rf"\red{int(c[1:3], 16)}\green{int(c[3:5], 16)}\blue{int(c[5:], 16)};" for c in colors).encode()
    text = _RTF_HEADER.sub(lambda match: match[1] + table + match[2] + _rtf_page(document), text, count=1)
    return _RTF_ROW.sub(lambda row: _RTF_CELL.sub(_RTF_CELL_BORDERS, row[0]), text)


def _rtf_page(document: Document) -> bytes:
    words = rf"\fs{round(2 * document.text_size)}" if document.text_size else ""
    if page := document.page:
        words += r"\landscape" * (page.width > page.height)
        lengths = zip(("paperw", "paperh", "margt", "margr", "margb", "margl"), astuple(page), strict=True)
        words += "".join(rf"\{word}{round(20 * length)}" for word, length in lengths)
    return f"{words}\n".encode() if words else b""


def title_of(job: Job) -> str:
    """Return the job's file name as a title, without control characters. Returns "Document" if the name is empty."""
    return _CONTROL_CHARACTERS.sub(" ", job.name).strip() or "Document"


def _with_metadata(job: Job, part: bytes) -> bytes:
    """Replace pandoc's date 1970-01-01 with the job's date, and an empty title with the job's title."""
    date = job.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    title = b"<dc:title>%s</dc:title>" % escape(title_of(job)).encode()
    return re.sub(rb"1970-01-01T00:00:00(?:\.0+)?Z", date, part).replace(b"<dc:title></dc:title>", title, 1)


def rewrite_parts(
    archive: bytes, changes: Mapping[str, Callable[[bytes], bytes]], placeholders: Placeholders | None = None
) -> bytes:
    """Return a copy of a zip file, in which members with a placeholder get the picture.

    `changes` maps a member's name to a function from old to new content.
    """
    picture = placeholders.picture if placeholders else bytes
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            copy.writestr(entry, changes.get(entry.filename, picture)(source.read(entry)))
    return target.getvalue()
