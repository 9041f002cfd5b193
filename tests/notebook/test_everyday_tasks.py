"""Thirty everyday tasks, as a user types them who has read only signatures and docstrings (issue 19)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
import requests

import svc_notebooks as svc

TEN, ELEVEN = "2026-11-24 10:00", "2026-11-24 11:00"
BERLIN = {"start": TEN, "end": ELEVEN, "time_zone": "Europe/Berlin"}
CITIES = b"city,people\nRiga,605000\n"


@pytest.fixture(autouse=True)
def _notebook_folder(lab: svc.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank notebook in a folder with data/a.csv and data/sub/b.csv."""
    monkeypatch.chdir(tmp_path)
    for path in (Path("data/a.csv"), Path("data/sub/b.csv")):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(CITIES)


@pytest.fixture
def texts() -> pd.DataFrame:
    return svc.upload([b"1", b"22", b"333"], name=["1.txt", "2.txt", "3.txt"])


@pytest.fixture
def file() -> pd.DataFrame:
    return svc.upload(CITIES, name="cities.csv")


def test_01_a_stored_csv_as_a_frame(file: pd.DataFrame) -> None:
    assert svc.read_frame(file)["people"].tolist() == [605_000]
    assert svc.read_frame(svc.files(name="cities.csv"))["people"].tolist() == [605_000]


def test_02_parquet_keeps_the_dtypes() -> None:
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "kind": pd.Categorical(["x", "y"])})

    again = svc.read_frame(svc.upload(table, name="table.parquet"))

    pd.testing.assert_frame_equal(again, table)


def test_03_a_sheet_of_a_workbook() -> None:
    table = pd.DataFrame({"n": [1, 2]})

    book = svc.upload(table, name="table.xlsx")

    pd.testing.assert_frame_equal(svc.read_frame(book, sheet="Sheet1"), table)


def test_04_and_05_a_folder_up_and_down() -> None:
    svc.upload("data")

    svc.download(svc.files(name="data"), to="copy")

    assert Path("copy/data/sub/b.csv").read_bytes() == CITIES


def test_06_a_folder_and_what_is_in_it() -> None:
    folder = svc.create_folder("Data")
    svc.upload(CITIES, name="cities.csv", parent=folder)

    assert svc.files(folder=folder)["name"].tolist() == ["cities.csv"]


def test_07_move_what_a_search_gave(texts: pd.DataFrame) -> None:
    folder = svc.create_folder("Texts")

    svc.move(svc.files(name="*.txt"), to=folder)

    assert len(svc.files(folder=folder)) == 3


def test_08_rename(file: pd.DataFrame) -> None:
    assert svc.update(file, name="towns.csv")["name"].item() == "towns.csv"
    with pytest.raises(AttributeError, match=r"did you mean update\(file, name=\.\.\.\)"):
        svc.rename(file, "towns.csv")  # type: ignore[attr-defined]


def test_09_the_latest_csv_files(file: pd.DataFrame, texts: pd.DataFrame) -> None:
    latest = svc.files(name="*.csv", modified_after="yesterday", order_by="modified_time desc")

    assert latest["name"].tolist() == ["cities.csv"]


def test_10_out_of_the_trash(texts: pd.DataFrame) -> None:
    svc.trash(texts)

    svc.untrash(svc.files(trashed=True).iloc[0])

    assert len(svc.files(trashed=True)) == 2


def test_11_new_content_is_still_a_csv(file: pd.DataFrame) -> None:
    changed = svc.update(file, b"city,people\nOslo,700000\n")

    assert changed["mime_type"].item() == "text/csv"
    assert svc.read_frame(file)["city"].tolist() == ["Oslo"]


def test_12_a_description_for_several_files(texts: pd.DataFrame) -> None:
    assert svc.update(texts, description="draft")["description"].tolist() == ["draft"] * 3


def test_13_share_and_take_it_back(file: pd.DataFrame) -> None:
    svc.share(file, "bob@svc.example", role="writer")
    svc.share(file, "eve@svc.example")
    roles = svc.permissions(file).set_index("email_address")["role"]

    svc.unshare(file, ["bob@svc.example", "eve@svc.example"])

    assert roles.to_dict() == {"ada@svc.example": "owner", "bob@svc.example": "writer", "eve@svc.example": "reader"}
    assert svc.permissions(file)["role"].tolist() == ["owner"]


def test_14_a_page_as_pdf() -> None:
    pytest.importorskip("typst")
    report = svc.upload(b"<h1>Birds</h1>", name="birds.html", convert_to="document")

    with pytest.raises(ValueError, match=r"give the format 'pdf' and to='birds\.pdf'"):
        svc.export(report, "birds.pdf")
    exported = svc.export(report, "pdf")

    assert Path(exported["path"].item()).read_bytes().startswith(b"%PDF")


def test_15_a_csv_as_a_spreadsheet_and_as_a_frame() -> None:
    sheet = svc.upload(CITIES, name="cities.csv", convert_to="spreadsheet")

    assert svc.read_frame(sheet)["people"].tolist() == [605_000]


def test_16_go_on_after_an_interrupt(lab: svc.Sandbox) -> None:
    Path("film.mp4").write_bytes(bytes(30_000_000))

    def interrupt(done: int, total: int | None) -> None:
        if done > 10_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="8 of 29 MiB are stored; run the cell again to go on"):
        svc.upload("film.mp4", progress=interrupt)
    sent = len(lab.journal())
    film = svc.upload("film.mp4")

    assert film["size"].item() == 30_000_000
    assert lab.journal()["received"].iloc[sent:].sum() < 22_000_000


