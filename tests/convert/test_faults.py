"""An exception in the function that converts one block, cell or shape leaves the rest, with a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from svc_notebooks.convert.document import html, odt_page, pdf, postprocess, read, write
from svc_notebooks.convert.document.docx import parts, rewrite
from svc_notebooks.convert.document.rtf import blocks, parser
from svc_notebooks.convert.drawing import read as drawing
from svc_notebooks.convert.input.odf_file import name
from svc_notebooks.convert.job import Job, TooLarge
from svc_notebooks.convert.presentation import pages
from svc_notebooks.convert.presentation.odp import read as odp_read, write as odp_write
from svc_notebooks.convert.presentation.pptx import read as pptx_read, write as pptx_write
from svc_notebooks.convert.spreadsheet import cell_texts, delimited, pages as sheet_pages
from svc_notebooks.convert.spreadsheet.model import Cell, Sheet, Workbook
from svc_notebooks.convert.spreadsheet.ods import read as ods_read, write as ods_write
from svc_notebooks.convert.spreadsheet.xlsx import read as xlsx_read, write as xlsx_write
from tests.convert import sources
from tests.convert.document.test_words import packed, printed
from tests.convert.presentation.decks import full_pptx

Convert = Callable[[Any, Job], Any]
BOOK = Workbook((Sheet(rows={row: {0: Cell("Annual"), 1: Cell(row), 2: Cell("=report")} for row in range(3)}),))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><text x="1">lost</text><text y="3">report</text></svg>'
STYLED = sources.html().replace(b"<p>", b'<p style="text-align: right">').replace(b"<li>", b'<li style="color: #f00">')


def document(job: Job) -> Any:
    return read.html(STYLED, job)


def deck(job: Job) -> Any:
    return pptx_read.read(full_pptx(), job)


READERS: dict[str, tuple[Any, str, Convert, bytes | Callable[[Job], Any]]] = {
    "look of a docx paragraph": (parts.WordFormatting, "_mark_paragraph", read.docx, sources.docx()),
    "number of a docx paragraph": (rewrite.WordNumbers, "_position", read.docx, sources.docx()),
    "row of a docx table": (rewrite, "_simplify_row", read.docx, sources.docx()),
    "picture in a docx": (rewrite, "_picture", read.docx, sources.docx()),
    "odt paragraph": (odt_page._BLOCK_RULES, name("text:p"), read.odt, sources.odt()),
    "row of an odt table": (odt_page.OdtPage, "_row", read.odt, sources.odt()),
    "table of a page": (html, "_complete_columns", read.html, sources.html()),
    "look in a page": (html, "_look", read.html, sources.html()),
    "style in a page": (html, "_simplify", read.html, sources.html()),
    "word of RTF": (parser._Parser, "_apply", read.rtf, sources.rtf()),
    "paragraph of RTF": (blocks, "parse_list_item", read.rtf, sources.rtf()),
    "element of a drawing": (drawing, "_clean_attribute", drawing.read, SVG),
    "pptx shape": (pptx_read.PptxShapeReader, "_picture", pptx_read.read, full_pptx()),
    "odp shape": (odp_read.OdpShapeReader, "_text", odp_read.read, lambda job: odp_write.write(deck(job), job)),
    "xlsx cell": (xlsx_read._RowReader, "_cell", xlsx_read.read, lambda job: xlsx_write.write(BOOK, job)),
    "ods cell": (ods_read._Table, "_cell", ods_read.read, lambda job: ods_write.write(BOOK, job)),
}
"""What fails, the object and the name of its function, the reader, and the source."""
WRITERS: dict[str, tuple[Any, str, Convert, Callable[[Job], Any]]] = {
    "paragraph of plain text": (write._NODE_WRITERS, "Para", write.text, document),
    "paragraph of a docx": (postprocess, "_set_paragraph_look", write.docx, document),
    "run of a docx": (postprocess, "_set_run_look", write.docx, document),
    "picture in a docx": (postprocess, "_placeholder", write.docx, document),
    "style of an odt": (postprocess, "_set_properties", write.odt, document),
    "paragraph of RTF": (write.RtfLooks, "paragraph", write.rtf, document),
    "block in a PDF": (pdf._BLOCKS, "Para", pdf.write, document),
    "text in a PDF": (pdf._INLINES, "Str", pdf.write, document),
    "xlsx cell": (xlsx_write._SheetWriter, "_value", xlsx_write.write, lambda job: BOOK),
    "ods cell": (cell_texts, "_format_number", ods_write.write, lambda job: BOOK),
    "cell of a page": (cell_texts, "_format_number", sheet_pages.write_html, lambda job: BOOK),
    "cell in a PDF": (cell_texts, "_format_number", sheet_pages.write_pdf, lambda job: BOOK),
    "CSV field": (delimited, "guard", delimited.write_csv, lambda job: BOOK),
    "pptx shape": (pptx_write.SlideWriter, "_add_text", pptx_write.write, deck),
    "odp shape": (odp_write.OdpPageWriter, "_text", odp_write.write, deck),
    "shape in a PDF": (pages, "_shape", pages.write_pdf, deck),
    "shape of plain text": (pages, "_shape_lines", pages.write_text, deck),
}


def break_first_call(monkeypatch: pytest.MonkeyPatch, owner: Any, key: str, error: Exception) -> None:
    original = owner[key] if isinstance(owner, dict) else getattr(owner, key)
    calls = []

    def broken(*arguments: Any, **options: Any) -> Any:
        calls.append(key)
        if len(calls) == 1:
            raise error
        return original(*arguments, **options)

    (monkeypatch.setitem if isinstance(owner, dict) else monkeypatch.setattr)(owner, key, broken)


def text_of(result: Any) -> str:
    if not isinstance(result, bytes):
        return str(result)
    if result.startswith(b"%PDF"):
        return printed(result)
    return packed(result) if result.startswith(b"PK") else result.decode()


def faults(job: Job) -> list[str]:
    return [note for note in job.notes if note.endswith("could not be converted: a fault")]


@pytest.mark.parametrize("element", READERS)
def test_a_reader_leaves_out_the_element(element: str, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, key, reader, source = READERS[element]
    data = source if isinstance(source, bytes) else source(job)
    break_first_call(monkeypatch, owner, key, ZeroDivisionError("a fault"))

    text = text_of(reader(data, job))

    assert faults(job)
    assert "report" in text or "Numbers" in text


@pytest.mark.parametrize("element", WRITERS)
def test_a_writer_leaves_out_the_element(element: str, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, key, writer, made = WRITERS[element]
    model = made(job)
    break_first_call(monkeypatch, owner, key, ZeroDivisionError("a fault"))

    text = text_of(writer(model, job))

    assert faults(job)
    assert "report" in text or "Numbers" in text


def test_a_limit_refuses_the_whole_document(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    break_first_call(monkeypatch, rewrite, "_simplify_row", TooLarge("too large"))

    with pytest.raises(TooLarge):
        read.docx(sources.docx(), job)
