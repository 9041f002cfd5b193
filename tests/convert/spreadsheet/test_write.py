# ruff: noqa: DTZ001  a spreadsheet knows no time zones
import csv
import io
import re
import zipfile
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from html.parser import HTMLParser
from math import atan2, degrees
from xml.etree import ElementTree

import openpyxl
import pypdf
import pytest
import xlsxwriter
from openpyxl.chart import BarChart, Reference
from python_calamine import CalamineWorkbook

from svc_notebooks.convert.job import JobLimits, TooLarge
from svc_notebooks.convert.spreadsheet import delimited
from svc_notebooks.convert.spreadsheet.delimited import write_csv, write_tsv
from svc_notebooks.convert.spreadsheet.model import (
    STACKED,
    Area,
    Cell,
    CellStyle,
    ErrorValue,
    PrintSetup,
    Sheet,
    Workbook,
)
from svc_notebooks.convert.spreadsheet.ods import read as read_ods
from svc_notebooks.convert.spreadsheet.ods.write import write as write_ods
from svc_notebooks.convert.spreadsheet.pages import SheetLayout, write_html, write_pdf
from svc_notebooks.convert.spreadsheet.xlsx import read as read_xlsx
from svc_notebooks.convert.spreadsheet.xlsx.write import write as write_xlsx
from tests.convert.sources import saved

pytestmark = pytest.mark.spec("A7-01", "A7-01b")

WRITERS = [write_xlsx, write_ods, write_pdf, write_csv, write_tsv, write_html]

ROWS = {
    0: {0: Cell("Name", CellStyle(bold=True)), 1: Cell("Größe 日本語 😀"), 2: Cell("=1+1")},
    1: {
        0: Cell(1.5, CellStyle("0.00")), 1: Cell(True), 2: Cell(date(2024, 2, 29)),
        3: Cell(datetime(2024, 1, 2, 3, 4, 5)),
        4: Cell(time(9, 30)), 5: Cell(timedelta(hours=30)), 6: Cell(ErrorValue("#N/A")),
        7: Cell(0.125, CellStyle("0.0%")),
    },
    3: {0: Cell(4.5, formula="A2*3"), 1: Cell("two\nlines"), 3: Cell("web", link="https://example.org/?a=1&b=2")},
}  # fmt: skip
BOOK = Workbook((Sheet("My data", ROWS, (Area(3, 1, 4, 2),), {0: 20.0}), Sheet("Other", {0: {0: Cell("second")}})))
LOOK = CellStyle("0.00", bold=True, color="#ffffff", background="#1f4e78", borders="tRb")
LOOKS = Workbook(
    (
        Sheet("Grid", {0: {0: Cell(1.5, LOOK), 1: Cell("right")}}, setup=PrintSetup(grid=True)),
        Sheet("Form", {0: {0: Cell("x"), 1: Cell(None, CellStyle(borders="trbl")), 2: Cell("y")}}),
    )
)
FAR = Workbook((Sheet(rows={0: {0: Cell("near")}, 1_048_575: {16_383: Cell("far")}}),))
MERGED = Workbook((Sheet(rows={0: {0: Cell("x")}}, merges=(Area(0, 0, 1_048_575, 16_383),)),))


def test_fractions_of_seconds_are_written(job):
    moment, span = time(0, 1, 23, 380_000), timedelta(days=-1, seconds=-1.5)
    book = Workbook((Sheet(rows={0: {0: Cell(moment), 1: Cell(span)}}),))

    assert write_csv(book, job) == b"00:01:23.380000,-24:00:01.500000\r\n"
    assert [cell.value for _, _, cell in read_ods.read(write_ods(book, job), job).sheets[0].cells()] == [moment, span]


def pdf_pages(workbook, job):
    return pypdf.PdfReader(io.BytesIO(write_pdf(workbook, job))).pages


