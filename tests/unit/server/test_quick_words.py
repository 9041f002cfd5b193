from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from svc_notebooks.server.calendars.quick_words import quick_event

MONDAY = datetime(2026, 11, 2, 10, 30, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    "words, summary, start, end",
    [
        ("Lunch with Bob tomorrow 12:30-13:30", "Lunch with Bob", "2026-11-03T12:30:00", "2026-11-03T13:30:00"),
        ("Lunch with Bob, tomorrow at noon", "Lunch with Bob", "2026-11-03T12:00:00", "2026-11-03T13:00:00"),
        ("Call at 10:00 on Friday", "Call", "2026-11-06T10:00:00", "2026-11-06T11:00:00"),
        ("Call on Friday, 10:00", "Call", "2026-11-06T10:00:00", "2026-11-06T11:00:00"),
        ("Call Friday 3-4pm", "Call", "2026-11-06T15:00:00", "2026-11-06T16:00:00"),
        ("Call tomorrow from 10 to 11:15am", "Call", "2026-11-03T10:00:00", "2026-11-03T11:15:00"),
        ("Call tomorrow 12am for 90 min", "Call", "2026-11-03T00:00:00", "2026-11-03T01:30:00"),
        ("Call Monday 11:00", "Call", "2026-11-02T11:00:00", "2026-11-02T12:00:00"),
        ("Call Monday 10:00", "Call", "2026-11-09T10:00:00", "2026-11-09T11:00:00"),
        ("Call 7pm", "Call", "2026-11-02T19:00:00", "2026-11-02T20:00:00"),
        ("Call 9am", "Call", "2026-11-03T09:00:00", "2026-11-03T10:00:00"),
        ("Party Dec 24 2027 10pm", "Party", "2027-12-24T22:00:00", "2027-12-24T23:00:00"),
        ("Weekly review Friday 10:00", "Weekly review", "2026-11-06T10:00:00", "2026-11-06T11:00:00"),
    ],
)
def test_an_event_with_times(words, summary, start, end):
    assert quick_event(words, MONDAY) == {
        "summary": summary,
        "start": {"dateTime": start, "timeZone": "Europe/Berlin"},
        "end": {"dateTime": end, "timeZone": "Europe/Berlin"},
    }


@pytest.mark.parametrize(
    "words, start, end",
    [
        ("Holiday 2026-12-24", "2026-12-24", "2026-12-25"),
        ("Holiday on December 24", "2026-12-24", "2026-12-25"),
        ("Holiday 24 Dec", "2026-12-24", "2026-12-25"),
        ("Holiday Nov 1", "2027-11-01", "2027-11-02"),
        ("Holiday Feb 29", "2028-02-29", "2028-03-01"),
        ("Holiday today", "2026-11-02", "2026-11-03"),
        ("Holiday Monday", "2026-11-02", "2026-11-03"),
    ],
)
def test_an_event_of_a_day(words, start, end):
    assert quick_event(words, MONDAY) == {"summary": "Holiday", "start": {"date": start}, "end": {"date": end}}


@pytest.mark.parametrize(
    "words, first, rule",
    [
        ("every weekday 9:00 for 15 min", "2026-11-03T09:00:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("weekdays at 11:00-11:15", "2026-11-02T11:00:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("Mondays 18:00", "2026-11-02T18:00:00", "FREQ=WEEKLY;BYDAY=MO"),
        ("every other Tuesday 10:00 starting 2026-12-02", "2026-12-08T10:00:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("last Friday of every month 10:00 6 times", "2026-11-27T10:00:00", "FREQ=MONTHLY;BYDAY=-1FR;COUNT=6"),
        ("daily 10:00 until 2026-11-05", "2026-11-03T10:00:00", "FREQ=DAILY;UNTIL=20261105T225959Z"),
        ("every 2 weeks on Tue 10:00 for 10 weeks", "2026-11-03T10:00:00",
         "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270111T225959Z"),
        ("monthly on day 1", "2026-12-01", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("yearly on the 4th Thursday of November", "2026-11-26", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"),
    ],
)  # fmt: skip
def test_a_series_begins_on_its_first_day(words, first, rule):
    fields = quick_event(f"Standup {words}", MONDAY)

    assert fields["summary"] == "Standup"
    assert fields["start"].get("dateTime", fields["start"].get("date")) == first
    assert fields["recurrence"] == [f"RRULE:{rule}"]


@pytest.mark.parametrize(
    "words, hint",
    [
        ("", "write a title"),
        ("Meeting", "write a title"),
        ("Friday", "write a title"),
        ("2026-12-24 Holiday", "write a title"),
        ("Meeting next Friday 10:00", "write a title"),
        ("Meeting Friday or Saturday 10:00", "write a title"),
        ("Review of the last Friday of every month 10:00", "write a title"),
        ("Meeting 2026-02-30", "write a title"),
        ("Meeting 10:00-9:00", "does not end after its begin"),
        ("Meeting 25:00", "'25:00' is not a time of day"),
        ("Meeting 13pm", "'13pm' is not a time of day"),
        ("Meeting 10:00-11:00 for 1 hour", "an end and a length"),
        ("Meeting every 2nd Tuesday 10:00", "has two meanings"),
        ("Meeting every Tusday 10:00", "cannot parse recurrence"),
        ("x " * 600 + "tomorrow", "more than 1000 characters"),
    ],
)
def test_other_words_are_refused_with_the_grammar(words, hint):
    with pytest.raises(ValueError, match="write a title and then the time") as error:
        quick_event(words, MONDAY)

    assert hint in str(error.value)
