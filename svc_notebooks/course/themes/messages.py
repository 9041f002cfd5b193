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
from ..check_result import require
from ..definition import ExerciseDefinition
from ..exercise_service import ReceiverCase
from .content import put_file
from .shared_checks import quantity

if TYPE_CHECKING:
    from ...core.http.messages import Request
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


def _set_up_watch(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    file_id = put_file(exercise.session(), "plan.txt", b"Feed the ducks.")
    exercise.check_data["started"] = exercise.clock.now()
    return {"file_id": file_id, "address": exercise.receiver("plan"), "hours": rng.randrange(30, 46)}


@dataclass(frozen=True, slots=True)
class Watch:
    """A notification channel on a file, with the times and request numbers of its beginning and its end."""

    channel: str
    n: int
    opened: datetime
    stopped_n: int | None
    ends: datetime


def _watches(evidence: Evidence) -> list[Watch]:
    return [
        _watch(evidence, request)
        for request in evidence.requests_of("files.watch")
        if request.succeeded and evidence.values["file_id"] in request.path
    ]


def _watch(evidence: Evidence, request: RecordedRequest) -> Watch:
    channel, millis = str(request.response_json.get("id")), request.response_json.get("expiration")
    expiration = None if millis is None else from_millis(int(millis))
    stop = next(
        (
            stop_request
            for stop_request in evidence.requests_of("channels.stop")
            if stop_request.succeeded and stop_request.request_json.get("id") == channel
        ),
        None,
    )
    ends = min(filter(None, (expiration, stop.time if stop else None)), default=request.time + timedelta(days=3650))
    return Watch(channel, request.n, request.time, stop.n if stop and ends == stop.time else None, ends)


def _check_watch(evidence: Evidence) -> str:
    request_count = f"The service saw {quantity(len(evidence.requests), 'request')}"
    watches, hours = _watches(evidence), timedelta(hours=evidence.values["hours"])
    require(watches, f"{request_count}, and none of them opened a channel on the file.")
    other_addresses = [
        request
        for request in evidence.requests_of("files.watch")
        if request.succeeded and request.request_json.get("address") != evidence.values["address"]
    ]
    require(not other_addresses, "A channel was opened to another address than given.address.")
    watched = min(_end_of_watching(watches), evidence.now) - watches[0].opened
    require(watched >= hours, f"The file was watched for {_hours(watched)}; {_hours(hours)} were wanted.")
    open_channels = [watch for watch in watches if watch.ends > evidence.now]
    require(
        not open_channels,
        f"{quantity(len(open_channels), 'channel')} still open: the service goes on sending messages.",
    )
    require(
        any(watch.stopped_n for watch in watches), "No channel was stopped: the last one ended when its time was over."
    )
    channels = quantity(len(watches), "channel")
    return f"The file was watched for {_hours(watched)} without a gap, over {channels}, and then no more."


def _end_of_watching(watches: list[Watch]) -> datetime:
    """Return the time when the last channel ends. Raises CheckFailedError if no channel was open in between."""
    until = watches[0].ends
    for before, after in itertools.pairwise(watches):
        gap = (
            f"Nobody watched the file for {_hours(after.opened - until)}: one channel ended before the next was opened."
        )
        require(after.opened <= until, gap)
        early = before.stopped_n is not None and before.stopped_n < after.n and before.ends == until
        require(not early, "A channel was stopped before the next one was open: in between nobody watched the file.")
        until = max(until, after.ends)
    return until


def _hours(length: timedelta) -> str:
    return f"{length.total_seconds() / 3600:.3g} hours"


WATCH = ExerciseDefinition(
    name="watch-without-a-gap",
    theme="messages",
    title="Watch without a gap",
    text=(
        "Watch the file `given.file_id` for `given.hours` hours from now, with messages to `given.address`, and then stop."
        " A channel lives for a day at most, whatever you ask for, so one is not enough; and there must be no moment in"
        ' which nobody watches. Time passes with `given.clock.advance("1h")`.'
    ),
    hints=(
        "`svc.watch_file(file, address, expires_in=...)`: look at the expiration in its answer, not at what you asked for.",
        "Which comes first: opening the next channel, or the end of the old one?",
        "`svc.renew_channel` opens another one and stops the old one then. After the last hour, `svc.stop_channel`.",
    ),
    set_up=_set_up_watch,
    check=_check_watch,
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
    cases = [*genuine, ReceiverCase(lower, True, "a genuine message whose header names are in small letters"),
             ReceiverCase(dict(genuine[0].message), True, "a genuine message that came a second time")]  # fmt: skip
    for case in genuine[-2:]:
        cases += _forge_messages(case.message, tokens)
    rng.shuffle(cases)
    return cases


def _forge_messages(message: dict[str, str], tokens: dict[str, str]) -> list[ReceiverCase]:
    token = message[_TOKEN]
    other = next(candidate for candidate in tokens.values() if candidate != token)
    changes: dict[str, dict[str, str | None]] = {
        "a message with the token of another channel": {_TOKEN: other},
        "a message with a token that only begins like the right one": {_TOKEN: token[:8]},
        "a message with a token that goes on behind the right one": {_TOKEN: f"{token}0"},
        "a message whose token has other capitals": {_TOKEN: token.swapcase()},
        "a message with an empty token": {_TOKEN: ""},
        "a message without a token": {_TOKEN: None},
        "a message of a channel that nobody has opened": {_CHANNEL: "plan-00000000"},
        "a message without a channel, and without a token": {_CHANNEL: None, _TOKEN: None},
    }
    cases: list[ReceiverCase] = []
    for description, change in changes.items():
        headers = {name: value for name, value in (message | change).items() if value is not None}
        cases.append(ReceiverCase(headers, False, description))
    return cases


_SUCCESS_STATUSES = frozenset({200, 201, 202, 204, 102})


def _check_token(evidence: Evidence) -> str:
    for case in evidence.receiver_cases:
        require(case.outcome is not None, "There are messages that no receiver of yours has answered.")
        raised = isinstance(case.outcome, str)
        require(
            not raised,
            f"Your receiver {case.outcome} on {case.description}: a receiver answers a status, whatever comes.",
        )
    for case in evidence.receiver_cases:
        require(
            case.genuine or case.outcome not in _SUCCESS_STATUSES,
            f"Your receiver took {case.description}: it answered {case.outcome}.",
        )
        require(
            not case.genuine or case.outcome in _SUCCESS_STATUSES,
            f"Your receiver refused {case.description}: it answered {case.outcome}.",
        )
    forged_count = sum(1 for case in evidence.receiver_cases if not case.genuine)
    require(not any(case.outcome and int(case.outcome) >= 500 for case in evidence.receiver_cases), _RETRIED)
    return f"{len(evidence.receiver_cases) - forged_count} genuine messages were taken, and {forged_count} forged ones refused."


_RETRIED = "A forged message was answered with a status of 500 or more, so that a sender tries it again."

TOKEN = ExerciseDefinition(
    name="believe-nobody",
    theme="messages",
    title="Believe nobody",
    text=(
        "Your receiver stands in the open, and whoever finds its address can send it something. You have opened the"
        " channels `given.channels`, each with the token at the same place of `given.tokens`. Write a function"
        " `handle(headers)` that returns 200 for a genuine message, and 403 for everything else; then hand it to"
        " `given.deliver_to(handle)`, which lets all sorts of messages arrive."
    ),
    hints=(
        "`04-notifications` shows the headers of a message: `X-Svc-Channel-ID` and `X-Svc-Channel-Token` are two of them.",
        "Which token is right depends on the channel. `dict(zip(given.channels, given.tokens))` knows.",
        "`headers.get(name)` is None where there is no such header, and names have no capitals that matter. A channel that"
        " is not yours has no token either: is None equal to None?",
    ),
    set_up=_set_up_token,
    check=_check_token,
    answer=(
        "def handle(headers):\n"
        '    """200 for a genuine message, 403 for every other one."""\n'
        "    # Your code here, and then: given.deliver_to(handle)"
    ),
)

ALL = (WATCH, TOKEN)
