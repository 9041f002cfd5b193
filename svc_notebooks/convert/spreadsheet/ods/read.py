"""Reads OpenDocument spreadsheets (ods) row by row. Repeated empty rows take no memory."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element, ParseError, iterparse

from ...input.zip_file import open_archive
from ...job import ConversionError, Job
from ..date_serial import value_kind
from ..formula import address
from ..formula.calculate import with_calculated_values
from ..formula.openformula import from_openformula
from ..formula.tokens import MAX_LENGTH, safe_link, sanitize
from ..model import Area, Cell, CellQuota, CellStyle, ErrorValue, Sheet, Value, Workbook, disjoint
from ..sheet_names import with_valid_sheet_names
from ..values import clean, parse_moment, parse_number
from .styles import Styles

_FAULT = re.compile(r"#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A)|Err:5\d\d")
_SKIPPED_ELEMENTS = frozenset({"annotation", "shapes", "frame", "tracked-changes", "ruby-text"})
_MIDNIGHT = datetime(2000, 1, 1)  # noqa: DTZ001  spreadsheets have no time zones
_ZERO = timedelta()
_DURATION = re.compile(
    r"(-?)P(?:(\d{1,7})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:[.,]\d{1,9})?)S)?)?", re.ASCII
)


def read(source: bytes, job: Job) -> Workbook:
    """Read an ods file. Raises ConversionError if the file is invalid or encrypted, and TooLarge above a limit."""
    try:
        with open_archive(source, job.limits) as archive:
            names = set(archive.namelist())
            if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise ConversionError("the file is encrypted; save the file without a password.")
            if "content.xml" not in names:
                raise ConversionError("the file is damaged, or not an OpenDocument file: content.xml is missing.")
            return with_calculated_values(with_valid_sheet_names(_Reader(job).sheets(archive)), job)
    except (ParseError, zipfile.BadZipFile, EOFError) as error:
        raise ConversionError(f"the file is damaged: {str(error)[:100]}.") from error


def name_of(element: Element) -> str:
    """Return the tag of an XML element without the namespace."""
    return element.tag.rpartition("}")[2]


class _Reader:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._quota = CellQuota(job.limits)
        self._styles = Styles()
        self._sheets: list[Sheet] = []

    def sheets(self, archive: zipfile.ZipFile) -> list[Sheet]:
        if "styles.xml" in archive.namelist():
            with archive.open("styles.xml") as part:
                for _, element in iterparse(part, ("end",)):
                    self._styles.take(element)
        with archive.open("content.xml") as part:
            self._read(part)  # type: ignore[arg-type]
        if not self._sheets:
            raise ConversionError("the file is not a spreadsheet: there is no table.")
        return self._sheets

    def _read(self, part: zipfile.ZipExtFile) -> None:
        table: _Table | None = None
        depth = 0
        for event, element in iterparse(part, ("start", "end")):
            name = name_of(element)
            if event == "start":
                depth += name == "table"
                if name == "table" and depth == 1:
                    table = _Table(element, self._styles, self._quota, self._job)
            elif table is None:
                self._styles.take(element)
            elif depth == 1 and name == "table-column":
                table.column(element)
            elif depth == 1 and name == "table-row":
                table.row(element)
                element.clear()
            elif depth == 1 and name == "table":
                self._sheets.append(table.sheet())
                element.clear()
            if event == "end" and name == "table":
                depth -= 1
                table = table if depth else None


class _Table:
    def __init__(self, element: Element, styles: Styles, quota: CellQuota, job: Job) -> None:
        attributes = Attributes(element)
        self._name = attributes.text("name")
        self._hidden = styles.hides(attributes.text("style-name"))
        self._styles, self._quota, self._job = styles, quota, job
        self._rows: dict[int, dict[int, Cell]] = {}
        self._areas: list[Area] = []
        self._widths: dict[int, float] = {}
        self._row = self._column = 0

    def column(self, element: Element) -> None:
        attributes = Attributes(element)
        end = min(self._column + attributes.count("number-columns-repeated"), address.MAX_COLUMNS)
        width = self._styles.width(attributes.text("style-name"))
        if width:
            self._widths.update(dict.fromkeys(range(self._column, end), width))
        self._column = end

    def row(self, element: Element) -> None:
        repeated = Attributes(element).count("number-rows-repeated")
        cells = self._cells(element)
        end = self._row + repeated
        if cells:
            self._quota.take(len(cells) * (repeated - 1))
            for row in range(self._row, min(end, address.MAX_ROWS)):
                self._rows[row] = cells
        self._row = end

    def _cells(self, element: Element) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        column = 0
        for child in element:
            if name_of(child) not in ("table-cell", "covered-table-cell"):
                continue
            attributes = Attributes(child)
            repeated = attributes.count("number-columns-repeated")
            cell = self._cell(child, attributes)
            self._merge(attributes, column)
            if cell is not None and self._row < address.MAX_ROWS:
                self._quota.take(repeated)
                cells.update(dict.fromkeys(range(column, min(column + repeated, address.MAX_COLUMNS)), cell))
            column += repeated
        return cells

    def _merge(self, attributes: Attributes, column: int) -> None:
        if not attributes.text("number-columns-spanned"):
            return
        down, across = attributes.count("number-rows-spanned"), attributes.count("number-columns-spanned")
        if down > 1 or across > 1:
            bottom = min(self._row + down, address.MAX_ROWS) - 1
            right = min(column + across, address.MAX_COLUMNS) - 1
            if self._row <= bottom and column <= right:
                self._areas.append(Area(self._row, column, bottom, right))

    def _cell(self, element: Element, attributes: Attributes) -> Cell | None:
        kind, formula = attributes.text("value-type"), attributes.text("formula")
        if not kind and not formula and not len(element):
            return None
        style = self._styles.cell(attributes.text("style-name"))
        value = None if formula and not kind else _value(kind, attributes, element, bool(formula))
        converted = self._formula(formula) if formula else None
        value, converted = sanitize(value, converted, self._job)
        if value is None and converted is None:
            return None
        array = (attributes.count("number-matrix-rows-spanned"), attributes.count("number-matrix-columns-spanned"))
        if value_kind(style.format) == "time" and isinstance(value, timedelta) and _ZERO <= value < timedelta(days=1):
            value = (_MIDNIGHT + value).time()  # ods stores a time of day as a duration with a time format
        if isinstance(value, bool) and style.format:  # number formats do not apply to booleans
            style = CellStyle("", style.bold)
        return Cell(
            value=value,
            style=style,
            formula=converted,
            array=array if converted and attributes.text("number-matrix-rows-spanned") else None,
            link=_link(element),
        )

    def _formula(self, text: str) -> str | None:
        if len(text) > MAX_LENGTH:
            return text
        converted = from_openformula(text)
        if converted is None:
            self._job.note(
                "Formulas in another formula language or with links to other files were replaced by their values."
            )
        return converted

    def sheet(self) -> Sheet:
        last = max((max(cells) for cells in self._rows.values()), default=-1)
        widths = {column: width for column, width in self._widths.items() if column <= last}
        return Sheet(self._name, self._rows, disjoint(self._areas), widths, self._hidden)


class Attributes:
    """The attributes of an XML element by name, without namespaces."""

    def __init__(self, element: Element) -> None:
        self._values = {key.rpartition("}")[2]: value for key, value in element.items()}

    def text(self, name: str) -> str:
        """Return the value of an attribute, or "" if the attribute is missing."""
        return self._values.get(name, "")

    def count(self, name: str) -> int:
        """Return the value of an attribute as an int of at least 1. Return 1 if there is no valid value."""
        text = self._values.get(name, "")
        return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _value(kind: str, attributes: Attributes, element: Element, computed: bool) -> Value:
    if kind in ("float", "percentage", "currency"):
        return parse_number(attributes.text("value"))
    if kind == "boolean":
        return attributes.text("boolean-value") == "true"
    if kind == "date":
        text = attributes.text("date-value").removesuffix("Z")
        return parse_moment(text[:26]) or text
    if kind == "time":
        return _duration(attributes.text("time-value"))
    text = attributes.text("string-value") or _text(element)
    if computed and _FAULT.fullmatch(text):
        return ErrorValue("#VALUE!" if text.startswith("Err") else text)
    return text if text or (kind == "string" and computed) else None


def _duration(text: str) -> Value:
    match = _DURATION.fullmatch(text)
    if match is None:
        return clean(text)
    sign, days, hours, minutes, seconds = match.groups()
    span = timedelta(
        days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0),
        seconds=float((seconds or "0").replace(",", ".")),
    )  # fmt: skip
    return -span if sign else span


def _text(element: Element) -> str:
    paragraphs = [child for child in element if name_of(child) in ("p", "h")]
    return clean("\n".join("".join(_text_parts(paragraph)) for paragraph in paragraphs))


def _text_parts(element: Element) -> list[str]:
    pieces: list[str] = [element.text or ""]
    stack = [iter(element)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            continue
        name = name_of(child)
        pieces.append(_WHITESPACE_ELEMENTS[name](Attributes(child)) if name in _WHITESPACE_ELEMENTS else "")
        if name not in _SKIPPED_ELEMENTS and name not in _WHITESPACE_ELEMENTS:
            pieces.append(child.text or "")
            stack.append(iter(child))
        pieces.append(child.tail or "")
    return pieces


_WHITESPACE_ELEMENTS: dict[str, Callable[[Attributes], str]] = {
    "s": lambda attributes: " " * min(attributes.count("c"), 1000),
    "tab": lambda _: "\t",
    "line-break": lambda _: "\n",
}


def _link(element: Element) -> str | None:
    for child in (child for paragraph in element for child in paragraph):
        if name_of(child) == "a":
            target = Attributes(child).text("href")
            sheet, dot, cell = target.rpartition(".")
            if target.startswith("#") and dot:  # "#Sheet2.A1" is "#Sheet2!A1" in xlsx
                target = f"{sheet.replace('$', '')}!{cell}"
            return safe_link(target)
    return None
