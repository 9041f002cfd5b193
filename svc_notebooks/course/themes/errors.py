"""Exercises about the rate limit, and about telling temporary errors from permanent errors."""

from __future__ import annotations

import itertools
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from ...client.files import create_file, share_file
from ...core.http.backoff import parse_retry_after
from ..check_result import require
from ..definition import ExerciseDefinition
from .shared_checks import list_text, quantity

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


def _set_up_often(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    exercise.service.limit(None, rng.randrange(2, 5), per=rng.randrange(20, 90))
    first = rng.randrange(100, 900)
    return {"names": [f"ring {first + n}" for n in range(rng.randrange(9, 14))]}


def _check_often(evidence: Evidence) -> str:
    created = evidence.requests_of("files.create")
    require(created, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates a file.")
    refused = [request for request in evidence.requests if request.status == 403]
    for request in refused:
        _require_wait(evidence, request)
    names = [file["name"] for file in evidence.files()]
    missing = [name for name in evidence.values["names"] if name not in names]
    require(
        not missing,
        f"{quantity(len(missing), 'file')} of {len(evidence.values['names'])} were never made: {list_text(missing)}.",
    )
    duplicates = sorted({name for name in names if names.count(name) > 1})
    created_count = sum(1 for request in created if request.succeeded)
    require(not duplicates, f"There is more than one file called {list_text(duplicates)}.")
    require(
        created_count == len(evidence.values["names"]),
        f"The service has made {created_count} files for {len(evidence.values['names'])} names.",
    )
    require(refused, "The service never had to refuse anything: the limit was not met.")
    return f"The service refused {quantity(len(refused), 'request')}, and each time it was left alone as long as it had asked."


def _require_wait(evidence: Evidence, refused: RecordedRequest) -> None:
    retry_after = parse_retry_after(refused.response_headers.get("Retry-After"), refused.time) or 0.0
    following = next((request for request in evidence.requests if request.n > refused.n), None)
    if following is None:
        return
    waited = (following.time - refused.time).total_seconds()
    require(
        waited >= retry_after,
        f"After a 403 that asked for {retry_after:g} seconds, the next request came after {waited:g} seconds.",
    )
    require(
        waited <= 2 * retry_after + 1,
        f"After a 403 that asked for {retry_after:g} seconds, nothing came for {waited:g} seconds: the wait was a guess.",
    )


OFTEN = ExerciseDefinition(
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
    set_up=_set_up_often,
    check=_check_often,
    by_hand=True,
)


def _set_up_later(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    ada, bob = exercise.session(), exercise.session("bob@svc.example")
    own = [str(create_file(ada, {"name": f"nest {n}"})["id"]) for n in range(5)]
    hidden = str(create_file(bob, {"name": "Bob's"})["id"])
    read_only = str(create_file(bob, {"name": "Bob's, to be read"})["id"])
    share_file(bob, read_only, {"type": "user", "role": "reader", "emailAddress": exercise.service.policy.first_user})
    broken = rng.sample(own, 3)
    actions: list[dict[str, object]] = [{"status": 503}, {"status": 500}, {"reset": "before"}]
    steps = [
        {"match": {"method": "PATCH", "path": f"*{file_id}*"}, "times": rng.randrange(1, 4), "action": action}
        for file_id, action in zip(broken, actions, strict=True)
    ]
    exercise.service.add_faults({"steps": steps})  # type: ignore[dict-item]
    exercise.check_data.update(own=own, never=[hidden, read_only])
    file_ids = [*own, hidden, read_only]
    rng.shuffle(file_ids)
    return {"file_ids": file_ids}


def _check_later(evidence: Evidence) -> str:
    updates = evidence.requests_of("files.update")
    require(updates, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them changes a file.")
    for file_id in evidence.values["file_ids"]:
        attempts = [request for request in updates if request.path.endswith(f"/{file_id}")]
        require(attempts, "There is a file in given.file_ids that the service was never asked to change.")
        _require_single_attempt(attempts) if file_id in evidence.check_data["never"] else _require_success(attempts)
    starred = sum(1 for file in evidence.files() if file.get("starred"))
    require(
        starred == len(evidence.check_data["own"]),
        f"{quantity(starred, 'file')} of {len(evidence.check_data['own'])} have a star.",
    )
    return "What passes by itself was tried again, after a wait; what is refused for good was asked once."


def _require_single_attempt(attempts: list[RecordedRequest]) -> None:
    first = attempts[0].status
    require(
        len(attempts) == 1,
        f"A change that was answered {first} was tried {len(attempts)} times; the answer cannot change.",
    )


def _require_success(attempts: list[RecordedRequest]) -> None:
    last = attempts[-1]
    outcome = f"was answered {last.status}" if last.answered else "broke the line"
    require(last.succeeded, f"The last try to change one of the files {outcome}, and it was given up.")
    for request, following in itertools.pairwise(attempts):
        require(not request.succeeded, "A change that had worked was asked for again.")
        require(
            following.time - request.time >= timedelta(seconds=1),
            "A failed change was tried again without a second's wait.",
        )


LATER = ExerciseDefinition(
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
    set_up=_set_up_later,
    check=_check_later,
    by_hand=True,
)

ALL = (OFTEN, LATER)
