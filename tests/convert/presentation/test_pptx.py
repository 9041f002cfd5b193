import io
import re
import time
import zipfile

import pptx
import pytest
from pptx.util import Inches

from svc_notebooks.convert.input.native_package import zip_timestamp
from svc_notebooks.convert.job import ConversionError, TooLarge
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
from svc_notebooks.convert.presentation.pptx.read import read
from svc_notebooks.convert.presentation.pptx.write import write
from tests.convert import sources
from tests.convert.presentation import decks

pytestmark = pytest.mark.spec("A5-01")


def texts(slide: Slide) -> list[str]:
    return [shape.text for shape in slide.shapes if isinstance(shape, Text)]


def test_titles_outlines_notes_links_and_inherited_looks_are_read(job):
    deck = read(decks.full_pptx(), job)

    first = deck.slides[0]
    title, body = first.shapes
    assert (deck.title, title.text, first.notes) == ("Quarter", "Überblick 日本語", "Say hello\nand more")
    assert [(it.level, it.marker) for it in body.paragraphs] == [(level, "bullet") for level in (0, 1, 2, 0)]
    last = body.paragraphs[-1].runs[0]
    assert (last.text, last.bold, last.size, last.link) == ("bold link", True, 30.0, "https://svc.example/a?b=1&c=2")
    assert title.box == Box(457200, 274638, 8229600, 1143000)  # from the layout
    assert title.paragraphs[0].runs[0].size == 44.0
    assert [it.runs[0].size for it in body.paragraphs[:3]] == [32.0, 28.0, 24.0]


def test_tables_pictures_charts_and_hidden_slides_are_read(job):
    deck = read(decks.full_pptx(), job)

    _, slide, last = deck.slides
    table = next(it for it in slide.shapes if isinstance(it, SlideTable))
    shown = next(it for it in slide.shapes if isinstance(it, SlidePicture))
    merged = ["r1c0\nr1c1\nr2c0\nr2c1", None, "r1c2"]
    texts = [[cell and cell.text for cell in row] for row in table.rows]
    assert texts == [["r0c0", "r0c1", "r0c2"], merged, [None, None, "r2c2"]]
    assert (table.rows[1][0].columns, table.rows[1][0].rows, table.header) == (2, 2, True)
    assert (shown.alt, deck.pictures[shown.name][:4]) == ("a red field", b"\x89PNG")
    assert last.hidden
    chart = [[cell.text for cell in row] for row in last.shapes[0].rows]
    assert chart == [["", "Sales"], ["North", "1.5"], ["South", "2.5"]]
    assert job.notes == ["a chart is kept as a table."]


def test_groups_are_flattened_with_their_transforms(job):
    presentation = pptx.Presentation()
    shapes = presentation.slides.add_slide(presentation.slide_layouts[6]).shapes
    group = shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1)).text_frame.text = "deep"
    group.left, group.top, group.width, group.height = Inches(3), Inches(2), Inches(4), Inches(2)

    (shape,) = read(sources.saved(presentation), job).slides[0].shapes

    assert (shape.text, shape.box) == ("deep", Box(3 * INCH, 2 * INCH, 4 * INCH, 2 * INCH))


@pytest.mark.parametrize(
    "kind",
    [
        *(f"vnd.openxmlformats-officedocument.presentationml.{kind}" for kind in ("template", "slideshow")),
        *(f"vnd.ms-powerpoint.{kind}.macroEnabled" for kind in ("presentation", "slideshow", "template")),
    ],
)
def test_templates_shows_and_files_with_macros_are_read(job, kind):
    main = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    kind = f"application/{kind}.main+xml".encode()
    source = sources.changed(decks.full_pptx(), "[Content_Types].xml", (main, kind))

    assert len(read(source, job).slides) == 3


def test_strict_files_are_read(job):
    with zipfile.ZipFile(io.BytesIO(decks.full_pptx())) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    for name, part in parts.items():
        namespace = rb"http://schemas.openxmlformats.org/(officeDocument|drawingml|presentationml)/2006/"
        parts[name] = re.sub(namespace, rb"http://purl.oclc.org/ooxml/\1/", part)

    strict, other = (read(source, job) for source in (sources.zipped(parts), decks.full_pptx()))

    assert strict.slides == other.slides


def sample() -> Presentation:
    outline = (
        Paragraph((TextRun("one", bold=True, color="ff0000"), TextRun("\nbelow")), marker="bullet"),
        Paragraph((TextRun("two", link="https://svc.example/"),), level=1, marker="number"),
        Paragraph((TextRun("שלום"),), rtl=True),
    )
    rows = ((TableCell((Paragraph((TextRun("wide"),)),), columns=2), None), (TableCell(fill="00ff00"), TableCell()))
    oval = (Paragraph((TextRun("oval", size=10.5),)),)
    shapes = (
        SlidePicture(Box(INCH, INCH, INCH, INCH, 30.0), "p.png", "a field", (0.1, 0.0, 0.0, 0.2)),
        Text(Box(0, 0, 9 * INCH, INCH), (Paragraph((TextRun("Title"),)),), "title"),
        Text(Box(0, INCH, 4 * INCH, INCH), outline, "body"),
        Text(Box(5, 6, 7, 8), oval, outline="ellipse", fill="0000ff", line="000000"),
        SlideTable(Box(0, 2 * INCH, 4 * INCH, INCH), rows, (2 * INCH, 2 * INCH), (INCH, INCH), header=True),
    )
    slide = Slide(shapes, background="ffeecc", notes="note\nmore", hidden=True)
    return Presentation(slides=(slide,), title="All", pictures={"p.png": sources.png(40, 20)})


