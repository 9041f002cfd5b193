"""Reads OpenDocument spreadsheets (ods) row by row. Repeated empty rows take no memory."""

from __future__ import annotations

import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import IO
from xml.etree.ElementTree import Element, ParseError, iterparse, parse

from ...input.numerals import integer
from ...input.odf_file import MASTER_PAGE, OdfStyles, chart_kind, color_of, count_of, length, name, open_package
from ...input.zip_file import open_markup
from ...job import ConversionError, Job, TooLarge
from .. import formulas, model
from ..cell_texts import clean, parse_moment, parse_number, with_valid_sheet_names
from ..format_code import from_serial, value_kind

_CHARACTER_WIDTH = 68_400  # the width of a digit in EMU (0.19 cm)
_THICK = 15_000  # the width from which a line is thick, in EMU


class Styles:
    """The styles of cells, columns and tables in styles.xml and content.xml."""

    def __init__(self, roots: Iterable[Element]) -> None:
        roots = list(roots)
        elements = [element for root in roots for element in root.iter()]
        data = (element for element in elements if element.tag.startswith(name("number:")) and len(element))
        self._formats = {code: from_element(style) for style in data if (code := style.get(name("style:name")))}
        self._styles = OdfStyles(roots)
        self._cells = {"": model.DEFAULT_STYLE}
        self.setups = _print_setups(elements)  # by master page
        self.properties = self._styles.properties

    def cell(self, style: str) -> model.CellStyle:
        """Return the cell style with this name, including inherited properties."""
        if style not in self._cells:
            properties = self._styles.properties("table-cell", style)
            weight = properties.get(f"text/{name('fo:font-weight')}")
            self._cells[style] = model.CellStyle(
                self._formats.get(self._styles.attribute("table-cell", style, "style:data-style-name"), ""),
                weight in ("bold", "600", "700", "800", "900"),
                color_of(properties.get(f"text/{name('fo:color')}"), "#000000"),
                color_of(properties.get(f"table-cell/{name('fo:background-color')}"), "#ffffff"),
                "".join(_border_letters(properties)),
                _turn(properties),
            )
        return self._cells[style]

    def width(self, style: str) -> float | None:
        """Return the column width in characters that a style defines, or None if the style defines no width."""
        width = length(self._styles.properties("table-column", style).get(f"table-column/{name('style:column-width')}"))
        return width and round(width / _CHARACTER_WIDTH, 2)

    def starts_page(self, family: str, style: str) -> bool:
        """Return True if a page begins before the rows or columns ("table-row") of the style with this name."""
        return self._styles.properties(family, style).get(f"{family}/{name('fo:break-before')}") == "page"


def _print_setups(elements: list[Element]) -> dict[str, model.PrintSetup]:
    """Return the print setup of each master page."""
    layouts = {
        element.get(name("style:name")): model.PrintSetup(
            grid="grid" in child.get(name("style:print"), "").split(),
            landscape={"landscape": True, "portrait": False}.get(child.get(name("style:print-orientation"), "")),
            fits_width=child.get(name("style:scale-to-X")) == "1",
        )
        for element in elements
        if element.tag == name("style:page-layout")
        for child in element
        if child.tag == name("style:page-layout-properties")
    }
    pages = (element for element in elements if element.tag == name("style:master-page"))
    return {
        page.get(name("style:name"), ""): layouts.get(page.get(name("style:page-layout-name")), model.PLAIN_PRINT)
        for page in pages
    }


def _border_letters(properties: dict[str, str]) -> Iterable[str]:
    for letter, side in model.SIDES.items():
        own, all_sides = name(f"fo:border-{side}"), name("fo:border")
        words = (properties.get(f"table-cell/{own}") or properties.get(f"table-cell/{all_sides}") or "none").split()
        if "none" not in words and "hidden" not in words:
            thick = "double" in words or any((length(word) or 0) > _THICK for word in words)
            yield letter.upper() if thick else letter


