"""Adds dates, text direction and table borders to the files that pandoc writes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC
from xml.sax.saxutils import escape

from ..job import Job
from .clean import is_rtl

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SEARCHED_BYTES = 2_000
"""The number of bytes of a paragraph's markup that are searched for the first letter."""
_TAG = re.compile(rb"<[^>]*>?")
_PARAGRAPH = re.compile(rb'(<text:(?:p|h) [^>]*?text:style-name=")([^"]{1,200})("[^>]*>)')
_RTL_STYLE_PREFIX = b"from-right-"
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
    """Add table borders and the job's date and title to a docx file."""
    return rewrite_parts(
        archive,
        {
            "word/styles.xml": lambda part: _TABLE_STYLE.sub(rb"\1" + _TABLE_BORDERS, part),
            "docProps/core.xml": lambda part: _with_metadata(job, part),
        },
    )


def odt(archive: bytes, job: Job) -> bytes:
    """Add table borders, styles for right-to-left paragraphs, and the job's date and title to an odt file."""
    border = b'fo:border="0.5pt solid #bfbfbf" fo:padding="0.04in"'
    return rewrite_parts(
        archive,
        {
            "content.xml": lambda part: _with_rtl_styles(part.replace(b'fo:border="none"', border)),
            "meta.xml": lambda part: _with_metadata(job, part),
        },
    )


def epub(archive: bytes, job: Job) -> bytes:
    """Add the job's date to an EPUB file, and the job's title if the title is empty."""
    return rewrite_parts(archive, {"EPUB/content.opf": lambda part: _with_metadata(job, part)})


def rtf(text: bytes) -> bytes:
    """Add table borders and the direction of right-to-left paragraphs to an RTF file."""

    def with_direction(match: re.Match[bytes]) -> bytes:
        head = _RTF_CONTROL.sub(b"", match[2][:_SEARCHED_BYTES])
        letters = _RTF_UNICODE.sub(lambda code: chr(int(code[1]) % 65_536).encode("utf-8", "ignore"), head)
        return match[1] + rb"\rtlpar\qr " + match[2] if is_rtl(letters.decode("utf-8", "ignore")) else match[0]

    with_borders = _RTF_ROW.sub(lambda row: _RTF_CELL.sub(_RTF_CELL_BORDERS, row[0]), text)
    return _RTF_PARAGRAPH.sub(with_direction, with_borders)


def title_of(job: Job) -> str:
    """Return the job's file name as a title, without control characters. Returns "Document" if the name is empty."""
    return _CONTROL_CHARACTERS.sub(" ", job.name).strip() or "Document"


def _with_metadata(job: Job, part: bytes) -> bytes:
    """Replace pandoc's date 1970-01-01 with the job's date, and an empty title with the job's title."""
    date = job.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    title = b"<dc:title>%s</dc:title>" % escape(title_of(job)).encode()
    return re.sub(rb"1970-01-01T00:00:00(?:\.0+)?Z", date, part).replace(b"<dc:title></dc:title>", title, 1)


def _with_rtl_styles(content: bytes) -> bytes:
    rtl_styles: dict[bytes, None] = {}

    def with_rtl_style(match: re.Match[bytes]) -> bytes:
        head = re.split(rb"</text:[ph]>", content[match.end() : match.end() + _SEARCHED_BYTES], maxsplit=1)[0]
        if not is_rtl(_TAG.sub(b"", head).decode("utf-8", "ignore")):
            return match[0]
        rtl_styles[match[2]] = None
        return match[1] + _RTL_STYLE_PREFIX + match[2] + match[3]

    changed = _PARAGRAPH.sub(with_rtl_style, content)
    styles = b"".join(
        b'<style:style style:name="%s%s" style:family="paragraph" style:parent-style-name="%s">'
        b'<style:paragraph-properties fo:text-align="right" style:writing-mode="rl-tb"/></style:style>'
        % (_RTL_STYLE_PREFIX, name, name)
        for name in rtl_styles
    )
    return changed.replace(_STYLES_END, styles + _STYLES_END, 1)


def rewrite_parts(archive: bytes, changes: Mapping[str, Callable[[bytes], bytes]]) -> bytes:
    """Return a copy of a zip file. `changes` maps a member's name to a function from old to new content."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            part = source.read(entry)
            change = changes.get(entry.filename)
            copy.writestr(entry, change(part) if change else part)
    return target.getvalue()
