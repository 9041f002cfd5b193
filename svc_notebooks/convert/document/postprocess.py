"""Adds to pandoc's output files what pandoc leaves out: dates, text direction, table borders."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC
from functools import partial
from xml.sax.saxutils import escape

from ..job import Job
from .clean import is_rtl

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SEARCHED_BYTES = 2_000
"""Bytes of markup in which a paragraph's first letter is looked for."""
_TAG = re.compile(rb"<[^>]*>?")
_PARAGRAPH = re.compile(rb'(<text:(?:p|h) [^>]*?text:style-name=")([^"]{1,200})("[^>]*>)')
_RTL_STYLE_PREFIX = "from-right-"
_STYLES_END = b"</office:automatic-styles>"
_TABLE_STYLE = re.compile(rb'(w:styleId="Table"(?:(?!</w:style>).)*?<w:tblInd [^>]*/>)', re.DOTALL)
_TABLE_BORDERS = b"<w:tblBorders>%s</w:tblBorders>" % b"".join(
    b'<w:%s w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>' % side
    for side in (b"top", b"left", b"bottom", b"right", b"insideH", b"insideV")
)
_RTF_PARAGRAPH = re.compile(rb"(\{\\pard(?:\\intbl)? )\\ql (.*)")
_RTF_CONTROL = re.compile(rb"\\(?!u-?\d)[a-z]+-?\d* ?|\\\*|[{}]")
_RTF_UNICODE = re.compile(rb"\\u(-?\d{1,5}) ?\??")
_RTF_ROW = re.compile(rb"^(?:(?:\\clbrdrb\\brdrs)?\\cellx\d+)+\r?$", re.MULTILINE)
_RTF_CELL = re.compile(rb"(?:\\clbrdrb\\brdrs)?(\\cellx\d+)")
_RTF_CELL_BORDERS = rb"\\clbrdrt\\brdrs\\clbrdrl\\brdrs\\clbrdrb\\brdrs\\clbrdrr\\brdrs\1"


def docx(archive: bytes, job: Job) -> bytes:
    """Tables have lines; the date is the service's, the title the file's."""
    with_borders = partial(_TABLE_STYLE.sub, rb"\1" + _TABLE_BORDERS)
    return _rewrite_parts(archive, {"word/styles.xml": with_borders, "docProps/core.xml": partial(_with_metadata, job)})


def odt(archive: bytes, job: Job) -> bytes:
    """Tables have lines, and paragraphs that begin from the right say so; date and title as in Word."""
    return _rewrite_parts(
        archive,
        {
            "content.xml": lambda part: _with_rtl_styles(_with_cell_borders(part)),
            "meta.xml": partial(_with_metadata, job),
        },
    )


def epub(archive: bytes, job: Job) -> bytes:
    """The date is the service's."""
    return _rewrite_parts(archive, {"EPUB/content.opf": partial(_with_metadata, job)})


def rtf(text: bytes) -> bytes:
    """The same for rich text."""
    with_borders = _RTF_ROW.sub(lambda row: _RTF_CELL.sub(_RTF_CELL_BORDERS, row[0]), text)
    return _RTF_PARAGRAPH.sub(_rtl_paragraph, with_borders)


def title_of(job: Job) -> str:
    """The file's name as a title: no signs that a command line or XML cannot have."""
    return _CONTROL_CHARACTERS.sub(" ", job.name).strip() or "Document"


def _with_metadata(job: Job, part: bytes) -> bytes:
    """In its sandbox pandoc does not know the time, and writes that of the epoch; a title it has only from the text."""
    date = job.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    title = b"<dc:title>%s</dc:title>" % escape(title_of(job)).encode()
    return re.sub(rb"1970-01-01T00:00:00(?:\.0+)?Z", date, part).replace(b"<dc:title></dc:title>", title, 1)


def _with_cell_borders(content: bytes) -> bytes:
    return content.replace(b'fo:border="none"', b'fo:border="0.5pt solid #bfbfbf" fo:padding="0.04in"')


def _with_rtl_styles(content: bytes) -> bytes:
    """The same markup, in which paragraphs from the right have styles of their own that follow theirs."""
    rtl_styles: dict[bytes, None] = {}

    def with_rtl_style(match: re.Match[bytes]) -> bytes:
        text = _TAG.sub(
            b"",
            content[match.end() : match.end() + _SEARCHED_BYTES].partition(b"</text:p>")[0].partition(b"</text:h>")[0],
        )
        if not is_rtl(text.decode("utf-8", "ignore")):
            return match[0]
        rtl_styles[match[2]] = None
        return match[1] + _RTL_STYLE_PREFIX.encode() + match[2] + match[3]

    changed = _PARAGRAPH.sub(with_rtl_style, content)
    return changed.replace(_STYLES_END, b"".join(map(_rtl_style, rtl_styles)) + _STYLES_END, 1)


def _rtl_style(name: bytes) -> bytes:
    return (
        b'<style:style style:name="%s%s" style:family="paragraph" style:parent-style-name="%s">'
        b'<style:paragraph-properties fo:text-align="right" style:writing-mode="rl-tb"/></style:style>'
    ) % (_RTL_STYLE_PREFIX.encode(), name, name)


def _rtl_paragraph(match: re.Match[bytes]) -> bytes:
    text = _RTF_UNICODE.sub(_decode_unicode, _RTF_CONTROL.sub(b"", match[2][:_SEARCHED_BYTES]))
    return match[1] + rb"\rtlpar\qr " + match[2] if is_rtl(text.decode("utf-8", "ignore")) else match[0]


def _decode_unicode(match: re.Match[bytes]) -> bytes:
    return chr(int(match[1]) % 65_536).encode("utf-8", "ignore")


def _rewrite_parts(archive: bytes, changes: Mapping[str, Callable[[bytes], bytes]]) -> bytes:
    """The same zip, with some of its parts made into others."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            part = source.read(entry)
            change = changes.get(entry.filename)
            copy.writestr(entry, change(part) if change else part)
    return target.getvalue()
