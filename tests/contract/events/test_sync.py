from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.contract.calendar_client import (
    ADA,
    BOB,
    EVE,
    LIST,
    CalendarClient,
    Fields,
    accepted,
    entry_path,
    path,
    refusal,
)

SETTINGS = "/calendar/v3/users/me/settings"
ACL, EVENTS = "/calendar/v3/calendars/primary/acl", path()
LISTS = [EVENTS, LIST, ACL, SETTINGS]
DECEMBER = {"timeMin": "2026-12-01T00:00:00Z", "timeMax": "2027-01-01T00:00:00Z"}
TIMES = ("timeMin", "timeMax")


def at(day: str, **fields: Any) -> Fields:
    start, end = ({"dateTime": f"2026-{day}T{hour}:00:00Z", "timeZone": "UTC"} for hour in (10, 11))
    return {"start": start, "end": end, **fields}


class Copy:
    def __init__(self, client: CalendarClient, address: str = EVENTS, **parameters: Any) -> None:
        self.client, self.address, self.parameters = client, address, parameters
        self.changed: list[Fields] = []
        self.entries, self.token = self.read(parameters)

    def read(self, parameters: Fields) -> tuple[Fields, str]:
        entries, page = {}, accepted(self.client.call("GET", self.address, **parameters))
        entries |= {entry["id"]: entry for entry in page["items"]}
        while "nextPageToken" in page:
            assert "nextSyncToken" not in page
            page = accepted(self.client.call("GET", self.address, **parameters, pageToken=page["nextPageToken"]))
            entries |= {entry["id"]: entry for entry in page["items"]}
        return entries, page["nextSyncToken"]

    def sync(self, **more: Any) -> list[Fields]:
        kept = {name: value for name, value in self.parameters.items() if name not in TIMES}
        changes, self.token = self.read({**kept, **more, "syncToken": self.token})
        for entry_id, entry in changes.items():
            is_exception = "recurringEventId" in entry and "singleEvents" not in self.parameters
            gone = entry.get("status") == "cancelled" and not is_exception
            gone = gone or entry.get("deleted") or entry.get("role") == "none"
            if gone or entry.get("hidden"):
                self.entries.pop(entry_id, None)
            else:
                self.entries[entry_id] = entry
        return list(changes.values())

    def is_current(self) -> bool:
        """Return whether the copy is the same as the whole list now."""
        whole, _ = self.read(self.parameters)
        return _without_etags(self.entries) == _without_etags(whole)


def _without_etags(entries: Fields) -> Fields:
    return {key: {**entry, "etag": ""} for key, entry in entries.items()}


CHANGES: dict[str, Callable[[CalendarClient, dict[str, str]], object]] = {
    "created": lambda ada, ids: ada.made(at("12-09", summary="new")),
    "created outside the window": lambda ada, ids: ada.made(at("11-09", summary="early")),
    "another title": lambda ada, ids: ada.patch(ids["in"], {"summary": "other"}),
    "moved into the window": lambda ada, ids: ada.patch(ids["out"], at("12-10")),
    "moved out of the window": lambda ada, ids: ada.patch(ids["in"], at("11-10")),
    "deleted": lambda ada, ids: ada.delete(ids["in"]),
    "deleted outside the window": lambda ada, ids: ada.delete(ids["out"]),
    "a new series": lambda ada, ids: ada.made(at("12-11", recurrence=["RRULE:FREQ=DAILY;COUNT=3"])),
    "another title of a series": lambda ada, ids: ada.patch(ids["series"], {"summary": "other"}),
    "a deleted series": lambda ada, ids: ada.delete(ids["series"]),
    "an instance moved": lambda ada, ids: ada.patch(f"{ids['series']}_20261202T100000Z", at("12-20")),
    "an instance moved out": lambda ada, ids: ada.patch(f"{ids['series']}_20261202T100000Z", at("11-20")),
    "an instance deleted": lambda ada, ids: ada.delete(f"{ids['series']}_20261209T100000Z"),
    "a changed instance, then the series": lambda ada, ids: (
        ada.patch(f"{ids['series']}_20261202T100000Z", {"location": "Room 7"}),
        ada.patch(ids["series"], {"summary": "other"}),
    ),
    "a changed instance, then a deleted series": lambda ada, ids: (
        ada.patch(f"{ids['series']}_20261202T100000Z", {"location": "Room 7"}),
        ada.delete(ids["series"]),
    ),
    "a series with an instance changed earlier": lambda ada, ids: ada.patch(ids["series"], {"location": "Room 8"}),
    "moved to another calendar": lambda ada, ids: ada.call(
        "POST", path("primary", ids["in"], "move"), destination=ids["course"]
    ),
}  # fmt: skip
"""What can happen to the events of a calendar between two lists."""