def _turn(properties: dict[str, str]) -> int:
    """Return the angle of the text in a cell, or 0 for text that is upside down."""
    if properties.get(f"table-cell/{name('style:direction')}") == "ttb":
        return model.STACKED
    angle = integer(properties.get(f"table-cell/{name('style:rotation-angle')}", "").removesuffix("deg"))
    turn = (angle + 90) % 360 - 90
    return turn if turn <= 90 else 0


_PLAIN = re.compile(r"[ \-/:,.()]*")


def from_element(element: Element) -> str:
    """Convert an OpenDocument data style to a format code. Return "" for the General format."""
    tag = _tag(element)
    if tag in ("boolean-style", "text-style"):
        return "@" if tag == "text-style" else ""
    overflow = _attribute(element, "truncate-on-overflow") == "false"
    pieces = [_code(child, overflow and tag == "time-style") for child in element]
    code = "".join(pieces)
    return "" if code in ("General", "0." + "#" * 20) else code[:200]


def _tag(element: Element) -> str:
    return element.tag.removeprefix(name("number:"))


def _attribute(element: Element, attribute: str) -> str:
    """Return an attribute. LibreOffice wrote attributes that are in ODF 1.3 in its own namespace before."""
    return element.get(name(f"number:{attribute}")) or element.get(name(f"loext:{attribute}")) or ""


def _code(element: Element, elapsed: bool) -> str:
    tag = _tag(element)
    if tag in ("text", "currency-symbol"):
        text = element.text or ""
        return text if text == "%" or _PLAIN.fullmatch(text) else '"' + text.replace('"', "") + '"'
    if tag in ("number", "scientific-number"):
        return _number_code(element, tag)
    if tag == "fraction":
        return _fraction_code(element)
    return _date_code(element, tag, elapsed)


def _number_code(element: Element, tag: str) -> str:
    places, minimum_decimals = (_attribute(element, "decimal-places"), _attribute(element, "min-decimal-places"))
    minimum_integers = _count(_attribute(element, "min-integer-digits"))
    grouped = _attribute(element, "grouping") == "true"
    if not places and tag == "number" and not grouped:
        return "General" if minimum_integers <= 1 else "0" * minimum_integers
    digits, needed = _count(places), _count(minimum_decimals) if minimum_decimals else _count(places)
    decimals = "0" * min(needed, digits) + "#" * (digits - needed)
    whole = ("0" * minimum_integers or "#").rjust(_count(_attribute(element, "exponent-interval")), "#")
    whole = f"#,{whole.rjust(3, '#')}" if grouped else whole
    exponent = "E+" + "0" * max(_count(_attribute(element, "min-exponent-digits")), 1) if tag != "number" else ""
    for text in element.iter(name("number:embedded-text")):
        whole = _with_embedded_text(whole, _count(_attribute(text, "position")), text.text or "")
    thousands = (len(_attribute(element, "display-factor")) - 1) // 3 * ","
    return whole + (f".{decimals}" if decimals else "") + thousands + exponent


def _with_embedded_text(whole: str, position: int, text: str) -> str:
    """Insert a text before the last `position` digits of a pattern, which may already contain texts."""
    places = [match.start() for match in re.finditer(r'"[^"]*"|[0#]', whole) if match[0] in "0#"]
    place = places[-position] if 0 < position <= len(places) else len(whole) if position == 0 else 0
    return f'{whole[:place]}"{text.replace(chr(34), "")}"{whole[place:]}'


def _fraction_code(element: Element) -> str:
    above = "?" * max(_count(_attribute(element, "min-numerator-digits")), 1)
    below = "?" * max(_count(_attribute(element, "min-denominator-digits")), 1)
    fixed = _count(_attribute(element, "denominator-value"), 99_999)
    whole = _attribute(element, "min-integer-digits")
    return f"{'0' * _count(whole) or '#'} {above}/{fixed or below}" if whole else f"{above}/{fixed or below}"


