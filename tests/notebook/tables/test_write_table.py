import json
import zipfile
from datetime import date
from io import BytesIO

import pandas as pd
import pytest

from svc_notebooks.notebook.tables import formats
from svc_notebooks.notebook.tables.formats import BY_NAME, format_of_file
from svc_notebooks.notebook.tables.read_table import read_table
from svc_notebooks.notebook.tables.write_table import write_table

TEXT_FORMATS = ["csv", "tsv", "json", "jsonl"]


def written(frame, name):
    return write_table(frame, BY_NAME[name])


def read_back(frame, name, **options):
    return read_table(written(frame, name), BY_NAME[name], f"table.{name}", None, options)


@pytest.mark.parametrize(
    "name, content",
    [("csv", "a,b\n1,é\n"), ("tsv", "a\tb\n1\té\n"), ("json", '[{"a":1,"b":"é"}]'), ("jsonl", '{"a":1,"b":"é"}\n')],
)
def test_text_formats_are_utf8_without_row_numbers(name, content):
    assert written(pd.DataFrame({"a": [1], "b": ["é"]}), name).decode() == content


INDEXES = {
    "named": (pd.Index([7, 9], name="year"), ["year", "n"]),
    "text": (pd.Index(["p", "q"]), ["index", "n"]),
    "dates": (pd.to_datetime(["2026-01-01", "2026-01-02"]), ["index", "n"]),
    "levels": (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), ["level_0", "level_1", "n"]),
    "named numbers": (pd.RangeIndex(2, name="k"), ["k", "n"]),
    "numbers": (pd.RangeIndex(2), ["n"]),
    "a part": (pd.RangeIndex(5, 7), ["n"]),
}


@pytest.mark.parametrize("index, columns", INDEXES.values(), ids=INDEXES)
@pytest.mark.parametrize("name", [*TEXT_FORMATS, "xlsx"])
def test_an_index_of_more_than_row_numbers_becomes_the_first_columns(name, index, columns):
    table = read_back(pd.DataFrame({"n": [1, 2]}, index=index), name)

    assert list(table.columns) == columns
    assert len(table) == 2


def test_row_numbers_of_a_filter_are_announced_and_an_index_named_like_a_column_is_refused():
    table = pd.DataFrame({"n": [1, 2, 3, 4]})
    with pytest.warns(UserWarning, match=r"index .* is not sent.*reset_index\(\) keeps it"):
        assert written(table[table["n"].isin([1, 2, 4])], "csv") == b"n\n1\n2\n4\n"
    with pytest.raises(ValueError, match="cannot be written as CSV: cannot insert n, already exists"):
        written(pd.DataFrame({"n": [1]}, index=pd.Index([3], name="n")), "csv")


EXCEL = pd.DataFrame(
    {
        "code": ["007", "=1+1", None],
        "link": ["http://x.example", "mailto:a@b.example", "é"],
        "count": pd.array([1, None, 3], dtype="Int64"),
        "share": [0.1 + 0.2, 1e-20, float("nan")],
        "day": pd.to_datetime(["2026-01-02", None, "2026-03-04"]),
        "flag": [True, False, True],
        "number": [2**60 + 1, -(2**60), 3],
        "list": [["a"], [], ["b", "c"]],
    }
)


def test_excel_keeps_text_numbers_and_dates():
    table = read_back(EXCEL, "xlsx")

    assert table["code"].tolist()[:2] == ["007", "=1+1"]
    assert table["link"].tolist() == EXCEL["link"].tolist()
    assert table["count"].tolist()[::2] == [1, 3]
    assert table["count"].isna().tolist() == [False, True, False]
    assert table["share"].tolist()[:2] == [0.1 + 0.2, 1e-20]
    assert table["day"].tolist()[::2] == [pd.Timestamp("2026-01-02"), pd.Timestamp("2026-03-04")]
    assert table["flag"].dtype == "bool"
    assert table["number"].tolist() == [str(number) for number in EXCEL["number"]]
    assert table["list"].tolist() == ['["a"]', "[]", '["b", "c"]']
    digits = pd.DataFrame({"a": pd.Categorical([10**17 + 1, 3])})
    assert read_back(digits, "xlsx")["a"].tolist() == ["100000000000000001", "3"]
    assert written(EXCEL, "xlsx") == written(EXCEL, "xlsx"), "an upload can resume"
    assert zipfile.ZipFile(BytesIO(written(EXCEL, "xlsx"))).testzip() is None


