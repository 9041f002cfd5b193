from datetime import date

import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotAllowed, SvcError

BERLIN = {"time_zone": "Europe/Berlin"}
WEEK = {"view": "week", "day": date(2026, 11, 2), **BERLIN}


@pytest.fixture
def talk(lab):
    return svc.create_event("Talk", start="2026-11-04 10:00", end="2026-11-04 11:00", **BERLIN)


@pytest.fixture
def lecture(lab):
    times = {"start": "2026-11-03 09:00", "end": "10:30", "recurrence": "weekly on Tue, Thu for 10 times", **BERLIN}
    return svc.create_event("Lecture", location="Hall 1", **times)


def rows(view):
    return view.grid.state["events"]


def key_of(view, first, title=None):
    """The key of the only event of this title on this day."""
    (row,) = [row for row in rows(view) if row["first"] == first and title in (None, row["title"])]
    return row["key"]


def change(view, key, days=0, minutes=0, length=0):
    view.grid.handler({"kind": "change", "key": key, "days": days, "minutes": minutes, "length": length})


def starts(view):
    return view.listed["start"].dt.strftime("%d %H:%M").tolist()


def test_the_grid_gets_the_events_of_the_week_in_the_time_zone_of_the_view(talk, lecture):
    svc.create_event("Trip", start="2026-11-05", end="2026-11-08", color="Banana")
    svc.create_event("Night", start="2026-11-06 22:00", end="2026-11-07 00:00", **BERLIN)
    view = svc.calendar_view(view="week", day=date(2026, 11, 2), time_zone="America/New_York")

    shown = {row["title"]: row for row in rows(view)}
    assert view.grid.state["days"][0], view.grid.state["days"][-1] == ("2026-11-02", "2026-11-08")
    assert (shown["Talk"]["first"], shown["Talk"]["begin"], shown["Talk"]["end"]) == ("2026-11-04", 240, 300)
    assert (shown["Trip"]["first"], shown["Trip"]["last"], shown["Trip"]["bar"]) == ("2026-11-05", "2026-11-07", True)
    assert shown["Trip"]["color"] == "#fbd75b"
    assert shown["Lecture"]["label"].startswith("Lecture, Thursday 5 November 2026, 03:00 to 04:30, repeats, calendar")
    assert "UTC-5" in view.toolbar.zone.value


def test_one_request_for_each_shown_calendar_and_period(lab, talk):
    term = svc.create_calendar("Term")["id"].item()
    view = svc.calendar_view(calendar=["primary", term], **WEEK)
    before = len(svc.exchanges())

    view.toolbar.buttons["next"].click()

    queries = svc.exchanges()["query"].iloc[before:]
    assert len(queries) == 2
    assert queries.str.contains("singleEvents=true").all()
    assert queries.str.contains("timeMax=2026-11-15T23", regex=False).all()
    assert "9 to 15 November 2026" in view.toolbar.heading.value


def test_arguments_that_are_not_valid(lab):
    with pytest.raises(ValueError, match="must be one of month, week, day"):
        svc.calendar_view(view="year")
    with pytest.raises(ValueError, match=r"svc\.calendars\(\) lists the calendars"):
        svc.calendar_view(calendar="nowhere")
    with pytest.raises(ValueError, match=r"day is 'some day'"):
        svc.calendar_view(day="some day")
    assert repr(svc.calendar_view(day="2026-11-02")) == "<CalendarView: November 2026, 0 events>"


def test_a_move_is_the_call_that_the_code_shows_and_undo_moves_it_back(lab, talk):
    view = svc.calendar_view(**WEEK)
    code = "svc.update_event(\n    {id!r},\n    start='2026-11-05 10:30',\n    end='2026-11-05 12:00',\n"
    event_id, etag = talk["id"].item(), talk["etag"].item()

    change(view, key_of(view, "2026-11-04"), days=1, minutes=30, length=30)

    assert view.last_error is None
    assert starts(view) == ["05 10:30"]
    assert view.code().startswith(code.format(id=event_id))
    assert view.code().endswith(f"    time_zone='Europe/Berlin',\n    if_match={etag!r},\n)")
    assert view.result[["action", "summary"]].values.tolist() == [["moved", "Talk"]]
    assert "Moved Talk to Thursday 5 November 2026, 10:30 to 12:00." in view.status.value
    view.undo_button.click()
    assert view.last_error is None
    assert starts(view) == ["04 10:00"]
    assert view.undo_button.layout.display == "none"


