import gzip
import zipfile
from collections import defaultdict
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from svc_notebooks.notebook.tables import formats
from svc_notebooks.notebook.tables.formats import BY_NAME
from svc_notebooks.notebook.tables.read_table import TableError, check_area, check_options, read_table


def read(content, name="csv", sheet=None, **options):
    return read_table(content, BY_NAME[name], f"table.{name}", sheet, options)


def workbook(sheets):
    buffer = BytesIO()
    with pd.ExcelWriter(buffer, engine="xlsxwriter") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    return buffer.getvalue()


CSV = {
    "comma": (b"a,b\n1,2\n", [[1, 2]]),
    "semicolon": (b"a;b\n1;2\n", [[1, 2]]),
    "tab": (b"a\tb\n1\t2\n", [[1, 2]]),
    "bar": (b"a|b\n1|2\n", [[1, 2]]),
    "decimal comma": (b"a;b\n1,5;2\n0,25;3\n", [[1.5, 2], [0.25, 3]]),
    "declared delimiter": (b"sep=;\r\na;b\r\n1;2\r\n", [[1, 2]]),
    "space behind the comma": (b'a, b\n1, "x, y"\n', [[1, "x, y"]]),
    "byte order mark": ("a,b\n1,é\n".encode("utf-8-sig"), [[1, "é"]]),
    "UTF-16": ("a,b\n1,é\n".encode("utf-16"), [[1, "é"]]),
    "not ASCII": ("a,b\n1,数\n".encode(), [[1, "数"]]),
    "no line end": (b"a,b\n1,2", [[1, 2]]),
    "gzip": (gzip.compress(b"a,b\n1,2\n"), [[1, 2]]),
    "no row": (b"a,b\n", []),
}


@pytest.mark.parametrize("content, rows", CSV.values(), ids=CSV)
def test_csv_is_read_whatever_its_delimiter_and_character_set(content, rows):
    table = read(content)

    assert list(table.columns) == ["a", "b"]
    assert table.values.tolist() == rows


def test_a_comma_is_decimal_only_beside_semicolons_and_integers_are_read_as_an_option_says():
    assert read(b"a\tb\n1,234\t2\n", "tsv")["a"].tolist() == ["1,234"]
    content = b"n\n1\n\n3\n"
    assert read(content, skip_blank_lines=False)["n"].dtype == "Int64"
    assert read(content, skip_blank_lines=False, dtype={"n": "Int64"})["n"].tolist() == [1, pd.NA, 3]


JSON = {
    "records": (b'[{"a": "007", "b": 1}, {"b": 2.5}]', [["007", 1.0], [None, 2.5]]),
    "lines": (b'{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n', [["x", 1], ["y", 2]]),
    "byte order mark": (b'\xef\xbb\xbf[{"a": "x", "b": 1}]', [["x", 1]]),
    "dates stay text": (b'[{"a": "2026-01-02", "b": 1}]', [["2026-01-02", 1]]),
}


@pytest.mark.parametrize("content, rows", JSON.values(), ids=JSON)
@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_json_keeps_the_types_of_its_values(content, rows, name):
    if name == "jsonl":
        content = content.replace(b"}, {", b"}\n{").replace(b"[", b"").replace(b"]", b"")

    table = read(content, name)

    assert table.astype(object).where(table.notna(), None).values.tolist() == rows


SHEETS = workbook(
    {"Birds": pd.DataFrame({"a": [1]}), "Ponds": pd.DataFrame({"a": ["007", None]}), "Empty": pd.DataFrame()}
)


def test_a_sheet_is_chosen_by_its_name_or_number_and_an_unknown_one_lists_them():
    for sheet, rows in ((None, [[1]]), ("Birds", [[1]]), (0, [[1]]), (2, []), ("Empty", [])):
        assert read(SHEETS, "xlsx", sheet).values.tolist() == rows
    for sheet in ("Fish", 3, -1):
        with pytest.raises(ValueError, match=r"'table\.xlsx' has no sheet .*; its sheets are 'Birds', 'Ponds', 'Em"):
            read(SHEETS, "xlsx", sheet)