def test_xlsx(job):
    sheet, other = openpyxl.load_workbook(io.BytesIO(write_xlsx(BOOK, job))).worksheets

    moments = [datetime(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5), time(9, 30), timedelta(hours=30)]
    assert [cell.value for cell in sheet[2]] == [1.5, True, *moments, "=#N/A", 0.125]
    assert (sheet["A1"].font.b, sheet["A2"].number_format, sheet["H2"].number_format) == (True, "0.00", "0.0%")
    assert (sheet["C1"].value, sheet["C1"].data_type) == ("=1+1", "s")
    assert sheet["A4"].value == "=A2*3"
    assert sheet["D4"].hyperlink.target == "https://example.org/?a=1&b=2"
    assert [str(area) for area in sheet.merged_cells.ranges] == ["B4:C5"]
    assert other.title == "Other"
    stored = openpyxl.load_workbook(io.BytesIO(write_xlsx(BOOK, job)), data_only=True).worksheets[0]
    assert (stored["A4"].value, stored["G2"].value) == (4.5, "#N/A")


@pytest.mark.parametrize("write, read", [(write_xlsx, read_xlsx.read), (write_ods, read_ods.read)])
def test_colours_borders_and_grids_are_read_again(write, read, job):
    grid, form = read(write(LOOKS, job), job).sheets

    assert (grid.rows[0][0], grid.setup.grid, form.setup.grid) == (Cell(1.5, LOOK), True, False)
    assert form.rows == LOOKS.sheets[1].rows


def test_turned_texts_are_read_again(job):
    cells = {column: Cell("x", CellStyle(turn=turn)) for column, turn in enumerate((90, 45, -45, -90, STACKED))}
    book = Workbook((Sheet("S", {0: cells}),))

    assert read_ods.read(write_ods(book, job), job).sheets[0].rows == {0: cells}
    assert Workbook.unpack(book.pack()) == book


def test_a_pdf_turns_texts_unless_they_are_long_or_would_leave_the_page(job):
    texts = {"Up": 90, "Slanted": 45, "Down": -90, "KM": STACKED, "": STACKED, "long text " * 90: 90}
    cells = {column: Cell(text, CellStyle(turn=turn)) for column, (text, turn) in enumerate(texts.items())}
    cells[6] = Cell("Edge of the page and much beyond it", CellStyle(turn=-10))
    sheet = Sheet("S", {0: cells}, setup=PrintSetup(landscape=False))
    turns = {}

    def visit(text, matrix, *_):
        turns[text.strip().partition(" ")[0]] = round(degrees(atan2(matrix[1], matrix[0])))

    pdf_pages(Workbook((sheet,)), job)[0].extract_text(visitor_text=visit)

    expected = {"Up": 90, "Slanted": 45, "Down": -90, "K": 0, "M": 0, "long": 0, "Edge": 90}
    assert {word: turns.get(word) for word in expected} == expected


def test_looks_in_xlsx_as_another_library_reads_them(job):
    grid, form = openpyxl.load_workbook(io.BytesIO(write_xlsx(LOOKS, job))).worksheets

    cell = grid["A1"]
    assert (cell.font.color.rgb, cell.fill.fgColor.rgb, cell.border.right.style) == ("FFFFFFFF", "FF1F4E78", "medium")
    assert (grid.print_options.gridLines, form.print_options.gridLines) == (True, None)
    assert (form["B1"].value, form["B1"].border.left.style) == (None, "thin")


def pdf_lines(rows, job, **setup):
    """Return the number of lines and rectangles that the first page of the PDF of a sheet draws."""
    page = pdf_pages(Workbook((Sheet("S", rows, setup=PrintSetup(**setup)),)), job)[0]
    return len(re.findall(rb"(?m)^(?:S|f\*?|B)$", page.get_contents().get_data()))


def test_a_pdf_draws_borders_backgrounds_and_the_grid_that_the_file_asks_for(job):
    plain = {0: {0: Cell(1), 1: Cell(2)}, 1: {0: Cell(3), 1: Cell(4)}}

    assert pdf_lines(plain, job) == 0
    assert pdf_lines(plain, job, grid=True) > 0
    assert pdf_lines({0: {0: Cell(1, CellStyle(background="#ffff00", borders="tB"))}}, job) == 3
    # A sheet without a heading has no empty first row.
    numbers, words = ({0: {0: Cell(first)}, 1: {0: Cell(second)}} for first, second in ((1, 2), ("a", "b")))
    assert pdf_lines(numbers, job, grid=True) == pdf_lines(words, job, grid=True)


