"""Presentations that the tests read, made by libraries that are not ours or by hand."""

import io
from collections.abc import Mapping

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from tests.convert.sources import ODF_SPACES, png, saved, zipped


def full_pptx() -> bytes:
    """Return three slides by python-pptx, with an outline and notes, a table and a picture, and a hidden chart."""
    presentation = pptx.Presentation()
    presentation.core_properties.title = "Quarter"
    _outline(presentation)
    _table_and_picture(presentation)
    _chart(presentation)
    return saved(presentation)


def _outline(presentation) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Überblick 日本語"
    frame = slide.placeholders[1].text_frame
    frame.text = "first"
    for text, level in (("second", 1), ("third", 2)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    run = frame.add_paragraph().add_run()
    run.text, run.font.bold, run.font.size = "bold link", True, Pt(30)
    run.hyperlink.address = "https://svc.example/a?b=1&c=2"
    slide.notes_slide.notes_text_frame.text = "Say hello\nand more"


def _table_and_picture(presentation) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Numbers"
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for y in range(3):
        for x in range(3):
            table.cell(y, x).text = f"r{y}c{x}"
    table.cell(1, 0).merge(table.cell(2, 1))
    shape = slide.shapes.add_picture(io.BytesIO(png(40, 20, "red")), Inches(7), Inches(1), Inches(2), Inches(1))
    shape._element[0][0].set("descr", "a red field")


def _chart(presentation) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Sales", (1.5, 2.5))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(1), Inches(4), Inches(3), data)
    slide._element.set("show", "0")


def odp(pages: str, automatic: str = "", members: Mapping[str, bytes] | None = None, master: str = "") -> bytes:
    """Return an OpenDocument presentation written by hand, with pages of 10 by 5 inches. `master` has more shapes."""
    content = (
        f'<office:document-content {ODF_SPACES} office:version="1.2">'
        f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:presentation>{pages}</office:presentation></office:body></office:document-content>"
    )
    styles = (
        f'<office:document-styles {ODF_SPACES} office:version="1.2"><office:styles/><office:automatic-styles>'
        '<style:page-layout style:name="P"><style:page-layout-properties fo:page-width="10in" fo:page-height="5in"/>'
        '</style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="M" '
        'style:page-layout-name="P"><draw:frame presentation:class="title" svg:x="1in" svg:y="0.5in" svg:width="8in" '
        f'svg:height="1in"/>{master}</style:master-page></office:master-styles></office:document-styles>'
    )
    parts = {"mimetype": b"application/vnd.oasis.opendocument.presentation", "content.xml": content.encode()}
    return zipped({**parts, "styles.xml": styles.encode(), **(members or {})})
