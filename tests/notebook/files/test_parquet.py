import datetime

import pandas as pd
import pytest

import svc_notebooks as svc

TABLE = pd.DataFrame(
    {
        "text": ["é", "007", None],
        "count": pd.array([1, None, 3], dtype="Int64"),
        "number": [2**60 + 1, -1, 0],
        "share": [0.1 + 0.2, float("inf"), None],
        "flag": pd.array([True, None, False], dtype="boolean"),
        "day": pd.to_datetime(["2026-01-02", None, "2026-03-04"]),
        "nanoseconds": pd.to_datetime(["2026-01-02T03:04:05.123456789"] * 3).as_unit("ns"),
        "at": pd.to_datetime(["2026-01-02T03:04:05Z"] * 3).tz_convert("Europe/Berlin"),
        "length": pd.to_timedelta(["1h", "2h", None]),
        "group": pd.Categorical(["a", "b", "a"]),
        "date": [datetime.date(2026, 1, 2)] * 3,
    }
)


@pytest.mark.parametrize("rows", [3, 0])
def test_every_dtype_comes_back(lab, rows):
    table = TABLE.iloc[:rows].drop(columns=[] if rows else ["date", "group"])

    file = svc.upload(table, name="table.parquet")

    assert file["mime_type"].item() == "application/vnd.apache.parquet"
    pd.testing.assert_frame_equal(svc.read_frame(file), table)


@pytest.mark.parametrize("index", [["p", "q", "r"], pd.Index([2019, 2021, 2020], name="year"), [7, 5, 6]])
def test_an_index_comes_back(lab, index):
    table = pd.DataFrame({"n": [1, 2, 3]}, index=index)

    pd.testing.assert_frame_equal(svc.read_frame(svc.upload(table, name="table.parquet")), table)


@pytest.mark.parametrize(
    "table, words",
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "cannot be written as Parquet: Duplicate column names"),
        (pd.DataFrame({"a": [1, "x"]}), "cannot be written as Parquet: .*column a with type object"),
    ],
    ids=["two columns of a name", "mixed types"],
)
def test_a_frame_that_parquet_cannot_hold_is_refused(lab, table, words):
    with pytest.raises(ValueError, match=words):
        svc.upload(table, name="table.parquet")

    assert len(svc.exchanges()) == 0
