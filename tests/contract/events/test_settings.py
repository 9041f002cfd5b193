"""The settings of a user's calendars."""

from __future__ import annotations

from tests.contract.calendar_client import CalendarClient, accepted
from tests.contract.conftest import Wire

SETTINGS = "/calendar/v3/users/me/settings"


def test_the_time_zone_is_that_of_the_primary_calendar(wire: Wire, ada: CalendarClient) -> None:
    ada.call("PATCH", "/calendar/v3/calendars/primary", {"timeZone": "Asia/Tokyo"})

    listed = accepted(ada.call("GET", SETTINGS))

    assert listed["kind"] == "svc#settings"
    values = {item["id"]: item["value"] for item in listed["items"]}
    assert (values["timezone"], values["defaultEventLength"], values["weekStart"]) == ("Asia/Tokyo", "60", "0")
    assert accepted(ada.call("GET", f"{SETTINGS}/timezone")) == {
        "kind": "svc#setting", "id": "timezone", "value": "Asia/Tokyo",
    }  # fmt: skip


def test_settings_have_pages(ada: CalendarClient) -> None:
    everything = accepted(ada.call("GET", SETTINGS, maxResults=1000))["items"]
    first = accepted(ada.call("GET", SETTINGS, maxResults=7))
    rest = accepted(ada.call("GET", SETTINGS, maxResults=7, pageToken=first["nextPageToken"]))

    assert first["items"] + rest["items"] == everything
    assert "nextPageToken" not in rest
