"""Reads xlsx workbooks in one pass over each sheet.

The reader returns the formula, the last value and the style of each cell, while libraries return only one of the three.
Memory is released after each row, and empty cells take no memory.
"""

from __future__ import annotations

import colorsys
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element, ParseError, iterparse, parse

from ...input.numerals import integer
from ...input.zip_file import Cells, OpcPackage, Relationship, chart_kind, chart_rows, open_archive
from ...job import ConversionError, Job
from .. import formulas, model
from ..cell_texts import clean, format_cell, parse_moment, parse_number, to_text, with_valid_sheet_names
from ..format_code import BUILT_IN_FORMATS, PALETTE, from_serial
from ..formulas import with_calculated_values

_NAMESPACES = frozenset({  # of workbooks and themes, of strict files (purl.oclc.org), and of the beta of Excel 2007
    "{http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "{http://purl.oclc.org/ooxml/spreadsheetml/main",
    "{http://schemas.microsoft.com/office/excel/2006/2",
    "{http://schemas.openxmlformats.org/drawingml/2006/main",
    "{http://purl.oclc.org/ooxml/drawingml/main",
})  # fmt: skip

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


_RGB = re.compile("[0-9a-f]{6}")
_STRICT_SIDES = {"start": "left", "end": "right"}
_THICK_LINES = frozenset({"medium", "thick", "double", "mediumDashed", "mediumDashDot", "mediumDashDotDot"})


def read_styles(package: XlsxPackage, part: str | None, theme_part: str | None) -> list[model.CellStyle]:
    """Return the style of each number that cells have in the attribute `s`."""
    root = next((element for _, element in package.elements(part, "styleSheet")), None)
    if root is None:
        return [model.DEFAULT_STYLE]
    codes = {integer(e.get("numFmtId")): e.get("formatCode", "") for e in root.iter() if name_of(e) == "numFmt"}
    palette = [element.get("rgb", "")[-6:].lower() for element in root.iter() if name_of(element) == "rgbColor"]
    colors = _Colors(package, theme_part, palette)
    formats = BUILT_IN_FORMATS | {number: "" if code.lower() == "general" else code for number, code in codes.items()}
    fonts = {n: (_is_bold(font), colors.of(font, "color", "000000")) for n, font in _numbered(root, "fonts")}
    fills = {n: _fill(fill, colors) for n, fill in _numbered(root, "fills")}
    borders = {n: _borders(border) for n, border in _numbered(root, "borders")}
    return [
        model.CellStyle(
            formats.get(integer(xf.get("numFmtId")), "")[:255],
            *fonts.get(integer(xf.get("fontId")), (False, "")),
            fills.get(integer(xf.get("fillId")), ""),
            borders.get(integer(xf.get("borderId")), ""),
            next((turn_of(integer(child.get("textRotation"))) for child in xf if name_of(child) == "alignment"), 0),
        )
        for _, xf in _numbered(root, "cellXfs")
    ]


def _numbered(root: Element, name: str) -> Iterator[tuple[int, Element]]:
    return enumerate(child for parent in root if name_of(parent) == name for child in parent)


def _is_bold(font: Element) -> bool:
    return any(name_of(child) == "b" and child.get("val", "1") in ("1", "true") for child in font)


def _fill(fill: Element, colors: _Colors) -> str:
    pattern = next((child for child in fill if name_of(child) == "patternFill"), None)
    kind = "none" if pattern is None else pattern.get("patternType", "none")
    if pattern is None or kind == "none":
        return ""
    return colors.of(pattern, "fgColor" if kind == "solid" else "bgColor", "ffffff")


def _borders(border: Element) -> str:
    lines = {_STRICT_SIDES.get(name_of(line), name_of(line)): line.get("style", "none") for line in border}
    letters = (letter for letter, side in model.SIDES.items() if lines.get(side, "none") != "none")
    return "".join(letter.upper() if lines[model.SIDES[letter]] in _THICK_LINES else letter for letter in letters)


def turn_of(rotation: int) -> int:
    """Return the angle of an attribute textRotation: 1 to 90 is up, 91 to 180 is down, 255 is stacked."""
    return model.STACKED if rotation == 255 else rotation if rotation <= 90 else max(90 - rotation, -90)


class _Colors:
    """Resolves the colours of a workbook, which are RGB values, or numbers in the theme or the palette."""

    def __init__(self, package: XlsxPackage, theme_part: str | None, palette: list[str]) -> None:
        self._palette = palette or PALETTE
        scheme = next((element for _, element in package.elements(theme_part, "clrScheme")), ())
        theme = [child[0].get("lastClr", child[0].get("val", "")).lower() for child in scheme if len(child)]
        self._theme = [theme[place] for place in (1, 0, 3, 2)] + theme[4:] if len(theme) > 3 else []

    def of(self, parent: Element, name: str, default: str) -> str:
        """Return the colour in the child `name` as "#rrggbb", or "" if it is missing or the default."""
        element = next((child for child in parent if name_of(child) == name), None)
        if element is None:
            return ""
        color = element.get("rgb", "")[-6:].lower()
        for key, colors in (("theme", self._theme), ("indexed", self._palette)):
            if (number := integer(element.get(key), len(colors))) < len(colors):
                color = colors[number]
        tint = parse_number(element.get("tint", "0"))
        tint = 0 if isinstance(tint, model.ErrorValue) else tint
        color = _tinted(color, tint) if _RGB.fullmatch(color) else default
        return "" if color == default else f"#{color}"


def _tinted(color: str, tint: float) -> str:
    """Darken (tint < 0) or lighten (tint > 0) a colour (ECMA-376 part 1, 18.8.19)."""
    hue, light, saturation = colorsys.rgb_to_hls(*(int(color[at : at + 2], 16) / 255 for at in (0, 2, 4)))
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    parts = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
    return "".join(f"{min(max(round(part * 255), 0), 255):02x}" for part in parts)


PADDING = 5 / 7  # the padding in the width of a column, in characters. Programs show the width without the padding.

OTHER_SHEETS = "Sheets of charts, dialogs and macros were left out."
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MAX_CHART_ROWS = 1_000
_BREAKS = {"rowBreaks": "row_breaks", "colBreaks": "column_breaks"}


def read(source: bytes, job: Job) -> model.Workbook:
    """Read an Excel workbook. Raises ConversionError if the file is invalid or encrypted, TooLarge above a limit."""
    try:
        with open_archive(source, job.limits, checks_markup=False) as archive:
            return _workbook(XlsxPackage(archive), job)
    except (ParseError, zipfile.BadZipFile, EOFError, ValueError) as error:  # ValueError: a number or an address
        raise ConversionError(f"the file is damaged: {str(error)[:100]}.") from error


@dataclass(slots=True)
class _Book:
    package: XlsxPackage
    job: Job
    quota: model.CellQuota
    strings: list[str]
    styles: list[model.CellStyle]
    names: dict[str, str]
    printed: dict[tuple[str, str], str]  # the names that define how a sheet is printed, by number of the sheet
    since_1904: bool = False


def _workbook(package: XlsxPackage, job: Job) -> model.Workbook:
    main = _main_part(package)
    relationships = package.relationships(main)
    parts = {relationship.type: relationship.target for relationship in relationships.values()}
    book = _Book(
        package, job, model.CellQuota(job.limits),
        [_rich_text(element) for _, element in package.elements(parts.get("sharedStrings"), "si")],
        read_styles(package, parts.get("styles"), parts.get("theme")), {}, {},
    )  # fmt: skip
    listed = _sheet_entries(package, main, book)
    if listed and not relationships:
        raise ConversionError("the file is damaged: the relationships of the workbook are missing.")
    worksheets = {key: part for key, (kind, part, _) in relationships.items() if kind == "worksheet"}
    parts_of = [(worksheets.get(key, ""), name, hidden, str(n)) for n, (key, name, hidden) in enumerate(listed)]
    entries = [entry for entry in parts_of if package.member(entry[0]) is not None]
    if len(entries) < len(listed):
        job.note(OTHER_SHEETS)
    workbook = with_calculated_values(with_valid_sheet_names(_sheet(book, *entry) for entry in entries), job)
    cells = partial(_texts, {sheet.name: sheet for sheet in workbook.sheets})
    charts = [tuple(_charts(package, part, job, cells)) for part, *_ in entries] or [()]
    return model.Workbook(tuple(replace(sheet, charts=it) for sheet, it in zip(workbook.sheets, charts, strict=True)))


def _main_part(package: XlsxPackage) -> str:
    part = package.main_part() or "xl/workbook.xml"
    if package.member("xl/workbook.bin"):
        raise ConversionError("the file is a binary workbook (xlsb); save it as xlsx.")
    if not package.member(part):
        raise ConversionError("the file is damaged, or not a workbook: the workbook part is missing.")
    return part


def _sheet_entries(package: XlsxPackage, main: str, book: _Book) -> list[tuple[str, str, bool]]:
    """Return (relationship id, name, whether hidden) of each sheet, and store workbook settings in `book`."""
    entries = []
    for kind, element in package.elements(main, "sheet", "workbookPr", "definedName"):
        if kind == "sheet":
            hidden = element.get("state", "visible") != "visible"
            entries.append((relationship_id(element), element.get("name", ""), hidden))
        elif kind == "workbookPr":
            book.since_1904 = element.get("date1904", "") in ("1", "true")
        elif sheet := element.get("localSheetId"):
            book.printed[sheet, element.get("name", "").lower()] = (element.text or "")[: formulas.MAX_LENGTH]
        elif element.text and len(element.text) < 256:
            book.names[element.get("name", "").upper()] = element.text
    return entries


def _rich_text(element: Element) -> str:
    """Return the text of all runs in a string element. Leave out pronunciation (rPh) of East Asian text."""
    runs = [child for child in element if name_of(child) != "rPh"]
    text = "".join(t.text or "" for run in runs for t in run.iter() if name_of(t) == "t")
    return _decode_escapes(text)


def _decode_escapes(text: str) -> str:
    return clean(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text)


def _sheet(book: _Book, part: str, name: str, hidden: bool, number: str) -> model.Sheet:
    rows: dict[int, dict[int, model.Cell]] = {}
    areas: list[model.Area] = []
    widths: dict[int, float] = {}
    links: list[Element] = []
    areas_printed = formulas.printed_areas(book.printed.get((number, "_xlnm.print_area"), ""))
    titles = formulas.printed_areas(book.printed.get((number, "_xlnm.print_titles"), ""))
    setup: dict[str, Any] = {
        "areas": tuple(model.Area(*area) for area in areas_printed),
        "titles": next(((top, bottom) for top, left, bottom, right in titles if right == formulas.MAX_COLUMNS - 1), ()),
    }
    with book.package.open(part) as file:
        reader = _RowReader(book)
        parent = None
        for event, element in iterparse(file, ("start", "end")):
            kind = name_of(element)
            if event == "start":
                parent = element if kind == "sheetData" else parent
            elif kind == "row":
                reader.row(element, rows)
                if parent is not None:
                    parent.clear()
            elif kind == "col":
                _width(element, widths)
            elif kind == "printOptions":
                setup["grid"] = element.get("gridLines") in ("1", "true")
            elif kind == "pageSetUpPr":
                setup["fits_width"] = element.get("fitToPage") in ("1", "true")
            elif kind == "pageSetup":
                setup["landscape"] = {"landscape": True, "portrait": False}.get(element.get("orientation", ""))
                setup["fits_width"] = setup.get("fits_width", False) and element.get("fitToWidth", "1") == "1"
            elif kind in _BREAKS:
                breaks = {integer(brk.get("id")) for brk in element if brk.get("man", "1") in ("1", "true")}
                setup[_BREAKS[kind]] = tuple(sorted(breaks))
            elif kind == "mergeCell":
                areas += _area(element.get("ref", ""))
            elif kind == "hyperlink":
                links.append(element)
    _link(book, part, links, rows)
    return model.Sheet.trimmed(name, model.in_order(rows), areas, widths, model.PrintSetup(**setup), hidden=hidden)


def _charts(package: XlsxPackage, part: str, job: Job, cells: Cells) -> Iterator[model.SheetChart]:
    """Yield the charts in the drawings of a sheet. A damaged chart is left out with a note."""
    links: list[Relationship] = []
    with job.leaving_out("A drawing of a sheet"):
        drawings = [it.target for it in package.relationships(part).values() if it.type == "drawing"]
        links += (it for drawing in drawings for it in package.relationships(drawing).values() if it.type == "chart")
    for link in links:
        with job.leaving_out("A chart"):
            with package.open(link.target) as file:
                chart = parse(file).getroot()
            texts = (it.iter(f"{_DRAWING}t") for it in chart.iter(f"{_CHART}title"))
            title = " · ".join(filter(None, ("".join(text.text or "" for text in it) for it in texts)))
            if (kind := chart_kind(chart)) and (values := chart_rows(chart, _MAX_CHART_ROWS, job, cells)):
                yield model.SheetChart(kind, clean(title), tuple(map(tuple, values)))


def _texts(sheets: Mapping[str, model.Sheet], reference: str) -> list[str]:
    """Return the texts of the cells of a reference."""
    sheet = sheets.get(reference.lstrip("(").partition("!")[0].strip("'").replace("''", "'"), model.Sheet())
    places = (
        (row, column)
        for top, left, bottom, right in formulas.printed_areas(reference)
        for row in range(top, bottom + 1)
        for column in range(left, right + 1)
    )
    cells = (sheet.rows.get(row, {}).get(column, model.Cell(None)) for row, column in islice(places, _MAX_CHART_ROWS))
    return [to_text(cell.value) if isinstance(cell.value, (int, float)) else format_cell(cell) for cell in cells]


class _RowReader:
    def __init__(self, book: _Book) -> None:
        self._book, self._leaving_out = book, book.job.leaving_out("A cell")
        self._shared: dict[str, tuple[str, int, int]] = {}
        self._row = -1

    def row(self, element: Element, rows: dict[int, dict[int, model.Cell]]) -> None:
        self._row = integer(element.get("r"), self._row + 2) - 1
        column = -1
        cells: dict[int, model.Cell] = {}
        for child in (child for child in element if name_of(child) == "c"):
            reference = child.get("r")
            try:
                row, column = formulas.parse_cell_address(reference) if reference else (self._row, column + 1)
            except ValueError:
                row, column = self._row, column + 1
                self._book.job.note("Cells with a damaged address were kept behind the cell before them.")
            with self._leaving_out:
                if (cell := self._cell(child, row, column)) is not None:
                    cells[column] = cell
        self._book.quota.take(len(cells))
        if cells and 0 <= self._row < formulas.MAX_ROWS and max(cells) < formulas.MAX_COLUMNS:
            rows.setdefault(self._row, {}).update(cells)

    def _cell(self, element: Element, row: int, column: int) -> model.Cell | None:
        content = formula = None
        for child in element:
            name = name_of(child)
            if name == "v":
                content = child.text
            elif name == "f":
                formula = child
            elif name == "is":
                content = _rich_text(child)
        index = integer(element.get("s"))
        style = self._book.styles[index] if index < len(self._book.styles) else model.DEFAULT_STYLE
        if content is None and formula is None:
            return model.Cell(None, style) if self._book.quota.take_empty(style) else None
        value = self._value(element.get("t", "n"), content, style, computed=formula is not None)
        if formula is None:
            return model.Cell(value, style)
        text, array = _formula_of(formula, self._shared, row, column)
        text = formulas.expand_names(text, self._book.names) if text else None
        value, text = formulas.sanitize(value, text, self._book.job)
        return model.Cell(value, style, text, array if text else None)

    def _value(self, kind: str, content: str | None, style: model.CellStyle, *, computed: bool) -> model.Value:
        book = self._book
        if content is None:
            return "" if kind == "str" and computed else None
        if kind == "s":
            string_index = integer(content.strip(), len(book.strings))
            return book.strings[string_index] if string_index < len(book.strings) else model.ErrorValue("#REF!")
        if kind == "n":
            numeric = parse_number(content)
            if isinstance(numeric, model.ErrorValue) or not style.format:
                return numeric
            return from_serial(numeric, style.format, since_1904=book.since_1904)
        if kind == "b":
            return content.strip() in ("1", "true")
        if kind == "e":
            return model.ErrorValue(clean(content)[:20])
        if kind == "d":
            return parse_moment(content.removesuffix("Z")) or content
        return content if kind == "inlineStr" else _decode_escapes(content)


def _width(element: Element, widths: dict[int, float]) -> None:
    if element.get("customWidth") in (None, "0", "false"):
        return
    first, last = integer(element.get("min"), 1) - 1, integer(element.get("max"), 1)
    width = parse_number(element.get("width", ""))
    if isinstance(width, (int, float)) and PADDING < width < 256:
        kept = round(width - PADDING, 2)
        widths.update(dict.fromkeys(range(max(first, 0), min(last, formulas.MAX_COLUMNS)), kept))


def _area(reference: str) -> list[model.Area]:
    try:
        return [model.Area(*formulas.parse_area(reference))]
    except ValueError:
        return []


def _link(book: _Book, part: str, links: list[Element], rows: dict[int, dict[int, model.Cell]]) -> None:
    """Add the links of a sheet to the cells with content in `rows`. Unsafe links are left out with a note."""
    relationships = book.package.relationships(part) if links else {}
    for element in links:
        for area in _area(element.get("ref", "")):
            cell = rows.get(area.top, {}).get(area.left)
            if cell is not None:
                relationship = relationships.get(relationship_id(element))
                target = relationship.target if relationship else ""
                location = element.get("location", "")
                link = formulas.safe_link(f"{target}#{location}" if location else target)
                if link is None:
                    kept = "web pages, e-mail addresses and cells of the workbook"
                    book.job.note(f"Links were removed, except links to {kept}.")
                rows[area.top][area.left] = cell._replace(link=link)


def _formula_of(
    element: Element, shared: dict[str, tuple[str, int, int]], row: int, column: int
) -> tuple[str | None, tuple[int, int] | None]:
    """Return the formula in an `f` element and the (rows, columns) of an array formula. Both can be None.

    `shared` has the formulas that several cells share, with the row and the column of the cell that has the text.
    """
    text = (element.text or "").strip().removeprefix("=") or None
    if text and len(text) > formulas.MAX_LENGTH:
        return text, None
    kind = element.get("t", "normal")
    if kind == "shared":
        key = element.get("si", "")
        shared |= {key: (text, row, column)} if text else {}
        first = shared.get(key)
        return formulas.shift(first[0], row - first[1], column - first[2]) if first else None, None
    if kind == "array":
        area = next(iter(_area(element.get("ref", ""))), model.Area(0, 0, 0, 0))
        return text, (area.bottom - area.top + 1, area.right - area.left + 1)
    return (None, None) if kind == "dataTable" else (text, None)
