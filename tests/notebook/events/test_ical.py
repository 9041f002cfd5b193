from datetime import UTC
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import vobject

import svc_notebooks as svc

BERLIN = "Europe/Berlin"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    vars(vobject.icalendar)["__tzidMap"].clear()  # the zones of one file are not those of another
    vobject.icalendar.registerTzid("UTC", UTC)


@pytest.fixture
def seminar(lab: svc.Sandbox) -> pd.DataFrame:
    times = {"start": "2026-10-19 10:00", "end": "11:30", "time_zone": BERLIN}
    return svc.create_event("Seminar", **times, recurrence="weekly on Mon, Wed, 6 times")


def read(saved: pd.DataFrame) -> Any:
    return vobject.readOne(Path(saved["path"].item()).read_text(encoding="utf-8"))


def instants(vevent: Any) -> list[pd.Timestamp]:
    return [pd.Timestamp(instance).tz_convert("UTC") for instance in vevent.rruleset]


def test_another_library_finds_the_instances_that_the_service_has(seminar: pd.DataFrame):
    saved = svc.export_events(seminar, "seminar.ics")
    starts = svc.instances(seminar)["start"].dt.tz_convert("UTC")
    assert instants(read(saved).vevent) == starts.tolist()
    assert len(starts) == 6

    one = read(svc.export_events(svc.instances(seminar).iloc[3], "one.ics")).vevent
    assert "rrule" not in one.contents
    assert pd.Timestamp(one.dtstart.value) == pd.Timestamp("2026-10-28 10:00", tz=BERLIN)


def test_what_was_saved_is_a_row(seminar: pd.DataFrame):
    saved = svc.export_events(to="term.ics")

    assert saved.iloc[0].to_dict() == {
        "path": "term.ics",
        "calendar": "ada@svc.example",
        "events": 1,
        "changed_instances": 0,
        "size": Path("term.ics").stat().st_size,
        "outcome": "saved",
    }


def test_a_file_without_a_path_has_the_calendars_name(lab: svc.Sandbox, tmp_path: Path):
    term = svc.create_calendar("Term: winter/27", time_zone=BERLIN)["id"].item()
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", calendar=term)

    saved = svc.export_events(calendar=term)

    assert saved["path"].item() == "Term_ winter_27.ics"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["Term_ winter_27.ics"]
    assert read(saved).contents["x-wr-calname"][0].value == "Term: winter/27"


@pytest.mark.parametrize("chosen", [None, "series"])
def test_instances_that_were_changed_or_cancelled_come_with_their_series(seminar: pd.DataFrame, chosen: str | None):
    every = svc.instances(seminar)
    svc.delete_event(every.iloc[1])
    svc.update_event(every.iloc[2], start="2026-10-27 15:00", end="2026-10-27 16:00", time_zone=BERLIN, summary="Later")

    saved = svc.export_events(seminar if chosen else None, "seminar.ics")

    series, changed = read(saved).vevent_list
    assert saved[["events", "changed_instances"]].values.tolist() == [[1, 1]]
    assert instants(series) == [start.tz_convert("UTC") for n, start in enumerate(every["start"]) if n != 1]
    assert pd.Timestamp(changed.recurrence_id.value) == every["start"].iloc[2]
    assert (changed.summary.value, changed.uid.value) == ("Later", series.uid.value)


def test_time_bounds_select_from_all_events(lab: svc.Sandbox):
    for day in ("2026-11-02", "2026-11-09", "2026-11-16"):
        svc.create_event(day, start=f"{day} 10:00", end=f"{day} 11:00", time_zone=BERLIN)

    saved = svc.export_events(to="week.ics", time_min="2026-11-03", time_max="2026-11-10")

    assert [vevent.summary.value for vevent in read(saved).vevent_list] == ["2026-11-09"]


def test_an_invalid_argument_is_refused_before_anything_is_sent(lab: svc.Sandbox):
    sent = len(svc.exchanges())

    with pytest.raises(ValueError, match="events cannot be combined"):
        svc.export_events("abcde", time_min="2026-11-02")
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        svc.export_events(to="nowhere/term.ics")
    with pytest.raises(ValueError, match="must be a non-empty str"):
        svc.export_events(calendar="")

    assert len(svc.exchanges()) == sent
