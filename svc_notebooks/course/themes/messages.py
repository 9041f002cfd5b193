"""Exercises about watching a file without a gap, and about a receiver that verifies the tokens of notifications."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from ...client.files import update_file
from ...core.brand_names import Names
from ...core.clock import from_millis
from ..definition import ExerciseDefinition, Part, quantity, require
from ..exercise_service import ReceiverCase
from .content import put_file

if TYPE_CHECKING:
    from ...core.http.messages import Request
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


def _set_up_watch(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    file_id = put_file(exercise.session(), "plan.txt", b"Feed the ducks.")
    exercise.check_data["started"] = exercise.clock.now()
    return {"file_id": file_id, "address": exercise.receiver("plan"), "hours": rng.randrange(50, 80)}


_LATE_START, _LATE_END = timedelta(minutes=1), timedelta(hours=1)
"""The longest time by which a student may begin or stop too late."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A notification channel on a file, with the times and request numbers of its beginning and its end."""

    channel: str
    n: int
    opened: datetime
    stopped_n: int | None
    ends: datetime


def _watch(evidence: Evidence, request: RecordedRequest) -> Watch:
    channel, millis = str(request.request_json.get("id")), request.response_json.get("expiration")
    expiration = None if millis is None else from_millis(int(millis))
    stops = [stop for stop in evidence.succeeded("channels.stop") if stop.request_json.get("id") == channel]
    stop = stops[0] if stops else None
    ends = min(filter(None, (expiration, stop.time if stop else None)), default=request.time + timedelta(days=3650))
    return Watch(channel, request.n, request.time, stop.n if stop and ends == stop.time else None, ends)


def _opened_watches(evidence: Evidence) -> list[Watch]:
    opened = [each for each in evidence.succeeded("files.watch") if evidence.values["file_id"] in each.path]
    received = quantity(len(evidence.requests), "request")
    require(
        opened, f"The service received {received}, and none of them opened a channel on the file. Use svc.watch_file."
    )
    return [_watch(evidence, request) for request in opened]


def _require_address(evidence: Evidence) -> None:
    _opened_watches(evidence)
    addresses = {request.request_json.get("address") for request in evidence.succeeded("files.watch")}
    message = "A channel has an address other than given.address. Pass given.address to svc.watch_file."
    require(addresses == {evidence.values["address"]}, message)


def _watched(evidence: Evidence) -> timedelta:
    """Return how long the file was watched. Raises CheckFailedError if this began too late or has a gap."""
    watches = _opened_watches(evidence)
    delay = watches[0].opened - evidence.check_data["started"]
    require(
        delay <= _LATE_START,
        f"The first channel was opened {_hours(delay)} after the start of the exercise. Open it before you advance the clock.",
    )
    return min(_end_of_watching(watches), evidence.now) - watches[0].opened


def _require_no_gap(evidence: Evidence) -> None:
    watched, hours = _watched(evidence), timedelta(hours=evidence.values["hours"])
    require(
        watched >= hours,
        f"The file was watched for {_hours(watched)} instead of {_hours(hours)}. Look at svc.channels().",
    )


def _require_end(evidence: Evidence) -> str:
    watches = _opened_watches(evidence)
    opened = [request for request in evidence.requests if (request.operation or "").endswith(".watch")]
    all_watches = [_watch(evidence, request) for request in opened if request.succeeded]
    open_channels = [watch for watch in all_watches if watch.ends > evidence.now]
    require(
        not open_channels,
        f"At the end, {quantity(len(open_channels), 'channel')} had not been stopped, so the service continues to send messages."
        " Stop the last channel.",
    )
    watched, hours = _watched(evidence), timedelta(hours=evidence.values["hours"])
    require(
        watched <= hours + _LATE_END,
        f"The file was watched for {_hours(watched)}, which is longer than the {_hours(hours)} of given.hours. Stop the last"
        " channel at most one hour later.",
    )
    channels = quantity(len(watches), "channel")
    return f"The file was watched for {_hours(watched)} without a gap with {channels}, and then the watching stopped."


