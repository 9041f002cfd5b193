import base64
import io
import itertools
import zipfile

import pptx
import pypdfium2
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.dml import MSO_LINE, MSO_THEME_COLOR
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.util import Inches, Pt

from svc_notebooks.convert.input import native_package
from svc_notebooks.convert.presentation.model import (
    INCH,
    PATH_SIDE,
    Box,
    Paragraph,
    Presentation,
    ShapePath,
    Slide,
    SlidePicture,
    Stroke,
    Text,
    TextRun,
)
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.odp.write import write as write_odp
from svc_notebooks.convert.presentation.pages import write_pdf, write_text
from svc_notebooks.convert.presentation.pptx.read import freeform_paths, read
from svc_notebooks.convert.presentation.pptx.slide_theme import color, fill
from svc_notebooks.convert.presentation.pptx.write import write
from tests.convert import sources
from tests.convert.presentation import decks

pytestmark = pytest.mark.spec("A5-01")

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HALF = PATH_SIDE // 2
TRIANGLE = ShapePath(f"M 0 {PATH_SIDE} L {HALF} 0 L {PATH_SIDE} {PATH_SIDE} Z")
RIGHT_ARROW = "M 0 25000 L 75000 25000 L 75000 0 L 100000 50000 L 75000 100000 L 75000 75000 L 0 75000 Z"
UP_ARROW = "M 0 50000 L 50000 0 L 100000 50000 L 75000 50000 L 75000 100000 L 25000 100000 L 25000 50000 Z"


@pytest.fixture
def presentation():
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[6])
    return presentation


def element(xml: str):
    return etree.fromstring(f'<a:x xmlns:a="{A}">{xml}</a:x>')[0]


def shapes_of(presentation, job):
    return read(sources.saved(presentation), job).slides[0].shapes


def deck_of(*shapes, **facts) -> Presentation:
    return Presentation(slides=(Slide(shapes),), **facts)


def pixels(shape: Text, job):
    """Return the first page of the PDF with a shape as an image of 100 by 100 points."""
    deck = deck_of(shape, width=100 * 12_700, height=100 * 12_700)
    return pypdfium2.PdfDocument(write_pdf(deck, job))[0].render(scale=1).to_pil().convert("RGB")


