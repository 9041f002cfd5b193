"""Formulas: which are kept, how they are converted, and number formats."""

# ruff: noqa: DTZ001  a spreadsheet knows no time zones
from __future__ import annotations

import os
import signal
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.convert.job import JobLimits
from svc_notebooks.convert.spreadsheet.date_serial import from_serial, to_serial
from svc_notebooks.convert.spreadsheet.formula import calculate
from svc_notebooks.convert.spreadsheet.formula.calculate import with_calculated_values
from svc_notebooks.convert.spreadsheet.formula.openformula import from_openformula, to_openformula
from svc_notebooks.convert.spreadsheet.formula.tokens import is_safe_formula, sanitize, shift, tokens
from svc_notebooks.convert.spreadsheet.model import Cell, CellStyle, ErrorValue, Sheet, Workbook
from svc_notebooks.convert.spreadsheet.number_format import format_cell
from svc_notebooks.convert.spreadsheet.ods.number_formats import from_element, to_element


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
        "SUM(A1:B2)",
        "'My data'!A1&\"cmd|'/C calc'!A0\"",
        'HYPERLINK("https://x.org/"&A1,"x")',
        "{1,2;3,4}",
        "Data!A:A",
        "A1%",
    ],
)
def test_other_formulas_are_kept(formula):
    assert is_safe_formula(formula)


@pytest.mark.parametrize(
    "formula,open_formula",
    [
        ("A1+$B$2", "of:=[.A1]+[.$B$2]"),
        ("SUM(A1:B2,3)", "of:=SUM([.A1:.B2];3)"),
        ("Data!A1", "of:=[$Data.A1]"),
        ("'It''s'!A1:B2", "of:=[$'It''s'.A1:.B2]"),
        ("SUM(A:A)", "of:=SUM([.A:.A])"),
        ("SUM({1,2;3,4})", "of:=SUM({1;2|3;4})"),
        ('IF(A1="a;b,c",1,2)', 'of:=IF([.A1]="a;b,c";1;2)'),
        ("_xlfn.CONCAT(A1)", "of:=COM.MICROSOFT.CONCAT([.A1])"),
        ("_xlfn.XOR(A1)", "of:=XOR([.A1])"),
        ("LOG10(A1)", "of:=LOG10([.A1])"),
    ],
)
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
    names = {"number": "datastyle", "style": "style"}
    spaces = (f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for key, name in names.items())
    [element] = ElementTree.fromstring(f"<x {' '.join(spaces)}>{to_element(format, 'N1')}</x>")

    assert from_element(element) == format


@given(st.text(max_size=20), st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.dates(), st.timedeltas()))
def test_strange_formats_do_not_fail(format, value):
    assert isinstance(format_cell(Cell(value, CellStyle(format))), str)


@pytest.mark.parametrize("value", [5, 0.5, -1e300, 1e-300])
@pytest.mark.parametrize("mark", [",", "%"])
def test_formats_that_scale_beyond_all_numbers_do_not_fail(value, mark):
    assert isinstance(format_cell(Cell(value, CellStyle("0" + mark * 250))), str)


def book(*formulas):
    return Workbook((Sheet(rows={row: {0: Cell(None, formula=text)} for row, text in enumerate(formulas)}),))


def values_of(workbook):
    return [cell.value for _, _, cell in workbook.sheets[0].cells()]


@pytest.mark.parametrize("bomb", ["(" * 4000 + "1" + ")" * 4000, "ABS(" * 900 + "1" + ")" * 900, 'REPT("x",1E9)', "A1"])
def test_a_formula_bomb_affects_only_itself(job, bomb):
    assert values_of(with_calculated_values(book(bomb, "1+1"), job))[1] == 2


def test_a_long_chain_of_formulas(job):
    assert values_of(with_calculated_values(book("1", *(f"A{row}+1" for row in range(1, 3000))), job))[-1] == 3000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the engine runs in this process")
def test_a_calculation_that_does_not_end_is_left_out(job, monkeypatch):
    monkeypatch.setattr(calculate, "_compute", lambda workbook, now: signal.pause())

    calculated = with_calculated_values(book("1+1"), replace(job, limits=JobLimits(seconds=0.1)))

    assert values_of(calculated) == [None]


def test_functions_that_the_engine_refuses_for_texts_get_no_value_and_a_note(job):
    calculated = with_calculated_values(book('EDATE("2008-10-15",2)', "A1+1", "1/0", "2+3"), job)

    assert values_of(calculated) == [None, None, ErrorValue("#DIV/0!"), 5]
    assert job.notes == ["Some formulas without a stored value could not be computed and are shown as text."]


@pytest.mark.parametrize(
    "formula",
    [
        "IFERROR(A1,7)",
        "COUNT(A1:A1)",
        'IFERROR(EDATE("2008-10-15",2),7)',
        'IF(ISNUMBER(EDATE("2008-10-15",2)),1,2)',
        "IFERROR(UNKNOWN(1),7)",
        "IFERROR(UNKNOWN,7)",
        "SUMPRODUCT(--ISNUMBER(B1:B3))",
        'COUNTIF(B1:B3,"#DIV/0!")',
        "XIRR({-10,12},{1,366})",
        "SUM(A1:INDEX(B:B,3))",
        "MULTINOMIAL(2,3)+1",
    ],
)
def test_a_formula_that_depends_on_an_error_of_the_engine_gets_no_value(job, formula):
    workbook = book('EDATE("2008-10-15",2)', formula, "A2", "IF(TRUE,1,A3)", "1+1")

    assert values_of(with_calculated_values(workbook, job)) == [None, None, None, None, 2]


