import gzip
import tempfile

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotAllowed
from svc_notebooks.notebook.files.downloads import read_frame as module

BIRDS = pd.DataFrame({"pond": ["Ø", "数"], "birds": [3, 4], "depth": [0.5, 1.25]})
NATIVE = "application/vnd.svc-apps."


@pytest.fixture
def months(lab):
    return svc.upload([b"day,n\n1,5\n", b"day,n\n2,7\n3,8\n"], name=["january.csv", "february.csv"])


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab", "a.json", "a.jsonl", "a.ndjson", "a.xlsx", "a.csv.gz"])
def test_a_frame_comes_back_as_it_was_uploaded(lab, name):
    assert svc.read_frame(svc.upload(BIRDS, name=name)).equals(BIRDS)


def test_a_native_spreadsheet_is_read_and_a_sheet_is_chosen(lab, tmp_path):
    dated = BIRDS.assign(day=pd.to_datetime(["2026-01-02", "2026-01-03"]))
    table = svc.read_frame(svc.upload(dated, name="birds", convert_to="spreadsheet"))
    assert table.drop(columns="day").equals(BIRDS)
    assert table["day"].tolist() == dated["day"].tolist()

    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path, engine="xlsxwriter") as writer:
        BIRDS.to_excel(writer, sheet_name="Birds", index=False)
        pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name="Other", index=False)
    files = svc.upload([path, path], metadata={}), svc.upload(path, convert_to="spreadsheet")
    for choice in ({"sheet": "Other"}, {"sheet": 1}, {"sheet_name": "Other"}, {"sheet_name": 1}):
        assert [svc.read_frame(file.iloc[0], **choice).values.tolist() for file in files] == [[[1]], [[1]]]
    with pytest.raises(ValueError, match="'two' has no sheet 'Ponds'; its sheets are 'Birds', 'Other'"):
        svc.read_frame(files[1], "Ponds")


def test_several_files_are_one_frame_in_the_order_of_their_rows_with_a_column_of_names_on_request(months):
    assert svc.read_frame(months).values.tolist() == [[1, 5], [2, 7], [3, 8]]
    assert svc.read_frame(months).index.tolist() == [0, 1, 2]
    assert svc.read_frame(months["id"].tolist()[::-1])["n"].tolist() == [7, 8, 5]
    table = svc.read_frame(months, file_column="file")
    assert list(table.columns) == ["file", "day", "n"]
    assert table["file"].tolist() == ["january.csv", "february.csv", "february.csv"]
    assert pd.api.types.is_string_dtype(table["file"])
    with pytest.raises(ValueError, match=r"file_column is 'n', but 'january\.csv' has a column of this name"):
        svc.read_frame(months, file_column="n")


def test_files_of_other_columns_and_formats_are_one_frame(lab):
    files = svc.upload([b"a,b\n1,2\n", pd.DataFrame({"b": [3], "c": ["x"]})], name=["a.csv", "b.xlsx"])

    table = svc.read_frame(files)

    assert list(table.columns) == ["a", "b", "c"]
    assert table["b"].tolist() == [2, 3]
    assert table["c"].isna().tolist() == [True, False]


def test_the_tables_of_a_folder_are_read_by_name(lab):
    folder = svc.create_file(name="counts", mime_type=f"{NATIVE}folder")
    parents = {"parents": folder["id"].tolist()}
    svc.upload([b"n\n2\n", b"n\n1\n", b"text"], name=["b.csv", "a.csv", "notes.txt"], metadata=parents)
    svc.create_file(name="inner", mime_type=f"{NATIVE}folder", **parents)
    svc.trash(svc.upload(b"n\n9\n", name="old.csv", metadata=parents))

    assert svc.read_frame(folder, file_column="file").values.tolist() == [["a.csv", 1], ["b.csv", 2]]


@pytest.mark.parametrize("names, words", [([], "it has no file"), (["a.txt", "b.pdf"], "it has 'a.txt', 'b.pdf'")])
def test_a_folder_without_a_table_says_what_it_has(lab, names, words):
    folder = svc.create_file(name="papers", mime_type=f"{NATIVE}folder")
    svc.upload([b"x"] * len(names), name=names, metadata={"parents": folder["id"].tolist()})

    with pytest.raises(ValueError, match=f"the folder 'papers' has no table; {words}"):
        svc.read_frame(folder)