def filled(ada: CalendarClient) -> dict[str, str]:
    """A calendar with an event in December, one in November, and a series in both; returns their ids."""
    series = ada.made(at("11-25", recurrence=["RRULE:FREQ=WEEKLY;COUNT=5"]))["id"]
    ada.patch(f"{series}_20261216T100000Z", {"summary": "changed"})
    inside, outside = (ada.made(at(day))["id"] for day in ("12-05", "11-05"))
    return {"in": inside, "out": outside, "series": series, "course": ada.new_calendar()}


@pytest.mark.choice("Changes since a sync token")
@pytest.mark.parametrize("parameters", [{}, DECEMBER, {"timeMin": DECEMBER["timeMin"]}], ids=["all", "window", "from"])
@pytest.mark.parametrize("single", [{}, {"singleEvents": "true", "maxResults": 2}], ids=["events", "instances"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_of_a_list_is_current_after_the_changes(ada, change, single, parameters):
    ids = filled(ada)
    copy = Copy(ada, **parameters, **single)

    CHANGES[change](ada, ids)
    copy.sync()

    assert copy.is_current()
    assert copy.sync() == []


@pytest.mark.parametrize("parameters", [{}, {"eventTypes": "focusTime"}], ids=["all", "focusTime"])
def test_an_event_that_leaves_the_window_is_cancelled_and_new_ones_outside_are_not_listed(ada, parameters):
    event = ada.made(at("12-05", eventType="focusTime"))
    copy = Copy(ada, **DECEMBER, **parameters)
    ada.made(at("11-05", eventType="focusTime"))
    ada.patch(event["id"], at("11-06"))

    assert copy.sync() == [{"kind": "svc#event", "id": event["id"], "status": "cancelled"}]


@pytest.mark.parametrize("change", [
    {"recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"]}, {"recurrence": None}, at("11-26"),
], ids=str)  # fmt: skip
def test_a_list_of_instances_starts_again_after_a_series_changed_its_times(ada: CalendarClient, change: Fields) -> None:
    series = ada.made(at("11-25", recurrence=["RRULE:FREQ=WEEKLY;COUNT=5"]))
    copy, instances = Copy(ada, **DECEMBER), Copy(ada, **DECEMBER, singleEvents="true")
    accepted(ada.patch(series["id"], change))

    copy.sync()

    assert copy.is_current()
    refused = ada.list(singleEvents="true", syncToken=instances.token)
    assert refusal(refused) == (410, "fullSyncRequired", "syncToken")


@pytest.mark.policy(expansion_steps=1000)
def test_the_changes_have_no_endless_series(ada: CalendarClient) -> None:
    token = Copy(ada, singleEvents="true").token
    ada.made(recurrence=["RRULE:FREQ=MINUTELY"])

    answer = ada.list(singleEvents="true", syncToken=token)

    assert refusal(answer) == (410, "fullSyncRequired", "syncToken")


def test_a_cleared_calendar_and_a_list_with_other_parameters_need_a_full_list(ada: CalendarClient) -> None:
    ada.made()
    for single, types in (("true", []), ("false", ["focusTime"])):
        token = Copy(ada, singleEvents=single, eventTypes=types).token
        assert refusal(ada.list(syncToken=token)) == (410, "fullSyncRequired", "syncToken")
        assert ada.list(syncToken=token, singleEvents=single, eventTypes=types).status == 200
    token = Copy(ada).token
    ada.call("POST", "/calendar/v3/calendars/primary/clear")
    ada.made()
    assert refusal(ada.list(syncToken=token)) == (410, "fullSyncRequired", "syncToken")


@pytest.mark.parametrize("address", LISTS)
def test_a_token_that_no_list_returned_is_410(ada: CalendarClient, address: str) -> None:
    for token in ("nonsense", "", "AAAA", "%F0%9F%90%A6", "a" * 5000):
        answer = ada.call("GET", f"{address}?syncToken={token}")
        assert refusal(answer) == (410, "fullSyncRequired", "syncToken")


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize("other", [*LISTS, "another user", "a page"])
def test_a_token_of_another_list_is_410(ada: CalendarClient, bob: CalendarClient, address: str, other: str) -> None:
    for user in (BOB, EVE):
        ada.share("reader", user)
    if other == "another user":
        token = Copy(bob, address).token
    elif other == "a page":
        ada.made(), ada.made(), ada.new_calendar()
        token = accepted(ada.call("GET", address, maxResults=1))["nextPageToken"]
    else:
        token = Copy(ada, other).token

    answer = ada.call("GET", address, syncToken=token)

    assert answer.status == (200 if other == address else 410)


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize("later_changes", [0, 9])
@pytest.mark.parametrize("is_reset", [False, True], ids=["restore", "reset"])
def test_a_token_from_before_a_restored_snapshot_is_410(wire, address, later_changes, is_reset):
    before = wire.service.snapshot()
    ada = CalendarClient(wire)
    ada.made(), ada.call("PATCH", "/calendar/v3/calendars/primary", {"timeZone": "Asia/Tokyo"})
    token = Copy(ada, address).token

    wire.service.reset() if is_reset else wire.service.restore(before)

    ada = CalendarClient(wire)
    for _ in range(later_changes):  # the numbers of the lost changes occur again
        ada.made(), ada.new_calendar()
    answer = ada.call("GET", address, syncToken=token)
    assert refusal(answer)[:2] == (410, "fullSyncRequired")


@pytest.mark.parametrize(
    "address, selection",
    [
        (EVENTS, {**DECEMBER, "q": "tea", "orderBy": "updated", "showDeleted": "false"}),
        (LIST, {"minAccessRole": "owner", "showHidden": "false", "showDeleted": "false"}),
    ],
)
def test_a_list_of_changes_has_all_of_them(ada: CalendarClient, address: str, selection: Fields) -> None:
    token = Copy(ada, address).token

    for name, value in selection.items():
        answer = ada.call("GET", address, syncToken=token, **{name: value})
        assert refusal(answer) == (400, "invalidParameter", name)


def test_a_copy_of_the_list_of_calendars(ada: CalendarClient, bob: CalendarClient) -> None:
    def share(calendar: str, role: str, **scope: str) -> str:
        rule = {"role": role, "scope": scope}
        return str(accepted(ada.call("POST", f"/calendar/v3/calendars/{calendar}/acl", rule))["id"])

    course, term, plan = (ada.new_calendar(summary=summary) for summary in ("Course", "Term", "Plan"))
    rule = share(course, "reader", type="user", value=BOB)
    copy, own = Copy(bob, LIST, maxResults=2), Copy(ada, LIST)
    steps: list[Callable[[], object]] = [
        lambda: share(term, "writer", type="user", value=BOB),
        lambda: share(plan, "reader", type="domain", value="svc.example"),
        lambda: accepted(bob.call("POST", LIST, {"id": plan})),
        lambda: share(plan, "writer", type="domain", value="svc.example"),
        lambda: accepted(ada.call("PATCH", f"/calendar/v3/calendars/{course}", {"summary": "Renamed"})),
        lambda: accepted(bob.call("PATCH", entry_path(term), {"hidden": True, "colorId": "3"})),
        lambda: bob.call("DELETE", entry_path(course)),
        lambda: accepted(bob.call("POST", LIST, {"id": course})),
        lambda: ada.call("DELETE", f"/calendar/v3/calendars/{course}/acl/{quote(rule, safe='')}"),
        lambda: ada.call("DELETE", f"/calendar/v3/calendars/{plan}"),
    ]
    for step in steps:
        step()
        copy.sync()
        own.sync()
        assert copy.is_current()
        assert own.is_current()
    assert copy.sync() == own.sync() == []
    assert "nextSyncToken" not in accepted(ada.call("GET", LIST, minAccessRole="owner"))


def test_a_copy_of_the_access_rules(ada: CalendarClient) -> None:
    ada.share("reader", BOB)
    copy = Copy(ada, ACL, maxResults=1)
    ada.share("reader", EVE)
    ada.share("writer", BOB)
    assert [rule["role"] for rule in copy.sync()] == ["writer", "reader"]
    assert copy.is_current()

    ada.call("DELETE", f"{ACL}/user%3A{quote(BOB)}")

    (gone,) = copy.sync()
    assert (gone["id"], gone["scope"], gone["role"]) == (f"user:{BOB}", {"type": "user", "value": BOB}, "none")
    assert copy.is_current()
    roles = {rule["id"]: rule["role"] for rule in accepted(ada.call("GET", ACL, showDeleted="true"))["items"]}
    assert roles == {f"user:{ADA}": "owner", f"user:{EVE}": "reader", f"user:{BOB}": "none"}
