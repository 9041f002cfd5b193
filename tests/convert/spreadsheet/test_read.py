# ruff: noqa: DTZ001  a spreadsheet knows no time zones
import io
from dataclasses import replace
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest
import xlsxwriter
from openpyxl.styles import Font

from svc_notebooks.convert.job import ConversionError, JobLimits, TooLarge
from svc_notebooks.convert.spreadsheet import delimited, xls
from svc_notebooks.convert.spreadsheet.model import (
    DEFAULT_STYLE,
    STACKED,
    Area,
    Cell,
    CellStyle,
    ErrorValue,
    Sheet,
    Workbook,
)
from svc_notebooks.convert.spreadsheet.ods import read as read_ods
from svc_notebooks.convert.spreadsheet.xlsx import read as read_xlsx
from tests.convert import sources

pytestmark = pytest.mark.spec("A5-01")


def by_openpyxl(fill):
    book = openpyxl.Workbook()
    fill(book.active)
    return sources.saved(book)


def by_xlsxwriter(fill, options=None):
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True, **(options or {})})
    fill(book, book.add_worksheet("Data"))
    book.close()
    return target.getvalue()


def package(*, main="http://schemas.openxmlformats.org/spreadsheetml/2006/main", **parts):
    """Return a workbook written by hand with `sheet` as the content of its worksheet element."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    if "purl" in main:
        office = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    files = {
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="a" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        f'<sheet name="S" sheetId="1" r:id="r1"/></sheets>{parts.get("book", "")}</workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" '
        f'Type="{office}/styles" Target="styles.xml"/><Relationship Id="r3" '
        f'Type="{office}/theme" Target="theme.xml"/></Relationships>',
        "xl/theme.xml": parts.get("theme", "<theme/>"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}">{parts["sheet"]}</worksheet>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{parts.get("styles", "")}</styleSheet>',
    }
    return sources.zipped({name: parts.get("head", "") + text for name, text in files.items()})


THEME = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:themeElements><a:clrScheme>'
    '<a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1><a:lt1><a:srgbClr val="FFFFFF"/></a:lt1>'
    '<a:dk2><a:srgbClr val="111111"/></a:dk2><a:lt2><a:srgbClr val="EEEEEE"/></a:lt2>'
    '<a:accent1><a:srgbClr val="0000FF"/></a:accent1></a:clrScheme></a:themeElements></a:theme>'
)


def open_document(body, styles=""):
    content = (
        f"<office:document-content {sources.ODF_SPACES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>{body}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    return sources.zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def first(workbook):
    return {(row, column): cell for row, column, cell in workbook.sheets[0].cells()}


def values(workbook):
    return [[cell.value for cell in cells.values()] for cells in workbook.sheets[0].rows.values()]


# --- xlsx


def test_each_kind_of_value(job):
    def fill(sheet):
        sheet.append(["text", 1, 2.5, True, date(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5), time(9, 30), "#N/A"])
        sheet["I1"] = timedelta(hours=30)
        sheet["J1"], sheet["J1"].number_format = 0.125, "0.0%"
        sheet["K1"], sheet["K1"].font = "bold", Font(bold=True)
        sheet["L1"], sheet["L1"].hyperlink = "web", "https://example.org/"

    cells = first(read_xlsx.read(by_openpyxl(fill), job))

    moments = [date(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5), time(9, 30)]
    values = [cells[0, column].value for column in range(9)]
    assert values == ["text", 1, 2.5, True, *moments, ErrorValue("#N/A"), timedelta(hours=30)]
    assert cells[0, 9] == Cell(0.125, CellStyle("0.0%"))
    assert cells[0, 10] == Cell("bold", CellStyle("", bold=True))
    assert cells[0, 11].link == "https://example.org/"


def test_formulas_with_their_last_values(job):
    def fill(book, sheet):
        sheet.write_formula("A1", "=1+2", None, 3)
        sheet.write_formula("A2", '=CONCAT("a","b")', None, "ab")
        sheet.write_array_formula("A3:A4", "{=B1:B2*2}", None, 8)
        sheet.write_formula("A5", "=1/0", None, "#DIV/0!")

    cells = first(read_xlsx.read(by_xlsxwriter(fill, {"use_future_functions": True}), job))

    assert cells[0, 0] == Cell(3, formula="1+2")
    assert cells[1, 0] == Cell("ab", formula='_xlfn.CONCAT("a","b")')
    assert cells[2, 0] == Cell(8, formula="B1:B2*2", array=(2, 1))
    assert cells[4, 0] == Cell(ErrorValue("#DIV/0!"), formula="1/0")


def test_formulas_without_values_are_computed(job):
    def fill(sheet):
        sheet.append([2, 3, "=A1*B1", "=SUM(A1:C1)", "=DATE(2024,1,2)+A1", '=IF(A1>1,"yes","no")', "=1/0", "=A1=2"])

    cells = first(read_xlsx.read(by_openpyxl(fill), job))

    values = [cells[0, column].value for column in range(2, 8)]
    assert values == [6, 11, date(2024, 1, 4), "yes", ErrorValue("#DIV/0!"), True]
    assert cells[0, 2].formula == "A1*B1"


def test_merges_widths_and_hidden_sheets(job):
    def fill(book, sheet):
        sheet.merge_range("B2:C3", "both")
        sheet.set_column(0, 0, 20)
        sheet.write("A1", 1)
        book.add_worksheet("Secret").hide()

    data, secret = read_xlsx.read(by_xlsxwriter(fill), job).sheets

    assert data.merges == (Area(1, 1, 2, 2),)
    assert data.widths == {0: 20.0}
    assert (data.name, data.hidden, secret.name, secret.hidden) == ("Data", False, "Secret", True)


def in_1904(book, sheet):
    sheet.write_datetime("A1", datetime(2024, 5, 6), book.add_format({"num_format": "d/m/yy"}))


def rich_text(book, sheet):
    sheet.write_rich_string("A1", "plain ", book.add_format({"bold": True}), "bold", " end")


OTHER_BOOK = '<workbookPr date1904="1"/><extLst><ext><x:workbookPr xmlns:x="urn:x15" date1904="0"/></ext></extLst>'
OTHER_ROWS = (
    '<sheetData><x:row xmlns:x="urn:x" r="9"/><row r="1"><c r="A1" s="1"><x:v xmlns:x="urn:x">7</x:v><v>0</v></c></row>'
    "</sheetData>"
)
ONE_CELL = '<sheetData><row r="1"><c><v>45292</v></c></row></sheetData>'


@pytest.mark.parametrize(
    "source, value",
    [
        (by_xlsxwriter(in_1904, {"date_1904": True}), date(2024, 5, 6)),
        (by_xlsxwriter(rich_text), "plain bold end"),
        (package(book=OTHER_BOOK, sheet=OTHER_ROWS,
                 styles='<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'), date(1904, 1, 1)),
        *((package(sheet=ONE_CELL, styles=f'<cellXfs><xf numFmtId="{number}"/></cellXfs>'), value) for number, value
          in ((27, date(2024, 1, 1)), (33, datetime(2024, 1, 1)), (58, date(2024, 1, 1)))),
    ],
    ids=["calendar of 1904", "rich text", "elements of other namespaces", *(f"format {n}" for n in (27, 33, 58))],
)  # fmt: skip
def test_the_value_of_a_cell(source, value, job):
    assert values(read_xlsx.read(source, job)) == [[value]]


def test_colours_of_themes_and_palettes(job):
    styles = """<fonts><font><color theme="0"/></font><font><color indexed="10"/></font></fonts>
        <fills><fill><patternFill patternType="solid"><fgColor theme="4" tint="0.5"/></patternFill></fill>
        <fill><patternFill patternType="gray125"/></fill></fills>
        <borders><border><left/><right style="thin"/><top style="double"/></border></borders>
        <cellXfs><xf fontId="0" fillId="0" borderId="0"/><xf fontId="1" fillId="1" borderId="7"/></cellXfs>"""
    sheet = '<sheetData><row r="1"><c s=""><v>1</v></c><c s="1"><v>2</v></c></row></sheetData>'

    cells = first(read_xlsx.read(package(sheet=sheet, styles=styles, theme=THEME), job))

    assert cells[0, 0].style == CellStyle(color="#ffffff", background="#8080ff", borders="Tr")
    assert cells[0, 1].style == CellStyle(color="#ff0000")


def test_angles_of_texts(job):
    angles = ("45", "90", "135", "180", "255", "", "-1")
    styles = "".join(f'<xf><alignment textRotation="{angle}"/></xf>' for angle in angles)
    row = "".join(f'<c s="{index}"><v>1</v></c>' for index in range(len(angles)))
    source = package(sheet=f'<sheetData><row r="1">{row}</row></sheetData>', styles=f"<cellXfs>{styles}</cellXfs>")

    cells = first(read_xlsx.read(source, job))

    assert [cell.style.turn for cell in cells.values()] == [45, 90, -45, -90, STACKED, 0, 0]


@pytest.mark.parametrize(
    "look, turn",
    [
        ('rotation-angle="90"', 90), ('rotation-angle="315"', -45), ('rotation-angle="270deg"', -90),
        ('rotation-angle="180"', 0), ('rotation-angle="x"', 0), ('direction="ttb"', STACKED),
    ],
)  # fmt: skip
def test_angles_of_texts_in_ods(look, turn, job):
    properties = f"<style:table-cell-properties style:{look}/>"
    styles = f'<style:style style:name="ce1" style:family="table-cell">{properties}</style:style>'
    cell = ods_cell('table:style-name="ce1" office:value-type="float" office:value="1"')

    assert ods_values(job, cell, styles=styles) == {(0, 0): Cell(1, CellStyle(turn=turn))}


def test_empty_cells_with_a_look_are_kept_among_those_with_content(job):
    styles = """<borders><border/><border><left style="thin"/></border></borders>
        <cellXfs><xf/><xf borderId="1"/></cellXfs>"""
    rows = '<row r="1"><c r="A1" s="1"/><c r="B1"><v>1</v></c><c r="C1" s="1"/></row><row r="2"><c r="A2" s="1"/></row>'

    cells = first(read_xlsx.read(package(sheet=f"<sheetData>{rows}</sheetData>", styles=styles), job))

    assert cells == {(0, 0): Cell(None, CellStyle(borders="l")), (0, 1): Cell(1)}


def test_sheets_of_macros_are_left_out_with_a_note_and_lost_relationships_are_refused(job):
    source, name = package(sheet="<sheetData/>"), "xl/_rels/workbook.xml.rels"
    macros = sources.changed(source, name, (b"relationships/worksheet", b"relationships/xlMacrosheet"))

    assert read_xlsx.read(macros, job) == Workbook()
    assert job.notes == ["Sheets of charts, dialogs and macros were left out."]
    with pytest.raises(ConversionError, match="the relationships of the workbook are missing"):
        read_xlsx.read(sources.rezipped(source, {name: None}), job)


@pytest.mark.parametrize(
    "main", ["http://purl.oclc.org/ooxml/spreadsheetml/main", "http://schemas.microsoft.com/office/excel/2006/2"]
)
def test_strict_workbooks_and_those_of_excel_2007_beta(job, main):
    source = package(main=main, sheet='<sheetData><row r="3"><c r="B3"><v>5</v></c></row></sheetData>')

    assert first(read_xlsx.read(source, job)) == {(2, 1): Cell(5)}


def test_shared_formulas_inline_texts_and_cells_without_addresses(job):
    sheet = """<sheetData><row><c><v>1</v></c><c><f t="shared" ref="B1:B2" si="0">A1+$A$1</f><v>2</v></c></row>
        <row><c><v>5</v></c><c><f t="shared" si="0"/><v>6</v></c>
        <c t="inlineStr"><is><t>in_x000A_line</t></is></c></row>
        <row r="4"><c r="A4" t="d"><v>2024-01-02</v></c>
        <c t="inlineStr"><is><t>_x005F_x000A_</t></is></c></row></sheetData>"""

    cells = first(read_xlsx.read(package(sheet=sheet), job))

    assert cells[1, 1] == Cell(6, formula="A2+$A$1")
    assert cells[1, 2].value == "in\nline"
    assert cells[3, 0].value == date(2024, 1, 2)
    assert cells[3, 1].value == "_x000A_"


def test_defined_names_are_expanded(job):
    book = "<definedNames><definedName name='Rate'>S!$B$1</definedName></definedNames>"
    sheet = '<sheetData><row r="1"><c r="A1"><f>rate*2</f><v>8</v></c><c r="B1"><v>4</v></c></row></sheetData>'

    assert first(read_xlsx.read(package(sheet=sheet, book=book), job))[0, 0].formula == "(S!$B$1)*2"


# --- ods


def test_each_kind_of_value_of_an_open_document(job):
    styles = """<number:percentage-style style:name="N1"><number:number number:decimal-places="1"
        number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>
        <style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1">
        <style:text-properties fo:font-weight="bold"/></style:style>"""
    body = """<table:table table:name="T"><table:table-column table:number-columns-repeated="16384"/><table:table-row>
        <table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell>
        <table:table-cell office:value-type="percentage" office:value="0.1" table:style-name="ce1"/>
        <table:table-cell office:value-type="boolean" office:boolean-value="true"/>
        <table:table-cell office:value-type="date" office:date-value="2024-02-29"/>
        <table:table-cell office:value-type="date" office:date-value="2024-02-29T01:02:03"/>
        <table:table-cell office:value-type="time" office:time-value="PT30H00M01S"/>
        <table:table-cell office:value-type="currency" office:value="5" office:currency="EUR"/>
        <table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p></office:annotation>
        <text:p>a<text:s text:c="2"/>b<text:tab/>c</text:p><text:p><text:a xlink:href="https://x.org/">d</text:a></text:p>
        </table:table-cell></table:table-row></table:table>"""

    cells = first(read_ods.read(open_document(body, styles), job))

    moments = [date(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3), timedelta(hours=30, seconds=1)]
    assert [cells[0, column].value for column in range(8)] == [1.5, 0.1, True, *moments, 5, "a  b\tc\nd"]
    assert cells[0, 1].style == CellStyle("0.0%", bold=True)
    assert cells[0, 7].link == "https://x.org/"


def test_formulas_of_an_open_document(job):
    body = """<table:table table:name="My T"><table:table-row>
        <table:table-cell office:value-type="float" office:value="3" table:formula="of:=SUM([.B1:.C1];[$'My T'.D1])"/>
        <table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="3"/>
        <table:table-cell table:formula="of:=[.B1]*10" /></table:table-row></table:table>"""

    cells = first(read_ods.read(open_document(body), job))

    assert cells[0, 0] == Cell(3, formula="SUM(B1:C1,'My T'!D1)")
    assert cells[0, 4] == Cell(10, formula="B1*10")


def ods_values(job, *cells, styles="", columns=""):
    rows = f"<table:table-row>{''.join(cells)}</table:table-row>"
    body = f'<table:table table:name="T">{columns}{rows}</table:table>'
    return first(read_ods.read(open_document(body, styles), job))


def ods_cell(attributes, text=""):
    return f"<table:table-cell {attributes}>{text}</table:table-cell>"


CALCEXT = 'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
LIST = "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list><text:h>two</text:h>"


@pytest.mark.parametrize(
    "attributes, text, value",
    [
        ('table:formula="of:=A1+1" office:value-type="float" office:value="0"', "<text:p>#BEZUG!</text:p>",
         ErrorValue("#REF!")),
        ('table:formula="of:=#N/A" office:value-type="float" office:value="0"', "<text:p>#NV</text:p>",
         ErrorValue("#N/A")),
        (f'{CALCEXT} table:formula="of:=X()" office:value-type="string" calcext:value-type="error"',
         "<text:p>Fehler:508</text:p>", ErrorValue("#VALUE!")),
        (f'{CALCEXT} office:value-type="string" calcext:value-type="error"', "<text:p>#NV</text:p>", "#NV"),
        ('table:formula="of:=2+3" office:value-type="float"', "", 5),
        ('office:value-type="float"', "<text:p>12,5</text:p>", "12,5"),
        ('office:value-type="float" office:value="1" xmlns:x="urn:x" x:value="2"', "", 1),
        ('office:value-type="string"', LIST, "one\ntwo"),
        ("", "<draw:rect><text:p>shape</text:p><text:p/></draw:rect>", None),
    ],
    ids=["#BEZUG!", "#NV", "Fehler:508", "error without a formula", "computed", "text", "other attribute",
         "list and heading", "shape"],
)  # fmt: skip
def test_the_value_of_a_cell_of_an_open_document(attributes, text, value, job):
    cells = ods_values(job, ods_cell(attributes, text), ods_cell('office:value-type="float" office:value="1"'))

    expected = {(0, 0): value, (0, 1): 1} if value is not None else {(0, 1): 1}
    assert {place: cell.value for place, cell in cells.items()} == expected


def test_cells_have_the_default_style_of_their_column(job):
    styles = """<number:date-style style:name="N1"><number:year number:style="long"/></number:date-style>
        <style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"/>"""
    columns = """<table:table-column table:number-columns-repeated="2"/>
        <table:table-column table:default-cell-style-name="ce1"/>"""
    number = ods_cell('office:value-type="float" office:value="45292"')

    cells = ods_values(job, number, number, number, number, styles=styles, columns=columns)

    assert [cell.value for cell in cells.values()] == [45_292, 45_292, date(2024, 1, 1), 45_292]