def printed(setup, job, rows=30, columns=6):
    """Return the pages of the PDF of a sheet in which each cell has its row and column number, as (size, words)."""
    cells = {row: {column: Cell(f"r{row}c{column}") for column in range(columns)} for row in range(rows)}
    pages = pdf_pages(Workbook((Sheet("S", cells, setup=setup),)), job)
    return [(round(page.mediabox.width), set(re.findall(r"r\d+c\d+", page.extract_text()))) for page in pages]


def test_a_pdf_obeys_the_print_setup(job):
    [(width, everything)] = printed(PrintSetup(landscape=True), job)
    first, second = printed(PrintSetup(row_breaks=(10,), titles=(1, 2)), job)
    areas = printed(PrintSetup(areas=(Area(2, 1, 3, 2), Area(5, 0, 5, 0))), job)
    wide = printed(PrintSetup(landscape=False), job, columns=60)
    fitted = printed(PrintSetup(landscape=False, fits_width=True), job, columns=60)
    left, right = printed(PrintSetup(column_breaks=(4,)), job)

    assert (width, len(everything)) == (842, 180)
    assert ("r9c0" in first[1], "r10c0" in first[1]) == (True, False)
    assert {"r1c0", "r2c5", "r10c0"} <= second[1]
    assert not {"r0c0", "r3c0"} & second[1]
    assert [words for _, words in areas] == [{"r2c1", "r2c2", "r3c1", "r3c2"}, {"r5c0"}]
    assert (len(wide) > 1, {width for width, _ in wide}) == (True, {595})
    assert set.union(*(words for _, words in wide)) == {f"r{row}c{column}" for row in range(30) for column in range(60)}
    assert [len(words) for _, words in fitted] == [1800]
    assert ("r0c3" in left[1], "r0c4" in left[1], "r0c4" in right[1]) == (True, False, True)


def test_the_print_setup_of_a_workbook_by_openpyxl(job):
    book = openpyxl.Workbook()
    page = book.active
    for row in range(40):
        page.append([row, "x", "y"])
    page.page_setup.orientation, page.page_setup.fitToHeight = "landscape", False
    page.sheet_properties.pageSetUpPr = openpyxl.worksheet.properties.PageSetupProperties(fitToPage=True)
    page.print_area, page.print_title_rows = "A1:B30 C31:C32", "2:3"
    page.row_breaks.append(openpyxl.worksheet.pagebreak.Break(12))

    sheet = read_xlsx.read(saved(book), job).sheets[0]
    again = read_xlsx.read(write_xlsx(Workbook((sheet,)), job), job).sheets[0]

    areas = (Area(0, 0, 29, 1), Area(30, 2, 31, 2))
    setup = PrintSetup(landscape=True, fits_width=True, areas=areas, titles=(1, 2), row_breaks=(12,))
    assert sheet.setup == setup
    assert again.setup == replace(setup, areas=())  # XlsxWriter writes one area
    assert Workbook.unpack(Workbook((sheet,)).pack()).sheets == (sheet,)


def test_a_chart_of_a_workbook_is_drawn(job):
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target)
    page = book.add_worksheet("Data")
    page.write_column(0, 0, ["North", "South", "East"])
    page.write_column(0, 1, [10, -4, 7.5])
    for kind in ("column", "bar", "line", "pie", "scatter"):
        chart = book.add_chart({"type": kind})
        chart.add_series({"name": "Sales", "categories": "=Data!$A$1:$A$3", "values": "=Data!$B$1:$B$3"})
        chart.set_title({"name": f"Chart {kind}"})
        page.insert_chart("D2", chart)
    book.close()

    workbook = read_xlsx.read(target.getvalue(), job)
    text = "\n".join(page.extract_text() for page in pdf_pages(workbook, job))

    [sheet] = Workbook.unpack(workbook.pack()).sheets
    assert [chart.kind for chart in sheet.charts] == ["column", "bar", "line", "pie", "scatter"]
    assert all(chart.title == f"Chart {chart.kind}" for chart in sheet.charts)
    assert sheet.charts[0].rows == (("", "Sales"), ("North", "10"), ("South", "-4"), ("East", "7.5"))
    assert all(f"Chart {chart.kind}" in text for chart in sheet.charts)
    assert text.count("North") >= 4  # the cell, and a label of each chart but the last
    assert job.notes == []


