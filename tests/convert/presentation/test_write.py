import io
import time
from dataclasses import replace

import pypdf
import pypdfium2
import pytest

from svc_notebooks.convert.job import JobLimits, TooLarge
from svc_notebooks.convert.presentation.model import (
    INCH,
    Box,
    Paragraph,
    Presentation,
    Slide,
    SlidePicture,
    SlideTable,
    TableCell,
    Text,
    TextRun,
)
from svc_notebooks.convert.presentation.pages import write_pdf, write_text
from svc_notebooks.core.http import media_types
from tests.convert import sources
from tests.convert.presentation import decks
from tests.convert.presentation.test_pptx import sample

pytestmark = pytest.mark.spec("A7-01", "A7-01b")


def pages(source: bytes) -> list[pypdf.PageObject]:
    return list(pypdf.PdfReader(io.BytesIO(source)).pages)


def deck_of(*shapes, **facts) -> Presentation:
    return Presentation(slides=(Slide(shapes),), **facts)


def words(text: str, **facts) -> tuple[Paragraph, ...]:
    return (Paragraph((TextRun(text, **facts),)),)


LINE = 18 * 1.16
"""The height of a line of 18 points."""


def pdf_lines(source: bytes) -> dict[str, float]:
    """Return the bottom of each piece of text on the first page."""
    page = pypdfium2.PdfDocument(source)[0].get_textpage()
    boxes = [page.get_rect(n) for n in range(page.count_rects())]
    return {page.get_text_bounded(*box).strip(): box[1] for box in boxes}


def test_each_slide_is_a_page_of_its_size_with_its_text_and_pictures(job):
    deck = replace(sample(), slides=sample().slides * 2)

    made = pages(write_pdf(deck, job))

    assert [(round(it.mediabox.width), round(it.mediabox.height)) for it in made] == [(960, 540)] * 2
    page_text = made[0].extract_text()
    assert all(word in page_text for word in ("Title", "one", "1.", "oval", "wide"))
    assert len(made[0].images) == 1
    assert [it["/A"]["/URI"] for it in (a.get_object() for a in made[0]["/Annots"])] == ["https://svc.example/"]


def test_an_empty_presentation_is_one_empty_page(job):
    assert [it.extract_text() for it in pages(write_pdf(Presentation(), job))] == [""]
    assert write_text(Presentation(), job) == b"\xef\xbb\xbf"


def test_code_in_a_text_is_text_and_long_text_is_shrunk_to_its_page(job):
    code = '#read("/etc/hostname") $x$ *b* #import "@preview/a:1.0.0" \\ [' + "`"
    long = [Text(Box(0, 0, 3 * INCH, INCH), words("word " * 3_000), role) for role in ("body", "")]

    (page,) = pages(write_pdf(deck_of(Text(Box(0, 0, 9 * INCH, INCH), words(code)), title=code), job))

    assert '#read("/etc/hostname")' in page.extract_text()
    assert [len(pages(write_pdf(deck_of(shape), job))) for shape in long] == [1, 1]


def test_impossible_boxes_do_not_fail(job):
    wide = SlideTable(Box(0, 0, 10, 10), ((TableCell(columns=9, rows=9), None), (None, None)), (0, 0), (0, 0))
    shapes = (
        Text(Box(-(10**9), 10**9, 0, 0, 45.0), words("far")), Text(Box(0, 0, 0, 0), (Paragraph(), *words("\n\n"))),
        SlidePicture(Box(0, 0, 0, 5), "p.png"), SlidePicture(Box(0, 0, 5, 5), "missing.png"), wide,
        SlideTable(Box(), ()),
    )  # fmt: skip

    assert len(pages(write_pdf(deck_of(*shapes, pictures={"p.png": sources.png(40, 20)}), job))) == 1


def test_too_many_cells_for_a_pdf_are_refused(job):
    rows = ((TableCell(),) * 30,) * 30

    with pytest.raises(TooLarge, match="900 cells"):
        write_pdf(deck_of(SlideTable(Box(0, 0, 5, 5), rows)), replace(job, limits=JobLimits(pdf_cells=899)))


def test_tables_with_hundreds_of_cells_need_less_than_the_memory_of_a_worker(converter):
    row = (TableCell(words("the value of a quarter")),) * 4
    tables = [
        SlideTable(Box(n, 0, 8 * INCH, 7 * INCH), (row,) * 36, (2 * INCH,) * 4, (INCH // 8,) * 36) for n in (1, 2, 3, 4)
    ]
    deck = Presentation(slides=tuple(Slide((it,)) for it in tables))

    assert len(pages(converter.write(deck.pack(), "presentation", media_types.PDF).body)) == 4


def test_a_table_of_two_thousand_cells_takes_seconds(job):
    table = SlideTable(Box(0, 0, 8 * INCH, 5 * INCH), ((TableCell(words("v")),) * 20,) * 100, (INCH // 3,) * 20)
    started = time.process_time()

    write_pdf(deck_of(table), job)

    assert time.process_time() - started < 20  # it took more than 60 s


def test_the_rows_of_a_merged_cell_are_as_high_as_its_text(job):
    rows = (
        (TableCell(words("a\nb\nc\nd\ne"), rows=2), TableCell(words("top"))),
        (None, TableCell()),
        (None, TableCell(words("last"))),
    )
    table = SlideTable(Box(0, 0, 4 * INCH, INCH), rows, (2 * INCH,) * 2, (INCH // 9,) * 3)

    lines = pdf_lines(write_pdf(deck_of(table), job))

    assert lines["last"] == pytest.approx(lines["e"] - LINE, abs=LINE / 2)


def test_text_has_titles_first_then_lists_tables_and_notes(job):
    plain_text = write_text(replace(sample(), slides=(*sample().slides, Slide(notes="end"))), job).decode("utf-8-sig")

    assert plain_text.split("\r\n") == [
        "Title", "[a field]", "* one", "  below", "  1. two", "שלום", "oval", "wide\t", "\t",
        "", "Notes:", "note", "more", "", "", "", "Notes:", "end", "",
    ]  # fmt: skip


@pytest.mark.spec("A5-01")
def test_worker_processes_write_all_four_formats(converter):
    kinds = (media_types.PPTX, media_types.ODP, media_types.PDF, media_types.TEXT)

    body = converter.read(decks.full_pptx(), media_types.PPTX, "presentation", name="Presentation").body
    made = {kind: converter.write(body, "presentation", kind).body for kind in kinds}
    empty = converter.write(None, "presentation", media_types.PDF).body

    assert [made[kind][:4] for kind in kinds] == [b"PK\x03\x04"] * 2 + [b"%PDF", b"\xef\xbb\xbf\xc3"]
    assert len(pages(made[media_types.PDF])) == 3
    assert len(pages(empty)) == 1
