"""Adds pictures, looks, pages, dates and table borders to the files that pandoc writes."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import astuple
from datetime import UTC
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from ..input.odf_file import NAMESPACES
from ..job import Job, TooLarge
from . import pandoc
from .model import PAGE_COUNT, PAGE_NUMBER, Document, Page

_ENCODED_PNG = re.compile(rb"(iVBORw0KGgo[\w+/]+=*|89504e470d0a1a0a[0-9a-f]+)")
_DEFAULT_DPI = (72, 72)
_ROUNDING = 0.0127  # what is added to a resolution in dpi, since pandoc rounds down the pixels per metre of a PNG


class Placeholders:
    """An empty PNG for each picture, from which pandoc takes the size and the resolution of the picture."""

    def __init__(self, resources: Mapping[str, bytes], job: Job) -> None:
        self._limit, self._inserted = job.limits.output, 0
        self._pictures: dict[bytes, bytes] = {}
        self.uris: dict[str, str] = {}  # data URIs with the media type of the picture, by its name
        for name, data in resources.items():
            with job.leaving_out("A picture"):
                placeholder, media_type = _placeholder(name, data)
                self._pictures[placeholder] = data
                self.uris[name] = f"data:{media_type};base64,{base64.b64encode(placeholder).decode()}"

    def picture(self, part: bytes) -> bytes:
        """Return the picture of a placeholder, or any other part of a file as it is.

        Raises TooLarge if the pictures exceed the limit of output, since a document may show a picture many times.
        """
        self._inserted += len(self._pictures.get(part, b""))
        if self._inserted > self._limit:
            raise TooLarge(f"the result would have more than {self._limit} bytes.")
        return self._pictures.get(part, part)

    def insert(self, text: bytes, encode: Callable[[bytes], bytes]) -> bytes:
        """Replace the placeholders in a text by the pictures. Raises TooLarge like `picture`.

        `encode` is the encoding of pictures in the text: base64.b64encode or binascii.hexlify.
        """
        parts = _ENCODED_PNG.split(text)
        placeholders = {encode(placeholder): placeholder for placeholder in self._pictures}
        for index, part in enumerate(parts):
            if part in placeholders:
                parts[index] = encode(self.picture(placeholders[part]))
        return b"".join(parts)


def _placeholder(name: str, data: bytes) -> tuple[bytes, str]:
    """Return the placeholder of a picture, which contains the name to be unique, and the media type of the picture."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    info, target = PngInfo(), io.BytesIO()
    info.add_text("Title", name)
    with Image.open(io.BytesIO(data)) as image:
        dpi = tuple(round(value) + _ROUNDING for value in image.info.get("dpi", _DEFAULT_DPI))
        Image.new("1", image.size).save(target, "PNG", pnginfo=info, dpi=dpi)
        return target.getvalue(), str(image.get_format_mimetype())


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DOCX_RELATIONSHIPS = "word/_rels/document.xml.rels"
_DOCX_PART, _ODT_PART = "word/styles.xml", "styles.xml"
_DOCX_STYLE = re.compile(rb'<w:style [^>]*?w:styleId="([^"]+)"[^>]*>\s*<w:name [^>]*/>(.*?)</w:style>', re.DOTALL)
_LATENT_STYLES = re.compile(rb"<w:latentStyles.*?</w:latentStyles>", re.DOTALL)
_ODT_STYLES = re.compile(rb"<office:styles\s*/>|<office:styles>.*</office:styles>", re.DOTALL)

_SOURCE_CODE = (
    b'<w:style w:type="paragraph" w:customStyle="1" w:styleId="SourceCode"><w:name w:val="Source Code"/>'
    b'<w:basedOn w:val="Normal"/><w:rPr><w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/></w:rPr></w:style>'
)
_MISSING_ODT_STYLES = (  # which pandoc's files use and do not define
    b'<style:default-style style:family="table-cell"/><style:default-style style:family="text"/>'
    b'<style:style style:name="Formula" style:family="graphic"/>'
    b'<style:style style:name="Title" style:family="paragraph" style:parent-style-name="Heading" style:class="chapter">'
    b'<style:paragraph-properties fo:text-align="center"/><style:text-properties fo:font-size="28pt"/></style:style>'
    b'<style:style style:name="Subtitle" style:family="paragraph" style:parent-style-name="Heading"'
    b' style:class="chapter"><style:paragraph-properties fo:text-align="center"/></style:style>'
)

