from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from gcsa.acl import AccessControlRule, ACLRole, ACLScopeType
from gcsa.calendar import AccessRoles, Calendar, CalendarListEntry, NotificationType
from gcsa.event import Event, Transparency
from gcsa.free_busy import FreeBusyQueryError, TimeRange
from gcsa.reminders import PopupReminder

pytestmark = pytest.mark.interop

UTC = ZoneInfo("UTC")
WINDOW = {"time_min": datetime(2026, 11, 1), "time_max": datetime(2026, 12, 1), "timezone": "UTC"}  # noqa: DTZ001


def test_an_event_in_words(calendar):
    made = calendar.add_quick_event("Appointment at Somewhere on June 3rd 10am-10:25am")

    assert (made.summary, made.location) == ("Appointment", "Somewhere")
    assert ((made.start.month, made.start.day), made.start.hour) == ((6, 3), 10)
    assert calendar.get_event(made.event_id) == made


def test_free_and_busy_time(calendar):
    start, end = datetime(2026, 11, 2, 10, tzinfo=UTC), datetime(2026, 11, 2, 11, tzinfo=UTC)
    calendar.add_event(Event("Busy", start=start, end=end, timezone="UTC"))
    calendar.add_event(Event("Free", start=date(2026, 11, 5), transparency=Transparency.TRANSPARENT))

    free_busy = calendar.get_free_busy(**WINDOW)

    assert free_busy.calendars == {"primary": [TimeRange(start, end)]}
    assert list(free_busy) == [TimeRange(start, end)]
    with pytest.raises(FreeBusyQueryError):
        calendar.get_free_busy(["primary", "nobody@svc.example"], **WINDOW)
    partly = calendar.get_free_busy(["primary", "nobody@svc.example"], **WINDOW, ignore_errors=True)
    assert partly.calendars_errors == {"nobody@svc.example": [{"domain": "calendar", "reason": "notFound"}]}
    assert calendar.get_free_busy().calendars.keys() == {"primary"}


def test_the_settings_of_a_calendar_in_the_list(calendar):
    course = calendar.add_calendar(Calendar("Course", timezone="Europe/Berlin"))
    settings = {
        "summary_override": "My course",
        "color_id": "3",
        "selected": True,
        "default_reminders": [PopupReminder(minutes_before_start=30)],
        "notification_types": [NotificationType.EVENT_CHANGE],
    }

    added = calendar.add_calendar_list_entry(CalendarListEntry(course.id, hidden=False, **settings))

    assert {name: getattr(added, name) for name in settings} == settings
    assert (added.summary, added.access_role) == ("Course", AccessRoles.OWNER)
    assert calendar.get_calendar_list_entry(course.id) == added
    added.background_color, added.foreground_color = "#123456", "#ffffff"
    coloured = calendar.update_calendar_list_entry(added)
    assert (coloured.background_color, coloured.foreground_color) == ("#123456", "#ffffff")
    coloured.hidden = True
    calendar.update_calendar_list_entry(coloured)
    assert [entry.id for entry in calendar.get_calendar_list()] == ["ada@svc.example"]
    assert course.id in [entry.id for entry in calendar.get_calendar_list(show_hidden=True)]


def test_a_calendar_is_removed_from_the_list(calendar):
    course = calendar.add_calendar(Calendar("Course"))

    calendar.delete_calendar_list_entry(course)

    assert course.id not in [entry.id for entry in calendar.get_calendar_list()]
    removed = [entry.deleted for entry in calendar.get_calendar_list(show_deleted=True) if entry.id == course.id]
    assert removed == [True]
    assert [entry.primary for entry in calendar.get_calendar_list(min_access_role=AccessRoles.OWNER)] == [True]


def test_access_rules(calendar):
    rule = AccessControlRule(role=ACLRole.READER, scope_type=ACLScopeType.USER, scope_value="bob@svc.example")

    added = calendar.add_acl_rule(rule, send_notifications=False)
    added.role = ACLRole.WRITER
    changed = calendar.update_acl_rule(added)

    assert (changed.id, changed.role, changed.scope_value) == (added.id, ACLRole.WRITER, "bob@svc.example")
    assert calendar.get_acl_rule(added.id).role == ACLRole.WRITER
    assert [rule.role for rule in calendar.get_acl_rules()] == [ACLRole.OWNER, ACLRole.WRITER]
    calendar.delete_acl_rule(added)
    assert [rule.role for rule in calendar.get_acl_rules(show_deleted=False)] == [ACLRole.OWNER]


def test_settings(calendar, service):
    primary = calendar.get_calendar()
    primary.timezone = "Asia/Tokyo"
    calendar.update_calendar(primary)

    settings = calendar.get_settings()

    assert (settings.timezone, settings.locale, settings.date_field_order) == ("Asia/Tokyo", "en", "MDY")


def test_a_calendar_is_cleared(calendar):
    for clear in (calendar.clear, calendar.clear_calendar):
        calendar.add_event(Event("Holiday", start=date(2026, 12, 24)))
        clear()
        assert list(calendar.get_events(date(2026, 1, 1), date(2027, 1, 1))) == []
