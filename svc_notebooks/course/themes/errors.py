"""Exercises about the rate limit, and about telling temporary errors from permanent errors."""

from __future__ import annotations

import itertools
from datetime import timedelta
from random import Random
from statistics import pstdev
from typing import TYPE_CHECKING

from ...client.files import create_file, share_file
from ...core.http.backoff import parse_retry_after
from ..definition import ExerciseDefinition, Part, list_text, quantity, require
from .content import put_file
from .shared_checks import length

if TYPE_CHECKING:
    from ...core.http.messages import JSON, JSONObject
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


_FILES = 8
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
    """Return the refusals of a file: enough to test the distribution of the delays."""
    return [{"status": rng.choice((500, 502, 503, 504))} for _ in range(rng.randrange(6, 9))]


def _limits(refusals: int, retry_after: float) -> tuple[float, float]:
    """Return the shortest and the longest allowed delay in seconds after a number of refusals."""
    longest = min(_CAP, 2.0 ** (refusals - 1))
    return max(longest / 2, retry_after), longest + retry_after


def _downloads(evidence: Evidence) -> dict[int, list[RecordedRequest]]:
    """Return the downloads by the number of their file."""
    downloads = [request for request in evidence.requests_of("files.get") if request.is_download]
    received = f"The service received {quantity(len(evidence.requests), 'request')}"
    require(downloads, f"{received}, and none of them downloads a file: send a GET request with alt=media.")
    files = enumerate(evidence.values["file_ids"], start=1)
    return {n: [request for request in downloads if request.path.endswith(f"/{file_id}")] for n, file_id in files}


def _require_downloads(evidence: Evidence) -> None:
    for number, attempts in _downloads(evidence).items():
        require(attempts, f"No request downloads file {number} of {_FILES} in given.file_ids.")
        require(
            not any("Range" in request.headers for request in attempts),
            "A download had the header Range, so it did not have the whole content. Send the request without it.",
        )
        succeeded = [request.succeeded for request in attempts]
        again = f"The download of file {number} was repeated although it had succeeded."
        require(True not in succeeded[:-1], again)
        require(
            succeeded[-1],
            f"The last download of file {number} had the status {attempts[-1].status} and was not repeated. Repeat it until"
            " the status is 200.",
        )


def _require_limits(evidence: Evidence) -> None:
    downloads = _downloads(evidence)
    require(any(len(attempts) > 1 for attempts in downloads.values()), "No refused download was repeated.")
    for number, attempts in downloads.items():
        for refusals, (refused, following) in enumerate(itertools.pairwise(attempts), start=1):
            retry_after = parse_retry_after(refused.response_headers.get("Retry-After"), refused.time) or 0.0
            _require_delay(number, refusals, refused, (following.time - refused.time).total_seconds(), retry_after)


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


def _draws(evidence: Evidence) -> list[dict[int, float]]:
    """Return where each delay is between its limits, from 0 to 1, by file and refusal, without those of Retry-After."""
    draws = []
    for attempts in _downloads(evidence).values():
        of_file: dict[int, float] = {}
        for refusals, (refused, following) in enumerate(itertools.pairwise(attempts), start=1):
            if "Retry-After" not in refused.response_headers:
                shortest, longest = _limits(refusals, 0.0)
                of_file[refusals] = ((following.time - refused.time).total_seconds() - shortest) / (longest - shortest)
        draws.append(of_file)
    return draws


_SAME = 2 * _TOLERANCE
"""The largest difference of two draws that can be the same: the shortest interval has half a second."""


def _require_jitter(evidence: Evidence) -> str:
    """Raise CheckFailedError if the delays are not random. Random delays fail less than once in a million checks."""
    draws = _draws(evidence)
    values = sorted(value for of_file in draws for value in of_file.values())
    too_few = "There are too few delays to test: repeat the download of each file until it succeeds."
    require(all(len(of_file) >= 5 for of_file in draws), too_few)
    why = "so two clients that fail together would repeat their requests together. Draw each delay at random."
    for number, of_file in enumerate(draws, start=1):
        spread = max(of_file.values()) - min(of_file.values())
        require(
            spread > 3 * _SAME, f"The delays of file {number} have no jitter: each is the same part of its limit, {why}"
        )
    for refusals in range(1, 6):
        column = [of_file[refusals] for of_file in draws if refusals in of_file]
        same = f"The delays after refusal {refusals} have no jitter: all files have the same delays, {why}"
        require(max(column) - min(column) > 3 * _SAME, same)
    clusters = 1 + sum(after - before > _SAME for before, after in itertools.pairwise(values))
    require(clusters > 9, f"The delays have only {clusters} different places between their limits, {why}")
    require(pstdev(values) > 0.08, f"The delays differ by less than a tenth of their limits, {why}")
    for of_file, other in itertools.combinations(draws, 2):
        shared = sum(abs(of_file[n] - other[n]) < _SAME for n in of_file.keys() & other.keys())
        require(shared < 5, f"Two files have the same delays after {shared} refusals, {why}")
    seeds, first = [*range(1000), evidence.values["file_ids"][0]], list(draws[0].values())
    seed = next((seed for seed in seeds if _has_seed(Random(seed), first)), None)
    require(seed is None, f"The delays are those of random.seed({seed}), the same in every run, {why}")
    return "Each refused request was repeated after a delay within its limits, and the delays of the files differ."