_members: dict[str, dict[str, bytes]] = {}  # of pandoc's own reference files by format, which each process reads once


def reference_option(writer: str, document: Document, job: Job) -> str:
    """Write a reference file for pandoc's writer "docx" or "odt" to the job's folder, and return the option for it.

    A docx file keeps the names of the styles, since pandoc uses them, and has the header and footer of the document.
    """
    if writer not in _members:
        source = pandoc.run((f"--print-default-data-file=reference.{writer}",), b"", job)
        with zipfile.ZipFile(io.BytesIO(source)) as archive:
            _members[writer] = {name: archive.read(name) for name in archive.namelist()}
    members = dict(_members[writer])
    if writer == "docx":
        names = _LATENT_STYLES.sub(b"", members[_DOCX_PART])
        members[_DOCX_PART] = _DOCX_STYLE.sub(lambda style: style[0].replace(style[2], b"", 1), names)
        for kind, lines in (("header", document.header), ("footer", document.footer)):
            if lines:
                _add_docx_lines(members, kind, lines, document.page)
    else:
        members[_ODT_PART] = _ODT_STYLES.sub(b"<office:styles/>", members[_ODT_PART])
    path = job.folder / f"reference.{writer}"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # pandoc copies the times: not those of now
    return f"--reference-doc={path}"


_SIGN = re.compile(f"([\t{PAGE_NUMBER}{PAGE_COUNT}])")
_DOCX_FIELD = '<w:fldSimple w:instr=" {} "><w:r><w:t>1</w:t></w:r></w:fldSimple>'
_DOCX_SIGNS = {
    "\t": "<w:r><w:tab/></w:r>", PAGE_NUMBER: _DOCX_FIELD.format("PAGE"), PAGE_COUNT: _DOCX_FIELD.format("NUMPAGES"),
}  # fmt: skip
_DOCX_TEXT = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
_DOCX_TABS = '<w:pPr><w:tabs><w:tab w:val="center" w:pos="{}"/><w:tab w:val="right" w:pos="{}"/></w:tabs></w:pPr>'
_ODT_LINE = '<text:p text:style-name="Footer">{}</text:p>'
_ODT_SIGNS = {"\t": "<text:tab/>", PAGE_NUMBER: "<text:page-number/>", PAGE_COUNT: "<text:page-count/>"}
_ODT_HEIGHT = b'<style:header-footer-properties fo:min-height="0.4in" fo:margin-bottom="0.2in"/>'
_RTF_LINE = r"\pard\tqc\tx{}\tqr\tx{} {}\par"
_RTF_SIGNS = {
    "\t": r"\tab ",
    PAGE_NUMBER: r"{\field{\*\fldinst PAGE}{\fldrslt 1}}",
    PAGE_COUNT: r"{\field{\*\fldinst NUMPAGES}{\fldrslt 1}}",
}
_TEXT_WIDTH = 468.0  # the width of the text in points on the pages of pandoc's files


def _written(line: str, signs: Mapping[str, str], text: str, quote: Callable[[str], str] = escape) -> str:
    """Write a line of a header or footer. `signs` has the code of signs, and `text` the format of quoted text."""
    return "".join(signs.get(part) or text.format(quote(part)) for part in _SIGN.split(line) if part)


def _rtf_text(text: str) -> str:
    units = memoryview(text.encode("utf-16-le", "replace")).cast("H")
    return "".join(chr(unit) if unit < 128 and chr(unit) not in "\\{}" else rf"\u{unit}?" for unit in units)


def _tab_stops(page: Page | None) -> tuple[int, int]:
    """Return where the part in the middle and the part at the right of a header or footer are, in twips."""
    width = round(20 * (page.width - page.left - page.right if page else _TEXT_WIDTH))
    return width // 2, width