def test_text_in_a_cell_stays_text_and_a_dtype_is_taken():
    def first(**options):
        return read(SHEETS, "xlsx", 1, **options)["a"].tolist()[0]

    assert [first(), first(dtype={"b": "str"}), first(dtype_backend="numpy_nullable")] == ["007"] * 3
    assert [first(dtype={"a": "float64"}), first(converters={"a": int}), first(thousands=",")] == [7] * 3


ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le")
WRONG = {
    "an empty CSV file": (b"", "csv", "'table.csv' is empty"),
    "an empty JSON file": (b"", "json", "'table.json' is empty"),
    "an empty workbook": (b"", "xlsx", "'table.xlsx' is empty"),
    "a CSV file of a blank line": (b"\n", "csv", "'table.csv' cannot be read as CSV: No columns"),
    "a workbook named CSV": (SHEETS, "csv", r"should be CSV, but has other content, which begins like application/zip"),
    "a PDF file named JSON": (b"%PDF-1.7", "json", "should be JSON, but has other content, .*application/pdf"),
    "CSV named Excel": (b"a,b\n", "xls", r"should be Excel 97 to 2003, but has other content\. .*format='csv'"),
    "a workbook with a password": (ENCRYPTED, "xlsx", "'table.xlsx' is encrypted; save it without a password"),
    "a broken workbook": (SHEETS[:900], "xlsx", "'table.xlsx' cannot be read as Excel"),
    "CSV named Parquet": (b"a,b\n", "parquet", "should be Parquet, but has other content"),
    "rows of other lengths": (b"a,b\n1,2\n3,4,5\n6,7\n8,9,1,1\n", "csv", "line 3 has 3 cells, but the header has 2"),
    "many equal columns": (b",".join([b"a"] * 300_000), "csv", "it has more than 20,000 columns"),
    "many columns": (b"\t".join(b"%d" % n for n in range(20_001)) + b"\n1", "tsv", "it has more than 20,000 columns"),
    "many columns of lines": (b"\n".join(b'{"%d": 1}' % n for n in range(20_001)), "jsonl", "more than 20,000 columns"),
    "half a JSON file": (b'[{"a": 1}, ', "json", "'table.json' cannot be read as JSON"),
    "JSON of one number": (b'{"a": 1}', "json", "'table.json' cannot be read as JSON: it is no list of objects"),
    "JSON with an empty record": (b'[{"a": 1}, null]', "json", "it is no list of objects"),
    "JSON with a schema": (b'{"schema": {"a": 1}, "data": [{"a": 1}]}', "json", "orient='table'"),
    "half a gzip file": (gzip.compress(b"a,b\n1,2\n")[:-9], "csv", "'table.csv' cannot be read as CSV: Compressed"),
    "cp1252": ("é\n1\n".encode("cp1252"), "csv", r"'table.csv' is not UTF-8 text.*0xE9.*encoding=\"cp1252\""),
    "cp1252 in JSON": ('[{"a": "é"}]'.encode("cp1252"), "json", r"encoding=\"cp1252\""),
    "cp1252 far behind": (b"a\n" + b"x\n" * 200_000 + b"\xe9\n", "csv", r"0xE9.*encoding=\"cp1252\""),
}


@pytest.mark.parametrize("content, name, words", WRONG.values(), ids=WRONG)
def test_the_error_about_wrong_content_names_the_file(content, name, words):
    with pytest.raises(TableError, match=words) as caught:
        read(content, name)

    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "name, option, words",
    [
        ("csv", "seperator", "'seperator' is not an option of pandas.read_csv; did you mean 'sep'"),
        ("csv", "filepath_or_buffer", "not an option of pandas.read_csv"),
        ("json", "sep", "not an option of pandas.read_json"),
        ("xlsx", "sheet_name", "did you mean 'sheet'"),
        ("csv", "file_colum", "did you mean 'file_column'"),
        ("csv", "columns", "did you mean 'usecols'"),
        ("xlsx", "skip_rows", "did you mean 'skiprows'"),
    ],
)
def test_an_option_that_pandas_does_not_have_and_a_missing_package_are_refused(name, option, words, monkeypatch):
    with pytest.raises(TypeError, match=words):
        check_options(BY_NAME[name], {option: 1}, ["sheet", "file_column"])
    monkeypatch.setattr(formats, "find_spec", lambda module: None)
    with pytest.raises(ImportError, match=r"Excel files are read by .*: pip install 'svc-notebooks\[frames\]'"):
        check_options(BY_NAME["xlsx"], {})


LONG_ROWS = {
    "each row": (b"A,B,C\n1,4,7,\n2,5,8,\n", {}, [[1, 4, 7], [2, 5, 8]]),
    "each row from 0": (b"A,B\n0,4,\n1,5,\n", {}, [[0, 4], [1, 5]]),
    "a later row": (b"A,B\n1,2\n3,4,\n5,6\n", {}, [[1, 2], [3, 4], [5, 6]]),
    "a declared delimiter": (b"sep=;\nA;B\n1;2;\n", {}, [[1, 2]]),
    "chosen columns": (b"A,B,C\n1,4,7,\n", {"usecols": ["A"]}, [[1]]),
    "a title": (b"title\nA,B\n1,2,\n", {"skiprows": 1}, [[1, 2]]),
    "names of rows": (b"A,B\nr,1,2\n", {"index_col": 0}, [[1, 2]]),
    "two headers": (b"A,A\nx,y\n1,2\n", {"header": [0, 1]}, [[1, 2]]),
    "another parser": (b"A,B\n1,2\n", {"engine": "pyarrow"}, [[1, 2]]),
}


@pytest.mark.parametrize("content, options, rows", LONG_ROWS.values(), ids=LONG_ROWS)
def test_an_empty_cell_at_the_end_of_a_row_shifts_no_column(content, options, rows):
    assert read(content, **options).values.tolist() == rows