def _end_of_watching(watches: list[Watch]) -> datetime:
    """Return the time when the last channel ends. Raises CheckFailedError if no channel was open in between."""
    until = watches[0].ends
    for before, after in itertools.pairwise(watches):
        gap = f"No channel was open for {_hours(after.opened - until)}: a channel ended before the next one was opened."
        require(after.opened <= until, gap)
        early = before.stopped_n is not None and before.stopped_n < after.n and before.ends == until
        require(not early, "A channel was stopped before the next one was opened, so messages between them were lost.")
        still_open = any(watch.ends == until and (watch.stopped_n or 0) > after.n for watch in watches)
        require(
            after.opened < until or still_open,
            "A channel was opened at the moment when the one before it expired, so messages between them can be lost. Open the"
            " next channel earlier.",
        )
        until = max(until, after.ends)
    return until


def _hours(time: timedelta) -> str:
    hours, minutes = divmod(round(time.total_seconds() / 60), 60)
    return quantity(hours, "hour") + (f" and {quantity(minutes, 'minute')}" if minutes else "")


WATCH = ExerciseDefinition(
    name="watch-without-a-gap",
    theme="messages",
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
        channel_body: Any = {"id": channel, "type": "web_hook", "address": address, "token": token}
        session.call("POST", session.names.path("files", file_id, "watch"), body=channel_body)
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
        cases += _forge_messages(case.message, tokens)
    rng.shuffle(cases)
    return cases


def _forge_messages(message: dict[str, str], tokens: dict[str, str]) -> list[ReceiverCase]:
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
    cases: list[ReceiverCase] = []
    for description, change in changes.items():
        headers = {name: value for name, value in (message | change).items() if value is not None}
        cases.append(ReceiverCase(headers, False, description))
    return cases


SUCCESS_STATUSES = frozenset({200, 201, 202, 204, 102})


def require_statuses(evidence: Evidence) -> None:
    """Raise CheckFailedError unless the receiver has returned a status for each message."""
    for case in evidence.receiver_cases:
        responded = case.outcome is not None
        require(responded, "Your receiver has not responded to all messages. Call given.deliver_to(handle).")
        require(
            not isinstance(case.outcome, str),
            f"Your receiver {case.outcome} on {case.description}: a receiver must return a status for every message.",
        )


def _require_genuine(evidence: Evidence) -> None:
    require_statuses(evidence)
    for case in evidence.receiver_cases:
        require(
            not case.genuine or case.outcome in SUCCESS_STATUSES,
            f"Your receiver rejected {case.description}: it returned {case.outcome} instead of 200.",
        )


def _require_rejections(evidence: Evidence) -> str:
    require_statuses(evidence)
    forged = [case for case in evidence.receiver_cases if not case.genuine]
    for case in forged:
        require(
            case.outcome not in SUCCESS_STATUSES,
            f"Your receiver accepted {case.description}: it returned {case.outcome} instead of 403. Compare the token with that of"
            " the channel.",
        )
    require(
        any(case.outcome in SUCCESS_STATUSES for case in evidence.receiver_cases),
        "Your receiver rejected a genuine message.",
    )
    for case in forged:
        require(
            isinstance(case.outcome, int) and 400 <= case.outcome < 500,
            f"The response to a forged message had the status {case.outcome}. Return 403: a status of 500 or more makes the"
            " sender send the message again, and 3xx is another address.",
        )
    genuine = len(evidence.receiver_cases) - len(forged)
    return f"{genuine} genuine messages were accepted, and {len(forged)} forged messages rejected."


TOKEN = ExerciseDefinition(
    name="believe-nobody",
    theme="messages",
    set_up=_set_up_token,
    parts=(
        Part("genuine messages are accepted", _require_genuine),
        Part("forged messages are rejected", _require_rejections, 3),
    ),
    answer=(
        "def handle(headers):\n"
        '    """Return 200 for a genuine message, and 403 for every other message."""\n'
        "    # Your code here, and then: given.deliver_to(handle)"
    ),
)

ALL = (WATCH, TOKEN)
