"""The period of the calendar view, its events, the request that lists them, the toolbar, the grid and its panels."""

from __future__ import annotations

from calendar import Calendar
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import ipywidgets as widgets
import traitlets

from ...client.events.events import list_events
from ...client.session import Session
from ...core.events.event_times import instant, read_time
from ...core.resources.calendars import EVENT_COLORS, CalendarListEntry
from ...core.resources.events import Event
from ...core.times import zone
from ...notebook.display import join_html, tag
from ..recurrence import month_after, month_name
from ..widgets import ui
from ..widgets.dialogs import Dialog, Question
from ..widgets.form import call_text

VIEWS = ("month", "week", "day")
# The days between which the view moves, so that all days around them exist in every time zone.
_FIRST, _LAST = date(3, 1, 1), date(9997, 12, 1)


@dataclass(frozen=True, slots=True)
class Period:
    """The month, week or day of the view that contains `day`. A week begins on Monday.

    >>> Period("week", date(2026, 11, 4)).title
    '2 to 8 November 2026'
    """

    view: str
    day: date

    @property
    def days(self) -> list[date]:
        """The shown days. A month has whole weeks."""
        if self.view == "month":
            return [*Calendar().itermonthdates(self.day.year, self.day.month)]
        if self.view == "day":
            return [self.day]
        monday = self.day - timedelta(days=self.day.weekday())
        return [monday + timedelta(days=n) for n in range(7)]

    @property
    def end(self) -> date:
        """The day after the last shown day."""
        return self.days[-1] + timedelta(days=1)

    @property
    def title(self) -> str:
        """The title of the period, such as "November 2026"."""
        first, last = self.days[0], self.days[-1]
        if self.view == "month":
            return month_name(self.day)
        if self.view == "day":
            return day_text(self.day)
        parts = [str(first.day)]
        if first.month != last.month:
            parts.append(f"{first:%B}")
        if first.year != last.year:
            parts.append(str(first.year))
        return f"{' '.join(parts)} to {last.day} {month_name(last)}"

    def moved(self, periods: int) -> Period:
        """Return the period that is `periods` later, or earlier if negative."""
        if self.view == "month":
            return self.at(month_after(self.day, periods))
        return self.at(self.day + timedelta(days=periods * (7 if self.view == "week" else 1)))

    def at(self, day: date) -> Period:
        """Return the period of the same kind that contains a day."""
        return replace(self, day=min(max(day, _FIRST), _LAST))


def grid_period(period: Period, now: datetime) -> dict[str, Any]:
    """Return the period for the grid: view, days, month, title, and the day and the minute of the current time."""
    return {
        "view": period.view,
        "days": [day.isoformat() for day in period.days],
        "month": f"{period.day:%m}" if period.view == "month" else "",
        "title": period.title,
        "today": now.date().isoformat(),
        "minute": now.hour * 60 + now.minute,
    }


def day_text(day: date) -> str:
    """Return a day as text.

    >>> day_text(date(2026, 11, 2))
    'Monday 2 November 2026'
    """
    return f"{day:%A} {day.day} {month_name(day)}"


WRITABLE_ROLES = ("owner", "writer")
_DAY = timedelta(days=1)
_DAY_MINUTES = 24 * 60
_NO_COLOR = "#8c8c8c"


