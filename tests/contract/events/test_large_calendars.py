"""Pages of a calendar with many recurring events, which are not expanded again for each page."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from svc_notebooks.core import field_mask
from svc_notebooks.core.events.series_starts import SeriesStarts
from svc_notebooks.server.calendars.expansion import ParsedSeries
from svc_notebooks.server.dispatch.responses import encode_json
from svc_notebooks.server.dispatch.service_context import Cursor, CursorCache, SeriesCache
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


@pytest.mark.one_process("counts calls in the process of the test")
def test_only_the_first_page_expands_the_series(ada: CalendarClient, whole: list[str]) -> None:
    between = SeriesStarts.between
    with patch.object(SeriesStarts, "between", autospec=True, side_effect=between) as expanded:
        first = accepted(ada.list(**MONTH, maxResults=50))
        of_first_page = expanded.call_count
        later = rest(ada, first, **MONTH, maxResults=50)

    assert of_first_page == expanded.call_count == SERIES
    assert [item["id"] for item in first["items"]] + later == whole


@pytest.mark.one_process("counts calls in the process of the test")
def test_only_changed_series_are_parsed_again(ada: CalendarClient, whole: list[str]) -> None:
    with patch.object(ParsedSeries, "of", side_effect=ParsedSeries.of) as parsed:
        again = [item["id"] for item in accepted(ada.list(**MONTH, maxResults=2500))["items"]]
        accepted(ada.patch("series05", {"summary": "Renamed"}))
        ada.delete("series07")
        items = accepted(ada.list(**MONTH, maxResults=2500))["items"]

    assert again == whole
    assert [call.args[0].id for call in parsed.call_args_list] == ["series05", "series07"]
    assert [item["id"] for item in items] == [each for each in whole if not each.startswith("series07")]
    assert {item.get("summary") for item in items if item["id"].startswith("series05")} == {"Renamed"}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"prettyPrint": "false"},
        {"fields": "items(id,summary,start/dateTime,end/date,originalStartTime)"},
        {"fields": "items/start/timeZone,nextPageToken", "prettyPrint": "false"},
        {"fields": "summary"},
        {"fields": "*"},
    ],
)
def test_the_shared_json_of_instances_is_that_of_their_resources(ada: CalendarClient, parameters: Fields) -> None:
    ada.made({**series(1), "summary": '50 % "of"\n%(id)s \0', "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"]})
    day = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-04"}, "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"]}
    ada.made({"id": "alldas", **day})
    ada.made({"id": "singl", "start": series(7)["start"], "end": series(7)["end"], "summary": "%s"})
    ids = [item["id"] for item in accepted(ada.list(**MONTH))["items"]]

    response = ada.list(**MONTH, **parameters)

    mask = field_mask.parse(str(parameters.get("fields", "")))
    page = accepted(response)
    expected = field_mask.apply(mask, {"items": [ada.read(event_id) for event_id in ids]})
    assert len(ids) == 6
    assert page.get("items") == expected.get("items")
    compact = "prettyPrint" in parameters
    assert response.body == encode_json(page, compact=compact)


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


def test_the_series_of_the_calendars_listed_last_are_kept() -> None:
    cache = SeriesCache(most=10)
    for calendar, count in (("first", 5), ("second", 5), ("first", 5), ("third", 3), ("large", 11)):
        cache.keep(calendar, dict.fromkeys(range(count)))

    assert [len(cache.get(calendar)) for calendar in ("first", "second", "third", "large")] == [0, 0, 0, 0]
