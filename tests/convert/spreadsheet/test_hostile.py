import html
import time
from contextlib import closing

import pytest

from svc_notebooks.convert.job import JobLimits, TooLarge
from svc_notebooks.convert.pool.converter import Converter
from svc_notebooks.convert.spreadsheet import delimited
from svc_notebooks.convert.spreadsheet.model import Cell, Workbook
from svc_notebooks.convert.spreadsheet.ods import read as read_ods
from svc_notebooks.convert.spreadsheet.xlsx import read as read_xlsx
from svc_notebooks.core.http import media_types
from tests.convert.spreadsheet.test_read import open_document, package

pytestmark = pytest.mark.spec("A5-02")


def xlsx(inside):
    return package(sheet=inside)


REPEATED = 'office:value-type="float" office:value="7" table:number-columns-repeated="16384"'
NESTED = "<text:p>" * 50_000 + "x" + "</text:p>" * 50_000


@pytest.mark.parametrize(
    "repeated, cell, limit",
    [
        ('table:number-rows-repeated="1048576"', f"<table:table-cell {REPEATED}/>", None),
        ("", f'<table:table-cell office:value-type="string">{NESTED}</table:table-cell>', "nested"),
    ],
    ids=["repeated rows and columns", "paragraphs in paragraphs"],
)
def test_tables_without_end_are_refused(job, repeated, cell, limit):
    table = f'<table:table table:name="T"><table:table-row {repeated}>{cell}</table:table-row></table:table>'

    with pytest.raises(TooLarge, match=limit):
        read_ods.read(open_document(table), job)


def test_thousands_of_merged_areas(job):
    merges = "".join(f'<mergeCell ref="A{row}:XFD{row + 1}"/>' for row in range(1, 60_000, 2))

    assert read_xlsx.read(xlsx(f"<sheetData/><mergeCells>{merges}</mergeCells>"), job).sheets[0].merges


def test_too_many_columns_or_rows_are_refused(job, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_ROWS", 1000)
    with pytest.raises(TooLarge):
        delimited.read_csv(b"1\n" * 1001, job)

    # A line that is too wide is refused before its fields: five million fields took most of a minute.
    monkeypatch.setattr(delimited, "parse_cell", lambda *_, **__: pytest.fail("a field was looked at"))
    with pytest.raises(TooLarge):
        delimited.read_csv(b"1," * 20_000, job)


@pytest.mark.parametrize(
    "source",
    [b"x" * 3_000_000, b"\0" * 1_000_000 + b"a,b", b'"' * 1_000_001, b'a,"b\n' * 100_000, b"\xff\xfe" * 500_000],
)
def test_text_without_a_table(job, source):
    began = time.process_time()
    assert isinstance(delimited.read_csv(source, job), Workbook)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("place", ["ZZZZ1", "A99999999999", "A0", "1A"])
def test_cells_with_a_damaged_address_are_kept_behind_the_others(job, place):
    cells = f'<c r="B1"><v>1</v></c><c r="{place}"><v>2</v></c>'

    [sheet] = read_xlsx.read(xlsx(f'<sheetData><row r="1">{cells}</row></sheetData>'), job).sheets

    assert sheet.rows == {0: {1: Cell(1), 2: Cell(2)}}
    assert job.notes == ["Cells with a damaged address were kept behind the cell before them."]


def test_in_a_worker_a_formula_bomb_affects_only_formulas():
    doubling = ['REPT("x",30000)', *(f"{chr(64 + column)}1&{chr(64 + column)}1" for column in range(1, 26))]
    cells = "".join(f"<c><f>{html.escape(formula)}</f></c>" for formula in doubling)
    with closing(Converter(JobLimits(memory=1024 * 1024 * 1024))) as converter:
        source = xlsx(f"<sheetData><row>{cells}</row></sheetData>")
        body = converter.read(source, media_types.XLSX, "spreadsheet").body
        text = converter.write(body, "spreadsheet", media_types.CSV).body

    assert len(Workbook.unpack(body).sheets[0].rows[0]) == 26
    assert text


def test_in_a_worker_a_far_cell_costs_nothing(converter):
    source = xlsx(
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><f>SUM(B2:XFD1048576)</f></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData>'
    )

    body = converter.read(source, media_types.XLSX, "spreadsheet").body
    sizes = [len(converter.write(body, "spreadsheet", kind).body) for kind in converter.exports["spreadsheet"]]

    assert max(sizes) < 3_000_000
