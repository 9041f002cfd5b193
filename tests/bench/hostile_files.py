"""Makes hostile files: ordinary files with one change that makes a reader fail, hang or grow.

Each change is a function from the bytes of a file (or of an XML part of a package) and a random generator to other
bytes. Equal numbers and seeds give equal files.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random

from PIL import Image

from tests.convert import sources

Change = Callable[[bytes, Random], bytes]
MIB = 1024 * 1024
_MAX_SEED = 200_000
_PACKAGES = ("docx", "odt", "xlsx", "ods", "pptx", "odp")
_BINARIES = ("doc", "xls", "ppt", "pdf")
_TEXTS = {
    "html": (
        "<div>", "<b><i>", "<table><tr><td>", "<td colspan=99999 rowspan=99999>a<tr>", "word ", "<p>a", "<dt>a<dd>b",
        "<span>a</span>", "&amp;", "<", "<!--", "<svg><math>", "<h1><a name=b>", "\n", "<li value=-99999999>a<ol>",
        "<img src='data:image/png;base64,iVBORw0KGgo='>", "<math><msup><mi>a</mi>", "<a href='",
    ),
    "rtf": (
        "{", "{\\b a}", "\\trowd\\cellx9999999\\intbl a\\cell\\row", "\\cellx1", "\\cell", "\\par\\ilvl9\\ls1 a",
        "{\\pict\\pngblip 89504e47}", "{\\s1\\sbasedon1 a;}", "\\u-9999999999?", "{\\field{\\fldinst a\\~}}", "\\'e9",
        "\\field{\\fldinst HYPERLINK ", "{\\footnote a", "\\itap50\\intbl a\\nestcell\\nestrow", "\\bin9999999999 a",
    ),
    "md": (
        "[", "> ", "*a **b ", "`", "![a](b ", "|a|b\n-|-\n", " - a\n", "$a^{", "[^1]: a\n\n[^1]", "a\n\n", "<b", "a\n",
        "\\", "&#99999999;", "1. a\n\n  ",
    ),
    "csv": ("a,", "a\n", '"', "1.5,2026-01-01,TRUE\n", "9", ",,,,a\n", '"""', "=SUM(A1:XFD1048576)\n", "\0", "\t;,|"),
    "txt": ("word ", "\n", "a", " ", "\xff\xfe", "a\n\n", "\u05d0\t\U0001f600\n"),
    "json": ("[", '{"files":', '{"files":[{},', "9", '"\\ud800'),
    "svg": (
        "<g>", "<rect width='1' height='1' opacity='.5'/>", "<use id='a' xlink:href='#a'/>", "<style>a{b:c}</style>",
        "<text>word ", "<path d='M0 0 L9 9'/>", "<filter id='f'><feGaussianBlur stdDeviation='1e9'/></filter>",
    ),
}  # fmt: skip
"""What is repeated in files of text formats, by extension."""
_STARTS = {
    "rtf": "{\\rtf1 ",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
}
_NUMBERS = (b"0", b"-1", b"255", b"65536", b"1048577", b"2147483647", b"4294967296", b"1e308", b"NaN", b"9" * 20)


