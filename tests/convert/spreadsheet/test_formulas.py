# ruff: noqa: DTZ001  a spreadsheet knows no time zones
from datetime import date, datetime, time, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, strategies as st

from svc_notebooks.convert.spreadsheet.cell_texts import format_cell
from svc_notebooks.convert.spreadsheet.format_code import from_serial, to_serial
from svc_notebooks.convert.spreadsheet.formulas import (
    from_openformula,
    is_safe_formula,
    sanitize,
    shift,
    to_openformula,
    tokens,
    with_calculated_values,
)
from svc_notebooks.convert.spreadsheet.model import Cell, CellStyle, ErrorValue, Sheet, Workbook
from svc_notebooks.convert.spreadsheet.ods.read import from_element
from svc_notebooks.convert.spreadsheet.ods.write import to_element
from tests.convert.sources import ODF_SPACES


@pytest.mark.parametrize(
    "formula",
    [
        "cmd|'/C calc'!A0",
        'WEBSERVICE("http://x")',
        '_xlfn.WEBSERVICE ("http://x")',
        "[1]Sheet1!A1",
        "'C:\\dir\\[book.xlsx]S'!A1",
        "'file:///etc/passwd'#$S.A1",
        'CALL("kernel32","x")',
        'REGISTER.ID("a","b")',
        'EXEC("calc")',
        'IMPORTXML("http://x","//a")',
        'HYPERLINK("file:///etc/passwd","x")',
        'HYPERLINK("javascript:alert(1)")',
        "HYPERLINK(A1)",
        '1+HYPERLINK("smb://x/y")',
        "_xll.ADDIN(1)",
        "Table1[[#This Row],[a]]",
        'DDE("soffice","x","y")',
        'RTD("x",,"y")',
        '"never closed',
        "1+" * 5000 + "1",
    ],
)
def test_formulas_with_external_access_are_removed(job, formula):
    assert not is_safe_formula(formula)
    assert sanitize(5, formula, job) == (5, None)
    assert job.notes


@pytest.mark.parametrize(
    "formula",
    [
        "SUM(A1:B2)", "'My data'!A1&\"cmd|'/C calc'!A0\"", 'HYPERLINK("https://x.org/"&A1,"x")', "{1,2;3,4}",
        "Data!A:A", "A1%",
    ],
)  # fmt: skip
def test_other_formulas_are_kept(formula):
    assert is_safe_formula(formula)


@pytest.mark.parametrize(
    "formula,open_formula",
    [
        ("A1+$B$2", "of:=[.A1]+[.$B$2]"), ("SUM(A1:B2,3)", "of:=SUM([.A1:.B2];3)"), ("Data!A1", "of:=[$Data.A1]"),
        ("'It''s'!A1:B2", "of:=[$'It''s'.A1:.B2]"), ("SUM(A:A)", "of:=SUM([.A:.A])"),
        ("SUM({1,2;3,4})", "of:=SUM({1;2|3;4})"), ('IF(A1="a;b,c",1,2)', 'of:=IF([.A1]="a;b,c";1;2)'),
        ("_xlfn.CONCAT(A1)", "of:=COM.MICROSOFT.CONCAT([.A1])"), ("_xlfn.XOR(A1)", "of:=XOR([.A1])"),
        ("LOG10(A1)", "of:=LOG10([.A1])"),
    ],
)  # fmt: skip
def test_formulas_in_both_notations(formula, open_formula):
    assert to_openformula(formula) == open_formula
    assert from_openformula(open_formula) == formula


@pytest.mark.parametrize("formula", ["of:='file:///x.ods'#$S.A1", "of:=['file:///x.ods'#$S.A1]", "basic:=Foo()"])
def test_formulas_with_other_files_are_not_converted(formula, job):
    converted = from_openformula(formula)
    assert converted is None or not is_safe_formula(converted)


@given(st.text(max_size=60))
def test_tokens_join_to_the_formula(formula):
    assert "".join(token.text for token in tokens(formula)) == formula


@pytest.mark.parametrize("text", ["['" * 4000, "'" * 8001, '"' * 8001, "[" * 8000, "(" * 8000, "['']" * 2000 + "'"])
def test_hostile_formulas_are_checked_quickly(text):
    is_safe_formula(text)
    from_openformula(f"of:={text}")


def test_references_shifted_off_the_sheet():
    assert shift("A1", -1, 0) == "#REF!"
    assert shift("$A$1:1:1", 5, 5) == "$A$1:6:6"


@given(st.integers(1, 2_900_000))
def test_dates_and_serial_numbers(number):
    if number != 60:  # the 29th of February 1900, which only Excel has
        value = from_serial(number, "yyyy-mm-dd")
        assert isinstance(value, date)
        assert to_serial(value) == number


@given(st.datetimes(datetime(1900, 3, 1), datetime(9000, 1, 1)))
def test_times_and_serial_numbers(moment):
    value = from_serial(to_serial(moment), "yyyy-mm-dd hh:mm:ss")
    assert abs(value - moment) <= timedelta(milliseconds=1)


@pytest.mark.parametrize("number, since_1904", [(2_958_465.9999999995, False), (2_957_004, True)])
def test_a_number_beyond_the_last_date_stays_a_number(number, since_1904):
    assert from_serial(number, "yyyy-mm-dd hh:mm", since_1904=since_1904) == number


