"""Exercises about watching a file without a gap, and about receivers of forged, repeated and late messages."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from ...client.files import update_file
from ...client.notifications.channels import stop, watch
from ...core.brand_names import Names
from ...core.http.messages import Request
from ...core.times import from_millis
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import Evidence, RecordedRequest, read_object, require_any
from ..exercise_service import ExerciseService, ReceiverCase
from .content import put_file


def _set_up_watch(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    file_id = put_file(exercise.session(), "plan.txt", b"Feed the ducks.")
    exercise.check_data["started"] = exercise.clock.now()
    return {"file_id": file_id, "address": exercise.receiver("plan"), "hours": rng.randrange(50, 80)}


# The longest time by which a student may begin or stop too late.
_LATE_START, _LATE_END = timedelta(minutes=1), timedelta(hours=1)


# A time with the number of the request at this time, or with -1 for the end of a channel that expires.
_Instant: TypeAlias = "tuple[datetime, int]"


def _watch(evidence: Evidence, request: RecordedRequest) -> tuple[_Instant, _Instant]:
    """Return when a channel was opened and when it ended."""
    channel, millis = request.request_json.get("id"), request.response_json.get("expiration")
    stops = [stop for stop in evidence.succeeded("channels.stop") if stop.request_json.get("id") == channel]
    ends = [(stop.time, stop.n) for stop in stops] + ([] if millis is None else [(from_millis(int(millis)), -1)])
    return (request.time, request.n), min(ends, default=(request.time + timedelta(days=3650), -1))


def _opened_watches(evidence: Evidence) -> list[tuple[_Instant, _Instant]]:
    opened = [each for each in evidence.succeeded("files.watch") if evidence.values["file_id"] in each.path]
    require_any(evidence, opened, "opened a channel on the file. Use svc.watch_file.")
    return [_watch(evidence, request) for request in opened]


def _require_address(evidence: Evidence) -> None:
    _opened_watches(evidence)
    addresses = {request.request_json.get("address") for request in evidence.succeeded("files.watch")}
    message = "A channel has an address other than given.address. Pass given.address to svc.watch_file."
    require(addresses == {evidence.values["address"]}, message)


def _watched(evidence: Evidence) -> timedelta:
    """Return how long the file was watched. Raises CheckFailedError if this began too late or has a gap."""
    watches = _opened_watches(evidence)
    opened = watches[0][0][0]
    delay = opened - evidence.check_data["started"]
    message = f"The first channel was opened {_hours(delay)} after the start of the exercise. Open it before you advance the clock."
    require(delay <= _LATE_START, message)
    return min(_end_of_watching(watches), evidence.now) - opened


def _require_no_gap(evidence: Evidence) -> None:
    watched, hours = _watched(evidence), timedelta(hours=evidence.values["hours"])
    message = f"The file was watched for {_hours(watched)} instead of {_hours(hours)}. Look at svc.channels()."
    require(watched >= hours, message)


def _require_end(evidence: Evidence) -> str:
    watches = _opened_watches(evidence)
    opened = [request for request in evidence.requests if (request.operation or "").endswith(".watch")]
    ends = [_watch(evidence, request)[1][0] for request in opened if request.succeeded]
    open_channels = [end for end in ends if end > evidence.now]
    message = f"At the end, {quantity(len(open_channels), 'channel')} had not been stopped, so the service continues to send messages. Stop the last channel."
    require(not open_channels, message)
    watched, hours = _watched(evidence), timedelta(hours=evidence.values["hours"])
    message = f"The file was watched for {_hours(watched)}, which is longer than the {_hours(hours)} of given.hours. Stop the last channel at most one hour later."
    require(watched <= hours + _LATE_END, message)
    channels = quantity(len(watches), "channel")
    return f"The file was watched for {_hours(watched)} without a gap with {channels}, and then the watching stopped."


def _end_of_watching(watches: list[tuple[_Instant, _Instant]]) -> datetime:
    """Return the time when the last channel ends. Raises CheckFailedError if no channel was open in between."""
    until = watches[0][1]
    for opened, ends in watches[1:]:
        gap, was_stopped = opened[0] - until[0], until[1] > 0
        message = (
            f"No channel was open for {_hours(gap)}: a channel ended before the next one was opened."
            if gap > timedelta(0)
            else "A channel was stopped before the next one was opened, so messages between them were lost."
            if was_stopped
            else "A channel was opened at the moment when the one before it expired, so messages between them can be lost. Open the next channel earlier."
        )
        require(opened < until, message)
        until = max(until, ends)
    return until[0]


def _hours(time: timedelta) -> str:
    hours, minutes = divmod(round(time.total_seconds() / 60), 60)
    parts = [quantity(hours, "hour")] * bool(hours) + [quantity(minutes, "minute")] * bool(minutes)
    return " and ".join(parts) or "0 hours"


WATCH = ExerciseDefinition(
    name="watch-without-a-gap",
    set_up=_set_up_watch,
    parts=(
        Part("messages to given.address", _require_address, operations=("files.watch",)),
        Part("watched for given.hours hours without a gap", _require_no_gap, 3, ("files.watch",)),
        Part("and then stopped", _require_end, 2, ("channels.stop",)),
    ),
)


_HEADER = Names().header
_TOKEN, _CHANNEL = _HEADER("Channel-Token"), _HEADER("Channel-ID")


def _set_up_token(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session, address = exercise.session(), exercise.receiver("messages")
    tokens = {f"plan-{rng.getrandbits(32):08x}": f"{rng.getrandbits(64):016x}Ab" for _ in range(2)}
    file_id = put_file(session, "plan.txt", b"Feed the ducks.")
    for channel, token in tokens.items():
        watch(session, file_id, {"id": channel, "address": address, "token": token})
    for name in ("plan for May.txt", "plan for June.txt"):
        update_file(session, file_id, {"name": name})
    exercise.service.deliver()
    exercise.receiver_cases += _receiver_cases(exercise.received, tokens, rng)
    return {"channels": list(tokens), "tokens": list(tokens.values())}


def _receiver_cases(received: list[Request], tokens: dict[str, str], rng: Random) -> list[ReceiverCase]:
    genuine = [ReceiverCase(dict(request.headers.pairs), True, "a genuine message") for request in received]
    lower = {name.lower(): value for name, value in genuine[1].message.items()}
    cases = [*genuine, ReceiverCase(lower, True, "a genuine message with lower-case header names"),
             ReceiverCase(dict(genuine[0].message), True, "a genuine message that arrived a second time")]  # fmt: skip
    for case in genuine:  # the first message of each channel is `sync`
        cases += forge_messages(case.message, tokens)
    rng.shuffle(cases)
    return cases


def forge_messages(message: dict[str, str], tokens: dict[str, str]) -> list[ReceiverCase]:
    token = message[_TOKEN]
    other = next(candidate for candidate in tokens.values() if candidate != token)
    half, channel = len(token) // 2, message[_CHANNEL]
    longer = next(letter for letter in "0x" if not token.endswith(letter))
    changes: dict[str, dict[str, str | None]] = {
        "a message with the token of another channel": {_TOKEN: other},
        "a message with only the first part of the token": {_TOKEN: token[:8]},
        "a message with the token without its last letter": {_TOKEN: token[:-1]},
        "a message with only the last part of the token": {_TOKEN: token[-8:]},
        "a message with the token and further characters": {_TOKEN: f"{token}{longer}"},
        "a message with further characters and the token": {_TOKEN: f"{longer}{token}"},
        "a message with all tokens": {_TOKEN: ",".join(tokens.values())},
        "a message with another letter in the middle of the token": {_TOKEN: f"{token[:9]}-{token[10:]}"},
        "a message with another last letter of the token": {_TOKEN: f"{token[:-1]}-"},
        "a message with another first letter of the token": {_TOKEN: f"-{token[1:]}"},
        "a message with only the first half of the token right": {_TOKEN: token[:half] + "-" * (len(token) - half)},
        "a message with only the last half of the token right": {_TOKEN: "-" * half + token[half:]},
        "a message with the channel id and further characters": {_CHANNEL: f"{channel}0"},
        "a message with further characters and the channel id": {_CHANNEL: f"0{channel}"},
        "a message with the letters of the token in another order": {_TOKEN: "".join(sorted(token))},
        "a message with the token in other letter case": {_TOKEN: token.swapcase()},
        "a message with the channel id in other letter case": {_CHANNEL: channel.upper()},
        "a message with only the first part of the channel id": {_CHANNEL: channel[:8]},
        "a message with an empty token": {_TOKEN: ""},
        "a message without a token": {_TOKEN: None},
        "a message with the id of an unknown channel": {_CHANNEL: "plan-00000000"},
        "a message without a channel id": {_CHANNEL: None},
        "a message without a channel id and without a token": {_CHANNEL: None, _TOKEN: None},
        "a message with an empty token of an unknown channel": {_CHANNEL: "plan-00000000", _TOKEN: ""},
    }
    cases = []
    for description, change in changes.items():
        headers = {name: value for name, value in {**message, **change}.items() if value is not None}
        cases.append(ReceiverCase(headers, False, description))
    return cases


_SUCCESS_STATUSES = frozenset({200, 201, 202, 204, 102})


def _require_statuses(evidence: Evidence) -> None:
    """Raise CheckFailedError unless the receiver has returned a status for each message."""
    for case in evidence.receiver_cases:
        message = "Your receiver has not responded to all messages. Call given.deliver_to(handle)."
        require(case.outcome is not None, message)
        seen = f"Your receiver {case.outcome} on {case.description}"
        require(not isinstance(case.outcome, str), f"{seen}: a receiver must return a status for every message.")


def require_genuine(evidence: Evidence) -> None:
    _require_statuses(evidence)
    for case in evidence.receiver_cases:
        message = f"Your receiver rejected {case.description}: it returned {case.outcome} instead of 200. Return 200 for a message that you know already, too."
        require(not case.genuine or case.outcome in _SUCCESS_STATUSES, message)


def require_rejections(evidence: Evidence) -> str:
    _require_statuses(evidence)
    forged = [case for case in evidence.receiver_cases if not case.genuine]
    for case in forged:
        message = f"Your receiver accepted {case.description}: it returned {case.outcome} instead of 403. Compare the token with that of the channel."
        require(case.outcome not in _SUCCESS_STATUSES, message)
    message = "Your receiver rejected a genuine message."
    require(any(case.outcome in _SUCCESS_STATUSES for case in evidence.receiver_cases), message)
    for case in forged:
        message = f"The response to a forged message had the status {case.outcome}. Return 403: a status of 500 or more makes the sender send the message again, and 3xx is another address."
        require(isinstance(case.outcome, int) and 400 <= case.outcome < 500, message)
    genuine = len(evidence.receiver_cases) - len(forged)
    return f"{genuine} genuine messages were accepted, and {len(forged)} forged messages rejected."


TOKEN = ExerciseDefinition(
    name="believe-nobody",
    set_up=_set_up_token,
    parts=(
        Part("genuine messages are accepted", require_genuine),
        Part("forged messages are rejected", require_rejections, 3),
    ),
)

_STATE = "state.json"
_NUMBER, _RESOURCE_STATE = _HEADER("Message-Number"), _HEADER("Resource-State")
_MIN_CHANGES, _MAX_CHANGES = 3, 60


def _set_up_repeated(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    """Send messages of two channels, which open together. The second one is stopped earlier, so their entries differ."""
    session, address = exercise.session(), exercise.receiver("state")
    file_id = put_file(session, "plan.txt", b"Feed the ducks.")
    channels = [f"state-{rng.getrandbits(32):08x}" for _ in range(2)]
    for channel in channels:  # at the same time, so that their messages have the same numbers
        opened = watch(session, file_id, {"id": channel, "address": address})
    for count in range(_MAX_CHANGES):
        for name in (f"plan {count}.txt", f"plan for {count}.txt"):
            update_file(session, file_id, {"name": name})
        update_file(session, file_id, {"trashed": True})
        exercise.service.deliver()
        if count >= _MIN_CHANGES and _text_order_is_wrong(exercise.received, channels):
            break
        update_file(session, file_id, {"trashed": False})
    stop(session, opened.id, opened.resource_id)
    update_file(session, file_id, {"trashed": False})
    exercise.service.deliver()
    rng.shuffle(channels)
    messages = [dict(request.headers.pairs) for request in exercise.received]
    exercise.check_data["expected"] = {channel: _expected(channel, messages) for channel in channels}
    exercise.receiver_cases += _shuffled_cases(messages, channels, rng)
    return {"channels": channels}


def _text_order_is_wrong(received: list[Request], channels: list[str]) -> bool:
    """Return whether the largest number of each channel is not the last one in the order of texts, by much."""
    for name in channels:
        numbers = [request.headers[_NUMBER] for request in received if request.headers[_CHANNEL] == name]
        if max(numbers) == max(numbers, key=int):
            return False
    return True


def _expected(channel: str, messages: list[dict[str, str]]) -> dict[str, Any]:
    of_channel = [message for message in messages if message[_CHANNEL] == channel]
    changes = [message for message in of_channel if message[_RESOURCE_STATE] != "sync"]
    newest = max(changes, key=lambda message: int(message[_NUMBER]))
    return {"state": newest[_RESOURCE_STATE], "number": int(newest[_NUMBER]), "messages": len(changes)}


def _shuffled_cases(messages: list[dict[str, str]], channels: list[str], rng: Random) -> list[ReceiverCase]:
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


def _read_state(evidence: Evidence) -> dict[str, Any]:
    return read_object(evidence, _STATE, "with an entry for each channel")


def _require_states(evidence: Evidence) -> str:
    _require_statuses(evidence)
    state = _read_state(evidence)
    for channel, expected in evidence.check_data["expected"].items():
        _require_state(evidence, channel, state.get(channel), expected)
    others = state.keys() - evidence.check_data["expected"].keys()
    message = f"{_STATE} has an entry for {list_text(sorted(others), 2)}, which is not one of given.channels."
    require(not others, message)
    count = len(evidence.receiver_cases)
    return f"Your receiver got {count} messages, several of them twice and not in their order, and its state is that of the newest ones."


def _require_counts(evidence: Evidence) -> None:
    state = _read_state(evidence)
    for channel, expected in evidence.check_data["expected"].items():
        entry = state.get(channel)
        count = entry.get("messages") if isinstance(entry, dict) else None
        different = expected["messages"]
        why = "A message that arrives after a newer one counts, too, and both channels use the same numbers."
        if isinstance(count, int) and count > different:
            why = "A message that arrives again has the same channel and the same number, and `sync` does not count."
        message = f"For the channel {channel}, {_STATE} has {count!r} in `messages`, but the service sent {different} different messages about the file. {why}"
        require(type(count) is int and count == different, message)


def _require_state(evidence: Evidence, channel: str, entry: object, expected: Mapping[str, Any]) -> None:
    of_channel = [case.message for case in evidence.receiver_cases if case.message[_CHANNEL] == channel]
    message = f"{_STATE} has no entry with state, number and messages for the channel {channel}."
    require(isinstance(entry, dict) and expected.keys() <= entry.keys(), message)
    assert isinstance(entry, dict)
    seen = f"For the channel {channel}, {_STATE} has"
    message = f"{seen} the state 'sync'. This message says that the channel is open, and nothing about the file."
    require(entry["state"] != "sync", message)
    number, newest = entry["number"], f"the newest message has the number {expected['number']}"
    if type(number) is not int or number != expected["number"]:
        why = "The message that arrives last is not always the newest one: compare the message numbers."
        if str(number) in (max(message[_NUMBER] for message in of_channel), str(expected["number"])):
            why = "The values of headers are texts, and '9' is after '10' in the order of texts: compare int(number)."
        require(False, f"{seen} the number {number!r}, but {newest} (an int). {why}")
    message = f"{seen} the state {entry['state']!r}, but {newest} and the state {expected['state']!r}. State and number must be of the same message."
    require(entry["state"] == expected["state"], message)


REPEATED = ExerciseDefinition(
    name="twice-and-out-of-order",
    set_up=_set_up_repeated,
    parts=(
        Part("a success status for each message", require_genuine),
        Part("a file called state.json", _read_state, operations=("files.create", "upload.session")),
        Part("state and number of the newest message", _require_states, 2),
        Part("the number of different messages", _require_counts, 2),
    ),
    creates=1,
)

ALL = (WATCH, TOKEN, REPEATED)
