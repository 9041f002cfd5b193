"""Pages of a calendar with many recurring events, which are not expanded again for each page."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from svc_notebooks.server.context.cursors import Cursor, CursorCache
from svc_notebooks.server.events import expansion
from tests.contract.calendar_client import CalendarClient, Fields, accepted

MONTH = {"singleEvents": "true", "timeMin": "2026-11-01T00:00:00Z", "timeMax": "2026-12-01T00:00:00Z"}
SERIES = 12


def series(number: int) -> Fields:
    return {
        "id": f"series{number:02}",
        "start": {"dateTime": f"2026-11-02T10:{number:02}:00Z", "timeZone": "UTC"},
        "end": {"dateTime": f"2026-11-02T11:{number:02}:00Z", "timeZone": "UTC"},
        "recurrence": ["RRULE:FREQ=DAILY;COUNT=20"],
    }


def rest(ada: CalendarClient, page: Fields, **parameters: object) -> list[str]:
    """Return the ids on the pages after a page."""
    ids: list[str] = []
    while token := page.get("nextPageToken"):
        page = accepted(ada.list(**parameters, pageToken=token))
        ids += [item["id"] for item in page["items"]]
    return ids


@pytest.fixture
def way() -> str:
    return "in-process"


@pytest.fixture
def whole(ada: CalendarClient) -> list[str]:
    """The ids of a calendar with many series, on one page."""
    for number in range(SERIES):
        ada.made(series(number))
    return [item["id"] for item in accepted(ada.list(**MONTH, maxResults=2500))["items"]]


def test_only_the_first_page_expands_the_series(ada: CalendarClient, whole: list[str]) -> None:
    slots = expansion.instance_slots
    with patch.object(expansion, "instance_slots", side_effect=slots) as expanded:
        first = accepted(ada.list(**MONTH, maxResults=50))
        of_first_page = expanded.call_count
        later = rest(ada, first, **MONTH, maxResults=50)

    assert of_first_page == expanded.call_count == SERIES
    assert [item["id"] for item in first["items"]] + later == whole


def test_a_page_token_can_be_sent_again(ada: CalendarClient, whole: list[str]) -> None:
    first = accepted(ada.list(**MONTH, maxResults=50))

    later = [rest(ada, first, **MONTH, maxResults=50) for _ in range(2)]

    assert later == [whole[50:], whole[50:]]


def test_pages_are_the_same_if_no_cursor_is_kept(ada: CalendarClient, whole: list[str]) -> None:
    with patch.object(CursorCache, "take", return_value=None):
        first = accepted(ada.list(**MONTH, maxResults=50))
        later = rest(ada, first, **MONTH, maxResults=50)

    assert [item["id"] for item in first["items"]] + later == whole


@pytest.mark.parametrize("change", ["insert", "delete", "move", "cancel an instance", "patch a series"])
def test_the_next_page_has_what_changed_since_the_page_before(
    ada: CalendarClient, whole: list[str], change: str
) -> None:
    first = accepted(ada.list(**MONTH, maxResults=50))
    if change == "insert":
        ada.made(series(40))
    elif change == "delete":
        ada.delete("series03")
    elif change == "move":
        times = {"start": {"dateTime": "2026-11-30T10:00:00Z"}, "end": {"dateTime": "2026-11-30T11:00:00Z"}}
        accepted(ada.patch(whole[60], times))
    elif change == "cancel an instance":
        ada.delete(whole[60])
    else:
        accepted(ada.patch("series05", {"recurrence": ["RRULE:FREQ=DAILY;COUNT=40"]}))

    later = rest(ada, first, **MONTH, maxResults=50)
    now = [(item["start"]["dateTime"], item["id"]) for item in accepted(ada.list(**MONTH, maxResults=2500))["items"]]

    last = first["items"][-1]
    assert later == [event_id for start, event_id in now if (start, event_id) > (last["start"]["dateTime"], last["id"])]
    assert later != whole[50:]


def test_the_resources_of_instances_are_those_of_a_single_read(ada: CalendarClient, whole: list[str]) -> None:
    ada.patch(whole[3], {"summary": "Moved"})
    items = accepted(ada.list(**MONTH, maxResults=30, timeZone="Asia/Tokyo"))["items"]

    for item in items:
        assert ada.read(item["id"], timeZone="Asia/Tokyo") == item


def test_a_calendar_with_too_many_series_keeps_no_cursor() -> None:
    cache = CursorCache(most=10)
    cache.keep("small", Cursor(iter(()), 5))
    cache.keep("large", Cursor(iter(()), 20))

    assert cache.take("large") is None
    assert cache.take("small") is None
