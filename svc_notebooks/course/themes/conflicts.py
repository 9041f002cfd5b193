"""The exercise about two programs that change one event, with If-Match and the status 412."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from ...client.events.events import insert_event, patch_event
from ..definition import ExerciseDefinition, require
from .shared_checks import list_text, quantity

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService
    from ..request_recorder import ExerciseExchange

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

ALL = (CONFLICT,)