def _add_docx_lines(members: dict[str, bytes], kind: str, lines: tuple[str, ...], page: Page | None) -> None:
    """Add a header or footer (`kind`) to the members of a reference file, from which pandoc copies it."""
    tabs = _DOCX_TABS.format(*_tab_stops(page))
    inside = "".join(f"<w:p>{tabs}{_written(line, _DOCX_SIGNS, _DOCX_TEXT)}</w:p>" for line in lines)
    root = {"header": "hdr", "footer": "ftr"}[kind]
    members[f"word/{kind}1.xml"] = f'<w:{root} xmlns:w="{_W[1:-1]}">{inside}</w:{root}>'.encode()
    link = f'<Relationship Id="{kind}" Type="{_RELATIONSHIPS}/{kind}" Target="{kind}1.xml"/></Relationships>'
    reference = f'<w:sectPr><w:{kind}Reference w:type="default" r:id="{kind}"/>'
    places = {"word/document.xml": (b"<w:sectPr>", reference), _DOCX_RELATIONSHIPS: (b"</Relationships>", link)}
    for name, (place, code) in places.items():
        members[name] = members[name].replace(place, code.encode())


def _with_odt_lines(styles: bytes, document: Document) -> bytes:
    """Replace the footer of the page in styles.xml by the header and footer of a document, if it has one."""
    pages = ""
    for kind, lines in (("header", document.header), ("footer", document.footer)):
        inside = "".join(_ODT_LINE.format(_written(line, _ODT_SIGNS, "{}")) for line in lines)
        pages += f"<style:{kind}>{inside}</style:{kind}>" if lines else ""
    if not pages:
        return styles
    styles = re.sub(rb"<style:footer>.*</style:footer>", lambda _: pages.encode(), styles, flags=re.DOTALL)
    if document.header:
        header = b"<style:header-style>%s</style:header-style>" % _ODT_HEIGHT
        styles = re.sub(rb"<style:header-style\s*/>", header, styles)
    for stop, twips in zip((b'"3.25in"', b'"6.5in"'), _tab_stops(document.page), strict=True):
        styles = styles.replace(stop, b'"%.2fpt"' % (twips / 20))
    return styles


def with_docx_styles(part: bytes) -> bytes:
    """Return the part with the styles of a docx file, in which pandoc's styles are complete."""
    source = _members["docx"][_DOCX_PART]
    styles = {style[1]: style[0] for style in _DOCX_STYLE.finditer(source)}
    part = _DOCX_STYLE.sub(lambda style: styles.get(style[1], style[0]), part)
    part = part.replace(b'<w:basedOn w:val="TableNormal" />', b"")  # pandoc does not define these two styles
    part = part.replace(b"</w:styles>", _SOURCE_CODE + b"</w:styles>")
    return part.replace(b"<w:style ", b"".join(_LATENT_STYLES.findall(source)) + b"<w:style ", 1)


def with_odt_styles(part: bytes) -> bytes:
    """Return the part with the styles of an odt file, in which pandoc's styles are complete."""
    styles = b"".join(_ODT_STYLES.findall(_members["odt"][_ODT_PART]))
    styles = styles.replace(b"</office:styles>", _MISSING_ODT_STYLES + b"</office:styles>")
    return _ODT_STYLES.sub(lambda _: styles, part, count=1)


_OFFICE, _STYLE, _TEXT, _TABLE, _FO, _SVG = (
    f"{{{NAMESPACES[prefix]}}}" for prefix in ("office", "style", "text", "table", "fo", "svg")
)
_PARAGRAPH_ORDER = (  # in `w:pPr` (ECMA-376 part 1, 17.3.1.26), without elements that pandoc does not write
    "pStyle", "keepNext", "keepLines", "pageBreakBefore", "widowControl", "numPr", "pBdr", "shd", "tabs", "bidi",
    "spacing", "ind", "contextualSpacing", "jc", "outlineLvl", "rPr",
)  # fmt: skip
_RUN_ORDER = (  # in `w:rPr` (17.3.2.28), without elements that pandoc does not write
    "rStyle", "rFonts", "b", "bCs", "i", "iCs", "caps", "smallCaps", "strike", "dstrike", "vanish", "color", "sz",
    "szCs", "highlight", "u", "shd", "vertAlign", "rtl", "lang",
)  # fmt: skip
_CELL_ORDER = ("tcW", "gridSpan", "vMerge", "tcBorders", "shd")  # the order of the elements in `w:tcPr` (17.4.66)
_FOOTER = 43.2  # the height in points of the footer of pandoc's odt files, which is above the bottom margin
_MIN_MARGIN = 14.4
_GAP = 36  # the distance in points between columns of text
_OPPOSITE = {"left": "right", "right": "left"}