def _has_seed(rng: Random, draws: list[float]) -> bool:
    """Return whether the generator gives these draws. It may also have given others, which Retry-After has replaced."""
    numbers = [rng.random() for _ in range(len(draws) + 2)]
    return any(
        all(
            any(abs(draw - (number if up else 1 - number)) < _SAME for number in numbers[n : n + 3])
            for n, draw in enumerate(draws)
        )
        for up in (True, False)
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
        " limits, and without a fixed seed: this is the *jitter*. If a response has the header `Retry-After`, wait at least that long, too."
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
    parts=(
        Part("every file is downloaded", _require_downloads),
        Part("each delay within its limits, and Retry-After obeyed", _require_limits, 2),
        Part("jitter", _require_jitter, 2),
    ),
    by_hand=True,
)


def _set_up_often(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    """Limit the rate, and refuse further requests with other waits: no constant is between each of them and its double."""
    exercise.service.limit(None, rng.randrange(2, 5), per=rng.randrange(20, 90))
    waits = (
        rng.randrange(30, 50),
        rng.randrange(5, 10),
        rng.randrange(110, 150),
        rng.randrange(12, 15),
        rng.randrange(2, 5),
    )
    nth = itertools.accumulate((rng.randrange(2, 4), 2, rng.randrange(2, 4), 3, 1))
    steps: list[JSON] = [
        {
            "match": {"operation": "files.create", "nth": n},
            "action": {"status": 403, "headers": {"Retry-After": str(wait)}},
        }
        for n, wait in zip(nth, waits, strict=True)
    ]
    exercise.service.add_faults({"steps": steps})
    first = rng.randrange(100, 900)
    return {"names": [f"ring {first + n}" for n in range(rng.randrange(9, 14))]}


def _created(evidence: Evidence) -> list[RecordedRequest]:
    created = evidence.requests_of("files.create")
    require(
        created,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them creates a file."
        " Send POST requests to /storage/v3/files.",
    )
    return created


def _require_waits(evidence: Evidence) -> str:
    _created(evidence)
    refused = [request for request in evidence.requests if request.status == 403]
    for request in refused:
        _require_wait(evidence, request)
    require(refused, "The service has refused no request yet. Create a file for each name.")
    return f"The service refused {quantity(len(refused), 'request')}, and you waited long enough each time."


def _require_all_names(evidence: Evidence) -> None:
    created, expected = _created(evidence), evidence.values["names"]
    names = [file["name"] for file in evidence.live_files]
    missing = [name for name in expected if name not in names]
    trash = " Some of them are in the trash." if len(names) < len(evidence.files) else ""
    require(
        not missing,
        f"Of the {len(expected)} files, {len(missing)} do not exist: {list_text(missing)}.{trash} Repeat a refused"
        " request until its status is 200.",
    )
    duplicates = sorted({name for name in names if names.count(name) > 1})
    created_count = sum(1 for request in created if request.succeeded)
    require(
        not duplicates, f"There is more than one file called {list_text(duplicates)}. Repeat only the refused requests."
    )
    require(
        created_count == len(names) == len(expected),
        f"The service created {created_count} files for {len(expected)} names. Look at the"
        " column `status` of svc.exchanges().",
    )


def _require_empty_files(evidence: Evidence) -> None:
    _require_all_names(evidence)
    kinds = sorted({file["mimeType"] for file in evidence.files if ".svc-apps." in file["mimeType"]})
    require(not kinds, f"A file has the type {list_text(kinds)}. Create plain files: leave out mimeType.")
    require(
        not any(int(file.get("size") or 0) for file in evidence.files),
        "A file has content, and the task asks for empty files. Send the requests to /storage/v3/files without an upload.",
    )


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
        waited <= 2 * retry_after + _TOLERANCE,
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
    parts=(
        Part("a wait as long as Retry-After says", _require_waits, 2),
        Part("one file for each name", _require_all_names),
        Part("the files are empty", _require_empty_files),
    ),
    by_hand=True,
    creates="names",
)


