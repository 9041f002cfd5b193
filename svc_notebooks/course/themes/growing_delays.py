"""The exercise about retries with growing delays and jitter (A3-22)."""

from __future__ import annotations

import itertools
from random import Random
from typing import TYPE_CHECKING

from ...core.http.backoff import parse_retry_after
from ..definition import ExerciseDefinition, require
from .content import put_file
from .shared_checks import length, quantity

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
