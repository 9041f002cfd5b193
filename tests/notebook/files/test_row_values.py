import numpy as np
import pandas as pd
import pytest

import svc_notebooks as svc


@pytest.fixture
def files(lab):
    return svc.upload([b"1", b"22"], name=["a", "b"])


@pytest.mark.parametrize(
    "column", [list, tuple, pd.Series, np.array, pd.Index, lambda values: pd.Series(values, index=[7, 8])]
)
def test_a_column_has_a_value_for_each_file(files, column):
    changed = svc.update(files, name=column(["x", "y"]), starred=column([True, False]), description="both")
    copies = svc.copy(files, column(["c", "d"]))
    uploads = svc.upload([b"1", b"2"], name=column(["e", "f"]), metadata={"starred": column([False, True])})

    assert changed[["name", "starred", "description"]].values.tolist() == [["x", True, "both"], ["y", False, "both"]]
    assert copies["name"].tolist() == ["c", "d"]
    assert uploads[["name", "starred"]].values.tolist() == [["e", False], ["f", True]]


@pytest.mark.parametrize("call", [svc.upload, lambda source, **options: svc.update(svc.files(), source, **options)])
def test_a_source_that_cannot_be_read_fails_alone_or_before_anything_is_sent(files, tmp_path, call):
    paths = [tmp_path / "there.txt", tmp_path / "missing.txt"]
    paths[0].write_text("text")

    with pytest.raises(FileNotFoundError, match=r"2 sources cannot be read, .*'gone'.*'lost'"):
        call(["gone", "lost"], errors="raise")
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        call(paths)
    assert len(svc.exchanges().query("method != 'GET'")) == 2
    with pytest.warns(UserWarning, match="1 of 2 rows failed"):
        result = call(paths, errors="return", workers=2)
    assert result["outcome"].tolist() == ["done", "failed"]
    assert "missing.txt' does not exist" in result["error"][1]


def test_metadata_contents_and_ids_are_lists_and_a_missing_value_changes_nothing(files):
    changed = svc.update(files, [b"one", b"three"], metadata=[{"description": "first"}, {"starred": True}])
    ids = svc.generate_ids(2)["id"]
    created = svc.upload([b"1", b"2"], file_id=ids, metadata=[{"name": "x"}, {"name": "y"}], folder="root")

    assert changed["size"].tolist() == [3, 5]
    assert svc.file(files)["name"].tolist() == ["a", "b"]
    assert svc.file(files, fields="description,starred")["starred"].tolist() == [False, True]
    assert [svc.read(row) for row in files["id"]] == [b"one", b"three"]
    assert created["id"].tolist() == ids.tolist()
    assert created["name"].tolist() == ["x", "y"]
    assert svc.update(files, name=pd.Series(["x", None]))["name"].tolist() == ["x", "b"]


def test_a_call_with_columns_goes_on_and_returns_errors(files, tmp_path):
    rows, names = [files["id"][0], "nothing", files["id"][1]], ["x", "y", "z"]
    arguments = {"resume": tmp_path / "names", "workers": 2, "errors": "return"}
    outcomes = []
    for columns in (names, names, ["x", "y", "w"]):
        with pytest.warns(UserWarning, match="1 of 3 rows failed"):
            outcomes.append(svc.update(rows, name=columns, **arguments)["outcome"].tolist())

    first, *others = outcomes
    assert first == ["done", "failed", "done"]
    assert others == [["skipped", "failed", "skipped"], ["skipped", "failed", "done"]]
    assert sorted(svc.files()["name"]) == ["w", "x"]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda rows: svc.update(rows, name=["x"]), ValueError, "name is a list with 1 value for 2 files; give one v"),
        (lambda rows: svc.update(rows, starred=pd.Series([True] * 3)), ValueError, "starred is a Series with 3 values"),
        (lambda rows: svc.update(rows, name=["x", 1]), ValueError, "name of file 1 is of type int: expected a string"),
        (lambda rows: svc.update(rows, metadata=[{}]), ValueError, "metadata is a list with 1 value for 2 files"),
        (lambda rows: svc.update(rows, metadata=["a", "b"]), TypeError, "metadata must be a dict of fields, not str"),
        (lambda rows: svc.update(rows, metadata="a"), TypeError, "metadata must be a dict, a list of dicts or None"),
        (lambda rows: svc.update(rows, [b"1"] * 3), ValueError, "source has 3 sources for 2 files; give one, or one f"),
        (lambda rows: svc.upload([b"1", b"2"], name=["x"]), ValueError, "name is a list with 1 value for 2 sources"),
        (lambda rows: svc.upload([b"1"], name=[1]), TypeError, "name must be a str or a list of str, not list of int"),
        (lambda rows: svc.create_file("c", directory="x"), TypeError, "directory is not a field that can be set here;"),
        (lambda rows: svc.update(rows, worker=3), TypeError, "worker is not a field that can be set here; did you me"),
        (lambda rows: svc.copy(rows, ["x"]), ValueError, "name is a list with 1 value for 2 files"),
    ],
)
def test_a_wrong_length_or_type_is_named_and_nothing_is_sent(files, call, error, message):
    with pytest.raises(error) as raised:
        call(files)

    assert str(raised.value).startswith(message)
    assert svc.files(order_by="name")["name"].tolist() == ["a", "b"]
