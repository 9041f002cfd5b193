"""Tests of the parts of the event form, with values as a browser would set them."""

from datetime import date, datetime, time

import pytest

from svc_notebooks.core.events.recurrence_words import recurrence_lines
from svc_notebooks.core.events.rrule import Freq
from svc_notebooks.core.events.series import Series
from svc_notebooks.core.time_zones import zone, zone_names
from svc_notebooks.forms.event.attendee_rows import AttachmentRow, AttachmentRows, AttendeeRows
from svc_notebooks.forms.event.bindings import NONE, OWN as OWN_REMINDERS, ReminderRows
from svc_notebooks.forms.event.time.start_and_end import WhenChoice, ZoneChoice, matching_zones
from svc_notebooks.forms.recurrence.builder import CUSTOM, NTH, MonthChoice, RecurrenceBuilder, Repeat
from svc_notebooks.forms.recurrence.month_calendars import RecurrencePreview, instance_list
from svc_notebooks.forms.widgets.month_table import month_after, month_picture
from svc_notebooks.notebook.events.event_days import event_days

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


# -- zones


@pytest.mark.parametrize(
    "typed, first",
    [
        ("berl", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("BUENOS aires", "America/Argentina/Buenos_Aires"),
        ("são paulo", "America/Sao_Paulo"),
        ("utc", "UTC"),
    ],
)
def test_a_zone_is_found_by_part_of_its_name(typed, first):
    assert matching_zones(typed, zone_names())[0] == first


def test_the_list_of_zones_stays_while_one_is_picked_after_the_other():
    choice = ZoneChoice("UTC")
    choice.text.value = "america/argentina"
    before = choice.matches.options
    choice.matches.value = "America/Argentina/Salta"
    choice.matches.value = "America/Argentina/Ushuaia"

    assert choice.value == "America/Argentina/Ushuaia"
    assert choice.matches.options == before


def test_enter_takes_the_first_of_the_list():
    choice = ZoneChoice("UTC")
    choice.text.value = "berlin"
    choice.text._handle_custom_msg({"event": "submit"}, [])

    assert choice.value == "Europe/Berlin"


def test_enter_that_comes_before_the_last_letters_is_for_them_too():
    choice = ZoneChoice("UTC")
    choice.text.value = "new y"
    choice.text._handle_custom_msg({"event": "submit"}, [])
    choice.text.value = "new york"
    assert choice.value == "America/New_York"
    choice.text.value = "berl"

    assert choice.value == "berl"


def test_zone_picked_before_the_last_letters_arrive_is_kept():
    choice = ZoneChoice("UTC")
    choice.text.value = "argentin"
    choice.matches.value = "America/Argentina/Salta"
    choice.text.value = "argentina"
    assert choice.value == choice.matches.value == "America/Argentina/Salta"
    choice.text.value = "berl"

    assert choice.value == "berl"


@pytest.mark.parametrize("text", ["", " ", "/", "_-_", "\N{COMBINING ACUTE ACCENT}"])
def test_a_text_without_a_word_finds_no_zone(text):
    choice = ZoneChoice("UTC")
    choice.text.value = text
    choice.text._handle_custom_msg({"event": "submit"}, [])

    assert choice.text.value == text


@pytest.mark.parametrize("ends, name", [((9999, 12, 31, 23), "Asia/Tokyo"), ((1, 1, 1), "America/Lima")])
def test_zones_are_listed_where_their_own_time_would_be_beyond_all_time(ends, name):
    choice = ZoneChoice("")
    choice.show_offset(datetime(*ends, tzinfo=zone("UTC")))
    choice.text.value = name[:-1]

    assert [value for _, value in choice.matches.options] == [name]


def test_a_zone_that_nobody_knows_stays_as_it_was_typed():
    choice = ZoneChoice("UTC")
    choice.text.value = "Mars/Olympus"
    choice.take_first()

    assert choice.value == "Mars/Olympus"
    assert choice.matches.options == ()
    assert "No time zone has this text in its name." in choice.hint.value


# -- when


def test_the_end_goes_with_the_start_until_it_is_set(when):
    when.first.value = date(2026, 12, 31)
    when.begins.value = time(23, 30)
    assert when.value.end == datetime(2027, 1, 1, 0, 30)  # noqa: DTZ001
    when.ends.value = time(2, 0)
    when.begins.value = time(22, 0)

    assert when.value.end == datetime(2027, 1, 1, 2, 0)  # noqa: DTZ001


def test_a_year_that_is_half_typed_moves_the_end_there_and_back(when):
    for year in (2, 20, 202, 2027, 9999, 2027):
        when.first.value = date(year, 11, 2)
        when.begins.value = time(23, 30)

    assert when.value.end == datetime(2027, 11, 3, 0, 30)  # noqa: DTZ001


def test_the_last_day_of_whole_days_is_sent_as_the_day_after(when):
    when.all_day.value = True
    when.last.value = date(2026, 11, 3)

    assert (when.value.start, when.value.end) == (date(2026, 11, 2), date(2026, 11, 4))
    assert "2 days" in when.ends_field.hint.value
    assert "2026-11-04" in when.ends_field.hint.value
    assert when.begins.layout.display == "none"
    assert when.zone.layout.display == "none"


def test_times_are_there_again_after_all_day(when):
    when.all_day.value = True
    when.all_day.value = False

    assert when.value.start == datetime(2026, 11, 2, 10)  # noqa: DTZ001


def test_an_hour_that_the_clocks_skip_is_not_counted(when):
    when.value = when.value
    when.first.value = when.last.value = date(2027, 3, 28)
    when.begins.value, when.ends.value = time(1, 0), time(4, 0)

    assert "2 h" in when.ends_field.hint.value


@pytest.mark.parametrize("day", [date.min, date.max, None])
def test_no_day_is_too_strange_to_be_typed(when, day):
    when.first.value = day
    when.last.value = day
    when.all_day.value = True

    assert when.value.first == day


# -- recurrence


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
    assert Repeat.read(repeat.line(start), start) == repeat
    assert recurrence_lines(repeat.words(), start) == [repeat.line(start)]


@pytest.mark.parametrize(
    "line",
    [
        "RRULE:FREQ=HOURLY",
        "RRULE:FREQ=MONTHLY;BYDAY=1MO,3MO",
        "RRULE:FREQ=YEARLY;BYMONTH=1,7",
        "RRULE:FREQ=WEEKLY;UNTIL=20270212T090000Z",
        "RDATE;VALUE=DATE:20270212",
        "nonsense",
    ],
)
def test_what_the_switches_cannot_say_stands_as_it_is(builder, line):
    builder.read([line], MONDAY)

    assert builder.frequency.value == CUSTOM
    assert builder.text_input.value == line


@pytest.mark.parametrize("line", ["RRULE:FREQ=MONTHLY", "RRULE:COUNT=3;FREQ=WEEKLY", "RRULE:FREQ=DAILY;INTERVAL=1"])
def test_a_line_that_came_is_sent_as_it_came_until_a_switch_moves(builder, line):
    builder.read([line], MONDAY)
    assert builder.lines(MONDAY) == [line]
    builder.interval.value = 3

    assert "INTERVAL=3" in builder.lines(MONDAY)[0]


def test_what_nobody_has_set_goes_with_the_start(builder):
    builder.frequency.value = Freq.WEEKLY
    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=MO"]
    builder.set_start_day(date(2026, 11, 5))
    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=TH"]
    builder.weekdays.days[1].value = True
    builder.set_start_day(date(2026, 11, 6))

    assert builder.lines(MONDAY) == ["RRULE:FREQ=WEEKLY;BYDAY=TU,TH"]
    assert "The first instance is on Friday" in builder.weekdays.hint.value


def test_a_month_by_its_weekday(builder):
    builder.frequency.value = Freq.MONTHLY
    builder.month.choice.value = NTH
    builder.ends.choice.value = "count"
    builder.ends.count.value = 4

    assert builder.lines(MONDAY) == ["RRULE:FREQ=MONTHLY;BYDAY=1MO;COUNT=4"]


def test_the_last_day_of_a_rule_is_a_whole_day_where_the_event_is(builder):
    builder.frequency.value = Freq.DAILY
    builder.ends.choice.value = "until"
    builder.ends.until.value = date(2026, 11, 20)

    assert builder.lines(MONDAY) == ["RRULE:FREQ=DAILY;UNTIL=20261120T225959Z"]
    assert builder.lines(MONDAY.date()) == ["RRULE:FREQ=DAILY;UNTIL=20261120"]


def test_an_end_without_its_day_is_no_repetition_without_end(builder):
    builder.frequency.value = Freq.DAILY
    builder.ends.choice.value = "until"
    builder.ends.until.value = None

    with pytest.raises(ValueError, match="Enter the last date"):
        builder.lines(MONDAY)


def test_a_day_that_some_months_lack_is_said():
    month = MonthChoice()
    month.day.value = 31

    assert "skipped" in month.hint.value


# -- preview


def test_the_preview_counts_and_shows_where_the_clocks_change():
    start = datetime(2026, 10, 19, 10, tzinfo=BERLIN)
    shown = instance_list(Series(("RRULE:FREQ=WEEKLY;COUNT=20",), start, start.replace(hour=11, minute=30)))

    assert "20 instances, the last on Mon 01 Mar 2027" in shown
    assert "Mon 19 Oct 2026, 10:00 to 11:30<small> UTC+2</small>" in shown
    assert shown.count("<strong") == 1
    assert "Mon 26 Oct 2026, 10:00 to 11:30<small><strong" in shown


def test_a_rule_without_end_is_not_counted_to_its_end():
    series = Series(("RRULE:FREQ=SECONDLY",), MONDAY, MONDAY.replace(minute=1))

    assert "No end; the first 8" in instance_list(series)
    assert event_days(series, date(2026, 11, 1), date(2027, 1, 1)) == {date(2026, 11, 2)}


def test_every_day_of_an_instance_is_marked_and_its_exclusive_end_is_not():
    series = Series(("RRULE:FREQ=WEEKLY;COUNT=2",), date(2026, 11, 30), date(2026, 12, 3))

    assert event_days(series, date(2026, 12, 1), date(2027, 1, 1)) == {date(2026, 12, day) for day in (1, 2, 7, 8, 9)}


def test_a_long_instance_is_marked_in_every_month_of_it():
    series = Series(("RRULE:FREQ=YEARLY;INTERVAL=4",), date(2026, 1, 1), date(2029, 1, 1))

    assert len(event_days(series, date(2028, 12, 1), date(2029, 2, 1))) == 31


@pytest.mark.parametrize("day", [date(2, 1, 1), date(9999, 12, 1)])
def test_the_months_end_where_time_ends(day):
    preview = RecurrencePreview()
    preview.show(Series(("RRULE:FREQ=DAILY",), day, day.replace(day=31)))
    for button in [preview.earlier] * 14 + [preview.later] * 40:
        button.click()

    assert f"{preview._month.year}" in preview.months.value
    assert preview._month >= day.replace(day=1)


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


def test_a_month_is_a_table_with_its_days():
    november = month_picture(date(2026, 11, 1), [date(2026, 11, 30)])

    assert november.count("<td></td>") == 12
    assert '<mark title="Monday: 1 instance">30</mark>' in november
    assert month_after(date(2026, 1, 31), -1) == date(2025, 12, 1)


# -- rows


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


def test_what_else_is_known_of_a_guest_is_kept():
    rows = AttendeeRows()
    guest = {"email": "bob@svc.example", "displayName": "Bob", "additionalGuests": 2, "responseStatus": "tentative"}
    rows.value = [guest]

    assert rows.value == [guest]


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


def test_a_link_that_is_typed_is_attached():
    files = AttachmentRows()
    files.append(AttachmentRow({"fileUrl": "https://svc.example/a", "title": "<a>"}))
    files.link.value = "https://svc.example/b"
    assert files.value[1] == {"fileUrl": "https://svc.example/b"}
    assert files.field(1) is files.other
    files.more.click()

    assert [row.value["fileUrl"][-1] for row in files.rows] == ["a", "b"]
    assert files.link.value == ""
    assert "<a>" not in files.rows[0].controls[0].value
