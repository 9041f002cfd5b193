from datetime import datetime
from itertools import product
from typing import Any

import pytest

from tests.contract.calendar_client import (
    ADA,
    BOB,
    LIST,
    SEMINAR,
    CalendarClient,
    Fields,
    accepted,
    entry_path,
    refusal,
)
from tests.contract.conftest import Wire

ROOT = "/calendar/v3"
ACL = f"{ROOT}/calendars/primary/acl"
PRIMARY = entry_path("primary")


def made(ada: CalendarClient, **calendar: str) -> Fields:
    return accepted(ada.call("POST", f"{ROOT}/calendars", {"summary": "Course", **calendar}))


@pytest.mark.spec("E-24")
@pytest.mark.choice("Values of enumerations")
def test_the_palette(ada: CalendarClient) -> None:
    colors = accepted(ada.call("GET", f"{ROOT}/colors"))

    assert colors["kind"] == "svc#colors"
    assert datetime.fromisoformat(colors["updated"]).tzinfo is not None
    assert list(colors["event"]) == [str(n) for n in range(1, 12)]
    assert len(colors["calendar"]) == 24
    assert colors["event"]["11"] == {"background": "#dc2127", "foreground": "#1d1d1d"}
    assert colors["calendar"]["1"] == {"background": "#ac725e", "foreground": "#1d1d1d"}


def test_every_user_has_a_primary_calendar(ada: CalendarClient) -> None:
    (entry,) = accepted(ada.call("GET", LIST))["items"]

    assert (entry["kind"], entry["id"], entry["primary"], entry["accessRole"]) == (
        "svc#calendarListEntry", ADA, True, "owner",
    )  # fmt: skip
    assert entry["defaultReminders"] == [{"method": "popup", "minutes": 10}]
    assert entry["timeZone"]
    assert accepted(ada.call("GET", PRIMARY)) == entry
    calendar = accepted(ada.call("GET", f"{ROOT}/calendars/primary"))
    assert (calendar["kind"], calendar["id"], calendar["timeZone"]) == ("svc#calendar", ADA, entry["timeZone"])


@pytest.mark.spec("E-01", "E-01a")
def test_a_second_calendar_holds_events_of_its_own(wire: Wire, ada: CalendarClient) -> None:
    calendar = made(ada, timeZone="Europe/Berlin", description="All of it")
    course = CalendarClient(wire, calendar=calendar["id"])

    event = course.made(summary="Lecture")

    assert (calendar["kind"], calendar["summary"], calendar["timeZone"]) == ("svc#calendar", "Course", "Europe/Berlin")
    assert course.summaries() == ["Lecture"]
    assert ada.items() == []
    assert event["organizer"]["email"] == calendar["id"]
    assert event["creator"]["email"] == ADA
    primary = {entry["id"]: entry.get("primary", False) for entry in accepted(ada.call("GET", LIST))["items"]}
    assert {ADA: True, calendar["id"]: False}.items() <= primary.items()


@pytest.mark.spec("E-03", "E-03b")
@pytest.mark.choice("calendar_zone")
def test_times_are_printed_in_the_zone_of_the_calendar(wire: Wire, ada: CalendarClient) -> None:
    course = CalendarClient(wire, calendar=made(ada, timeZone="Asia/Tokyo")["id"])

    event = course.made()

    assert event["start"] == {"dateTime": "2026-11-02T18:00:00+09:00", "timeZone": "Europe/Berlin"}
    assert course.list().json["timeZone"] == "Asia/Tokyo"


def test_a_calendar_changes_and_when_deleted_is_gone_with_its_events(wire: Wire, ada: CalendarClient) -> None:
    course = CalendarClient(wire, calendar=made(ada, description="All of it")["id"])
    event = course.made()

    for method, kept in (("PATCH", True), ("PUT", False)):
        changed = accepted(ada.call(method, f"{ROOT}/calendars/{course.calendar}", {"summary": "Term"}))
        assert (changed["id"], changed["summary"]) == (course.calendar, "Term")
        assert ("description" in changed) is kept
    assert ada.call("DELETE", f"{ROOT}/calendars/{course.calendar}").status == 204

    for answer in (course.list(), course.get(event["id"]), course.insert(SEMINAR)):
        assert (answer.status, answer.error["reason"]) == (404, "notFound")