class Span(NamedTuple):
    """The days and the local times of an event. `last` is the last day, on which the event ends at `end`."""

    first: date
    begin: time
    last: date
    end: time
    all_day: bool

    @property
    def text(self) -> str:
        """The days and times as text, such as "Monday 2 November 2026, 10:00 to 11:30"."""
        days = day_text(self.first) if self.first == self.last else f"{day_text(self.first)} to {day_text(self.last)}"
        if self.all_day:
            return f"{days}, all day"
        begin, end = f"{self.begin:%H:%M}", f"{self.end:%H:%M}" if self.end != time.max else "24:00"
        if self.first == self.last:
            return f"{days}, {begin} to {end}"
        return f"{day_text(self.first)}, {begin} to {day_text(self.last)}, {end}"


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event or an instance of the list, with the entry of its calendar."""

    event: Event
    calendar: CalendarListEntry

    @property
    def id(self) -> str:
        return str(self.event["id"])

    @property
    def calendar_id(self) -> str:
        return calendar_id(self.calendar)

    @property
    def key(self) -> str:
        """The key of the event in the grid, because calendars can have events of the same id."""
        return f"{self.calendar_id}/{self.id}"

    @property
    def title(self) -> str:
        return event_name(self.event)

    @property
    def series_id(self) -> str | None:
        """The id of the recurring event of which this is an instance, or None."""
        return self.event.get("recurringEventId")

    @property
    def editable(self) -> bool:
        return self.calendar.get("accessRole") in WRITABLE_ROLES

    @property
    def color(self) -> str:
        color = EVENT_COLORS.get(str(self.event.get("colorId")))
        return color.background if color else str(self.calendar.get("backgroundColor") or _NO_COLOR)

    def span(self, tz: tzinfo) -> Span:
        """Return the days and times in a time zone. An end at midnight belongs to the day before."""
        return span_of(read_time(self.event["start"]), read_time(self.event["end"]), tz)

    def row(self, tz: tzinfo) -> dict[str, Any]:
        """Return the row for the grid, with days as ISO dates and times as minutes since midnight."""
        span = self.span(tz)
        begin, end = _minutes(span.begin), _minutes(span.end)
        days = (span.last - span.first).days
        return {
            "key": self.key,
            "title": self.title,
            "label": self._label(span),
            "first": span.first.isoformat(),
            "last": span.last.isoformat(),
            "begin": begin,
            "end": end,
            "allDay": span.all_day,
            "bar": span.all_day or days * _DAY_MINUTES + end - begin >= _DAY_MINUTES,
            "color": self.color,
            "editable": self.editable,
            "tentative": self.event.get("status") == "tentative",
        }

    def _label(self, span: Span) -> str:
        parts = [
            self.title,
            span.text,
            "repeats" if self.series_id else "",
            "tentative" if self.event.get("status") == "tentative" else "",
            f"calendar {calendar_name(self.calendar)}",
            "" if self.editable else "read-only",
        ]
        return ", ".join(filter(None, parts))


def event_name(event: Mapping[str, Any]) -> str:
    """Return the title of an event as text, also for an event without one."""
    return str(event.get("summary") or "").strip() or "(no title)"


def has_other_guests(event: Mapping[str, Any]) -> bool:
    """Return whether somebody else than the user of the calendar is a guest of an event."""
    return any(not guest.get("self") for guest in event.get("attendees") or ())


def writable_calendars(entries: Sequence[CalendarListEntry]) -> list[tuple[str, str]]:
    """Return the name and the id for calls of each calendar that the user can write to."""
    writable = [entry for entry in entries if entry.get("accessRole") in WRITABLE_ROLES]
    return [(calendar_name(entry), calendar_id(entry)) for entry in writable]


def calendar_id(entry: CalendarListEntry) -> str:
    """Return the calendar id for calls, which is "primary" for the primary calendar."""
    return "primary" if entry.get("primary") else str(entry["id"])


def calendar_name(entry: CalendarListEntry) -> str:
    return str(entry.get("summary") or entry["id"])


def span_of(start: date | datetime, end: date | datetime, tz: tzinfo) -> Span:
    """Return the days and the local times between two times in a time zone."""
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        return Span(start, time(), max(start, end - _DAY), time.max, True)
    begin, finish = start.astimezone(tz), end.astimezone(tz)
    if finish.time() == time() and finish.date() > begin.date():
        return Span(begin.date(), begin.time(), finish.date() - _DAY, time.max, False)
    return Span(begin.date(), begin.time(), finish.date(), finish.time(), False)


def _minutes(clock: time) -> int:
    return _DAY_MINUTES if clock == time.max else clock.hour * 60 + clock.minute


_RESPONSES = ("accepted", "declined", "tentative")


def event_facts(shown: ShownEvent, tz: tzinfo) -> dict[str, object]:
    """Return the facts by name. Facts without a value are None or empty."""
    event, span = shown.event, shown.span(tz)
    own_zone = event["start"].get("timeZone")
    guests = (tag("div", _guest_text(guest)) for guest in event.get("attendees") or ())
    return {
        "When": span.text,
        "Time zone": own_zone if own_zone not in (None, str(tz)) and not span.all_day else None,
        "Repeats": "yes, this event is one of a series" if shown.series_id else None,
        "Location": event.get("location"),
        "Description": event.get("description"),
        "Guests": join_html(*guests),
        "Conference": event.get("hangoutLink"),
        "Calendar": calendar_name(shown.calendar),
        "Status": event.get("status") if event.get("status") != "confirmed" else None,
        "Access": None if shown.editable else "You can only read this calendar.",
        "ID": tag("code", shown.id),
    }


def _guest_text(guest: Mapping[str, Any]) -> str:
    response = guest.get("responseStatus")
    return f"{guest.get('displayName') or guest.get('email')}{f' ({response})' if response in _RESPONSES else ''}"


# The largest number of events that the view lists from each calendar.
MOST = 2500


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request for the events of a period in some calendars. `zone_name` is the time zone in which days begin."""

    period: Period
    calendars: tuple[CalendarListEntry, ...]
    zone_name: str

    def send(self, session: Session) -> Listing:
        """Return at most `MOST` events of each calendar. Cancelled events are not listed."""
        shown: list[ShownEvent] = []
        incomplete: list[str] = []
        tz = zone(self.zone_name)
        query = {
            "timeMin": _instant(self.period.days[0], tz),
            "timeMax": _instant(self.period.end, tz),
            "singleEvents": "true",
            "orderBy": "startTime",
        }
        for calendar in self.calendars:
            events = [*list_events(session, str(calendar["id"]), query, limit=MOST + 1)]
            if len(events) > MOST:
                incomplete.append(calendar_name(calendar))
            shown += [ShownEvent(event, calendar) for event in events[:MOST] if event.get("status") != "cancelled"]
        return Listing(self, tuple(shown), tuple(incomplete))

    def code(self) -> str:
        """Return the calls of `events` that list the same events."""
        days = self.period.days
        arguments = {"time_min": str(days[0]), "time_max": str(self.period.end), "single_events": True}
        rest = {"order_by": "start_time", "limit": MOST, "time_zone": self.zone_name}
        ids = ({} if entry.get("primary") else {"calendar": str(entry["id"])} for entry in self.calendars)
        calls = [call_text("events", (), {**arguments, **rest, **named}) for named in ids]
        return "\n".join(calls) or "svc.calendars()"


