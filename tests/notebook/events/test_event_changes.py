import json
from datetime import date

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotAllowed, SvcError
from tests.notebook.batch.test_batch import PicklingExecutor

BERLIN = {"time_zone": "Europe/Berlin"}


@pytest.fixture
def talk(lab):
    return svc.create_event("Talk", start="2026-11-04 10:00", end="11:30", **BERLIN)


@pytest.fixture
def lecture(lab):
    """Ten lectures, of which the fourth is cancelled, the fifth is changed and the sixth is moved."""
    made = svc.create_event(
        "Lecture", start="2026-11-03 09:00", end="10:30", recurrence="weekly on Tue, Thu for 10 times", **BERLIN
    )
    listed = svc.instances(made)["id"]
    svc.delete_event(listed[3])
    svc.update_event(listed[4], summary="Guest lecture", description="Bring notes.")
    svc.update_event(listed[5], start="2026-11-20 14:00", end="15:00")
    return made


def shown():
    listed = svc.events(single_events=True, time_max="2027-11-01", order_by="start_time", **BERLIN)
    starts = listed["start"].dt.strftime("%d %H:%M").tolist()
    return [" ".join(filter(None, row)) for row in zip(starts, listed["summary"], strict=True)]


def times(event):
    row = svc.event(event).iloc[0]
    tz = row["time_zone"] if isinstance(row["time_zone"], str) else "UTC"
    return str(row["start"].tz_convert(tz))[:16], str(row["end"].tz_convert(tz))[:16], bool(row["all_day"])


LATER = ("2026-11-05 16:00", "2026-11-05 17:30", False)
MOVED = [
    *("03 10:00 Lecture", "05 10:00 Lecture", "10 10:00 Lecture", "17 10:00 Guest lecture", "20 14:00 Lecture"),
    *("24 10:00 Lecture", "26 10:00 Lecture", "01 10:00 Lecture", "03 10:00 Lecture"),
]


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"start": "2026-11-05 16:00"}, LATER),
        ({"start": "2026-11-05T16:00+02:00"}, ("2026-11-05 15:00", "2026-11-05 16:30", False)),
        ({"start": pd.Timestamp("2026-11-05 16:00", tz="Europe/Berlin")}, LATER),
        ({"start": "2026-11-05 16:00", "time_zone": "America/New_York"}, LATER),
        ({"start": "2026-11-05 16:00", "end": "17:00"}, ("2026-11-05 16:00", "2026-11-05 17:00", False)),
        ({"end": "12:00"}, ("2026-11-04 10:00", "2026-11-04 12:00", False)),
        ({"duration": "2 h"}, ("2026-11-04 10:00", "2026-11-04 12:00", False)),
        ({"start": "2026-11-05"}, ("2026-11-05 00:00", "2026-11-06 00:00", True)),
        ({"start": date(2026, 11, 5), "duration": "2 days"}, ("2026-11-05 00:00", "2026-11-07 00:00", True)),
        ({"start": "2026-11-05", "end": "2026-11-08"}, ("2026-11-05 00:00", "2026-11-08 00:00", True)),
    ],
    ids=lambda value: " ".join(f"{name}={given}" for name, given in value.items()) if isinstance(value, dict) else "",
)
def test_new_times(talk, changes, expected):
    svc.update_event(talk, **changes)

    assert times(talk) == expected


def test_a_series_becomes_all_day_and_keeps_its_exceptions(lecture):
    svc.update_event(lecture, start="2026-11-03")

    assert shown()[3:6] == ["17 00:00 Guest lecture", "20 14:00 Lecture", "24 00:00 Lecture"]
    assert svc.event(lecture)["recurrence"].item() == ["RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=10"]
    svc.update_event(lecture, start="2026-11-03 10:00", end="11:30", **BERLIN)
    assert shown() == MOVED


def test_recurrence_none_ends_a_recurrence_and_an_instance_has_none(lecture):
    with pytest.raises(ValueError, match="recurrence is that of the series; give its id"):
        svc.update_event(svc.instances(lecture)["id"][1], recurrence="daily")
    with pytest.warns(UserWarning, match="individual changes of 2 instances are lost"):
        svc.update_event(lecture, recurrence=None)

    assert shown() == ["03 09:00 Lecture"]


