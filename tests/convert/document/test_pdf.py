import io
import struct
import unicodedata
from base64 import b64encode
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pypdf
import pypdfium2
import pytest

from svc_notebooks.convert.document import pdf, read
from svc_notebooks.convert.document.model import Document, paragraph
from svc_notebooks.convert.engines import typst
from svc_notebooks.convert.job import ConversionError, Job
from tests.convert import sources
from tests.convert.document.trees import NONE, table

RICH = """# Report {#top}

Some *emph*, **strong**, ~~strike~~, H~2~O, x^2^, `code`, [a link](https://a.example/), [to the top](#top),
[nowhere](#gone) and a note.[^1] Inline $E = mc^2$ and $$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$ behind.

[^1]: What the *note* says.

## Part

> A quote.

3. three
4. four
    a. alpha

Term
:   Meaning.

| Left | Right |
|:-----|------:|
| a    | 1     |

: A caption

```python
print("x")
```

| lines
| of verse

---
"""

SHOWN = (
    "Report", "emph", "strong", "strike", "code", "a link", "nowhere", "What the note says", "A quote.", "3. three",
    "4. four", "a. alpha", "Term", "Meaning.", "Left", "Right", "A caption", 'print("x")', "of verse", "behind.",
)  # fmt: skip
PICTURE = f"data:image/png;base64,{b64encode(sources.png()).decode()}"


def pages(made: bytes) -> str:
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages)


@pytest.mark.spec("A7-01", "A7-01b")
def test_all_content_is_on_the_page(job: Job) -> None:
    document = read.markdown(RICH.encode(), job)

    made = pdf.write(document, replace(job, name="The name"))

    reader, text = pypdf.PdfReader(io.BytesIO(made)), pages(made)
    assert [words for words in SHOWN if words not in text] == []
    assert reader.metadata.title == "The name"
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)] == ["Report"]
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    links = [note["/A"]["/URI"] for note in notes if "/A" in note and "/URI" in note["/A"]]
    assert links == ["https://a.example/"]
    assert job.notes == []


@pytest.mark.spec("A7-01", "A7-01b")
def test_pictures_and_the_title_of_a_word_file_are_on_the_page(job: Job) -> None:
    import docx

    source = docx.Document(io.BytesIO(sources.docx()))
    source.paragraphs[0].insert_paragraph_before("The visible title", style="Title")

    made = pdf.write(read.docx(sources.saved(source), job), job)

    assert "The visible title" in pages(made)
    assert [image.image.size for page in pypdf.PdfReader(io.BytesIO(made)).pages for image in page.images] == [(60, 40)]


def test_an_empty_document_is_a_page_with_the_date_of_the_job(job: Job) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf.write(Document(), job)))

    assert (len(reader.pages), reader.metadata.creation_date) == (1, job.now)


@pytest.mark.parametrize(
    "source_text",
    [
        '#read("/etc/passwd")', "#read(\"data.json\")", '#import "@preview/cetz:0.1.0"', "$x$", "@ref", "<label>",
        "\\u{41}", "*bold* _emph_ `raw`", "= heading", "#sys.version", "]#text[", '")#read("/etc/passwd")("',
        "// comment",
    ],
)  # fmt: skip
def test_text_that_looks_like_code_is_text(source_text: str, job: Job) -> None:
    document = read.text(f"before {source_text} after".encode(), job)

    text = " ".join(pages(pdf.write(document, job)).split())

    assert f"before {source_text} after".replace('"', "") in text.replace('"', "").replace("“", "").replace("”", "")
    assert "root:" not in text


@pytest.mark.parametrize(
    "tex", ['\\text{#read("/etc/passwd")}', "\\undefined{x", '#read("/etc/passwd")', "$", '"', "\\"]
)
def test_invalid_formulas_are_text(tex: str, job: Job) -> None:
    formula = {"t": "Math", "c": [{"t": "InlineMath"}, tex]}

    made = pdf.write(Document([{"t": "Para", "c": [formula, {"t": "Str", "c": " words"}]}]), job)

    assert "words" in pages(made)
    assert "root:" not in pages(made)