@dataclass(frozen=True, slots=True)
class Listing:
    """The listed events. `incomplete` has the names of calendars with more than `MOST` events in the period."""

    request: ListRequest
    events: tuple[ShownEvent, ...] = ()
    incomplete: tuple[str, ...] = ()

    def find(self, key: str) -> ShownEvent:
        """Return the event with this key. Raises ValueError if the event is not listed any more."""
        for shown in self.events:
            if shown.key == key:
                return shown
        raise ValueError("This event is not in the list any more. Refresh the view.")


def chosen_calendars(entries: Sequence[CalendarListEntry], ids: Sequence[str]) -> tuple[CalendarListEntry, ...]:
    """Return the entries with these ids, where "primary" means the primary calendar. Raises ValueError for others."""
    by_id = {str(entry["id"]): entry for entry in entries}
    primary = next((entry for entry in entries if entry.get("primary")), None)
    if primary is not None:
        by_id["primary"] = primary
    for each in ids:
        if each not in by_id:
            raise ValueError(f"calendar has {each!r}, which is not in your list. svc.calendars() lists the calendars.")
    return tuple(dict((str(by_id[each]["id"]), by_id[each]) for each in ids).values())


def _instant(day: date, tz: tzinfo) -> str:
    return instant(day, tz).isoformat().replace("+00:00", "Z")