@pytest.mark.parametrize(
    "value,format,text",
    [
        (1234.567, "#,##0.00", "1,234.57"),
        (-5, "#,##0;(#,##0)", "(5)"),
        (-5, "0.0", "-5.0"),
        (-0.001, "0.0", "0.0"),
        (0, '0;-0;"zero"', "zero"),
        (0.256, "0%", "26%"),
        (12345, "0.00E+00", "1.23E+04"),
        (5, "[$€-407] 0.00", "€ 5.00"),
        (1500000, '0.0,,"M"', "1.5M"),
        (7, "000", "007"),
        (0.5, "#.##", ".5"),
        (0.1 + 0.2, "", "0.3"),
        (date(2024, 3, 5), "d mmmm yyyy", "5 March 2024"),
        (date(2024, 3, 5), "dd/mm/yy", "05/03/24"),
        (datetime(2024, 3, 5, 15, 4, 5), "h:mm AM/PM", "3:04 PM"),
        (datetime(2024, 3, 5, 15, 4, 5), "mm:ss", "04:05"),
        (time(9, 5), "", "09:05:00"),
        (timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
        (True, "", "TRUE"),
        ("text", "@", "text"),
        ("text", '0;-0;0;"a "@', "a text"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (0.145, "0%", "15%"),
        (123456, "##0.0E+0", "123.5E+3"),
        (999960, "##0.0E+0", "1.0E+6"),
        (3.25, "# ?/?", "3 1/4"),
        (-0.3333, "# ?/8", "- 3/8"),
        (0.97, "# ?/?", "1 "),
        (1.5, "?/?", "3/2"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (1234, '0"."00', "12.34"),
        (1234.5, "[>=1000]0.0,;0", "1.2"),
        (5, "[<1]0.00;0", "5"),
        (-5, "[<1]0.0;0", "-5.0"),
        (timedelta(minutes=90), "[mm]:ss", "90:00"),
    ],
)
def test_number_formats(value, format, text):
    assert format_cell(Cell(value, CellStyle(format))) == text


@pytest.mark.parametrize(
    "format",
    [
        "# ??/??",
        "?/?",
        "# ?/8",
        "#,##0.0,,",
        "0.00E+00",
        "##0.0E+0",
        '000"-"00"-"0000',
        "mm:ss.0",
        "[h]:mm",
        "d. mmm yy",
    ],
)
def test_formats_in_both_notations(format):
    [element] = ElementTree.fromstring(f"<x {ODF_SPACES}>{to_element(format, 'N1')}</x>")

    assert from_element(element) == format


@given(st.text(max_size=20), st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.dates(), st.timedeltas()))
@example("0" + "," * 250, -1e300)
@example("0" + "," * 250, 1e-300)
@example("0" + "%" * 250, -1e300)
@example("0" + "%" * 250, 5)
def test_strange_formats_do_not_fail(format, value):
    assert isinstance(format_cell(Cell(value, CellStyle(format))), str)


def calculated(formulas, job, numbers=()):
    """Return the values of formulas in the first column, beside numbers in the second."""
    rows = {row: {0: Cell(None, formula=text)} for row, text in enumerate(formulas)}
    for row, number in enumerate(numbers):
        rows.setdefault(row, {})[1] = Cell(number)
    cells = with_calculated_values(Workbook((Sheet(rows=rows),)), job).sheets[0].cells()
    return [cell.value for _, column, cell in cells if column == 0]


@pytest.mark.parametrize(
    "formulas, values",
    [
        (["SUM(B1:B3)*2", "A1/3", "IF(A2>1,ROUND(A2,1),0)"], [15, 5, 5.0]),
        (["1/0", "A1+1", "2+3"], [ErrorValue("#DIV/0!"), ErrorValue("#DIV/0!"), 5]),
        (["AVERAGE(B1:B3)", "COUNT(B1:B3)", "VLOOKUP(2.5,B1:B3,1,FALSE)", "TRUE"], [2.5, 3, 2.5, True]),
    ],
)
def test_simple_formulas_without_a_value_are_calculated(job, formulas, values):
    assert calculated(formulas, job, (1.5, 2.5, 3.5)) == values
    assert not job.notes


@pytest.mark.parametrize(
    "formula",
    [
        "(" * 4000 + "1" + ")" * 4000,
        "ABS(" * 900 + "1" + ")" * 900,
        'REPT("x",1E9)',
        "A1",
        "A2&A2",
        "B1:B3*2",
        "IFERROR(A2,7)",
        "EOMONTH(1,1)",  # 60 in Excel
        "CEILING(4.2,0.7)",  # 4.2 in Excel
        "UNKNOWN",
        "SUM(A2:INDEX(B:B,3))",
        "OFFSET(A2,0,0)",
        "DATE(1900,2,28)+1",  # 60 in Excel
        "DATE(0,2,29)",
    ],
)
def test_a_formula_that_is_not_simple_leaves_all_formulas_as_text(job, formula):
    note = "Formulas without a stored value are shown as text, since not all of them could be calculated."

    assert calculated([formula, "1+1"], job) == [None, None]
    assert job.notes == [note]


def test_a_long_chain_of_formulas(job):
    assert calculated(["1", *(f"A{row}+1" for row in range(1, 3000))], job)[-1] == 3000


def test_a_calculated_date_in_a_cell_with_a_format_of_numbers_is_a_number(job):
    formats = ("", "0.00", "yyyy")
    cells = {index: Cell(None, CellStyle(it), formula="A2+1") for index, it in enumerate(formats)}
    rows = {0: cells, 1: {0: Cell(date(2023, 12, 31))}}

    [sheet] = with_calculated_values(Workbook((Sheet(rows=rows),)), job).sheets

    assert [cell.value for cell in sheet.rows[0].values()] == [date(2024, 1, 1), 45_292, date(2024, 1, 1)]


def test_a_far_cell_prevents_calculation(job):
    far = {0: {0: Cell(None, formula="XFD1048576")}, 1_048_575: {16_383: Cell(1)}}

    assert with_calculated_values(Workbook((Sheet(rows=far),)), job).sheets[0].rows[0][0].display_value == "=XFD1048576"