@pytest.mark.parametrize(
    "source",
    [
        "<p>" + "x" * 5000 + "</p>", "<table><tr>" + "<td>x</td>" * 500 + "</tr></table>", "<ul><li>" * 50 + "words",
        "<div>" * 150 + "words", "<b>" * 150 + "words",
        f'<table><tr><td><img width="50%" src="{PICTURE}"><td><img height="9in" src="{PICTURE}"></table>',
        f'<p><img width="0" height="0" src="{PICTURE}"><img width="0.0px" src="{PICTURE}"></p>',
        "<table><tr><td rowspan=50 colspan=50>a</td></tr><tr><td colspan=3>b</td><td rowspan=9>c</td></tr></table>",
    ],
)  # fmt: skip
def test_difficult_tables_and_nesting_are_rendered(source: str, job: Job) -> None:
    assert len(pypdf.PdfReader(io.BytesIO(pdf.write(read.html(source.encode(), job), job))).pages) >= 1


def picture_size(made: bytes) -> tuple[float, float]:
    page = list(pypdfium2.PdfDocument(made))[-1]
    left, bottom, right, top = next(page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE])).get_bounds()
    return right - left, top - bottom


@pytest.mark.parametrize(
    "attributes, wide, high",
    [
        ('width="75pt"', 75, 50), ('height="50pt"', 75, 50), ('width="75pt" height="75pt"', 75, 75),
        ('width="30px" height="100px"', 22.5, 75), ('width="75pt" height="10%"', 75, 50),
        ('width="50%"', 229.6, 153.1), ('width="918.4pt" height="100pt"', 459.2, 50),
        ('width="100pt" height="1360.6pt"', 50, 680.3), ('height="3rem"', 60, 40),
        ('width="75pt" height="0pt"', 75, 50), ('width="99999in"', 459.2, 306.1), ('width="0.001px"', 0, 0),
    ],
)  # fmt: skip
def test_a_picture_has_its_declared_size(attributes: str, wide: float, high: float, job: Job) -> None:
    source = sources.html().replace(b'alt="a square"', attributes.encode())

    assert picture_size(pdf.write(read.html(source, job), job)) == pytest.approx((wide, high), abs=0.3)


@pytest.mark.parametrize("length", ["0in", "0.0%", "3rem", "1.2.3px", ".in", "300", "wide"])
def test_an_invalid_length_gives_the_size_of_the_picture(length: str, job: Job) -> None:
    image = {"t": "Image", "c": [["", [], [["width", length], ["height", length]]], [], ["square.png", ""]]}
    square = Document([{"t": "Para", "c": [image]}], {}, {"square.png": sources.png()})

    assert picture_size(pdf.write(square, job)) == pytest.approx((60, 40), abs=0.3)


