"""Lists, creates and shares calendars, lists the colours of events, and tells when people are busy or free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from ...client.events import events as client
from ...client.json_response import reading
from ...client.session import Session, SessionLike, session_or_current
from ...core.errors.errors import NotFound
from ...core.events.calendars import ROLES, free_slots
from ...core.http.messages import JSONObject
from ...core.resources.calendars import EVENT_COLORS
from ...core.time_arguments import Duration, calendar_period, parse_duration, python_time, without_words
from ...core.times import from_millis, to_millis, zone
from ..arguments import Column, File, people as read_people, roles_of, row_ids
from ..batch.batch import Batch, Errors, Report, RowCall, RowOperation, run
from ..frames import CALENDAR_PERMISSIONS, CALENDARS, COLORS, FREE_BUSY, FREE_TIMES, Record, frame
from .body import When, Zone, calendar_id, calendar_ids, zone_name
from .query import read_instant, wire_window
from .records import in_zone

if TYPE_CHECKING:
    from pandas import DataFrame


def calendars(*, session: SessionLike = None) -> DataFrame:
    """List the caller's own and shared calendars. The primary calendar is the first row.

    Returns:
        One row for each calendar: id, summary, time_zone, access_role (str), primary (boolean), description (str).

    >>> lab = svc.sandbox()
    >>> svc.calendars()[["id", "access_role"]].values.tolist()
    [['ada@svc.example', 'owner']]
    """

    entries = [{"primary": False, **entry} for entry in client.list_calendars(session_or_current(session))]
    return frame(CALENDARS, entries)


def create_calendar(
    summary: str, *, time_zone: Zone | None = None, description: str | None = None, session: SessionLike = None
) -> DataFrame:
    """Create a secondary calendar. Pass its row, id or name to `create_event(calendar=...)`.

    Args:
        summary: The name of the calendar.
        time_zone: The time zone of the calendar, as an IANA name or a ZoneInfo. None: the service's time zone.
        description: A text that describes the calendar.

    Returns:
        One row for the new calendar, with the columns of `calendars`.

    Raises:
        ValueError: There is no such time zone.
        BadRequest: The service refused the calendar.

    >>> lab = svc.sandbox()
    >>> term = svc.create_calendar("Term", time_zone="Europe/Berlin")
    >>> svc.calendars()["summary"].tolist()
    ['ada@svc.example', 'Term']
    """

    body = {"summary": summary, "timeZone": zone_name("time_zone", time_zone), "description": description}
    given: JSONObject = {name: value for name, value in body.items() if value is not None}
    made = client.insert_calendar(session_or_current(session), given)
    return frame(CALENDARS, [{"primary": False, "accessRole": "owner", **made}])


def event_colors(*, session: SessionLike = None) -> DataFrame:
    """List the colours of events. Pass the id or the name of a colour to `create_event(color=...)`.

    Returns:
        One row for each colour: id, name (str), background, foreground (str, CSS colours such as "#a4bdfc").

    See tests/rules.csv (E-24).

    >>> lab = svc.sandbox()
    >>> svc.event_colors().head(2)[["id", "name"]].values.tolist()
    [['1', 'Lavender'], ['2', 'Sage']]
    """

    palette = client.colors(session_or_current(session)).get("event")
    entries = palette if isinstance(palette, dict) else {}
    names = {key: color.name for key, color in EVENT_COLORS.items()}
    colors = {key: entry for key, entry in entries.items() if isinstance(entry, dict)}
    return frame(COLORS, [{"id": key, "name": names.get(key), **entry} for key, entry in colors.items()])


# -- gives people roles on calendars, removes the roles, and lists them


_Row: TypeAlias = tuple[str, str]


def share_calendar(
    calendar: File,
    people: str | Iterable[str],
    *,
    role: Column[str] | None = None,
    errors: Errors = None,
    session: SessionLike = None,
) -> DataFrame:
    """Give people a role on calendars. It replaces the role that a person already has.

    The calendar is then in the list `calendars()` of each person whom `people` names, and channels on that list get a
    message. The service sends no e-mail.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.
        people: An e-mail address, "anyone" (everyone who has the calendar's id), "domain:example.com" (every user of
            this domain), or several of these: in a list, a column, one text with commas between them, or a DataFrame
            such as that of `calendar_permissions()`.
        role: "freeBusyReader" (sees when the owner is busy), "reader" (sees the events), "writer" (also changes the
            events) or "owner" (also shares the calendar), or a list or Series with a role for each person. None: the
            column role of a DataFrame of people, or else "reader".
        errors: What happens with an error of one of several rows. See docs/bulk.md.

    Returns:
        One row for each calendar and person: calendar, id (str, the id of the permission), type (str: user, domain or
        anyone), role, email_address, domain (str; missing if not of this type), outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: Only an owner can share the calendar.
        NotFound: The calendar does not exist, or this user has no access to it.

    >>> lab = svc.sandbox()
    >>> svc.share_calendar("primary", "bob@svc.example, eve@svc.example", role="freeBusyReader")["type"].tolist()
    ['user', 'user']
    """
    rules = [*map(_rule_id, read_people("people", people))]
    call = partial(_share_row, roles=dict(zip(rules, roles_of(people, role, len(rules), ROLES), strict=True)))
    return _run(call, calendar, people, "Share calendars", Batch(errors=errors), session)


def unshare_calendar(
    calendar: File, people: str | Iterable[str], *, errors: Errors = None, session: SessionLike = None
) -> DataFrame:
    """Remove the roles of people on calendars. People without another role, as of their domain, lose access.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.
        people: The people, as for `share_calendar`.
        errors: What happens with an error of one of several rows. See docs/bulk.md.

    Returns:
        One row for each removed role, with the columns of `share_calendar`.

    Raises:
        NotFound: A calendar does not exist, or is not shared with one of the people.
        NotAllowed: Only an owner can remove a role.

    >>> lab = svc.sandbox()
    >>> given = svc.share_calendar("primary", "bob@svc.example")
    >>> svc.unshare_calendar("primary", "bob@svc.example")["role"].tolist()
    ['reader']
    """
    return _run(_unshare_row, calendar, people, "Unshare calendars", Batch(errors=errors), session)


def calendar_permissions(calendar: File = "primary", *, session: SessionLike = None) -> DataFrame:
    """List who has which role on calendars. The owner comes first.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.

    Returns:
        One row for each role: calendar, id, type (str: user, domain or anyone), role, email_address, domain (str;
        missing if not of this type).

    Raises:
        NotAllowed: Only an owner can see the roles.

    >>> lab = svc.sandbox()
    >>> svc.calendar_permissions()[["email_address", "role"]].values.tolist()
    [['ada@svc.example', 'owner']]
    """

    session = session_or_current(session)
    ids = calendar_ids(session, calendar)
    rules = [(name, rule) for name in ids for rule in client.list_access_rules(session, name)]
    return frame(CALENDAR_PERMISSIONS, [_record((name, rule["id"]), rule["role"]) for name, rule in rules])


def _run(
    call: RowCall[_Row], calendar: File, people: object, title: str, batch: Batch, session: SessionLike
) -> DataFrame:
    """Call a function for each calendar and each of the people, as the calendar's id and the id of an access rule."""
    rules = [*map(_rule_id, read_people("people", people))]
    session = session_or_current(session)
    rows = list(product(calendar_ids(session, calendar), rules))
    operation = RowOperation(CALENDAR_PERMISSIONS, call, known=_record, title=title, unit="permissions")
    return run(operation, rows, session, batch)