# -- the toolbar, the grid of days and hours, and the panels over it


class EventPanel(Dialog):
    """The details of an event, with buttons to edit, delete and close."""

    def __init__(self, edit: Callable[[], None], delete: Callable[[], None], close: Callable[[], None]) -> None:
        self.edit = ui.button("Edit", "Change the fields of this event", edit, "primary")
        self.delete = ui.button("Delete", "Delete this event", delete, "danger")
        self.close_button = ui.button("Close", "Close the details", close, css="svc-cancel")
        super().__init__(ui.row(self.edit, self.delete, self.close_button), label="Event")

    def show(self, title: str, facts: Mapping[str, object], *, editable: bool) -> None:
        """Show the facts of an event that have a value."""
        ui.set_visible(self.edit, editable)
        ui.set_visible(self.delete, editable)
        self.ask_with(tag("p", tag("b", title), role="status"), ui.facts_table(facts, "Details"))
        (self.edit if editable else self.close_button).focus()


ASK_GUESTS = "Send updates to guests?"

# The answers to the question whether the guests of an event are told, as values of `send_updates`.
SEND_UPDATES = {
    "all": ("Send", "Send updates to all guests"),
    "none": ("Don't send", "Save the change, and send nothing to the guests"),
}


class ChoiceQuestion(Question):
    """A question over the grid, with a button for each choice."""

    def __init__(
        self, label: str, choices: Mapping[str, tuple[str, ...]], answered: Callable[[str | None], None]
    ) -> None:
        super().__init__(answered, choices, "Change nothing", label=label)

    def ask(self, question: str, *notes: str, refused: Sequence[str] = ()) -> None:
        """Show the question, with only the choices that are not `refused`, and focus the first button."""
        for key, choice in self.buttons.items():
            ui.set_visible(choice, key not in refused)
        self.ask_with(tag("p", tag("b", question), role="alert"), *(tag("p", note) for note in notes))
        next(iter(self.buttons.values())).focus()


class NewEventPanel(Dialog):
    """The title and the calendar of a new event.

    The browser sends the title with each press of Create and "More options", and of Enter in the title.
    """

    def __init__(self, create: Callable[[], None], more: Callable[[], None], cancel: Callable[[], None]) -> None:
        self.summary = ui.text_field("Title", "The title of the event")
        self.calendar = ui.dropdown("Calendar", "The calendar of the event")
        self.create = ui.button("Create", "Create the event", create, "primary", css="svc-create")
        self.more = ui.button("More options", "Open the event form with these times", more, css="svc-new-more")
        self.cancel = ui.cancel_button("Create nothing", cancel)
        fields = widgets.VBox([ui.Field(self.summary), self.calendar]).add_class("svc-fields")
        super().__init__(fields, ui.row(self.create, self.more, self.cancel), label="New event")
        self.add_class("svc-new-event")

    def ask(self, times: str, calendars: Sequence[tuple[str, str]], selected: str) -> None:
        """Show the times of the new event, and focus the title."""
        self.summary.value = ""
        self.calendar.options = [*calendars]
        self.calendar.value = selected
        ui.set_visible(self.calendar, len(calendars) > 1)
        self.ask_with(tag("p", tag("b", "New event"), tag("br"), times))
        self.summary.focus()


_BUTTONS = (
    ("previous", "Previous", "Show the previous period", "chevron-left"),
    ("today", "Today", "Show the period of today", ""),
    ("next", "Next", "Show the next period", "chevron-right"),
    ("new", "New event", "Open the event form", "plus"),
    ("refresh", "Refresh", "Reload the events", "refresh"),
)


