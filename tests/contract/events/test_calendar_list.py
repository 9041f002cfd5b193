"""One user's own settings of calendars, and which calendars are in the user's list."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from svc_notebooks.server.service import Service
from tests.contract.calendar_client import ADA, BOB, CalendarClient, Fields, accepted, emptied, refusal
from tests.contract.conftest import Wire

LIST = "/calendar/v3/users/me/calendarList"


@pytest.fixture
def service() -> Service:
    return emptied()


@pytest.fixture
def bob(wire: Wire) -> CalendarClient:
    return CalendarClient(wire, BOB)


def entry_path(calendar: str) -> str:
    return f"{LIST}/{quote(calendar, safe='')}"


def made(client: CalendarClient, summary: str = "Course") -> str:
    return str(accepted(client.call("POST", "/calendar/v3/calendars", {"summary": summary}))["id"])


def share(client: CalendarClient, calendar: str, scope: Fields, role: str = "reader") -> None:
    accepted(client.call("POST", f"/calendar/v3/calendars/{calendar}/acl", {"role": role, "scope": scope}))


def listed(client: CalendarClient, **parameters: Any) -> list[str]:
    return [entry["id"] for entry in accepted(client.call("GET", LIST, **parameters))["items"]]


def test_settings_belong_to_one_user(ada: CalendarClient, bob: CalendarClient) -> None:
    course = made(ada)
    share(ada, course, {"type": "user", "value": BOB})
    settings = {
        "summaryOverride": "My course",
        "colorId": "3",
        "selected": False,
        "defaultReminders": [{"method": "email", "minutes": 30}],
        "notificationSettings": {"notifications": [{"type": "eventChange", "method": "email"}]},
    }

    changed = accepted(bob.call("PATCH", entry_path(course), settings))

    assert settings.items() <= changed.items()
    assert (changed["summary"], changed["backgroundColor"], changed["accessRole"]) == ("Course", "#f83a22", "reader")
    assert accepted(bob.call("GET", entry_path(course))) == changed
    assert changed in accepted(bob.call("GET", LIST))["items"]
    own = accepted(ada.call("GET", entry_path(course)))
    assert "summaryOverride" not in own
    assert (own["colorId"], own["selected"]) == ("7", True)


def test_patch_changes_some_settings_and_put_replaces_all(ada: CalendarClient) -> None:
    accepted(ada.call("PATCH", entry_path("primary"), {"summaryOverride": "Mine", "colorId": "3"}))

    patched = accepted(ada.call("PATCH", entry_path("primary"), {"colorId": None, "selected": False}))
    replaced = accepted(ada.call("PUT", entry_path("primary"), {"selected": True}))

    assert (patched["summaryOverride"], patched["colorId"], patched["selected"]) == ("Mine", "14", False)
    assert "summaryOverride" not in replaced
    assert (replaced["selected"], replaced["primary"]) == (True, True)


def test_colours_of_ones_own_have_the_nearest_color_id(ada: CalendarClient) -> None:
    colors = {"backgroundColor": "#f83a20", "foregroundColor": "#ffffff"}

    ignored = accepted(ada.call("PATCH", entry_path("primary"), colors))
    stored = accepted(ada.call("PATCH", entry_path("primary"), colors, colorRgbFormat="true"))
    by_id = accepted(ada.call("PATCH", entry_path("primary"), {"colorId": "9"}))

    assert ignored["colorId"] == "14"
    assert (stored["colorId"], stored["backgroundColor"], stored["foregroundColor"]) == ("3", "#f83a20", "#ffffff")
    assert (by_id["colorId"], by_id["backgroundColor"], by_id["foregroundColor"]) == ("9", "#7bd148", "#1d1d1d")


def test_a_calendar_is_removed_and_added_again(wire: Wire, ada: CalendarClient) -> None:
    course = made(ada)
    accepted(ada.call("PATCH", entry_path(course), {"colorId": "3"}))

    assert ada.call("DELETE", entry_path(course)).status == 204

    assert listed(ada) == [ADA]
    (_, removed) = accepted(ada.call("GET", LIST, showDeleted="true"))["items"]
    assert (removed["id"], removed["deleted"]) == (course, True)
    for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
        assert refusal(ada.call(method, entry_path(course), body)) == (404, "notFound", "calendarId")
    CalendarClient(wire, calendar=course).made(summary="still there")
    added = accepted(ada.call("POST", LIST, {"id": course}))
    assert (added["colorId"], "deleted" in added) == ("7", False)
    assert listed(ada) == [ADA, course]


def test_a_calendar_that_everybody_may_see_can_be_added(ada: CalendarClient, bob: CalendarClient) -> None:
    course, secret = made(ada), made(ada, "Secret")
    share(ada, course, {"type": "default"})

    before = listed(bob)
    added = accepted(bob.call("POST", LIST, {"id": course, "summaryOverride": "Ada's"}))
    hidden = bob.call("POST", LIST, {"id": secret})

    assert (before, listed(bob)) == ([BOB], [BOB, course])
    assert (added["summaryOverride"], added["accessRole"]) == ("Ada's", "reader")
    assert refusal(hidden)[:2] == (404, "notFound")
    ada.call("DELETE", f"/calendar/v3/calendars/{course}/acl/default")
    assert listed(bob) == [BOB]


def test_the_primary_calendar_cannot_be_removed(ada: CalendarClient) -> None:
    assert refusal(ada.call("DELETE", entry_path("primary"))) == (400, "invalid", "calendarId")
    assert listed(ada) == [ADA]


@pytest.mark.parametrize(
    "body, field",
    [
        ({"summaryOverride": 5}, "summaryOverride"),
        ({"summaryOverride": "x" * 255}, "summaryOverride"),
        ({"summaryOverride": "\ud800"}, "summaryOverride"),
        ({"colorId": "25"}, "colorId"),
        ({"hidden": "yes"}, "hidden"),
        ({"selected": 1}, "selected"),
        ({"defaultReminders": [{"method": "popup", "minutes": 40321}]}, "defaultReminders"),
        ({"defaultReminders": [{"method": "popup", "minutes": 1}] * 6}, "defaultReminders"),
        ({"defaultReminders": [5]}, "defaultReminders"),
        ({"notificationSettings": {"notifications": [{"type": "x", "method": "email"}]}}, "notificationSettings"),
    ],
)
def test_settings_are_checked(ada: CalendarClient, body: Fields, field: str) -> None:
    before = accepted(ada.call("GET", entry_path("primary")))

    assert refusal(ada.call("PATCH", entry_path("primary"), body)) == (400, "invalid", field)
    assert accepted(ada.call("GET", entry_path("primary"))) == before
