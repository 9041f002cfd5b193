"""Exercises about what goes wrong: too many requests, and which errors pass."""

from __future__ import annotations

import itertools
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from ...client.files import create_file, share_file
from ...core.http.retry import parse_retry_after
from ..definition import Definition
from ..verdict import need
from .words import counted, listed

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, Seen
    from ..exercise_service import ExerciseService

# -- too-often


def _lay_out_often(world: ExerciseService, dice: Random) -> dict[str, Value]:
    world.service.limit(None, dice.randrange(2, 5), per=dice.randrange(20, 90))
    first = dice.randrange(100, 900)
    return {"names": [f"ring {first + n}" for n in range(dice.randrange(9, 14))]}


def _check_often(saw: Evidence) -> str:
    created = saw.of("files.create")
    need(created, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates a file.")
    refused = [one for one in saw.requests if one.status == 403]
    for one in refused:
        _waited(saw, one)
    names = [one["name"] for one in saw.files()]
    missing = [name for name in saw.given["names"] if name not in names]
    need(
        not missing, f"{counted(len(missing), 'file')} of {len(saw.given['names'])} were never made: {listed(missing)}."
    )
    twice = sorted({name for name in names if names.count(name) > 1})
    made = sum(1 for one in created if one.worked)
    need(not twice, f"There is more than one file called {listed(twice)}.")
    need(made == len(saw.given["names"]), f"The service has made {made} files for {len(saw.given['names'])} names.")
    need(refused, "The service never had to refuse anything: the limit was not met.")
    return f"The service refused {counted(len(refused), 'request')}, and each time it was left alone as long as it had asked."


def _waited(saw: Evidence, refused: Seen) -> None:
    asked = parse_retry_after(refused.told.get("Retry-After"), refused.time) or 0.0
    following = next((one for one in saw.requests if one.n > refused.n), None)
    if following is None:
        return
    waited = (following.time - refused.time).total_seconds()
    need(
        waited >= asked,
        f"After a 403 that asked for {asked:g} seconds, the next request came after {waited:g} seconds.",
    )
    need(
        waited <= 2 * asked + 1,
        f"After a 403 that asked for {asked:g} seconds, nothing came for {waited:g} seconds: the wait was a guess.",
    )


OFTEN = Definition(
    name="too-often",
    theme="trouble",
    title="Too often",
    text=(
        "Make an empty file for each name in `given.names`, with `given.send`. This service lets you ask only a few"
        " times and refuses the rest for a while: it says for how long. Wait so long, no longer than twice that, and"
        " lose no name. Waiting is `given.clock.advance(seconds)`."
    ),
    hints=(
        'One file is `given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"}, body)`, with'
        ' `json.dumps({"name": name}).encode()` as the body. Look at the answer that is no 200.',
        "A 403 with the reason `userRateLimitExceeded` means *later*. Its header `Retry-After` has the seconds.",
        "A loop within the loop: send; while the status is 403, advance the clock by `int(answer.headers[...])` and send"
        " again.",
    ),
    lay_out=_lay_out_often,
    check=_check_often,
    by_hand=True,
)

# -- later-or-never


def _lay_out_later(world: ExerciseService, dice: Random) -> dict[str, Value]:
    ada, bob = world.session(), world.session("bob@svc.example")
    own = [str(create_file(ada, {"name": f"nest {n}"})["id"]) for n in range(5)]
    hidden = str(create_file(bob, {"name": "Bob's"})["id"])
    read_only = str(create_file(bob, {"name": "Bob's, to be read"})["id"])
    share_file(bob, read_only, {"type": "user", "role": "reader", "emailAddress": world.service.policy.first_user})
    broken = dice.sample(own, 3)
    actions: list[dict[str, object]] = [{"status": 503}, {"status": 500}, {"reset": "before"}]
    steps = [
        {"match": {"method": "PATCH", "path": f"*{one}*"}, "times": dice.randrange(1, 4), "action": action}
        for one, action in zip(broken, actions, strict=True)
    ]
    world.service.add_faults({"steps": steps})  # type: ignore[dict-item]
    world.kept.update(own=own, never=[hidden, read_only])
    every = [*own, hidden, read_only]
    dice.shuffle(every)
    return {"file_ids": every}


def _check_later(saw: Evidence) -> str:
    asked = saw.of("files.update")
    need(asked, f"The service saw {counted(len(saw.requests), 'request')}, and none of them changes a file.")
    for file_id in saw.given["file_ids"]:
        tries = [one for one in asked if one.path.endswith(f"/{file_id}")]
        need(tries, "There is a file in given.file_ids that the service was never asked to change.")
        _never_again(tries) if file_id in saw.kept["never"] else _until_it_works(tries)
    starred = sum(1 for one in saw.files() if one.get("starred"))
    need(starred == len(saw.kept["own"]), f"{counted(starred, 'file')} of {len(saw.kept['own'])} have a star.")
    return "What passes by itself was tried again, after a wait; what is refused for good was asked once."


def _never_again(tries: list[Seen]) -> None:
    first = tries[0].status
    need(len(tries) == 1, f"A change that was answered {first} was tried {len(tries)} times; the answer cannot change.")


def _until_it_works(tries: list[Seen]) -> None:
    last = tries[-1]
    how = f"was answered {last.status}" if last.answered else "broke the line"
    need(last.worked, f"The last try to change one of the files {how}, and it was given up.")
    for one, following in itertools.pairwise(tries):
        need(not one.worked, "A change that had worked was asked for again.")
        need(
            following.time - one.time >= timedelta(seconds=1),
            "A failed change was tried again without a second's wait.",
        )


LATER = Definition(
    name="later-or-never",
    theme="trouble",
    title="Later, or never",
    text=(
        "Give a star to the files in `given.file_ids`, with `given.send`. Some of these requests fail: a few in a way"
        " that passes, so that they are to be sent again, after a second at least (`given.clock.advance(1)`), until they"
        " work; others for good, and those nobody should send twice. The status tells which is which."
    ),
    hints=(
        'The request is `given.send("PATCH", f"/storage/v3/files/{file_id}", {"Content-Type": "application/json"},'
        " b'{\"starred\": true}')`.",
        "Whose fault is a 4xx, and whose a 5xx? And what does a `ConnectionError` say about the file?",
        "Setting a star twice does no harm, so a broken line may be treated like a 503.",
    ),
    lay_out=_lay_out_later,
    check=_check_later,
    by_hand=True,
)

ALL = (OFTEN, LATER)
