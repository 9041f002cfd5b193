from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from dateutil import tz

import svc_notebooks as svc
from svc_notebooks.notebook.frames import INSTANCES

BERLIN = ZoneInfo("Europe/Berlin")
TEN = pd.Timestamp("2026-11-02 10:00", tz="Europe/Berlin")
WHOLE_DAY = {"start": "2026-11-02", "end": "2026-11-03"}


@pytest.mark.spec("E-20", "E-20a")
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


UTC_ZONES = [
    tz.UTC, tz.tzutc(), tz.gettz("UTC"), tz.tzoffset("none", 0), UTC, timezone(timedelta(0)),
    timezone(timedelta(0), "GMT"), ZoneInfo("UTC"), ZoneInfo("Etc/UTC"), ZoneInfo("Zulu"),
]  # fmt: skip


@pytest.mark.parametrize("utc", UTC_ZONES)
def test_every_zone_that_means_utc_is_the_zone_of_a_series(lab, utc):
    hour = {"end": timedelta(hours=1), "recurrence": "daily, 2 times"}
    made = [
        svc.create_event("x", start="2026-11-02 10:00", time_zone=utc, **hour),
        svc.create_event("x", start=datetime(2026, 11, 2, 10, tzinfo=utc), **hour),
        svc.create_event("x", start=pd.Timestamp("2026-11-02 10:00", tz=utc), **hour),
    ]

    for event in made:
        assert event["start"].item() == pd.Timestamp("2026-11-02 10:00Z")
        assert ZoneInfo(event["time_zone"].item()).utcoffset(None) == timedelta(0)


NEW_YORK = ZoneInfo("America/New_York")
BERLIN_AND_NEW_YORK = [
    {"start": "2026-11-02 10:00", "end": "2026-11-02 13:00", "time_zone": BERLIN, "end_time_zone": "America/New_York"},
    {"start": "2026-11-02 10:00", "end": "2026-11-02 13:00", "time_zone": "Europe/Berlin", "end_time_zone": NEW_YORK},
    {"start": datetime(2026, 11, 2, 10, tzinfo=BERLIN), "end": datetime(2026, 11, 2, 13, tzinfo=NEW_YORK)},
    {"start": TEN, "end": pd.Timestamp("2026-11-02 13:00", tz="America/New_York")},
    {
        "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-11-02T13:00:00", "timeZone": "America/New_York"},
    },
]


@pytest.mark.spec("E-20", "E-20a")
@pytest.mark.parametrize("times", BERLIN_AND_NEW_YORK, ids=["texts", "zones", "datetimes", "timestamps", "dicts"])
def test_start_and_end_can_have_different_zones(lab, times):
    made = svc.create_event("Flight", **times)

    assert made[["time_zone", "end_time_zone"]].values.tolist() == [["Europe/Berlin", "America/New_York"]]
    assert made["end"].item() - made["start"].item() == pd.Timedelta(hours=9)


def test_a_new_time_without_a_zone_is_in_the_zone_of_its_event(lab):
    flight = svc.create_event("Flight", **BERLIN_AND_NEW_YORK[0])
    train = svc.create_event("Train", start="2026-11-02 10:00", end="2026-11-02 11:00", time_zone="Asia/Kathmandu")
    later = svc.update_event([flight, train], start="2026-11-02 10:30", end="2026-11-02 14:00")

    zones = later["time_zone"].tolist()
    assert zones == ["Europe/Berlin", "Asia/Kathmandu"]
    assert later["end_time_zone"].tolist() == ["America/New_York", "Asia/Kathmandu"]
    assert later["start"].tolist() == [pd.Timestamp("2026-11-02 10:30", tz=zone) for zone in zones]


