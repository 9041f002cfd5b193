"""Exercises about resuming an upload, restarting an expired upload, and writing the loop of a resumable upload."""

import itertools
import re
from collections.abc import Callable
from random import Random
from urllib.parse import urlsplit

from ...core.http.messages import JSONObject, Query, Request, as_body
from ..definition import ExerciseDefinition, Part, Value, quantity, require
from ..evidence import (
    CONTENT,
    NAME,
    Evidence,
    RecordedRequest,
    named_file,
    require_file,
    require_no_updates,
    require_same_content,
)
from ..exercise_service import ExerciseService

_KIB = 1024
QUANTUM = 256 * _KIB
_FILM = "film.mp4"
_CANCELLED = 499
_RANGE = re.compile(r"bytes\s+(\d+)-(\d+|\*)/(\d+|\*)", re.IGNORECASE)


def start_upload(exercise: ExerciseService, name: str, content: bytes, stored: int) -> str:
    """Begin a resumable upload, send the first `stored` bytes of the content, and return the session URI."""
    session = exercise.session()
    body = f'{{"name": "{name}"}}'.encode()
    headers = session.headers(("Content-Type", "application/json"), ("Content-Length", str(len(body))))
    url = session.url(session.names.upload_path("files"), {"uploadType": "resumable"})
    uri = session.send(Request("POST", url, headers, body)).headers["Location"]
    content_range = ("Content-Range", f"bytes 0-{stored - 1}/{len(content)}")
    part_headers = session.headers(content_range, ("Content-Length", str(stored)))
    session.send(Request("PUT", uri, part_headers, content[:stored]))
    exercise.check_data["session_id"] = Query.parse(urlsplit(uri).query).get("upload_id")
    return str(uri)


def _span(request: RecordedRequest) -> tuple[int, int]:
    """Return the first byte position of a request, and the number of bytes that it was to send."""
    match = _RANGE.match(request.content_range)
    first = int(match[1]) if match else 0
    return first, int(match[2]) + 1 - first if match and match[2] != "*" else request.received


def _requests_to(evidence: Evidence, session_id: str, owner: str) -> list[RecordedRequest]:
    """Return the requests to an upload session.

    Raises CheckFailedError if there is none, or one to another session, or if the session was cancelled.
    """
    requests = [request for request in evidence.requests if "upload_id" in request.query]
    others = sum(1 for request in requests if request.session_id != session_id)
    message = f"{quantity(others, 'request')} had the address of another session, which knows nothing about this upload. Send all requests to {owner}."
    require(not others, message)
    require(requests, f"Nothing was sent to {owner}. Begin with a status query.")
    cancelled = "The session was cancelled with DELETE, so it can no longer be finished. begin() starts again."
    require(not any(request.method == "DELETE" and request.status == _CANCELLED for request in requests), cancelled)
    return requests


def require_no_overlap(requests: list[RecordedRequest]) -> None:
    """Raise CheckFailedError if no request sent bytes, or one sent bytes that were already stored, or skipped bytes."""
    parts = [it for it in requests if it.sends_bytes and not (it.fault and it.offset_before is None)]
    require(parts, "No request sent bytes to the session.")
    method = next((request.method for request in parts if request.method != "PUT"), None)
    require(method is None, f"A {method} request sent bytes to the session. Send them with PUT, and each of them once.")
    for request in parts:
        first, stored = _span(request)[0], request.offset_before or 0
        message = f"A request sent bytes from {first:,} on, but {stored:,} were already stored, so some bytes were sent twice."
        require(first >= stored, message)
        require(first == stored, f"A request sent bytes from {first:,} on, but the next missing byte was {stored:,}.")


def require_end(requests: list[RecordedRequest], total: int) -> None:
    """Raise CheckFailedError if no request has finished the upload of `total` bytes."""
    stored = max((request.offset_after or 0 for request in requests), default=0)
    finished = any(request.status in (200, 201) for request in requests)
    require(finished, f"The session has {stored:,} of {total:,} bytes, and no file yet. Send the missing bytes.")