@pytest.mark.parametrize(
    "content, words",
    [
        (b"A,B\n1,2\n3,4,5\n", "line 3 has 3 cells, but the header has 2.*index_col=0"),
        (b'A,B\n"1\n",2\n3,4,,\n', "line 4 has 4 cells, but the header has 2"),
        (b"sep=;\nA;B\n1;2;3\n", "line 3 has 3 cells"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"index_col": None}])
def test_a_row_with_more_cells_than_the_header_is_named_by_its_line(content, words, options):
    with pytest.raises(TableError, match=words):
        read(content, **options)


ZEROS = {
    "a column": (b"zip,n\n00123,1\n94110,2\n", {}, ["00123", "94110"]),
    "in quotation marks": (b'zip\n"00123"\n', {}, ["00123"]),
    "without a header": (b"00123,1\n", {"header": None}, ["00123"]),
    "a dtype": (b"zip,n\n00123,1\n", {"dtype": {"zip": "int64"}}, [123]),
    "a dtype for the others": (b"zip,n\n00123,1\n", {"dtype": defaultdict(lambda: "int64")}, [123]),
    "a converter": (b"zip,n\n00123,1\n", {"converters": {0: int}}, [123]),
    "a sign": (b"v\n-05\n+7\n", {}, ["-05", "+7"]),
    "far behind": (b"v\n" + b"1\n" * 100_000 + b"02\n", {}, ["1"] * 100_000 + ["02"]),
    "times and dates": (b"v,t,d\n5,08:30,2026-01-02\n", {}, [5]),
    "another parser": (b"zip,n\n00123,1\n", {"engine": "python"}, ["00123"]),
}


@pytest.mark.parametrize("content, options, values", ZEROS.values(), ids=ZEROS)
def test_leading_zeros_stay_unless_a_dtype_is_given(content, options, values):
    assert read(content, **options).iloc[:, 0].tolist() == values


LONG_ID = 1582218195625938945
MISSING = {
    "csv": b"id,x\n1582218195625938945,1.0\n,\n",
    "tsv": b"id\tx\n1582218195625938945\t1.0\nNA\tNA\n",
    "json": b'[{"id": 1582218195625938945, "x": 1.0}, {"id": null}]',
    "jsonl": b'{"id": 1582218195625938945, "x": 1.0}\n{}\n',
}


@pytest.mark.parametrize("name", MISSING)
def test_whole_numbers_beside_a_missing_value_stay_whole_and_floats_stay_floats(name):
    table = read(MISSING[name], name)

    assert table["id"].tolist() == [LONG_ID, pd.NA]
    assert table["x"].dtype == "float64"


def test_text_in_a_workbook_is_never_missing_unless_an_option_says_so():
    content = workbook({"A": pd.DataFrame({"a": ["NA", "None", "null", "#N/A", None], "n": 1})})

    assert read(content, "xlsx")["a"].tolist()[:4] == ["NA", "None", "null", "#N/A"]
    assert read(content, "xlsx")["a"].isna().tolist() == [False] * 4 + [True]
    assert read(content, "xlsx", na_values=["-"])["a"].isna().all()


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)


def zipped(members: dict[str, str | bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_rows(rows: str) -> bytes:
    """Return a workbook whose sheet has these rows, in XML."""
    with zipfile.ZipFile(BytesIO(workbook({"A": pd.DataFrame({"a": [1]})}))) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**members, "xl/worksheets/sheet1.xml": SHEET.format(rows)})


@pytest.mark.parametrize(
    "far",
    [
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        '<row r="99999999999999"><c r="ZZZZZZZZ99999999999999"><v>1</v></c></row>',
        '<row r="900000">' + "<c><v>1</v></c>" * 3000 + "</row>",
    ],
    ids=["last cell", "beyond Excel", "no references"],
)
def test_cells_that_are_too_far_apart_for_a_table_are_refused(far):
    near = '<row r="1"><c r="A1"><v>1</v></c></row>'

    with pytest.raises(TableError, match=r"a sheet has about [\d,]+ cells, but spans"):
        read(with_rows(near + far), "xlsx")
    styled = '<row r="1048576"><c r="XFD1048576" s="0"/></row>'
    assert list(read(with_rows(near + styled), "xlsx").columns) == [1], "empty cells with a style do not count"


def test_a_workbook_that_unpacks_to_far_more_bytes_and_a_binary_workbook_are_refused():
    for name in ("xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"):
        content = zipped({name: bytes(70 << 20)})
        content = content.replace((70 << 20).to_bytes(4, "little"), (500).to_bytes(4, "little"))
        with pytest.raises(ValueError, match=r"the file has [\d,]+ bytes that become more than 67,108,864"):
            check_area(BytesIO(content))
    with pytest.raises(ValueError, match="save it as xlsx"):
        check_area(BytesIO(zipped({"xl/worksheets/sheet1.bin": b""})))


def test_parquet_of_far_more_cells_than_bytes_is_refused():
    content = pd.DataFrame({"a": np.zeros(11_000_000, "int8")}).to_parquet()
    with pytest.raises(TableError, match="bytes have 11,000,000 cells"):
        read(content, "parquet")