def _set_up_later(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    ada, bob = exercise.session(), exercise.session("bob@svc.example")
    own = [str(create_file(ada, {"name": f"nest {n}"})["id"]) for n in range(8)]
    hidden = str(create_file(bob, {"name": "Bob's"})["id"])
    read_only = str(create_file(bob, {"name": "Bob's, to be read"})["id"])
    share_file(bob, read_only, {"type": "user", "role": "reader", "emailAddress": exercise.service.policy.first_user})
    actions: list[JSONObject] = [{"status": status} for status in (500, 502, 503, 504)]
    actions += [{"reset": "before"}, {"reset": "after"}]
    broken, times = rng.sample(own, len(actions)), [*rng.sample((1, 2, 3, 4, 6), len(actions) - 1), 2]
    steps: list[JSON] = [
        {"match": {"operation": "files.update", "path": f"*{file_id}*"}, "times": count, "action": action}
        for file_id, action, count in zip(broken, actions, times, strict=True)
    ]
    exercise.service.add_faults({"steps": steps})
    exercise.check_data.update(own=own, never=[hidden, read_only])
    return {"file_ids": [*own[:4], *rng.sample((hidden, read_only), 2), *own[4:]]}


def _attempts(evidence: Evidence, *, permanent: bool) -> list[list[RecordedRequest]]:
    """Return the requests that change a file, for each file with a permanent error, or for each other file."""
    updates = evidence.requests_of("files.update")
    require(
        updates,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them changes a file. Send PATCH"
        " requests.",
    )
    files = evidence.check_data["never" if permanent else "own"]
    attempts = [[request for request in updates if request.path.endswith(f"/{file_id}")] for file_id in files]
    require(all(attempts), "No request tried to change one of the files in given.file_ids.")
    return attempts


def _require_single_attempts(evidence: Evidence) -> None:
    for attempts in _attempts(evidence, permanent=True):
        require(
            len(attempts) == 1,
            f"A request with the status {attempts[0].status} was sent {len(attempts)} times. This error is permanent, so one"
            " request is enough.",
        )


def _require_repetitions(evidence: Evidence) -> str:
    for attempts in _attempts(evidence, permanent=False):
        last = attempts[-1]
        outcome = f"had the status {last.status}" if last.answered else "had no response"
        require(
            last.succeeded or _was_seen(evidence, last),
            f"The last request for one of the files {outcome}, and was not repeated. This error is temporary.",
        )
        again = "A request was repeated although it had succeeded. Leave the loop when the status is 200."
        require(not any(request.succeeded for request in attempts[:-1]), again)
    return "Requests with temporary errors were repeated after a wait, and requests with permanent errors were not repeated."


def _was_seen(evidence: Evidence, request: RecordedRequest) -> bool:
    """Return whether a later response has shown the star of a file. The response to the request itself was lost."""
    reads = [read for read in evidence.succeeded("files.get") if read.n > request.n and read.path == request.path]
    return not request.answered and any(read.response_json.get("starred") for read in reads)


def _require_second(evidence: Evidence) -> None:
    all_attempts = _attempts(evidence, permanent=False)
    require(any(len(attempts) > 1 for attempts in all_attempts), "No request with a temporary error was repeated.")
    for request, following in itertools.chain.from_iterable(map(itertools.pairwise, all_attempts)):
        require(
            following.time - request.time >= timedelta(seconds=1),
            "A failed request was repeated without a wait of one second. Call given.clock.advance(1) before the next attempt.",
        )


def _require_stars(evidence: Evidence) -> None:
    own, starred = evidence.check_data["own"], sum(1 for file in evidence.files if file.get("starred"))
    require(starred == len(own), f"Of your {len(own)} files, {starred} have a star. Look at svc.files().")


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
    parts=(
        Part("temporary errors are repeated until they succeed", _require_repetitions, 2),
        Part("permanent errors are not repeated", _require_single_attempts, 2),
        Part("a wait of a second before each repetition", _require_second),
        Part("a star for each of your files", _require_stars),
    ),
    changes=("starred",),
    by_hand=True,
)

ALL = (OFTEN, LATER, GROWING_DELAYS)
