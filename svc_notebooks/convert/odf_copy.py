"""Keeps an OpenDocument file by LibreOffice beside the canonical form of a native document, and exports that file.

Exports from the OpenDocument file have LibreOffice's pages. Other exports and other engines use the canonical form.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from ..core.http.media_types import DOCX, ODP, ODS, ODT, PDF, PPTX, RTF, X_ODS, XLSX
from .engines import available, libreoffice
from .input.detect import detect_source
from .input.native_package import ZIP_EPOCH, odf_of, with_odf
from .input.odf_file import READ_NAMESPACES, OdfPackage, name
from .job import ConversionError, Job
from .spreadsheet.formulas import LINKS, from_openformula, is_safe_formula

_EXTENSIONS = {  # what LibreOffice reads and writes for each native type, first the OpenDocument format
    "document": {ODT: "odt", DOCX: "docx", RTF: "rtf", "application/msword": "doc"},
    "spreadsheet": {ODS: "ods", X_ODS: "ods", XLSX: "xlsx", "application/vnd.ms-excel": "xls"},
    "presentation": {ODP: "odp", PPTX: "pptx", "application/vnd.ms-powerpoint": "ppt"},
}
_SHARE = 0.4  # the share of the time limit after which a conversion continues without LibreOffice


def add_odf(package: bytes, source: bytes, native: str, job: Job) -> bytes:
    """Return a native document with the OpenDocument file into which LibreOffice converts the source.

    A source that LibreOffice does not read, such as plain text, is returned unchanged. A failure adds a note.
    """
    extensions = _EXTENSIONS.get(native, {})
    extension = extensions.get(detect_source(source, native) or job.media_type)
    odf = extension and _convert(source, extension, next(iter(extensions.values())), job)
    if not odf:
        return package
    job.notes[:] = [f"In exports that LibreOffice does not make: {note}" for note in job.notes]
    return with_odf(package, odf)


def export(package: bytes, native: str, job: Job) -> bytes | None:
    """Return the export of the OpenDocument file in a native document, or None if there is no such file or export."""
    extensions = _EXTENSIONS.get(native, {})
    target = "pdf" if job.media_type == PDF else extensions.get(job.media_type)
    odf = odf_of(package) if target else None
    return _convert(odf, next(iter(extensions.values())), target, job) if odf and target else None


def _convert(source: bytes, extension: str, target: str, job: Job) -> bytes | None:
    """Convert with LibreOffice, and sanitize OpenDocument results. Adds a note and returns None after a failure."""
    if not available.OFFICE.is_available():
        job.note(f"The pages are not LibreOffice's: {available.OFFICE.missing}")
        return None
    try:
        result = libreoffice.convert(source, extension, target, job, isolated=True, share=_SHARE)
        return _sanitized(result) if target.startswith("od") else result
    except (ConversionError, MemoryError) as error:
        job.note(f"The pages are not LibreOffice's: {error or 'the conversion needs more memory than the limit.'}")
        return None


_MEMBERS = re.compile(
    r"mimetype|META-INF/manifest\.xml"
    r"|(?:[^/]+/)*(?:(?:content|styles|meta|settings)\.xml|(?:Pictures|media|Fonts|ObjectReplacements)/[^/]+)"
)
_REMOVED_TAGS = (
    "office:scripts", "office:dde-source", "draw:object-ole", "draw:applet", "draw:floating-frame", "text:script",
    "text:section-source", "text:dde-connection-decls", "script:event-listener", "table:table-source",
    "table:cell-range-source", "table:dde-links", "xforms:model",
)  # fmt: skip
_REMOVED = (
    """//table:table[starts-with(@table:name, "'") and contains(@table:name, "'#")]"""  # the cells of another file
    " | //field:param[contains(@field:name, 'field.code')]"  # the code of a Word field, such as DDEAUTO
)
_LINK_TAGS = frozenset(map(name, ("text:a", "draw:a", "presentation:event-listener")))
_INNER_TARGET = re.compile(r"#.*|(?:\./)?[^/:.][^:]*")
_FORMULAS = (
    "//@table:formula | //@table:expression | //@table:condition | //@table:cell-range-address | //@text:formula"
    " | //@calcext:*[local-name() != 'value-type']"
)


def _sanitized(odf: bytes) -> bytes:
    """Return an OpenDocument file without scripts, programs' objects, links to files and unsafe formulas."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(odf)) as source, zipfile.ZipFile(target, "w") as copy:
        package = OdfPackage(source)
        for path in filter(_MEMBERS.fullmatch, source.namelist()):
            part = _sanitized_xml(package.xml(path)) if path.endswith(".xml") else package.data(path)
            copy.writestr(zipfile.ZipInfo(path, ZIP_EPOCH), part, source.getinfo(path).compress_type)
    return target.getvalue()


def _sanitized_xml(root: Any) -> bytes:
    from lxml import etree

    etree.strip_elements(root, *map(name, _REMOVED_TAGS), with_tail=False)
    for element in root.xpath(_REMOVED, namespaces=READ_NAMESPACES):
        element.getparent().remove(element)
    for target in root.xpath("//@xlink:href", namespaces=READ_NAMESPACES):
        element = target.getparent()
        is_link = element.tag in _LINK_TAGS and target.strip().lower().startswith(LINKS)
        if not is_link and not (_INNER_TARGET.fullmatch(target) and ".." not in target):
            del element.attrib[target.attrname]
    for formula in root.xpath(_FORMULAS, namespaces=READ_NAMESPACES):
        if not _is_safe(formula):
            del formula.getparent().attrib[formula.attrname]
    sanitized: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return sanitized


def _is_safe(formula: str) -> bool:
    """Return whether a formula, a condition or an address of a table refers to nothing outside of the file."""
    if formula.startswith("ooow:"):  # of a table in a text, which has no functions that reach outside
        return True
    converted = from_openformula(formula if re.match(r"\w+:=", formula) else f"of:={formula}")
    return converted is not None and is_safe_formula(converted)
