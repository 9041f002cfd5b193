"""Reads the XML of the parts of an xlsx file, and matches elements by namespace and name (ECMA-376 part 1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element, iterparse

from ...input.opc import OpcPackage

_NAMESPACES = frozenset({
    "{http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "{http://purl.oclc.org/ooxml/spreadsheetml/main",
    "{http://schemas.microsoft.com/office/excel/2006/2",
    "{http://schemas.openxmlformats.org/drawingml/2006/main",
    "{http://purl.oclc.org/ooxml/drawingml/main",
})  # fmt: skip
"""The namespaces of workbooks and themes, of strict files (purl.oclc.org), and of the beta of Excel 2007."""

_RELATIONSHIP_IDS = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)


@lru_cache(1024)
def _local_name(tag: str) -> str:
    namespace, _, name = tag.rpartition("}")
    return name if namespace in _NAMESPACES else ""


def name_of(element: Element) -> str:
    """Return the name of an element of a workbook, or "" for an element of another namespace, such as x15."""
    return _local_name(element.tag)


def relationship_id(element: Element) -> str:
    """Return the id of the relationship that an element names in its attribute r:id, or ""."""
    return next((element.attrib[name] for name in _RELATIONSHIP_IDS if name in element.attrib), "")


class XlsxPackage(OpcPackage):
    """The parts in the zip archive of an xlsx file."""

    def elements(self, name: str | None, *names: str) -> Iterator[tuple[str, Element]]:
        """Yield (name, element) for each element in `names`, and then clear it. Yield nothing for a missing part."""
        if name is None or self.member(name) is None:
            return
        with self.open(name) as part:
            for _, element in iterparse(part, ("end",)):
                if name_of(element) in names:
                    yield name_of(element), element
                    element.clear()