@pytest.mark.spec("D-01")
def test_the_zones_of_the_times_are_columns_whatever_the_number_of_rows(lab):
    columns = ["time_zone", "end_time_zone", "original_start_time_zone"]
    flight = BERLIN_AND_NEW_YORK[0]
    created = svc.create_event("Flight", original_start_time=TEN, **flight)
    svc.create_event("Train", start=TEN, end=TEN + pd.Timedelta(hours=1))
    svc.create_event("Trip", start="2026-11-05", end="2026-11-06", time_zone="Asia/Kathmandu")
    svc.create_event("Walk", start="2026-11-06T10:00:00+01:00", end="2026-11-06T11:00:00+01:00")

    every = svc.events(fields="*")

    assert created[columns].values.tolist() == [["Europe/Berlin", "America/New_York", "Europe/Berlin"]]
    assert every.set_index("summary")[columns].fillna("").to_dict("index") == {
        "Flight": dict(zip(columns, ["Europe/Berlin", "America/New_York", "Europe/Berlin"], strict=True)),
        "Train": dict(zip(columns, ["Europe/Berlin", "Europe/Berlin", ""], strict=True)),
        "Trip": dict(zip(columns, ["", "", ""], strict=True)),
        "Walk": dict(zip(columns, ["", "", ""], strict=True)),
    }
    for frame in (created, every, every.head(0), svc.event([])):
        assert {*frame[columns].dtypes} == {frame.dtypes["id"]}
    assert svc.events()["end_time_zone"].tolist()[:1] == ["America/New_York"]


@pytest.mark.spec("E-20", "E-20a")
@pytest.mark.parametrize(
    "start", ["2026-11-02", date(2026, 11, 2), np.datetime64("2026-11-02"), {"date": "2026-11-02"}], ids=str
)
def test_a_date_is_all_day(lab, start):
    made = svc.create_event("Tea", start=start, end="2026-11-04")

    assert made["all_day"].item()
    assert (made["end"] - made["start"]).item() == pd.Timedelta(days=2)


@pytest.mark.spec("E-20", "E-20b")
@pytest.mark.parametrize(
    "wrong, field",
    [
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
        ({"calendar": ""}, "calendar"),
        ({"attachments": {"url": "https://example.com"}}, "attachments has the unknown key 'url'; .*fileUrl"),
        ({"gadget": "icon"}, "gadget must be a dict"),
        ({"source": 5}, "source must be a dict"),
    ],
    ids=str,
)
def test_an_invalid_field_is_named_and_nothing_is_sent(lab, wrong, field):
    before = len(svc.exchanges())

    with pytest.raises((ValueError, TypeError), match=field):
        svc.create_event("Tea", **{**WHOLE_DAY, **wrong})

    assert len(svc.exchanges()) == before


@pytest.mark.spec("E-20", "E-20b")
def test_all_problems_are_in_one_error(lab):
    with pytest.raises(svc.EventError) as caught:
        svc.create_event("x", start="2026-11-03", end="2026-11-02", attendees=["nobody"], source="ftp://files.example")
    assert [field for field, _ in caught.value.problems] == ["end", "attendees[0].email", "source.url"]


@pytest.mark.spec("E-06", "E-06b")
def test_defaults_are_shown_in_the_frame_and_not_on_the_wire(lab):
    made = svc.create_event("Tea", **WHOLE_DAY, attendees=["bob@svc.example"])

    defaults = {
        "anyone_can_add_self": False,
        "guests_can_invite_others": True,
        "guests_can_modify": False,
        "guests_can_see_other_guests": True,
    }
    assert {name: bool(made[name].item()) for name in defaults} == defaults
    guest = made["attendees"].item()[0]
    assert (guest["additionalGuests"], guest["optional"], guest["resource"]) == (0, False, False)
    assert made["reminders"].item() == {"useDefault": True}
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

    row = made.iloc[0]
    assert row["id"] == "tea01"
    assert row["recurrence"] == ["RRULE:FREQ=DAILY;COUNT=2"]
    assert [attendee.get("displayName") for attendee in row["attendees"]] == ["Bob", None]
    assert (row["location"], row["description"], row["color_id"]) == ("Here", "Hot", "10")
    assert row["reminders"]["overrides"] == [
        {"method": "popup", "minutes": 5},
        {"method": "email", "minutes": 60},
        {"method": "popup", "minutes": 0},
    ]
    assert row["conference_data"]["createRequest"]["conferenceSolutionKey"] == {"type": "svcMeet"}
    assert row["hangout_link"].startswith("https://")
    assert row["attachments"] == [{"fileUrl": "https://example.com/leaf"}]
    assert (row["visibility"], row["transparency"], row["status"]) == ("private", "transparent", "tentative")
    assert [row[name] for name in ("guests_can_invite_others", "guests_can_modify")] == [False, True]
    assert [row[name] for name in ("guests_can_see_other_guests", "anyone_can_add_self")] == [False, True]
    assert row["extended_properties"] == {"private": {"a": "1"}, "shared": {"b": "2"}}
    assert (row["source"], row["gadget"], row["sequence"]) == ({"url": "https://example.com"}, {"width": 1}, 3)
    assert (row["event_type"], row["organizer"], row["creator"]) == ("focusTime", "ada@svc.example", "ada@svc.example")
    file = svc.upload(b"tea", name="tea.txt")
    other = svc.create_event("Tea", **WHOLE_DAY, attachments=file, reminders=[])
    assert other["attachments"].item()[0]["fileId"] == file["id"].item()
    assert other["reminders"].item() == {"useDefault": False}
    set_first = svc.create_event("Tea", **WHOLE_DAY, color=4, location="Room 3").columns
    assert list(set_first[:5]) == ["summary", "start", "end", "location", "color_id"]
    assert sorted(set_first) == sorted(svc.event(other).columns)
    with pytest.raises(ValueError, match="not among the attendees"):
        svc.respond(other, "accepted")