def test_a_series_that_moves_to_another_day_moves_its_rule_if_the_rule_can_be_moved(lab):
    lines = ["RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20261123T090000Z", "EXDATE;TZID=Europe/Berlin:20261109T100000"]
    monday = {"start": "2026-11-02 10:00", "end": "11:00", **BERLIN}
    made = svc.create_event("Run", recurrence=lines, **monday)
    svc.update_event(made, start="2026-11-03 12:00")
    assert shown() == ["03 12:00 Run", "17 12:00 Run", "24 12:00 Run"]

    board = svc.create_event("Board", recurrence="monthly on the first Monday", **monday)
    with pytest.raises(ValueError, match="cannot be moved in this way"):
        svc.update_event(board, start="2026-11-03 10:00")
    assert times(board) == ("2026-11-02 10:00", "2026-11-02 11:00", False)


def test_this_and_following_is_a_series_of_its_own(lecture):
    third = svc.instances(lecture)["id"][2]

    made = svc.update_event(third, this_and_following=True, start="2026-11-10 10:00", location="Hall 2")

    assert shown() == ["03 09:00 Lecture", "05 09:00 Lecture", *MOVED[2:]]
    assert made["recurrence"].item()[0] == "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=8"
    assert made["id"].item() != lecture["id"].item()
    assert svc.events(single_events=True, limit=20)["location"].notna().sum() == 7
    assert svc.event(svc.events("Guest", single_events=True, limit=9))["description"].tolist() == ["Bring notes."]


@pytest.mark.parametrize("recurrence, more", [(None, []), ("weekly on Tue, 2 times", ["17 09:00 Guest lecture"])])
def test_this_and_following_with_another_recurrence(lecture, recurrence, more):
    third = svc.instances(lecture)["id"][2]

    with pytest.warns(UserWarning, match="no instances for the individual changes"):
        svc.update_event(third, this_and_following=True, recurrence=recurrence)

    assert shown() == ["03 09:00 Lecture", "05 09:00 Lecture", "10 09:00 Lecture", *more]


@pytest.mark.parametrize("first", [True, False])
def test_this_and_following_of_the_first_instance_changes_the_series(lecture, first):
    event = svc.instances(lecture)["id"][0] if first else lecture

    changed = svc.update_event(event, this_and_following=True, start="2026-11-03 10:00")

    assert shown() == MOVED
    assert changed["id"].tolist() == lecture["id"].tolist()


def test_this_and_following_that_is_refused_changes_nothing(lab, lecture, talk):
    before, listed = shown(), svc.instances(lecture)
    third = listed["id"][2]
    etag = svc.event(third)["etag"].item()
    svc.update_event(lecture, location="Hall 3", attendees=["bob@svc.example"])
    bob = lab.sign_in("bob@svc.example")

    with pytest.raises(ValueError, match="is not an instance of a recurring event"):
        svc.update_event(talk, this_and_following=True, summary="x")
    with pytest.raises(SvcError) as stale:
        svc.update_event(third, this_and_following=True, summary="x", if_match=etag)
    with pytest.raises(svc.BadRequest):
        svc.update_event(third, this_and_following=True, attendees=["nobody"])
    with pytest.raises((ValueError, NotAllowed), match="Only the organizer"):
        svc.update_event(third, this_and_following=True, summary="x", session=bob)
    sent = len(svc.exchanges())
    with pytest.raises(ValueError, match=r"event has 2 instances of the series .* takes one of them"):
        svc.update_event(listed["id"][[2, 6]], this_and_following=True, summary="x")
    with pytest.raises(ValueError, match="event_id is the id of a new event"):
        svc.update_event(listed["id"][[2, 6]], event_id="abcde")

    assert len(svc.exchanges()) == sent
    assert stale.value.status == 412
    assert shown() == before


def test_only_a_recurring_all_day_event_is_sent_with_a_time_zone(lab):
    bodies = []
    for recurrence in (None, "yearly"):
        svc.create_event("Holiday", start="2026-01-09", recurrence=recurrence, **BERLIN)
        bodies.append(json.loads(svc.exchange().request_body))

    assert (bodies[0]["start"], bodies[0]["end"]) == ({"date": "2026-01-09"}, {"date": "2026-01-10"})
    assert bodies[1]["start"] == {"date": "2026-01-09", "timeZone": "Europe/Berlin"}


@pytest.mark.parametrize("name, times", [("start", ("02:30", "04:00")), ("end", ("01:30", "02:30"))])
def test_a_time_that_the_clock_skips_is_named(talk, name, times):
    arguments = {"start": f"2026-03-29 {times[0]}", "end": times[1]}
    for change in (lambda: svc.create_event("x", **arguments, **BERLIN), lambda: svc.update_event(talk, **arguments)):
        with pytest.raises(ValueError, match=f"{name}: 02:30 does not exist on 29 March 2026 in Europe/Berlin"):
            change()