def test_an_empty_spreadsheet_and_the_stored_cells_of_other_files(job):
    other = "<table:table table:name=\"'file:///x.ods'#Sheet1\"><table:table-row/></table:table>"

    assert read_ods.read(open_document(""), job) == Workbook()
    assert read_ods.read(open_document(other), job) == Workbook()
    assert job.notes == ["Stored cells of other files were left out."]


def test_scenarios_are_left_out_with_a_note(job):
    row = "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>"
    tables = f'<table:table table:name="A">{row}<table:table table:name="B"><table:scenario/>{row}'

    assert [sheet.name for sheet in read_ods.read(open_document(tables), job).sheets] == ["A"]
    assert job.notes == ["Scenarios (other values for some cells) were left out."]


def test_repeated_cells_with_a_look_only(job):
    styles = """<style:style style:name="ce1" style:family="table-cell">
        <style:table-cell-properties fo:border="1pt solid #000" fo:background-color="#ffff00"/></style:style>"""
    empty = '<table:table-cell table:style-name="ce1" table:number-columns-repeated="{}"/>'
    rows = f"""<table:table-row>{empty.format(1)}<table:table-cell office:value-type="float" office:value="1"/>
        {empty.format(16000)}</table:table-row>
        <table:table-row table:number-rows-repeated="1048575">{empty.format(16384)}</table:table-row>"""

    cells = first(read_ods.read(open_document(f"<table:table>{rows}</table:table>", styles), job))

    assert cells == {(0, 0): Cell(None, CellStyle(background="#ffff00", borders="trbl")), (0, 1): Cell(1)}


