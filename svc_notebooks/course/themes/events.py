"""Exercises about an event in a time zone, and about a recurring event with a changed or cancelled instance."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, Literal
from zoneinfo import ZoneInfo

from ...client.events.events import insert_event, patch_event
from ...core.resources.events import Event
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import Evidence, ExerciseExchange, RecordedRequest, require_any
from ..exercise_service import ExerciseService

_CALENDAR = "primary"
_ETAG = re.compile(r'"[^"]*"')
_ITEMS = ("binoculars", "rubber boots", "a thermos flask", "a rain coat", "bird food", "a camera", "a map of the ponds")


def edited_event(exercise: ExerciseService, rng: Random) -> tuple[dict[str, Value], Callable[[ExerciseExchange], None]]:
    """Create an event. Return its id and a line for the student, and what another program does after each request."""
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
    lines = exercise.check_data["lines"] = [event["description"]]
    conflicts, refusals = 3, 0

    def change_after_a_read(exchange: ExerciseExchange) -> None:
        """Add a line to the event after each read, until three updates of the student were refused."""
        nonlocal refusals
        refusals += exchange.status == 412
        is_read = exchange.method == "GET" and exchange.status == 200 and "/events" in exchange.path
        if not is_read or refusals >= conflicts:
            return
        added = len(lines) - 1
        lines.append(f"Bring {others[added]}" if added < len(others) else f"Bring {added} friends")
        change: Any = {"description": "\n".join(lines), "location": f"Gate {len(lines)}"}
        patch_event(session, _CALENDAR, event_id, change)

    return {"event_id": event_id, "line": f"Bring {own}"}, change_after_a_read


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    values, reaction = edited_event(exercise, rng)
    exercise.react(reaction)
    return values


def _updates(evidence: Evidence) -> list[RecordedRequest]:
    event_id = evidence.values["event_id"]
    exists = any(event["id"] == event_id for event in evidence.events())
    require(exists, "The event given.event_id no longer exists. begin() starts again.")
    changes = evidence.requests_of("events.patch", "events.update")
    updates = [request for request in changes if request.path.endswith(event_id)]
    return require_any(evidence, updates, "changes the event given.event_id. Send a PATCH request.")


def _versions_before(evidence: Evidence, update: RecordedRequest) -> dict[str, str]:
    """Return the description of each version of an event by its etag, as responses before the update contained them."""
    versions: dict[str, str] = {}
    for answer in [each for each in evidence.requests if each.answered and each.n < update.n]:
        for event in [answer.response_json, *answer.response_json.get("items", [])]:
            etag = event.get("etag") or answer.response_headers.get("ETag")
            versions |= {etag: event.get("description", "")} if etag else {}
    return versions


def require_conditions(evidence: Evidence) -> None:
    for update in _updates(evidence):
        condition = update.headers.get("If-Match", "")
        message = 'An update had no header If-Match, so it replaces whatever another program has changed since you read the event. Send the etag of the event: given.send("PATCH", path, {"If-Match": etag, ...}, body).'
        require(condition, message)
        message = f"An update had the header If-Match: {condition}, which is true for every version of the event. Send the etag of the version that you read."
        require("*" not in condition, message)
        versions = _versions_before(evidence, update)
        unknown = [etag for etag in _ETAG.findall(condition) or [condition] if etag not in versions]
        message = f"An update had the header If-Match: {condition}, and no response before had this etag. Send the etag of the version that you read, with its quotation marks."
        require(not unknown, message)


def _require_patch(evidence: Evidence) -> None:
    for update in _updates(evidence):
        require(update.by_hand, "An update was sent by the package. Send every update with given.send.")
        replaces = f"An update was a {update.method} request, which replaces the whole event. Send a PATCH request."
        require(update.operation == "events.patch", replaces)


def _require_last_success(evidence: Evidence) -> str:
    updates = _updates(evidence)
    advice = " Read the event again, and repeat the update with its new etag." if updates[-1].status == 412 else ""
    message = f"Your last update had the status {updates[-1].status} and was not repeated, so given.line is not in the event.{advice}"
    require(updates[-1].succeeded, message)
    refused = sum(update.status == 412 for update in updates)
    return f"The service refused {quantity(refused, 'update')} with 412, and the event has your line and all lines of the other program."


def event_lines(evidence: Evidence) -> list[str]:
    _updates(evidence)
    event = next(event for event in evidence.events() if event["id"] == evidence.values["event_id"])
    return str(event.get("description", "")).splitlines()


def require_no_lost_line(evidence: Evidence) -> None:
    lines = event_lines(evidence)
    expected = evidence.check_data["lines"]
    lost = [line for line in expected if line not in lines]
    message = f"The description has lost {quantity(len(lost), 'line')} that another program had added: {list_text(lost, 2)}. After a 412, add given.line to the description that you have just read, and not to an earlier one."
    require(not lost, message)
    for update in _updates(evidence):
        versions = _versions_before(evidence, update)
        known = [versions.get(etag, "") for etag in _ETAG.findall(update.headers.get("If-Match", ""))]
        sent = str(update.request_json.get("description", "")).splitlines()
        message = "An update had the etag of one version of the event, and the description of an earlier one, so it could replace a line that another program has added. Take the etag and the description from the same response."
        require(not update.request_json or all(line in sent for each in known for line in each.splitlines()), message)
    others = [line for line in lines if line != evidence.values["line"]]
    message = "Beside given.line, the description has changed. Keep the lines that you have read as they are."
    require(others == expected, message)


def _require_line(evidence: Evidence) -> None:
    lines, own_line = event_lines(evidence), evidence.values["line"]
    count = lines.count(own_line)
    message = f"The description has given.line {count} times instead of once. Look at svc.event(given.event_id)."
    require(count == 1, message)
    advice = "Add it to the end of the description that you have read."
    require(lines[-1] == own_line, f"given.line is not the last line of the description. {advice}")


CONFLICT = ExerciseDefinition(
    name="two-programs-one-event",
    set_up=_set_up,
    parts=(
        Part("each update has the etag in If-Match", require_conditions, 2),
        Part("each update is a PATCH request", _require_patch),
        Part("the update is repeated after a 412", _require_last_success, operations=("events.patch",)),
        Part("no line of the other program is lost", require_no_lost_line),
        Part("given.line is the last line", _require_line),
    ),
    changes=("description",),
)


def _single_event(evidence: Evidence) -> Event:
    """Return the event of the task. Raises CheckFailedError unless the student created exactly one such event."""
    inserted = evidence.requests_of("events.insert", "events.import", "events.quickAdd")
    require_any(evidence, inserted, "creates an event. Use svc.create_event.")
    summary = evidence.values["summary"]
    events = [event for event in evidence.events() if event.get("summary") == summary]
    require(events, f"There is no event called {summary!r} in the primary calendar. Look at svc.events().")
    message = f"There are {len(events)} events called {summary!r} instead of one. Look at svc.events()."
    require(len(events) == 1, message)
    was_created = any(request.response_json.get("id") == events[0]["id"] for request in inserted)
    require(was_created, f"There is an event called {summary!r}, but no recorded request created it.")
    return events[0]


def _instant(event: Event, end: Literal["start", "end"]) -> datetime:
    message = "The event has dates without times, so it is an all-day event. Its start needs a time."
    require("dateTime" in event[end], message)
    return datetime.fromisoformat(event[end]["dateTime"])


def _local(event: Event, zone: str) -> str:
    """Return the local start of an event as text, without seconds that are 0."""
    return _instant(event, "start").astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00")


def _minutes(event: Event) -> float:
    return (_instant(event, "end") - _instant(event, "start")).total_seconds() / 60


def _require_zone(evidence: Evidence) -> None:
    event, zone = _single_event(evidence), evidence.values["zone"]
    for end in (event["start"], event["end"]):
        event_zone = end.get("timeZone")
        require(event_zone == zone, f"The time zone of the event is {event_zone!r}, which is not given.zone ({zone})."
             if event_zone else "The event has a UTC offset and no time zone, so its local time is wrong after a clock change. Use the argument time_zone.")  # fmt: skip


_INSERT = ("events.insert", "events.patch", "events.update")
EVENT = Part("an event called given.summary", _single_event, operations=_INSERT)
ZONE_PART = Part("the time zone", _require_zone)


_ZONES = (
    "Europe/Madrid", "America/New_York", "Asia/Tokyo", "Australia/Adelaide", "America/Sao_Paulo", "Asia/Kathmandu",
)  # fmt: skip


def _set_up_zone(_: ExerciseService, rng: Random) -> dict[str, Value]:
    day = date(2026, 2, 1) + timedelta(days=rng.randrange(0, 300))
    return {
        "summary": f"Count of birds, {rng.choice(('north pond', 'mill pond', 'abbey pond'))}",
        "day": day.isoformat(),
        "time": f"{rng.randrange(7, 20):02}:{rng.choice((0, 15, 30, 45)):02}",
        "zone": rng.choice(_ZONES),
        "minutes": rng.choice((45, 75, 90, 105)),
    }


def _require_start(evidence: Evidence) -> str:
    values = evidence.values
    local_start, expected_start = _local(_single_event(evidence), values["zone"]), f"{values['day']} {values['time']}"
    message = f"In {values['zone']} the event begins at {local_start}, not at {expected_start}. Look at the start that svc.event returns."
    require(local_start == expected_start, message)
    return f"The event begins at {values['time']} in {values['zone']}, and has this time zone."


def _require_minutes(evidence: Evidence) -> None:
    minutes = _minutes(_single_event(evidence))
    message = f"The event lasts {minutes:g} minutes, not {evidence.values['minutes']}. The end is the start plus given.minutes."
    require(minutes == evidence.values["minutes"], message)


def _require_no_recurrence(evidence: Evidence) -> None:
    recurrence, advice = _single_event(evidence).get("recurrence"), "Create it without the argument recurrence."
    require(not recurrence, f"The event has a recurrence, so it takes place on more than one day. {advice}")


ZONE = ExerciseDefinition(
    name="event-in-its-zone",
    set_up=_set_up_zone,
    parts=(
        EVENT,
        Part("the local start", _require_start, 2),
        Part("the duration", _require_minutes),
        ZONE_PART,
        Part("no recurrence", _require_no_recurrence),
    ),
    creates=1,
)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


def _set_up_series(_: ExerciseService, rng: Random) -> dict[str, Value]:
    zone, change = rng.choice(("Europe/Madrid", "Europe/Rome", "Europe/Vienna", "Europe/Warsaw")), date(2026, 10, 25)
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
        "free": (first + timedelta(weeks=rng.randrange(6, weeks - 1))).isoformat(),
    }


def _require_recurrence(evidence: Evidence) -> None:
    recurrence = _single_event(evidence).get("recurrence")
    require(recurrence, "The event has no recurrence. Use the argument recurrence of svc.create_event.")


def _instances(evidence: Evidence) -> list[Event]:
    _require_recurrence(evidence)
    return evidence.instances(_single_event(evidence)["id"])


def _require_days(evidence: Evidence) -> str:
    values, instances = evidence.values, _instances(evidence)
    days = [_local(instance, values["zone"])[:10] for instance in instances]
    message = f"There is a seminar on {values['free']}, which is excluded. Use `except` in the recurrence."
    require(values["free"] not in days, message)
    first, last = date.fromisoformat(values["first"]), date.fromisoformat(values["last"])
    every_day = [(first + timedelta(weeks=n)).isoformat() for n in range((last - first).days // 7 + 1)]
    expected_days = [day for day in every_day if day != values["free"]]
    missing = [day for day in expected_days if day not in days]
    unexpected = [day for day in days if day not in expected_days]
    require(not missing, f"There is no seminar on {list_text(missing, 2)}. Look at svc.instances(event).")
    message = f"There is an unexpected seminar on {list_text(unexpected, 2)}. Look at svc.instances(event)."
    require(not unexpected, message)
    message = f"The series has {len(days)} instances on {len(expected_days)} days, so there are two on one day. Look at svc.instances(event)."
    require(len(days) == len(expected_days), message)
    return f"One series with {quantity(len(instances), 'instance')}, one excluded day, and the same local time on all days."


def _require_times(evidence: Evidence) -> None:
    values = evidence.values
    start_times = {_local(instance, values["zone"])[11:] for instance in _instances(evidence)}
    message = f"The local start time of the seminar is {list_text(sorted(start_times))}, not always {values['time']}. A time zone keeps the local time."
    require(start_times == {values["time"]}, message)


def _require_durations(evidence: Evidence) -> None:
    durations = {_minutes(instance) for instance in _instances(evidence)}
    message = f"The seminar lasts {list_text(f'{minutes:g}' for minutes in sorted(durations))} minutes, not 90. Look at the end of the first event."
    require(durations == {90}, message)


def _require_same_summary(evidence: Evidence) -> None:
    summaries = {str(instance.get("summary")) for instance in _instances(evidence)} - {evidence.values["summary"]}
    require(not summaries, f"An instance of the series has another summary, {list_text(sorted(summaries))}.")


SERIES = ExerciseDefinition(
    name="series-with-an-exception",
    set_up=_set_up_series,
    parts=(
        EVENT,
        Part("a recurrence", _require_recurrence),
        ZONE_PART,
        Part("the days", _require_days, 2),
        Part("the local time of each instance", _require_times),
        Part("90 minutes", _require_durations),
        Part("the same summary on all days", _require_same_summary),
    ),
    creates=1,
)

ALL = (ZONE, SERIES, CONFLICT)