class TestFonts:
    @pytest.mark.parametrize("name", ["Greek", "Cyrillic", "Hebrew"])
    def test_typst_has_fonts(self, name: str) -> None:
        assert dict(typst.script_report())[name]

    def test_letters_without_a_font_are_noted(self, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(typst, "_system_coverage", lambda: bytes(0x110000))

        pdf.write(read.text("नम 日本 Ελλάδα – שלום ᏣᎳᎩ".encode(), job), job)

        assert [note.partition(";")[0] for note in job.notes] == [
            "No font for Devanagari (नम) is installed",
            "No font for Cherokee (ᎩᎳᏣ) is installed",
            "No font for Han (日本) is installed",
        ]
        assert "apt-get install fonts-noto-cjk" in job.notes[2]

    def test_typst_has_the_listed_characters(self) -> None:
        """PDF/A forbids boxes for missing characters, so typst refuses a page with one."""
        import typst as setter

        carried = [c for c in map(chr, range(0x20, 0x1D800)) if typst.TYPST_CHARACTERS.match(c)]
        text = "".join(c for c in carried if unicodedata.category(c)[0] in "LNPS" and c not in '"\\')
        code = f'#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))\n#"{text}"'

        assert setter.compile(code.encode(), ignore_system_fonts=True, pdf_standards=["a-2b"], timestamp=0)

    @pytest.mark.parametrize(
        "text,expected",
        [("日本語の文", "X CJK JP"), ("中文", "X CJK SC"), ("한국어 漢字", "X CJK KR"), ("plain", None)],
    )
    def test_han_is_drawn_in_the_style_of_its_language(self, text: str, expected: str | None, monkeypatch) -> None:
        cjk = ("X CJK JP", "X CJK KR", "X CJK SC")
        monkeypatch.setattr(typst, "_families_by_script", lambda: dict.fromkeys(("Han", "Kana", "Hangul"), cjk))

        assert typst.fallback_families(text)[:1] == ([expected] if expected else [])

    @pytest.mark.parametrize("head", [b"", b"ttcf"], ids=["font", "collection"])
    @pytest.mark.parametrize("format", [4, 12])
    def test_characters_of_a_font(self, head: bytes, format: int, tmp_path) -> None:
        (tmp_path / "a.ttf").write_bytes(font_file([(0x41, 0x5A), (0x3B1, 0x3B1)], format, head))
        (tmp_path / "b.ttf").write_bytes(font_file([], format, head).replace(b"cmap", b"glyf"))

        assert typst.character_ranges(str(tmp_path / "a.ttf"), 0) == [(0x41, 0x5A), (0x3B1, 0x3B1)]
        assert typst.character_ranges(str(tmp_path / "b.ttf"), 0) == []
        assert typst.character_ranges(str(tmp_path / "none.ttf"), 0) == []

    def test_a_script_has_a_font_only_if_the_font_has_its_letters(self, tmp_path, monkeypatch) -> None:
        """Many fonts claim scripts in their table OS/2 of which they have no letter."""
        face = SimpleNamespace(path=str(tmp_path / "a.ttf"), index=0, family="Claims", style="normal")
        (tmp_path / "a.ttf").write_bytes(font_file([(0x0E00, 0x0E7F)], 12, b""))
        monkeypatch.setattr(typst, "fonts", lambda: SimpleNamespace(fonts=lambda: [face]))
        for function in (typst._ranges_by_family, typst._families_by_script):
            monkeypatch.setattr(typst, function.__name__, function.__wrapped__)

        families = dict(typst.script_report())

        assert (families["Thai"], families["Han"], families["Greek"]) == ("Claims", None, "Libertinus Serif")


def font_file(ranges: list[tuple[int, int]], format: int, head: bytes) -> bytes:
    """Return a font file or (`head` is b"ttcf") a collection with the table OS/2 for all scripts and this `cmap`."""
    start = 16 if head else 0
    count = len(ranges) + 1
    if format == 12:
        groups = b"".join(struct.pack(">III", first, last, 0) for first, last in ranges)
        subtable = struct.pack(">HHIII", 12, 0, 16 + len(groups), 0, len(ranges)) + groups
    else:
        ends, starts = ([pair[side] for pair in ranges] + [0xFFFF] for side in (1, 0))
        subtable = struct.pack(">HHHHHHH", 4, 0, 0, 2 * count, 0, 0, 0)
        subtable += struct.pack(f">{count}HH{count}H", *ends, 0, *starts)
    cmap = struct.pack(">HHHHI", 0, 1, 3, 10, 12) + subtable
    os2 = bytes(42) + b"\xff" * 16
    tables = struct.pack(">4sHHHH", b"\0\1\0\0", 2, 0, 0, 0)
    tables += struct.pack(">4sIII", b"OS/2", 0, start + 44, len(os2))
    tables += struct.pack(">4sIII", b"cmap", 0, start + 44 + len(os2), len(cmap))
    return (head and struct.pack(">4sIII", head, 0, 1, start)) + tables + os2 + cmap


def test_a_template_that_fails_is_a_conversion_error(job: Job) -> None:
    content = {"title": "x", "blocks": [{"k": "image", "name": "none.png"}, {}]}

    with pytest.raises(ConversionError, match="could not be rendered"):
        typst.render(job, "document/document.typ", content, {})


@pytest.mark.parametrize("formula", ['std.read("data.json")', 'std.eval("1")'])
def test_formulas_cannot_read_files(formula: str) -> None:
    assert pdf._compilable([formula, "x^2"]) == {"x^2"}


def test_a_long_table_head_continues_on_the_next_page(job: Job) -> None:
    words = [f"word{number}" for number in range(300)]
    head_only = table(paragraph("body"))
    row = [NONE, [[NONE, {"t": "AlignDefault"}, 1, 1, [paragraph(word) for word in words]]]]
    head_only["c"][3:5] = [NONE, [row]], [[NONE, 0, [], []]]

    text = pages(pdf.write(Document([head_only]), job))

    assert [word for word in words if word not in text] == []


def test_text_of_a_table_with_spans_is_not_smaller(job: Job) -> None:
    row = "<tr><td colspan=20>Street</td><td colspan=20>Town</td></tr>"

    made = pdf.write(read.html(f"<table>{row}{row}</table>".encode(), job), job)

    with closing(pypdfium2.PdfDocument(made)) as document:
        assert pypdfium2.raw.FPDFText_GetFontSize(document[0].get_textpage(), 0) == 10