def test_repeated_empty_rows_are_ignored(job):
    body = """<table:table table:name="T"><table:table-row table:number-rows-repeated="1048575">
        <table:table-cell table:number-columns-repeated="16384"/></table:table-row><table:table-row>
        <table:table-cell table:number-columns-repeated="16383"/><table:table-cell office:value-type="float"
        office:value="7"/></table:table-row></table:table>"""

    assert first(read_ods.read(open_document(body), job)) == {(1_048_575, 16_383): Cell(7)}


def test_invalid_sheet_names_are_changed(job):
    body = "".join(
        f'<table:table table:name="{name}"><table:table-row/></table:table>'
        for name in ("a/b:c", "a*b?c", "", "x" * 300)
    )

    sheets = read_ods.read(open_document(body), job).sheets

    assert [sheet.name for sheet in sheets] == ["a_b_c", "a_b_c_2", "Sheet3", "x" * 31]


# --- csv and the like


@pytest.mark.spec("A5-06", "A5-06b")
@pytest.mark.parametrize(
    "text, rows",
    [
        *((text, [["a", "b"], [1, 2.5]]) for text in (
            "a,b\r\n1,2.5\r\n", "a;b\n1;2,5\n", "a\tb\n1\t2.5\n", "a|b\n1|2.5\n", "sep=;\r\na;b\r\n1;2,5\r\n",
            '"a","b"\r"1","2.5"\r', '"a", "b"\n"1", "2.5"\n',
        )),
        ('a,"b\r\nc ""d"""\r\n', [["a", 'b\r\nc "d"']]),
    ],
)  # fmt: skip
def test_dialects(job, text, rows):
    assert values(delimited.read_csv(text.encode(), job)) == rows


