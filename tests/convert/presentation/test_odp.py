import io
import zipfile
from xml.etree import ElementTree

import pytest

from svc_notebooks.convert.job import TooLarge
from svc_notebooks.convert.presentation.model import INCH, Presentation, SlidePicture, SlideTable, Text
from svc_notebooks.convert.presentation.odp.read import read
from svc_notebooks.convert.presentation.odp.write import write
from tests.convert import sources
from tests.convert.presentation import decks
from tests.convert.presentation.test_pptx import sample

pytestmark = pytest.mark.spec("A5-01")

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_FRAME = 'svg:x="1in" svg:y="1in" svg:width="2in" svg:height="1in"'


def page(inside: str, facts: str = "") -> str:
    return f'<draw:page draw:master-page-name="M" {facts}>{inside}</draw:page>'


def text_box(inside: str) -> str:
    return f"<draw:frame {_FRAME}><draw:text-box>{inside}</draw:text-box></draw:frame>"


def read_first_slide(source: bytes, job) -> tuple:
    (slide,) = read(source, job).slides
    return slide.shapes


def test_lists_have_their_levels_and_markers(job):
    styles = (
        '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        '<text:list-level-style-bullet text:level="2" text:bullet-char="-"/></text:list-style>'
    )
    lists = (
        '<text:p>plain</text:p><text:list text:style-name="N"><text:list-item><text:p>a</text:p><text:list>'
        "<text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item></text:list>"
    )
    (body,) = read_first_slide(decks.odp(page(text_box(lists)), styles), job)

    expected = [("plain", 0, ""), ("a", 0, "number"), ("b", 1, "bullet")]
    assert [(it.text, it.level, it.marker) for it in body.paragraphs] == expected


def test_formats_of_runs_are_inherited_and_links_are_safe(job):
    styles = (
        '<style:style style:name="A" style:family="text">'
        '<style:text-properties fo:font-weight="bold" fo:color="#ff0000"/></style:style>'
        '<style:style style:name="B" style:family="text" style:parent-style-name="A">'
        '<style:text-properties fo:font-size="20pt"/></style:style>'
    )
    words = (
        '<text:p>a<text:span text:style-name="B">b<text:s text:c="2"/><text:line-break/>c</text:span>'
        '<text:a xlink:href="javascript:alert(1)">d</text:a><text:a xlink:href="https://svc.example/">e</text:a></text:p>'
    )
    (body,) = read_first_slide(decks.odp(page(text_box(words)), styles), job)

    plain, bold, dead, link = body.paragraphs[0].runs
    assert (plain.text, dead.text, dead.link) == ("a", "d", None)
    assert (bold.text, bold.bold, bold.size, bold.color) == ("b  \nc", True, 20.0, "ff0000")
    assert (link.text, link.link) == ("e", "https://svc.example/")


def test_tables_notes_hidden_slides_and_turned_shapes_are_read(job):
    styles = (
        '<style:style style:name="H" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    table = (
        f"<draw:frame {_FRAME}><table:table><table:table-row>"
        '<table:table-cell table:number-columns-spanned="2"><text:p>ab</text:p></table:table-cell>'
        "<table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>c</text:p>"
        "</table:table-cell><table:table-cell/></table:table-row></table:table></draw:frame>"
    )
    turned = (
        '<draw:custom-shape svg:width="2in" svg:height="1in" draw:transform="rotate (1.5707963) translate (1in 4in)">'
        "<text:p>up</text:p></draw:custom-shape>"
    )
    notes = (
        '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>say</text:p><text:p>this'
        "</text:p></draw:text-box></draw:frame></presentation:notes>"
    )
    (slide,) = read(decks.odp(page(table + turned + notes, 'draw:style-name="H"'), styles), job).slides

    grid, up = slide.shapes
    assert [[cell and cell.text for cell in row] for row in grid.rows] == [["ab", None], ["c", ""]]
    assert (up.text, up.box.turn) == ("up", 270.0)
    assert up.box.x == pytest.approx(INCH / 2, abs=9)
    assert up.box.y == pytest.approx(2.5 * INCH, abs=9)
    assert (slide.notes, slide.hidden) == ("say\nthis", True)


