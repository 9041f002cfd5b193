"""The caches of lists of events: what they keep, and how much."""

from dataclasses import replace

import pytest

from svc_notebooks.server.dispatch.service_context import Cursor, CursorCache, SeriesCache


def kept(cache: CursorCache, keys: range) -> list[int]:
    return [key for key in keys if cache.take(key)]


@pytest.fixture
def cursor() -> Cursor:
    return Cursor(iter(()), series=30)


def test_a_cursor_that_is_cheap_to_begin_is_not_kept(cursor: Cursor):
    cache = CursorCache()
    cache.keep(1, replace(cursor, series=0))

    assert cache.take(1) is None


def test_the_number_of_cursors_of_small_calendars_is_limited_and_the_newest_are_kept(cursor: Cursor):
    cache = CursorCache(most=1000)
    for key in range(50):
        cache.keep(key, cursor)

    assert kept(cache, range(50)) == list(range(40, 50))


def test_cursors_that_are_taken_or_replaced_leave_room_for_others(cursor: Cursor):
    cache = CursorCache(most=200)
    for key in range(50):
        cache.keep(key, cursor)
        cache.keep(key, cursor)
        assert cache.take(key) is cursor
    cache.keep(50, cursor)
    cache.keep(51, cursor)

    assert kept(cache, range(52)) == [50, 51]


def test_the_series_of_the_calendars_listed_last_are_kept():
    cache = SeriesCache(most=10)
    for calendar in range(4):
        cache.keep(calendar, dict.fromkeys(range(4), "series"))
    cache.keep(3, dict.fromkeys(range(5), "series"))

    assert [len(cache.get(calendar)) for calendar in range(4)] == [0, 0, 4, 5]


def test_a_calendar_whose_series_are_deleted_takes_no_room():
    cache = SeriesCache(most=10)
    cache.keep("emptied", dict.fromkeys(range(9), "series"))
    cache.keep("emptied", {})
    cache.keep("other", dict.fromkeys(range(10), "series"))

    assert (len(cache.get("emptied")), len(cache.get("other"))) == (0, 10)