@pytest.mark.spec("A5-06", "A5-06b")
@pytest.mark.parametrize(
    "word,value",
    [
        ("12", 12), ("-0.5", -0.5), ("1.5e-05", 1.5e-05), ("1,234.5", 1234.5), ("12%", 0.12), ("TRUE", True),
        ("false", False), ("2024-02-29", date(2024, 2, 29)), ("2024-02-29 10:11", datetime(2024, 2, 29, 10, 11)),
        ("10:11", time(10, 11)),
        *((text, text) for text in (
            "007", "+49 30 1234", "+4930123", "1234567890123456", "1234567890123456.5", "1e5", "3/4/2024",
            "2024-02-30", "1_000", "nan", "=1+1", "٣",
        )),
    ],
)  # fmt: skip
def test_text_becomes_a_value_or_stays_text(job, word, value):
    assert values(delimited.read_tsv(f"x\t{word}\n".encode(), job)) == [["x", value]]


@pytest.mark.spec("A5-06", "A5-06b")
@pytest.mark.parametrize(
    "column, read",
    [
        (["zip", "00123", "94110"], ["zip", "00123", "94110"]), (["zip", "94110", "00"], ["zip", "94110", "00"]),
        (["01", "5", "7"], ["01", 5, 7]), (["n", "007", "1.5"], ["n", "007", 1.5]), (["n", "0", "5"], ["n", 0, 5]),
    ],
)  # fmt: skip
def test_a_column_of_digits_with_a_leading_zero_has_texts(job, column, read):
    assert values(delimited.read_csv("\n".join(column).encode(), job)) == [[value] for value in read]