@pytest.mark.spec("A7-01", "A7-01b")
def test_python_pptx_finds_text_in_placeholders(job):
    presentation = pptx.Presentation(io.BytesIO(write(sample(), job)))

    (slide,) = presentation.slides
    assert slide.shapes.title.text == "Title"
    assert [it.text for it in slide.placeholders[1].text_frame.paragraphs] == ["one\vbelow", "two", "שלום"]
    assert [it.level for it in slide.placeholders[1].text_frame.paragraphs] == [0, 1, 0]
    assert slide.placeholders[1].text_frame.paragraphs[1].runs[0].hyperlink.address == "https://svc.example/"
    assert slide.notes_slide.notes_text_frame.text == "note\nmore"
    assert (presentation.slide_width, slide._element.get("show")) == (12_192_000, "0")
    table = next(it.table for it in slide.shapes if it.has_table)
    assert (table.cell(0, 0).text, table.cell(0, 0).span_width) == ("wide", 2)
    assert next(it.shape_type for it in slide.shapes) == pptx.enum.shapes.MSO_SHAPE_TYPE.PICTURE


@pytest.mark.spec("A7-01", "A7-01a")
def test_a_written_deck_is_read_again_unchanged(job):
    (slide,) = read(write(sample(), job), job).slides
    (before,) = sample().slides

    assert [type(it) for it in slide.shapes] == [type(it) for it in before.shapes]
    assert texts(slide) == texts(before)
    assert (slide.background, slide.notes, slide.hidden) == ("ffeecc", "note\nmore", True)
    places, expected = (
        [(it.box.x, it.box.width, it.box.turn) for it in shapes] for shapes in (slide.shapes, before.shapes)
    )
    assert places == expected
    assert slide.shapes[0].crop == pytest.approx(before.shapes[0].crop, abs=1e-4)
    assert [it.marker for it in slide.shapes[2].paragraphs] == ["bullet", "number", ""]
    assert (slide.shapes[3].outline, slide.shapes[3].fill, slide.shapes[3].line) == ("ellipse", "0000ff", "000000")


@pytest.mark.spec("A7-01", "A7-01a")
def test_an_empty_presentation_has_one_blank_slide(job):
    presentation = pptx.Presentation(io.BytesIO(write(Presentation(), job)))

    assert [len(slide.shapes) for slide in presentation.slides] == [0]


def test_unsafe_links_and_external_pictures_are_removed(job):
    link = (b"https://svc.example/a?b=1&amp;c=2", b"javascript:alert(1)")
    source = sources.changed(decks.full_pptx(), "ppt/slides/_rels/slide1.xml.rels", link)
    picture = (b'Target="../media/image1.png"', b'Target="file:///etc/passwd" TargetMode="External"')
    source = sources.changed(source, "ppt/slides/_rels/slide2.xml.rels", picture)

    deck = read(source, job)

    assert deck.slides[0].shapes[1].paragraphs[-1].runs[0].link is None
    assert deck.pictures == {}
    assert "a picture that is not in the file itself was left out." in job.notes


def test_boxes_are_limited_to_the_range_of_the_formats(job):
    place = (b'<a:off x="6400800" y="914400"/>', b'<a:off x="-99999999999999999999" y="9223372036854775807"/>')
    size = (b'<a:ext cx="1828800" cy="914400"/>', b'<a:ext cx="-5" cy="99999999999999"/>')
    source = sources.changed(decks.full_pptx(), "ppt/slides/slide2.xml", place, size)

    assert len(read(write(read(source, job), job), job).slides) == 3


def test_a_thousand_groups_in_groups_are_refused(job):
    groups = b"<p:grpSp><p:nvGrpSpPr><p:cNvPr id='9' name=''/></p:nvGrpSpPr><p:grpSpPr/>"
    inside = groups * 1_000 + b"</p:grpSp>" * 1_000 + b"</p:spTree>"
    source = sources.changed(decks.full_pptx(), "ppt/slides/slide1.xml", (b"</p:spTree>", inside))

    with pytest.raises(ConversionError, match="damaged"):
        read(source, job)


def test_too_many_slides_are_refused(job):
    parts = {f"ppt/slides/slide{n}.xml": b"<a/>" for n in range(1_001)}

    with pytest.raises(TooLarge, match="1000 slides"):
        read(sources.zipped({"[Content_Types].xml": b"<Types/>", **parts}), job)


def test_a_slide_of_two_thousand_shapes_takes_seconds(job):
    shape = Text(Box(0, 0, INCH, INCH), (Paragraph((TextRun("word"),)),))
    started = time.process_time()

    data = write(Presentation(slides=(Slide((shape,) * 2_000),)), job)

    assert time.process_time() - started < 6  # it took 10 s
    [slide] = pptx.Presentation(io.BytesIO(data)).slides
    assert len({shape.shape_id for shape in slide.shapes}) == 2_000


def test_the_members_of_a_file_have_the_time_of_the_job(job):
    data = write(read(decks.full_pptx(), job), job)

    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert {member.date_time for member in file.infolist()} == {zip_timestamp(job.now)}
