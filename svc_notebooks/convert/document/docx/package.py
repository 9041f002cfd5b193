"""Reads the XML of the parts of a docx file, in the transitional and the strict variant of the format."""

from __future__ import annotations

import re
import zipfile
from typing import Any

from lxml import etree

from ...input.opc import OpcPackage
from ...input.zip_file import refuse_entities
from ...job import ConversionError, TooLarge

_OFFICE = "http://schemas.openxmlformats.org"
NAMESPACES = {
    "w": f"{_OFFICE}/wordprocessingml/2006/main", "r": f"{_OFFICE}/officeDocument/2006/relationships",
    "m": f"{_OFFICE}/officeDocument/2006/math", "wp": f"{_OFFICE}/drawingml/2006/wordprocessingDrawing",
    "a": f"{_OFFICE}/drawingml/2006/main", "pic": f"{_OFFICE}/drawingml/2006/picture",
    "c": f"{_OFFICE}/drawingml/2006/chart", "dgm": f"{_OFFICE}/drawingml/2006/diagram",
    "mc": f"{_OFFICE}/markup-compatibility/2006", "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office", "rel": f"{_OFFICE}/package/2006/relationships",
}  # fmt: skip
_STRICT = re.compile(r"\{http://purl\.oclc\.org/ooxml/(\w+)/")
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)


def tag(name: str) -> str:
    """Replace the prefix of a name by its namespace: "w:p" becomes "{http://...}p", as lxml writes names."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def tags(names: str) -> tuple[str, ...]:
    """Return `tag` of each of the names, which are separated by blanks."""
    return tuple(map(tag, names.split()))


class DocxPackage(OpcPackage):
    """The parts in the zip archive of a docx file."""

    def root(self, name: str | None) -> Any:
        """Return the root element of a part in the transitional variant, or None if the part is missing.

        Raises ConversionError if the part is damaged, and TooLarge above libxml2's limits of nesting and of text.
        """
        if name is None or self.member(name) is None:
            return None
        try:
            with self.open(name) as part:
                root = etree.fromstring(part.read(), _PARSER)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, etree.XMLSyntaxError) as error:
            if "XML_PARSE_HUGE" in str(error):
                raise TooLarge("the document is nested too deeply, or a text is too long.") from error
            raise ConversionError(f"the file is damaged at {name[:80]!r}: {str(error)[:100]}.") from error
        refuse_entities(root)
        if _STRICT.match(root.tag):
            for element in root.iter(etree.Element):
                element.tag = _transitional(element.tag)
                for attribute in filter(_STRICT.match, element.keys()):
                    element.set(_transitional(attribute), element.attrib.pop(attribute))
        return root


def _transitional(name: str) -> str:
    return _STRICT.sub(rf"{{{_OFFICE}/\1/2006/", name)