def _count(text: str, limit: int = 15) -> int:
    return min(integer(text), limit)


def _date_code(element: Element, tag: str, elapsed: bool) -> str:
    long = _attribute(element, "style") == "long"
    if tag == "month" and _attribute(element, "textual") == "true":
        return "mmmm" if long else "mmm"
    if tag == "seconds":
        decimals = _count(_attribute(element, "decimal-places"))
        return ("ss" if long else "s") + ("." + "0" * decimals if decimals else "")
    if tag == "hours" and elapsed:
        return "[hh]" if long else "[h]"
    return _DATE_CODES.get(tag, ("", ""))[long]


_DATE_CODES = {
    "year": ("yy", "yyyy"), "month": ("m", "mm"), "day": ("d", "dd"), "day-of-week": ("ddd", "dddd"),
    "hours": ("h", "hh"), "minutes": ("m", "mm"), "am-pm": ("AM/PM", "AM/PM"),
}  # fmt: skip


_SPREADSHEET, _TABLE = name("office:spreadsheet"), name("table:table")
_TABLES = frozenset({_TABLE, name("table:dde-links")})
_OBJECT = name("draw:object")
_TITLE_ROWS = name("table:table-header-rows")
_CELLS = frozenset({name("table:table-cell"), name("table:covered-table-cell")})
_PARAGRAPHS = frozenset({name("text:p"), name("text:h")})
_LISTS = frozenset(map(name, ("text:list", "text:list-item", "text:list-header")))
_SKIPPED_ELEMENTS = frozenset(map(name, ("office:annotation", "table:shapes", "draw:frame", "text:ruby-text")))
_NUMBERS = frozenset({"float", "percentage", "currency"})
_VALUE_ATTRIBUTES = {
    **dict.fromkeys(_NUMBERS, "office:value"), "boolean": "office:boolean-value", "date": "office:date-value",
    "time": "office:time-value",
}  # fmt: skip
# The error values by the text of the cell. Excel writes the number 0 beside the text, which may be in its language.
_ERRORS = {code: code for code in ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")} | {
    "#WERT!": "#VALUE!", "#BEZUG!": "#REF!", "#ZAHL!": "#NUM!", "#NV": "#N/A", "#NUL!": "#NULL!", "#NOM?": "#NAME?",
    "#VALEUR!": "#VALUE!", "#NOMBRE!": "#NUM!",
}  # fmt: skip

_MAX_EMPTY_RUN = 256  # repeated cells or rows with a background or borders; a longer run ends the sheet
_MAX_COUNT = 10**9
_MAX_CHART_ROWS = 1_000
_RANGE = re.compile(r"(?:'(?:[^']|'')*'|[^' ])+")  # an address such as 'My data'.A1:'My data'.B9
_MIDNIGHT = datetime(2000, 1, 1)  # noqa: DTZ001  spreadsheets have no time zones
_DURATION = re.compile(
    r"(-?)P(?:(\d{1,7})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:[.,]\d{1,9})?)S)?)?", re.ASCII
)


def read(source: bytes, job: Job) -> model.Workbook:
    """Read an ods file. Raises ConversionError if the file is invalid or encrypted, and TooLarge above a limit."""
    try:
        with open_package(source, job) as package:
            return formulas.with_calculated_values(with_valid_sheet_names(_Reader(job).sheets(package.archive)), job)
    except RecursionError as error:
        raise TooLarge("the text of a cell is nested too deeply.") from error
    except (ParseError, zipfile.BadZipFile, EOFError) as error:
        raise ConversionError(f"the file is damaged: {str(error)[:100]}.") from error


