"""Writes documents with pandoc in all export formats except PDF, which pdf.py writes."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ..input.native_package import ZIP_EPOCH
from ..job import Job
from . import pandoc, postprocess
from .clean import plain_text
from .model import Document, Node, text_inlines

_MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}
_FORMATTING = ("Emph", "Strong", "SmallCaps", "Underline", "Strikeout")


def html(document: Document, job: Job) -> bytes:
    """Return the document as one HTML page with embedded pictures and without scripts."""
    return _page(_with_image_targets(document, _data_uri), job)


def zipped_html(document: Document, job: Job) -> bytes:
    """Return the document as a zip file with one HTML page and the folder `images` with the pictures."""
    page = _page(_with_image_targets(document, lambda name, data: f"images/{name}"), job)
    images = {f"images/{name}": data for name, data in document.resources.items()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in {f"{_file_stem(postprocess.title_of(job))}.html": page, **images}.items():
            file.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _file_stem(name: str) -> str:
    """Convert a name to a file name that every operating system accepts.

    >>> _file_stem("Annual report 2026/27: final"), _file_stem("..")
    ('Annual report 2026_27_ final', 'document')
    """
    return re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", name).strip(" .")[:100] or "document"


def _page(document: Document, job: Job) -> bytes:
    with as_file(files(__package__) / "page.html") as template:
        options = ("--standalone", f"--metadata=pagetitle:{postprocess.title_of(job)}", "--mathml", "--wrap=none")
        # The sandbox lets pandoc read the files that its options name.
        return pandoc.write(document, "html5", job, *options, f"--template={template}")


def text(document: Document, job: Job) -> bytes:
    """Return the document as UTF-8 text with a byte order mark, CRLF line ends, and alternative texts for pictures."""
    unformatted = _without_formatting(_with_subtitle(document))
    plain = pandoc.write(unformatted, "plain", job, "--wrap=none", "--columns=100", *_standalone(document))
    lines = plain.decode("utf-8").replace("\u00a0", " ").splitlines()
    return "\r\n".join([*lines, ""]).encode("utf-8-sig") if lines else b"\xef\xbb\xbf"


def markdown(document: Document, job: Job) -> bytes:
    """Return the document as Markdown in UTF-8 with embedded pictures."""
    return _embedded(document, "markdown", job, "--wrap=none", *_standalone(document))


def rtf(document: Document, job: Job) -> bytes:
    """Return the document as an RTF file."""
    return postprocess.rtf(_embedded(_with_subtitle(document), "rtf", job, "--standalone"))


def _with_subtitle(document: Document) -> Document:
    """Insert the subtitle and the abstract, which pandoc's templates for RTF and plain text do not show."""
    values = [document.meta[name] for name in ("subtitle", "abstract") if name in document.meta]
    blocks: list[Node] = [{"t": "Para", "c": text_inlines(plain_text(value))} for value in values]
    return Document([*blocks, *document.blocks], document.meta, document.resources)


def odt(document: Document, job: Job) -> bytes:
    """Return the document as an OpenDocument text (odt)."""
    return postprocess.odt(_embedded(document, "odt", job), job)


def docx(document: Document, job: Job) -> bytes:
    """Return the document as a Word document (docx)."""
    return postprocess.docx(_embedded(document, "docx", job), job)


def epub(document: Document, job: Job) -> bytes:
    """Return the document as an EPUB 3 book. The book's identifier is a hash of the document."""
    identifier = f"--metadata=identifier:urn:uuid:{uuid5(NAMESPACE_URL, document.pack().hex())}"
    options = [identifier, "--metadata=lang:und", "--mathml"]
    if "title" not in document.meta:  # a book must have a title, but this title needs no title page
        options += [f"--metadata=title:{postprocess.title_of(job)}", "--epub-title-page=false"]
    return postprocess.epub(_embedded(document, "epub3", job, *options), job)


def _standalone(document: Document) -> tuple[str, ...]:
    """Return ("--standalone",), with which pandoc writes the title, or () if the document has no metadata."""
    return ("--standalone",) if document.meta else ()


def _embedded(document: Document, writer: str, job: Job, *options: str) -> bytes:
    return pandoc.write(_with_image_targets(document, _data_uri), writer, job, *options)


def _data_uri(name: str, data: bytes) -> str:
    media_type = _MEDIA_TYPES.get(name.rpartition(".")[2], "image/png")
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _with_image_targets(document: Document, target_for: Callable[[str, bytes], str]) -> Document:
    targets = {name: target_for(name, data) for name, data in document.resources.items()}

    def with_target(content: list[Any]) -> Node:
        attributes, alt, (name, title) = content
        return {"t": "Image", "c": [attributes, alt, [targets.get(name, ""), title]]}

    return _replace_nodes(document, {"Image": with_target})


def _without_formatting(document: Document) -> Document:
    def alt_text(content: list[Any]) -> Node:
        description = plain_text(content[1])
        return {"t": "Str", "c": f"[{description}]" if description else ""}

    changes: dict[str, Callable[[list[Any]], Node]] = {"Image": alt_text}
    for name in _FORMATTING:
        changes[name] = lambda content: {"t": "Span", "c": [["", [], []], content]}
    return _replace_nodes(document, changes)


def _replace_nodes(document: Document, changes: dict[str, Callable[[list[Any]], Node]]) -> Document:
    """Return a copy of the document. `changes` maps a node type to a function from content to a new node."""

    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        inner = {key: replaced(content) for key, content in value.items()}
        return changes[value["t"]](inner["c"]) if value.get("t") in changes else inner

    return Document(replaced(document.blocks), replaced(document.meta), document.resources)
