"""Reads xlsx workbooks in one pass over each sheet.

The reader returns the formula, the last value and the style of each cell, while libraries return only one of the three.
Memory is released after each row, and empty cells take no memory.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from xml.etree.ElementTree import Element, ParseError, iterparse

from ...input.zip_file import open_archive
from ...job import ConversionError, Job
from ..date_serial import from_serial, value_kind
from ..formula import address
from ..formula.calculate import with_calculated_values
from ..formula.tokens import MAX_LENGTH, expand_names, safe_link, sanitize, shift
from ..model import (
    DEFAULT_STYLE,
    Area,
    Cell,
    CellQuota,
    CellStyle,
    ErrorValue,
    Sheet,
    Value,
    Workbook,
    disjoint,
    in_order,
)
from ..sheet_names import with_valid_sheet_names
from ..values import clean, parse_moment, parse_number

_PADDING = 5 / 7
"""The padding in the width of a column, in characters. Programs show the width without the padding."""

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")

# fmt: off
_FORMATS = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}
# fmt: on
"""The built-in number formats by number. Numbers 14 and 22 are local date formats, which become ISO 8601 here."""


def read(source: bytes, job: Job) -> Workbook:
    """Read an Excel workbook. Raises ConversionError if the file is invalid or encrypted, TooLarge above a limit."""
    try:
        with open_archive(source, job.limits) as archive:
            return with_calculated_values(_workbook(XlsxPackage(archive), job), job)
    except (ParseError, zipfile.BadZipFile, EOFError) as error:
        raise ConversionError(f"the file is damaged: {str(error)[:100]}.") from error


class XlsxPackage:
    """The parts (files) in the zip archive of an xlsx file, and the relationships between the parts."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = {entry.lower().replace("\\", "/").lstrip("/"): entry for entry in archive.namelist()}

    def has(self, name: str | None) -> bool:
        """Return whether the archive contains the part with this name. Returns False for None."""
        return bool(name) and str(name).lower() in self._names

    def elements(self, name: str, *names: str) -> Iterator[tuple[str, Element]]:
        """Yield (tag, element) for each element of a part whose tag is in `names`, and then clear the element."""
        with self._archive.open(self._names[name.lower()]) as part:
            for _, element in iterparse(part, ("end",)):
                plain = element.tag.rpartition("}")[2]
                if plain in names:
                    yield plain, element
                    element.clear()

    def open(self, name: str) -> zipfile.ZipExtFile:
        """Open the part with this name for reading."""
        return self._archive.open(self._names[name.lower()])  # type: ignore[return-value]

    def relations(self, name: str) -> dict[str, tuple[str, str, bool]]:
        """Return the relationships of a part by id, as tuples (type, target, whether the target is external)."""
        part = join(dirname(name), "_rels", name.rpartition("/")[2] + ".rels")
        relations: dict[str, tuple[str, str, bool]] = {}
        if self.has(part):
            for _, element in self.elements(part, "Relationship"):
                outside = element.get("TargetMode") == "External"
                target = element.get("Target", "")
                path = target if outside else normpath(join("/", dirname(name), target)).lstrip("/")
                relations[element.get("Id", "")] = (element.get("Type", "").rpartition("/")[2], path, outside)
        return relations


@dataclass(slots=True)
class _Book:
    package: XlsxPackage
    job: Job
    quota: CellQuota
    strings: list[str]
    styles: list[CellStyle]
    names: dict[str, str]
    since_1904: bool = False
    date_styles: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.date_styles = [value_kind(style.format) != "number" for style in self.styles]


def _workbook(package: XlsxPackage, job: Job) -> Workbook:
    main = _main_part(package)
    relations = package.relations(main)
    parts = {kind: target for kind, target, _ in relations.values()}
    book = _Book(
        package, job, CellQuota(job.limits), _strings(package, parts.get("sharedStrings")),
        _read_styles(package, parts.get("styles")), {},
    )  # fmt: skip
    listed = _sheet_entries(package, main, book)
    sheets = tuple(
        _sheet(book, relations[key][1], name, hidden)
        for key, name, hidden in listed
        if relations.get(key, ("",))[0] == "worksheet" and package.has(relations[key][1])
    )
    return with_valid_sheet_names(sheets)


def _main_part(package: XlsxPackage) -> str:
    kinds = package.relations("").values()
    part = next((target for kind, target, _ in kinds if kind == "officeDocument"), "xl/workbook.xml")
    if package.has("xl/workbook.bin"):
        raise ConversionError("the file is a binary workbook (xlsb); save it as xlsx.")
    if not package.has(part):
        raise ConversionError("the file is damaged, or not a workbook: the workbook part is missing.")
    return part


