"""Calendars: who may do what with one, and the operations on calendars and the list of them (E-01)."""

from __future__ import annotations

import json
from typing import Any

from ...core.api.operations import CALENDAR_ID
from ...core.clock import format_time, from_millis
from ...core.colors import CALENDAR_COLORS, EVENT_COLORS, Color
from ...core.errors.catalogue import refuse
from ...core.events import calendars as rules
from ...core.events.calendars import CALENDAR_SHAPE, LIST_SHAPE, CalendarRole
from ...core.field_mask import Shape
from ...core.http.messages import JSONObject, Response
from ..context import page_tokens as paging
from ..context.responses import as_json, empty
from ..context.service_context import Call, House
from ..files.operations import mask_of, number, read_json, selected
from ..store.calendars import CalendarRow

PRIMARY = "primary"
_PAGE, _MOST_PAGE = 100, 250


def calendar_of(house: House, call: Call, least: CalendarRole, name: str | None = None) -> CalendarRow:
    """The calendar in the path, if the caller has at least this role on it. Raises ApiError (403, 404)."""
    wanted = call.places[CALENDAR_ID] if name is None else name
    row = primary_of(house, call.caller.user) if wanted == PRIMARY else seen(house, wanted)
    role = role_of(house, call.caller.user, row) if row else None
    if row is None or role is None or not _in_scope(call, row, role):
        raise refuse("calendarNotFound", calendarId=wanted[:200])
    if role < least:
        raise refuse("calendarAccess", role=least.word)
    return row


def _in_scope(call: Call, row: CalendarRow, role: CalendarRole) -> bool:
    """Whether the token reaches this calendar, and not only those that its app made or its user owns."""
    wide = call.caller.scopes & call.operation.scopes - _NARROW
    made = "calendar.app.created" in call.caller.scopes and row.client == call.caller.client
    return bool(wide) or made or (role is CalendarRole.OWNER and bool(call.caller.scopes & _OWNED))


_OWNED = {"calendar.events.owned", "calendar.events.owned.readonly"}
_NARROW = _OWNED | {"calendar.app.created"}


def seen(house: House, wanted: str) -> CalendarRow | None:
    """A calendar by its id, a user's primary one by their address."""
    found = house.store.calendars.get(wanted)
    if found is None and house.store.people.root(wanted.lower()):
        return primary_of(house, wanted.lower())
    return found


def primary_of(house: House, user: str) -> CalendarRow:
    """A user's main calendar; it is there from the first time that anybody asks."""
    found = house.store.calendars.get(user)
    if found is None:
        summary = json.dumps({"summary": user})
        found = CalendarRow(user, user, "", house.policy.calendar_zone, house.millis(), summary)
        house.store.calendars.save(found)
    return found


def role_of(house: House, user: str, row: CalendarRow) -> CalendarRole | None:
    """What a user is to a calendar; None: they do not see it."""
    if row.owner == user:
        return CalendarRole.OWNER
    reaching = ("default", f"domain:{user.partition('@')[2]}", f"user:{user}")
    found = [CalendarRole(one.role) for one in house.store.calendars.grants(row.id) if one.scope in reaching]
    return max(found, default=None)


def _etag(row: CalendarRow) -> str:
    return f'"{row.created * 2}000"'


def calendar_resource(house: House, row: CalendarRow) -> JSONObject:
    """A calendar."""
    head: JSONObject = {"kind": house.names.kind("calendar"), "etag": _etag(row), "id": row.id}
    body: JSONObject = json.loads(row.body)
    return head | body | {"timeZone": row.zone}


def entry(house: House, user: str, row: CalendarRow) -> JSONObject:
    """A calendar as it stands in a user's list."""
    role = role_of(house, user, row) or CalendarRole.READER
    color = CALENDAR_COLORS["14" if row.primary else "7"]
    found = calendar_resource(house, row) | {"kind": house.names.kind("calendarListEntry")}
    found |= {"colorId": "14" if row.primary else "7", "backgroundColor": color.background}
    found |= {"foregroundColor": color.foreground, "selected": True, "accessRole": role.word}
    found["defaultReminders"] = default_reminders(house)
    return found | {"primary": True} if row.id == user else found


def default_reminders(house: House) -> list[Any]:
    """What an event without reminders of its own does."""
    return [{"method": "popup", "minutes": house.policy.default_reminder}]


