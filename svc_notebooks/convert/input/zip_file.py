"""Opens untrusted zip files and the parts of Open Packaging files (ECMA-376 part 2), with the values of their charts.

Zip bombs, encrypted files, document type declarations and too many tags are refused.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from posixpath import basename, dirname, join, normpath
from typing import IO, Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import ParseError, parse
from xml.parsers import expat

from ..job import MIB, ConversionError, Job, JobLimits, TooLarge

_MAX_TAGS = 1_000_000
_MAX_ATTRIBUTES = 5_000
_LONG_TAG = re.compile(rb"""<[A-Za-z](?:[^<>"']|"[^"]*+"|'[^']*+'){5000,}+""")
_VALUES = re.compile(rb""""[^"]*"|'[^']*'""")
_NAMES = re.compile(rb"[^\s/]+")


def check_tags(markup: bytes) -> None:
    """Raise TooLarge if markup has more than `_MAX_TAGS` tags, or an element more than `_MAX_ATTRIBUTES` attributes.

    >>> check_tags(b"<p " + b'a="1" ' * 6_000 + b">")
    Traceback (most recent call last):
    svc_notebooks.convert.job.TooLarge: an element has more than 5000 attributes.
    """
    if markup.count(b"<") > _MAX_TAGS:
        raise TooLarge(f"the file has more than {_MAX_TAGS} tags.")
    for tag in _LONG_TAG.finditer(markup):
        if sum(1 for _ in _NAMES.finditer(_VALUES.sub(b" ", tag[0]))) > _MAX_ATTRIBUTES:
            raise TooLarge(f"an element has more than {_MAX_ATTRIBUTES} attributes.")


_MARKUP = (".xml", ".rels", ".vml", ".rdf", ".opf", ".ncx")
_BLOCK = 8192
_MAX_PROLOG = MIB  # bytes before the root element of an XML member


def open_archive(source: bytes, limits: JobLimits, *, checks_markup: bool = True) -> zipfile.ZipFile:
    """Open an untrusted zip file, and check the start of all XML members unless `checks_markup` is false.

    Raises ConversionError if the file is damaged or encrypted, or if such a member declares a document type. Raises
    TooLarge if the number of members, the unpacked size or the compression ratio exceeds a limit.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(source))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        message = "the file is damaged: files of this format are zip archives, and this file is not."
        raise ConversionError(message) from error
    if len(entries) > limits.entries:
        raise TooLarge(f"the archive has more than {limits.entries} entries.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.unpacked or unpacked > max(len(source), 100_000) * limits.ratio:
        raise TooLarge(f"unpacked, the archive would have {unpacked} bytes.")
    for entry in entries:
        if entry.flag_bits & 1:
            raise ConversionError("the file is encrypted; save the file without a password.")
        if checks_markup and entry.filename.lower().endswith(_MARKUP):
            check_markup(archive, entry)
    return archive


def check_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Check the start of an XML member of a zip file, up to its root element.

    Raises ConversionError if the member is not XML or declares a document type, which can define entities. Raises
    TooLarge if the root element comes too late.
    """
    member = repr(entry.filename[:80])
    elements: list[str] = []

    def refuse(*_: object) -> None:
        raise ConversionError(f"{member} declares a document type, which this format does not allow.")

    parser = expat.ParserCreate()
    if hasattr(parser, "SetReparseDeferralEnabled"):  # expat 2.6 delays the events of a token that arrives in blocks
        parser.SetReparseDeferralEnabled(False)
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: elements.append(name)
    try:
        with archive.open(entry) as file:
            while not elements and (block := file.read(_BLOCK)):
                if file.tell() > _MAX_PROLOG:
                    raise TooLarge(f"{member} has more than {_MAX_PROLOG} bytes before its first element.")
                # Some programs write blanks before the XML declaration.
                parser.Parse(block if file.tell() > _BLOCK else block.lstrip())
            parser.Parse(b"", True)  # an error after the first element is that of the cut
    except expat.ExpatError as error:
        if not elements and expat.ErrorString(error.code) != expat.errors.XML_ERROR_NO_ELEMENTS:  # not an empty member
            raise ConversionError(f"the file is damaged at {member}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError(f"the file is damaged at {member}.") from error


def open_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """Open an XML member for parsers that would expand entities, such as ElementTree. Raises as `check_markup`."""
    check_markup(archive, entry)
    return archive.open(entry)


def refuse_entities(root: Any) -> None:
    """Raise ConversionError if the document of an lxml element declares entities."""
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ConversionError("the file declares entities, which are not allowed.")


_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Relationship(NamedTuple):
    """A link from a part. `type` is the last word of the type's URI, `target` a part or, if external, a URI."""

    type: str
    target: str
    is_external: bool = False


Relationships = dict[str, Relationship]  # the relationships of a part by id


class OpcPackage:
    """The parts in a zip archive. The names of parts ignore case."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members = {name.replace("\\", "/").lstrip("/").lower(): name for name in archive.namelist()}

    def member(self, name: str | None) -> str | None:
        """Return the name that a part has in the archive, or None if the archive does not have the part."""
        return self._members.get((name or "").lower())

    def open(self, name: str) -> IO[bytes]:
        """Open an XML part for reading. Raises KeyError if the part is missing, ConversionError as `check_markup`."""
        return open_markup(self._archive, self._archive.getinfo(self._members[name.lower()]))

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


_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


Cells = Callable[[str], Sequence[str]]  # the texts of the cells of a reference such as "Data!$B$2:$B$9"


def chart_rows(chart: Any, limit: int, job: Job, cells: Cells = lambda reference: ()) -> list[list[str]]:
    """Return a row with the names of the series, and a row for each of at most `limit` categories.

    The first column has the categories, the others have the values. Values that the chart does not store are those of
    the `cells` to which it refers. Returns [] with a note if the chart has no values.
    """
    series = list(chart.iter(f"{_C}ser"))
    columns = [_column(element, cells, "val", "yVal") for element in series]
    if not any(columns):
        job.note("A chart without stored values was left out.")
        return []
    categories = next((column for element in series if (column := _column(element, cells, "cat", "xVal"))), {})
    titles = (_column(element, cells, "tx").get(0) or _first_value(element.find(f"{_C}tx")) for element in series)
    names = [title or f"Series {n}" for n, title in enumerate(titles, 1)]
    points = sorted(set(categories).union(*columns))[:limit]
    return [["", *names], *([column.get(point, "") for column in (categories, *columns)] for point in points)]


def chart_kind(chart: Any) -> str:
    """Return "bar", "column", "line", "pie" or "scatter" for a chart, or "" if no series of it looks like these."""
    plots = (element for element in chart.iter() if str(element.tag).startswith(_C))
    plot: Any = next((element for element in plots if element.tag.endswith("Chart")), None)
    kind = "" if plot is None else plot.tag.removeprefix(_C).removesuffix("Chart").removesuffix("3D")
    if kind == "bar":
        direction = plot.find(f"{_C}barDir")
        return "bar" if direction is not None and direction.get("val") == "bar" else "column"
    return {"line": "line", "area": "line", "pie": "pie", "doughnut": "pie", "scatter": "scatter"}.get(kind, "")


def _column(series: Any, cells: Cells, *names: str) -> dict[int, str]:
    reference = next((element for name in names if (element := series.find(_C + name)) is not None), None)
    values: dict[int, str] = {}
    for parent in () if reference is None else reference.iter():
        is_text = parent.tag in (f"{_C}strCache", f"{_C}lvl")
        for point in parent.findall(f"{_C}pt"):
            if point.get("idx", "").isdecimal():
                index, value = int(point.get("idx")), _first_value(point)
                with suppress(ValueError):  # programs store numbers with 17 digits, and show 15
                    value = value if is_text or len(value) < 17 else f"{float(value):.15g}"
                values[index] = f"{value} {values[index]}" if index in values else value  # the levels of a category
    formula = None if values or reference is None else next(reference.iter(f"{_C}f"), None)
    return values if formula is None else {place: text for place, text in enumerate(cells(formula.text or "")) if text}


def _first_value(element: Any) -> str:
    value = None if element is None else next(element.iter(f"{_C}v"), None)
    return "" if value is None else value.text or ""
