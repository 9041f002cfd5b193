"""Opens the parts of Open Packaging files (ECMA-376 part 2), and reads the values of their charts (part 1, 21.2)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from posixpath import basename, dirname, join, normpath
from typing import IO, Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import ParseError, parse

from ..job import ConversionError, Job
from .zip_file import open_markup

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