def last_query(lab):
    return lab.journal()["query"].fillna("").iloc[-1]


@pytest.mark.spec("E-16", "E-16b")
@pytest.mark.parametrize("notify, mails", [(True, 1), (False, 0)])
def test_the_deprecated_parameter_is_sent_with_a_warning_that_names_the_other(lab, notify, mails):
    with pytest.warns(FutureWarning, match="use send_updates='all'") as caught:
        svc.create_event("Tea", **WHOLE_DAY, attendees="bob@x.org", send_notifications=notify)

    assert [warning.filename for warning in caught] == [__file__]
    assert last_query(lab) == f"sendNotifications={str(notify).lower()}"
    assert len(lab.outbox()) == mails
    svc.create_event("Tea", **WHOLE_DAY, conference_data_version=0, supports_attachments=False)
    assert last_query(lab) == "conferenceDataVersion=0&supportsAttachments=false"
    svc.create_event("Tea", **WHOLE_DAY)
    assert last_query(lab) == ""


@pytest.mark.spec("E-09", "E-09d", "E-20", "E-20a")
@pytest.mark.parametrize(
    "name, value, error, expected",
    [
        ("conference_data_version", 2, ValueError, "between 0 and 1"),
        ("conference_data_version", -1, ValueError, "between 0 and 1"),
        ("conference_data_version", True, TypeError, "whole number"),
        ("conference_data_version", "1", TypeError, "whole number"),
        ("supports_attachments", "yes", TypeError, "True or False"),
        ("supports_attachments", 1, TypeError, "True or False"),
        ("send_notifications", "all", TypeError, "True or False"),
        ("max_attendees", 0, ValueError, "1 or more"),
    ],
)
def test_a_wrong_parameter_is_refused_with_its_name_before_anything_is_sent(lab, name, value, error, expected):
    made = svc.create_event("Tea", **WHOLE_DAY)
    for call in (partial(svc.create_event, "Tea", **WHOLE_DAY), partial(svc.update_event, made)):
        with pytest.raises(error, match=f"^{name} .*{expected}"):
            call(**{name: value})

    for zone in ("time_zone", "end_time_zone"):
        with pytest.raises(ValueError, match=f"^{zone} is the time zone of .* together with"):
            svc.update_event(made, **{zone: "Asia/Kathmandu"})
    assert len(lab.journal()) == 1


@pytest.mark.spec("E-09", "E-09a", "E-17")
def test_a_change_sends_the_parameters_as_given(lab):
    made = svc.create_event("Tea", **WHOLE_DAY, attendees=["a@x.org", "b@x.org"])
    link = "https://example.com/a"

    ignored = svc.update_event(
        made, conference=True, attachments=link, conference_data_version=0, supports_attachments=False
    )
    assert ignored[["conference_data", "attachments"]].isna().all(axis=None)
    kept = svc.update_event(made, conference=True, attachments=link)
    assert kept[["conference_data", "attachments"]].notna().all(axis=None)
    assert svc.update_event(made, summary="Tee", max_attendees=1)["attendees"].item() == []

    with pytest.warns(FutureWarning, match="send_updates"):
        svc.update_event(made, location="Roof", send_notifications=True)
    assert lab.outbox()["method"].tolist() == ["update", "update"]


