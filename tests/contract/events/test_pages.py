"""Expensive lists of recurring events, whose pages end with the budget and lose no instance."""

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.contract.calendar_client import CalendarClient, Fields, accepted

RARE = ["MINUTELY;INTERVAL=999999999", "HOURLY;INTERVAL=700001", "YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO"]
DENSE = ["SECONDLY", "MINUTELY;INTERVAL=7", "DAILY", "HOURLY;BYHOUR=3,4;COUNT=100000"]
NEVER = ["YEARLY;BYMONTH=2;BYMONTHDAY=30", "HOURLY;INTERVAL=168;BYDAY=TH", "WEEKLY;BYDAY=MO;BYSETPOS=5"]
COUNTED = ["SECONDLY;INTERVAL=86399;BYDAY=MO,TU;COUNT=999999999", "MONTHLY;BYDAY=MO;COUNT=999999"]
WINDOW = {"timeMin": "2027-01-01T00:00:00Z", "timeMax": "2027-01-03T00:00:00Z"}


def event(rule: str, minute: int = 0, year: int = 2026) -> Fields:
    return {
        "summary": rule,
        "start": {"dateTime": f"{year:04}-11-02T10:{minute:02}:00Z", "timeZone": "UTC"},
        "end": {"dateTime": f"{year:04}-11-02T10:{minute:02}:30Z", "timeZone": "UTC"},
        "recurrence": [f"RRULE:FREQ={rule}"],
    }


def pages(ada: CalendarClient, page_size: int, **parameters: Any) -> list[list[str]]:
    """The ids on each page of a list, up to so many of them."""
    id_pages: list[list[str]] = []
    for ids in ada.pages(**parameters):
        id_pages.append(ids)
        if sum(map(len, id_pages)) >= page_size:
            break
    return id_pages


@pytest.mark.policy(expansion_steps=1000)
@pytest.mark.choice("expansion_steps")
class TestWithABudgetOfAThousandSteps:
    @pytest.mark.parametrize("rules", [RARE, DENSE, RARE + DENSE + NEVER])
    @pytest.mark.parametrize("window", [{}, WINDOW])
    def test_the_pages_hold_what_one_page_without_a_budget_holds(self, ada, rules, window):
        with open_service(seed=0, policy=Policy(expansion_steps=10**9)) as patient:
            whole = CalendarClient(type(ada.wire)(patient, ada.wire.base_url))
            for minute, rule in enumerate(rules):
                ada.made(event(rule, minute), id=f"event{minute}")
                whole.made(event(rule, minute), id=f"event{minute}")

            expected = [*chain(*pages(whole, 300, singleEvents="true", **window))][:300]
        ids = [*chain(*pages(ada, 300, singleEvents="true", **window))][:300]

        assert ids == expected
        assert len(set(ids)) == len(ids)

    @pytest.mark.parametrize("rule", COUNTED)
    def test_a_long_count_goes_on_from_page_to_page(self, ada: CalendarClient, rule: str) -> None:
        ada.made(event(rule, year=1500))

        id_pages = pages(ada, 10, singleEvents="true", timeMin="2027-01-01T00:00:00Z", timeMax="2027-03-01T00:00:00Z")

        assert len(id_pages) > 1
        assert sum(map(len, id_pages)) >= 8

    def test_a_list_of_events_as_they_are_goes_on_from_page_to_page_without_a_sync_token(self, ada):
        made = [ada.made(event("HOURLY;INTERVAL=167;BYDAY=TH;BYHOUR=3", minute))["id"] for minute in range(12)]

        id_pages = pages(ada, 100, timeMin="2027-01-01T00:00:00Z", timeMax="2127-01-01T00:00:00Z")
        early = accepted(ada.list(singleEvents="true"))

        assert [*chain(*id_pages)] == made
        assert ("nextSyncToken" in early) != ("nextPageToken" in early)


def test_a_rule_with_an_interval_of_centuries_has_its_instances(ada: CalendarClient) -> None:
    """They lie further apart than the 400 years after which the calendar repeats itself."""
    made = ada.made(event("MINUTELY;INTERVAL=999999999"))

    instances = ada.instances(made["id"], timeMax="9998-12-31T00:00:00Z")
    starts = [datetime.fromisoformat(instance["start"]["dateTime"]) for instance in instances]

    begin = datetime(2026, 11, 2, 10, tzinfo=UTC)
    assert starts == [begin + timedelta(minutes=n * 999_999_999) for n in range(5)]
