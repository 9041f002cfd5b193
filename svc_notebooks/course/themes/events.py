"""Exercises about an event in a time zone, and about a recurring event with a changed or cancelled instance."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from ...client.events.events import insert_event, patch_event
from ..definition import ExerciseDefinition, require
from .shared_checks import list_text, quantity

if TYPE_CHECKING:
    from ...core.resources.events import Event
    from ..definition import Value
    from ..evidence import Evidence, ExerciseExchange, RecordedRequest
    from ..exercise_service import ExerciseService


_CALENDAR = "primary"
_ITEMS = ("binoculars", "rubber boots", "a thermos flask", "a rain coat", "bird food", "a camera", "a map of the ponds")


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session = exercise.session()
    first, own, *others = rng.sample(_ITEMS, len(_ITEMS))
    day = f"2026-11-{rng.randrange(2, 28):02}"
    event: Any = {
        "summary": "Walk around the ponds",
        "description": f"Bring {first}",
        "start": {"dateTime": f"{day}T09:00:00Z"},
        "end": {"dateTime": f"{day}T12:00:00Z"},
    }
    inserted: Any = insert_event(session, _CALENDAR, event)
    event_id = inserted["id"]
    exercise.check_data["other_fields"] = {key: inserted[key] for key in ("summary", "start", "end")}
    lines = exercise.check_data["lines"] = [event["description"]]
    conflicts, refusals = rng.randrange(1, 3), 0

    def change_after_a_read(exchange: ExerciseExchange) -> None:
        """Add a line to the event after each read, until enough updates of the student were refused."""
        nonlocal refusals
        refusals += exchange.status == 412
        if (
            exchange.method != "GET"
            or exchange.status != 200
            or "/events" not in exchange.path
            or refusals >= conflicts
        ):
            return
        added = len(lines) - 1
        lines.append(f"Bring {others[added]}" if added < len(others) else f"Bring {added} friends")
        change: Any = {"description": "\n".join(lines), "location": f"Gate {len(lines)}"}
        patch_event(session, _CALENDAR, event_id, change)

    exercise.react(change_after_a_read)
    return {"event_id": event_id, "line": f"Bring {own}"}


def _check(evidence: Evidence) -> str:
    event_id, own_line = evidence.values["event_id"], evidence.values["line"]
    updates = [
        request for request in evidence.requests_of("events.patch", "events.update") if request.path.endswith(event_id)
    ]
    received = f"The service received {quantity(len(evidence.requests), 'request')}"
    require(updates, f"{received}, and none of them changes the event given.event_id. Send a PATCH request.")
    for update in updates:
        _require_condition(update)
    last = updates[-1]
    require(
        last.succeeded,
        f"Your last update had the status {last.status} and was not repeated, so given.line is not in the event. After a"
        " 412, read the event again and repeat the update with its new etag.",
    )
    event = next((event for event in evidence.events() if event["id"] == event_id), None)
    require(event, "The event given.event_id no longer exists. begin() starts again.")
    assert event is not None
    lines = str(event.get("description", "")).splitlines()
    lost = [line for line in evidence.check_data["lines"] if line not in lines]
    require(
        not lost,
        f"The description has lost {quantity(len(lost), 'line')} that another program had added: {list_text(lost, 2)}."
        " After a 412, add given.line to the description that you have just read, and not to an earlier one.",
    )
    count = lines.count(own_line)
    require(
        count == 1, f"The description has given.line {count} times instead of once. Look at svc.event(given.event_id)."
    )
    require(
        lines[-1] == own_line,
        "given.line is not the last line of the description. Add it to the end of the description that you have read.",
    )
    expected_location = f"Gate {len(evidence.check_data['lines'])}"
    require(
        event.get("location") == expected_location,
        f"The event has the location {event.get('location')!r}, but the other program had set {expected_location!r}. Send"
        " only the field that you change, with PATCH.",
    )
    changed = [key for key, value in evidence.check_data["other_fields"].items() if event.get(key) != value]
    require(
        not changed, f"Your update has changed {list_text(changed)}. Send only the field `description`, with PATCH."
    )
    refused = sum(update.status == 412 for update in updates)
    return f"The service refused {quantity(refused, 'update')} with 412, and the event has your line and all lines of the other program."


def _require_condition(update: RecordedRequest) -> None:
    condition = update.headers.get("If-Match")
    require(
        condition,
        "An update had no header If-Match, so it replaces whatever another program has changed since you read the event."
        ' Send the etag of the event: given.send("PATCH", path, {"If-Match": etag, ...}, body).',
    )
    require(
        condition != "*",
        "An update had the header If-Match: *, which is true for every version of the event. Send the etag of the version"
        " that you read.",
    )


CONFLICT = ExerciseDefinition(
    name="two-programs-one-event",
    theme="events",
    title="Two programs change one event",
    text=(
        "Add the line `given.line` to the end of the description of the event `given.event_id` in the primary calendar."
        " Another program changes the same event while yours works, and none of its changes may be lost. Send every"
        " update with `given.send`, as a PATCH request with the header `If-Match`, which has the `etag` of the event that you"
        " read. If the event has changed since then, the service refuses the update with 412. Then read the event again,"
        " add your line to the new description, and repeat the update."
    ),
    hints=(
        'The path is `f"/calendar/v3/calendars/primary/events/{given.event_id}"`, and `given.send("GET", path).json()` is the'
        ' event, with the fields `"etag"` and `"description"`.',
        'The headers of the update are `{"Content-Type": "application/json", "If-Match": event["etag"]}`.',
        "Read, add and update in the same loop, and leave the loop when the status is 200. Which of the three steps must be"
        " repeated after a 412?",
    ),
    set_up=_set_up,
    check=_check,
)


def _require_single_event(evidence: Evidence) -> Event:
    """Return the event of the task. Raises CheckFailedError unless the student created exactly one such event."""
    inserted = evidence.requests_of("events.insert", "events.import")
    require(
        inserted,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them creates an event. Use"
        " svc.create_event.",
    )
    summary = evidence.values["summary"]
    events = [event for event in evidence.events() if event.get("summary") == summary]
    require(events, f"There is no event called {summary!r}. Look at svc.events().")
    require(
        len(events) == 1, f"There are {len(events)} events called {summary!r} instead of one. Look at svc.events()."
    )
    was_created = any(request.response_json.get("id") == events[0]["id"] for request in inserted)
    require(was_created, f"There is an event called {summary!r}, but no recorded request created it.")
    return events[0]


def _instant(event: Event, end: Literal["start", "end"]) -> datetime:
    require(
        "dateTime" in event[end],
        "The event has dates without times, so it is an all-day event. Its start needs a time.",
    )
    return datetime.fromisoformat(event[end]["dateTime"])


def _require_zone(event: Event, zone: str) -> None:
    event_zone = event["start"].get("timeZone")
    require(event_zone == zone, f"The time zone of the event is {event_zone!r}, which is not given.zone ({zone})."
         if event_zone else "The event has a UTC offset and no time zone, so its local time is wrong after a clock change."
         " Use the argument time_zone.")  # fmt: skip


_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
)


def _set_up_zone(_: ExerciseService, rng: Random) -> dict[str, Value]:
    day = date(2026, 2, 1) + timedelta(days=rng.randrange(0, 300))
    return {
        "summary": f"Count of birds, {rng.choice(('north pond', 'mill pond', 'abbey pond'))}",
        "day": day.isoformat(),
        "time": f"{rng.randrange(7, 20):02}:{rng.choice((0, 15, 30, 45)):02}",
        "zone": rng.choice(_ZONES),
        "minutes": rng.choice((45, 75, 90, 105)),
    }


def _check_zone(evidence: Evidence) -> str:
    values, event = evidence.values, _require_single_event(evidence)
    start, end = _instant(event, "start"), _instant(event, "end")
    shown = start.astimezone(ZoneInfo(values["zone"]))
    local_start = shown.strftime("%Y-%m-%d %H:%M")
    expected_start = f"{values['day']} {values['time']}"
    require(
        local_start == expected_start,
        f"In {values['zone']} the event begins at {local_start}, not at {expected_start}."
        " Look at the start that svc.event returns.",
    )
    minutes = (end - start).total_seconds() / 60
    require(
        minutes == values["minutes"],
        f"The event lasts {minutes:g} minutes, not {values['minutes']}. The end is the start plus given.minutes.",
    )
    _require_zone(event, values["zone"])
    require(
        not event.get("recurrence"),
        "The event has a recurrence, so it takes place on more than one day. Create it without the argument recurrence.",
    )
    return f"The event begins at {values['time']} in {values['zone']}, and has this time zone."


ZONE = ExerciseDefinition(
    name="event-in-its-zone",
    theme="events",
    title="An event in a time zone",
    text=(
        "Create an event `given.summary` that begins on `given.day` at `given.time`, local time in `given.zone`, and lasts"
        " `given.minutes` minutes. The event must have this time zone."
    ),
    hints=(
        "A start without an offset needs a time zone: `svc.create_event(..., time_zone=...)`.",
        'The start can be a text, such as `f"{given.day} {given.time}"`.',
        "The end is `pandas.Timestamp(start) + pandas.Timedelta(minutes=...)`. Both are local times without an offset.",
    ),
    set_up=_set_up_zone,
    check=_check_zone,
)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


def _set_up_series(_: ExerciseService, rng: Random) -> dict[str, Value]:
    zone, change = rng.choice((("Europe/Berlin", date(2026, 10, 25)), ("America/New_York", date(2026, 11, 1))))
    first = change - timedelta(days=rng.randrange(15, 36))
    first += timedelta(days=max(0, 7 - first.weekday()) if first.weekday() > 4 else 0)
    weeks = rng.randrange(9, 13)
    return {
        "summary": f"Seminar {rng.randrange(100, 1000)}",
        "zone": zone,
        "first": first.isoformat(),
        "weekday": _DAYS[first.weekday()],
        "time": f"{rng.randrange(8, 18):02}:{rng.choice((0, 15, 30)):02}",
        "last": (first + timedelta(weeks=weeks)).isoformat(),
        "free": (first + timedelta(weeks=rng.randrange(2, weeks - 1))).isoformat(),
    }


def _check_series(evidence: Evidence) -> str:
    values, event = evidence.values, _require_single_event(evidence)
    require(event.get("recurrence"), "The event has no recurrence. Use the argument recurrence of svc.create_event.")
    _require_zone(event, values["zone"])
    instances = [instance for instance in evidence.instances(event["id"]) if instance.get("status") != "cancelled"]
    times = [_instant(instance, "start").astimezone(ZoneInfo(values["zone"])) for instance in instances]
    days = [time.date().isoformat() for time in times]
    require(
        values["free"] not in days,
        f"There is a seminar on {values['free']}, which is excluded. Use `except` in the recurrence.",
    )
    first, last = date.fromisoformat(values["first"]), date.fromisoformat(values["last"])
    every_day = [(first + timedelta(weeks=n)).isoformat() for n in range((last - first).days // 7 + 1)]
    expected_days = [day for day in every_day if day != values["free"]]
    missing = [day for day in expected_days if day not in days]
    unexpected = [day for day in days if day not in expected_days]
    require(not missing, f"There is no seminar on {list_text(missing, 2)}. Look at svc.instances(event).")
    require(
        not unexpected, f"There is an unexpected seminar on {list_text(unexpected, 2)}. Look at svc.instances(event)."
    )
    require(
        len(days) == len(expected_days),
        f"The series has {len(days)} instances on {len(expected_days)} days, so there are two on one day. Look at"
        " svc.instances(event).",
    )
    start_times = {time.strftime("%H:%M") for time in times}
    require(
        start_times == {values["time"]},
        f"The local start time of the seminar is {list_text(sorted(start_times))}, not always {values['time']}."
        " A time zone keeps the local time.",
    )
    durations = {
        (_instant(instance, "end") - _instant(instance, "start")).total_seconds() / 60 for instance in instances
    }
    require(
        durations == {90},
        f"The seminar lasts {list_text(f'{minutes:g}' for minutes in sorted(durations))} minutes, not 90."
        " Look at the end of the first event.",
    )
    return f"One series with {quantity(len(instances), 'instance')}, one excluded day, and the same local time on all days."


SERIES = ExerciseDefinition(
    name="series-with-an-exception",
    theme="events",
    title="A recurring event with an exception",
    text=(
        "The seminar `given.summary` takes place weekly on `given.weekday`, from `given.first` to `given.last` (both"
        " included). It begins at `given.time`, local time in `given.zone`, and lasts 90 minutes. On `given.free` it does"
        " not take place. Create it as one series."
    ),
    hints=(
        "`06-recurrence-and-time-zones` creates a similar series.",
        '`recurrence="weekly on Mon until 2027-04-14 except 2027-03-29"` is a recurrence in words.',
        "`svc.instances(event)` lists the instances. Does the list have the last day, and not the excluded day?",
    ),
    set_up=_set_up_series,
    check=_check_series,
)

ALL = (ZONE, SERIES, CONFLICT)