def test_an_unclosed_quotation_mark_hides_no_rows(job):
    assert values(delimited.read_csv(b'a,b\n"c,d\ne,f\n', job)) == [["a", "b"], ['"c', "d"], ["e", "f"]]
    assert job.notes


def test_lines_without_columns_are_cells_and_an_empty_source_an_empty_sheet(job):
    assert values(delimited.read_tsv(b"one line\nanother, with a comma\n", job))[0] == ["one line"]
    assert delimited.read_csv(b"", job) == Workbook((Sheet(),))


@pytest.mark.spec("A5-06", "A5-06a")
def test_a_declared_charset(job):
    assert values(delimited.read_csv("имя".encode("koi8-r"), replace(job, charset="koi8-r"))) == [["имя"]]


# --- what is not what it is called


@pytest.mark.parametrize(
    "source, rows",
    [(b"a,b\n1,2\n", [["a", "b"], [1, 2]]), (by_openpyxl(lambda sheet: sheet.append([1])), [[1]])],
    ids=["csv", "xlsx"],
)
def test_another_file_declared_as_xls_is_read_as_what_it_is(job, source, rows):
    assert values(xls.read_by_signature(source, job)) == rows


def test_too_many_cells(job):
    with pytest.raises(TooLarge):
        delimited.read_csv(b"1,2,3\n" * 10, replace(job, limits=JobLimits(cells=20)))