def docx_looks(part: bytes, job: Job) -> bytes:
    """Replace the elements `paragraph` and `text` in a docx part with properties of paragraphs and runs."""
    if b"<paragraph " not in part and b"<text " not in part:
        return part
    root = _parse(part)
    for paragraph in root.iter(f"{_W}p"):
        look: dict[str, str] = {}
        for element in paragraph.iter(f"{_W}r", "paragraph", "text"):
            with job.leaving_out("The look of a text"):
                if element.tag == f"{_W}r":
                    _set_run_look(element, look)
                    continue
                look = dict(element.attrib)
                if element.tag == "paragraph":
                    _set_paragraph_look(paragraph, look)
    etree.strip_elements(root, "paragraph", "text", with_tail=False)
    for cell in root.iter(f"{_W}tc"):
        shades = [paragraph.find(f"{_W}pPr/{_W}shd") for paragraph in cell.iterchildren(f"{_W}p")]
        colors = {"" if shade is None else shade.get(f"{_W}fill") for shade in shades}
        if len(colors) == 1 and (color := colors.pop()):
            properties = _child(cell, f"{_W}tcPr")
            _set_shading(properties, f"#{color}")
            _sort(properties, _CELL_ORDER)
    return _serialized(root)


def _set_paragraph_look(paragraph: Any, look: dict[str, str]) -> None:
    properties = _child(paragraph, f"{_W}pPr")
    if "direction" in look:
        _child(properties, f"{_W}bidi")
    if align := look.get("align"):
        if properties.find(f"{_W}bidi") is not None:  # there "left" is the side where the text starts
            align = _OPPOSITE.get(align, align)
        _child(properties, f"{_W}jc").set(f"{_W}val", "both" if align == "justify" else align)
    if "page-break" in look:
        _child(properties, f"{_W}pageBreakBefore")
    if background := look.pop("background", None):
        _set_shading(properties, background)
    _sort(properties, _PARAGRAPH_ORDER)


def _sort(properties: Any, names: tuple[str, ...]) -> None:
    order = {_W + name: number for number, name in enumerate(names)}
    properties[:] = sorted(properties, key=lambda element: order.get(element.tag, len(order)))


def _set_run_look(run: Any, look: dict[str, str]) -> None:
    if not look.keys() & {"size", "color", "background"}:
        return
    properties = _child(run, f"{_W}rPr")
    if "color" in look and run.getparent().tag != f"{_W}hyperlink":
        _child(properties, f"{_W}color").set(f"{_W}val", look["color"][1:])
    if size := look.get("size"):
        for name in ("sz", "szCs"):
            _child(properties, _W + name).set(f"{_W}val", f"{round(2 * float(size[:-2]))}")
    if background := look.get("background"):
        _set_shading(properties, background)
    _sort(properties, _RUN_ORDER)


def _set_shading(properties: Any, color: str) -> None:
    shading = _child(properties, f"{_W}shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", color[1:])):
        shading.set(_W + name, value)


def odt_looks(content: bytes, job: Job) -> bytes:
    """Replace what `OdtLooks` wrote with automatic styles, and put the descriptions of pictures into their frames."""
    if not any(code in content for code in (b"<paragraph ", b"<text:span look=", b"<description>")):
        return content
    root = _parse(content)
    styles = _AutomaticStyles(root.find(f"{_OFFICE}automatic-styles"))
    name = f"{_TEXT}style-name"
    for mark in root.iter("paragraph"):
        with job.leaving_out("The look of a paragraph"):
            paragraph = next(mark.iterancestors(f"{_TEXT}p", f"{_TEXT}h"))
            paragraph.set(name, styles.name("paragraph", paragraph.get(name), dict(mark.attrib)))
    for span in root.iter(f"{_TEXT}span"):
        if span.attrib.pop("look", None):
            look = {key: span.attrib.pop(key) for key in list(span.attrib)}
            with job.leaving_out("The look of a text"):
                span.set(name, styles.name("text", "", look))
    for cell in root.iter(f"{_TABLE}table-cell"):
        colors = {styles.backgrounds.get(it.get(name)) for it in cell.iterchildren(f"{_TEXT}p", f"{_TEXT}h")}
        if len(colors) == 1 and (color := colors.pop()):
            key = f"{_TABLE}style-name"
            cell.set(key, styles.name("table-cell", cell.get(key, ""), {"background": color}))
    for description in root.iter("description"):
        etree.SubElement(description.getprevious(), f"{_SVG}desc").text = description.text
    etree.strip_elements(root, "paragraph", "description", with_tail=False)
    return _serialized(root)