def _sheet_entries(package: XlsxPackage, main: str, book: _Book) -> list[tuple[str, str, bool]]:
    """Return (relationship id, name, whether hidden) of each sheet, and store workbook settings in `book`."""
    entries = []
    for kind, element in package.elements(main, "sheet", "workbookPr", "definedName"):
        if kind == "sheet":
            key = next((value for name, value in element.items() if name.endswith("}id")), "")
            entries.append((key, element.get("name", ""), element.get("state", "visible") != "visible"))
        elif kind == "workbookPr":
            book.since_1904 = element.get("date1904", "") in ("1", "true")
        elif element.get("localSheetId") is None and element.text and len(element.text) < 256:
            book.names[element.get("name", "").upper()] = element.text
    return entries


def _strings(package: XlsxPackage, part: str | None) -> list[str]:
    if part is None or not package.has(part):
        return []
    return [_rich_text(element) for _, element in package.elements(part, "si")]


def _rich_text(element: Element) -> str:
    """Return the text of all runs in a string element. Leave out pronunciation (rPh) of East Asian text."""
    runs = [child for child in element if not child.tag.endswith("}rPh")]
    text = "".join(t.text or "" for run in runs for t in run.iter() if t.tag.endswith("}t"))
    return _decode_escapes(text)


def _decode_escapes(text: str) -> str:
    return clean(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text)


def _sheet(book: _Book, part: str, name: str, hidden: bool) -> Sheet:
    rows: dict[int, dict[int, Cell]] = {}
    areas: list[Area] = []
    widths: dict[int, float] = {}
    links: list[Element] = []
    with book.package.open(part) as file:
        reader = _RowReader(book)
        parent = None
        for event, element in iterparse(file, ("start", "end")):
            kind = element.tag.rpartition("}")[2]
            if event == "start":
                parent = element if kind == "sheetData" else parent
            elif kind == "row":
                reader.row(element, rows)
                if parent is not None:
                    parent.clear()
            elif kind == "col":
                _width(element, widths)
            elif kind == "mergeCell":
                areas += _area(element.get("ref", ""))
            elif kind == "hyperlink":
                links.append(element)
    _link(book, part, links, rows)
    ordered = in_order(rows)
    last = max((max(columns) for columns in ordered.values()), default=-1)
    kept = {column: width for column, width in sorted(widths.items()) if column <= last}
    return Sheet(name, ordered, disjoint(areas), kept, hidden)


class _RowReader:
    def __init__(self, book: _Book) -> None:
        self._book = book
        self._shared = _SharedFormulas()
        self._row = -1

    def row(self, element: Element, rows: dict[int, dict[int, Cell]]) -> None:
        self._row = int(element.get("r", self._row + 2)) - 1
        column = -1
        cells: dict[int, Cell] = {}
        for child in element:
            reference = child.get("r")
            row, column = address.parse_cell_address(reference) if reference else (self._row, column + 1)
            cell = self._cell(child, row, column)
            if cell is not None:
                cells[column] = cell
        self._book.quota.take(len(cells))
        if cells and 0 <= self._row < address.MAX_ROWS and max(cells) < address.MAX_COLUMNS:
            rows.setdefault(self._row, {}).update(cells)

    def _cell(self, element: Element, row: int, column: int) -> Cell | None:
        content = formula = None
        for child in element:
            if child.tag.endswith("}v"):
                content = child.text
            elif child.tag.endswith("}f"):
                formula = child
            elif child.tag.endswith("}is"):
                content = _rich_text(child)
        if content is None and formula is None:
            return None
        index = int(element.get("s", 0))
        style = self._book.styles[index] if index < len(self._book.styles) else DEFAULT_STYLE
        value = self._value(element.get("t", "n"), content, index, style, computed=formula is not None)
        if formula is None:
            return Cell(value, style)
        text, array = _formula_of(formula, self._shared, row, column)
        text = expand_names(text, self._book.names) if text else None
        value, text = sanitize(value, text, self._book.job)
        return Cell(value, style, text, array if text else None)

    def _value(self, kind: str, content: str | None, index: int, style: CellStyle, *, computed: bool) -> Value:
        book = self._book
        if content is None:
            return "" if kind == "str" and computed else None
        if kind == "s":
            string_index = int(content)
            return book.strings[string_index] if string_index < len(book.strings) else ErrorValue("#REF!")
        if kind == "n":
            numeric = parse_number(content)
            dated = index < len(book.date_styles) and book.date_styles[index] and isinstance(numeric, (int, float))
            return from_serial(numeric, style.format, since_1904=book.since_1904) if dated else numeric  # type: ignore[arg-type]
        if kind == "b":
            return content.strip() in ("1", "true")
        if kind == "e":
            return ErrorValue(clean(content)[:20])
        return (parse_moment(content.removesuffix("Z")) or content) if kind == "d" else _decode_escapes(content)