def test_a_chart_without_stored_values_has_those_of_the_cells(job):
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Ann's data"
    for line in (("", "Sales"), ("North", 10), ("South", "=B2/4")):
        page.append(line)
    chart = BarChart()
    chart.add_data(Reference(page, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(page, min_col=1, min_row=2, max_row=3))
    book.create_sheet("Chart").add_chart(chart, "A1")

    sheets = read_xlsx.read(saved(book), job).sheets

    [chart] = [chart for sheet in sheets for chart in sheet.charts]
    assert chart.rows == (("", "Sales"), ("North", "10"), ("South", "2.5"))


def test_merged_areas_have_the_borders_of_the_cells_at_their_sides(job):
    rows = {0: {0: Cell("x", CellStyle(borders="t")), 1: Cell(None, CellStyle(borders="tR"))}, 1: {1: Cell("y")}}
    sheet = Sheet("S", rows, (Area(0, 0, 0, 1),))

    [piece] = next(SheetLayout.of(sheet).layout_rows()).cells
    assert piece.cell.style.borders == "tR"


def test_ods(job):
    source = write_ods(BOOK, job)

    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        assert archive.infolist()[0].filename == "mimetype"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
        for name in archive.namelist()[1:]:
            ElementTree.fromstring(archive.read(name))
        assert b'table:formula="of:=[.A2]*3"' in archive.read("content.xml")
    rows = CalamineWorkbook.from_filelike(io.BytesIO(source)).get_sheet_by_name("My data").to_python()
    assert rows[0][:3] == ["Name", "Größe 日本語 😀", "=1+1"]
    assert rows[1][0] == 1.5
    assert rows[1][2] == date(2024, 2, 29)
    assert rows[3][:2] == [4.5, "two\nlines"]


@pytest.mark.parametrize("write,read", [(write_xlsx, read_xlsx.read), (write_ods, read_ods.read)])
def test_written_workbooks_are_read_again(job, write, read):
    def facts(sheet):
        cells = [(row, column, cell.value, cell.formula, cell.link) for row, column, cell in sheet.cells()]
        return cells, sheet.name, sheet.merges, sheet.widths, sheet.hidden

    again = read(write(BOOK, job), job)

    assert [facts(sheet) for sheet in again.sheets] == [facts(sheet) for sheet in BOOK.sheets]


@pytest.mark.spec("A7-03")
@pytest.mark.parametrize("write,delimiter", [(write_csv, ","), (write_tsv, "\t")])
def test_csv_and_tsv_hold_the_first_sheet(job, write, delimiter):
    text = write(BOOK, job).decode("utf-8")

    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert rows[0][:3] == ["Name", "Größe 日本語 😀", "'=1+1"]
    assert rows[1] == ["1.5", "TRUE", "2024-02-29", "2024-01-02 03:04:05", "09:30:00", "30:00:00", "#N/A", "0.125"]
    assert rows[2] == [""] * 8
    assert rows[3][:4] == ["4.5", "two\nlines", "", "web"]
    assert "second" not in text
    assert text.endswith("\r\n")
    assert write(Workbook(LOOKS.sheets[1:]), job) == f"x{delimiter}{delimiter}y\r\n".encode()  # a look adds nothing


@pytest.mark.parametrize(
    "text", ["=1+1", "\t=1+1", "\r=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|'x'!A0", "＝1+1", "-A1", " =1"]
)
def test_formula_like_text_gets_an_apostrophe_and_loses_it_again(job, text):
    workbook = Workbook((Sheet(rows={0: {0: Cell("x"), 1: Cell(text)}}),))

    source = write_csv(workbook, job)

    assert next(csv.reader(io.StringIO(source.decode(), newline="")))[1] == f"'{text}"
    assert delimited.read_csv(source, job).sheets[0].rows[0][1].value == text


@pytest.mark.parametrize("value", ["+49 (30) 123-45", "-5", "-", "@name", "a=b", -3, -1.5, "'tis"])
def test_other_values_get_no_apostrophe(job, value):
    assert write_tsv(Workbook((Sheet(rows={0: {0: Cell(value)}}),)), job).decode() == f"{value}\r\n"


class Page(HTMLParser):
    """Collects the texts of table cells, and the tags."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data):
        if self.cells and self.lasttag != "th":
            self.cells[-1] += data.strip("\n") if data.strip() else ""


def test_zipped_html(job):
    workbook = replace(BOOK, sheets=(*BOOK.sheets, Sheet("<b>&", {0: {0: Cell("<script>alert(1)</script>")}})))

    with zipfile.ZipFile(io.BytesIO(write_html(workbook, job))) as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}

    assert list(pages) == ["My data.html", "Other.html", "_b__.html", "resources/sheet.css"]
    page = Page(pages["My data.html"])
    assert page.cells[:3] == ["Name", "Größe 日本語 😀", "=1+1"]
    assert ("td", {"colspan": "2", "rowspan": "2"}) in page.tags
    assert "1.50" in page.cells
    assert "12.5%" in page.cells
    assert "script" not in [tag for tag, _ in Page(pages["_b__.html"]).tags]


@pytest.mark.parametrize("length", [1, 7, 14, 28])
def test_a_word_as_wide_as_its_column_is_not_broken(job, length):
    word = "x" * length
    workbook = Workbook((Sheet(rows={0: {0: Cell(word)}}),))

    text = pdf_pages(workbook, job)[0].extract_text()

    assert word in text.splitlines()


def test_pdf(job):
    pages = pdf_pages(BOOK, job)

    text = pages[0].extract_text()
    for shown in ("My data", "Name", "1.50", "TRUE", "2024-02-29", "12.5%", "30:00:00", "#N/A", "4.5"):
        assert shown in text
    assert "second" in pages[1].extract_text()


def test_text_is_never_code_in_a_pdf(job):
    texts = ['#read("data.json")', "$x$", "*b*", "\\", "#panic()", "```", "<label>", '"]#']
    workbook = Workbook((Sheet("#let x = 1", {row: {0: Cell(text)} for row, text in enumerate(texts)}),))

    page_text = pdf_pages(workbook, job)[0].extract_text()

    assert all(text in page_text for text in texts)


def test_too_many_cells_for_a_pdf(job):
    with pytest.raises(TooLarge, match="more than 5 cells"):
        write_pdf(BOOK, replace(job, limits=JobLimits(pdf_cells=5)))


@pytest.mark.parametrize("write", WRITERS)
def test_unusual_workbooks_are_written_and_a_whole_sheet_costs_nothing(job, write):
    controls = Workbook((Sheet(rows={0: {0: Cell("a\x00\x0b\x1f\ufffeb\ud800")}}),))

    assert isinstance(write(Workbook(), job), bytes)
    assert write(controls, job)
    assert write(BOOK, job) == write(BOOK, job)
    assert len(write(FAR, job)) < 3_000_000
    assert len(write(MERGED, job)) < 100_000


@pytest.mark.parametrize("write", [write_html, write_ods])
@pytest.mark.parametrize("year", [1970, 2110])
def test_a_year_outside_the_range_of_zip_is_clamped(job, write, year):
    made = write(Workbook(), replace(job, now=datetime(year, 1, 1, tzinfo=UTC)))

    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {min(max(year, 1980), 2107)}


def test_a_text_that_is_too_long_for_excel_is_cut_with_a_note_and_an_early_date_is_text(job):
    book = Workbook((Sheet(rows={0: {0: Cell("x" * 40_000), 1: Cell(date(1815, 12, 10))}}),))

    [[cut, early]] = openpyxl.load_workbook(io.BytesIO(write_xlsx(book, job))).active.rows

    assert (len(cut.value), early.value) == (32_766, "1815-12-10")
    assert job.notes
