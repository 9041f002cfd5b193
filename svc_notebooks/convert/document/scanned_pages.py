"""Reads an image or a PDF as a document that has, for each page, an image and the text of the page (A5-03)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache, partial
from typing import Any

from ..engines import images, tesseract
from ..engines.images import DecodedImage
from ..input.native_package import resource_name
from ..job import ConversionError, Job, TooLarge
from .model import Document, Node, paragraph

_SCREEN_DPI = 96
_TEXT_WIDTH = 6.25  # the maximum width of an image in the document, in inches, which is the width of a page's text area
_PAGE_DPI = 120
_MAX_PAGE_PIXELS = 2000  # the maximum length, in pixels, of the longer side of a page image
_MAX_UNMAPPED_SHARE = 0.3  # the share of letters without a Unicode character above which a PDF's text layer is ignored
_MAX_OTHER_TEXT = 5_000  # the number of characters that tell the language of a PDF
_SENTENCE_END = re.compile(r"[.!?:;…。！？»”\"')\]]$")  # noqa: RUF001  full-width signs end sentences too
_FULL_LINE_SHARE = 0.75  # the share of the longest line from which a line is full, and continues on the next line
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")  # scripts without blanks between words


def picture(source: bytes, job: Job) -> Document:
    """Read a picture and the text that OCR recognizes. Raises ConversionError if invalid, TooLarge above a limit."""
    decoded = images.validate_image(source, job.limits)
    with images.open_image(decoded.data, job.limits) as image:
        text = [_reflow(part.splitlines()) for part in tesseract.recognize(images.load_pixels(image), job)]
    name = resource_name(decoded.data, decoded.extension)
    return Document([_image(name, decoded, _SCREEN_DPI, job.name), *map(paragraph, text)], {}, {name: decoded.data})


def pdf(source: bytes, job: Job) -> Document:
    """Read a PDF as a document with a picture and the text of each page.

    OCR recognizes the text of pages without a readable text layer. Raises ConversionError if the PDF is damaged or
    encrypted, and TooLarge if the PDF has too many pages.
    """
    import pypdfium2 as pdfium

    try:
        with closing(pdfium.PdfDocument(source)) as document:
            return _read_pages(document, job)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise ConversionError("the file is encrypted; save the file without a password.") from error
        raise ConversionError("the file is damaged, or not a PDF.") from error


def _read_pages(document: Any, job: Job) -> Document:
    if len(document) > job.limits.pages:
        raise TooLarge(f"the PDF has {len(document)} pages; the limit is {job.limits.pages}.")
    blocks: list[Node] = []
    resources: dict[str, bytes] = {}
    document.init_forms()
    other_text = cache(partial(_text_of, document))
    for number in range(len(document)):
        if document.formenv:
            with closing(document[number]) as page:
                page.flatten()  # else the text of the page lacks what was typed into the form
        with closing(document[number]) as page:
            picture, text = _page(page, job, other_text)
        name = resource_name(picture.data, picture.extension)
        resources[name] = picture.data
        blocks += [_image(name, picture, _PAGE_DPI, f"Page {number + 1}"), *map(paragraph, text)]
    return Document(blocks, {}, resources)


def _page(page: Any, job: Job, other_text: Callable[[], str]) -> tuple[DecodedImage, list[str]]:
    from PIL import ImageChops

    width, height = page.get_size()
    scale = min(_PAGE_DPI / 72, _MAX_PAGE_PIXELS / max(width, height, 1))
    with closing(page.render(scale=scale)) as bitmap:
        image = bitmap.to_pil().convert("RGB")
    text = _text_layer(page) or [_reflow(it.splitlines()) for it in tesseract.recognize(image, job, other_text)]
    red, green, blue = image.split()
    if not (ImageChops.difference(red, green).getbbox() or ImageChops.difference(green, blue).getbbox()):
        image = image.convert("L")
    encodings = [images.encode_image(image, kind) for kind in ("PNG", "JPEG")]
    return min(encodings, key=lambda kind: len(kind.data)), text


def _text_of(document: Any) -> str:
    """Return the beginning of the text layers of all pages."""
    text = ""
    for number in range(len(document)):
        with closing(document[number]) as page:
            text += " ".join(_text_layer(page))
        if len(text) > _MAX_OTHER_TEXT:
            break
    return text


def _text_layer(page: Any) -> list[str]:
    with closing(page.get_textpage()) as layer:
        text = str(layer.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n")
    junk = sum(letter in "\ufffd\0" or "\ue000" <= letter <= "\uf8ff" for letter in text)
    if not text.strip() or junk > len(text) * _MAX_UNMAPPED_SHARE:
        return []
    return list(_paragraphs(_without_hyphenation(text)))


def _without_hyphenation(text: str) -> str:
    """Join words that are hyphenated at a line end (pdfium writes \\x02), and remove control characters."""
    text = re.sub("[\x00-\x01\x03-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", text)
    return re.sub(r"(?<=\w)(?:\x02\n?|-\n(?=[a-zäöüéèàß]))", "", text).replace("\x02", "-")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, which end at empty lines and after short lines that end a sentence."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        longest = max(map(len, lines), default=0)
        gathered: list[str] = []
        for line in lines:
            gathered.append(line)
            if _SENTENCE_END.search(line) and len(line) < longest * _FULL_LINE_SHARE:
                yield _reflow(gathered)
                gathered = []
        if gathered:
            yield _reflow(gathered)


def _reflow(lines: list[str]) -> str:
    """Join full lines with the next line, and keep the line breaks after short lines, as in addresses.

    >>> _reflow(["The first line goes on", "in the second one here.", "Short", "end"])
    'The first line goes on in the second one here. Short\\nend'
    """
    longest, text = max(map(len, lines)), ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        runs_on = len(line) >= longest * _FULL_LINE_SHARE
        joint = "" if runs_on and _CJK.match(line[-1:]) and _CJK.match(after) else " " if runs_on else "\n"
        text += line + joint
    return text.strip()


def _image(name: str, image: DecodedImage, dpi: float, alt: str) -> Node:
    width = min(image.width / dpi, _TEXT_WIDTH)
    attributes = ["", [], [["width", f"{width:.3f}in"]]]
    alt_inlines = paragraph(alt)["c"]
    return {"t": "Para", "c": [{"t": "Image", "c": [attributes, alt_inlines, [name, ""]]}]}