def make(folder: Path, count: int, seeds: Path) -> None:
    """Write `count` hostile files, the formats in turn and the changes of each format in turn.

    `seeds` has a folder with ordinary files for each extension.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = {extension: _files(extension, seeds) for extension in (*_PACKAGES, *_BINARIES, *_TEXTS, "png")}
    for number in range(count):
        extension = list(made)[number % len(made)]
        name, body = next(made[extension])
        (folder / f"{extension}-{number:03}-{name}.{extension}").write_bytes(body)


def _files(extension: str, seeds: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names of changes and the bytes of changed files without end."""
    samples = [path.read_bytes() for path in sorted(seeds.glob(f"{extension}/*")) if path.stat().st_size < _MAX_SEED]
    changes = {**_BYTES, **(_PACKAGE if extension in _PACKAGES else {})}
    random = Random(extension)
    while True:
        for piece in _TEXTS.get(extension, ()):
            size = random.choice((100_000, 9_000_000))
            yield "repeated", (_STARTS.get(extension, "") + piece * (size // len(piece))).encode()
        if extension == "png":
            yield "picture", _picture(random)
        for name, change in changes.items() if samples else ():
            yield name, change(random.choice(samples), random)


def _flipped(source: bytes, random: Random) -> bytes:
    body = bytearray(source)
    for _ in range(random.choice((1, 10, 200))):
        body[random.randrange(len(body))] ^= 1 << random.randrange(8)
    return bytes(body)


def _saturated(source: bytes, random: Random) -> bytes:
    """Set a few words of four bytes, which may be lengths or offsets, to large values."""
    body = bytearray(source)
    for _ in range(8):
        at = random.randrange(len(body))
        body[at : at + 4] = random.choice((b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x00\x00\x00\x10"))
    return bytes(body)


def _repeated(source: bytes, random: Random) -> bytes:
    start = random.randrange(len(source))
    piece = source[start : start + random.choice((8, 100, 1000))]
    return source[:start] + piece * (2 * MIB // len(piece)) + source[start:]


_BYTES: Mapping[str, Change] = {
    "truncated": lambda source, random: source[: random.randrange(1, len(source) + 1)],
    "flipped": _flipped,
    "saturated": _saturated,
    "repeated": _repeated,
}


def _element(part: bytes, random: Random) -> bytes:
    """Return a whole element of an XML part that contains no element of the same name."""
    names = sorted(set(re.findall(rb"<([\w:.-]+)[\s>]", part)))
    for name in random.sample(names, len(names)):
        match = re.search(rb"<%s(?:\s[^>]*)?(?:/>|>.*?</%s>)" % (name, name), part, re.DOTALL)
        if match and len(match[0]) < 20_000 and match[0].count(b"<" + name) == 1:
            return match[0]
    return b"<a/>"


def _many_elements(part: bytes, random: Random) -> bytes:
    """Repeat an element, and number its names, so that they are distinct."""
    element = _element(part, random)
    copies = min(200_000, random.choice((2, 20)) * MIB // len(element))
    numbered = (re.sub(rb'((?:[iI]d|name)="[^"]*)"', rb'\g<1>%d"' % n, element) for n in range(copies))
    return part.replace(element, b"".join(numbered), 1)


def _deep_elements(part: bytes, random: Random) -> bytes:
    element, depth = _element(part, random), random.choice((300, 5_000, 200_000))
    name = element[1:].split()[0].split(b"/")[0].split(b">")[0]
    return part.replace(element, b"<%s>" % name * depth + b"</%s>" % name * depth, 1)


def _large_numbers(part: bytes, random: Random) -> bytes:
    share, number = random.choice((0.02, 0.3, 1)), random.choice(_NUMBERS)
    return re.sub(rb'(?<==")-?\d+(?=")', lambda match: number if random.random() < share else match[0], part)


def _large_repeats(part: bytes, random: Random) -> bytes:
    """Give cells, columns, rows and blanks a large span or number of repetitions."""
    number = random.choice((b"1000", b"16384", b"1048576", b"2147483647"))
    part = re.sub(rb' (?:table:number-(?:columns|rows)-repeated|text:c|gridSpan|rowSpan)="\d+"', b"", part)
    part = re.sub(rb"<table:table-(?:cell|column)\b", rb'\g<0> table:number-columns-repeated="%s"' % number, part)
    part = re.sub(rb"<table:table-row\b", rb'\g<0> table:number-rows-repeated="%s"' % number, part)
    part = re.sub(rb"<text:s\b", rb'\g<0> text:c="%s"' % number, part)
    part = re.sub(rb"<w:tcPr>", rb'\g<0><w:gridSpan w:val="%s"/>' % number, part)
    return re.sub(rb"<a:tc\b", rb'\g<0> gridSpan="%s" rowSpan="%s"' % (number, number), part)


def _long_text(part: bytes, random: Random) -> bytes:
    text = random.choice(re.findall(rb">[^<>]{2,200}<", part) or [b"><"])
    filler = random.choice((b"a", b"word ", b"=(", "\u05d0 ".encode(), b"1"))
    return part.replace(text, b">" + filler * (random.choice((3, 9)) * MIB // len(filler)) + b"<", 1)


def _entities(part: bytes, random: Random) -> bytes:
    """Declare entities that grow exponentially, behind a long comment, a long instruction or blanks."""
    hidden = random.choice((b"", b"<!-- %s -->" % (b"x" * 9000), b"<?a %s?>" % (b"y" * 70_000), b" " * 100_000))
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    start = part.find(b"?>") + 2 if part.startswith(b"<?xml") else 0
    body = re.sub(rb">[^<>]{2,200}<", b">&l9;<", part[start:], count=3)
    return part[:start] + hidden + b'<!DOCTYPE a [<!ENTITY l0 "lol">%s]>' % laughs + body


_PART: Mapping[str, Change] = {
    **_BYTES, "many_elements": _many_elements, "deep_elements": _deep_elements, "large_numbers": _large_numbers,
    "large_repeats": _large_repeats, "long_text": _long_text, "entities": _entities,
    "blanks": lambda part, random: part.replace(b"</", b" " * (random.choice((2, 150, 280)) * MIB) + b"</", 1),
    "long_attribute": lambda part, _: re.sub(rb'="[^"]{3,40}"', b'="%s"' % (b"a1 " * MIB), part, count=1),
    "many_elements_again": _many_elements, "deep_elements_again": _deep_elements, "long_text_again": _long_text,
}  # fmt: skip


def _picture(random: Random) -> bytes:
    """Return a picture that is far larger than its file."""
    mode, kind = random.choice((("RGB", "PNG"), ("CMYK", "JPEG"), ("I;16", "TIFF"), ("RGB", "WEBP"), ("1", "BMP")))
    target = io.BytesIO()
    size = random.choice(((7999, 7999), (16_000, 3_999), (9_000, 9_000)))
    Image.new(mode, size).save(target, kind, compression="tiff_lzw")
    return random.choice((target.getvalue(), _flipped(target.getvalue(), random)))


def _show_pictures(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Exchange some pictures, and show one of them 4000 times."""
    pictures = [name for name in members if name.endswith((".png", ".jpg", ".jpeg", ".gif"))]
    members |= {name: _picture(random) for name in pictures[:4]}
    frame = re.compile(rb"<(w:drawing|draw:frame|p:pic|xdr:pic)\b.*?</\1>", re.DOTALL)
    return {name: frame.sub(lambda match: match[0] * 4000, part, count=1) for name, part in members.items()}


def _change_part(change: Change, members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Change one XML part, mostly a main part."""
    parts = [name for name in members if name.endswith((".xml", ".rels"))] or list(members)
    main = [name for name in parts if re.search(r"(document|sheet\d+|slide\d+|content)\.xml$", name)] or parts
    name = random.choice(main if random.random() < 0.7 else parts)
    return members | {name: change(members[name] or b"a", random)}


def _package_change(change: Callable[[dict[str, bytes], Random], dict[str, bytes]]) -> Change:
    def changed(source: bytes, random: Random) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(source)) as file:
                members = {name: file.read(name) for name in file.namelist()}
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, zlib.error, EOFError):
            members = {"content.xml": b"<a/>"}
        return sources.zipped(change(members, random))

    return changed


_PACKAGE: Mapping[str, Change] = {
    "pictures": _package_change(_show_pictures),
    "many": _package_change(lambda members, _: members | {f"word/media/image{n}.png": b"x" for n in range(9000)}),
    "padded": _package_change(
        lambda members, random: members | {"a.xml": b"<a>" * (90 * MIB), "b": random.randbytes(2 * MIB)}
    ),
    **{f"{name}_part": _package_change(partial(_change_part, change)) for name, change in _PART.items()},
}