def _share_row(session: Session, row: _Row, report: Report, *, roles: Mapping[str, str]) -> Record:

    scope_type, _, value = row[1].partition(":")
    role = roles[row[1]]
    client.insert_access_rule(session, row[0], {"role": role, "scope": {"type": scope_type, "value": value}})
    return _record(row, role)


def _unshare_row(session: Session, row: _Row, report: Report) -> Record:

    return _record(row, client.delete_access_rule(session, *row).get("role"))


def _rule_id(person: Mapping[str, Any]) -> str:
    """Return the id of the access rule of an e-mail address, "anyone" or a domain."""
    value = str(person.get("email") or dict(person))
    if value == "anyone":
        return "default"
    if not value.startswith("domain:") and "@" not in value:
        raise ValueError(f'people has {value!r}; give an e-mail address, "anyone" or "domain:example.com"')
    return value.lower() if value.startswith("domain:") else f"user:{value.lower()}"


def _record(row: _Row, role: str | None = None) -> Record:
    calendar, rule_id = row
    scope_type, _, value = rule_id.partition(":")
    column = "domain" if scope_type == "domain" else "emailAddress"
    scope_type = "anyone" if scope_type == "default" else scope_type
    return {"calendar": calendar, "id": rule_id, "type": scope_type, "role": role, column: value or None}


# -- when people are busy, and the times at which all of them are free


_DAY, _QUARTER, _LONGEST = timedelta(days=1), timedelta(minutes=15), timedelta(days=366)


