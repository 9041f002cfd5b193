"""Writes OpenDocument spreadsheets (ods), which are zip files with four XML files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from xml.sax.saxutils import escape, quoteattr

from ...input.odf_file import odf_archive, odf_document, tag, text_content
from ...job import Job
from ..cell_texts import clean, format_cell, to_text
from ..format_code import DEFAULTS, DigitPattern, FormatPart, Section, sections, value_kind
from ..formulas import to_openformula
from ..model import DEFAULT_STYLE, STACKED, Area, Cell, CellStyle, ErrorValue, Sheet, Value, Workbook

_FAMILIES = ("table", "table-cell", "table-column", "text")
_STYLES = "".join(f'<style:default-style style:family="{family}"/>' for family in _FAMILIES) + (
    '<style:style style:name="Default" style:family="table-cell"/><style:style style:name="Link" style:family="text"/>'
)
_GRID_PAGE = (
    '<office:automatic-styles><style:page-layout style:name="Grid"><style:page-layout-properties '
    'style:print="objects charts drawings grid zero-values"/></style:page-layout></office:automatic-styles>'
    '<office:master-styles><style:master-page style:name="Grid" style:page-layout-name="Grid"/></office:master-styles>'
)
_GRID_MASTER = ' style:master-page-name="Grid"'
_CHARACTER_WIDTH = 0.19  # the width of a digit in centimetres

_NO_CELLS = "><table:table-cell/></table:table-row>"
_MAX_COVERED_ROWS = 100  # with `covered-table-cell` elements, which programs do not need


def write(workbook: Workbook, job: Job) -> bytes:
    """Return a workbook as an ods file, with formulas and their last values."""
    pages = _GRID_PAGE if any(sheet.setup.grid for sheet in workbook.sheets) else ""
    styles = odf_document("office:document-styles", tag("office:styles", None, _STYLES), pages)
    return odf_archive("spreadsheet", _content(workbook, job), styles, clean(job.name), job.now, {})


def _content(workbook: Workbook, job: Job) -> bytes:
    styles = _StyleWriter(job)
    tables = ""
    for sheet in workbook.sheets:
        attributes = f'table:name={quoteattr(sheet.name)} table:style-name="{styles.table(sheet)}"'
        tables += f"<table:table {attributes}>{''.join(_sheet(sheet, styles))}</table:table>"
    body = tag("office:body", None, tag("office:spreadsheet", None, tables))
    return odf_document("office:document-content", tag("office:automatic-styles", None, styles.text()), body)


class _StyleWriter:
    def __init__(self, job: Job) -> None:
        self.job = job
        self._tables: dict[tuple[bool, bool], str] = {}
        self._cells: dict[CellStyle, str] = {}
        self._columns: dict[float, str] = {}

    def table(self, sheet: Sheet) -> str:
        return self._tables.setdefault((sheet.hidden, sheet.setup.grid), f"ta{len(self._tables) + 1}")

    def cell(self, style: CellStyle) -> str:
        return self._cells.setdefault(style, f"ce{len(self._cells) + 1}")

    def column(self, width: float) -> str:
        return self._columns.setdefault(width, f"co{len(self._columns) + 1}")

    def text(self) -> str:
        sheets = "".join(
            f'<style:style style:name="{name}" style:family="table"{_GRID_MASTER * grid}>'
            f'<style:table-properties table:display="{str(not hidden).lower()}"/></style:style>'
            for (hidden, grid), name in self._tables.items()
        )
        columns = "".join(
            f'<style:style style:name="{name}" style:family="table-column">'
            f'<style:table-column-properties style:column-width="{width * _CHARACTER_WIDTH:.3f}cm"/></style:style>'
            for width, name in self._columns.items()
        )
        return sheets + columns + "".join(_cell_style(style, name) for style, name in self._cells.items())


def _cell_style(style: CellStyle, name: str) -> str:
    format = to_element(style.format, f"n{name}") if style.format else ""
    data = f' style:data-style-name="n{name}"' if format else ""
    text = ' fo:font-weight="bold"' if style.bold else ""
    text += f' fo:color="{style.color}"' if style.color else ""
    look = f' fo:background-color="{style.background}"' if style.background else ""
    turn = 'direction="ttb"' if style.turn == STACKED else f'rotation-angle="{style.turn % 360}"'
    look += f" style:{turn}" if style.turn else ""
    for side, thick in style.lines.items():
        look += f' fo:border-{side}="{"1.5pt" if thick else "0.75pt"} solid #000000"'
    properties = f"<style:table-cell-properties{look}/>" if look else ""
    properties += f"<style:text-properties{text}/>" if text else ""
    names = f'style:name="{name}" style:family="table-cell" style:parent-style-name="Default"{data}'
    return f"{format}<style:style {names}>{properties}</style:style>"


_LONG = 'number:style="long" '
_CLOCK = {  # by the kind of a part, and by the letter of elapsed time
    "year": "year", "month": "month", "day": "day", "hour": "hours", "minute": "minutes", "second": "seconds",
    "h": "hours", "m": "minutes", "s": "seconds",
}  # fmt: skip


def to_element(format: str, style: str) -> str:
    """Convert the section for positive numbers of a format code to an OpenDocument style element.

    >>> to_element("0.0%", "N1")[:38]
    '<number:percentage-style style:name="N'
    """
    parts = sections(format)[0]
    kind = value_kind(format)
    if kind == "number":
        tag, inner = _number_style(parts)
    else:
        tag = "date" if kind in ("date", "datetime") else "time"
        inner = "".join(_clock_part(part, fraction) for part, fraction in zip(parts, (*parts[1:], None), strict=True))
    overflow = ' number:truncate-on-overflow="false"' if kind == "duration" else ""
    return f"<number:{tag}-style style:name={quoteattr(style)}{overflow}>{inner}</number:{tag}-style>"


def _number_style(parts: Section) -> tuple[str, str]:
    kinds = {part.kind for part in parts}
    if "at" in kinds and "number" not in kinds:
        return "text", "<number:text-content/>"
    tag = "percentage" if "percent" in kinds else "currency" if "currency" in kinds else "number"
    with_digits = [index for index, part in enumerate(parts) if part.kind in ("number", "fraction", "ratio")]
    if not with_digits:
        return tag, "".join(map(_number_part, parts))
    first, last = with_digits[0], with_digits[-1]
    before, after = ("".join(map(_number_part, it)) for it in (parts[:first], parts[last + 1 :]))
    return tag, before + _digits(parts[first : last + 1]) + after


def _number_part(part: FormatPart) -> str:
    if part.kind == "general":
        return '<number:number number:min-integer-digits="1"/>'
    text = escape(part.literal)
    if part.kind == "currency":
        return f"<number:currency-symbol>{text}</number:currency-symbol>"
    return f"<number:text>{text}</number:text>" if text else ""


def _digits(parts: Section) -> str:
    """Return the element of parts with digits, and of the texts between them ("000-00-0000")."""
    pattern = DigitPattern.of("".join(part.text for part in parts if part.kind in ("number", "fraction")))
    attributes = f'number:min-integer-digits="{pattern.whole.count("0")}"'
    if parts[-1].kind == "ratio":
        above, _, below = parts[-1].text.replace(" ", "").partition("/")
        fixed = f' number:denominator-value="{below}"' if below.strip("0").isdecimal() else ""
        attributes += f' number:min-numerator-digits="{len(above)}" number:min-denominator-digits="{len(below)}"{fixed}'
        return f"<number:fraction {attributes if len(parts) > 1 else attributes.partition(' ')[2]}/>"
    places = f'number:decimal-places="{len(pattern.decimals)}" number:min-decimal-places="{pattern.min_decimals}" '
    if pattern.exponent:
        attributes += f' number:min-exponent-digits="{len(pattern.exponent) - 1}"'
        attributes += f' number:exponent-interval="{len(pattern.whole)}"' if len(pattern.whole) > 1 else ""
        return f"<number:scientific-number {places}{attributes}/>"
    attributes += ' number:grouping="true"' if pattern.is_grouped else ""
    attributes += f' number:display-factor="{1000**pattern.thousands}"' if pattern.thousands else ""
    position, embedded = len(pattern.whole), ""
    for part in parts:
        if part.kind in ("number", "fraction"):
            position -= len(DigitPattern.of(part.text).whole)
        elif part.literal:
            text = escape(part.literal)
            embedded += f'<number:embedded-text number:position="{position}">{text}</number:embedded-text>'
    return f"<number:number {places}{attributes}>{embedded}</number:number>"


def _clock_part(part: FormatPart, following: FormatPart | None) -> str:
    kind = part.text[0] if part.kind == "elapsed" else part.kind
    if kind == "noon":
        return "<number:am-pm/>"
    if kind not in _CLOCK:
        text = "" if kind == "fraction" else escape(part.literal)
        return f"<number:text>{text}</number:text>" if text else ""
    size = len(part.text)
    if kind == "day" and size > 2:
        return f"<number:day-of-week {_LONG if size > 3 else ''}/>"
    long = _LONG if (size > 2 if kind == "year" else size in (2, 4)) else ""
    extra = 'number:textual="true" ' if kind == "month" and size > 2 else ""
    if following and following.kind == "fraction":
        extra += f'number:decimal-places="{len(following.text) - 1}" '
    return f"<number:{_CLOCK[kind]} {long}{extra}/>"


def _sheet(sheet: Sheet, styles: _StyleWriter) -> Iterator[str]:
    yield from _columns(sheet, styles)
    merged: dict[int, list[Area]] = {}
    for area in sheet.merges:
        for row in range(area.top, min(area.bottom, area.top + _MAX_COVERED_ROWS) + 1):
            merged.setdefault(row, []).append(area)
    following = 0
    for row in sorted({*sheet.rows, *merged}):
        if row > following:
            yield f'<table:table-row table:number-rows-repeated="{row - following}"{_NO_CELLS}'
        cells = "".join(_row(row, sheet.rows.get(row, {}), merged.get(row, []), styles))
        yield f"<table:table-row>{cells}</table:table-row>"
        following = row + 1
    if not following:
        yield f"<table:table-row{_NO_CELLS}"


def _columns(sheet: Sheet, styles: _StyleWriter) -> Iterator[str]:
    following = 0
    for column, width in sheet.widths.items():
        if column > following:
            yield f'<table:table-column table:number-columns-repeated="{column - following}"/>'
        yield f'<table:table-column table:style-name="{styles.column(width)}"/>'
        following = column + 1
    last = max([sheet.last_column + 1, 1, *(area.right + 1 for area in sheet.merges)])
    if last > following:
        yield f'<table:table-column table:number-columns-repeated="{last - following}"/>'


def _row(row: int, cells: Mapping[int, Cell], merged: list[Area], styles: _StyleWriter) -> Iterator[str]:
    starts = {area.left: area for area in merged if area.top == row}
    covered = sorted((area.left + (area.top == row), area.right) for area in merged)
    following = 0
    for column in sorted({*cells, *starts, *(left for left, right in covered if left <= right)}):
        if column < following and column not in cells:
            continue
        yield from _gap(following, column, covered)
        inside = any(left <= column <= right for left, right in covered)
        if column in cells or column in starts:
            yield _cell(cells.get(column), starts.get(column), styles, covered=inside)
            following = column + 1
        else:
            following = column
    last = max((right for _, right in covered), default=-1)
    yield from _gap(following, last + 1, covered)


def _gap(first: int, end: int, covered: list[tuple[int, int]]) -> Iterator[str]:
    """Yield the XML of the empty or covered cells from column `first` to before column `end`."""
    for left, right in covered:
        if right < first or left >= end or left > right:
            continue
        yield from _empty("table-cell", left - first)
        first = max(first, left)
        yield from _empty("covered-table-cell", min(right + 1, end) - first)
        first = min(right + 1, end)
    yield from _empty("table-cell", end - first)


def _empty(tag: str, number: int) -> Iterator[str]:
    if number > 0:
        repeated = f' table:number-columns-repeated="{number}"' if number > 1 else ""
        yield f"<table:{tag}{repeated}/>"


def _cell(cell: Cell | None, area: Area | None, styles: _StyleWriter, *, covered: bool) -> str:
    attributes = ""
    if area:
        attributes += f' table:number-columns-spanned="{area.right - area.left + 1}"'
        attributes += f' table:number-rows-spanned="{area.bottom - area.top + 1}"'
    tag = "covered-table-cell" if covered else "table-cell"
    if cell is None:
        return f"<table:{tag}{attributes}/>"
    attributes += _cell_attributes(cell, styles)
    return f"<table:{tag}{attributes}>{_paragraphs(cell, styles.job)}</table:{tag}>"


def _cell_attributes(cell: Cell, styles: _StyleWriter) -> str:
    style = cell.style if cell.style.format else replace(cell.style, format=DEFAULTS.get(type(cell.value), ""))
    attributes = f' table:style-name="{styles.cell(style)}"' if style != DEFAULT_STYLE else ""
    formula = cell.value.code if isinstance(cell.value, ErrorValue) and not cell.formula else cell.formula
    if formula:
        attributes += f" table:formula={quoteattr(clean(to_openformula(formula)))}"
    if cell.array:
        rows, columns = cell.array
        attributes += f' table:number-matrix-rows-spanned="{rows}" table:number-matrix-columns-spanned="{columns}"'
    if cell.value is None or isinstance(cell.value, ErrorValue):
        return attributes
    kind, attribute, text = _value_attributes(cell.value, style)
    attributes += f' office:value-type="{kind}"'
    return attributes + (f" office:{attribute}={quoteattr(text)}" if attribute else "")


def _value_attributes(value: Value, style: CellStyle) -> tuple[str, str, str]:
    """Return the value type, and the name and text of the XML attribute, which are "" if the value is a text."""
    if isinstance(value, bool):
        return "boolean", "boolean-value", "true" if value else "false"
    if isinstance(value, (int, float)):
        return ("percentage" if "%" in style.format else "float"), "value", to_text(value)
    if isinstance(value, (date, datetime)):
        return "date", "date-value", value.isoformat()
    if isinstance(value, time):
        return "time", "time-value", value.strftime("PT%HH%MM%S.%fS" if value.microsecond else "PT%HH%MM%SS")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(abs(value.total_seconds()), 60)
        sign = "-" if value < timedelta() else ""
        return "time", "time-value", f"{sign}PT{int(minutes) // 60:02d}H{int(minutes) % 60:02d}M{seconds:09.6f}S"
    return "string", "", ""


def _paragraphs(cell: Cell, job: Job) -> str:
    if cell.value is None:
        return ""
    text = cell.value if isinstance(cell.value, str) else format_cell(cell, job)
    lines = [text_content(line) for line in clean(text).replace("\r", "").split("\n")]
    if cell.link:
        target = quoteattr(clean(cell.link.replace("!", ".") if cell.link.startswith("#") else cell.link))
        lines = [f'<text:a xlink:type="simple" xlink:href={target}>{line}</text:a>' for line in lines]
    return "".join(f"<text:p>{line}</text:p>" for line in lines)
