"""Writes documents through pandoc in every format but PDF (see pdf.py)."""

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
_HTML_WRITER = "html5"
_FORMATTING = ("Emph", "Strong", "SmallCaps", "Underline", "Strikeout")


def html(document: Document, job: Job) -> bytes:
    """One page that needs nothing beside it: pictures are in it, script is not."""
    return _page(_with_image_targets(document, _data_uri), job)


def zipped_html(document: Document, job: Job) -> bytes:
    """A page and a folder of its pictures, in a zip."""
    page = _page(_with_image_targets(document, lambda name, data: f"images/{name}"), job)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in {f"{_file_stem(postprocess.title_of(job))}.html": page, **_images(document)}.items():
            file.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _images(document: Document) -> dict[str, bytes]:
    return {f"images/{name}": data for name, data in document.resources.items()}


def _file_stem(name: str) -> str:
    """A file name that every system takes.

    >>> _file_stem("Annual report 2026/27: final"), _file_stem("..")
    ('Annual report 2026_27_ final', 'document')
    """
    return re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", name).strip(" .")[:100] or "document"


def _page(document: Document, job: Job) -> bytes:
    with as_file(files(__package__) / "page.html") as template:
        options = ("--standalone", f"--metadata=pagetitle:{postprocess.title_of(job)}", "--mathml", "--wrap=none")
        # The sandbox lets pandoc read the files that its options name.
        return pandoc.write(document, _HTML_WRITER, job, *options, f"--template={template}")


def text(document: Document, job: Job) -> bytes:
    """Text in UTF-8 with a byte order mark and CRLF, as the family exports it; tables are drawn."""
    unformatted = _without_formatting(_with_subtitle(document))
    plain = pandoc.write(unformatted, "plain", job, "--wrap=none", "--columns=100", *_standalone(document))
    lines = plain.decode("utf-8").replace("\u00a0", " ").splitlines()
    return "\r\n".join([*lines, ""]).encode("utf-8-sig") if lines else b"\xef\xbb\xbf"


def markdown(document: Document, job: Job) -> bytes:
    """Markdown in UTF-8, with pictures as data."""
    return _embedded(document, "markdown", job, "--wrap=none", *_standalone(document))


def rtf(document: Document, job: Job) -> bytes:
    """Rich text."""
    return postprocess.rtf(_embedded(_with_subtitle(document), "rtf", job, "--standalone"))


def _with_subtitle(document: Document) -> Document:
    """The same document, with what pandoc's page of rich text has no place for in its text."""
    values = [document.meta[name] for name in ("subtitle", "abstract") if name in document.meta]
    blocks: list[Node] = [{"t": "Para", "c": text_inlines(plain_text(value))} for value in values]
    return Document([*blocks, *document.blocks], document.meta, document.resources)


def odt(document: Document, job: Job) -> bytes:
    """An OpenDocument text."""
    return postprocess.odt(_embedded(document, "odt", job), job)


def docx(document: Document, job: Job) -> bytes:
    """A Word document."""
    return postprocess.docx(_embedded(document, "docx", job), job)


def epub(document: Document, job: Job) -> bytes:
    """An EPUB 3 book; its identifier is the same for the same content."""
    identifier = f"--metadata=identifier:urn:uuid:{uuid5(NAMESPACE_URL, document.pack().hex())}"
    options = [identifier, "--metadata=lang:und", "--mathml"]
    if "title" not in document.meta:  # a book must have one; it needs no page of its own
        options += [f"--metadata=title:{postprocess.title_of(job)}", "--epub-title-page=false"]
    return postprocess.epub(_embedded(document, "epub3", job, *options), job)


def _standalone(document: Document) -> tuple[str, ...]:
    """A title is only written by a standalone document."""
    return ("--standalone",) if document.meta else ()


def _embedded(document: Document, writer: str, job: Job, *options: str) -> bytes:
    return pandoc.write(_with_image_targets(document, _data_uri), writer, job, *options)


def _data_uri(name: str, data: bytes) -> str:
    media_type = _MEDIA_TYPES.get(name.rpartition(".")[2], "image/png")
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _with_image_targets(document: Document, target_for: Callable[[str, bytes], str]) -> Document:
    """The same document, each picture's target being where `place` puts it."""
    targets = {name: target_for(name, data) for name, data in document.resources.items()}

    def with_target(content: list[Any]) -> Node:
        attributes, alt, (name, title) = content
        return {"t": "Image", "c": [attributes, alt, [targets.get(name, ""), title]]}

    return _replace_nodes(document, {"Image": with_target})


def _without_formatting(document: Document) -> Document:
    """The same document as text alone has it: no marks around words, a picture as the words that stand for it."""

    def unformatted(content: list[Any]) -> Node:
        return {"t": "Span", "c": [["", [], []], content]}

    def alt_text(content: list[Any]) -> Node:
        description = plain_text(content[1])
        return {"t": "Str", "c": f"[{description}]" if description else ""}

    return _replace_nodes(document, {**dict.fromkeys(_FORMATTING, unformatted), "Image": alt_text})


def _replace_nodes(document: Document, changes: dict[str, Callable[[list[Any]], Node]]) -> Document:
    """The same document with the nodes of some types made into others."""

    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        inner = {key: replaced(content) for key, content in value.items()}
        return changes[value["t"]](inner["c"]) if value.get("t") in changes else inner

    return Document(replaced(document.blocks), replaced(document.meta), document.resources)