@pytest.mark.parametrize(
    "formula, value",
    [
        ("IFERROR(1/0,7)", 7),
        ("IFERROR(A3,7)", 7),
        ('ISNUMBER(SEARCH("x","abc"))', False),
        ('FIND("x","abc")', ErrorValue("#VALUE!")),
        ("IFERROR(MATCH(9,B1:B3,0),-1)", -1),
        ("IFNA(VLOOKUP(9,B1:C3,2,0)&1,3)", 3),
        ("COUNT(A3:A4,1)", 2),
    ],
)
def test_an_error_that_spreadsheet_programs_give_too_is_caught(job, formula, value):
    workbook = book('EDATE("2008-10-15",2)', formula, "1/0", "5")

    assert values_of(with_calculated_values(workbook, job))[1] == value


@pytest.mark.parametrize(
    "formula, value",
    [
        ("CEILING(2.5,1)", 3),
        ("CEILING(-2.5,2)", -2),
        ("CEILING(1.5,0.1)", 1.5),
        ("CEILING(0.234,0.01)", 0.24),
        ("CEILING.MATH(24.3,5)", 25),
        ("CEILING.MATH(6.7)", 7),
        ("CEILING.MATH(-8.1,2)", -8),
        ("CEILING.PRECISE(-4.3)", -4),
        ("FLOOR(3.7,2)", 2),
        ("FLOOR(1.58,0.1)", 1.5),
        ("FLOOR.MATH(-8.1,2)", -10),
        ("FLOOR.PRECISE(-3.2,1)", -4),
        ("MROUND(10,3)", 9),
        ("MROUND(-10,-3)", -9),
        ("MROUND(5,-2)", ErrorValue("#NUM!")),
        ("YEAR(0)", 1900),
        ("DAY(60)", 29),
        ("WEEKDAY(1)", 1),
        ("DATE(108,1,2)", date(2008, 1, 2)),
        ('DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"D")', 440),
        ("ISOWEEKNUM(DATE(2012,3,9))", 10),
        ("WORKDAY(DATE(2008,10,1),151)", 39_933),
        ("EOMONTH(DATE(2011,1,1),1)", 40_602),
    ],
)
def test_results_that_excel_documents(job, formula, value):
    assert values_of(with_calculated_values(book(formula), job)) == [value]


@pytest.mark.parametrize(
    "formula",
    [
        "CEILING(-2.5,-2)",  # -4
        "CEILING(2.5,-2)",  # #NUM!
        "CEILING(5,0)",  # 0
        "CEILING(4.2,0.7)",  # 4.2
        "CEILING.MATH(5,0)",  # 0
        "CEILING.MATH(-5.5,2,-1)",  # -6
        "FLOOR(-2.5,-2)",  # -2
        "FLOOR(0.3,B9)",  # #DIV/0!
        "FLOOR(0.3,0.1)",  # 0.3
        "SUMPRODUCT(FLOOR({5,0.3},0.1))",  # 5.3
        "DATE(1900,2,29)",  # 60
        "DATE(1900,2,28)+1",  # 60
        "DATE(0,2,29)-0.5",  # 59.5
        "DATE(1900,3,1)-1",  # 60
        "DAYS(61,1)",  # 60
        'DATEDIF(1,61,"d")',  # 60
        'DATEDIF(B9,61,"d")',  # 61
        "EOMONTH(1,1)",  # 60
        "EOMONTH(61,-1)",  # 60
        "EDATE(31,1)",  # 60
        "WORKDAY(1,10)",  # 13
        "ISOWEEKNUM(1)",  # 52
    ],
)
def test_a_formula_that_excel_calculates_differently_gets_no_value(job, formula):
    assert values_of(with_calculated_values(book(formula), job)) == [None]


def test_a_calculated_date_in_a_cell_with_a_format_of_numbers_is_a_number(job):
    formats = ("", "0.00", "yyyy")
    cells = {index: Cell(None, CellStyle(it), formula="DATE(2024,1,2)-1") for index, it in enumerate(formats)}

    calculated = with_calculated_values(Workbook((Sheet(rows={0: cells}),)), job)

    assert values_of(calculated) == [date(2024, 1, 1), 45_292, date(2024, 1, 1)]


@pytest.mark.parametrize("result", [float("nan"), float("inf")])
def test_a_result_that_is_not_finite_is_no_value(result):
    assert calculate._encode_result(result, "1") == []


def test_a_far_cell_prevents_calculation(job):
    far = {0: {0: Cell(None, formula="XFD1048576")}, 1_048_575: {16_383: Cell(1)}}

    assert with_calculated_values(Workbook((Sheet(rows=far),)), job).sheets[0].rows[0][0].display_value == "=XFD1048576"
