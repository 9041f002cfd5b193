"""Exercises about the rate limit, and about telling temporary errors from permanent errors."""

from __future__ import annotations

import itertools
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from ...client.files import create_file, share_file
from ...core.http.backoff import parse_retry_after
from ..definition import ExerciseDefinition, require
from .content import put_file
from .shared_checks import length, list_text, quantity, require_only_stars

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


_FILES = 4
_CAP = 8
_TOLERANCE = 0.002
"""Times are recorded in milliseconds, so a difference of two times can be wrong by one millisecond."""

_LOOK = "Look at the column `time` of svc.exchanges()."


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session = exercise.session()
    file_ids = [put_file(session, f"page {n}.txt", f"Page {n}".encode()) for n in range(1, _FILES + 1)]
    refusals = [_refusals(rng) for _ in file_ids]
    refusals[0][1] = {"status": 429, "headers": {"Retry-After": str(rng.randrange(15, 40))}}
    refusals[1][3] = {"status": 503, "headers": {"Retry-After": "1"}}  # less than the fourth delay
    refusals[2][0] = {"status": 403}
    steps = [
        {"match": {"operation": "files.get", "path": f"*{file_id}*", "nth": n}, "action": action}
        for file_id, actions in zip(file_ids, refusals, strict=True)
        for n, action in enumerate(actions, start=1)
    ]
    exercise.service.add_faults({"steps": steps})  # type: ignore[dict-item]
    return {"file_ids": file_ids, "cap": _CAP}


def _refusals(rng: Random) -> list[dict[str, object]]:
    """Return the refusals of a file: enough that random delays of two files never agree in all of them."""
    return [{"status": rng.choice((500, 502, 503, 504))} for _ in range(rng.randrange(5, 8))]


def _limits(refusals: int, retry_after: float) -> tuple[float, float]:
    """Return the shortest and the longest allowed delay in seconds after a number of refusals."""
    longest = min(_CAP, 2.0 ** (refusals - 1))
    return max(longest / 2, retry_after), longest + retry_after


def _check(evidence: Evidence) -> str:
    downloads = [request for request in evidence.requests_of("files.get") if request.query.get("alt") == "media"]
    received = f"The service received {quantity(len(evidence.requests), 'request')}"
    require(downloads, f"{received}, and none of them downloads a file: send a GET request with alt=media.")
    require(
        not any("Range" in request.headers for request in downloads),
        "A download had the header Range, so it did not have the whole content. Send the request without it.",
    )
    delays = []
    for number, file_id in enumerate(evidence.values["file_ids"], start=1):
        attempts = [request for request in downloads if request.path.endswith(f"/{file_id}")]
        require(attempts, f"No request downloads file {number} of {_FILES} in given.file_ids.")
        delays.append(_delays(number, attempts))
    _require_jitter(delays)
    return "Each refused request was repeated after a delay within its limits, and the delays of the files differ."


def _delays(number: int, attempts: list[RecordedRequest]) -> dict[int, float]:
    """Return the delays of a file by the number of the refusal, without those of a `Retry-After`.

    Raises CheckFailedError if a delay is outside its limits, or if the last request did not succeed.
    """
    delays: dict[int, float] = {}
    for refusals, (refused, following) in enumerate(itertools.pairwise(attempts), start=1):
        require(not refused.succeeded, f"The download of file {number} was repeated although it had succeeded.")
        retry_after = parse_retry_after(refused.response_headers.get("Retry-After"), refused.time) or 0.0
        waited = (following.time - refused.time).total_seconds()
        _require_delay(number, refusals, refused, waited, retry_after)
        if not retry_after:
            delays[refusals] = waited
    last = attempts[-1]
    require(
        last.succeeded,
        f"The last download of file {number} had the status {last.status} and was not repeated. Repeat it until the status"
        " is 200.",
    )
    return delays