class _AutomaticStyles:
    """The automatic styles of an odt file, to which the styles of looks are added."""

    def __init__(self, styles: Any) -> None:
        self._styles = styles
        self._names: dict[tuple[str, ...], str] = {}
        self.backgrounds: dict[str, str] = {}  # by the name of the style

    def name(self, family: str, base: str, look: dict[str, str]) -> str:
        """Return the name of the style with a look. `base` is the style of the paragraph, or ""."""
        key = (family, base, *look, *look.values())
        if key not in self._names:
            self._names[key] = f"look{len(self._names) + 1}"
            copies = (deepcopy(style) for style in self._styles if base and style.get(f"{_STYLE}name") == base)
            if (style := next(copies, None)) is None:  # the parent is a named style
                style = self._styles.makeelement(f"{_STYLE}style", {f"{_STYLE}family": family})
                _set(style, {f"{_STYLE}parent-style-name": base or None})
            style.set(f"{_STYLE}name", self._names[key])
            self.backgrounds |= {self._names[key]: look["background"]} if "background" in look else {}
            _set_properties(style, family, look)
            self._styles.append(style)
        return self._names[key]


def _set_properties(style: Any, family: str, look: dict[str, str]) -> None:
    if family == "table-cell":
        _set(_child(style, f"{_STYLE}table-cell-properties"), {f"{_FO}background-color": look["background"]})
        return
    if family == "paragraph":
        properties = _child(style, f"{_STYLE}paragraph-properties")
        if "direction" in look:
            _set(properties, {f"{_FO}text-align": "right", f"{_STYLE}writing-mode": "rl-tb"})
        values = {"text-align": look.get("align"), "background-color": look.pop("background", None)}
        values["break-before"] = "page" if "page-break" in look else None
        _set(properties, {_FO + name: value for name, value in values.items()})
    size = look.get("size")
    values = {f"{_FO}color": look.get("color"), f"{_FO}background-color": look.get("background")}
    values |= dict.fromkeys((f"{_FO}font-size", f"{_STYLE}font-size-asian", f"{_STYLE}font-size-complex"), size)
    _set(_child(style, f"{_STYLE}text-properties", len(style)), values)


def odt_page(styles: bytes, document: Document) -> bytes:
    """Set the page and the default size of text in the styles of an odt file."""
    if not document.page and not document.text_size:
        return styles
    root = _parse(styles)
    if page := document.page:
        values = {f"margin-{side}": getattr(page, side) for side in ("top", "right", "bottom", "left")}
        values |= {"page-width": page.width, "page-height": page.height}
        for side, has_lines in (("top", document.header), ("bottom", document.footer or not document.header)):
            if has_lines:
                margin = getattr(page, side)
                values[f"margin-{side}"] = max(margin - _FOOTER, min(margin, _MIN_MARGIN))
        for properties in root.iter(f"{_STYLE}page-layout-properties"):
            _set(properties, {_FO + name: f"{length:g}pt" for name, length in values.items()})
            properties.set(f"{_STYLE}print-orientation", "landscape" if page.width > page.height else "portrait")
            if page.columns > 1:
                columns = {f"{_FO}column-count": str(page.columns), f"{_FO}column-gap": f"{_GAP}pt"}
                _set(_child(properties, f"{_STYLE}columns"), columns)
    if size := document.text_size:
        for style in root.iter(f"{_STYLE}default-style"):
            if style.get(f"{_STYLE}family") == "paragraph":
                _set_properties(style, "text", {"size": f"{size:g}pt"})
    return _serialized(root)