class _Reader:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._quota = model.CellQuota(job.limits)
        self._sheets: list[model.Sheet] = []
        self._is_spreadsheet = False

    def sheets(self, archive: zipfile.ZipFile) -> list[model.Sheet]:
        roots = []
        if "styles.xml" in archive.namelist() and archive.getinfo("styles.xml").file_size:
            with archive.open("styles.xml") as part:  # open_package has checked both parts
                roots.append(parse(part).getroot())
        with archive.open("content.xml") as part:
            self._read(archive, part, roots)
        if not self._sheets and not self._is_spreadsheet:
            raise ConversionError("the file is not a spreadsheet: there is no table.")
        return self._sheets

    def _chart(self, archive: zipfile.ZipFile, path: str) -> model.SheetChart | None:
        """Return the chart in an embedded document, or None for another or a damaged document."""
        with self._job.leaving_out("A chart or another object"):
            with open_markup(archive, archive.getinfo(f"{path.removeprefix('./').strip('/')}/content.xml")) as part:
                root = parse(part).getroot()
            title = " · ".join(filter(None, map(_text, root.iter(name("chart:title")))))
            rows = [[_text(cell) for cell in row if cell.tag in _CELLS] for row in root.iter(name("table:table-row"))]
            if (kind := chart_kind(root)) and rows:
                return model.SheetChart(kind, title, tuple(map(tuple, rows[:_MAX_CHART_ROWS])))
        return None

    def _read(self, archive: zipfile.ZipFile, part: IO[bytes], roots: list[Element]) -> None:
        table: _Table | None = None
        styles = Styles(roots)
        depth = 0
        for event, element in iterparse(part, ("start", "end")):
            if event == "start":
                self._is_spreadsheet |= element.tag == _SPREADSHEET
                depth += element.tag in _TABLES
                if table and depth == 1 and element.tag == _TITLE_ROWS:
                    table.titles = (table.next_row,)
                if element.tag == _TABLE and depth == 1:
                    table = _Table(element, styles, self._quota, self._job)
            elif table is not None and element.tag == _OBJECT:
                table.charts += filter(None, [self._chart(archive, element.get(name("xlink:href"), ""))])
            elif table is None:
                styles = Styles([*roots, element]) if element.tag == name("office:automatic-styles") else styles
            elif depth == 1 and element.tag == name("table:table-column"):
                table.column(element)
            elif element.tag == name("table:scenario"):
                table.is_scenario = True
            elif depth == 1 and element.tag == _TITLE_ROWS:
                table.titles = (table.titles[0], table.next_row - 1)
            elif depth == 1 and element.tag == name("table:table-row"):
                table.row(element)
                element.clear()
            elif depth == 1 and element.tag == _TABLE:
                self._sheets += table.sheets()
                element.clear()
            if event == "end" and element.tag in _TABLES:
                depth -= 1
                table = table if depth else None


