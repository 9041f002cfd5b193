"""Documents of several formats with the same content, made by hand or by libraries that our readers do not use."""

import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

from msoffcrypto.format.ooxml import OOXMLFile
from PIL import Image, ImageDraw, ImageFont

SENTENCES = ("日本語", "한국어", "中文", "Ελληνικά", "Кириллица", "नमस्ते", "😀")
"""What must not be lost, whatever the way."""

_ODF_NAMES = {
    "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style", "form": "form",
    "fo": "xsl-fo-compatible", "svg": "svg-compatible", "chart": "chart", "presentation": "presentation",
    "number": "datastyle", "manifest": "manifest",
}  # fmt: skip
ODF_SPACES = 'xmlns:xlink="http://www.w3.org/1999/xlink" ' + " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in _ODF_NAMES.items()
)
"""The namespaces of OpenDocument, as a root element declares them."""


def saved(document: Any, *how: Any, **options: Any) -> bytes:
    target = io.BytesIO()
    document.save(target, *how, **options)
    return target.getvalue()


def png(width: int = 60, height: int = 40, colour: str = "navy") -> bytes:
    return saved(Image.new("RGB", (width, height), colour), "PNG")


def picture_of(text: str, kind: str = "PNG") -> bytes:
    image = Image.new("RGB", (1000, 60 + 60 * (text.count("\n") + 1)), "white")
    ImageDraw.Draw(image).text((40, 40), text, "black", ImageFont.load_default(40))
    return saved(image, kind)


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return target.getvalue()


def rezipped(source: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """Return a zip archive with other members, and without those of which the change is None."""
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | changes
    return zipped({name: content for name, content in members.items() if content is not None})


def changed(source: bytes, path: str, *changes: tuple[bytes, bytes]) -> bytes:
    """Return a zip archive with other bytes in one of its members."""
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        content = archive.read(path)
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    return rezipped(source, {path: content})


def docx() -> bytes:
    import docx as library
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = library.Document()
    document.add_heading("Annual report", 1)
    paragraph = document.add_paragraph("Plain, ")
    paragraph.add_run("bold").bold = True
    paragraph.add_run(" and ")
    paragraph.add_run("italic").italic = True
    paragraph.add_run(" " + " ".join(SENTENCES))
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), document.part.relate_to("https://a.example/", _LINK, is_external=True))
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = "the link"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    for item in ("first", "second"):
        document.add_paragraph(item, style="List Bullet")
    for item in ("one", "two"):
        document.add_paragraph(item, style="List Number")
    table = document.add_table(2, 2)
    for (row, column), content in {(0, 0): "North", (0, 1): "1", (1, 0): "South", (1, 1): "22"}.items():
        table.cell(row, column).text = content
    document.add_picture(io.BytesIO(png()))
    return saved(document)


_LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"


def odt() -> bytes:
    cells = [["North", "1"], ["South", "22"]]
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in cells
    )
    items = "".join(f"<text:list-item><text:p>{item}</text:p></text:list-item>" for item in ("first", "second"))
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content {ODF_SPACES} office:version="1.2"><office:automatic-styles>
<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="I" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>
</office:automatic-styles><office:body><office:text>
<text:h text:outline-level="1">Annual report</text:h>
<text:p>Plain, <text:span text:style-name="B">bold</text:span> and <text:span text:style-name="I">italic</text:span>
{" ".join(SENTENCES)} <text:a xlink:href="https://a.example/" xlink:type="simple">the link</text:a></text:p>
<text:list>{items}</text:list>
<table:table>{rows}</table:table>
<text:p><draw:frame svg:width="2cm" svg:height="1cm"><draw:image xlink:href="Pictures/p.png"/></draw:frame></text:p>
</office:text></office:body></office:document-content>"""
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?><manifest:manifest {ODF_SPACES} manifest:version="1.2">'
        '<manifest:file-entry manifest:full-path="/" '
        'manifest:media-type="application/vnd.oasis.opendocument.text"/></manifest:manifest>'
    )
    styles = f'<?xml version="1.0"?><office:document-styles {ODF_SPACES} office:version="1.2"/>'
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "styles.xml": styles,
            "META-INF/manifest.xml": manifest, "Pictures/p.png": png(),
        }
    )  # fmt: skip


def html() -> bytes:
    import base64

    picture = base64.b64encode(png()).decode()
    return f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>Not on the page</title></head><body>
<h1>Annual report</h1>
<p>Plain, <b>bold</b> and <i>italic</i> {" ".join(SENTENCES)} <a href="https://a.example/">the link</a></p>
<ul><li>first</li><li>second</li></ul><ol><li>one</li><li>two</li></ol>
<table><tr><td>North</td><td>1</td></tr><tr><td>South</td><td>22</td></tr></table>
<p><img src="data:image/png;base64,{picture}" alt="a square"></p></body></html>""".encode()


def rtf() -> bytes:
    def escaped(text: str) -> str:
        units = text.encode("utf-16-le")
        pairs = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
        return "".join(f"\\u{unit}?" for unit in pairs)

    sentences = " ".join(escaped(sentence) for sentence in SENTENCES)
    picture = png().hex()
    rows = "".join(
        rf"\trowd\cellx3000\cellx6000\intbl {a}\cell {b}\cell\row" + "\n" for a, b in (("North", "1"), ("South", "22"))
    )
    return (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}}" + "\n"
        r"\pard\outlinelevel0 Annual report\par" + "\n"
        r"\pard\plain Plain, {\b bold} and {\i italic} " + sentences + "\n"
        r"{\field{\*\fldinst HYPERLINK " + '"https://a.example/"' + r"}{\fldrslt the link}}\par" + "\n"
        r"{\pard\bullet\tab first\par}{\pard\bullet\tab second\par}" + "\n" + rows + r"\pard\par" + "\n"
        r"{\pict\pngblip\picw60\pich40 " + picture + r"}\par}"
    ).encode("ascii")


def encrypted(package: bytes, password: str) -> bytes:
    """Return an OLE compound file with an encrypted Office package (MS-OFFCRYPTO)."""
    target = io.BytesIO()
    OOXMLFile(io.BytesIO(package)).encrypt(password, target)
    return target.getvalue()


def ole(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE compound file (MS-CFB) with these streams, each padded to 4,096 bytes."""
    sectors, table, entries = [], [0xFFFFFFFD], []  # the first sector has the table, the next the directory
    directory_size = len(streams) // 4 + 1
    table += [*range(2, directory_size + 1), 0xFFFFFFFE]
    for number, (name, content) in enumerate(streams.items(), 2):
        start = len(table)
        sectors.append(content.ljust(4096, b"\0"))
        table += [*range(start + 1, start + 8), 0xFFFFFFFE]
        following = number if number <= len(streams) else 0xFFFFFFFF
        entries.append(_ole_entry(name, 2, following, 0xFFFFFFFF, start, 4096))
    root = _ole_entry("Root Entry", 5, 0xFFFFFFFF, 1, 0xFFFFFFFE, 0)
    directory = (root + b"".join(entries)).ljust(512 * directory_size, b"\0")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0
    ) + struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)  # fmt: skip
    packed_table = struct.pack("<128I", *table, *[0xFFFFFFFF] * (128 - len(table)))
    return header + packed_table + directory + b"".join(sectors)


def _ole_entry(name: str, kind: int, following: int, child: int, start: int, size: int) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    return struct.pack("<64sHBBIII36xIQ", text, len(text), kind, 1, 0xFFFFFFFF, following, child, start, size)
