"""The settings of a user's calendars."""

from __future__ import annotations

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.contract.calendar_client import CalendarClient, accepted, refusal
from tests.contract.conftest import InProcess, Wire

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


def test_an_unknown_setting(ada: CalendarClient) -> None:
    assert refusal(ada.call("GET", f"{SETTINGS}/nothing"))[:2] == (404, "notFound")


def test_settings_cannot_be_changed(ada: CalendarClient) -> None:
    assert ada.call("PATCH", f"{SETTINGS}/timezone", {"value": "UTC"}).status == 405


def test_without_extensions_the_path_is_unknown() -> None:
    with open_service(seed=0, policy=Policy(extensions=False)) as service:
        ada = CalendarClient(InProcess(service, "https://svc.test"))

        refused, unknown = ada.call("GET", SETTINGS), ada.call("GET", "/calendar/v3/users/me/unknown")

    assert (refused.status, refused.body) == (404, unknown.body)
