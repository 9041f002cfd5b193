"""Exercises about notifications: a watch without a gap, and a receiver that believes nobody."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from ...client.files import update_file
from ...core.clock import from_millis
from ...core.names import Names
from ..definition import Definition
from ..exercise_service import Trial
from ..verdict import need
from .content import put_file
from .words import counted

if TYPE_CHECKING:
    from ...core.http.messages import Request
    from ..definition import Value
    from ..evidence import Evidence, Seen
    from ..exercise_service import ExerciseService

# -- watch-without-a-gap


def _lay_out_watch(world: ExerciseService, dice: Random) -> dict[str, Value]:
    file_id = put_file(world.session(), "plan.txt", b"Feed the ducks.")
    world.kept["begun"] = world.clock.now()
    return {"file_id": file_id, "address": world.receiver("plan"), "hours": dice.randrange(30, 46)}


@dataclass(frozen=True, slots=True)
class Watch:
    """One channel: opened by a request at a time, and stopped by another, or ended by itself."""

    channel: str
    n: int
    opened: datetime
    stopped_n: int | None
    ends: datetime


def _watches(saw: Evidence) -> list[Watch]:
    return [_watch(saw, one) for one in saw.of("files.watch") if one.worked and saw.given["file_id"] in one.path]


def _watch(saw: Evidence, one: Seen) -> Watch:
    channel, expiration = str(one.result.get("id")), _expiration(one)
    stop = next((x for x in saw.of("channels.stop") if x.worked and x.body.get("id") == channel), None)
    ends = min(filter(None, (expiration, stop.time if stop else None)), default=one.time + timedelta(days=3650))
    return Watch(channel, one.n, one.time, stop.n if stop and ends == stop.time else None, ends)


def _expiration(one: Seen) -> datetime | None:
    found = one.result.get("expiration")
    return None if found is None else from_millis(int(found))


def _check_watch(saw: Evidence) -> str:
    asked = f"The service saw {counted(len(saw.requests), 'request')}"
    watches, hours = _watches(saw), timedelta(hours=saw.given["hours"])
    need(watches, f"{asked}, and none of them opened a channel on the file.")
    strange = [one for one in saw.of("files.watch") if one.worked and one.body.get("address") != saw.given["address"]]
    need(not strange, "A channel was opened to another address than given.address.")
    watched = min(_without_gap(watches), saw.now) - watches[0].opened
    need(watched >= hours, f"The file was watched for {_hours(watched)}; {_hours(hours)} were wanted.")
    alive = [one for one in watches if one.ends > saw.now]
    need(not alive, f"{counted(len(alive), 'channel')} still open: the service goes on sending messages.")
    need(any(one.stopped_n for one in watches), "No channel was stopped: the last one ended when its time was over.")
    channels = counted(len(watches), "channel")
    return f"The file was watched for {_hours(watched)} without a gap, over {channels}, and then no more."


def _without_gap(watches: list[Watch]) -> datetime:
    """Until when somebody watched. Raises NotYet where for a while nobody did."""
    until = watches[0].ends
    for before, after in itertools.pairwise(watches):
        gap = (
            f"Nobody watched the file for {_hours(after.opened - until)}: one channel ended before the next was opened."
        )
        need(after.opened <= until, gap)
        early = before.stopped_n is not None and before.stopped_n < after.n and before.ends == until
        need(not early, "A channel was stopped before the next one was open: in between nobody watched the file.")
        until = max(until, after.ends)
    return until


def _hours(length: timedelta) -> str:
    return f"{length.total_seconds() / 3600:.3g} hours"


WATCH = Definition(
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
    lay_out=_lay_out_watch,
    check=_check_watch,
)

# -- believe-nobody

_HEADER = Names().header
_TOKEN, _CHANNEL = _HEADER("Channel-Token"), _HEADER("Channel-ID")


def _lay_out_token(world: ExerciseService, dice: Random) -> dict[str, Value]:
    session, address = world.session(), world.receiver("messages")
    tokens = {f"plan-{dice.getrandbits(32):08x}": f"{dice.getrandbits(64):016x}Ab" for _ in range(2)}
    file_id = put_file(session, "plan.txt", b"Feed the ducks.")
    for channel, token in tokens.items():
        order: Any = {"id": channel, "type": "web_hook", "address": address, "token": token}
        session.call("POST", session.names.path("files", file_id, "watch"), body=order)
    for name in ("plan for May.txt", "plan for June.txt"):
        update_file(session, file_id, {"name": name})
    world.service.deliver()
    world.trials += _trials(world.received, tokens, dice)
    return {"channels": list(tokens), "tokens": list(tokens.values())}


def _trials(received: list[Request], tokens: dict[str, str], dice: Random) -> list[Trial]:
    genuine = [Trial(dict(one.headers.pairs), True, "a genuine message") for one in received]
    lower = {name.lower(): value for name, value in genuine[1].message.items()}
    every = [*genuine, Trial(lower, True, "a genuine message whose header names are in small letters"),
             Trial(dict(genuine[0].message), True, "a genuine message that came a second time")]  # fmt: skip
    for one in genuine[-2:]:
        every += _forged(one.message, tokens)
    dice.shuffle(every)
    return every


def _forged(message: dict[str, str], tokens: dict[str, str]) -> list[Trial]:
    token = message[_TOKEN]
    other = next(one for one in tokens.values() if one != token)
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
    return [Trial(_with(message, change), False, about) for about, change in changes.items()]


def _with(message: dict[str, str], change: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in (message | change).items() if value is not None}


_DELIVERED = frozenset({200, 201, 202, 204, 102})


def _check_token(saw: Evidence) -> str:
    for one in saw.trials:
        need(one.answer is not None, "There are messages that no receiver of yours has answered.")
        fell = isinstance(one.answer, str)
        need(not fell, f"Your receiver {one.answer} on {one.about}: a receiver answers a status, whatever comes.")
    for one in saw.trials:
        need(one.genuine or one.answer not in _DELIVERED, f"Your receiver took {one.about}: it answered {one.answer}.")
        need(
            not one.genuine or one.answer in _DELIVERED, f"Your receiver refused {one.about}: it answered {one.answer}."
        )
    forged = sum(1 for one in saw.trials if not one.genuine)
    need(not any(one.answer and int(one.answer) >= 500 for one in saw.trials), _AGAIN)
    return f"{len(saw.trials) - forged} genuine messages were taken, and {forged} forged ones refused."


_AGAIN = "A forged message was answered with a status of 500 or more, so that a sender tries it again."

TOKEN = Definition(
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
    lay_out=_lay_out_token,
    check=_check_token,
    answer=(
        "def handle(headers):\n"
        '    """200 for a genuine message, 403 for every other one."""\n'
        "    # Your code here, and then: given.deliver_to(handle)"
    ),
)

ALL = (WATCH, TOKEN)