def _set_up_go_on(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    content = rng.randbytes(9 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise, _FILM, content, rng.randrange(2, 9) * QUANTUM)
    return {"session_uri": uri, "content": content}


def _require_no_new_upload(evidence: Evidence) -> None:
    new = [request for request in evidence.requests_of("files.create") if request.succeeded or request.fault]
    message = f"The service received {quantity(len(new), 'new upload')}, although the session is still open. Send the missing bytes to given.session_uri."
    require(not new, message)
    _own_requests(evidence)


def _own_requests(evidence: Evidence) -> list[RecordedRequest]:
    return _requests_to(evidence, evidence.check_data["session_id"], "given.session_uri")


def _require_query_first(evidence: Evidence) -> None:
    requests = _own_requests(evidence)
    bytes_sent = next((request.n for request in requests if request.sends_bytes), None)
    asked = next((request.n for request in requests if request.is_status_query and not request.refused), None)
    require(asked or bytes_sent, "No status query got a response. Only its response tells how many bytes are stored.")
    message = "The first request to the session sent bytes. Send a status query first: only its response tells how many bytes are stored."
    require(asked and asked < (bytes_sent or asked + 1), message)


def _require_finished(evidence: Evidence) -> str:
    require_end(_own_requests(evidence), len(evidence.values["content"]))
    own = [file for file in evidence.files if evidence.creations_of(file["id"])]
    require(own, "The upload was finished, but its file no longer exists: there is no file. begin() starts again.")
    renamed = f"The upload is finished, but the file is now called {own[0]['name']!r} instead of {_FILM!r}."
    require(own[0]["name"] == _FILM, renamed)
    file = require_file(evidence, _FILM)
    require_no_updates(evidence, file, "send its content in this session")
    require_same_content(evidence, file, evidence.values["content"])
    return "A status query came first, and then the missing bytes, none of them twice."


GO_ON = ExerciseDefinition(
    name="go-on-where-it-stopped",
    set_up=_set_up_go_on,
    parts=(
        Part("no other upload", _require_no_new_upload),
        Part("a status query first", _require_query_first, 2),
        Part("no byte twice, and none left out", lambda evidence: require_no_overlap(_own_requests(evidence)), 2),
        Part("the upload is finished", _require_finished, 2, ("upload.session",)),
    ),
    creates=1,
)


def _set_up_expired(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    name = f"night-{rng.randrange(10, 100)}.raw"
    content = rng.randbytes(3 * QUANTUM + rng.randrange(1000, 90_000))
    uri = start_upload(exercise, name, content, QUANTUM)
    exercise.clock.advance("8d")
    return {"session_uri": uri, "name": name, "content": content}


def _old_requests(evidence: Evidence) -> list[RecordedRequest]:
    session_id = evidence.check_data["session_id"]
    requests = [request for request in evidence.requests_of("upload.session") if request.session_id == session_id]
    require(requests, "No request asked for the state of the old session. Send a status query to given.session_uri.")
    return requests


def _new_upload(evidence: Evidence) -> RecordedRequest:
    """Return the request that began the upload of the file that exists, or the last new upload without a file."""
    uploads = evidence.succeeded("files.create")
    message = "The session has expired, and no new upload was started. The response 404 means that the stored bytes are gone: start again with the first byte."
    require(uploads, message)
    ids = {file["id"] for file in evidence.files}
    ends = {request.session_id: request for request in evidence.succeeded("upload.session")}
    kept = [upload for upload in uploads if ends.get(upload.session_id, upload).response_json.get("id") in ids]
    return (kept or uploads)[-1]


def _require_known_end(evidence: Evidence) -> None:
    requests = _old_requests(evidence)
    asked = [request.n for request in requests if request.is_status_query and request.status == 404]
    sent = [request.n for request in requests if request.sends_bytes]
    message = "The first request to the old session sent bytes, or its response does not show the state of the session. Send a status query first, because the session may be gone."
    require(asked and asked[0] < min(sent, default=asked[0] + 1), message)
    message = "The new upload was started before the status query. Only its response tells whether the old session has expired, so send the status query first."
    require(asked[0] < _new_upload(evidence).n, message)


def _require_old_left(evidence: Evidence) -> None:
    requests = _old_requests(evidence)
    sent = sum(1 for request in requests if request.sends_bytes)
    require(not sent, f"{quantity(sent, 'request')} sent bytes to the old session, which has expired.")
    message = f"The old session received {len(requests)} requests. Its response is always 404, so one is enough."
    require(len(requests) <= 2, message)


def _require_resumable(evidence: Evidence) -> None:
    upload_type = _new_upload(evidence).upload_type
    message = f"The new upload had the type {upload_type or 'without content'!r} and not 'resumable'. Look at the column `query` of svc.exchanges(). Delete its file, and upload it again."
    require(upload_type == "resumable", message)


def _require_name_in_session(evidence: Evidence) -> str:
    require_no_updates(evidence, named_file(evidence), "send the name and the content in the new session")
    return "The old session had expired, and a new session received all bytes."


EXPIRED = ExerciseDefinition(
    name="expired-session",
    set_up=_set_up_expired,
    parts=(
        Part("a status query first", _require_known_end, 2),
        Part("the old session is left alone", _require_old_left),
        Part("a new resumable upload", _require_resumable, operations=("files.create",)),
        NAME,
        CONTENT,
        Part("name and content in the new session", _require_name_in_session),
    ),
    creates=1,
)


def draw_faults(rng: Random) -> list[JSONObject]:
    """Return the steps of a fault plan, in a random order, for an upload that sends a status query after each fault.

    Each kind of fault hits a chunk, and a status query fails in both ways. A chunk that is cut is stored in part. Without
    any of them, a loop that ignores the response to its status queries, or sends them only once, could succeed.
    """
    plain: list[JSONObject] = [{"status": 503}, {"reset": "before"}]
    stored: list[JSONObject] = [{"reset": "after"}, {"cut_request_after": rng.randrange(QUANTUM + 1, 2 * QUANTUM)}]
    first, last = rng.sample(plain, 2)
    others = [(2, last), *((2, fault) for fault in stored), *((1, fault) for fault in plain)]
    rng.shuffle(others)
    # After a fault, the first request is a status query, and the second sends a chunk. Before the first fault, the
    # second request may be either.
    steps = [(2, first), *others]
    return [{"match": {"operation": "upload.session", "nth": nth}, "action": fault} for nth, fault in steps]


def _store_in_part(first: int) -> Callable[[Request], Request]:
    """Return a function that shortens the first chunk from this byte on to 256 KiB: services may store a part of it."""
    shortened = False

    def alter(request: Request) -> Request:
        nonlocal shortened
        match = _RANGE.match(request.headers.get("Content-Range", ""))
        if shortened or not match or match[2] == "*" or int(match[1]) < first:
            return request
        if int(match[2]) - int(match[1]) <= QUANTUM:
            return request
        shortened = True
        content_range = f"bytes {match[1]}-{int(match[1]) + QUANTUM - 1}/{match[3]}"
        headers = request.headers.plus(("Content-Range", content_range), ("Content-Length", str(QUANTUM)))
        return Request(request.method, request.url, headers, as_body(request.body).read(2 * QUANTUM)[:QUANTUM])

    return alter


def _set_up_loop(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    exercise.service.add_faults({"steps": [*draw_faults(rng)], "in_order": True})
    exercise.alter = _store_in_part(8 * QUANTUM)
    return {
        "name": f"tape-{rng.randrange(100, 1000)}.wav",
        "content": rng.randbytes(14 * QUANTUM + rng.randrange(1000, 200_000)),
        "chunk_size": 2 * QUANTUM,
    }


def _require_one_session(evidence: Evidence) -> None:
    new_uploads = evidence.succeeded("files.create")
    require(new_uploads, "No upload was started. A session begins with a POST request.")
    upload_types = {request.upload_type for request in new_uploads}
    message = "The content was not sent in a resumable upload. Open a session with uploadType=resumable."
    require(upload_types == {"resumable"}, message)
    message = f"The service opened {len(new_uploads)} sessions. After a fault, the first session is still open: continue in it."
    require(len(new_uploads) == 1, message)


def _loop_requests(evidence: Evidence) -> list[RecordedRequest]:
    _require_one_session(evidence)
    session_id = evidence.succeeded("files.create")[0].session_id or ""
    return _requests_to(evidence, session_id, "the address in the header Location")


def require_query_after_failure(requests: list[RecordedRequest]) -> None:
    """Raise CheckFailedError if a request to a session failed, and the next one was no status query."""
    for request, following in itertools.pairwise(requests):
        failed = not request.answered or (request.status or 0) >= 500
        outcome = f"had the status {request.status}" if request.answered else "had no response"
        message = f"A request of the upload {outcome}, and the next request sent bytes without a status query before. Nobody knows how many bytes are stored until the service says so."
        require(not failed or following.is_status_query, message)


def _require_queries(evidence: Evidence) -> str:
    requests = _loop_requests(evidence)
    require_query_after_failure(requests)
    faults = sum(1 for request in requests if request.fault)
    require(faults, "No fault has interrupted the upload yet. Send the content in chunks.")
    return f"There were {faults} faults, and no stored byte was sent again."


def _require_chunks(evidence: Evidence) -> None:
    size, total = evidence.values["chunk_size"], len(evidence.values["content"])
    spans = [_span(request) for request in _loop_requests(evidence) if request.sends_bytes]
    require(spans, "No request sent a chunk.")
    for first, sent in spans:
        advice = "Look at the column `sent` of svc.exchanges()."
        require(sent <= size, f"A request sent {sent:,} bytes; a chunk must have at most {size:,}. {advice}")
        is_short = sent < size and (first + sent) % size and first + sent != total
        require(not is_short, f"A request sent {sent:,} bytes; a chunk before the last has {size:,}. {advice}")


def _require_loop_finished(evidence: Evidence) -> None:
    require_end(_loop_requests(evidence), len(evidence.values["content"]))
    require_no_updates(evidence, named_file(evidence), "send the name in the request that opens the session")


LOOP = ExerciseDefinition(
    name="resumable-loop",
    set_up=_set_up_loop,
    parts=(
        Part("one resumable session", _require_one_session, operations=("files.create",)),
        Part("chunks of given.chunk_size", _require_chunks),
        Part("a status query after each fault", _require_queries, 2),
        Part("Range obeyed, no byte twice", lambda evidence: require_no_overlap(_loop_requests(evidence)), 2),
        Part("the upload is finished", _require_loop_finished, 2),
        NAME,
        CONTENT,
    ),
    by_hand=True,
    creates=1,
)

ALL = (GO_ON, EXPIRED, LOOP)
