import pytest

from tests.contract.calendar_client import ADA, SEMINAR, WEEKLY, CalendarClient, path

NO_SWITCH = ["yes", "1", "", "TRUE "]
NO_NUMBER = ["0", "-1", "many", "1.5", "", "9" * 30]
NO_INSTANT = ["2026-11-02T10:00:00", "2026-11-02", "soon", "", "9" * 30, "2026-11-02T10:00:00Z\n"]
ATTACHMENTS = [pytest.mark.spec("E-17"), pytest.mark.choice("Attachments")]
GUESTS = [pytest.mark.spec("E-15"), pytest.mark.choice("Invalid parameters and headers")]
VERSIONS = ["2", "-1", "one", "", "1.0", "9" * 30]


@pytest.mark.parametrize(
    "operation, name, values",
    [
        pytest.param("insert", "supportsAttachments", NO_SWITCH, marks=ATTACHMENTS),
        pytest.param("insert", "conferenceDataVersion", VERSIONS, marks=pytest.mark.spec("E-09", "E-09d")),
        pytest.param("insert", "maxAttendees", NO_NUMBER, marks=GUESTS),
        ("list", "maxResults", NO_NUMBER),
        *(("list", name, NO_SWITCH) for name in ("singleEvents", "showDeleted")),
        *(("list", name, NO_INSTANT) for name in ("timeMin", "timeMax", "updatedMin")),
        ("list", "timeZone", ["Nowhere"]),
        ("list", "pageToken", ["cake", "AAAA", "x" * 5000, "%00", "ü"]),
        ("list", "orderBy", ["cake", "startTime desc", "STARTTIME"]),
        ("instances", "timeMin", ["soon"]),
        ("instances", "timeMax", ["2026-11-02"]),
        ("instances", "maxResults", ["0"]),
        ("instances", "timeZone", ["Nowhere"]),
        ("instances", "pageToken", ["cake"]),
        ("instances", "showDeleted", ["yes"]),
        ("instances", "originalStart", ["soon"]),
    ],
)
def test_a_wrong_parameter_is_refused_with_its_name(ada, operation, name, values):
    event = ada.made(WEEKLY)
    target = path("primary", event["id"], "instances") if operation == "instances" else path()

    for value in values:
        if operation == "insert":
            answer = ada.insert(SEMINAR, **{name: value})
        else:
            answer = ada.call("GET", target, **{name: value})
        assert (answer.status, answer.error["location"]) == (400, name), value
    assert ada.items() == [event]


@pytest.mark.policy(extensions=False)
@pytest.mark.parametrize(
    "method, target, status",
    [
        ("POST", "/calendar/v3/freeBusy", 404),
        ("GET", "/calendar/v3/users/me/settings", 404),
        ("POST", path("primary", "quickAdd"), 405),
        ("POST", "/calendar/v3/users/me/calendarList", 405),
        ("PATCH", f"/calendar/v3/users/me/calendarList/{ADA}", 405),
        ("POST", "/batch/storage/v3", 404),
    ],
)
def test_paths_of_extensions_are_unknown(ada: CalendarClient, method: str, target: str, status: int) -> None:
    assert ada.call(method, target, {"id": ADA}).status == status
