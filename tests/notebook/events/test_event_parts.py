from datetime import date, datetime, time

import pytest

from svc_notebooks.core.events.recurrence_words import recurrence_lines
from svc_notebooks.core.events.rrule import Freq
from svc_notebooks.core.events.series import Series
from svc_notebooks.core.times import zone, zone_names
from svc_notebooks.forms.event.attendee_rows import AttendeeRows
from svc_notebooks.forms.event.bindings import NONE, OWN as OWN_REMINDERS, ReminderRows
from svc_notebooks.forms.event.inputs import WhenChoice, ZoneChoice, matching_zones
from svc_notebooks.forms.recurrence import CUSTOM, RecurrenceBuilder, RecurrencePreview, Repeat

BERLIN = zone("Europe/Berlin")
MONDAY = datetime(2026, 11, 2, 10, tzinfo=BERLIN)


@pytest.fixture
def when():
    when = WhenChoice()
    when.begin(datetime(2026, 11, 2, 10), "Europe/Berlin")  # noqa: DTZ001  the clock on the wall
    return when


@pytest.fixture
def builder():
    builder = RecurrenceBuilder()
    builder.set_start_day(MONDAY.date())
    return builder


def test_a_zone_is_found_by_part_of_its_name_and_another_text_stays_as_it_was_typed():
    zones = {
        "berl": "Europe/Berlin",
        "new york": "America/New_York",
        "BUENOS aires": "America/Argentina/Buenos_Aires",
        "são paulo": "America/Sao_Paulo",
        "utc": "UTC",
    }
    assert {typed: matching_zones(typed, zone_names())[0] for typed in zones} == zones
    choice = ZoneChoice()
    choice.control.value = "berlin"
    assert choice.value == "Europe/Berlin"
    for text in ("", " ", "/", "\N{COMBINING ACUTE ACCENT}", "Mars/Olympus", "+05:30"):
        choice.control.value = text
        assert choice.control.value == text


def test_the_end_goes_with_the_start_until_it_is_set(when):
    when.first.value = date(2026, 12, 31)
    when.begins.value = time(23, 30)
    assert when.value.end == datetime(2027, 1, 1, 0, 30)  # noqa: DTZ001
    when.ends.value = time(2, 0)
    when.begins.value = time(22, 0)

    assert when.value.end == datetime(2027, 1, 1, 2, 0)  # noqa: DTZ001


@pytest.mark.parametrize(
    "repeat",
    [
        Repeat(Freq.DAILY),
        Repeat(Freq.WEEKLY, 2, weekdays=(0, 2), until=date(2027, 2, 12)),
        Repeat(Freq.DAILY, until=date(9999, 12, 31)),
        Repeat(Freq.MONTHLY, month_day=-1, count=5),
        Repeat(Freq.MONTHLY, nth=(-1, 4)),
        Repeat(Freq.MONTHLY, 3, month_day=31),
        Repeat(Freq.YEARLY, 4),
    ],
)
@pytest.mark.parametrize("start", [MONDAY, MONDAY.astimezone(zone("America/New_York")), MONDAY.date()])
def test_switches_and_lines_say_the_same(repeat, start):
    assert Repeat.read(recurrence_lines(repeat.words(), start)[0], start) == repeat


def test_what_the_switches_cannot_say_stands_as_it_is(builder):
    rules = ["HOURLY", "MONTHLY;BYDAY=1MO,3MO", "YEARLY;BYMONTH=1,7", "WEEKLY;UNTIL=20270212T090000Z"]
    for line in (*(f"RRULE:FREQ={rule}" for rule in rules), "RDATE;VALUE=DATE:20270212", "nonsense"):
        builder.read([line], MONDAY)

        assert builder.frequency.value == CUSTOM
        assert builder.text_input.value == line


def test_what_nobody_has_set_goes_with_the_start(builder):
    builder.frequency.value = Freq.WEEKLY
    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=MO"]
    builder.set_start_day(date(2026, 11, 5))
    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=TH"]
    builder.weekdays.days[1].value = True
    builder.set_start_day(date(2026, 11, 6))

    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=TU,TH"]
    assert "The first instance is on Friday" in builder.weekdays.hint.value


def test_the_last_day_of_a_rule_is_a_whole_day_where_the_event_is_and_must_be_entered(builder):
    builder.frequency.value = Freq.DAILY
    builder.ends.choice.value = "until"
    builder.ends.until.value = date(2026, 11, 20)

    assert builder.lines(MONDAY) == ["RRULE:FREQ=DAILY;UNTIL=20261120T225959Z"]
    assert builder.lines(MONDAY.date()) == ["RRULE:FREQ=DAILY;UNTIL=20261120"]
    builder.ends.until.value = None
    with pytest.raises(ValueError, match="Enter the last date"):
        builder.lines(MONDAY)


def test_the_months_are_turned():
    preview = RecurrencePreview()
    preview.show(Series(("RRULE:FREQ=YEARLY",), MONDAY, MONDAY.replace(hour=11)))
    assert "November 2026" in preview.months.value
    for _ in range(12):
        preview.later.click()

    assert "November 2027" in preview.months.value
    assert preview.months.value.count("<mark") == 1
    preview.show(None)
    assert preview.layout.display == "none"


def test_guests_come_and_go_and_a_blank_row_is_none():
    rows = AttendeeRows()
    rows.add.click()
    rows.add.click()
    rows.rows[1].email.value = " ada@svc.example "
    rows.rows[1].optional.value = True
    assert rows.value == [{"email": "ada@svc.example", "optional": True}]
    assert rows.field(0) is rows.rows[1]
    rows.removers[0].click()

    assert [row.email.value for row in rows.rows] == [" ada@svc.example "]


@pytest.mark.spec("W-03", "W-03e")
def test_reminders_are_the_calendars_none_or_up_to_five():
    reminders = ReminderRows()
    assert reminders.value is None
    reminders.way.value = NONE
    assert reminders.value == {"useDefault": False}
    reminders.way.value = OWN_REMINDERS
    for _ in range(5):
        reminders.add.click()

    assert len(reminders.value["overrides"]) == 5
    assert reminders.note.problems == ("An event has at most 5 reminders: remove one first.",)
    reminders.removers[0].click()
    assert len(reminders.value["overrides"]) == 4
    assert reminders.note.problems == ()