def _width(element: Element, widths: dict[int, float]) -> None:
    if element.get("customWidth") in (None, "0", "false"):
        return
    first, last = int(element.get("min", 1)) - 1, int(element.get("max", 1))
    width = parse_number(element.get("width", ""))
    if isinstance(width, (int, float)) and _PADDING < width < 256:
        kept = round(width - _PADDING, 2)
        widths.update(dict.fromkeys(range(max(first, 0), min(last, address.MAX_COLUMNS)), kept))


def _area(reference: str) -> list[Area]:
    try:
        return [Area(*address.parse_area(reference))]
    except ValueError:
        return []


def _link(book: _Book, part: str, links: list[Element], rows: dict[int, dict[int, Cell]]) -> None:
    """Add the links of a sheet to the cells with content in `rows`. Unsafe links are left out with a note."""
    relations = book.package.relations(part) if links else {}
    for element in links:
        for area in _area(element.get("ref", "")):
            cell = rows.get(area.top, {}).get(area.left)
            if cell is not None:
                key = next((value for name, value in element.items() if name.endswith("}id")), "")
                target, location = relations.get(key, ("", "", True))[1], element.get("location", "")
                link = safe_link(f"{target}#{location}" if location else target)
                if link is None:
                    book.job.note(
                        "Links were removed, except links to web pages, e-mail addresses and cells of the workbook."
                    )
                rows[area.top][area.left] = cell._replace(link=link)


def _read_styles(package: XlsxPackage, part: str | None) -> list[CellStyle]:
    if part is None or not package.has(part):
        return [DEFAULT_STYLE]
    with package.open(part) as file:
        root = next((element for _, element in iterparse(file, ("end",)) if element.tag.endswith("styleSheet")), None)
    if root is None:
        return [DEFAULT_STYLE]
    formats = _FORMATS | {int(e.get("numFmtId", 0)): e.get("formatCode", "") for e in _children(root, "numFmts")}
    bold = [
        any(child.tag.endswith("}b") and child.get("val", "1") in ("1", "true") for child in font)
        for font in _children(root, "fonts")
    ]
    return [_style(element, formats, bold) for element in _children(root, "cellXfs")]


def _children(root: Element, name: str) -> list[Element]:
    return [child for parent in root if parent.tag.endswith(f"}}{name}") for child in parent]


def _style(element: Element, formats: dict[int, str], bold: list[bool]) -> CellStyle:
    font = int(element.get("fontId", 0))
    code = formats.get(int(element.get("numFmtId", 0)), "")
    return CellStyle("" if code.lower() == "general" else code[:255], font < len(bold) and bold[font])


class _SharedFormulas:
    """Formulas that several cells share. The file contains the text of a shared formula only in the first cell."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, int, int]] = {}

    def formula(self, key: str, text: str | None, row: int, column: int) -> str | None:
        """Return a cell's formula, shifted from the first cell with `text`, or None if that cell is missing."""
        if text:
            self._first[key] = (text, row, column)
            return text
        if key not in self._first:
            return None
        text, first_row, first_column = self._first[key]
        return shift(text, row - first_row, column - first_column)


def _formula_of(
    element: Element, shared: _SharedFormulas, row: int, column: int
) -> tuple[str | None, tuple[int, int] | None]:
    """Return the formula in an `f` element and the (rows, columns) of an array formula. Both can be None."""
    text = (element.text or "").strip().removeprefix("=") or None
    if text and len(text) > MAX_LENGTH:
        return text, None
    kind = element.get("t", "normal")
    if kind == "shared":
        return shared.formula(element.get("si", ""), text, row, column), None
    if kind == "array":
        return text, _area_size(element.get("ref", ""))
    return (None, None) if kind == "dataTable" else (text, None)


def _area_size(reference: str) -> tuple[int, int]:
    try:
        top, left, bottom, right = address.parse_area(reference)
    except ValueError:
        return 1, 1
    return bottom - top + 1, right - left + 1
