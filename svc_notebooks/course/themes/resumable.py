"""Exercises about resuming an upload, restarting an expired upload, and writing the loop of a resumable upload."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import TYPE_CHECKING

from ...client.session import Session
from ...core.http.messages import Request
from ..check_result import require
from ..definition import ExerciseDefinition
from .shared_checks import quantity, require_same_content, require_single_file

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService

_KIB = 1024
QUANTUM = 256 * _KIB
_RANGE = re.compile(r"bytes\s+(\d+)-(\d+)/")


def random_content(rng: Random, size: int) -> bytes:
    return rng.randbytes(size)


def start_upload(session: Session, name: str, content: bytes, stored: int) -> str:
    """Begin a resumable upload, send the first `stored` bytes of the content, and return the session URI."""
    body = f'{{"name": "{name}"}}'.encode()
    headers = session.headers(("Content-Type", "application/json"), ("Content-Length", str(len(body))))
    url = session.url(session.names.upload_path("files"), {"uploadType": "resumable"})
    uri = session.send(Request("POST", url, headers, body)).headers["Location"]
    content_range = ("Content-Range", f"bytes 0-{stored - 1}/{len(content)}")
    part_headers = session.headers(content_range, ("Content-Length", str(stored)))
    session.send(Request("PUT", uri, part_headers, content[:stored]))
    return str(uri)


def _first_byte(request: RecordedRequest) -> int | None:
    """Return the first byte position of a request (0 without Content-Range), or None for a status query."""
    match = _RANGE.match(request.content_range)
    return int(match[1]) if match else None if request.is_status_query else 0


def _part_requests(requests: list[RecordedRequest]) -> list[RecordedRequest]:
    """Return the PUT requests that sent bytes to upload sessions, without status queries."""
    return [
        request
        for request in requests
        if request.operation == "upload.session" and not request.is_status_query and request.method == "PUT"
    ]


def require_no_overlap(requests: list[RecordedRequest]) -> None:
    """Raise CheckFailedError if a request sent bytes that were already stored, or skipped bytes."""
    for request in _part_requests(requests):
        if request.offset_before is None:  # it never reached the session
            continue
        first, stored = _first_byte(request) or 0, request.offset_before
        message = (
            f"A request sent bytes from {first:,} on, and {stored:,} were stored already: the rest was sent again."
        )
        require(first >= stored, message)
        require(first == stored, f"A request sent bytes from {first:,} on, and the service waited for byte {stored:,}.")


def _set_up_go_on(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    content = random_content(rng, 4 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise.session(), "film.mp4", content, rng.randrange(1, 4) * QUANTUM)
    return {"session_uri": uri, "content": content}


def _check_go_on(evidence: Evidence) -> str:
    new_uploads = evidence.requests_of("files.create")
    require(
        not new_uploads,
        f"The service was asked for {quantity(len(new_uploads), 'new upload')}: the one that was begun still waits.",
    )
    requests = evidence.requests_of("upload.session")
    require(requests, "Nothing was sent to given.session_uri.")
    require(
        requests[0].is_status_query,
        "The first request to the session brought bytes, before anybody had asked what is stored.",
    )
    require_no_overlap(requests)
    files = evidence.files_with_name("film.mp4")
    require(
        files,
        f"The session has {requests[-1].offset_after or 0:,} of {len(evidence.values['content']):,} bytes, and no file yet.",
    )
    require_same_content(evidence, files[0], evidence.values["content"], "given.content")
    return "The service was asked where it stands, and got the rest and nothing twice."


GO_ON = ExerciseDefinition(
    name="go-on-where-it-stopped",
    theme="resumable",
    title="Go on where it stopped",
    text=(
        "Somebody began to upload `given.content`, and the line broke. The session is at `given.session_uri`; how far it"
        " came, nobody wrote down. Finish this upload: nothing that is stored shall be sent again, and no other upload"
        " begun."
    ),
    hints=(
        "Only the service knows what it has. `02-resumable-by-hand` asks it.",
        "An empty PUT with `Content-Range: bytes */TOTAL` is the question; `Range` in its answer names the last byte.",
        "`svc.resume_upload` does both, and its `run()` goes on to the end.",
    ),
    set_up=_set_up_go_on,
    check=_check_go_on,
)


def _set_up_expired(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    name = f"night-{rng.randrange(10, 100)}.raw"
    content = random_content(rng, 3 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise.session(), name, content, QUANTUM)
    exercise.clock.advance("8d")
    exercise.check_data["key"] = uri.rpartition("upload_id=")[2]
    return {"session_uri": uri, "name": name, "content": content}


def _check_expired(evidence: Evidence) -> str:
    old_requests = [
        request
        for request in evidence.requests_of("upload.session")
        if evidence.check_data["key"] in str(request.query)
    ]
    require(old_requests, "Nobody asked the old session whether it is still there.")
    require(
        old_requests[0].is_status_query,
        "The first request to the old session brought bytes, before anybody had asked for its state.",
    )
    require(
        len(old_requests) <= 2,
        f"The old session was asked {len(old_requests)} times. It said 404 each time, and always will.",
    )
    new_uploads = [request for request in evidence.requests_of("files.create") if request.succeeded]
    require(new_uploads, "The session is gone, and the service was asked for no other upload.")
    upload_types = sorted({str(request.upload_type) for request in new_uploads})
    require(
        upload_types == ["resumable"],
        f"The content went up as {' and '.join(upload_types)}; another resumable upload was asked for.",
    )
    require(len(new_uploads) == 1, f"The service was asked for {len(new_uploads)} new sessions, and one is enough.")
    file = require_single_file(evidence, evidence.values["name"])
    require_same_content(evidence, file, evidence.values["content"], "given.content")
    return "The old session was asked once and was gone; a new one got everything from the first byte."


EXPIRED = ExerciseDefinition(
    name="expired-session",
    theme="resumable",
    title="The session that is gone",
    text=(
        "The upload of `given.content` at `given.session_uri` broke more than a week ago. Ask the session whether it is"
        " still there. If it is not, begin another *resumable* upload under `given.name`, and finish it."
    ),
    hints=(
        "Status 404 for a session means that it is gone for good, with everything that it had stored.",
        "`svc.resume_upload(...).status()` asks. What does its row say of the state?",
        'A new session is `svc.upload(..., upload_type="resumable")`; short content would go up in one piece otherwise.',
    ),
    set_up=_set_up_expired,
    check=_check_expired,
)


def _set_up_loop(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session = {"operation": "upload.session"}
    faults: list[dict[str, object]] = [
        {"status": 503},
        {"reset": "after"},
        {"cut_request_after": rng.randrange(50_000, 200_000)},
        {"reset": "before"},
    ]
    rng.shuffle(faults)
    steps = [{"match": {**session, "nth": rng.choice((1, 2))}, "action": action} for action in faults]
    exercise.service.add_faults({"steps": steps, "in_order": True})  # type: ignore[dict-item]
    return {
        "name": f"tape-{rng.randrange(100, 1000)}.wav",
        "content": random_content(rng, 6 * QUANTUM + rng.randrange(1000, 200_000)),
        "chunk_size": QUANTUM,
    }


_FAULTS = 4


def _check_loop(evidence: Evidence) -> str:
    new_uploads = [request for request in evidence.requests_of("files.create") if request.succeeded]
    require(new_uploads, "The service was not asked for an upload: a session begins with a POST.")
    upload_types = {request.upload_type for request in new_uploads}
    require(upload_types == {"resumable"}, "The content was not sent in a resumable upload.")
    require(
        len(new_uploads) == 1,
        f"The service was asked for {len(new_uploads)} sessions: after a break the old one still waits.",
    )
    requests = evidence.requests_of("upload.session")
    require(requests, "A session was opened, and nothing was sent to it.")
    _require_query_after_failure(requests)
    require_no_overlap(requests)
    size = evidence.values["chunk_size"]
    longest = max((request.received for request in _part_requests(requests)), default=0)
    require(longest <= size, f"A request brought {longest:,} bytes; a chunk shall have {size:,} at most.")
    stored, total = requests[-1].offset_after or 0, len(evidence.values["content"])
    require(
        evidence.files_with_name(evidence.values["name"]),
        f"There is no file called {evidence.values['name']!r}; {stored:,} of {total:,} bytes are stored.",
    )
    require_same_content(
        evidence, require_single_file(evidence, evidence.values["name"]), evidence.values["content"], "given.content"
    )
    max_requests = -(-total // size) + 3 * _FAULTS + 4
    require(
        len(evidence.requests) <= max_requests, f"It took {len(evidence.requests)} requests; {max_requests} are enough."
    )
    faults = sum(1 for request in requests if request.fault)
    return f"The line broke {faults} times, and no stored byte was sent again."


def _require_query_after_failure(requests: list[RecordedRequest]) -> None:
    for request, following in itertools.pairwise(requests):
        failed = not request.answered or (request.status or 0) >= 500
        outcome = f"was answered {request.status}" if request.answered else "got no answer"
        require(
            not failed or following.is_status_query,
            f"A request of the upload {outcome}, and the next one brought bytes: nobody had asked what is stored.",
        )


LOOP = ExerciseDefinition(
    name="resumable-loop",
    theme="resumable",
    title="A loop of your own",
    text=(
        "Write a resumable upload yourself, with `given.send` and nothing else: it sends one request as you wrote it and"
        " returns `status`, `headers` and `body`, or raises `ConnectionError`. `given.content` shall become the file"
        " `given.name`, in chunks of `given.chunk_size` bytes. The line breaks four times, in different ways: before"
        " the request arrives, in the middle of it, after it was done, and with a 503. One session, a question after"
        " each break, and no stored byte sent again."
    ),
    hints=(
        "Open with `POST /upload/storage/v3/files?uploadType=resumable` and the JSON body"
        ' `{"name": ...}`; the answer\'s `Location` is where chunks go.',
        "Write a function that asks: an empty PUT with `Content-Range: bytes */TOTAL`. It can break as well. 308 with"
        " `Range: bytes=0-262143` means 262,144 bytes; without `Range` there are none; 200 means that all is there.",
        "The loop: send the chunk at `offset`; on `ConnectionError` or a status of 500 and more, ask, and take the"
        " offset from the answer; on 308, take it from `Range` as well; on 200, stop.",
    ),
    set_up=_set_up_loop,
    check=_check_loop,
    by_hand=True,
)

ALL = (GO_ON, EXPIRED, LOOP)