@pytest.mark.spec("E-09", "E-09a", "E-15")
def test_a_row_of_a_timetable_has_parameters_of_its_own(lab):
    term = pd.DataFrame(
        {
            "summary": ["none", "one", "as ever", "wrong"],
            **WHOLE_DAY,
            "conference": True,
            "conference_data_version": [0, 1, None, 7],
            "send_updates": ["none", "all", None, None],
            "attendees": [["bob@x.org"]] * 4,
        }
    )

    with pytest.warns(UserWarning, match="1 of 4 rows failed"):
        made = svc.create_events(term, send_updates="none")

    assert made["field"].fillna("").tolist() == ["", "", "", "conference_data_version"]
    conferences = svc.events(fields="*").set_index("summary")["conference_data"].notna()
    assert conferences.to_dict() == {"none": False, "one": True, "as ever": True}
    assert lab.outbox()["subject"].tolist() == ["Invitation: one"]


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
    with pytest.raises(ValueError, match="'wing'"):
        svc.create_events(term.assign(wing="4"))
    with pytest.raises(TypeError, match="DataFrame"):
        svc.create_events(term.to_dict("records"))
    assert len(lab.journal()) == 0

    with pytest.warns(UserWarning, match="3 of 4 rows failed"):
        made = svc.create_events(term)
    assert made.index.tolist() == made["row"].tolist() == ["mon", "tue", "wed", "thu"]
    assert made["id"].notna().tolist() == [True, False, False, False]
    assert made["field"].fillna("").tolist() == ["", "end", "start", "id"]
    assert made["error"].notna().tolist() == [False, True, True, True]
    assert svc.events()["summary"].tolist() == ["A"]


@pytest.mark.spec("E-21")
def test_a_preview_keeps_the_wall_clock_over_the_change_of_it_as_the_service_does(lab):
    times = {"start": "2027-03-26 10:00", "end": "2027-03-26 11:00", "time_zone": "Europe/Berlin"}
    preview = svc.preview_recurrence(**times, recurrence="daily", count=4)
    assert preview["start"].dt.hour.tolist() == [10, 10, 10, 10]
    assert preview["utc_offset"].tolist() == ["+01:00", "+01:00", "+02:00", "+02:00"]
    assert preview["start"].dt.tz_convert("UTC").dt.hour.tolist() == [9, 9, 8, 8]
    assert preview["recurrence"].unique().tolist() == ["RRULE:FREQ=DAILY"]

    times = {"start": "2026-10-01 02:30", "end": "2026-10-01 04:00", "time_zone": "Europe/Berlin"}
    words = "every 3 days until 2027-04-30 except 2026-10-25"
    made = svc.instances(svc.create_event("Course", recurrence=words, **times))
    seen = svc.preview_recurrence(recurrence=words, count=1000, **times)
    assert len(made) > 60
    assert made["start"].tolist() == seen["start"].tolist()
    assert made["end"].tolist() == seen["end"].tolist()
    assert dict(made.dtypes.astype(str)) == INSTANCES.dtypes | {
        name: "datetime64[ms, Europe/Berlin]" for name in ("start", "end", "original_start_time")
    }


def test_properties_and_words_find_events_and_a_name_sorts_them(lab):
    svc.create_event("Tea", **WHOLE_DAY, private={"a": "1"}, shared={"b": "2"})
    svc.create_event("Coffee", **WHOLE_DAY, private={"a": "2"})

    assert svc.events(private={"a": "1"})["summary"].tolist() == ["Tea"]
    assert svc.events(shared={"b": "2"})["summary"].tolist() == ["Tea"]
    for events in (svc.events("coff"), svc.events(text="coff"), svc.events(query="coff")):
        assert events["summary"].tolist() == ["Coffee"]
    with pytest.raises(ValueError, match="text and query are names of the same argument"):
        svc.events("coff", query="coff")
    svc.create_event("Early", start="2026-11-01", end="2026-11-04")
    for order_by in ("start_time", "startTime"):
        events = svc.events(single_events=True, limit=9, order_by=order_by)
        assert sorted(events["summary"][1:]) == ["Coffee", "Tea"]
        assert events["summary"][0] == "Early"
    assert svc.events(limit=0).empty
    with pytest.raises(ValueError, match="order_by is 'begin'; it must be one of start_time, updated"):
        svc.events(order_by="begin")


