"""Reads each table of a web page as a sheet, since many programs export HTML tables as Excel files."""

from __future__ import annotations

from html.parser import HTMLParser

from ...input.charset import decode_markup
from ...job import ConversionError, Job, TooLarge
from ..formula import address
from ..formula.tokens import safe_link
from ..model import Area, Cell, CellQuota, CellStyle, Sheet, Workbook, disjoint
from ..values import parse_cell

_MAX_SPAN = 1000
_BLOCKS = frozenset({"br", "p", "div", "li"})
_HIDDEN_TAGS = frozenset({"script", "style", "title"})


def read(source: bytes, job: Job) -> Workbook:
    """Read each table of a web page as a sheet. Raises ConversionError without a table, and TooLarge above a limit."""
    reader = _TableParser(job)
    reader.feed(decode_markup(source, job))
    reader.close()
    if not reader.sheets:
        raise ConversionError("the file is a web page without a table.")
    return Workbook(tuple(reader.sheets))


class _TableParser(HTMLParser):
    """Collects the outermost tables as sheets. A table inside a cell becomes text of the cell."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.sheets: list[Sheet] = []
        self._quota = CellQuota(job.limits)
        self._depth = 0
        self._hidden_depth = 0
        self._begin_table()

    def _begin_table(self) -> None:
        self._rows: dict[int, dict[int, Cell]] = {}
        self._merges: list[Area] = []
        self._occupied: dict[int, int] = {}  # by column, the first row below a cell that spans rows
        self._row = self._column = -1
        self._text: list[str] | None = None
        self._span = (1, 1)
        self._bold = False
        self._link: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self._begin_table()
        elif tag in _HIDDEN_TAGS:
            self._hidden_depth += 1
        elif self._depth == 1 and tag == "tr":
            self._end_cell()
            self._row, self._column = self._row + 1, -1
        elif self._depth == 1 and tag in ("td", "th"):
            self._begin_cell(attributes, bold=tag == "th")
        elif self._text is not None and tag in _BLOCKS and self._text:
            self._text.append("\n")
        elif self._text is not None and tag == "a":
            self._link = safe_link(attributes.get("href"))

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN_TAGS:
            self._hidden_depth = max(self._hidden_depth - 1, 0)
        elif self._depth == 1 and tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "table" and self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._end_table()

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._hidden_depth:
            self._text.append(data)

    def close(self) -> None:
        super().close()
        if self._depth:  # the page ends within a table
            self._end_cell()
            self._end_table()

    def _begin_cell(self, attributes: dict[str, str | None], *, bold: bool) -> None:
        self._end_cell()
        self._row = max(self._row, 0)
        self._column += 1
        while self._occupied.get(self._column, 0) > self._row:
            self._column += 1
        self._span = (_count(attributes.get("rowspan")), _count(attributes.get("colspan")))
        self._text, self._bold, self._link = [], bold, None

    def _end_cell(self) -> None:
        if self._text is None:
            return
        text = "\n".join(" ".join(line.split()) for line in "".join(self._text).strip().split("\n")).strip()
        height, width = self._span
        right = self._column + width - 1
        if right >= address.MAX_COLUMNS or self._row + height > address.MAX_ROWS:
            raise TooLarge(f"the table has more than {address.MAX_ROWS} rows or {address.MAX_COLUMNS} columns.")
        if text:
            self._quota.take()
            cell = parse_cell(text)
            style = CellStyle(cell.style.format, bold=True) if self._bold else cell.style
            self._rows.setdefault(self._row, {})[self._column] = cell._replace(style=style, link=self._link)
        self._merges.append(Area(self._row, self._column, self._row + height - 1, right))
        if height > 1:
            self._quota.take(width)
            self._occupied |= dict.fromkeys(range(self._column, right + 1), self._row + height)
        self._column, self._text = right, None

    def _end_table(self) -> None:
        name = f"Sheet{len(self.sheets) + 1}"
        self.sheets.append(Sheet(name, self._rows, disjoint(self._merges)))


def _count(text: str | None) -> int:
    return min(max(int(text), 1), _MAX_SPAN) if text and text.isascii() and text.isdigit() and len(text) < 9 else 1
