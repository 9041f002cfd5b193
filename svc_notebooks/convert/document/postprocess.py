"""What pandoc leaves out of the files that it writes: dates, the direction of paragraphs, lines around cells."""

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

_NO_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_FAR = 2_000
"""Bytes of markup in which a paragraph's first letter is looked for."""
_TAG = re.compile(rb"<[^>]*>?")
_PARAGRAPH = re.compile(rb'(<text:(?:p|h) [^>]*?text:style-name=")([^"]{1,200})("[^>]*>)')
_MIRRORED = "from-right-"
_STYLES_END = b"</office:automatic-styles>"
_TABLE_STYLE = re.compile(rb'(w:styleId="Table"(?:(?!</w:style>).)*?<w:tblInd [^>]*/>)', re.DOTALL)
_LINES = b"<w:tblBorders>%s</w:tblBorders>" % b"".join(
    b'<w:%s w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>' % side
    for side in (b"top", b"left", b"bottom", b"right", b"insideH", b"insideV")
)
_RTF_PARAGRAPH = re.compile(rb"(\{\\pard(?:\\intbl)? )\\ql (.*)")
_RTF_WORD = re.compile(rb"\\(?!u-?\d)[a-z]+-?\d* ?|\\\*|[{}]")
_RTF_LETTER = re.compile(rb"\\u(-?\d{1,5}) ?\??")
_RTF_ROW = re.compile(rb"^(?:(?:\\clbrdrb\\brdrs)?\\cellx\d+)+\r?$", re.MULTILINE)
_RTF_EDGE = re.compile(rb"(?:\\clbrdrb\\brdrs)?(\\cellx\d+)")
_RTF_LINES = rb"\\clbrdrt\\brdrs\\clbrdrl\\brdrs\\clbrdrb\\brdrs\\clbrdrr\\brdrs\1"


def docx(made: bytes, job: Job) -> bytes:
    """Tables have lines; the date is the service's, the title the file's."""
    lined = partial(_TABLE_STYLE.sub, rb"\1" + _LINES)
    return _changed(made, {"word/styles.xml": lined, "docProps/core.xml": partial(_told, job)})


def odt(made: bytes, job: Job) -> bytes:
    """Tables have lines, and paragraphs that begin from the right say so; date and title as in Word."""
    return _changed(made, {"content.xml": lambda part: _mirrored(_lined(part)), "meta.xml": partial(_told, job)})


def epub(made: bytes, job: Job) -> bytes:
    """The date is the service's."""
    return _changed(made, {"EPUB/content.opf": partial(_told, job)})


def rtf(made: bytes) -> bytes:
    """The same for rich text."""
    lined = _RTF_ROW.sub(lambda row: _RTF_EDGE.sub(_RTF_LINES, row[0]), made)
    return _RTF_PARAGRAPH.sub(_from_right, lined)


def called(job: Job) -> str:
    """The file's name as a title: no signs that a command line or XML cannot have."""
    return _NO_NAME.sub(" ", job.name).strip() or "Document"


def _told(job: Job, part: bytes) -> bytes:
    """In its sandbox pandoc does not know the time, and writes that of the epoch; a title it has only from the text."""
    date = job.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    title = b"<dc:title>%s</dc:title>" % escape(called(job)).encode()
    return re.sub(rb"1970-01-01T00:00:00(?:\.0+)?Z", date, part).replace(b"<dc:title></dc:title>", title, 1)


def _lined(content: bytes) -> bytes:
    return content.replace(b'fo:border="none"', b'fo:border="0.5pt solid #bfbfbf" fo:padding="0.04in"')


def _mirrored(content: bytes) -> bytes:
    """The same markup, in which paragraphs from the right have styles of their own that follow theirs."""
    used: dict[bytes, None] = {}

    def mirrored(match: re.Match[bytes]) -> bytes:
        text = _TAG.sub(
            b"", content[match.end() : match.end() + _FAR].partition(b"</text:p>")[0].partition(b"</text:h>")[0]
        )
        if not is_rtl(text.decode("utf-8", "ignore")):
            return match[0]
        used[match[2]] = None
        return match[1] + _MIRRORED.encode() + match[2] + match[3]

    changed = _PARAGRAPH.sub(mirrored, content)
    return changed.replace(_STYLES_END, b"".join(map(_style, used)) + _STYLES_END, 1)


def _style(name: bytes) -> bytes:
    return (
        b'<style:style style:name="%s%s" style:family="paragraph" style:parent-style-name="%s">'
        b'<style:paragraph-properties fo:text-align="right" style:writing-mode="rl-tb"/></style:style>'
    ) % (_MIRRORED.encode(), name, name)


def _from_right(match: re.Match[bytes]) -> bytes:
    letters = _RTF_LETTER.sub(_letter, _RTF_WORD.sub(b"", match[2][:_FAR]))
    return match[1] + rb"\rtlpar\qr " + match[2] if is_rtl(letters.decode("utf-8", "ignore")) else match[0]


def _letter(match: re.Match[bytes]) -> bytes:
    return chr(int(match[1]) % 65_536).encode("utf-8", "ignore")


def _changed(made: bytes, changes: Mapping[str, Callable[[bytes], bytes]]) -> bytes:
    """The same zip, with some of its parts made into others."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            part = source.read(entry)
            change = changes.get(entry.filename)
            copy.writestr(entry, change(part) if change else part)
    return target.getvalue()