def test_pack_and_unpack_are_inverses(job):
    cells = {
        0: Cell("x"), 1: Cell(None, formula="A1"), 2: Cell(True, CellStyle("0", bold=True)), 3: Cell(date(2024, 1, 2)),
        4: Cell(datetime(2024, 1, 2, 3)), 5: Cell(time(3)), 6: Cell(timedelta(days=-1)), 7: Cell(ErrorValue("#N/A")),
        8: Cell(1.5, DEFAULT_STYLE, "X1", (2, 3), "https://x.org"), 9: Cell(2**60), 10: Cell(""),
    }  # fmt: skip
    workbook = Workbook((Sheet("A", {3: cells}, (Area(1, 2, 3, 4),), {2: 9.5}, hidden=True), Sheet("B")))

    assert Workbook.unpack(workbook.pack()) == workbook


@pytest.mark.parametrize(
    "part, old, new",
    [
        ("xl/worksheets/sheet1.xml", b'<row r="2"', b'<row r="x"'), ("xl/worksheets/sheet1.xml", b'r="A2"', b'r="x"'),
        ("xl/worksheets/sheet1.xml", b' s="1"', b' s="x"'), ("xl/worksheets/sheet1.xml", b'min="1"', b'min="x"'),
        ("xl/styles.xml", b'fillId="2"', b'fillId="x"'), ("xl/styles.xml", b"<fgColor ", b'<fgColor tint="x" '),
    ],
)  # fmt: skip
def test_a_damaged_element_leaves_the_rest(part, old, new, job):
    def fill(sheet):
        for row in (("text", "other"), (1, 2), (3, 4)):
            sheet.append(row)
        sheet["B2"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFFF00")
        sheet.column_dimensions["A"].width = 30

    source = sources.changed(by_openpyxl(fill), part, (old, new))

    values = [cell.value for _, _, cell in read_xlsx.read(source, job).sheets[0].cells()]
    assert values == ["text", "other", 1, 2, 3, 4]