def _set(element: Any, attributes: Mapping[str, str | None]) -> None:
    for name, value in attributes.items():
        if value is not None:
            element.set(name, value)


def _child(parent: Any, tag: str, position: int = 0) -> Any:
    """Return the child element with a tag, which is made at a position if it is missing."""
    child = parent.find(tag)
    if child is None:
        child = parent.makeelement(tag)
        parent.insert(position, child)
    return child


def _parse(part: bytes) -> Any:
    return etree.fromstring(part, etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True))


def _serialized(root: Any) -> bytes:
    part: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return part


_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TABLE_STYLE = re.compile(rb'(w:styleId="Table"(?:(?!</w:style>).)*?<w:tblInd [^>]*/>)', re.DOTALL)
_TABLE_BORDERS = b"<w:tblBorders>%s</w:tblBorders>" % b"".join(
    b'<w:%s w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>' % side
    for side in (b"top", b"left", b"bottom", b"right", b"insideH", b"insideV")
)
_SIDES = ("top", "right", "bottom", "left")
_DATA_URI = re.compile(rb'descr="data:[^"]*"')  # the description of a picture that pandoc makes of a placeholder
_SHORT_LENGTH = re.compile(rb'="([\d.]+e-?\d+)in"')  # pandoc writes an exponent below 0.1, which OpenDocument forbids
# The end of the frame of a formula in OpenDocument, and the size for which programs calculate the size themselves.
_FORMULA, _NO_SIZE = b'><draw:object xlink:href="Formula', b' svg:width="0in" svg:height="0in"'
_ALIGNMENTS = re.compile(rb"(<w:jc [^>]*/>)(?:\s*<w:jc [^>]*/>)+")  # of a cell in a cell; only one is allowed
_SECTION_END = re.compile(rb"</w:sectPr>(?=\s*</w:body>)")
_DOCX_SIZE = re.compile(rb'(<w:szC?s? w:val=")\d+(")')
_RTF_HEADER = re.compile(rb"(\{\\colortbl[^}]*)(\}\s*\\widowctrl\\hyphauto\n)")
_RTF_ROW = re.compile(rb"^(?:(?:\\clbrdrb\\brdrs)?\\cellx\d+)+\r?$", re.MULTILINE)
_RTF_CELL = re.compile(rb"(?:\\clbrdrb\\brdrs)?(\\cellx\d+)")
_RTF_CELL_BORDERS = rb"\\clbrdrt\\brdrs\\clbrdrl\\brdrs\\clbrdrb\\brdrs\\clbrdrr\\brdrs\1"


def docx(archive: bytes, placeholders: Placeholders, document: Document, job: Job) -> bytes:
    """Add the pictures, table borders, looks, the page, and the job's date and title to a docx file."""
    size = round(2 * document.text_size) if document.text_size else None
    return rewrite_parts(
        archive,
        {
            "word/document.xml": lambda part: _SECTION_END.sub(_docx_page(document.page), _docx_story(part, job)),
            "word/footnotes.xml": lambda part: _docx_story(part, job),
            "word/styles.xml": lambda part: _DOCX_SIZE.sub(
                rb"\g<1>%d\2" % size if size else rb"\g<0>",
                _TABLE_STYLE.sub(rb"\1" + _TABLE_BORDERS, with_docx_styles(part)),
                count=2,  # the default size, which stands first
            ),
            "docProps/core.xml": lambda part: _with_metadata(job, part),
        },
        placeholders,
    )


def _docx_story(part: bytes, job: Job) -> bytes:
    part = part.replace(b'<m:nor /><m:sty m:val="p" />', b"<m:nor />")  # pandoc writes both, of which one is allowed
    part = _ALIGNMENTS.sub(rb"\1", part)
    return docx_looks(_DATA_URI.sub(b'descr=""', part), job)


def _docx_page(page: Page | None) -> bytes:
    if page is None:
        return rb"\g<0>"
    width, height, *margins = (round(20 * length) for length in astuple(page)[:6])
    orientation = "landscape" if width > height else "portrait"
    sides = "".join(f' w:{side}="{margin}"' for side, margin in zip(_SIDES, margins, strict=True))
    size = f'<w:pgSz w:w="{width}" w:h="{height}" w:orient="{orientation}"/>'
    columns = f'<w:cols w:num="{page.columns}" w:space="{20 * _GAP}"/>' if page.columns > 1 else ""
    return f'{size}<w:pgMar{sides} w:header="708" w:footer="708" w:gutter="0"/>{columns}</w:sectPr>'.encode()