@pytest.mark.parametrize(
    "recurrence, message",
    [
        ("weekly on Mon until 2026-10-01", "ends before the start .* takes place only once"),
        ("weekly on Tue", r"start is Monday 2026-11-02 .* not in the recurrence RRULE:FREQ=WEEKLY;BYDAY=TU"),
    ],
)
def test_a_recurrence_that_does_not_fit_the_start_is_named(talk, recurrence, message):
    monday = {"start": "2026-11-02 10:00", "end": "11:00", "recurrence": recurrence, **BERLIN}
    for change in (
        lambda: svc.create_event("x", **monday),
        lambda: svc.preview_recurrence(**{**monday, "end": "2026-11-02 11:00"}),
        lambda: svc.update_event(talk, **monday),
    ):
        with pytest.warns(UserWarning, match=message):
            change()


def test_a_window_that_ends_before_it_begins_is_named(lab):
    daily = svc.create_event("x", start="2026-11-02", recurrence="daily")
    window = {"time_min": "2026-11-02", "time_max": "2026-11-01"}
    for call in (
        lambda: svc.events(**window),
        lambda: svc.instances(daily, **window),
        lambda: svc.preview_recurrence("2026-11-02", "2026-11-03", "daily", **window),
        lambda: svc.free_busy(**window),
        lambda: svc.export_events(**window),
    ):
        with pytest.raises(ValueError, match=r"^time_max is 2026-11-01, which is not after time_min, 2026-11-02"):
            call()


def test_an_individual_change_that_is_refused_does_not_stop_the_others(lecture, lab):
    second, warns = svc.instances(lecture)["id"][1], pytest.warns(UserWarning, match="not have the individual changes")
    with lab.faults(operation="events.patch", status=400, nth=2), warns:
        svc.update_event(second, this_and_following=True, location="Hall 2")

    assert "20 14:00 Lecture" in shown()


@pytest.mark.parametrize(
    "change, end",
    [
        ({"duration": "8 h"}, "18:00+01:00"),
        ({"end": "06:00"}, "12:00+01:00"),
        ({"end": "2026-11-02 06:00"}, "12:00+01:00"),
    ],
)
def test_a_flight_keeps_the_time_zone_of_its_end(lab, change, end):
    flight = svc.create_event(
        "Flight", start="2026-11-02 10:00", end="13:00", end_time_zone="America/New_York", **BERLIN
    )

    changed = svc.update_event(flight, **change).iloc[0]

    assert changed["end_time_zone"] == "America/New_York"
    assert changed["end"].isoformat()[11:16] + changed["end"].isoformat()[19:] == end


BATCH_COLUMNS = ["outcome", "error", "attempts", "seconds"]
DAYS = pd.DataFrame({"summary": ["A", "B", "C"], "start": ["2026-11-02"] * 3, "end": ["2026-11-03"] * 3})


@pytest.fixture(params=[{"workers": 3}, {"executor": PicklingExecutor()}], ids=["threads", "executor"])
def how(request, lab):
    """The arguments of a call on a service on a socket, whose session is the current session."""
    with lab.serve() as server, svc.connect(server.base_url, lab.access_token):
        yield request.param


def test_events_are_created_changed_and_deleted_in_their_order(how):
    made = svc.create_events(DAYS, **how)
    changed = svc.update_event(made, location="Lab", **how)
    deleted = svc.delete_event(made, **how)

    assert made["summary"].tolist() == changed["summary"].tolist() == ["A", "B", "C"]
    assert changed["id"].tolist() == deleted["id"].tolist() == made["id"].tolist()
    assert changed["location"].tolist() == ["Lab"] * 3
    assert deleted["deleted"].tolist() == [True] * 3
    for result in (made, changed, deleted):
        assert set(BATCH_COLUMNS) <= set(result.columns)
        assert result["outcome"].tolist() == ["done"] * 3
    assert svc.events().empty


def test_an_event_to_which_the_user_was_not_invited_does_not_stop_the_others(lab):
    guests = [["bob@svc.example"], [], ["bob@svc.example"]]
    made = svc.create_events(DAYS.assign(attendees=guests))
    bob = lab.sign_in("bob@svc.example")

    with pytest.warns(UserWarning, match="1 of 3 rows failed"):
        answered = svc.respond(made, "accepted", session=bob)

    assert answered["outcome"].tolist() == ["done", "failed", "done"]
    assert answered["id"].tolist() == made["id"].tolist()
