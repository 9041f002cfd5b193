"""Frames are the same with pandas 2.2 and 3 (`make oldest`): texts, missing values, times, operations."""

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.frames.frames import frame, schema

IS_PANDAS_2 = pd.__version__.startswith("2.")
TABLE = schema("name text, size count, done flag, time time")


def test_texts_are_str_since_pandas_3_and_object_before():
    assert str(frame(TABLE, []).dtypes["name"]) == ("object" if IS_PANDAS_2 else "str")


def test_a_path_whose_bytes_are_not_utf8_is_a_text():
    table = frame(TABLE, [{"name": "data/\udcff.csv"}, {}])

    assert table["name"].tolist()[0] == "data/\udcff.csv"
    assert table["name"].isna().tolist() == [False, True]


def test_a_missing_value_is_missing_in_every_column():
    table = frame(TABLE, [{}, {"name": "a", "size": "1", "done": True, "time": "2026-11-02T10:00:00.000Z"}])

    assert table.isna().to_numpy().tolist() == [[True] * 4, [False] * 4]
    assert table["name"].fillna("-").tolist() == ["-", "a"]
    assert table["time"].dtype == "datetime64[ms, UTC]"


def test_files_are_selected_sorted_joined_and_grouped_by_their_texts(lab):
    svc.upload([b"1", b"22", b"333"], name=["a.txt", "b.csv", "c.txt"])
    files = svc.files()
    texts = files[files["name"].str.endswith(".txt")].sort_values("name", ascending=False)

    assert texts["name"].tolist() == ["c.txt", "a.txt"]
    assert files.groupby("mime_type")["size"].sum().to_dict() == {"text/csv": 2, "text/plain": 4}
    assert len(files.merge(texts[["id"]], on="id")) == 2
    assert svc.trash(texts)["trashed"].all()


def test_a_frame_goes_up_and_comes_back(lab):
    table = pd.DataFrame({"day": pd.date_range("2026-11-02", periods=2), "n": [1, 2], "text": ["a", None]})

    assert svc.read(svc.upload(table, name="table.csv")).decode().splitlines()[1:] == [
        "2026-11-02,1,a",
        "2026-11-03,2,",
    ]


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_events_are_created_from_times_of_every_unit(lab, unit):
    start = (
        pd.Series(pd.to_datetime(["2026-11-02 10:00"]))
        .dt.tz_localize("Europe/Berlin")
        .astype(f"datetime64[{unit}, Europe/Berlin]")
    )
    term = pd.DataFrame({"summary": ["Tea"], "start": start, "end": start + pd.Timedelta("1h")})

    assert svc.create_events(term)["id"].notna().all()
    assert svc.events()["start"].dt.tz_convert("UTC").astype(str).tolist() == ["2026-11-02 09:00:00+00:00"]
