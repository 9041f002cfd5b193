"""Frames are the same with pandas 2.2 and 3 (`make oldest`): texts, missing values, times, operations."""

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.frames import frame, schema

IS_PANDAS_2 = pd.__version__.startswith("2.")
TABLE = schema("name text, size count, done flag, time time")


def test_texts_are_str_since_pandas_3_and_object_before_also_with_bytes_that_are_not_utf8():
    assert str(frame(TABLE, []).dtypes["name"]) == ("object" if IS_PANDAS_2 else "str")
    table = frame(TABLE, [{"name": "data/\udcff.csv"}, {}])
    assert table["name"].tolist()[0] == "data/\udcff.csv"
    assert table["name"].isna().tolist() == [False, True]


def test_files_are_selected_sorted_joined_and_grouped_by_their_texts(lab):
    svc.upload([b"1", b"22", b"333"], name=["a.txt", "b.csv", "c.txt"])
    files = svc.files()
    texts = files[files["name"].str.endswith(".txt")].sort_values("name", ascending=False)

    assert texts["name"].tolist() == ["c.txt", "a.txt"]
    assert files.groupby("mime_type")["size"].sum().to_dict() == {"text/csv": 2, "text/plain": 4}
    assert len(files.merge(texts[["id"]], on="id")) == 2
    assert svc.trash(texts)["trashed"].all()


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_events_are_created_from_times_of_every_unit(lab, unit):
    start = pd.Series(pd.to_datetime(["2026-11-02 10:00"]).tz_localize("Europe/Berlin").as_unit(unit))
    term = pd.DataFrame({"summary": ["Tea"], "start": start, "end": start + pd.Timedelta("1h")})

    assert svc.create_events(term)["id"].notna().all()
    assert svc.events()["start"].dt.tz_convert("UTC").astype(str).tolist() == ["2026-11-02 09:00:00+00:00"]