class _Table:
    def __init__(self, element: Element, styles: Styles, quota: model.CellQuota, job: Job) -> None:
        self._name, self._style = text_of(element, "table:name"), text_of(element, "table:style-name")
        self._styles, self._quota, self._job = styles, quota, job
        self._leaving_out = job.leaving_out("A cell")
        self._rows: dict[int, dict[int, model.Cell]] = {}
        self._areas: list[model.Area] = []
        self._widths: dict[int, float] = {}
        self._column_styles: list[tuple[int, str]] = []  # the first column after those of the style, the style
        self.next_row = self._column = 0
        self._printed = text_of(element, "table:print-ranges")
        self.titles: tuple[int, ...] = ()
        self.charts: list[model.SheetChart] = []
        self._row_breaks: list[int] = []
        self._column_breaks: list[int] = []
        self.is_scenario = False

    def column(self, element: Element) -> None:
        end = min(self._column + count_of(element, "table:number-columns-repeated", _MAX_COUNT), formulas.MAX_COLUMNS)
        style = text_of(element, "table:style-name")
        width = self._styles.width(style)
        if self._styles.starts_page("table-column", style):
            self._column_breaks.append(self._column)
        if width:
            self._widths.update(dict.fromkeys(range(self._column, end), width))
        self._column_styles.append((end, text_of(element, "table:default-cell-style-name")))
        self._column = end

    def row(self, element: Element) -> None:
        repeated = count_of(element, "table:number-rows-repeated", _MAX_COUNT)
        cells = self._cells(element, text_of(element, "table:default-cell-style-name"))
        if self._styles.starts_page("table-row", text_of(element, "table:style-name")):
            self._row_breaks.append(self.next_row)
        end = self.next_row + repeated
        if repeated <= _MAX_EMPTY_RUN or not all(cell.is_empty for cell in cells.values()):
            self._quota.take(len(cells) * (repeated - 1))
            self._rows |= dict.fromkeys(range(self.next_row, min(end, formulas.MAX_ROWS)), cells) if cells else {}
        self.next_row = end

    def _cells(self, element: Element, row_style: str) -> dict[int, model.Cell]:
        cells: dict[int, model.Cell] = {}
        column = 0
        for child in element:
            if child.tag not in _CELLS:
                continue
            repeated = count_of(child, "table:number-columns-repeated", _MAX_COUNT)
            style = text_of(child, "table:style-name") or row_style or self._column_style(column)
            cell = None
            with self._leaving_out:
                cell = self._cell(child, self._styles.cell(style), repeated)
                self._merge(child, column)
            if cell is not None and self.next_row < formulas.MAX_ROWS:
                self._quota.take(0 if cell.is_empty else repeated)
                cells.update(dict.fromkeys(range(column, min(column + repeated, formulas.MAX_COLUMNS)), cell))
            column += repeated
        return cells

    def _column_style(self, column: int) -> str:
        place = bisect_right(self._column_styles, column, key=lambda entry: entry[0])
        return self._column_styles[place][1] if place < len(self._column_styles) else ""

    def _merge(self, element: Element, column: int) -> None:
        down, across = (count_of(element, f"table:number-{it}-spanned", _MAX_COUNT) for it in ("rows", "columns"))
        if down > 1 or across > 1:
            bottom = min(self.next_row + down, formulas.MAX_ROWS) - 1
            right = min(column + across, formulas.MAX_COLUMNS) - 1
            if self.next_row <= bottom and column <= right:
                self._areas.append(model.Area(self.next_row, column, bottom, right))

    def _cell(self, element: Element, style: model.CellStyle, repeated: int) -> model.Cell | None:
        formula = text_of(element, "table:formula")
        if not formula and not text_of(element, "office:value-type") and not len(element):
            is_kept = repeated <= _MAX_EMPTY_RUN and self._quota.take_empty(style, repeated)
            return model.Cell(None, style) if is_kept else None
        value = _value(element, style, computed=bool(formula))
        converted = self._formula(formula) if formula else None
        value, converted = formulas.sanitize(value, converted, self._job)
        if value is None and converted is None:
            return None
        if isinstance(value, bool) and style.format:  # number formats do not apply to booleans
            style = replace(style, format="")
        return model.Cell(value, style, converted, _array_size(element) if converted else None, _link(element))

    def _formula(self, text: str) -> str | None:
        if len(text) > formulas.MAX_LENGTH:
            return text
        converted = formulas.from_openformula(text)
        if converted is None:
            replaced = "Formulas in another formula language or with links to other files"
            self._job.note(f"{replaced} were replaced by their values.")
        return converted

    def sheets(self) -> list[model.Sheet]:
        """Return the sheet, or nothing for a scenario or the cells of another file, which are also stored in tables."""
        if self.is_scenario:
            self._job.note("Scenarios (other values for some cells) were left out.")
            return []
        if self._name.startswith("'") and "'#" in self._name:
            self._job.note("Stored cells of other files were left out.")
            return []
        ranges = (
            formulas.from_openformula(f"of:=[{']~['.join(_RANGE.findall(self._printed))}]") if self._printed else ""
        )
        style = self._styles.properties("table", self._style)
        setup = replace(
            self._styles.setups.get(style.get(MASTER_PAGE, ""), model.PLAIN_PRINT),
            areas=tuple(model.Area(*area) for area in formulas.printed_areas(ranges or "")), titles=self.titles,
            row_breaks=tuple(self._row_breaks), column_breaks=tuple(self._column_breaks),
        )  # fmt: skip
        hidden = style.get(f"table/{name('table:display')}") == "false"
        sheet = model.Sheet.trimmed(self._name, self._rows, self._areas, self._widths, setup, hidden=hidden)
        return [replace(sheet, charts=tuple(self.charts))]