class CalendarToolbar(widgets.VBox):  # type: ignore[misc]
    """The toolbar. `pressed` is called with the key of a button, with "view", or with "calendars"."""

    def __init__(
        self,
        entries: Sequence[CalendarListEntry],
        chosen: Sequence[CalendarListEntry],
        period: Period,
        pressed: Callable[[str], None],
    ) -> None:
        self.entries = tuple(entries)
        self._pressed, self._updating = pressed, False
        self.buttons = {
            key: ui.button(text, tooltip, partial(pressed, key), icon=icon) for key, text, tooltip, icon in _BUTTONS
        }
        self.heading, self.zone = widgets.HTML(), widgets.HTML()
        views = [(name.capitalize(), name) for name in VIEWS]
        traits = {**ui.IN_A_ROW, "style": ui.AUTO_WIDTH}
        self.view = ui.radio_buttons("View", "Show a month, a week or a day", views, value=period.view, **traits)
        ui.on_change(lambda: self._changed("view"), self.view)
        self.boxes = [self._box(entry, entry in chosen) for entry in entries]
        calendars = widgets.HBox([ui.heading("Calendars"), *self.boxes]).add_class("svc-calendars")
        ui.set_visible(calendars, len(entries) > 1)
        buttons = self.buttons
        head = ui.row(buttons["previous"], buttons["today"], buttons["next"], self.heading)
        tools = ui.row(self.view, buttons["new"], buttons["refresh"], self.zone)
        super().__init__([head, tools, calendars])
        self.add_class("svc-calendar-toolbar")

    @property
    def chosen(self) -> tuple[CalendarListEntry, ...]:
        """The entries of the selected calendars."""
        return tuple(entry for entry, box in zip(self.entries, self.boxes, strict=True) if box.value)

    def show(self, period: Period, zone_text: str) -> None:
        """Show the title and the view of a period, and the time zone."""
        self._updating = True
        self.view.value = period.view
        self._updating = False
        self.heading.value = tag("p", tag("b", period.title), class_="svc-title", role="status")
        self.zone.value = tag("p", zone_text, class_="svc-quiet")

    def _changed(self, key: str) -> None:
        if not self._updating:
            self._pressed(key)

    def _box(self, entry: CalendarListEntry, value: bool) -> widgets.Checkbox:
        swatch = tag("span", class_="svc-swatch", style=f"background: {entry.get('backgroundColor') or '#8c8c8c'}")
        box = ui.checkbox(join_html(swatch, calendar_name(entry)), "Show the events of this calendar", value=value)
        ui.on_change(lambda: self._changed("calendars"), box)
        return box


_FOLDER = Path(__file__).parent
# The parts of the script. The browser gets them as one module, so they share their names.
_SCRIPTS = ("grid_dates.js", "grid_layout.js", "grid_cells.js", "grid_drag.js", "grid_keys.js", "grid.js")


class GridWidget(anywidget.AnyWidget):
    """A month of weeks, or days of half hours. `state` is what the browser shows.

    `handler` is called with the messages of a person's actions. A message is a dict. Its `kind` is "open", "change" or
    "delete" (of the event `key`), "create" (between two days), "title" (of the new event, and what was pressed), "go"
    (`by` periods) or "day" (to show one day).

    >>> GridWidget()
    <GridWidget: 0 events>
    """

    _esm = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    _css = (_FOLDER / "calendar_grid.css").read_text(encoding="utf-8")

    state = traitlets.Dict(help="the period and its events").tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self.handler: Callable[[Mapping[str, Any]], None] = lambda _message: None
        self.on_msg(lambda _widget, content, _buffers: self.handler(content))

    def show(self, period: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
        """Show the rows. The same rows are sent again, so that the browser removes a proposed change."""
        self._shown += 1
        self.state = {**period, "events": [*rows], "shown": self._shown}

    def focus_grid(self) -> None:
        """Move the keyboard focus to the day or the event that had it last."""
        self.send({"kind": "focus"})

    def __repr__(self) -> str:
        return f"<GridWidget: {len(self.state.get('events', ()))} events>"