def insert(house: House, call: Call) -> Response:
    """A secondary calendar."""
    given = rules.check_calendar(read_json(call.body, house.policy.max_metadata_size), creating=True)
    body: JSONObject = {name: value for name, value in given.items() if value is not None}
    zone = str(body.pop("timeZone", house.policy.calendar_zone))
    name = f"{house.ids.calendar()}@group.calendar.{house.policy.domain}"
    row = CalendarRow(name, call.caller.user, call.caller.client, zone, house.millis(), json.dumps(body))
    house.store.calendars.save(row)
    return answer(call, calendar_resource(house, row), CALENDAR_SHAPE)


def get(house: House, call: Call) -> Response:
    """A calendar."""
    row = calendar_of(house, call, CalendarRole.READER)
    return answer(call, calendar_resource(house, row), CALENDAR_SHAPE)


def patch(house: House, call: Call) -> Response:
    """Some of a calendar's fields; the others stay."""
    return _change(house, call, keep=True)


def update(house: House, call: Call) -> Response:
    """All of a calendar's fields."""
    return _change(house, call, keep=False)


def _change(house: House, call: Call, *, keep: bool) -> Response:
    body = rules.check_calendar(read_json(call.body, house.policy.max_metadata_size), creating=not keep)
    with house.store.transaction():
        row = calendar_of(house, call, CalendarRole.OWNER)
        zone = str(body.pop("timeZone", None) or row.zone)
        merged = (json.loads(row.body) if keep else {}) | body
        kept = {name: value for name, value in merged.items() if value is not None}
        row = row._replace(zone=zone, body=json.dumps(kept))
        house.store.calendars.save(row)
    return answer(call, calendar_resource(house, row), CALENDAR_SHAPE)


def delete(house: House, call: Call) -> Response:
    """Remove a secondary calendar with its events; a primary one can only be cleared."""
    with house.store.transaction():
        row = calendar_of(house, call, CalendarRole.OWNER)
        if row.primary:
            raise refuse("invalid", field="calendarId", message="a primary calendar is cleared, not deleted.")
        house.store.events.drop_all(row.id)
        house.store.calendars.drop(row.id)
    return empty(204)


def clear(house: House, call: Call) -> Response:
    """Remove all events of a primary calendar."""
    with house.store.transaction():
        row = calendar_of(house, call, CalendarRole.OWNER)
        if not row.primary:
            raise refuse("invalid", field="calendarId", message="only a primary calendar is cleared; delete this one.")
        house.store.events.drop_all(row.id)
    return empty(204)


def get_entry(house: House, call: Call) -> Response:
    """One calendar of the caller's list."""
    row = calendar_of(house, call, CalendarRole.FREE_BUSY_READER)
    return answer(call, entry(house, call.caller.user, row), LIST_SHAPE)


def list_entries(house: House, call: Call) -> Response:
    """The caller's calendars, the primary one first."""
    least = rules.check_role(call.query.get("minAccessRole")) if "minAccessRole" in call.query else None
    user = call.caller.user
    primary_of(house, user)
    rows = sorted(house.store.calendars.of(user), key=lambda row: (row.id != user, row.created, row.id))
    entries = [entry(house, user, row) for row in rows if _reaches(house, user, row, least)]
    size = number(call.query, "maxResults", _PAGE, _MOST_PAGE)
    about, token = ("calendarList", user), call.query.get("pageToken")
    start = paging.read(token, about, 1, house.secret)[0] if token else 0
    value: JSONObject = {"kind": house.names.kind("calendarList"), "items": list(entries[start : start + size])}
    if start + size < len(entries):
        value["nextPageToken"] = paging.write((start + size,), about, house.secret)
    return answer(call, value, {"kind": None, "etag": None, "nextPageToken": None, "items": LIST_SHAPE})


def _reaches(house: House, user: str, row: CalendarRow, least: CalendarRole | None) -> bool:
    return least is None or (role_of(house, user, row) or CalendarRole.FREE_BUSY_READER) >= least


def colors(house: House, call: Call) -> Response:
    """The colours that calendars and events can have."""
    value: JSONObject = {
        "kind": house.names.kind("colors"),
        "updated": format_time(from_millis(0)),
        "calendar": {key: _color(one) for key, one in CALENDAR_COLORS.items()},
        "event": {key: _color(one) for key, one in EVENT_COLORS.items()},
    }
    return answer(call, value, {"kind": None, "updated": None, "calendar": {"": None}, "event": {"": None}})


def _color(one: Color) -> JSONObject:
    return {"background": one.background, "foreground": one.foreground}


def answer(call: Call, value: JSONObject, shape: Shape) -> Response:
    """A resource of the calendar interface: all of it unless a mask selects. Raises ApiError."""
    return as_json(call.query, selected(mask_of(call.query, {}, shape), value))
