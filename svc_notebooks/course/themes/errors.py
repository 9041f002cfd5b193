"""Exercises about the rate limit, and about telling temporary errors from permanent errors."""

import itertools
from datetime import timedelta
from random import Random

from ...client.files import create_file, share_file
from ...core.http.backoff import parse_retry_after
from ...core.http.messages import JSON, JSONObject
from ..definition import ExerciseDefinition, Part, Value, list_text, quantity, require
from ..evidence import MAX_REQUESTS, Evidence, RecordedRequest, length, require_any
from ..exercise_service import ExerciseService
from .content import put_file

_FILES = 8
_CAP = 8
_TOLERANCE = 0.002  # times are recorded in milliseconds, so a difference of two times can be wrong by one millisecond

# The largest difference between a random number and the place of its delay between the limits, from 0 to 1.
_SAME_PLACE = 0.01

_LOOK = "Look at the column `time` of svc.exchanges()."


def _set_up(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session = exercise.session()
    file_ids = [put_file(session, f"page {n}.txt", f"Page {n}".encode()) for n in range(1, _FILES + 1)]
    refusals: list[list[dict[str, object]]] = [
        [{"status": rng.choice((500, 502, 503, 504))} for _ in range(rng.randrange(6, 9))] for _ in file_ids
    ]
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


def _limits(refusals: int, retry_after: float) -> tuple[float, float]:
    """Return the shortest and the longest allowed delay in seconds after a number of refusals."""
    longest = min(_CAP, 2.0 ** (refusals - 1))
    return max(longest / 2, retry_after), longest + retry_after


def _downloads(evidence: Evidence) -> dict[int, list[RecordedRequest]]:
    """Return the downloads by the number of their file."""
    downloads = [request for request in evidence.requests_of("files.get") if request.is_download]
    require_any(evidence, downloads, "downloads a file: send a GET request with alt=media.")
    files = enumerate(evidence.values["file_ids"], start=1)
    return {n: [request for request in downloads if request.path.endswith(f"/{file_id}")] for n, file_id in files}


def _require_downloads(evidence: Evidence) -> None:
    for number, attempts in _downloads(evidence).items():
        require(attempts, f"No request downloads file {number} of {_FILES} in given.file_ids.")
        message = "A download had the header Range, so it did not have the whole content. Send the request without it."
        require(not any("Range" in request.headers for request in attempts), message)
        succeeded = [request.succeeded for request in attempts]
        again = f"The download of file {number} was repeated although it had succeeded."
        require(True not in succeeded[:-1], again)
        message = f"The last download of file {number} had the status {attempts[-1].status} and was not repeated. Repeat it until the status is 200."
        require(succeeded[-1], message)


def _delays(evidence: Evidence) -> list[tuple[int, int, RecordedRequest, float]]:
    """Return the number of the file, the number of its refusals, the refused request and the seconds of each delay."""
    delays = [
        (number, refusals, refused, (following.time - refused.time).total_seconds())
        for number, attempts in _downloads(evidence).items()
        for refusals, (refused, following) in enumerate(itertools.pairwise(attempts), start=1)
    ]
    require(delays, "No refused download was repeated.")
    return sorted(delays, key=lambda delay: delay[2].n)


def _require_limits(evidence: Evidence) -> None:
    for number, refusals, refused, waited in _delays(evidence):
        retry_after = parse_retry_after(refused.response_headers.get("Retry-After"), refused.time) or 0.0
        shortest, longest = _limits(refusals, retry_after)
        with_header = f" and Retry-After: {retry_after:g}" if retry_after else ""
        seen = f"Refusal {refusals} of file {number} had the status {refused.status}{with_header}, and the next request came after {length(waited, 'second')}."
        early = f"{seen} Wait at least as long as Retry-After says. {_LOOK}"
        require(waited >= retry_after - _TOLERANCE, early)
        late = f"{seen} The delay must be at most {length(longest, 'second')}. {_LOOK}"
        require(waited <= longest + _TOLERANCE, late)
        also = ", because Retry-After does not make a delay shorter" if retry_after else ""
        short = f"{seen} The delay must be at least {length(shortest, 'second')}{also}. {_LOOK}"
        require(waited >= shortest - _TOLERANCE, short)


def _require_jitter(evidence: Evidence) -> str:
    """Raise CheckFailedError unless each delay is where the next number of given.chance() puts it between its limits.

    A few numbers may be left out, such as those for a delay of Retry-After and for a download that succeeded.
    """
    rng = Random(evidence.check_data["chance"])
    numbers = [rng.random() for _ in range(MAX_REQUESTS)]
    for number, refusals, refused, waited in _delays(evidence):
        if "Retry-After" in refused.response_headers:
            continue
        shortest, longest = _limits(refusals, 0.0)
        place = (waited - shortest) / (longest - shortest)
        used = next((n for n, chance in enumerate(numbers[:5]) if abs(place - chance) < _SAME_PLACE), None)
        due = length(shortest + numbers[0] * (longest - shortest), "second")
        message = f"The delay after refusal {refusals} of file {number} was {length(waited, 'second')}. The next number of given.chance(), {numbers[0]:.2f}, makes it {due}. Draw a number for each delay: with delays that are fixed or known before, two clients that fail together repeat their requests together."
        require(used is not None, message)
        del numbers[: (used or 0) + 1]
    return "Each refused request was repeated after a random delay within its limits."


GROWING_DELAYS = ExerciseDefinition(
    name="growing-delays",
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
    waits = [rng.randrange(*limits) for limits in ((30, 50), (5, 10), (110, 150), (12, 15), (2, 5))]
    nth = itertools.accumulate((rng.randrange(2, 4), 2, rng.randrange(2, 4), 3, 1))
    refusals: list[JSONObject] = [{"status": 403, "headers": {"Retry-After": str(wait)}} for wait in waits]
    steps: list[JSON] = [
        {"match": {"operation": "files.create", "nth": n}, "action": refusal}
        for n, refusal in zip(nth, refusals, strict=True)
    ]
    exercise.service.add_faults({"steps": steps})
    first = rng.randrange(100, 900)
    return {"names": [f"ring {first + n}" for n in range(rng.randrange(9, 14))]}


def _created(evidence: Evidence) -> list[RecordedRequest]:
    does = "creates a file. Send POST requests to /storage/v3/files."
    return require_any(evidence, evidence.requests_of("files.create"), does)


def _require_waits(evidence: Evidence) -> str:
    _created(evidence)
    refused = [request for request in evidence.requests if request.status == 403]
    for request, following in itertools.pairwise(evidence.requests):
        if request.status != 403:
            continue
        retry_after = parse_retry_after(request.response_headers.get("Retry-After"), request.time) or 0.0
        waited = (following.time - request.time).total_seconds()
        seen = f"After a 403 with Retry-After: {retry_after:g}, the next request came"
        message = f"{seen} after {length(waited, 'second')}. Wait at least {length(retry_after, 'second')}."
        require(waited >= retry_after, message)
        message = f"{seen} only after {waited:g} seconds. Wait at most {length(2 * retry_after, 'second')}."
        require(waited <= 2 * retry_after + _TOLERANCE, message)
    require(refused, "The service has refused no request yet. Create a file for each name.")
    return f"The service refused {quantity(len(refused), 'request')}, and you waited long enough each time."


def _require_all_names(evidence: Evidence) -> None:
    _created(evidence)
    expected, names = evidence.values["names"], [file["name"] for file in evidence.live_files]
    missing = [name for name in expected if name not in names]
    others = [name for name in names if name not in expected]
    why = " Some of them are in the trash." if len(names) < len(evidence.files) else ""
    why += f" Other files are called {list_text(others, 2)}." if others else ""
    advice = why or " Repeat a refused request until its status is 200."
    require(not missing, f"Of the {len(expected)} files, {len(missing)} do not exist: {list_text(missing)}.{advice}")
    duplicates = sorted({name for name in names if names.count(name) > 1})
    message = f"There is more than one file called {list_text(duplicates)}. Repeat only the refused requests."
    require(not duplicates, message)


def _require_empty_files(evidence: Evidence) -> None:
    _require_all_names(evidence)
    kinds = sorted({file["mimeType"] for file in evidence.files if ".svc-apps." in file["mimeType"]})
    require(not kinds, f"A file has the type {list_text(kinds)}. Create plain files: leave out mimeType.")
    message = "A file has content, and the task asks for empty files. Send the requests to /storage/v3/files without an upload."
    require(not any(int(file.get("size") or 0) for file in evidence.files), message)


OFTEN = ExerciseDefinition(
    name="too-often",
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
    require_any(evidence, updates, "changes a file. Send PATCH requests.")
    files = evidence.check_data["never" if permanent else "own"]
    attempts = [[request for request in updates if request.path.endswith(f"/{file_id}")] for file_id in files]
    require(all(attempts), "No request tried to change one of the files in given.file_ids.")
    return attempts


def _require_single_attempts(evidence: Evidence) -> None:
    for attempts in _attempts(evidence, permanent=True):
        message = f"A request with the status {attempts[0].status} was sent {len(attempts)} times. This error is permanent, so one request is enough."
        require(len(attempts) == 1, message)


def _require_repetitions(evidence: Evidence) -> str:
    for attempts in _attempts(evidence, permanent=False):
        last = attempts[-1]
        outcome = f"had the status {last.status}" if last.answered else "had no response"
        reads = [read for read in evidence.succeeded("files.get") if read.n > last.n and read.path == last.path]
        was_seen = not last.answered and any(read.response_json.get("starred") for read in reads)
        message = f"The last request for one of the files {outcome}, and was not repeated. This error is temporary: repeat the request until a response shows the star."
        require(last.succeeded or was_seen, message)
        again = "A request was repeated although it had succeeded. Leave the loop when the status is 200."
        require(not any(request.succeeded for request in attempts[:-1]), again)
    return "Requests with temporary errors were repeated after a wait, and requests with permanent errors were not repeated."


def _require_second(evidence: Evidence) -> None:
    all_attempts = _attempts(evidence, permanent=False)
    require(any(len(attempts) > 1 for attempts in all_attempts), "No request with a temporary error was repeated.")
    for request, following in itertools.chain.from_iterable(map(itertools.pairwise, all_attempts)):
        message = "A failed request was repeated without a wait of one second. Call given.clock.advance(1) before the next attempt."
        require(following.time - request.time >= timedelta(seconds=1), message)


def _require_stars(evidence: Evidence) -> None:
    own, starred = evidence.check_data["own"], sum(1 for file in evidence.files if file.get("starred"))
    require(starred == len(own), f"Of your {len(own)} files, {starred} have a star. Look at svc.files().")


LATER = ExerciseDefinition(
    name="later-or-never",
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