@pytest.mark.spec("E-01", "E-01a")
@pytest.mark.parametrize("role, reads, writes", [("reader", 200, 403), ("writer", 200, 200), ("owner", 200, 200)])
def test_a_shared_calendar_is_visible_and_changed_only_by_writers(wire, ada, role, reads, writes):
    event = ada.made(summary="Tea")["id"]
    ada.share(role, BOB)
    bob = CalendarClient(wire, BOB, calendar=ADA)
    before = ada.items()

    answers = [bob.insert(SEMINAR), bob.patch(event, {"summary": "x"}), bob.put(event, SEMINAR), bob.delete(event)]

    assert bob.list().status == reads
    assert bob.list().json["accessRole"] == role
    assert [answer.status for answer in answers] == [writes, writes, writes, 204 if writes == 200 else writes]
    for answer in answers if writes == 403 else ():
        assert (answer.error["reason"], answer.error["domain"]) == ("requiredAccessLevel", "calendar")
        assert ada.items() == before


def test_an_unknown_calendar_or_rule_is_404(ada: CalendarClient) -> None:
    unknown = ("calendars/nothing", "users/me/calendarList/nothing", "users/you/calendarList", "cakes", "calendars", "")
    for answer in (ada.call("GET", f"{ROOT}/{target}") for target in unknown):
        assert answer.status in (404, 405)
        assert answer.error["reason"] in ("notFound", "unknownOperation", "httpMethodNotAllowed")


def test_conferences_are_kept_and_fields_that_this_service_does_not_have_refused(ada: CalendarClient) -> None:
    types = {"allowedConferenceSolutionTypes": ["hangoutsMeet"]}
    calendar = f"{ROOT}/calendars/{made(ada)['id']}"
    targets = [("PATCH", calendar), ("PATCH", PRIMARY), ("POST", f"{ROOT}/calendars")]

    for (method, path), field in product(targets, ("autoAcceptInvitations", "labelProperties", "workingHours")):
        refused = ada.call(method, path, {"summary": "Course", field: {"eventLabels": []}})
        assert refusal(refused) == (403, "fieldNotWritable", field)
        assert refused.error["message"].endswith("is not part of this service: leave it out.")
    changed = accepted(ada.call("PATCH", calendar, {"conferenceProperties": types}))
    assert changed["conferenceProperties"] == types == accepted(ada.call("GET", calendar))["conferenceProperties"]
    for wrong in ("x", {"types": []}, {"allowedConferenceSolutionTypes": [1]}):
        refused = ada.call("PATCH", calendar, {"conferenceProperties": wrong})
        assert refusal(refused) == (400, "invalid", "conferenceProperties")


def test_the_scope_of_a_rule_cannot_be_changed(ada: CalendarClient) -> None:
    rule = ada.share("reader", BOB)
    path = f"{ROOT}/calendars/primary/acl/{rule['id']}"

    same = accepted(ada.call("PUT", path, {**rule, "role": "writer"}))

    assert (same["scope"], same["role"]) == (rule["scope"], "writer")
    other = {"role": "reader", "scope": {"type": "user", "value": "eve@svc.example"}}
    assert refusal(ada.call("PATCH", path, other)) == (403, "fieldNotWritable", "scope")


def listed(client: CalendarClient, **parameters: Any) -> list[str]:
    return [entry["id"] for entry in accepted(client.call("GET", LIST, **parameters))["items"]]


def test_settings_belong_to_one_user(ada: CalendarClient, bob: CalendarClient) -> None:
    course = ada.new_calendar()
    CalendarClient(ada.wire, calendar=course).share("reader", BOB)
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
    reminder = {"method": "email", "minutes": 30}
    settings = {"summaryOverride": "Mine", "colorId": "3", "defaultReminders": [{**reminder, "sound": "loud"}]}
    first = accepted(ada.call("PATCH", PRIMARY, settings))

    patched = accepted(ada.call("PATCH", PRIMARY, {"colorId": None, "selected": False}))
    replaced = accepted(ada.call("PUT", PRIMARY, {"selected": True}))

    assert (patched["summaryOverride"], patched["colorId"], patched["selected"]) == ("Mine", "14", False)
    assert first["defaultReminders"] == [reminder], "without members that the interface does not have"
    assert "summaryOverride" not in replaced
    assert (replaced["selected"], replaced["primary"]) == (True, True)


def test_colours_of_ones_own_have_the_nearest_color_id(ada: CalendarClient) -> None:
    colors = {"backgroundColor": "#f83a20", "foregroundColor": "#ffffff"}

    ignored = accepted(ada.call("PATCH", PRIMARY, colors))
    stored = accepted(ada.call("PATCH", PRIMARY, colors, colorRgbFormat="true"))
    by_id = accepted(ada.call("PATCH", PRIMARY, {"colorId": "9"}))
    wrong = ada.call("PATCH", PRIMARY, {"backgroundColor": "red"}, colorRgbFormat="true")

    assert ignored["colorId"] == "14"
    assert (stored["colorId"], stored["backgroundColor"], stored["foregroundColor"]) == ("3", "#f83a20", "#ffffff")
    assert (by_id["colorId"], by_id["backgroundColor"], by_id["foregroundColor"]) == ("9", "#7bd148", "#1d1d1d")
    assert [error["location"] for error in wrong.json["error"]["errors"]] == ["backgroundColor", "foregroundColor"]


