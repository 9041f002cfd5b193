"""Gives pandoc reference files without its styles, for which pandoc needs a third of its time, and adds the styles."""

from __future__ import annotations

import io
import re
import zipfile

from ..job import Job
from . import pandoc

_DOCX_PART, _ODT_PART = "word/styles.xml", "styles.xml"
_DOCX_STYLE = re.compile(rb'<w:style [^>]*?w:styleId="([^"]+)"[^>]*>\s*<w:name [^>]*/>(.*?)</w:style>', re.DOTALL)
_LATENT_STYLES = re.compile(rb"<w:latentStyles.*?</w:latentStyles>", re.DOTALL)
_ODT_STYLES = re.compile(rb"<office:styles\s*/>|<office:styles>.*</office:styles>", re.DOTALL)

_members: dict[str, dict[str, bytes]] = {}
"""The members of pandoc's own reference files by format, which each process reads once."""


def reference_option(writer: str, job: Job) -> str:
    """Write a reference file for pandoc's writer "docx" or "odt" to the job's folder, and return the option for it.

    A docx file keeps the names of the styles, since pandoc uses them.
    """
    if writer not in _members:
        source = pandoc.run((f"--print-default-data-file=reference.{writer}",), b"", job)
        with zipfile.ZipFile(io.BytesIO(source)) as archive:
            _members[writer] = {name: archive.read(name) for name in archive.namelist()}
    members = dict(_members[writer])
    if writer == "docx":
        names = _LATENT_STYLES.sub(b"", members[_DOCX_PART])
        members[_DOCX_PART] = _DOCX_STYLE.sub(lambda style: style[0].replace(style[2], b"", 1), names)
    else:
        members[_ODT_PART] = _ODT_STYLES.sub(b"<office:styles/>", members[_ODT_PART])
    path = job.folder / f"reference.{writer}"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # pandoc copies the times: not those of now
    return f"--reference-doc={path}"


def with_docx_styles(part: bytes) -> bytes:
    """Return the part with the styles of a docx file, in which pandoc's styles are complete."""
    source = _members["docx"][_DOCX_PART]
    styles = {style[1]: style[0] for style in _DOCX_STYLE.finditer(source)}
    part = _DOCX_STYLE.sub(lambda style: styles.get(style[1], style[0]), part)
    return part.replace(b"<w:style ", b"".join(_LATENT_STYLES.findall(source)) + b"<w:style ", 1)


def with_odt_styles(part: bytes) -> bytes:
    """Return the part with the styles of an odt file, in which pandoc's styles are complete."""
    styles = _ODT_STYLES.findall(_members["odt"][_ODT_PART])
    return _ODT_STYLES.sub(lambda _: b"".join(styles), part, count=1)
