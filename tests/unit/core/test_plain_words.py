"""Tests of recurrence in English words, and of the errors for other words."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.events.recurrence_words import recurrence_lines
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.time_zones import zone

DAY = date(2026, 11, 2)
TEN = datetime(2026, 11, 2, 10, tzinfo=zone("Europe/Berlin"))


@pytest.mark.parametrize(
    "words, rule",
    [
        ("daily", "FREQ=DAILY"),
        ("every day", "FREQ=DAILY"),
        ("every 1 day", "FREQ=DAILY"),
        ("every 3 days", "FREQ=DAILY;INTERVAL=3"),
        ("weekly", "FREQ=WEEKLY"),
        ("Weekly on Mon, Wed", "FREQ=WEEKLY;BYDAY=MO,WE"),
        ("weekly on monday and thursday", "FREQ=WEEKLY;BYDAY=MO,TH"),
        ("every 2 weeks on Tue", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every Monday", "FREQ=WEEKLY;BYDAY=MO"),
        ("every 2 Saturdays", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA"),
        ("monthly", "FREQ=MONTHLY"),
        ("monthly on day 15", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("monthly on the 1st", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("monthly on the last day", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("monthly on the 2nd Tuesday", "FREQ=MONTHLY;BYDAY=2TU"),
        ("every 3 months on the last Friday", "FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR"),
        ("yearly", "FREQ=YEARLY"),
        ("every 4 years", "FREQ=YEARLY;INTERVAL=4"),
        ("daily 10 times", "FREQ=DAILY;COUNT=10"),
        ("daily, 10 times", "FREQ=DAILY;COUNT=10"),
        ("weekly for 3 times", "FREQ=WEEKLY;COUNT=3"),
        ("weekly until 2027-02-12", "FREQ=WEEKLY;UNTIL=20270212"),
    ],
)
def test_words_are_translated_to_a_rule(words: str, rule: str):
    assert recurrence_lines(words, DAY) == [f"RRULE:{rule}"]


def test_until_is_the_end_of_the_day_in_the_zone_of_the_event():
    assert recurrence_lines("weekly until 2027-02-12", TEN) == ["RRULE:FREQ=WEEKLY;UNTIL=20270212T225959Z"]


@pytest.mark.parametrize("day, until", [("0999-01-01", "09990101T230631Z"), ("9999-12-31", "99991231T235959Z")])
def test_until_accepts_every_date(day: str, until: str):
    west = TEN.replace(tzinfo=zone("America/New_York")) if day > "9" else TEN

    assert recurrence_lines(f"daily until {day}", west) == [f"RRULE:FREQ=DAILY;UNTIL={until}"]


def test_excepted_days_are_a_line_of_their_own():
    assert recurrence_lines("daily except 2026-11-04, 2026-11-05", DAY)[1] == "EXDATE;VALUE=DATE:20261104,20261105"
    assert recurrence_lines("daily except 2026-11-04", TEN)[1] == "EXDATE:20261104T090000Z"


def test_recurrence_lines_are_returned_unchanged():
    lines = ["RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20261103"]

    assert recurrence_lines(lines, DAY) == lines
    assert recurrence_lines(lines[0], DAY) == lines[:1]


def test_a_rule_without_rrule_is_accepted():
    assert recurrence_lines(" FREQ=DAILY;COUNT=3", DAY) == ["RRULE:FREQ=DAILY;COUNT=3"]


@pytest.mark.parametrize(
    "words, message",
    [
        ("sometimes", "write, for example"),
        ("every fortnight", "'every fortnight'"),
        ("weekly on Foo", "'foo'"),
        ("daily on Monday", "'monday'"),
        ("every weekday on Monday", "cannot be combined with days"),
        ("every Monday on Tuesday", "cannot be combined with days"),
        ("every Monday on day 3", "cannot be combined with days"),
        ("daily except 9999-12-31", "0003 to 9997"),
        ("monthly on day 40", "BYMONTHDAY"),
        ("weekly until 2027-02-30", "2027-02-30"),
        ("", "write, for example"),
        ("RRULE:FREQ=SOON", "SOON"),
    ],
)
def test_invalid_words_are_refused_with_the_grammar(words: str, message: str):
    with pytest.raises(ValueError, match=message):
        recurrence_lines(words, DAY)


@given(st.text(max_size=60), st.sampled_from([DAY, TEN, datetime(2026, 11, 2, tzinfo=UTC)]))
def test_any_text_is_a_valid_rule_or_an_error(text: str, start: date):
    try:
        lines = recurrence_lines(text, start)
    except ValueError:
        return
    assert Recurrence.parse(lines, start)