def test_an_event_that_somebody_changed_or_owns_is_not_overwritten(talk):
    view = svc.calendar_view(**WEEK)
    key = key_of(view, "2026-11-04")
    svc.update_event(talk, start="2026-11-04 15:00", end="2026-11-04 16:00")
    change(view, key, days=1)
    assert "was changed in the meantime" in view.alert.value
    assert isinstance(view.last_error, SvcError)
    assert starts(view) == ["04 15:00"]

    for entry in view.toolbar.entries:
        entry["accessRole"] = "reader"
    view.refresh()
    change(view, key_of(view, "2026-11-04"), days=1)
    assert "You can only read the calendar" in view.alert.value
    assert starts(view) == ["04 15:00"]


def test_the_details_and_a_deletion_after_a_question(lab):
    svc.create_event("Talk", start="2026-11-04 10:00", end="2026-11-04 11:00", location="<b>Hall", **BERLIN)
    view = svc.calendar_view(**WEEK)

    view.grid.handler({"kind": "open", "key": key_of(view, "2026-11-04")})
    facts = view.details.head.value
    view.details.delete.click()
    assert view.confirmation.is_open
    assert len(rows(view)) == 1
    view.confirmation.yes.click()

    assert "&lt;b&gt;Hall" in facts
    assert rows(view) == []
    assert view.code().startswith("svc.delete_event(")
    assert view.result["action"].tolist() == ["deleted"]


def ask_move(view, first, **by):
    change(view, key_of(view, first), **by)
    assert view.question.is_open


def answer(view, scope):
    view.question.buttons[scope].click()
    assert view.last_error is None


def test_following_events_become_a_series_of_their_own(lecture):
    view = svc.calendar_view(**WEEK)
    ask_move(view, "2026-11-05", days=1, minutes=60)

    answer(view, "following")

    old, new = svc.events(calendar="primary")["recurrence"].tolist()
    assert old == ["RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20261105T075959Z"]
    assert new == ["RRULE:FREQ=WEEKLY;BYDAY=WE,FR;COUNT=9"]
    assert starts(view) == ["03 09:00", "06 10:00"]
    assert view.result["action"].tolist() == ["split"]
    assert "this_and_following=True" in view.code()
    assert svc.event(view.result["id"][0])["location"].item() == "Hall 1"


@pytest.mark.parametrize("scope", ["following", "all"])
def test_changed_and_cancelled_instances_of_a_series_are_kept(lecture, scope):
    listed = svc.instances(lecture)
    svc.delete_event(listed["id"][3])
    svc.update_event(listed["id"][4], summary="Guest lecture")
    svc.update_event(listed["id"][5], start="2026-11-20 14:00", end="2026-11-20 15:00")
    view = svc.calendar_view(day=date(2026, 11, 2), **BERLIN)
    before = starts(view), view.listed["summary"].tolist()
    ask_move(view, "2026-11-05", minutes=60)

    answer(view, scope)
    moved = starts(view), view.listed["summary"].tolist()
    view.undo_button.click()

    first = "03 09:00" if scope == "following" else "03 10:00"
    assert moved[0] == [
        *(first, "05 10:00", "10 10:00", "17 10:00", "20 14:00"),
        *("24 10:00", "26 10:00", "01 10:00", "03 10:00"),
    ]
    assert moved[1] == ["Lecture"] * 3 + ["Guest lecture"] + ["Lecture"] * 5
    assert view.last_error is None
    assert (starts(view), view.listed["summary"].tolist()) == before


