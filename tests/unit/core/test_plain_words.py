from datetime import UTC, date, datetime

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.events.recurrence_words import SUGGESTIONS, recurrence_lines
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.times import zone

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
        ("every other Tuesday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("every other week", "FREQ=WEEKLY;INTERVAL=2"),
        ("every two weeks on Mon & Thu", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"),
        ("every second week", "FREQ=WEEKLY;INTERVAL=2"),
        ("biweekly", "FREQ=WEEKLY;INTERVAL=2"),
        ("bi-weekly on Friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("every fortnight", "FREQ=WEEKLY;INTERVAL=2"),
        ("quarterly", "FREQ=MONTHLY;INTERVAL=3"),
        ("every 2 quarters on the first Monday", "FREQ=MONTHLY;INTERVAL=6;BYDAY=1MO"),
        ("annually", "FREQ=YEARLY"),
        ("weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("weekly on weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("Mon-Fri", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("Monday to Friday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every Sat - Mon", "FREQ=WEEKLY;BYDAY=SA,SU,MO"),
        ("Tuesdays and Thursdays", "FREQ=WEEKLY;BYDAY=TU,TH"),
        ("every weekend", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("every other weekend", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU"),
        ("last Friday of every month", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("first Monday of the month", "FREQ=MONTHLY;BYDAY=1MO"),
        ("every first Monday", "FREQ=MONTHLY;BYDAY=1MO"),
        ("on the second Tuesday of each month", "FREQ=MONTHLY;BYDAY=2TU"),
        ("every second Tuesday of the month", "FREQ=MONTHLY;BYDAY=2TU"),
        ("the second Tuesday", "FREQ=MONTHLY;BYDAY=2TU"),
        ("the 1st and 3rd Tuesday of every 2 months", "FREQ=MONTHLY;INTERVAL=2;BYDAY=1TU,3TU"),
        ("the last weekday of the month", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
        ("monthly on the 1st and 15th", "FREQ=MONTHLY;BYMONTHDAY=1,15"),
        ("every 15th", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("yearly on the 4th Thursday of November", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"),
        ("every year on December 24", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
        ("every 29 February", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
        ("Mon-Fri for 10 weeks", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20270110"),
        ("daily for a month", "FREQ=DAILY;UNTIL=20261201"),
        ("monthly for two years", "FREQ=MONTHLY;UNTIL=20281101"),
        ("biweekly for 30 days", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20261201"),
        ("daily except weekends", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every weekday, 9 times, but not on Friday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH;COUNT=9"),
        ("weekly mon wed fri", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
        ("every 2 weeks Tuesday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("daily 10x", "FREQ=DAILY;COUNT=10"),
        ("every 3 days until Friday", "FREQ=DAILY;INTERVAL=3;UNTIL=20261106"),
        ("weekly until March 2027", "FREQ=WEEKLY;UNTIL=20270331"),
        ("weekly until 1st march 2027", "FREQ=WEEKLY;UNTIL=20270301"),
        ("weekly until Mar 1, 2027", "FREQ=WEEKLY;UNTIL=20270301"),
        ("first workday of the month", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1"),
        ("every working day", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        (" FREQ=DAILY;COUNT=3", "FREQ=DAILY;COUNT=3"),
    ],
)
def test_words_are_translated_to_a_rule(words, rule):
    assert recurrence_lines(words, DAY) == [f"RRULE:{rule}"]


@pytest.mark.parametrize("day, until", [("0999-01-01", "09990101T230631Z"), ("9999-12-31", "99991231T235959Z")])
def test_until_accepts_every_date(day, until):
    west = TEN.replace(tzinfo=zone("America/New_York")) if day > "9" else TEN

    assert recurrence_lines(f"daily until {day}", west) == [f"RRULE:FREQ=DAILY;UNTIL={until}"]


def test_a_month_from_the_31st_ends_before_the_last_day_of_the_next_month():
    assert recurrence_lines("daily for 1 month", date(2027, 1, 31)) == ["RRULE:FREQ=DAILY;UNTIL=20270227"]


@pytest.mark.parametrize("phrase", sorted({*SUGGESTIONS.values()}))
def test_every_phrase_that_an_error_suggests_is_understood(phrase):
    assert recurrence_lines(phrase, TEN)


def test_excepted_days_are_a_line_of_their_own():
    assert recurrence_lines("daily except 2026-11-04, 2026-11-05", DAY)[1] == "EXDATE;VALUE=DATE:20261104,20261105"
    assert recurrence_lines("daily except 2026-11-04", TEN)[1] == "EXDATE:20261104T090000Z"


@pytest.mark.parametrize(
    "words, message",
    [
        ("sometimes", "write, for example"),
        ("every decade", "the nearest phrase is 'every day'"),
        ("every two weaks", "the nearest phrase is 'every 2 weeks'"),
        ("bimonthly", "the nearest phrase is 'every 2 months'"),
        ("monthly on Monday", "the nearest phrase is 'monthly on day 15'"),
        ("every other weekday", "the nearest phrase is 'every weekday'"),
        ("hourly", "the nearest phrase is 'RRULE:FREQ=HOURLY'"),
        ("every second Tuesday", "write 'every 2 weeks on tuesday' or 'the 2nd tuesday of every month'"),
        ("yearly on the 2nd Tuesday", "needs a month, such as 'yearly on the 2nd tuesday of November'"),
        ("every February 30", "cannot parse"),
        ("the 6th Tuesday", "cannot parse"),
        ("the 24th weekday of the month", "cannot parse"),
        ("Mon-Wed-Fri", "the nearest phrase is 'Mon-Fri'"),
        ("first Monday of every quarter", "cannot parse"),
        ("for 10 weeks", "cannot parse"),
        ("daily for 9999 years", "after the year 9999"),
        ("weekly on Foo", "'foo'"),
        ("daily on Monday", "'monday'"),
        ("every weekday on Monday", "cannot be combined with days"),
        ("monthly except Monday", "'except' takes dates, or weekdays after 'daily' and 'weekly'"),
        ("every Monday except Monday", "'except' takes dates"),
        ("daily until Christmas", "write the date 'christmas' as 2026-12-24"),
        ("daily until May 24 25", "as 2026-12-24"),
        ("daily until 31 April 2027", "2027-04-31"),
        ("every Monday on Tuesday", "cannot be combined with days"),
        ("every Monday on day 3", "cannot be combined with days"),
        ("daily except 9999-12-31", "0003 to 9997"),
        ("monthly on day 40", "BYMONTHDAY"),
        ("weekly until 2027-02-30", "2027-02-30"),
        ("", "write, for example"),
        ("RRULE:FREQ=SOON", "SOON"),
    ],
)
def test_invalid_words_are_refused_with_the_grammar(words, message):
    with pytest.raises(ValueError, match=message):
        recurrence_lines(words, DAY)


@given(st.text(max_size=60), st.sampled_from([DAY, TEN, datetime(2026, 11, 2, tzinfo=UTC)]))
def test_any_text_is_a_valid_rule_or_an_error(text, start):
    try:
        lines = recurrence_lines(text, start)
    except ValueError:
        return
    assert Recurrence.parse(lines, start)