def test_footers_that_the_slide_shows_are_read_from_the_master(job):
    frame = '<draw:frame presentation:class="{0}" {1}><draw:text-box><text:p>{2}</text:p></draw:text-box></draw:frame>'
    master = (
        frame.format("footer", _FRAME, "by <presentation:footer/>")
        + frame.format("date-time", _FRAME, "<presentation:date-time/>")
        + frame.format("page-number", _FRAME, "<text:page-number>&lt;number&gt;</text:page-number>")
    )
    declared = '<presentation:footer-decl presentation:name="f">Ada</presentation:footer-decl>'
    styles = (
        '<style:style style:name="D" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:display-footer="true" presentation:display-page-number="true" '
        'presentation:display-date-time="false"/></style:style>'
    )
    shown = 'draw:style-name="D" presentation:use-footer-name="f"'

    deck = read(decks.odp(declared + page("") + page("", shown), styles, master=master), job)

    assert [[shape.text for shape in slide.shapes] for slide in deck.slides] == [[], ["by Ada", "2"]]


NUMBER = "<text:p>{}<text:page-number>&lt;number&gt;</text:page-number></text:p>"


def test_fields_in_shapes_of_the_master_and_the_text_of_the_notes_page_are_read(job):
    master = text_box(NUMBER.format("page ")) + text_box("<text:p>same</text:p>")
    boxes = text_box("<text:p>pasted</text:p>") + text_box(NUMBER.format(""))

    slides = read(decks.odp(page(f"<presentation:notes>{boxes}</presentation:notes>") * 2, master=master), job).slides

    assert [[it.text for it in slide.behind] for slide in slides] == [["page 1", "same"], ["page 2", "same"]]
    assert [slide.notes for slide in slides] == ["pasted", "pasted"]


def test_text_on_a_picture_and_the_number_of_the_slide_are_read(job):
    image = '<draw:image xlink:href="Pictures/a.png"><text:p>label</text:p></draw:image>'
    inside = f"<draw:frame {_FRAME}>{image}</draw:frame>" + text_box(NUMBER.format(""))

    shapes = read_first_slide(decks.odp(page(inside), members={"Pictures/a.png": sources.png(40, 20)}), job)

    assert [getattr(shape, "text", None) for shape in shapes] == [None, "label", "1"]


def test_an_embedded_document_without_a_picture_keeps_its_text(job):
    frame = f"<draw:frame {_FRAME}>{{}}</draw:frame>"
    body = "<office:body><office:text><text:p>first</text:p><text:p>second</text:p></office:text></office:body>"
    inside = f"<draw:object><office:document>{body}</office:document></draw:object>"
    missing = '<draw:object xlink:href="./Object 1"/>'

    shapes = read_first_slide(decks.odp(page(frame.format(inside) + frame.format(missing))), job)

    assert [shape.text for shape in shapes] == ["first\nsecond"]
    assert job.notes == ["an object without a picture was left out."]


def test_white_space_of_indented_xml_is_collapsed(job):
    body = "<text:p>\n  <text:span>one </text:span>\n  <text:span>two</text:span><text:s text:c='2'/>three</text:p>"
    notes = f"<presentation:notes>{text_box('<text:p>  four  five</text:p>')}</presentation:notes>".replace(
        "  ", "\n  "
    )

    (slide,) = read(decks.odp(page(text_box(body) + notes)), job).slides

    assert (slide.shapes[0].text, slide.notes) == ("one two  three", "four five")


@pytest.mark.parametrize("areas", ["nan 0 1 1", "0 1e999 1 1"])
def test_a_shape_with_a_damaged_text_area_keeps_its_text(areas, job):
    geometry = f'<draw:enhanced-geometry draw:text-areas="{areas}" draw:enhanced-path="M 0 0 L 9 9 Z N"/>'
    custom = f"<draw:custom-shape {_FRAME}><text:p>kept</text:p>{geometry}</draw:custom-shape>"

    (shape,) = read_first_slide(decks.odp(page(custom)), job)

    assert shape.text == "kept"