def _require_delay(number: int, refusals: int, refused: RecordedRequest, waited: float, retry_after: float) -> None:
    shortest, longest = _limits(refusals, retry_after)
    if shortest - _TOLERANCE <= waited <= longest + _TOLERANCE:
        return
    with_header = f" and Retry-After: {retry_after:g}" if retry_after else ""
    seen = (
        f"Refusal {refusals} of file {number} had the status {refused.status}{with_header}, and the next request came"
        f" after {length(waited, 'second')}."
    )
    require(waited >= retry_after, f"{seen} Wait at least as long as Retry-After says. {_LOOK}")
    require(waited <= longest, f"{seen} The delay must be at most {length(longest, 'second')}. {_LOOK}")
    also = ", because Retry-After does not make a delay shorter" if retry_after else ""
    require(False, f"{seen} The delay must be at least {length(shortest, 'second')}{also}. {_LOOK}")


def _require_jitter(delays: list[dict[int, float]]) -> None:
    """Raise CheckFailedError if two files have the same delays after all refusals that they have in common."""
    for (first, before), (second, after) in itertools.combinations(enumerate(delays, start=1), 2):
        common = sorted(before.keys() & after.keys())
        same = all(abs(before[n] - after[n]) <= _TOLERANCE for n in common)
        seconds = ", ".join(f"{before[n]:.3g}" for n in common)
        require(
            not same,
            f"Files {first} and {second} have the same delays ({seconds} seconds), so the delays have no jitter: two"
            " clients that fail together would repeat their requests together. Draw each delay at random.",
        )


GROWING_DELAYS = ExerciseDefinition(
    name="growing-delays",
    theme="trouble",
    title="Growing delays with jitter",
    text=(
        "Download the content of the files in `given.file_ids` with `given.send`, one file after the other. The service is"
        " overloaded, and refuses each download several times with 403, 429 or 5xx. Repeat each download until it succeeds."
        " After the first refusal of a file wait 0.5 to 1 second. Double both limits after each further refusal of this"
        " file (1 to 2, 2 to 4 seconds), until the upper limit is `given.cap` seconds. Draw each delay at random between its"
        " limits: this is the *jitter*. If a response has the header `Retry-After`, wait at least that long, too."
        " `given.clock.advance(seconds)` waits."
    ),
    hints=(
        'One download is `given.send("GET", f"/storage/v3/files/{file_id}?alt=media")`. Count the refusals of each file:'
        " the first one is number 1.",
        "The upper limit after refusal number n is `min(given.cap, 2 ** (n - 1))`, and the lower limit is half of it."
        " `random.uniform(low, high)` draws a number.",
        '`float(response.headers.get("Retry-After", 0))` is 0 if the header is missing. Wait for the longer of the two times,'
        " which is what `max` returns.",
    ),
    set_up=_set_up,
    check=_check,
    by_hand=True,
)