def test_the_columns_of_events_are_selected_by_name(lab):
    svc.create_event("Tea", **WHOLE_DAY, time_zone="Asia/Tokyo")

    events = svc.events(fields="summary, htmlLink,all_day")
    start = svc.events(fields=["start"], time_zone="Asia/Tokyo")

    assert events.columns.tolist() == ["summary", "html_link", "all_day"]
    assert events["all_day"].tolist() == [True]
    assert start["start"].astype(str).tolist() == ["2026-11-02 00:00:00+09:00"]
    with pytest.raises(ValueError, match=r"fields has 'sumary', .* not a field of an event; did you mean 'summary'"):
        svc.events(fields="sumary")


@pytest.mark.parametrize(
    "fields, mask",
    {
        "summary, all_day,time_zone": "&fields=nextPageToken,items(summary,start)",
        "end_time_zone, original_start_time_zone": "&fields=nextPageToken,items(end,originalStartTime)",
        "*": "",
    }.items(),
)
def test_only_the_fields_of_the_columns_are_requested(lab, fields, mask):
    made = svc.create_event("Tea", start="2026-11-02 10:00", end="2026-11-02 11:00", time_zone="Asia/Tokyo")

    events = svc.events(fields=fields)

    assert svc.exchanges()["query"].iloc[-1] == "maxResults=1000" + mask
    expected = svc.event(made)[events.columns]
    for name in {*expected} & {"start", "end", "original_start_time"}:
        expected[name] = expected[name].dt.tz_convert("UTC")
    pd.testing.assert_frame_equal(events, expected)


@pytest.mark.spec("D-02", "D-02b")
def test_an_event_is_an_id_a_row_a_frame_or_a_list(lab):
    made = svc.create_events(pd.DataFrame([{"summary": word, **WHOLE_DAY} for word in ("Tea", "Coffee")]))
    ids = made["id"].tolist()
    summaries = [svc.event(form)["summary"].tolist() for form in (ids[0], made.iloc[0], {"id": ids[1]}, made, ids)]

    assert summaries == [["Tea"], ["Tea"], ["Coffee"], ["Tea", "Coffee"], ["Tea", "Coffee"]]
    colors = svc.event_colors()
    assert colors["id"].tolist() == [str(n) for n in range(1, 12)]
    assert colors.set_index("name").loc["Banana", "background"] == "#fbd75b"


@pytest.mark.parametrize(
    "word, day",
    [
        *[("yesterday", 4), ("Today", 5), ("tomorrow 10:00", 6), ("in 2 days", 7), ("1 day ago", 4)],
        *[("last week 9am", 29), ("next monday 10am", 12), ("Wednesday at 9:30 p.m.", 7), ("last sunday 12 am", 4)],
        ("2026-01-07 8 pm", 7),
    ],
)
def test_each_argument_that_takes_a_time_takes_words(lab, word, day):
    length = "2 h" if " " in word else None
    made = svc.create_event("Tea", start=word, duration=length, time_zone="UTC", recurrence="daily")
    frames = [
        made,
        svc.preview_recurrence(word, timedelta(1), "daily", time_zone="UTC", count=1),
        svc.instances(made, time_min=word, time_max="in 30 days", limit=1),
        svc.update_event(made, start=word),
        svc.events(time_min=word, updated_min="yesterday"),
    ]
    busy = svc.free_busy(time_min=word, time_max="in 8 days")["busy"][0]

    assert [frame["start"].dt.day.tolist() for frame in frames] == [[day]] * 5
    assert busy[0][0].day == day
    assert lab.agenda(since=word).empty
    assert lab.clock.set(word).day == day