def test_only_pictures_in_the_file_are_read(job):
    frames = "".join(
        f'<draw:frame {_FRAME}><draw:image xlink:href="{place}"/></draw:frame>'
        for place in ("Pictures/a.png", "file:///etc/passwd", "http://svc.example/a.png", "../a.png", "Pictures/b.svm")
    )
    members = {"Pictures/a.png": sources.png(40, 20), "Pictures/b.svm": b"VCLMTF"}

    deck = read(decks.odp(page(frames), members=members), job)

    assert [type(it) for it in deck.slides[0].shapes] == [SlidePicture]
    assert len(deck.pictures) == 1
    assert "a picture that is not in the file itself was left out." in job.notes


@pytest.mark.spec("A7-01", "A7-01a")
def test_the_archive_is_valid_with_slides_lists_and_notes(job):
    source = write(sample(), job)

    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read("mimetype") == b"application/vnd.oasis.opendocument.presentation"
        manifest = archive.read("META-INF/manifest.xml").decode()
        assert all(f'"{name}"' in manifest for name in archive.namelist() if not name.startswith(("mime", "META")))
        content = ElementTree.fromstring(archive.read("content.xml"))
    assert len(list(content.iter(f"{_DRAW}page"))) == 1
    texts = ["".join(it.itertext()) for it in content.iter(f"{_TEXT}p")]
    assert texts[:4] == ["Title", "onebelow", "two", "שלום"]
    assert texts[-2:] == ["note", "more"]


@pytest.mark.spec("A7-01", "A7-01a")
def test_a_written_deck_is_read_again_unchanged(job):
    deck = read(write(sample(), job), job)

    (slide,), (before,) = deck.slides, sample().slides
    assert [type(it) for it in slide.shapes] == [SlidePicture, Text, Text, Text, SlideTable]
    assert [it.text for it in slide.shapes if isinstance(it, Text)] == [
        it.text for it in before.shapes if isinstance(it, Text)
    ]
    assert (slide.background, slide.notes, slide.hidden, deck.title) == ("ffeecc", "note\nmore", True, "All")
    assert [(it.level, it.marker) for it in slide.shapes[2].paragraphs] == [(0, "bullet"), (1, "number"), (0, "")]
    assert slide.shapes[0].box.turn == pytest.approx(30.0, abs=0.1)
    assert slide.shapes[0].box.x == pytest.approx(INCH, abs=1_000)
    assert slide.shapes[3].outline == "ellipse"
    assert slide.shapes[0].crop == pytest.approx(before.shapes[0].crop, abs=1e-3)
    assert slide.shapes[4].rows[0][0].columns == 2


@pytest.mark.spec("A7-01", "A7-01a")
def test_an_empty_presentation_has_one_blank_slide(job):
    assert [slide.shapes for slide in read(write(Presentation(), job), job).slides] == [()]


def test_too_many_slides_are_refused(job):
    with pytest.raises(TooLarge, match="1000 slides"):
        read(decks.odp(page("") * 1_001), job)


def test_repeated_rows_and_spaces_are_limited(job):
    table = (
        f'<draw:frame {_FRAME}><table:table><table:table-row table:number-rows-repeated="999999999">'
        '<table:table-cell table:number-columns-repeated="999999999"><text:p><text:s text:c="999999999"/>a</text:p>'
        "</table:table-cell></table:table-row></table:table></draw:frame>"
    )
    (grid,) = read_first_slide(decks.odp(page(table)), job)

    assert (len(grid.rows), len(grid.rows[0]), len(grid.rows[0][0].text)) == (1_000, 200, 201)


def test_pictures_keep_their_crop_and_are_mirrored(job):
    styles = (
        '<style:style style:name="G" style:family="graphic"><style:graphic-properties style:mirror="horizontal" '
        'fo:clip="rect({}in, 0.1in, 0in, 0.2in)"/></style:style>'
    )
    frame = f'<draw:frame {_FRAME} draw:style-name="G"><draw:image xlink:href="a.png"/></draw:frame>'
    members = {"a.png": sources.png(96, 48)}  # 1 by 0.5 inches at 96 dpi

    (picture,) = read_first_slide(decks.odp(page(frame), styles.format("0.05"), members), job)
    (whole,) = read_first_slide(decks.odp(page(frame), styles.format("0.5"), members), job)

    assert (picture.box.flip_x, picture.box.flip_y) == (True, False)
    assert picture.crop == pytest.approx((0.2, 0.1, 0.1, 0.0))
    assert whole.crop == (0.0, 0.0, 0.0, 0.0)  # nothing would be visible