def test_17_the_first_bytes(file: pd.DataFrame) -> None:
    assert svc.read(file, byte_range=slice(0, 4)) == svc.read(file, byte_range=(0, 3)) == b"city"


def test_18_everything_that_matches_in_one_folder(texts: pd.DataFrame) -> None:
    svc.download(svc.files(name="*.txt"), to="texts")

    assert sorted(path.name for path in Path("texts").iterdir()) == ["1.txt", "2.txt", "3.txt"]


def test_19_be_notified(file: pd.DataFrame) -> None:
    rx = svc.receiver()
    svc.watch_file(file, rx)
    svc.update(file, name="towns.csv")
    rx.wait_for("update")

    assert svc.notifications()["state"].tolist() == rx.messages()["state"].tolist() == ["sync", "update"]


def test_20_what_has_changed_and_stop(file: pd.DataFrame) -> None:
    svc.changes()
    channel = svc.watch_changes(svc.receiver())
    svc.update(file, name="towns.csv")
    svc.stop_channel(channel)

    assert svc.changes()["name"].tolist() == ["towns.csv"]
    assert svc.channels()["state"].tolist() == ["stopped"]


def test_21_an_event_tomorrow_with_guests(lab: svc.Sandbox) -> None:
    times = {"start": "tomorrow 10:00", "end": "tomorrow 11:00", "time_zone": "Europe/Berlin"}

    event = svc.create_event("Meeting", **times, attendees=["bob@svc.example", "eve@svc.example"])

    assert event["start"].item().date() == lab.clock.now().date() + timedelta(days=1)
    assert event["start"].dt.hour.item() == 10


@pytest.mark.parametrize("words", ["every Tuesday until 2026-12-31", "FREQ=WEEKLY;BYDAY=TU;UNTIL=20261231T230000Z"])
def test_22_every_tuesday(words: str) -> None:
    event = svc.create_event("Meeting", **BERLIN, recurrence=words)

    assert svc.instances(event)["start"].dt.day.tolist() == [24, 1, 8, 15, 22, 29]


def test_23_fifty_events_from_a_spreadsheet() -> None:
    start = pd.date_range("2026-11-24 10:00", periods=50)
    plan = pd.DataFrame({"Title": "Lesson", "Start": start, "Until": start + pd.Timedelta("1h"), "Budget": 5})
    advice = r"give frame\.rename\(columns={'Title': 'summary', 'Until': 'end'}\), and rename or drop 'Budget'$"

    with pytest.raises(ValueError, match=advice):
        svc.create_events(plan, time_zone="Europe/Berlin")
    renamed = plan.rename(columns={"Title": "summary", "Until": "end"}).drop(columns=["Budget"])
    created = svc.create_events(renamed, time_zone="Europe/Berlin")

    assert created["error"].isna().all()
    assert len(svc.events()) == 50


def test_24_an_hour_later_and_cancelled() -> None:
    event = svc.create_event("Meeting", **BERLIN)

    moved = svc.update_event(event, start=ELEVEN, end="2026-11-24 12:00")
    svc.delete_event(event)

    assert str(moved["start"].item()) == "2026-11-24 11:00:00+01:00"
    assert len(svc.events()) == 0


def test_25_a_month_as_an_ics_file() -> None:
    svc.create_event("Meeting", **BERLIN)
    svc.create_event("Holiday", start="2026-12-24", end="2026-12-27")

    svc.export_events(to="november.ics", time_min="2026-11-01", time_max="2026-12-01")

    assert Path("november.ics").read_text(encoding="utf-8").count("BEGIN:VEVENT") == 1


def test_26_the_last_request_as_code(file: pd.DataFrame) -> None:
    assert str(svc.exchange().curl()).startswith("curl -X POST")
    assert "requests.request" in str(svc.exchange().python())


def test_27_two_failures(lab: svc.Sandbox) -> None:
    with lab.faults(status=503, times=2):
        svc.upload(b"arrives", name="once.txt")

    assert svc.exchanges()["status"].tolist() == [503, 503, 200]


def test_28_requests_in_another_program(lab: svc.Sandbox, file: pd.DataFrame) -> None:
    server = lab.serve()

    headers = {"Authorization": f"Bearer {lab.access_token}"}
    response = requests.get(f"{server.base_url}/storage/v3/files", headers=headers, timeout=60)

    assert response.json()["files"][0]["name"] == "cities.csv"


def test_29_keep_the_files_for_tomorrow(lab: svc.Sandbox, file: pd.DataFrame) -> None:
    lab.save("tomorrow.svc")
    lab.close()
    with pytest.raises(NotADirectoryError, match="open a saved sandbox with open_sandbox"):
        svc.sandbox("tomorrow.svc")
    svc.open_sandbox("tomorrow.svc")

    assert svc.files()["name"].tolist() == ["cities.csv"]


def test_30_sizes_and_deletion(texts: pd.DataFrame, file: pd.DataFrame) -> None:
    files = svc.files()

    sizes = files.groupby("mime_type")["size"].sum()
    svc.delete(files.loc[files["mime_type"] == "text/plain", "id"])

    assert sizes.to_dict() == {"text/csv": len(CITIES), "text/plain": 6}
    assert svc.files()["name"].tolist() == ["cities.csv"]