def test_a_calendar_is_removed_and_added_again(wire: Wire, ada: CalendarClient) -> None:
    course = made(ada)["id"]
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


BOBS = {"type": "user", "value": BOB}
REFUSED: list[tuple[str, str, Fields | None, str, str]] = [
    ("POST", f"{ROOT}/calendars", {}, "required", "summary"),
    ("POST", f"{ROOT}/calendars", {"summary": ""}, "required", "summary"),
    ("POST", f"{ROOT}/calendars", {"summary": 5}, "invalid", "summary"),
    ("POST", f"{ROOT}/calendars", {"summary": "x", "timeZone": "Nowhere"}, "invalid", "timeZone"),
    ("POST", f"{ROOT}/calendars", {"summary": "x", "timeZone": 5}, "invalid", "timeZone"),
    ("POST", f"{ROOT}/calendars", {"summary": "\ud800"}, "invalid", "summary"),
    ("POST", f"{ROOT}/calendars", {"summary": "x", "description": []}, "invalid", "description"),
    ("POST", ACL, {"scope": BOBS}, "invalid", "role"),
    ("POST", ACL, {"role": "king", "scope": BOBS}, "invalid", "role"),
    ("POST", ACL, {"role": "reader"}, "invalid", "scope.type"),
    ("POST", ACL, {"role": "reader", "scope": {**BOBS, "type": "planet"}}, "invalid", "scope.type"),
    ("POST", ACL, {"role": "reader", "scope": {**BOBS, "value": "nobody"}}, "invalid", "scope.value"),
    ("POST", ACL, {"role": "reader", "scope": 5}, "invalid", "scope.type"),
    ("DELETE", PRIMARY, None, "invalid", "calendarId"),
    ("POST", LIST, {}, "required", "id"),
    ("POST", LIST, {"id": 5}, "invalid", "id"),
    ("PATCH", PRIMARY, {"summaryOverride": 5}, "invalid", "summaryOverride"),
    ("PATCH", PRIMARY, {"summaryOverride": "x" * 255}, "invalid", "summaryOverride"),
    ("PATCH", PRIMARY, {"summaryOverride": "\ud800"}, "invalid", "summaryOverride"),
    ("PATCH", PRIMARY, {"colorId": "25"}, "invalid", "colorId"),
    ("PATCH", PRIMARY, {"hidden": "yes"}, "invalid", "hidden"),
    ("PATCH", PRIMARY, {"selected": 1}, "invalid", "selected"),
    ("PATCH", PRIMARY, {"defaultReminders": [{"method": "popup", "minutes": 40321}]}, "invalid", "defaultReminders"),
    ("PATCH", PRIMARY, {"defaultReminders": [{"method": "popup", "minutes": 1}] * 6}, "invalid", "defaultReminders"),
    ("PATCH", PRIMARY, {"defaultReminders": [5]}, "invalid", "defaultReminders"),
    ("PATCH", PRIMARY, {"notificationSettings": {"notifications": [{"type": "x", "method": "email"}]}}, "invalid",
     "notificationSettings"),
]  # fmt: skip


@pytest.mark.parametrize("method, target, body, reason, location", REFUSED)
def test_a_calendar_a_rule_or_an_entry_is_refused_by_its_field(ada, method, target, body, reason, location):
    before = [accepted(ada.call("GET", path))["items"] for path in (LIST, ACL)]

    assert refusal(ada.call(method, target, body)) == (400, reason, location)
    assert [accepted(ada.call("GET", path))["items"] for path in (LIST, ACL)] == before


SETTINGS = "/calendar/v3/users/me/settings"


def test_the_time_zone_is_that_of_the_primary_calendar(ada: CalendarClient) -> None:
    ada.call("PATCH", "/calendar/v3/calendars/primary", {"timeZone": "Asia/Tokyo"})

    listed = accepted(ada.call("GET", SETTINGS))

    assert listed["kind"] == "svc#settings"
    values = {item["id"]: item["value"] for item in listed["items"]}
    assert (values["timezone"], values["defaultEventLength"], values["weekStart"]) == ("Asia/Tokyo", "60", "0")
    assert accepted(ada.call("GET", f"{SETTINGS}/timezone")) == {
        "kind": "svc#setting", "id": "timezone", "value": "Asia/Tokyo",
    }  # fmt: skip
    first = accepted(ada.call("GET", SETTINGS, maxResults=7))
    rest = accepted(ada.call("GET", SETTINGS, maxResults=7, pageToken=first["nextPageToken"]))
    assert first["items"] + rest["items"] == listed["items"]
    assert "nextPageToken" not in rest