def _set_up_often(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    exercise.service.limit(None, rng.randrange(2, 5), per=rng.randrange(20, 90))
    first = rng.randrange(100, 900)
    return {"names": [f"ring {first + n}" for n in range(rng.randrange(9, 14))]}


def _check_often(evidence: Evidence) -> str:
    created = evidence.requests_of("files.create")
    require(
        created,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them creates a file."
        " Send POST requests to /storage/v3/files.",
    )
    refused = [request for request in evidence.requests if request.status == 403]
    for request in refused:
        _require_wait(evidence, request)
    names = [file["name"] for file in evidence.files()]
    missing = [name for name in evidence.values["names"] if name not in names]
    require(
        not missing,
        f"Of the {len(evidence.values['names'])} files, {len(missing)} do not exist: {list_text(missing)}. Repeat a refused"
        " request until its status is 200.",
    )
    require(
        not any(int(file.get("size") or 0) for file in evidence.files()),
        "A file has content, and the task asks for empty files. Send the requests to /storage/v3/files without an upload.",
    )
    duplicates = sorted({name for name in names if names.count(name) > 1})
    created_count = sum(1 for request in created if request.succeeded)
    require(
        not duplicates, f"There is more than one file called {list_text(duplicates)}. Repeat only the refused requests."
    )
    require(
        created_count == len(evidence.values["names"]),
        f"The service created {created_count} files for {len(evidence.values['names'])} names. Look at the"
        " column `status` of svc.exchanges().",
    )
    require(
        refused,
        "The service refused no request, so the limit was not reached. Send the requests without a wait before them.",
    )
    return f"The service refused {quantity(len(refused), 'request')}, and you waited long enough each time."


def _require_wait(evidence: Evidence, refused: RecordedRequest) -> None:
    retry_after = parse_retry_after(refused.response_headers.get("Retry-After"), refused.time) or 0.0
    following = next((request for request in evidence.requests if request.n > refused.n), None)
    if following is None:
        return
    waited = (following.time - refused.time).total_seconds()
    require(
        waited >= retry_after,
        f"After a 403 with Retry-After: {retry_after:g}, the next request came after {length(waited, 'second')}. Wait at least"
        f" {length(retry_after, 'second')}.",
    )
    require(
        waited <= 2 * retry_after + 1,
        f"After a 403 with Retry-After: {retry_after:g}, the next request came only after {waited:g} seconds."
        f" Wait at most {length(2 * retry_after, 'second')}.",
    )


OFTEN = ExerciseDefinition(
    name="too-often",
    theme="trouble",
    title="Rate limits",
    text=(
        "Create an empty file for each name in `given.names` with `given.send`. The service has a rate limit, and its"
        " response says how long to wait. Wait at least as long, at most twice as long, and leave out no name."
        " `given.clock.advance(seconds)` waits."
    ),
    hints=(
        'One file is `given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"}, body)`, with'
        ' `json.dumps({"name": name}).encode()` as the body. Look at a response without the status 200.',
        "A 403 with the reason `userRateLimitExceeded` is temporary. Its header `Retry-After` has the seconds to wait.",
        "Use an inner loop: while the status is 403, advance the clock by `int(response.headers[...])` and send the request"
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
    require(
        updates,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them changes a file. Send PATCH"
        " requests.",
    )
    for file_id in evidence.values["file_ids"]:
        attempts = [request for request in updates if request.path.endswith(f"/{file_id}")]
        require(attempts, "No request tried to change one of the files in given.file_ids.")
        _require_single_attempt(attempts) if file_id in evidence.check_data["never"] else _require_success(attempts)
    require_only_stars(evidence)
    starred = sum(1 for file in evidence.files() if file.get("starred"))
    require(
        starred == len(evidence.check_data["own"]),
        f"Of your {len(evidence.check_data['own'])} files, {starred} have a star. Look at svc.files().",
    )
    return "Requests with temporary errors were repeated after a wait, and requests with permanent errors were not repeated."


def _require_single_attempt(attempts: list[RecordedRequest]) -> None:
    first = attempts[0].status
    require(
        len(attempts) == 1,
        f"A request with the status {first} was sent {len(attempts)} times. This error is permanent, so one request is enough.",
    )


def _require_success(attempts: list[RecordedRequest]) -> None:
    last = attempts[-1]
    outcome = f"had the status {last.status}" if last.answered else "had no response"
    require(
        last.succeeded,
        f"The last request for one of the files {outcome}, and was not repeated. This error is temporary.",
    )
    for request, following in itertools.pairwise(attempts):
        require(
            not request.succeeded,
            "A request was repeated although it had succeeded. Leave the loop when the status is 200.",
        )
        require(
            following.time - request.time >= timedelta(seconds=1),
            "A failed request was repeated without a wait of one second. Call given.clock.advance(1) before the next attempt.",
        )


LATER = ExerciseDefinition(
    name="later-or-never",
    theme="trouble",
    title="Temporary and permanent errors",
    text=(
        "Give a star to the files in `given.file_ids` with `given.send`. Some of these requests fail. Repeat a request with a"
        " temporary error after at least one second (`given.clock.advance(1)`) until it succeeds. Do not repeat a request"
        " with a permanent error. Here the status tells the difference. A missing response (`ConnectionError`) is a temporary"
        " error."
    ),
    hints=(
        'The request is `given.send("PATCH", f"/storage/v3/files/{file_id}", {"Content-Type": "application/json"},'
        " b'{\"starred\": true}')`.",
        "Which of the two is an error of the client, 4xx or 5xx? What does a `ConnectionError` say about the file?",
        "Setting a star twice does no harm, so you can treat a `ConnectionError` like a 503.",
    ),
    set_up=_set_up_later,
    check=_check_later,
    changes=("files.update",),
    by_hand=True,
)

ALL = (OFTEN, LATER, GROWING_DELAYS)