def odt(archive: bytes, placeholders: Placeholders, document: Document, job: Job) -> bytes:
    """Add the pictures, looks, the page, and the job's date and title to an odt file."""
    border = b'fo:border="0.5pt solid #bfbfbf" fo:padding="0.04in"'
    return rewrite_parts(
        archive,
        {
            "content.xml": lambda part: odt_looks(
                _SHORT_LENGTH.sub(
                    lambda length: b'="%.4fin"' % float(length[1]),
                    part.replace(b'fo:border="none"', border).replace(_FORMULA, _NO_SIZE + _FORMULA),
                ),
                job,
            ),
            "styles.xml": lambda part: odt_page(_with_odt_lines(with_odt_styles(part), document), document),
            "meta.xml": lambda part: _with_metadata(job, part),
            # Pandoc writes second entries for the folders of formulas.
            "META-INF/manifest.xml": lambda part: b"\n".join(
                dict.fromkeys(part.replace(b'"application/xml"', b'"text/xml"').splitlines())
            ),
        },
        placeholders,
    )


def epub(archive: bytes, placeholders: Placeholders, job: Job) -> bytes:
    """Add the pictures and the job's date to an EPUB file, and the job's title if the title is empty."""
    return rewrite_parts(archive, {"EPUB/content.opf": lambda part: _with_metadata(job, part)}, placeholders)


def rtf(text: bytes, document: Document, colors: Iterable[str]) -> bytes:
    """Add colours, the page and table borders to an RTF file."""
    table = "".join(rf"\red{int(c[1:3], 16)}\green{int(c[3:5], 16)}\blue{int(c[5:], 16)};" for c in colors).encode()
    text = _RTF_HEADER.sub(lambda match: match[1] + table + match[2] + _rtf_page(document), text, count=1)
    return _RTF_ROW.sub(lambda row: _RTF_CELL.sub(_RTF_CELL_BORDERS, row[0]), text)


def _rtf_page(document: Document) -> bytes:
    words = rf"\fs{round(2 * document.text_size)}" if document.text_size else ""
    stops = _tab_stops(document.page)
    for kind, lines in (("header", document.header), ("footer", document.footer)):
        texts = (_RTF_LINE.format(*stops, _written(line, _RTF_SIGNS, "{}", _rtf_text)) for line in lines)
        words += rf"{{\{kind} {''.join(texts)}}}" if lines else ""
    if page := document.page:
        words += r"\landscape" * (page.width > page.height)
        lengths = zip(("paperw", "paperh", "margt", "margr", "margb", "margl"), astuple(page), strict=False)
        words += rf"\cols{page.columns}\colsx{20 * _GAP}" * (page.columns > 1)
        words += "".join(rf"\{word}{round(20 * length)}" for word, length in lengths)
    return f"{words}\n".encode() if words else b""


def title_of(job: Job) -> str:
    """Return the job's file name as a title, without control characters. Returns "Document" if the name is empty."""
    return _CONTROL_CHARACTERS.sub(" ", job.name).strip() or "Document"


def _with_metadata(job: Job, part: bytes) -> bytes:
    """Replace pandoc's date 1970-01-01 with the job's date, and an empty title with the job's title."""
    date = job.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    title = b"<dc:title>%s</dc:title>" % escape(title_of(job)).encode()
    return re.sub(rb"1970-01-01T00:00:00(?:\.0+)?Z", date, part).replace(b"<dc:title></dc:title>", title, 1)


def rewrite_parts(
    archive: bytes, changes: Mapping[str, Callable[[bytes], bytes]], placeholders: Placeholders | None = None
) -> bytes:
    """Return a copy of a zip file, in which members with a placeholder get the picture.

    `changes` maps a member's name to a function from old to new content.
    """
    picture = placeholders.picture if placeholders else bytes
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            copy.writestr(entry, changes.get(entry.filename, picture)(source.read(entry)))
    return target.getvalue()
