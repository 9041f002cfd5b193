"""Opens the parts of Open Packaging files (docx, xlsx), and reads their relationships (ECMA-376 part 2)."""

from __future__ import annotations

import zipfile
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import ParseError, parse

from ..job import ConversionError
from .zip_file import MarkupFile, check_markup

_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Relationship(NamedTuple):
    """A link from a part. `type` is the last word of the type's URI, `target` a part or, if external, a URI."""

    type: str
    target: str
    is_external: bool = False


Relationships = dict[str, Relationship]
"""The relationships of a part by id."""


class OpcPackage:
    """The parts in a zip archive. The names of parts ignore case."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members = {name.replace("\\", "/").lstrip("/").lower(): name for name in archive.namelist()}

    def member(self, name: str | None) -> str | None:
        """Return the name that a part has in the archive, or None if the archive does not have the part."""
        return self._members.get((name or "").lower())

    def open(self, name: str) -> MarkupFile:
        """Open an XML part for reading. Raises KeyError if the part is missing, ConversionError as `check_markup`."""
        entry = self._archive.getinfo(self._members[name.lower()])
        check_markup(self._archive, entry)
        return MarkupFile(self._archive, entry)

    def relationships(self, name: str = "") -> Relationships:
        """Return the relationships of a part, or those of the package if `name` is empty.

        Raises ConversionError if they are damaged.
        """
        folder = dirname(name)
        part = join(folder, "_rels", f"{basename(name)}.rels")
        if self.member(part) is None:
            return {}
        try:
            with self.open(part) as file:
                elements = list(parse(file).iter(_RELATIONSHIP))
        except (ParseError, zipfile.BadZipFile, EOFError, OSError, NotImplementedError) as error:
            raise ConversionError(f"the file is damaged at {part[:80]!r}: {str(error)[:100]}.") from error
        relationships = {}
        for element in elements:
            target, is_external = element.get("Target", ""), element.get("TargetMode") == "External"
            path = target if is_external else normpath(join("/", folder, unquote(target))).lstrip("/")
            relationships[element.get("Id", "")] = Relationship(basename(element.get("Type", "")), path, is_external)
        return relationships

    def main_part(self) -> str | None:
        """Return the name of the part with the document or workbook, or None if the package does not name a part."""
        try:
            parts = self.relationships().values()
        except ConversionError:  # programs also open such a package
            return None
        named = (part.target for part in parts if part.type == "officeDocument")
        return next((part for part in named if self.member(part)), None)