def test_options_go_to_the_pandas_reader_and_one_that_it_has_not_is_refused_before_content_is_read(months):
    before = len(svc.exchanges())
    with pytest.raises(TypeError, match=r"'usecol' is not an option of pandas\.read_csv; did you mean 'usecols'"):
        svc.read_frame(months, usecol=["n"])
    assert not svc.exchanges()["query"].str.contains("alt=media")[before:].any()
    assert svc.read_frame(months, usecols=["n"], dtype={"n": "float64"})["n"].tolist() == [5.0, 7.0, 8.0]
    assert svc.read_frame(months, index_col="day").index.tolist() == [1, 2, 3]


def test_the_charset_of_the_media_type_is_used_and_a_format_may_be_given(lab):
    text = "é,b\n1,2\n"
    windows = svc.upload(text.encode("cp1252"), name="a.csv", mime_type="text/csv; charset=windows-1252")
    marked = svc.upload(text.encode("utf-8-sig"), name="b.csv", mime_type="text/csv; charset=UTF-8")
    unknown = svc.upload(text.encode(), name="c.csv", mime_type="text/csv; charset=klingon")

    assert [svc.read_frame(file).columns.tolist() for file in (windows, marked, unknown)] == [["é", "b"]] * 3
    assert svc.read_frame(svc.upload(b"a,b\n1,2\n"), format="csv").values.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: svc.upload(b"x", name="a.txt", convert_to="document"), "'a.txt' is a document, .*svc.export"),
        (lambda: svc.create_file(name="s", mime_type=f"{NATIVE}script"), "'s' is a script, .*'json'"),
        (lambda: svc.upload(b"x", name="a.txt"), r"'a.txt' is text/plain, .*svc\.read\(file\).*format='csv'"),
        (lambda: svc.upload(b"\x89PNG\r\n\x1a\n", name="a.png"), r"'a.png' is image/png, .*svc\.read\(file\)"),
        (lambda: svc.upload(b""), r"'Untitled' is application/octet-stream, .*format='csv'"),
    ],
    ids=["document", "script", "text", "picture", "unknown"],
)
def test_a_file_that_is_no_table_is_refused_with_what_to_use_instead(lab, make, words):
    with pytest.raises(ValueError, match=words) as caught:
        svc.read_frame(make())

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"sheet": "A"}, ValueError, r"sheet is for workbooks; 'january\.csv' is CSV"),
        ({"sheet": ["A"]}, TypeError, "sheet must be the name or the number of one sheet, not list"),
        ({"format": "excel"}, ValueError, "format is 'excel'; it must be one of csv, tsv, json"),
        ({"file_column": 3}, TypeError, "file_column must be a str or None"),
        ({"progress": "yes"}, TypeError, "progress must be"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(months, arguments, error, words):
    with pytest.raises(error, match=words):
        svc.read_frame(months, **arguments)


def test_a_flagged_file_is_read_only_if_its_owner_says_so(lab):
    file = svc.upload(b"n\n1\n", name="a.csv")
    lab.flag(file)

    with pytest.raises(NotAllowed):
        svc.read_frame(file)
    with pytest.warns(svc.AbusiveFileWarning):
        assert svc.read_frame(file, acknowledge_abuse=True)["n"].tolist() == [1]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.xlsx", "a.json"])
def test_large_content_is_read_from_a_temporary_file_that_is_removed(lab, monkeypatch, tmp_path, name):
    monkeypatch.setattr(module, "_IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file, done = svc.upload(BIRDS, name=name), []

    assert svc.read_frame(file, progress=lambda count, total: done.append(count)).equals(BIRDS)
    assert done[-1] == int(file["size"].item())
    broken = svc.upload(gzip.compress(b"a\n1\n")[:-9], name="b.csv.gz", mime_type="text/csv")
    with pytest.raises(ValueError, match=r"'b\.csv\.gz' cannot be read as CSV"):
        svc.read_frame(broken)
    assert list(tmp_path.iterdir()) == []
