import base64
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pypdf
import pytest
import tinycss2
from hypothesis import given, strategies as st
from PIL import Image

from svc_notebooks.convert.drawing.model import Drawing, jpeg, pdf, png, svg
from svc_notebooks.convert.drawing.read import clean_stylesheet, read
from svc_notebooks.convert.job import ConversionError, JobLimits
from tests.convert import sources
from tests.examples import examples

_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
CSS_PIECES = (
    *"{}();:\"'@\\/* \n<!,", "a", "fill", "red", "url(", "#a", "//x", "@import ", "\\22 ", "\\7d ", "/*", "*/", "rgb(",
    "behavior", "a { fill: ", "u\\72l(", "!important", "<!--", "1e9", "-", "--x:",
)  # fmt: skip
_SMALL = _HEAD + 'width="40" height="20">'


def cleaned(inside: str, job, head: str = _SMALL) -> str:
    svg = read(f"{head}{inside}</svg>".encode(), job).svg
    return re.sub(r"^<svg[^>]*?/?>|</svg>$", "", svg)


def picture(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def test_drawing_elements_are_kept(job):
    inside = (
        '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<style>.a { fill: url(#g) }</style><g transform="translate(1 2)"><rect class="a" width="5" height="5"/></g>'
        '<text x="1" y="9" font-size="4">Größe 日本語 <tspan>שלום</tspan> end</text><use href="#g"/>'
        '<a href="https://svc.example/"><circle r="2" style="fill: rgb(1, 2, 3)"/></a>'
        '<animate attributeName="x" values="0;1" dur="1s"/>'
    )

    assert cleaned(inside, job) == inside
    assert job.notes == []


REMOVED = (
    "<script>alert(1)</script>",
    "<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='http://svc.example'/></foreignObject>",
    "<animate attributeName='href' values='javascript:alert(1)'/>",
    "<set attributeName='xlink:href' to='javascript:alert(1)'/>", "<set attributeName='onclick' to='alert(1)'/>",
    "<metadata><x:y xmlns:x='urn:x'>z</x:y></metadata>", "<handler>alert(1)</handler>",
    "<?xml-stylesheet href='http://svc.example/a.css'?><!-- a -->", "<iframe xmlns='http://www.w3.org/1999/xhtml'/>",
)  # fmt: skip


@pytest.mark.parametrize(
    "markup, left",
    [
        *((markup, "") for markup in REMOVED),
        ("<rect onclick='alert(1)' ONLOAD='x'/>", "<rect/>"),
        ("<image href='/etc/passwd'/>", "<image/>"),
        ("<image xlink:href='file:///etc/passwd'/>", "<image/>"),
        ("<image href='data:image/svg+xml;base64,PHN2Zy8+'/>", "<image/>"),
        ("<image href='data:image/png;base64,AAAA'/>", "<image/>"),
        ("<use href='http://svc.example/a.svg#b'/>", "<use/>"),
        ("<a href=' java&#10;script:alert(1)'><g/></a>", "<a><g/></a>"),
        ("<rect fill='url(http://svc.example/#a)'/>", "<rect/>"),
        ("<rect fill='url(#a)'/>", '<rect fill="url(#a)"/>'),
        ("<rect style='fill: red; mask: url(\"http://svc.example/\")'/>", '<rect style="fill: red"/>'),
        ("<rect style='fill: u\\72l(http://svc.example/)'/>", '<rect style=""/>'),
        ("<rect style='fill: ur/**/l(http://svc.example/)'/>", '<rect style=""/>'),
        ("<style>@import 'http://svc.example/a.css'; .a { fill: red }</style>", "<style>.a { fill: red }</style>"),
        ("<style>@import url(//svc.example/a.css);</style>", "<style></style>"),
        (
            "<style>@font-face { src: url(http://svc.example/) } b { fill: red }</style>",
            "<style>b { fill: red }</style>",
        ),
        ("<style>a { background: image-set('http://svc.example/' 1x) }</style>", "<style></style>"),
        ("<g xml:base='http://svc.example/'/>", "<g/>"),
        ("<rect style='fill: rgb(url(http://svc.example/))'/>", '<rect style=""/>'),
        ("<rect style='fill: red; stroke: \\1 ; -moz-binding: url(#a)'/>", '<rect style="fill: red"/>'),
        (f"<style>a{'(' * 5000}{')' * 5000} {{ fill: red }}</style>", "<style></style>"),
        (f"<rect style='width: {'(' * 5000}{')' * 5000}'/>", '<rect style=""/>'),
        (f"<rect style='width: {'1' * 5000}'/>", '<rect style=""/>'),
        ('<style>a { fill: "</style><rect/>" }</style>'.replace("</style><", "&lt;/style><"), "<style></style>"),
    ],
)
def test_scripts_other_elements_and_external_css_are_removed(job, markup, left):
    assert cleaned(markup, job) == left


def test_strings_that_hide_a_rule_stay_strings(job):
    """Splitting at each ";" once removed one quotation mark, so that chromium loaded the imported sheet."""
    sheet = """a::: { fill: ";bad: behavior("; y: "} @import '//svc.example/x.css'; z: q" }"""

    [style] = ElementTree.fromstring(f"<g>{cleaned(f'<style>{sheet}</style>', job)}</g>")

    assert [rule.type for rule in tinycss2.parse_stylesheet(style.text)] == ["qualified-rule"]


@examples(2)
@given(st.lists(st.sampled_from(CSS_PIECES), max_size=30).map("".join))
def test_no_style_sheet_names_anything_outside(text):
    kept = clean_stylesheet(text)

    assert clean_stylesheet(kept) == kept
    for rule in tinycss2.parse_stylesheet(kept, skip_whitespace=True):
        assert rule.type == "qualified-rule"
        for declaration in tinycss2.parse_blocks_contents(rule.content, skip_whitespace=True):
            assert declaration.type == "declaration"
            assert all(token.value.startswith("#") for token in declaration.value if token.type == "url")


def test_an_embedded_picture_is_checked_and_kept(job):
    markup = f'<image href="{picture(sources.png())}" width="4" height="4"/>'

    assert "data:image/png;base64," in cleaned(markup, job)
    assert cleaned(markup, replace(job, limits=JobLimits(pixels=700))) == '<image width="4" height="4"/>'


def test_a_document_type_is_removed_and_entities_are_refused(job):
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'

    assert "DOCTYPE" not in read(f"{doctype}{_SMALL}</svg>".encode(), job).svg
    for encoding in ("utf-8", "utf-16"):
        source = f'<!DOCTYPE svg [<!ENTITY a "b">]>{_SMALL}<text>&a;</text></svg>'.encode(encoding)
        with pytest.raises(ConversionError, match="entities"):
            read(source, job)


@pytest.mark.parametrize(
    "facts, size",
    [
        ('width="40" height="20"', (40, 20)), ('width="1in" height="72pt"', (96, 96)),
        ('viewBox="0 0 30 10"', (30, 10)), ('width="60" viewBox="0,0,30,10"', (60, 20)),
        ('width="100%" height="100%" viewBox="0 0 30 10"', (30, 10)), ('width="NaN" height="-3"', (960, 720)),
        ('viewBox="0 0 0 1e999"', (960, 720)), ('width="100000000" height="1000000"', (16_000, 160)),
    ],
)  # fmt: skip
def test_the_size_is_explicit_and_limited(job, facts, size):
    drawing = read(f"{_HEAD}{facts}></svg>".encode(), job)

    assert (drawing.width, drawing.height) == size
    root = ElementTree.fromstring(drawing.svg)
    assert (float(root.get("width")), float(root.get("height"))) == size


def test_a_drawing_without_a_namespace_gets_it(job):
    assert read(b'<svg width="3" height="2"><g/></svg>', job).svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')


@pytest.fixture
def drawing(job) -> Drawing:
    inside = '<rect width="20" height="20" fill="#ff0000"/><text x="1" y="15" font-size="9">Hello Größe</text></svg>'
    return read((_SMALL + inside).encode(), job)


@pytest.mark.spec("A7-01", "A7-01b")
def test_each_format_shows_the_drawing(job, drawing):
    seen = Image.open(io.BytesIO(png(drawing, job)))
    photo = Image.open(io.BytesIO(jpeg(drawing, job)))
    (page,) = pypdf.PdfReader(io.BytesIO(pdf(drawing, job))).pages

    assert (seen.size, photo.size, photo.format) == ((40, 20), (40, 20), "JPEG")
    assert seen.convert("RGBA").getpixel((1, 1)) == (255, 0, 0, 255)
    assert seen.convert("RGBA").getpixel((39, 1))[3] == 0
    assert min(photo.getpixel((39, 1))) > 250
    assert (round(page.mediabox.width), round(page.mediabox.height)) == (30, 15)
    assert "Größe" in page.extract_text()
    assert ElementTree.fromstring(svg(drawing, job)).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.spec("A7-01", "A7-01b")
def test_a_new_drawing_is_an_empty_page(job):
    assert Image.open(io.BytesIO(jpeg(Drawing(), job))).size == (960, 720)
    assert len(pypdf.PdfReader(io.BytesIO(pdf(Drawing(), job))).pages) == 1
    assert read(svg(Drawing(), job), job).width == 960
