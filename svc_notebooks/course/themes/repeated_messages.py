"""The exercise about a receiver whose messages arrive twice and out of order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from ...client.files import update_file
from ...core.brand_names import Names
from ..definition import ExerciseDefinition, Part, list_text, require
from ..exercise_service import ReceiverCase
from .content import put_file
from .messages import SUCCESS_STATUSES, require_statuses
from .shared_checks import require_file

if TYPE_CHECKING:
    from ...core.http.messages import JSONObject, Request
    from ..definition import Value
    from ..evidence import Evidence
    from ..exercise_service import ExerciseService

_STATE = "state.json"
_HEADER = Names().header
_CHANNEL, _NUMBER, _RESOURCE_STATE = (_HEADER(name) for name in ("Channel-ID", "Message-Number", "Resource-State"))
_MIN_CHANGES, _MAX_CHANGES = 3, 60


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    """Send messages of two channels, which open together. The second one is stopped earlier, so their entries differ."""
    session, address = exercise.session(), exercise.receiver("state")
    file_id = put_file(session, "plan.txt", b"Feed the ducks.")
    channels = [f"state-{rng.getrandbits(32):08x}" for _ in range(2)]
    opened: list[JSONObject] = []
    for channel in channels:  # at the same time, so that their messages have the same numbers
        body: Any = {"id": channel, "type": "web_hook", "address": address}
        opened.append(session.call("POST", session.names.path("files", file_id, "watch"), body=body))
    for count in range(_MAX_CHANGES):
        for name in (f"plan {count}.txt", f"plan for {count}.txt"):
            update_file(session, file_id, {"name": name})
        update_file(session, file_id, {"trashed": True})
        exercise.service.deliver()
        if count >= _MIN_CHANGES and _text_order_is_wrong(exercise.received, channels):
            break
        update_file(session, file_id, {"trashed": False})
    second: JSONObject = {"id": channels[1], "resourceId": opened[1]["resourceId"]}
    session.call("POST", session.names.path("channels", "stop"), body=second)
    update_file(session, file_id, {"trashed": False})
    exercise.service.deliver()
    rng.shuffle(channels)
    messages = [dict(request.headers.pairs) for request in exercise.received]
    exercise.check_data["expected"] = {channel: _expected(channel, messages) for channel in channels}
    exercise.receiver_cases += _cases(messages, channels, rng)
    return {"channels": channels}


def _text_order_is_wrong(received: list[Request], channels: list[str]) -> bool:
    """Return whether the largest number of each channel is not the last one in the order of texts, by much."""
    numbers = {
        name: [request.headers[_NUMBER] for request in received if request.headers[_CHANNEL] == name]
        for name in channels
    }
    return all(max(of_channel) != max(of_channel, key=int) for of_channel in numbers.values())


def _expected(channel: str, messages: list[dict[str, str]]) -> dict[str, Any]:
    of_channel = [message for message in messages if message[_CHANNEL] == channel]
    changes = [message for message in of_channel if message[_RESOURCE_STATE] != "sync"]
    newest = max(changes, key=lambda message: int(message[_NUMBER]))
    return {"state": newest[_RESOURCE_STATE], "number": int(newest[_NUMBER]), "messages": len(changes)}


def _cases(messages: list[dict[str, str]], channels: list[str], rng: Random) -> list[ReceiverCase]:
    """Return the messages in a random order with repetitions. The last ones are an old message and two `sync`."""
    syncs = [message for message in messages if message[_RESOURCE_STATE] == "sync"]
    changes = [message for message in messages if message[_RESOURCE_STATE] != "sync"]
    oldest = [min((m for m in changes if m[_CHANNEL] == name), key=lambda m: int(m[_NUMBER])) for name in channels]
    early = [*changes, *rng.sample(changes, 4)]
    rng.shuffle(early)
    # The newest message of the stopped channel arrives after that of the other channel with the same number.
    longest = max(changes, key=lambda m: int(m[_NUMBER]))[_CHANNEL]
    last = max(int(message[_NUMBER]) for message in changes if message[_CHANNEL] != longest)
    places = [place for place, message in enumerate(early) if int(message[_NUMBER]) == last]
    in_order = sorted((early[place] for place in places), key=lambda m: m[_CHANNEL] != longest)
    for place, message in zip(places, in_order, strict=True):
        early[place] = message
    seen: list[dict[str, str]] = []
    cases = []
    for message in [*syncs[:1], *early, *oldest, *syncs]:
        again = " that arrived a second time" if message in seen else ""
        cases.append(ReceiverCase(dict(message), True, f"a message{again}"))
        seen.append(message)
    return cases


def _require_success(evidence: Evidence) -> None:
    require_statuses(evidence)
    for case in evidence.receiver_cases:
        require(
            case.outcome in SUCCESS_STATUSES,
            f"Your receiver returned {case.outcome} for {case.description}. The service regards this as a failure. Return 200"
            " for a message that you know already, too.",
        )


def _read_state(evidence: Evidence) -> dict[str, Any]:
    try:
        state = json.loads(evidence.content(require_file(evidence, _STATE)["id"]))
    except (ValueError, RecursionError):
        state = None
    require(isinstance(state, dict), f"{_STATE} is not a JSON object with an entry for each channel.")
    assert isinstance(state, dict)
    return state


def _require_states(evidence: Evidence) -> str:
    require_statuses(evidence)
    state = _read_state(evidence)
    for channel, expected in evidence.check_data["expected"].items():
        _require_state(evidence, channel, state.get(channel), expected)
    others = state.keys() - evidence.check_data["expected"].keys()
    require(
        not others, f"{_STATE} has an entry for {list_text(sorted(others), 2)}, which is not one of given.channels."
    )
    count = len(evidence.receiver_cases)
    return f"Your receiver got {count} messages, several of them twice and not in their order, and its state is that of the newest ones."


def _require_counts(evidence: Evidence) -> None:
    state = _read_state(evidence)
    for channel, expected in evidence.check_data["expected"].items():
        entry = state.get(channel)
        count = entry.get("messages") if isinstance(entry, dict) else None
        different = expected["messages"]
        why = (
            "A message that arrives again has the same channel and the same number, and `sync` does not count."
            if isinstance(count, int) and count > different
            else "A message that arrives after a newer one counts, too, and both channels use the same numbers."
        )
        require(
            type(count) is int and count == different,
            f"For the channel {channel}, {_STATE} has {count!r} in `messages`, but the service sent {different} different"
            f" messages about the file. {why}",
        )


def _require_state(evidence: Evidence, channel: str, entry: object, expected: Mapping[str, Any]) -> None:
    of_channel = [case.message for case in evidence.receiver_cases if case.message[_CHANNEL] == channel]
    require(
        isinstance(entry, dict) and expected.keys() <= entry.keys(),
        f"{_STATE} has no entry with state, number and messages for the channel {channel}.",
    )
    assert isinstance(entry, dict)
    seen = f"For the channel {channel}, {_STATE} has"
    require(
        entry["state"] != "sync",
        f"{seen} the state 'sync'. This message says that the channel is open, and nothing about the file.",
    )
    number, newest = entry["number"], f"the newest message has the number {expected['number']}"
    if type(number) is not int or number != expected["number"]:
        as_text = str(number) == max(message[_NUMBER] for message in of_channel)
        why = (
            "The values of headers are texts, and '9' is after '10' in the order of texts: compare int(number)."
            if as_text or str(number) == str(expected["number"])
            else "The message that arrives last is not always the newest one: compare the message numbers."
        )
        require(False, f"{seen} the number {number!r}, but {newest} (an int). {why}")
    require(
        entry["state"] == expected["state"],
        f"{seen} the state {entry['state']!r}, but {newest} and the state {expected['state']!r}. State and number must be of"
        " the same message.",
    )


REPEATED = ExerciseDefinition(
    name="twice-and-out-of-order",
    theme="messages",
    set_up=_set_up,
    parts=(
        Part("a success status for each message", _require_success),
        Part("a file called state.json", _read_state, operations=("files.create", "upload.session")),
        Part("state and number of the newest message", _require_states, 2),
        Part("the number of different messages", _require_counts, 2),
    ),
    answer=(
        "def handle(headers):\n"
        '    """Return 200 for every message, also for one that arrives again."""\n'
        "    # Your code here, and then: given.deliver_to(handle), and the upload of state.json"
    ),
    creates=1,
)

ALL = (REPEATED,)