def free_busy(
    calendars: str | Iterable[Any] = "primary",
    *,
    time_min: When,
    time_max: When,
    time_zone: Zone | None = None,
    errors: Errors = None,
    session: SessionLike = None,
) -> DataFrame:
    """Tell when people are busy. No other fields of their events are shown.

    Events that are cancelled or marked as free do not make a person busy, nor do invitations that the person has
    declined. An all-day event is busy from midnight to midnight in the time zone of its calendar.

    Args:
        calendars: E-mail addresses of people, or ids or names of calendars: one text with commas between them, a list,
            a column, a row or a DataFrame of `calendars()` or `permissions()`, or a DataFrame with a column `email`.
        time_min, time_max: The window. A date means midnight in `time_zone`.
        time_zone: The zone of the periods, and of times without a zone. None: the zone of the primary calendar.
        errors: What happens with an error of one of several rows. See docs/bulk.md.

    Returns:
        One row for each person or calendar: calendar (str), busy (object: a list of pairs of start and end, as
        Timestamps in the zone, in order and without overlaps), outcome, error (str), attempts (Int64), seconds
        (Float64). The row of a calendar that cannot be seen has the outcome failed, and no periods.
        `frame.explode("busy")` has a row for each period.

    Raises:
        TypeError, ValueError: An argument is not valid.
        NotFound: The only calendar does not exist, or is not shared with this user.

    The service has this operation only with `Policy(extensions=True)`, which is the default.

    >>> lab = svc.sandbox()
    >>> tea = svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", time_zone="UTC", recurrence="daily")
    >>> busy = svc.free_busy(time_min="2026-11-02", time_max="2026-11-04")
    >>> busy["outcome"].tolist(), [str(start) for start, end in busy["busy"][0]]
    (['done'], ['2026-11-02 10:00:00+00:00', '2026-11-03 10:00:00+00:00'])
    """
    session = session_or_current(session)
    names = _names(session, "calendars", calendars)
    name = zone_name("time_zone", time_zone) or _own_zone(session)
    now = session.clock.now()
    wire_window(time_min, time_max, name, session.clock)
    begin, end = (read_instant(*each, name, now) for each in (("time_min", time_min), ("time_max", time_max)))
    return _run_busy("time_max", session, names, (begin, end), name, Batch(errors=errors))


