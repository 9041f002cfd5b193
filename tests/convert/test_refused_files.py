"""Every reader refuses files that are not of its format, with the reason."""

from collections.abc import Callable

import pytest

from svc_notebooks.convert.document import read as document, scanned_pages
from svc_notebooks.convert.drawing.read import read as read_svg
from svc_notebooks.convert.job import ConversionError, Job
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.pptx.read import read as read_pptx
from svc_notebooks.convert.spreadsheet import xls
from tests.convert import sources
from tests.convert.presentation import decks

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">'
PAGE = b"<html><body><table><tr><td>a</td></tr></table></body></html>"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
REFUSED: list[tuple[Callable[[bytes, Job], object], bytes, str]] = [
    (document.docx, b"", "damaged"),
    (document.docx, b"PK\x03\x04", "damaged"),
    (document.docx, sources.odt(), "does not match its media type"),
    (document.docx, sources.zipped({"word/document.xml": "<a"}), "damaged"),
    (document.docx, sources.zipped({"word/document.xml": "<a/>"}), "Word document"),
    (document.odt, sources.zipped({"content.xml": "<a/>"}), "not a text document"),
    (document.rtf, b"plain", "not RTF"),
    (read_pptx, b"", "damaged"),
    (read_pptx, b"PK\x03\x04" + b"\0" * 100, "damaged"),
    (read_pptx, sources.zipped({"a.txt": b"a"}), "not a PowerPoint"),
    (read_pptx, sources.zipped({"[Content_Types].xml": b"<Types/>"}), "not a PowerPoint"),
    (read_odp, b"PK", "damaged"),
    (read_odp, sources.zipped({"mimetype": b"x"}), "content.xml is missing"),
    (read_odp, sources.zipped({"content.xml": b"<a/>"}), "not a presentation"),
    (read_odp, sources.zipped({"content.xml": b"<a"}), "damaged at .content.xml"),
    (read_odp, decks.odp("", members={"META-INF/manifest.xml": b"<m><encryption-data/></m>"}), "encrypted"),
    (read_svg, b"", "not well-formed XML"),
    (read_svg, b"\x1f\x8b123", "compressed"),
    (read_svg, b"<html/>", "root element"),
    (read_svg, SVG.encode(), "not well-formed XML"),
    (read_svg, f"{SVG}{'<g>' * 100_000}{'</g>' * 100_000}</svg>".encode(), "not well-formed XML"),
    *(
        (scanned_pages.pdf, source, "damaged, or not a PDF")
        for source in (b"", b"%PDF-1.7", b"%PDF-1.4\n%%EOF", b"PK\x03\x04", b"<html>")
    ),
    *(
        (reader, source, reason)
        for reader in (xls.read_xlsx, xls.read_ods, xls.read_by_signature)
        for source, reason in ((b"PK\x03\x04 broken", "zip archives"), (OLE, "not a workbook"), (PAGE, "web page"))
    ),
]


@pytest.mark.spec("A5-02")
@pytest.mark.parametrize("reader, source, reason", REFUSED)
def test_other_files_are_refused_with_the_reason(reader, source: bytes, reason: str, job: Job) -> None:
    with pytest.raises(ConversionError, match=reason):
        reader(source, job)