@pytest.mark.parametrize(
    "shape, data, insets",
    [
        (MSO_SHAPE.RIGHT_ARROW, [RIGHT_ARROW], (0, INCH // 2, 0, INCH // 2)),
        (MSO_SHAPE.UP_ARROW, [UP_ARROW], (INCH, 0, INCH, 0)),
        (MSO_SHAPE.ISOSCELES_TRIANGLE, [TRIANGLE.data], (INCH, INCH, INCH, 0)),
        (MSO_SHAPE.ROUNDED_RECTANGLE, [], (0, 0, 0, 0)),
        (MSO_SHAPE.GEAR_6, [], (0, 0, 0, 0)),
    ],
    ids=["right arrow", "up arrow", "triangle", "rounded rectangle", "gear"],
)
def test_a_preset_shape_has_its_path_and_text_area(presentation, job, shape, data, insets):
    arrow = presentation.slides[0].shapes.add_shape(shape, 0, 0, Inches(4), Inches(2))
    arrow.text_frame.text = "go"

    (read_shape,) = shapes_of(presentation, job)

    assert read_shape.text == "go"
    assert [path.data for path in read_shape.paths] == data
    assert read_shape.insets == tuple(a + b for a, b in zip((91_440, 45_720, 91_440, 45_720), insets, strict=True))
    assert read_shape.outline == ("" if data else "round" if shape is MSO_SHAPE.ROUNDED_RECTANGLE else "rectangle")


def test_a_freeform_keeps_its_path_fill_and_line(presentation, job):
    builder = presentation.slides[0].shapes.build_freeform(0, 0, scale=Inches(1))
    freeform = builder.add_line_segments([(2, 0), (2, 1)]).convert_to_shape(Inches(1), Inches(1))
    freeform.fill.solid()
    freeform.fill.fore_color.rgb = pptx.dml.color.RGBColor(0, 128, 0)

    (shape,) = shapes_of(presentation, job)

    assert (shape.box, shape.fill) == (Box(INCH, INCH, 2 * INCH, INCH), "008000")
    assert [path.data for path in shape.paths] == ["M 0 0 L 100000 0 L 100000 100000 Z"]


def test_a_shape_with_a_picture_as_fill_has_no_theme_fill_over_it(presentation, job):
    slide = presentation.slides[0]
    shape = slide.shapes.add_shape(MSO_SHAPE.ISOSCELES_TRIANGLE, 0, 0, INCH, INCH)
    _, relation = slide.part.get_or_add_image_part(io.BytesIO(sources.png(40, 20)))
    blip = f'<a:blip xmlns:r="{R}" r:embed="{relation}"/>'
    shape._element.spPr.append(element(f"<a:blipFill>{blip}<a:stretch/></a:blipFill>"))

    *behind, drawn = shapes_of(presentation, job)

    assert (drawn.fill, [type(it) for it in behind]) == (None, [SlidePicture])


def test_a_connector_keeps_its_course_dashes_and_arrowhead(presentation, job):
    added = presentation.slides[0].shapes.add_connector(MSO_CONNECTOR.ELBOW, Inches(4), 0, Inches(1), Inches(1))
    added.line.width, added.line.dash_style = Pt(3), MSO_LINE.DASH
    etree.SubElement(added.line._get_or_add_ln(), f"{{{A}}}tailEnd", {"type": "triangle"})

    (shape,) = shapes_of(presentation, job)

    assert shape.box == Box(INCH, 0, 3 * INCH, INCH, flip_x=True)
    assert [path.data for path in shape.paths] == ["M 0 0 L 50000 0 L 50000 100000 L 100000 100000"]
    assert shape.stroke == Stroke(38_100, "dash", "", "triangle")
    assert job.notes == []


def test_a_flipped_group_flips_its_members(presentation, job):
    group = presentation.slides[0].shapes.add_group_shape()
    group.shapes.add_shape(MSO_SHAPE.RIGHT_ARROW, 0, 0, INCH, INCH)
    group.shapes.add_shape(MSO_SHAPE.RECTANGLE, 3 * INCH, 0, INCH, INCH)
    group._element.grpSpPr.find(f"{{{A}}}xfrm").set("flipH", "1")

    arrow, _ = shapes_of(presentation, job)

    assert arrow.box == Box(3 * INCH, 0, INCH, INCH, flip_x=True)


def custom(path: str, attributes: str = "") -> str:
    return f"<a:custGeom><a:pathLst><a:path {attributes}>{path}</a:path></a:pathLst></a:custGeom>"


@pytest.mark.parametrize(
    "definition",
    [
        custom("<a:close/>", 'w="x" h="-"'),
        custom('<a:moveTo/><a:lnTo><a:pt x="none" y="1"/></a:lnTo>'),
        custom('<a:arcTo wR="inf" hR="nan" stAng="1e999" swAng="1"/>'),
        custom('<a:arcTo wR="9" hR="9" stAng="0" swAng="9e15"/>'),
        '<a:custGeom><a:gdLst><a:gd name="a" fmla="*/ w b"/><a:gd name="" fmla=""/></a:gdLst></a:custGeom>',
    ],
)
def test_damaged_geometry_gives_only_valid_paths(definition):
    paths = freeform_paths(element(definition), Box(0, 0, 1_000, 1_000))

    tokens = " ".join(path.data for path in paths).split()
    assert all(token in "MLCZ" or token.lstrip("-").isdigit() for token in tokens)
    assert len(tokens) < 100


@pytest.mark.parametrize(
    "xml, digits",
    [
        ('<a:schemeClr val="accent1"><a:lumMod val="75000"/></a:schemeClr>', "376092"),
        ('<a:schemeClr val="accent1"><a:lumMod val="40000"/><a:lumOff val="60000"/></a:schemeClr>', "b9cde5"),
        ('<a:srgbClr val="808080"><a:shade val="50000"/></a:srgbClr>', "5d5d5d"),
        ('<a:srgbClr val="808080"><a:tint val="50000"/></a:srgbClr>', "cccccc"),
        ('<a:srgbClr val="FF0000"><a:alpha val="50000"/></a:srgbClr>', "ff000080"),
        ('<a:srgbClr val="FF0000"><a:alpha val="0"/></a:srgbClr>', ""),
        ('<a:srgbClr val="FF0000"><a:hueOff val="7200000"/></a:srgbClr>', "00ff00"),
        ('<a:prstClr val="white"/>', "ffffff"),
        ('<a:prstClr val="dkBlue"/>', "808080"),
    ],
)
def test_colors_are_changed_as_the_theme_says(xml, digits):
    assert color(element(f"<a:solidFill>{xml}</a:solidFill>"), {"accent1": "4f81bd"}) == digits


def test_a_gradient_becomes_the_colour_in_its_middle():
    stop = '<a:gs pos="{}"><a:srgbClr val="{}"/></a:gs>'
    stops = stop.format(100_000, "FF0000") + stop.format(0, "0000FF")

    assert fill(element(f"<a:spPr><a:gradFill><a:gsLst>{stops}</a:gsLst></a:gradFill></a:spPr>"), {}) == "800080"


def test_the_pdf_fills_a_path_and_flips_it(job):
    lower = ShapePath(f"M 0 {HALF} L {PATH_SIDE} {HALF} L {PATH_SIDE} {PATH_SIDE} L 0 {PATH_SIDE} Z")
    white, red = (255, 255, 255), (255, 0, 0)

    for flips, colours in ((False, (white, red)), (True, (red, white))):
        page = pixels(Text(Box(0, 0, 1_270_000, 1_270_000, flip_y=flips), fill="ff0000", paths=(lower,)), job)
        assert (page.getpixel((50, 20)), page.getpixel((50, 80))) == colours


def test_the_pdf_draws_an_arrowhead_at_the_end_of_a_line(job):
    line = ShapePath(f"M 0 {HALF} L {PATH_SIDE} {HALF}")
    box = Box(127_000, 0, 1_016_000, 1_270_000)

    page = pixels(Text(box, line="0000ff", paths=(line,), stroke=Stroke(50_800, end="triangle")), job)

    assert page.getpixel((80, 47)) == (0, 0, 255)  # above the line, inside the head
    assert page.getpixel((20, 47)) == (255, 255, 255)


def test_text_that_does_not_shrink_overflows_its_box(job):
    box, words = Box(0, 0, 1_270_000, 127_000), (Paragraph((TextRun("HHHH HHHH HH", size=20),)),)

    shrunk = pixels(Text(box, words, autofit="shrink", insets=(0, 0, 0, 0)), job)
    overflowing = pixels(Text(box, words, autofit="none", insets=(0, 0, 0, 0)), job)

    assert shrunk.crop((0, 20, 100, 100)).convert("L").getextrema()[0] == 255
    assert overflowing.crop((0, 30, 100, 60)).convert("L").getextrema()[0] < 100


def test_lines_of_text_below_a_flat_box_do_not_lie_on_each_other(job):
    lines = tuple(Paragraph((TextRun(f"Line {n}"),), indent=0) for n in range(4))
    flat = Text(Box(INCH, INCH, 4 * INCH, 0), lines, autofit="none")

    page = pypdfium2.PdfDocument(write_pdf(deck_of(flat), job))[0].get_textpage()
    heights = [page.get_rect(n)[1] for n in range(page.count_rects())]

    assert [round(above - below) for above, below in itertools.pairwise(heights)] == [21, 21, 21]


def test_paths_lines_and_text_boxes_survive_pptx(job):
    looks = {"fill": "00ff0080", "line": "0000ff", "stroke": Stroke(25_400, "dot", "oval", "stealth")}
    paths = (TRIANGLE, ShapePath(f"M 0 0 L {HALF} {HALF}", fill="none", stroke=False))
    paragraph = Paragraph(
        (TextRun("x"), TextRun("2", baseline="super")), marker="number", line_spacing=0.9, before=3.0, after=1.5,
        indent=300_000, first=-200_000, bullet="(a)", start=3, align="left",
    )  # fmt: skip
    looks |= {"insets": (1, 2, 3, 4), "wrap": False, "autofit": "none", "direction": "up", "paths": paths}
    shape = Text(Box(INCH, INCH, INCH, INCH, 30.0, flip_x=True), (paragraph,), **looks)

    (again,) = read(write(deck_of(shape), job), job).slides[0].shapes

    assert again.box == shape.box
    assert {name: getattr(again, name) for name in looks} == looks
    (read_paragraph,) = again.paragraphs
    assert [run.baseline for run in read_paragraph.runs] == ["", "super"]
    keys = ("marker", "line_spacing", "before", "after", "indent", "first", "bullet", "start")
    assert [getattr(read_paragraph, key) for key in keys] == [getattr(paragraph, key) for key in keys]


def test_a_deck_stored_before_paths_opens(job):
    old = {
        "width": 100, "height": 100, "title": "",
        "slides": [{"shapes": [{"kind": "text", "box": {"width": 5}, "outline": "round", "fill": "ff0000"}]}],
    }  # fmt: skip

    deck = Presentation.unpack(native_package.pack(old, {}))

    assert deck.slides[0].shapes == (Text(Box(width=5), outline="round", fill="ff0000"),)
    assert Presentation.unpack(deck.pack()) == deck
    drawn = Text(Box(0, 0, 5, 5, flip_y=True), paths=(TRIANGLE,), stroke=Stroke(5, "dot"), insets=(1, 2, 3, 4))
    assert Presentation.unpack(deck_of(drawn).pack()) == deck_of(drawn)


def test_a_slide_number_on_a_layout_is_the_number_of_each_slide(presentation, job):
    layout = presentation.slide_layouts[6]
    number = (
        '<p:sp xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:nvSpPr>'
        '<p:cNvPr id="90" name="n"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p>'
        '<a:fld id="{0}" type="slidenum"><a:t>‹#›</a:t></a:fld></a:p></p:txBody></p:sp>'
    )
    layout.placeholders[0]._element.getparent().append(element(number))
    presentation.slides.add_slide(layout)

    deck = read(sources.saved(presentation), job)

    assert [[shape.text for shape in slide.behind] for slide in deck.slides] == [["1"], ["2"]]
    assert "1\r\n" in write_text(deck, job).decode()


@pytest.mark.parametrize("font, letters, expected", [("Symbol", "\uf0de\uf061", "⇒α"), ("Wingdings", "\uf0e8", "⇨")])
def test_letters_of_symbol_fonts_are_unicode(presentation, job, font, letters, expected):
    frame = presentation.slides[0].shapes.add_textbox(0, 0, INCH, INCH).text_frame
    run = frame.paragraphs[0].add_run()
    run.text = letters
    run._r.get_or_add_rPr().append(element(f'<a:sym typeface="{font}"/>'))

    assert [shape.text for shape in shapes_of(presentation, job)] == [expected]


def test_a_chart_keeps_its_titles_the_levels_of_categories_and_the_digits_that_programs_show(presentation, job):
    data = CategoryChartData()
    for name in ("Spring", "Autumn"):
        data.add_category("2026").add_sub_category(name)
    data.add_series("Sales", (4.4, 2))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    added = presentation.slides[0].shapes.add_chart(kind, 0, 0, INCH, INCH, data).chart
    added.chart_title.text_frame.text = "Quarter"
    added.value_axis.axis_title.text_frame.text = "Thousands"
    parts = sources.saved(presentation)
    with zipfile.ZipFile(io.BytesIO(parts)) as file:
        name = next(name for name in file.namelist() if name.startswith("ppt/charts/chart"))
    source = sources.changed(parts, name, (b"<c:v>4.4<", b"<c:v>4.4000000000000004<"))

    (table,) = read(source, job).slides[0].shapes

    assert [row[0].text for row in table.rows] == ["Quarter\nThousands", "2026 Spring", "2026 Autumn"]
    assert table.rows[1][1].text == "4.4"


def table_with_style(presentation, definition: str):
    """Return a table of 2 by 2 cells, whose style is defined in the file."""
    table = presentation.slides[0].shapes.add_table(2, 2, 0, 0, INCH, INCH).table
    table._tbl.tblPr.find(f"{{{A}}}tableStyleId").text = "{1}"
    part = next(it.target_part for it in presentation.part.rels.values() if it.reltype.endswith("/tableStyles"))
    part._blob = (
        f'<a:tblStyleLst xmlns:a="{A}"><a:tblStyle styleId="{{1}}">{definition}</a:tblStyle></a:tblStyleLst>'.encode()
    )
    return table


def test_a_table_style_of_the_file_formats_cells(presentation, job):
    red, blue = (f'<a:solidFill><a:srgbClr val="{digits}"/></a:solidFill>' for digits in ("FF0000", "0000FF"))
    definition = (
        f"<a:wholeTbl><a:tcStyle><a:tcBdr><a:left><a:ln>{red}</a:ln></a:left>"
        f"<a:insideV><a:ln>{blue}</a:ln></a:insideV></a:tcBdr></a:tcStyle></a:wholeTbl>"
        f'<a:firstRow><a:tcTxStyle b="on"><a:srgbClr val="00FF00"/></a:tcTxStyle>'
        f"<a:tcStyle><a:fill>{blue}</a:fill></a:tcStyle></a:firstRow>"
    )
    table = table_with_style(presentation, definition)
    table.cell(0, 0).text = "head"

    ((head, right), (below, _)) = shapes_of(presentation, job)[0].rows

    assert (head.fill, below.fill) == ("0000ff", None)
    assert (head.borders, right.borders) == (("ff0000", "", "0000ff", ""), ("0000ff", "", "", ""))
    assert (head.paragraphs[0].runs[0].color, head.paragraphs[0].runs[0].bold) == ("00ff00", True)


def test_borders_and_anchors_of_cells_survive_pptx(presentation, job):
    table = table_with_style(presentation, "")
    properties = table.cell(0, 0)._tc.get_or_add_tcPr()
    properties.append(element('<a:lnB><a:solidFill><a:srgbClr val="FF0000"/></a:solidFill></a:lnB>'))
    properties.append(element("<a:noFill/>"))
    properties.set("anchor", "b")
    first = read(sources.saved(presentation), job)

    cell = read(write(first, job), job).slides[0].shapes[0].rows[0][0]

    assert (cell.borders, cell.anchor, cell.fill) == (("", "", "", "ff0000"), "bottom", None)


DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
DRAWING = "http://schemas.microsoft.com/office/drawing/2008/diagram"


def diagram(presentation, members: str) -> bytes:
    """Return a presentation with a diagram of two points, whose stored drawing has these members."""
    from pptx.opc.package import Part
    from pptx.opc.packuri import PackURI

    slide = presentation.slides[0]
    points = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{word}</a:t></a:r></a:p></d:t></d:pt>" for word in ("one", "two"))
    drawing = (
        f'<dsp:drawing xmlns:dsp="{DRAWING}" xmlns:a="{A}"><dsp:spTree><dsp:nvGrpSpPr/><dsp:grpSpPr/>{members}'
        "</dsp:spTree></dsp:drawing>"
    )
    parts = [PackURI(f"/ppt/diagrams/{name}.xml") for name in ("data", "drawing")]
    drawing_part = Part(parts[1], "application/xml", slide.part.package, drawing.encode())
    name = slide.part.relate_to(drawing_part, "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing")
    data = (
        f'<d:dataModel xmlns:d="{DIAGRAM}" xmlns:a="{A}"><d:ptLst>{points}</d:ptLst><d:extLst><a:ext uri="x">'
        f'<dsp:dataModelExt xmlns:dsp="{DRAWING}" relId="{name}"/></a:ext></d:extLst></d:dataModel>'
    )
    data_part = Part(parts[0], "application/xml", slide.part.package, data.encode())
    data_name = slide.part.relate_to(data_part, f"{R}/diagramData")
    frame = slide.shapes.add_table(1, 1, INCH, INCH, 2 * INCH, INCH)._element
    graphic = frame.find(f".//{{{A}}}graphicData")
    graphic[:] = [etree.fromstring(f'<d:relIds xmlns:d="{DIAGRAM}" xmlns:r="{R}" r:dm="{data_name}"/>')]
    return sources.saved(presentation)


def test_a_slide_can_exchange_the_colours_of_its_master(presentation, job):
    presentation.slides.add_slide(presentation.slide_layouts[6])
    for slide in presentation.slides:
        shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, 0, 0, INCH, INCH)
        shape.fill.solid()
        shape.fill.fore_color.theme_color = MSO_THEME_COLOR.BACKGROUND_1
    override = presentation.slides[1]._element.find("{*}clrMapOvr")
    override[:] = [element('<a:overrideClrMapping bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2"/>')]

    deck = read(sources.saved(presentation), job)

    assert [slide.shapes[0].fill for slide in deck.slides] == ["ffffff", "000000"]


DRAWN = (
    '<dsp:sp><dsp:nvSpPr><dsp:cNvPr id="1" name=""/><dsp:cNvSpPr/></dsp:nvSpPr><dsp:spPr><a:xfrm>'
    '<a:off x="914400" y="0"/><a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"/></dsp:spPr>'
    "<dsp:txBody><a:bodyPr/><a:p><a:r><a:t>drawn</a:t></a:r></a:p></dsp:txBody></dsp:sp>"
)


@pytest.mark.parametrize(
    "members, text, box, notes",
    [
        (DRAWN, "drawn", Box(2 * INCH, INCH, INCH, INCH), []),
        ("", "one\ntwo", Box(INCH, INCH, 2 * INCH, INCH), ["a diagram is kept as a list."]),
    ],
    ids=["drawn", "not drawn"],
)
def test_a_diagram_shows_its_stored_drawing_or_is_a_list(presentation, job, members, text, box, notes):
    (shape,) = read(diagram(presentation, members), job).slides[0].shapes

    assert (shape.text, shape.box, job.notes) == (text, box, notes)


def odp_shapes(shape: str, properties: str, job, paragraph: str = ""):
    """Return the shapes of a page with one shape, whose style has these graphic and paragraph properties."""
    style = (
        '<style:style style:name="g" style:family="graphic">'
        f"<style:graphic-properties {properties}/><style:paragraph-properties {paragraph}/></style:style>"
    )
    page = f'<draw:page draw:name="1" draw:master-page-name="M">{shape}</draw:page>'
    return read_odp(decks.odp(page, style), job).slides[0].shapes


PLACE = 'draw:style-name="g" svg:x="1in" svg:y="1in" svg:width="2in" svg:height="1in"'
RED = 'draw:fill="solid" draw:fill-color="#ff0000" draw:stroke="none"'


@pytest.mark.parametrize(
    "geometry, data",
    [
        ('draw:enhanced-path="M 0 0 L 200 0 100 100 Z N"', ["M 0 0 L 100000 0 L 50000 100000 Z"]),
        ('draw:enhanced-path="M 0 0 C 0 50 100 50 100 100 N M 0 0 L 200 100 F N"',
         ["M 0 0 C 0 50000 50000 50000 50000 100000", "M 0 0 L 100000 100000"]),
        ('draw:type="isosceles-triangle" draw:enhanced-path="M ?f0 0 L ?f1 100 N"', [TRIANGLE.data]),
        ('draw:type="ooxml-triangle" draw:enhanced-path="M ?f0 0 L ?f1 100 N"', [TRIANGLE.data]),
        ('draw:type="round-rectangle" draw:enhanced-path="M 0 0 X 9 9 N"', []),
        ('draw:type="ooxml-gear6" draw:enhanced-path="M ?f0 0 L logwidth 100 N"', []),
        ('draw:enhanced-path="M 0 50 W 0 0 200 100 0 50 100 0"', []),
        ('draw:enhanced-path="M 0 0 L nan 1e999 N"', []),
        ('svg:viewBox="a b" draw:enhanced-path="M 0 0 L 1 1 N"', []),
    ],
    ids=["path", "curve and line", "triangle", "ooxml", "round", "gear", "arc", "not numbers", "no box"],
)  # fmt: skip
def test_the_path_of_a_custom_shape_is_read(job, geometry, data):
    view = "" if "viewBox" in geometry else 'svg:viewBox="0 0 200 100"'
    geometry = f"<text:p>words</text:p><draw:enhanced-geometry {view} {geometry}/>"

    (shape,) = odp_shapes(f"<draw:custom-shape {PLACE}>{geometry}</draw:custom-shape>", RED, job)

    assert [path.data for path in shape.paths] == data
    assert (shape.fill, shape.text) == ("ff0000", "words")


@pytest.mark.parametrize(
    "element_text, data",
    [
        ('draw:path {0} svg:viewBox="0 0 10 10" svg:d="m0 0h5v10l-5-5z"', "M 0 0 L 50000 0 L 50000 100000 L 0 50000 Z"),
        ('draw:polygon {0} svg:viewBox="0 0 10 10" draw:points="0,0 10,0 5,10"', "M 0 0 L 100000 0 L 50000 100000 Z"),
        ('draw:polyline {0} svg:viewBox="0 0 10 10" draw:points="0,0 10,10"', "M 0 0 L 100000 100000"),
    ],
)
def test_paths_and_polygons_are_read(job, element_text, data):
    (shape,) = odp_shapes(f"<{element_text.format(PLACE)}/>", RED, job)

    assert [path.data for path in shape.paths] == [data]


def test_a_line_is_read_with_its_width_and_arrowhead(job):
    line = '<draw:line draw:style-name="g" svg:x1="3in" svg:y1="1in" svg:x2="1in" svg:y2="1in"/>'
    dashes = 'draw:stroke="dash" draw:stroke-dash="Dot" draw:marker-end="Arrow"'

    (shape,) = odp_shapes(line, f'{dashes} svg:stroke-color="#0000ff" svg:stroke-width="2pt"', job)

    assert (shape.box, shape.line) == (Box(INCH, INCH, 2 * INCH, 0, flip_x=True), "0000ff")
    assert shape.stroke == Stroke(25_400, "dot", "", "triangle")


def test_spacing_padding_and_opacity_of_odp_are_read(job):
    shape = f'<draw:rect {PLACE}><text:p text:style-name="g">x</text:p></draw:rect>'
    properties = RED + ' draw:opacity="50%" fo:padding-left="1in" draw:fit-to-size="shrink-to-fit"'

    (read_shape,) = odp_shapes(shape, properties, job, 'fo:line-height="90%" fo:margin-top="3pt" fo:margin-left="1in"')

    (paragraph,) = read_shape.paragraphs
    assert (read_shape.fill, read_shape.insets[0], read_shape.shrinks) == ("ff000080", INCH, True)
    assert (paragraph.line_spacing, paragraph.before, paragraph.indent) == (0.9, 3.0, INCH)


def test_paths_and_numbers_survive_odp(job):
    numbers = tuple(
        Paragraph((TextRun(word),), marker="number", bullet="(a)", start=3 + n, indent=720_000, first=-360_000)
        for n, word in enumerate(("three", "four"))
    )
    looks = {"fill": "ff0000", "line": "0000ff", "stroke": Stroke(36_000, "dash", "", "triangle")}
    shape = Text(Box(INCH, INCH, INCH, INCH, flip_y=True), numbers, paths=(TRIANGLE,), wrap=False, **looks)

    (again,) = read_odp(write_odp(deck_of(shape), job), job).slides[0].shapes

    assert (again.box, again.paths, again.wrap) == (shape.box, shape.paths, False)
    assert (again.fill, again.line, again.stroke) == (shape.fill, shape.line, shape.stroke)
    lists = [(it.bullet, it.start, it.indent, it.first) for it in again.paragraphs]
    assert lists == [("(a)", number, 720_000, -360_000) for number in (3, 4)]


def test_the_fill_of_a_picture_frame_does_not_cover_the_picture(job):
    image = f"<office:binary-data>{base64.b64encode(sources.png(40, 20)).decode()}</office:binary-data>"
    frames = "".join(
        f"<draw:frame {PLACE}><draw:image>{image}{text}</draw:image></draw:frame>"
        for text in ("<text:p/>", "<text:p>on it</text:p>")
    )

    picture, other, words = odp_shapes(frames, RED, job)

    assert (type(picture), type(other)) == (SlidePicture, SlidePicture)
    assert (words.text, words.fill, words.line) == ("on it", None, None)
