"""Events as a notebook has them: what create_event takes, what it refuses before sending, and the frames."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.event_schemas import CREATED, EVENT, EVENTS, INSTANCES, PREVIEW

BERLIN = ZoneInfo("Europe/Berlin")
TEN = pd.Timestamp("2026-11-02 10:00", tz="Europe/Berlin")


@pytest.fixture
def lab():
    with svc.sandbox() as made:
        yield made


@pytest.mark.spec("E-20")
@pytest.mark.parametrize(
    "start, time_zone",
    [
        ("2026-11-02 10:00", "Europe/Berlin"),
        ("2026-11-02T10:00", BERLIN),
        ("2026-11-02T10:00:00+01:00", None),
        ("2026-11-02T09:00:00Z", "Europe/Berlin"),
        (datetime(2026, 11, 2, 10, tzinfo=BERLIN), None),
        (datetime(2026, 11, 2, 10), "Europe/Berlin"),  # noqa: DTZ001  the zone comes beside it
        (datetime(2026, 11, 2, 9, tzinfo=UTC), None),
        (datetime(2026, 11, 2, 10, tzinfo=timezone(timedelta(hours=1))), None),
        (pd.Timestamp("2026-11-02 10:00", tz="Europe/Berlin"), None),
        (pd.Timestamp("2026-11-02 10:00"), "Europe/Berlin"),
        (np.datetime64("2026-11-02T10:00"), "Europe/Berlin"),
        ({"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}, None),
    ],
    ids=str,
)
def test_a_moment_is_the_same_however_it_is_written(lab, start, time_zone):
    made = svc.create_event("Tea", start=start, end="2026-11-02T12:00:00+01:00", time_zone=time_zone)

    assert made["start"].item() == TEN
    assert not made["all_day"].item()


@pytest.mark.spec("E-20")
def test_the_zone_that_is_given_goes_before_that_of_the_moment(lab):
    start = datetime(2026, 11, 2, 4, tzinfo=ZoneInfo("America/New_York"))
    made = svc.create_event("Tea", start=start, end="2026-11-02T12:00:00+01:00", time_zone="Europe/Berlin")

    assert (made["start"].item(), made["time_zone"].item()) == (TEN, "Europe/Berlin")


@pytest.mark.spec("E-20")
@pytest.mark.parametrize(
    "start", ["2026-11-02", date(2026, 11, 2), np.datetime64("2026-11-02"), {"date": "2026-11-02"}], ids=str
)
def test_a_date_is_all_day(lab, start):
    made = svc.create_event("Tea", start=start, end="2026-11-04")

    assert made["all_day"].item()
    assert (made["end"] - made["start"]).item() == pd.Timedelta(days=2)


@pytest.mark.spec("E-20")
@pytest.mark.parametrize(
    "wrong, field",
    [
        ({"start": "2026-11-02 10:00"}, "start"),
        ({"start": "soon"}, "start"),
        ({"start": 20261102}, "start"),
        ({"start": pd.NaT}, "start"),
        ({"end": "2026-11-01"}, "end"),
        ({"end": "2026-11-03T10:00:00Z"}, "end"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"time_zone": 1}, "time_zone"),
        ({"attendees": ["nobody"]}, r"attendees\[0\].email"),
        ({"attendees": 7}, "attendees"),
        ({"recurrence": "now and then"}, "recurrence"),
        ({"recurrence": ["DTSTART:20261102"]}, r"recurrence\[0\]"),
        ({"reminders": "late"}, "reminders"),
        ({"reminders": [1, 2, 3, 4, 5, 6]}, "reminders.overrides"),
        ({"reminders": [99_999]}, r"reminders.overrides\[0\].minutes"),
        ({"color": "mauve"}, "color"),
        ({"visibility": "hidden"}, "visibility"),
        ({"source": "ftp://example.com"}, "source.url"),
        ({"private": ["a"]}, "private"),
        ({"event_id": "No!"}, "id"),
        ({"metadata": {"gadget": {"width": 0}}}, "gadget.width"),
        ({"send_updates": "some"}, "send_updates"),
        ({"max_attendees": 0}, "max_attendees"),
        ({"calendar": ""}, "calendar"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_with_its_field_and_nothing_is_sent(lab, wrong, field):
    before = len(svc.exchanges())

    with pytest.raises((ValueError, TypeError), match=field):
        svc.create_event("Tea", **{"start": "2026-11-02", "end": "2026-11-03", **wrong})

    assert len(svc.exchanges()) == before


@pytest.mark.spec("E-20")
def test_all_problems_are_told_at_once(lab):
    with pytest.raises(svc.EventError) as caught:
        svc.create_event("x" * 2000, start="2026-11-03", end="2026-11-02", attendees=["nobody"])

    assert [field for field, _ in caught.value.problems] == ["end", "attendees[0].email", "summary"]


@pytest.mark.spec("E-06")
def test_defaults_are_shown_in_the_frame_and_not_on_the_wire(lab):
    made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees=["bob@svc.example"])

    defaults = {
        "anyone_can_add_self": False,
        "guests_can_invite_others": True,
        "guests_can_modify": False,
        "guests_can_see_other_guests": True,
    }
    assert {name: bool(made[name].item()) for name in defaults} == defaults
    guest = made["attendees"].item()[0]
    assert (guest["additionalGuests"], guest["optional"], guest["resource"]) == (0, False, False)
    wire = lab.session.call("GET", f"/calendar/v3/calendars/primary/events/{made['id'].item()}")
    assert not set(wire) & {"anyoneCanAddSelf", "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests"}


def test_every_argument_reaches_its_field(lab):
    made = svc.create_event(
        "Tea",
        start=TEN,
        end=TEN + pd.Timedelta(hours=1),
        recurrence="daily, 2 times",
        attendees=pd.DataFrame({"email": ["bob@svc.example", "eve@x.org"], "display_name": ["Bob", None]}),
        location="Here",
        description="Hot",
        color="basil",
        reminders=[5, ("email", 60), {"method": "popup", "minutes": 0}],
        conference="svcMeet",
        attachments="https://example.com/leaf",
        visibility="private",
        transparency="transparent",
        status="tentative",
        guests_can_invite_others=False,
        guests_can_modify=True,
        guests_can_see_other_guests=False,
        anyone_can_add_self=True,
        private={"a": "1"},
        shared={"b": "2"},
        source="https://example.com",
        gadget={"width": 1},
        sequence=3,
        event_id="tea01",
        metadata={"eventType": "focusTime"},
    )

    found = made.iloc[0]
    assert found["id"] == "tea01"
    assert found["recurrence"] == ["RRULE:FREQ=DAILY;COUNT=2"]
    assert [one.get("displayName") for one in found["attendees"]] == ["Bob", None]
    assert (found["location"], found["description"], found["color_id"]) == ("Here", "Hot", "10")
    assert found["reminders"]["overrides"] == [
        {"method": "popup", "minutes": 5},
        {"method": "email", "minutes": 60},
        {"method": "popup", "minutes": 0},
    ]
    assert found["conference_data"]["createRequest"]["conferenceSolutionKey"] == {"type": "svcMeet"}
    assert found["hangout_link"].startswith("https://")
    assert found["attachments"] == [{"fileUrl": "https://example.com/leaf"}]
    assert (found["visibility"], found["transparency"], found["status"]) == ("private", "transparent", "tentative")
    assert [found[name] for name in ("guests_can_invite_others", "guests_can_modify")] == [False, True]
    assert [found[name] for name in ("guests_can_see_other_guests", "anyone_can_add_self")] == [False, True]
    assert found["extended_properties"] == {"private": {"a": "1"}, "shared": {"b": "2"}}
    assert (found["source"], found["gadget"], found["sequence"]) == ({"url": "https://example.com"}, {"width": 1}, 3)
    assert found["event_type"] == "focusTime"


def test_a_stored_file_is_attached_by_its_row(lab):
    file = svc.upload(b"tea", name="tea.txt")

    made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attachments=file)

    assert made["attachments"].item()[0]["fileId"] == file["id"].item()


def test_no_reminders_are_said_and_none_are_asked_for(lab):
    silent = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", reminders=[])

    assert silent["reminders"].item() == {"useDefault": False}
    assert svc.create_event("Tea", start="2026-11-02", end="2026-11-03")["reminders"].item() == {"useDefault": True}


@pytest.mark.spec("D-01")
@pytest.mark.parametrize(
    "schema, call",
    [
        (EVENTS, lambda: svc.events()),
        (EVENT, lambda: svc.events(fields="*")),
        (EVENT, lambda: svc.event([])),
        (CREATED, lambda: svc.create_events(pd.DataFrame({"summary": []}))),
        (PREVIEW, lambda: svc.preview_recurrence("2026-11-02", "2026-11-03", "daily", count=0)),
    ],
)
def test_an_empty_frame_has_the_columns_of_a_full_one(lab, schema, call):
    found = call()

    assert len(found) == 0
    assert dict(found.dtypes.astype(str)) == schema.dtypes


def test_times_have_the_zone_of_the_event_of_the_call_or_of_the_calendar(lab):
    made = svc.create_event("Tea", start=TEN, end=TEN + pd.Timedelta(hours=1))

    assert str(made["start"].dt.tz) == "Europe/Berlin"
    assert str(svc.events()["start"].dt.tz) == "UTC"
    assert str(svc.events(time_zone="Asia/Kathmandu")["start"].dt.tz) == "Asia/Kathmandu"
    term = svc.create_calendar("Term", time_zone="America/New_York")["id"].item()
    assert str(svc.events(calendar=term)["start"].dt.tz) == "America/New_York"


def test_a_timetable_is_made_row_by_row_and_keeps_its_index(lab):
    term = pd.DataFrame(
        {
            "summary": ["A", "B", "C", "D"],
            "start": [TEN, TEN, pd.NaT, TEN],
            "end": [TEN + pd.Timedelta(hours=1), TEN, TEN, TEN + pd.Timedelta(hours=2)],
            "eventId": ["aaaaa", None, None, "aaaaa"],
        },
        index=["mon", "tue", "wed", "thu"],
    )

    made = svc.create_events(term)

    assert made.index.tolist() == made["row"].tolist() == ["mon", "tue", "wed", "thu"]
    assert made["id"].notna().tolist() == [True, False, False, False]
    assert made["field"].fillna("").tolist() == ["", "end", "start", "id"]
    assert made["error"].notna().tolist() == [False, True, True, True]
    assert svc.events()["summary"].tolist() == ["A"]


def test_a_column_that_is_no_argument_is_refused_before_anything_is_sent(lab):
    with pytest.raises(ValueError, match="'room'"):
        svc.create_events(pd.DataFrame({"summary": ["A"], "room": ["4"]}))

    with pytest.raises(TypeError, match="DataFrame"):
        svc.create_events([{"summary": "A"}])


def test_a_timetable_that_cannot_be_ended_gives_the_rows_that_were_sent(lab):
    brief = lab.sign_in("eve@svc.example")
    term = pd.DataFrame({"summary": ["A", "B", "C"], "start": "2026-11-02", "end": ["2026-11-03"] * 3}, index=[7, 8, 9])

    with (
        lab.faults(operation="events.insert", nth=2, status=401, times=9),
        pytest.raises(svc.NotSignedIn) as caught,
    ):
        svc.create_events(term, session=brief)

    assert caught.value.result["summary"].tolist() == ["A"]
    assert caught.value.result.index.tolist() == [7]
    assert "1 of 3 rows" in caught.value.__notes__[-1]


def test_what_befalls_every_row_ends_the_call(lab):
    stranger = lab.sign_in("eve@svc.example", scopes=["storage"])

    with pytest.raises(svc.NotAllowed):
        svc.create_event("A", start="2026-11-02", end="2026-11-03", session=stranger)


@pytest.mark.spec("E-21")
def test_a_preview_keeps_the_wall_clock_over_the_change_of_it():
    found = svc.preview_recurrence("2027-03-26 10:00", "2027-03-26 11:00", "daily", time_zone="Europe/Berlin", count=4)

    assert found["start"].dt.hour.tolist() == [10, 10, 10, 10]
    assert found["utc_offset"].tolist() == ["+01:00", "+01:00", "+02:00", "+02:00"]
    assert found["start"].dt.tz_convert("UTC").dt.hour.tolist() == [9, 9, 8, 8]
    assert found["recurrence"].unique().tolist() == ["RRULE:FREQ=DAILY"]


@pytest.mark.spec("E-21")
def test_the_service_makes_the_instances_that_were_previewed(lab):
    arguments = {"start": "2026-10-01 02:30", "end": "2026-10-01 04:00", "time_zone": "Europe/Berlin"}
    words = "every 3 days until 2027-04-30 except 2026-10-25"
    course = svc.create_event("Course", recurrence=words, **arguments)

    made, seen = svc.instances(course), svc.preview_recurrence(recurrence=words, count=1000, **arguments)

    assert len(made) > 60
    assert made["start"].tolist() == seen["start"].tolist()
    assert made["end"].tolist() == seen["end"].tolist()
    assert dict(made.dtypes.astype(str)) == INSTANCES.dtypes | {
        name: "datetime64[ms, Europe/Berlin]" for name in ("start", "end", "original_start_time")
    }


@pytest.mark.spec("E-21")
def test_a_preview_may_begin_anywhere():
    found = svc.preview_recurrence("2026-11-02", "2026-11-03", "yearly", time_min="2030-01-01", time_max="2032-01-01")

    assert found["start"].dt.year.tolist() == [2030, 2031]


def test_an_instance_is_moved_and_cancelled_by_its_id(lab):
    course = svc.create_event("Course", start="2026-11-02", end="2026-11-03", recurrence="daily, 3 times")
    ids = svc.instances(course)["id"]

    svc.update_event(ids[1], start="2026-11-10", end="2026-11-11")
    svc.delete_event(ids[2])

    assert svc.instances(course)["start"].dt.day.tolist() == [2, 10]
    assert svc.instances(course, show_deleted=True)["status"].tolist() == ["confirmed", "cancelled", "confirmed"]


def test_events_without_an_end_are_not_asked_for(lab):
    with pytest.raises(ValueError, match="time_max or limit"):
        svc.events(single_events=True)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_limit_is_kept(lab, limit):
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", recurrence="daily")

    assert len(svc.events(single_events=True, limit=limit)) == limit


def test_more_events_than_a_page_come_all(lab):
    days = pd.date_range("2020-01-01", periods=2_600)
    term = pd.DataFrame({"summary": days.astype(str), "start": days.date, "end": (days + pd.Timedelta(days=1)).date})

    svc.create_events(term)

    assert svc.events()["summary"].tolist() == days.astype(str).tolist()


def test_properties_and_words_find_events(lab):
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", private={"a": "1"}, shared={"b": "2"})
    svc.create_event("Coffee", start="2026-11-02", end="2026-11-03", private={"a": "2"})

    assert svc.events(private={"a": "1"})["summary"].tolist() == ["Tea"]
    assert svc.events(shared={"b": "2"})["summary"].tolist() == ["Tea"]
    assert svc.events("coff")["summary"].tolist() == ["Coffee"]


def test_an_answer_reaches_everybody(lab):
    made = svc.create_event(
        "Tea", start="2026-11-02", end="2026-11-03", attendees=["bob@svc.example", "eve@svc.example"]
    )
    bob, eve = lab.sign_in("bob@svc.example"), lab.sign_in("eve@svc.example")

    svc.respond(made, "tentative", comment="maybe", session=bob)

    for session in (lab.session, eve):
        answers = {one["email"]: one["responseStatus"] for one in svc.event(made, session=session)["attendees"].item()}
        assert answers == {"bob@svc.example": "tentative", "eve@svc.example": "needsAction"}


def test_only_who_is_invited_answers(lab):
    made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")

    with pytest.raises(ValueError, match="not among the attendees"):
        svc.respond(made, "accepted")
    with pytest.raises(ValueError, match="response"):
        svc.respond(made, "perhaps")


@pytest.mark.spec("E-16")
def test_the_outbox_is_a_frame(lab):
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@x.org", send_updates="all")

    assert lab.outbox().drop(columns=["time", "event_id"]).values.tolist() == [
        ["bob@x.org", "request", "Invitation: Tea"]
    ]


def test_colours_have_names(lab):
    found = svc.event_colors()

    assert found["id"].tolist() == [str(n) for n in range(1, 12)]
    assert found.set_index("name").loc["Banana", "background"] == "#fbd75b"


def test_whoever_signs_in_later_finds_what_they_are_invited_to(lab):
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees=["New@svc.example"])

    assert svc.events(session=lab.sign_in("new@svc.example"))["summary"].tolist() == ["Tea"]