def test_json_has_values_with_their_types():
    values = {
        "code": (["007"], "007"),
        "day": (pd.to_datetime(["2026-01-02T03:04:05.123456789"]).as_unit("ns"), "2026-01-02T03:04:05.123456789"),
        "at": (pd.to_datetime(["2026-01-02T03:04:05Z"]), "2026-01-02T03:04:05+00:00"),
        "count": (pd.array([None], dtype="Int64"), None),
        "parents": ([["a", "b"]], ["a", "b"]),
        "number": ([2**60 + 1], 2**60 + 1),
        "date": ([date(2026, 1, 2)], "2026-01-02"),
    }
    (record,) = json.loads(written(pd.DataFrame({name: column for name, (column, _) in values.items()}), "json"))

    assert record == {name: expected for name, (_, expected) in values.items()}


TWICE = pd.DataFrame([[1, 2]], columns=["a", "a"])
LEVELS = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
REFUSED = {
    "two columns of a name in JSON": (TWICE, "json", "JSON: names of columns must be unique"),
    "two columns of a name in JSON Lines": (TWICE, "jsonl", "JSON Lines: names of columns must be unique"),
    "levels of columns in JSON": (LEVELS, "json", "several levels; join them"),
    "levels of columns in Excel": (LEVELS, "xlsx", "several levels; join them"),
    "an infinite number in JSON": (pd.DataFrame({"x": [float("inf")]}), "json", "column 'x' has infinite numbers"),
    "a long text in Excel": (pd.DataFrame({"x": ["a" * 40_000]}), "xlsx", "column 'x' has a text of more than 32766"),
    "a lone surrogate": (pd.DataFrame({"x": ["\ud800"]}, dtype=object), "csv", "surrogates not allowed"),
    "xls": (pd.DataFrame({"x": [1]}), "xls", r"not written as Excel 97 to 2003; name the file \.xlsx"),
    "ods": (pd.DataFrame({"x": [1]}), "ods", "not written as OpenDocument spreadsheet"),
}


@pytest.mark.parametrize("frame, name, words", REFUSED.values(), ids=REFUSED)
def test_a_frame_that_a_format_cannot_hold_is_refused(frame, name, words):
    with pytest.raises(ValueError, match=words):
        written(frame, name)


@pytest.mark.parametrize("name", ["csv", "xlsx"])
def test_two_columns_of_a_name_are_numbered_with_a_warning(name):
    with pytest.warns(UserWarning, match="other names than 'a', 'a'"):
        assert list(read_back(TWICE, name).columns) == ["a", "a.1"]


def test_a_frame_without_rows_keeps_its_columns_and_a_carriage_return_is_no_new_row():
    for name in ("csv", "tsv", "json", "parquet", "xlsx"):
        table = read_back(pd.DataFrame({"a": [], "b": []}), name)
        assert (list(table.columns), len(table)) == (["a", "b"], 0)
    frame = pd.DataFrame({"a": ["x\ry", "z"], "n": [1, 2]})
    for name in TEXT_FORMATS:
        assert read_back(frame, name).equals(frame)


@pytest.mark.parametrize("name", ["parquet", "xlsx"])
def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setattr(formats, "find_spec", lambda module: None)

    with pytest.raises(ImportError, match=r"are written by the package \w+: pip install 'svc-notebooks\[frames\]'"):
        written(pd.DataFrame({"a": [1]}), name)


@pytest.mark.parametrize(
    "media_type, name, expected",
    [
        ("text/csv", "a", "csv"),
        ("text/csv; charset=utf-8", "a.xlsx", "csv"),
        ("application/octet-stream", "a.Parquet", "parquet"),
        ("application/vnd.ms-excel", "a.csv", "csv"),
        ("application/vnd.ms-excel", "a", "xls"),
        ("text/plain", "a.tsv", "tsv"),
        ("application/gzip", "a.csv.gz", "csv"),
        ("application/zip", "a.xlsx", "xlsx"),
        ("application/x-ndjson", "a", "jsonl"),
    ],
)
def test_the_media_type_comes_before_the_name_unless_it_is_generic(media_type, name, expected):
    assert format_of_file(media_type, name) is BY_NAME[expected]


@pytest.mark.parametrize("early", [pd.Timestamp("1850-01-02"), date(1850, 1, 2)])
def test_dates_before_1900_are_text_in_excel(early):
    late = type(early)(2026, 3, 4)

    days = read_back(pd.DataFrame({"day": [early, None, late]}), "xlsx")["day"].tolist()

    assert days[0].startswith("1850-01-02")
    assert pd.isna(days[1])
    assert days[2] == pd.Timestamp("2026-03-04")
