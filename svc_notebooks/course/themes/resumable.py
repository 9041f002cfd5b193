"""Exercises about resuming an upload, restarting an expired upload, and writing the loop of a resumable upload."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import TYPE_CHECKING

from ...client.session import Session
from ...core.http.messages import Request
from ..definition import ExerciseDefinition, require
from .shared_checks import quantity, require_no_updates, require_same_content, require_single_file

if TYPE_CHECKING:
    from ...core.http.messages import JSONObject
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


def _require_session(requests: list[RecordedRequest], uri: str, owner: str) -> None:
    """Raise CheckFailedError if a request was sent to another upload session than `uri`."""
    own_id = _upload_id(uri)
    others = sum(1 for request in requests if request.query.get("upload_id") != own_id)
    require(
        not others,
        f"{quantity(others, 'request')} had the address of another session, which knows nothing about this upload. Send all"
        f" requests to {owner}.",
    )


def _upload_id(uri: str) -> str:
    return uri.rpartition("upload_id=")[2]


def require_no_overlap(requests: list[RecordedRequest]) -> None:
    """Raise CheckFailedError if a request sent bytes that were already stored, or skipped bytes."""
    for request in _part_requests(requests):
        if request.offset_before is None:  # it never reached the session
            continue
        first, stored = _first_byte(request) or 0, request.offset_before
        message = f"A request sent bytes from {first:,} on, but {stored:,} were already stored, so some bytes were sent twice."
        require(first >= stored, message)
        require(first == stored, f"A request sent bytes from {first:,} on, but the next missing byte was {stored:,}.")


def _set_up_go_on(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    content = random_content(rng, 4 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise.session(), "film.mp4", content, rng.randrange(1, 4) * QUANTUM)
    return {"session_uri": uri, "content": content}


def _check_go_on(evidence: Evidence) -> str:
    new_uploads = evidence.requests_of("files.create")
    require(
        not new_uploads,
        f"The service received {quantity(len(new_uploads), 'new upload')}, although the session is still open. Send the missing bytes"
        " to given.session_uri.",
    )
    requests = evidence.requests_of("upload.session")
    require(requests, "Nothing was sent to given.session_uri. Begin with a status query.")
    _require_session(requests, evidence.values["session_uri"], "given.session_uri")
    require(
        requests[0].is_status_query,
        "The first request to the session sent bytes. Send a status query first: only its response tells how many bytes are"
        " stored.",
    )
    require_no_overlap(requests)
    files = evidence.files_with_name("film.mp4")
    require(
        files,
        f"The session has {requests[-1].offset_after or 0:,} of {len(evidence.values['content']):,} bytes, and no file yet. Send the"
        " missing bytes.",
    )
    require_same_content(evidence, files[0], evidence.values["content"], "given.content")
    require_no_updates(evidence, "send the content of the file in this session")
    return "A status query came first, and then the missing bytes, none of them twice."


GO_ON = ExerciseDefinition(
    name="go-on-where-it-stopped",
    theme="resumable",
    title="Resume an upload",
    text=(
        "The upload of `given.content` was interrupted. Its session is at `given.session_uri`, and you do not know how many"
        " bytes are stored. Finish this upload. Do not send a stored byte again, and do not start another upload."
    ),
    hints=(
        "Only the service knows how many bytes are stored. `02-resumable-by-hand` sends a status query.",
        "A status query is an empty PUT with `Content-Range: bytes */TOTAL`. `Range` in the response has the last byte.",
        "`svc.resume_upload` sends the query, and its `run()` finishes the upload.",
    ),
    set_up=_set_up_go_on,
    check=_check_go_on,
)


def _set_up_expired(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    name = f"night-{rng.randrange(10, 100)}.raw"
    content = random_content(rng, 3 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise.session(), name, content, QUANTUM)
    exercise.clock.advance("8d")
    exercise.check_data["key"] = _upload_id(uri)
    return {"session_uri": uri, "name": name, "content": content}


def _check_expired(evidence: Evidence) -> str:
    old_requests = [
        request
        for request in evidence.requests_of("upload.session")
        if evidence.check_data["key"] in str(request.query)
    ]
    require(
        old_requests, "No request asked for the state of the old session. Send a status query to given.session_uri."
    )
    require(
        old_requests[0].is_status_query,
        "The first request to the old session sent bytes. Send a status query first, because the session may be gone.",
    )
    require(
        len(old_requests) <= 2,
        f"The old session received {len(old_requests)} requests. Its response is always 404, so one is enough.",
    )
    new_uploads = [request for request in evidence.requests_of("files.create") if request.succeeded]
    require(
        new_uploads,
        "The session has expired, and no new upload was started. The response 404 means that the stored bytes are gone: start"
        " again with the first byte.",
    )
    require(
        new_uploads[0].n > old_requests[0].n,
        "The new upload was started before the status query. Only its response tells whether the old session has expired, so"
        " send the status query first.",
    )
    upload_types = sorted({str(request.upload_type) for request in new_uploads})
    require(
        upload_types == ["resumable"],
        f"The upload type was {' and '.join(upload_types)}, not resumable. Look at the column `query` of svc.exchanges().",
    )
    require(len(new_uploads) == 1, f"The service opened {len(new_uploads)} new sessions; one is enough.")
    file = require_single_file(evidence, evidence.values["name"])
    require_same_content(evidence, file, evidence.values["content"], "given.content")
    require_no_updates(evidence, "send the content of the file in the new session")
    return "The old session had expired, and a new session received all bytes."


EXPIRED = ExerciseDefinition(
    name="expired-session",
    theme="resumable",
    title="An expired session",
    text=(
        "The upload of `given.content` at `given.session_uri` was interrupted more than a week ago. Send a status query. If"
        " the session has expired, start another *resumable* upload with the name `given.name`, and finish it."
    ),
    hints=(
        "The status 404 means that the session and its stored bytes no longer exist.",
        "`svc.resume_upload(...).status()` sends a status query. Which state does its row have?",
        'Use `svc.upload(..., upload_type="resumable")`, because short content is otherwise sent in one request.',
    ),
    set_up=_set_up_expired,
    check=_check_expired,
)


def draw_faults(rng: Random) -> list[JSONObject]:
    """Return the steps of a fault plan, in a random order, for an upload that sends a status query after each fault.

    The response to a chunk is lost, a chunk is cut, so that no byte of it is stored, and a status query fails. Without
    any of them, a loop that ignores the response to its status queries, or sends them only once, could succeed.
    """
    lost: JSONObject = {"reset": "after"}
    cut: JSONObject = {"cut_request_after": rng.randrange(50_000, 200_000)}
    plain: list[JSONObject] = [{"status": 503}, {"reset": "before"}]
    faults = [lost, cut, *plain]
    rng.shuffle(faults)
    of_query = rng.choice([fault for fault in faults[1:] if fault in plain])
    # After a fault, the first request is a status query, and the second sends a chunk. Before the first fault, the
    # second request sends a chunk, too, whether or not the upload begins with a status query.
    return [
        {"match": {"operation": "upload.session", "nth": 1 if fault is of_query else 2}, "action": fault}
        for fault in faults
    ]


def _set_up_loop(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    exercise.service.add_faults({"steps": [*draw_faults(rng)], "in_order": True})
    return {
        "name": f"tape-{rng.randrange(100, 1000)}.wav",
        "content": random_content(rng, 6 * QUANTUM + rng.randrange(1000, 200_000)),
        "chunk_size": QUANTUM,
    }


_FAULTS = 4


def _check_loop(evidence: Evidence) -> str:
    new_uploads = [request for request in evidence.requests_of("files.create") if request.succeeded]
    require(new_uploads, "No upload was started. A session begins with a POST request.")
    upload_types = {request.upload_type for request in new_uploads}
    require(
        upload_types == {"resumable"},
        "The content was not sent in a resumable upload. Open a session with uploadType=resumable.",
    )
    require(
        len(new_uploads) == 1,
        f"The service opened {len(new_uploads)} sessions. After a fault, the first session is still open: continue"
        " in it.",
    )
    requests = evidence.requests_of("upload.session")
    require(
        requests,
        "A session was opened, and no request was sent to it. Its address is in the header Location of the response.",
    )
    location = new_uploads[0].response_headers.get("Location") or ""
    _require_session(requests, location, "the address in the header Location")
    _require_query_after_failure(requests)
    require_no_overlap(requests)
    size = evidence.values["chunk_size"]
    longest = max((request.received for request in _part_requests(requests)), default=0)
    require(
        longest <= size,
        f"A request sent {longest:,} bytes; a chunk must have at most {size:,}. Look at the column `sent` of svc.exchanges().",
    )
    stored, total = requests[-1].offset_after or 0, len(evidence.values["content"])
    require(
        evidence.files_with_name(evidence.values["name"]),
        f"There is no file named {evidence.values['name']!r}; {stored:,} of {total:,} bytes are stored. Continue until the"
        " status is 200.",
    )
    require_same_content(
        evidence, require_single_file(evidence, evidence.values["name"]), evidence.values["content"], "given.content"
    )
    require_no_updates(evidence, "send the name in the request that opens the session")
    max_requests = -(-total // size) + 3 * _FAULTS + 4
    require(
        len(evidence.requests) <= max_requests,
        f"The upload needed {len(evidence.requests)} requests; {max_requests} are enough. Send a status query only after a fault.",
    )
    faults = sum(1 for request in requests if request.fault)
    return f"There were {faults} faults, and no stored byte was sent again."


def _require_query_after_failure(requests: list[RecordedRequest]) -> None:
    for request, following in itertools.pairwise(requests):
        failed = not request.answered or (request.status or 0) >= 500
        outcome = f"had the status {request.status}" if request.answered else "had no response"
        require(
            not failed or following.is_status_query,
            f"A request of the upload {outcome}, and the next request sent bytes without a status query before. Nobody knows"
            " how many bytes are stored until the service says so.",
        )


LOOP = ExerciseDefinition(
    name="resumable-loop",
    theme="resumable",
    title="Write the upload loop",
    text=(
        "Write a resumable upload with `given.send` only. It sends one request and returns a response with `status`,"
        " `headers` and `body`, or raises `ConnectionError`. Upload `given.content` as the file `given.name`, in chunks of"
        " `given.chunk_size` bytes. Four faults interrupt the upload: before a request arrives, in the middle of a request,"
        " before a response arrives, and a 503. Use one session, send a status query after each fault, and do not send a"
        " stored byte again."
    ),
    hints=(
        "Start with `POST /upload/storage/v3/files?uploadType=resumable` and the JSON body"
        ' `{"name": ...}`; the header `Location` of the response is the address of the session.',
        "Write a function for the status query, an empty PUT with `Content-Range: bytes */TOTAL`. It can fail, too. 308 with"
        " `Range: bytes=0-262143` means 262,144 bytes, 308 without `Range` means none, and 200 means that all are stored.",
        "The loop sends the chunk at `offset`. After `ConnectionError` or a status of at least 500, it sends a status query"
        " and takes the offset from the response. After 308 it takes the offset from `Range`, and after 200 it stops.",
    ),
    set_up=_set_up_loop,
    check=_check_loop,
    by_hand=True,
)

ALL = (GO_ON, EXPIRED, LOOP)