def text_of(element: Element, attribute: str) -> str:
    """Return the value of an attribute, such as "office:value", or "" if the attribute is missing."""
    return element.get(name(attribute), "")


def _array_size(element: Element) -> tuple[int, int] | None:
    if not text_of(element, "table:number-matrix-rows-spanned"):
        return None
    rows, columns = "table:number-matrix-rows-spanned", "table:number-matrix-columns-spanned"
    return count_of(element, rows, _MAX_COUNT), count_of(element, columns, _MAX_COUNT)


def _value(element: Element, style: model.CellStyle, *, computed: bool) -> model.Value:
    kind = text_of(element, "office:value-type")
    text = text_of(element, "office:string-value") or _text(element)
    if computed and (text in _ERRORS or text_of(element, "calcext:value-type") == "error" or text.startswith("Err:5")):
        return model.ErrorValue(_ERRORS.get(text, "#VALUE!")) if text else None
    stored = text_of(element, _VALUE_ATTRIBUTES.get(kind, "office:string-value"))
    if kind in _VALUE_ATTRIBUTES and not stored:
        return text or None
    if kind in _NUMBERS:
        number = parse_number(stored)
        return number if isinstance(number, model.ErrorValue) else from_serial(number, style.format)
    if kind == "boolean":
        return stored == "true"
    if kind == "date":
        stored = stored.removesuffix("Z")
        return parse_moment(stored[:26]) or stored
    if kind == "time":
        return _duration(stored, style)
    return text if text or (kind == "string" and computed) else None


def _duration(text: str, style: model.CellStyle) -> model.Value:
    match = _DURATION.fullmatch(text)
    if match is None:
        return clean(text)
    sign, days, hours, minutes, seconds = match.groups()
    span = timedelta(
        days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0),
        seconds=float((seconds or "0").replace(",", ".")),
    )  # fmt: skip
    if value_kind(style.format) == "time" and not sign and span < timedelta(days=1):
        return (_MIDNIGHT + span).time()  # ods stores a time of day as a duration with a time format
    return -span if sign else span


def _text(element: Element) -> str:
    return clean("\n".join("".join(_text_parts(paragraph)) for paragraph in _paragraphs(element)))


def _paragraphs(element: Element) -> Iterator[Element]:
    """Yield the paragraphs and headings in a cell and in its lists."""
    for child in element:
        if child.tag in _PARAGRAPHS:
            yield child
        elif child.tag in _LISTS:
            yield from _paragraphs(child)


def _text_parts(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _WHITESPACE_ELEMENTS:
            yield _WHITESPACE_ELEMENTS[child.tag](child)
        elif child.tag not in _SKIPPED_ELEMENTS:
            yield from _text_parts(child)
        yield child.tail or ""


_WHITESPACE_ELEMENTS: dict[str, Callable[[Element], str]] = {
    name("text:s"): lambda element: " " * count_of(element, "text:c"),
    name("text:tab"): lambda _: "\t",
    name("text:line-break"): lambda _: "\n",
}


def _link(element: Element) -> str | None:
    for child in (child for paragraph in element for child in paragraph):
        if child.tag == name("text:a"):
            target = text_of(child, "xlink:href")
            sheet, dot, cell = target.rpartition(".")
            if target.startswith("#") and dot:  # "#Sheet2.A1" is "#Sheet2!A1" in xlsx
                target = f"{sheet.replace('$', '')}!{cell}"
            return formulas.safe_link(target)
    return None
