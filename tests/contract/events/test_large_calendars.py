"""Pages of a calendar with many recurring events, which are not expanded again for each page."""

from collections.abc import Callable

import pytest

from tests.contract.calendar_client import CalendarClient, Fields, accepted
from tests.contract.conftest import Answer

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
    pages = ada.pages(**parameters, pageToken=page["nextPageToken"])
    return [event_id for ids in pages for event_id in ids]


@pytest.fixture
def whole(ada: CalendarClient) -> list[str]:
    """The ids of a calendar with many series, on one page."""
    for number in range(SERIES):
        ada.made(series(number))
    return [item["id"] for item in accepted(ada.list(**MONTH, maxResults=2500))["items"]]


def test_a_page_token_can_be_sent_again(ada: CalendarClient, whole: list[str]) -> None:
    first = accepted(ada.list(**MONTH, maxResults=50))

    later = [rest(ada, first, **MONTH, maxResults=50) for _ in range(2)]

    assert later == [whole[50:], whole[50:]]


LATER = {"start": {"dateTime": "2026-11-30T10:00:00Z"}, "end": {"dateTime": "2026-11-30T11:00:00Z"}}
CHANGES: dict[str, Callable[[CalendarClient, list[str]], Answer]] = {
    "insert": lambda ada, whole: ada.insert(series(40)),
    "delete": lambda ada, whole: ada.delete("series03"),
    "move": lambda ada, whole: ada.patch(whole[60], LATER),
    "cancel an instance": lambda ada, whole: ada.delete(whole[60]),
    "patch a series": lambda ada, whole: ada.patch("series05", {"recurrence": ["RRULE:FREQ=DAILY;COUNT=40"]}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_page_has_what_changed_since_the_page_before(ada, whole, change):
    first = accepted(ada.list(**MONTH, maxResults=50))
    assert CHANGES[change](ada, whole).status in (200, 204)

    later = rest(ada, first, **MONTH, maxResults=50)
    now = [(item["start"]["dateTime"], item["id"]) for item in accepted(ada.list(**MONTH, maxResults=2500))["items"]]

    last = first["items"][-1]
    assert later == [event_id for start, event_id in now if (start, event_id) > (last["start"]["dateTime"], last["id"])]
    assert later != whole[50:]