def test_the_old_series_is_restored_if_the_new_one_cannot_be_created_and_an_event_is_moved_alone(lecture, monkeypatch):
    view = svc.calendar_view(**WEEK)

    def insert_event(*arguments, **named):
        raise NotAllowed("No new events today.", status=403)

    with monkeypatch.context() as patch:
        patch.setattr("svc_notebooks.notebook.events.records.insert_event", insert_event)
        ask_move(view, "2026-11-05", minutes=60)
        view.question.buttons["following"].click()
    assert "No new events today." in view.alert.value
    assert view.result.empty
    assert starts(view) == ["03 09:00", "05 09:00"]
    assert len(svc.instances(lecture)) == 10

    view = svc.calendar_view(**WEEK)
    ask_move(view, "2026-11-03", minutes=60)
    answer(view, "this")
    assert starts(view) == ["03 10:00", "05 09:00"]
    assert view.result["action"].tolist() == ["moved"]


@pytest.mark.parametrize("send", ["all", "none"])
def test_a_move_of_an_event_with_guests_asks_whether_to_tell_them(lab, send):
    svc.create_event("Lunch", start="2026-11-04 12:00", duration="1h", attendees=["bob@svc.example"], **BERLIN)
    view = svc.calendar_view(**WEEK)
    change(view, key_of(view, "2026-11-04"), days=1, length=30)
    assert starts(view) == ["04 12:00"]
    assert view.guests.is_open
    assert "Send updates to guests?" in view.guests.head.value
    view.guests.buttons[send].click()

    assert view.last_error is None
    assert starts(view) == ["05 12:00"]
    assert f"send_updates='{send}'" in view.code()
    assert f"sendUpdates={send}" in svc.exchanges()["query"][svc.exchanges()["method"] == "PATCH"].iloc[-1]
    view.undo_button.click()
    assert starts(view) == ["04 12:00"]
    assert f"send_updates='{send}'" in view.code()


def test_an_event_is_created_in_empty_time_or_with_more_options(lab):
    view = svc.calendar_view(**WEEK)
    times = {"first": "2026-11-04", "last": "2026-11-04", "begin": 600, "end": 690}
    view.grid.handler({"kind": "create", **times})
    panel = view.new_event
    assert "Wednesday 4 November 2026, 10:00 to 11:30" in panel.head.value
    panel.summary.value = "Tea"
    panel.create.click()

    assert starts(view) == ["04 10:00"]
    assert view.code() == (
        "svc.create_event(\n    'Tea',\n    start='2026-11-04 10:00',\n    end='2026-11-04 11:30',\n"
        "    time_zone='Europe/Berlin',\n)"
    )
    view.grid.handler({"kind": "create", **times})
    view.new_event.summary.value = "Walk"
    view.new_event.more.click()
    view.editor.controls.location.value = "Mill pond"
    view.editor.create.click()

    assert view.editor is None
    assert svc.events("Walk")[["summary", "location"]].values.tolist() == [["Walk", "Mill pond"]]
    assert starts(view) == ["04 10:00", "04 10:00"]


def test_the_editor_saves_only_what_changed(talk):
    svc.update_event(talk, description="Bring bread.", attendees=["bob@svc.example"])
    view = svc.calendar_view(**WEEK)
    view.grid.handler({"kind": "open", "key": key_of(view, "2026-11-04")})
    view.details.edit.click()
    editor = view.editor
    assert not editor.controls.more.shown, "only values that are not the default are shown"
    editor.controls.summary.value = "Lunch talk"
    editor.controls.description.value = ""
    shown = editor.code()
    editor.create.click()
    editor.guests.buttons["none"].click()

    assert view.last_error is None
    assert view.code() == shown.removesuffix(")") + "    send_updates='none',\n)"
    assert "summary='Lunch talk'" in view.code()
    assert "metadata={'description': None}" in view.code()
    assert "attendees" not in view.code()
    stored = svc.event(talk)
    assert stored["summary"].item() == "Lunch talk"
    assert [guest["email"] for guest in stored["attendees"].item()] == ["bob@svc.example"]