def free_times(
    people: str | Iterable[Any],
    *,
    duration: Duration = "1h",
    within: Any = "7d",
    hours: tuple[time | str, time | str] = ("09:00", "17:00"),
    time_zone: Zone | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """Find the times at which all of these people are free. `free_busy` describes when a person is busy.

    Args:
        people: E-mail addresses or calendars, as for `free_busy`. Add "primary" for this user.
        duration: The length of a slot, such as "1h", "90 min" or a timedelta.
        within: A pair of times or dates, of which the second is not included; a date, which means this day; "this
            week", "next month"; or a duration such as "7d", which begins with the next quarter of an hour.
        hours: The first and the last time of day, on every day, also at weekends. If the last time is not later than
            the first, it is on the next day: ("00:00", "24:00") is the whole day.
        time_zone: The zone of `hours`, of the frame, and of times without a zone. None: that of the primary calendar.

    Returns:
        One row for each slot: start, end (datetime64[ms, zone]). The first slot of a day begins with `hours`, or when
        all are free again. The next slot begins when the slot before it ends.

    Raises:
        TypeError, ValueError: An argument is not valid.
        NotFound: The calendar of one of the people cannot be seen, so no time is known to be free.

    >>> lab = svc.sandbox()
    >>> tea = svc.create_event("Tea", start="2026-11-02 10:00", end="11:30", time_zone="UTC")
    >>> free = svc.free_times("primary", duration="2h", within="2026-11-02")
    >>> free["start"].dt.strftime("%H:%M").tolist()
    ['11:30', '13:30']
    """
    session = session_or_current(session)
    names = _names(session, "people", people)
    length = parse_duration(duration, "duration")
    if length < timedelta(minutes=1):
        hint = "such as '30 min'; a number means seconds"
        raise ValueError(f"duration is {duration!r}; it must be a minute or more, {hint}")
    name = zone_name("time_zone", time_zone) or _own_zone(session)
    begin, end = _window(within, session.clock.now(), name)
    if end - begin > _LONGEST:
        raise ValueError(f"within has more than {_LONGEST.days} days; give a shorter time")
    first, last = (_time_of_day(each) for each in _pair("hours", hours))
    try:
        rows = _run_busy("within", session, names, (begin, end), name, Batch(errors="raise", progress=False))["busy"]
    except NotFound as error:
        failed: dict[int, Exception] = vars(error)["failed"]
        raise _unseen([names[n] for n, each in failed.items() if isinstance(each, NotFound)]) from None
    busy = [(to_millis(start), to_millis(stop)) for periods in rows for start, stop in periods]
    slots = [
        {"start": from_millis(start), "end": from_millis(stop)}
        for opening in _openings(begin, end, first, last, name)
        for start, stop in free_slots(busy, opening, length // timedelta(milliseconds=1))
    ]
    return in_zone(frame(FREE_TIMES, slots), name)


def _names(session: Session, argument: str, value: object) -> list[str]:
    """Return the addresses and ids of calendars in an argument, each once. Raises TypeError or ValueError."""
    texts = row_ids(value, argument, ("email", "email_address", "id"))
    people = [str(person["email"]) for text in texts for person in read_people(argument, text)]
    names = dict.fromkeys(calendar_id(session, person, argument) for person in people)
    if not names:
        raise ValueError(f"{argument} is empty; give an e-mail address or the id of a calendar")
    return list(names)


def _own_zone(session: Session) -> str:

    return str(client.get_calendar(session, "primary").get("timeZone") or "UTC")


def _window(within: Any, now: datetime, time_zone: str) -> tuple[datetime, datetime]:
    """Return the first instant of a window, and the first one after it."""
    if isinstance(within, str):
        within = calendar_period(within, now.astimezone(zone(time_zone)).date()) or within
    if isinstance(within, tuple | list):
        begin, end = (read_instant("within", each, time_zone, now) for each in _pair("within", within))
        return begin, end
    try:
        day = python_time("within", without_words(within, now, time_zone))
    except (TypeError, ValueError):
        begin = now + (datetime.min.replace(tzinfo=now.tzinfo) - now) % _QUARTER
        try:
            length = parse_duration(within, "within")
        except ValueError as error:
            raise ValueError(f"{error}; or a date, 'this week' or a pair of times") from None
        return begin, begin + min(length, _LONGEST + _DAY)  # no date after the year 9999
    if isinstance(day, datetime):
        raise ValueError(f"within is the time {day}; give a pair of times, a date, or a duration such as '7d'")
    return read_instant("within", day, time_zone, now), read_instant("within", day + _DAY, time_zone, now)


def _pair(argument: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise ValueError(f"{argument} is {value!r:.80}; give a pair of the first and the last time")


def _time_of_day(value: Any) -> time:
    text = value.isoformat() if isinstance(value, time) else value
    try:
        if (read := time.fromisoformat(text.replace("24:00", "00:00").rjust(5, "0"))).tzinfo is None:
            return read
    except (AttributeError, TypeError, ValueError):
        pass
    raise ValueError(f'hours has {str(value)!r:.40}; give times of day without a zone, such as ("09:00", "17:00")')


def _openings(begin: datetime, end: datetime, first: time, last: time, time_zone: str) -> Iterator[tuple[int, int]]:
    """Yield the part of each day's opening hours that is in a window, in Unix milliseconds."""
    tz = zone(time_zone)
    day: date = begin.astimezone(tz).date() - _DAY  # hours that began on the day before
    while (opening := datetime.combine(day, first, tz)) < end:
        closing = datetime.combine(day if last > first else day + _DAY, last, tz)
        yield to_millis(max(opening, begin)), to_millis(min(closing, end))
        day += _DAY


def _run_busy(
    argument: str, session: Session, names: list[str], window: tuple[datetime, datetime], time_zone: str, batch: Batch
) -> DataFrame:
    """Return the busy times of calendars. `argument` is the argument with the end of the window, for an error."""
    begin, end = window
    if end <= begin:
        raise ValueError(f"{argument} ends at {end}, which is not after the start {begin}")
    query: JSONObject = {"timeMin": begin.isoformat(), "timeMax": end.isoformat(), "timeZone": time_zone}
    call = partial(_busy_row, query=query)
    operation = RowOperation(FREE_BUSY, call, known=_known, title="Free and busy times", unit="calendars")
    return run(operation, names, session, batch)


def _unseen(names: list[str]) -> NotFound:
    reason = "there is no such calendar, or it is not shared with this user; its owner can call"
    call = "share_calendar('primary', address, role='freeBusyReader')"
    return NotFound(f"Cannot see {', '.join(names)}: {reason} {call}.", reason="notFound")


def _known(name: str) -> Record:
    return {"calendar": name}


def _busy_row(session: Session, name: str, report: Report, *, query: JSONObject) -> Record:
    from pandas import Timestamp

    calendars = client.query_free_busy(session, {**query, "items": [{"id": name}]})["calendars"]
    with reading(session.base_url):
        if calendars[name].get("errors"):
            raise _unseen([name])
        tz = zone(str(query["timeZone"]))
        times = [(period["start"], period["end"]) for period in calendars[name]["busy"]]
        return {**_known(name), "busy": [tuple(Timestamp(each).tz_convert(tz) for each in pair) for pair in times]}
