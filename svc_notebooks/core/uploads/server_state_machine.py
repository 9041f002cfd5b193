"""The service side of a resumable upload as a state machine without I/O (A3).

    plan = before_body(session, content_range, length, rule, now)
    ...the caller drops `plan.skip` bytes of the body and appends at most `plan.take` of the rest...
    decision = after_body(session, plan, received, rule, now)

`before_body` returns a `SessionDecision` if the body does not matter (status query, refused request, closed session).
The caller must drop appended bytes beyond `decision.session.stored`, which is the size of the upload.
"""

from __future__ import annotations

from typing import NamedTuple

from ..http.ranges import ByteSpan, ContentRange
from .transitions import UploadEvent, UploadRule, UploadState, transition


class UploadSession(NamedTuple):
    """An upload session of the service. Sizes are in bytes, `touched` is the Unix time of the last request."""

    stored: int = 0
    total: int | None = None
    touched: float = 0.0
    state: UploadState = UploadState.OPEN


class ReadPlan(NamedTuple):
    """The plan to drop `skip` bytes of a body, then append at most `take` bytes (None for all).

    `end` is the upload size if this body completes the upload, "body" if the upload ends with the body, or None if more
    bytes must follow. `decided_by` is the rule behind the plan.
    """

    skip: int
    take: int | None
    end: int | str | None
    total: int | None
    decided_by: str = "A3-05"


class ReceivedBody(NamedTuple):
    """The result of reading a body. `broken` means an early end, and `overlong` more bytes than expected."""

    appended: int
    broken: bool = False
    overlong: bool = False


class SessionDecision(NamedTuple):
    """The response to a session URI request, with an error message or "" as `text`, and the session afterwards."""

    session: UploadSession
    status: int
    decided_by: str
    text: str = ""


class RequestProblem(NamedTuple):
    """An error message about a request, and the rule or decision behind the error."""

    text: str
    decided_by: str = "A contradictory Content-Range"


SMALL_CHUNK = (
    "Invalid request.  The number of bytes uploaded is required to be equal or greater than {quantum}, except for "
    "the final request: this chunk has {size} bytes."
)
UNEVEN_CHUNK = "Invalid request.  A chunk before the last must be a multiple of {quantum} bytes: this one has {size}."
GAP = (
    "Invalid request.  According to the Content-Range header, the upload offset is {first} byte(s), which exceeds "
    "already uploaded size of {stored} byte(s)."
)


def before_body(
    session: UploadSession, content_range: ContentRange | None, length: int | None, rule: UploadRule, now: float
) -> ReadPlan | SessionDecision:
    """Return a plan for reading a PUT body of `length` bytes (None if undeclared), or a decision that needs no body."""
    if session.state is UploadState.EXPIRED or now - session.touched >= rule.lifetime:
        return _expire(session)
    if session.state is not UploadState.OPEN:
        return _decision(session, UploadEvent.QUERY, now)
    if content_range is None:
        return _whole(session, length, now)
    if content_range.span is None:
        return _query(session, content_range.total, length, now)
    return _chunk(session, content_range.span, content_range.total, length, rule, now)


def after_body(
    session: UploadSession, plan: ReadPlan, received: ReceivedBody, rule: UploadRule, now: float
) -> SessionDecision:
    """Return the new session and response status after the body of a PUT to the session URI was read."""
    stored = session.stored + received.appended
    kept_size = max(session.stored, stored - stored % rule.quantum)
    if not received.overlong and (received.broken or plan.end is None):
        by = "A3-12" if received.broken else "chunk_rule" if kept_size < stored else plan.decided_by
        return _decision(session._replace(stored=kept_size, total=plan.total), UploadEvent.PART, now, rule=by)
    kept = session._replace(stored=kept_size)
    if received.overlong:
        return refusal(kept, RequestProblem("The body is longer than the request declared."), now)
    end = stored if plan.end == "body" else plan.end
    if plan.total not in (None, end):
        return refusal(kept, _wrong_total(plan.total, f"this body ends at byte {end}"), now)
    if stored != end:
        return refusal(kept, RequestProblem(f"The body ended at byte {stored}, but must end at byte {end}."), now)
    return _decision(session._replace(stored=stored, total=stored), UploadEvent.ALL, now, rule=plan.decided_by)


def cancel(session: UploadSession, rule: UploadRule, now: float) -> SessionDecision:
    """Return the new session and response status for a DELETE to the session URI."""
    if session.state is UploadState.EXPIRED or now - session.touched >= rule.lifetime:
        return _expire(session)
    return _decision(session, UploadEvent.CANCEL, now)


def refusal(session: UploadSession, problem: RequestProblem, now: float) -> SessionDecision:
    """Return the decision to refuse a request. The session stays open with the same stored bytes."""
    return _decision(session, UploadEvent.REFUSED, now, problem.text, rule=problem.decided_by)


def _decision(
    session: UploadSession, event: UploadEvent, now: float, text: str = "", *, rule: str | None = None
) -> SessionDecision:
    """Return the decision for a session event by the transition table. `rule` replaces the table's rule."""
    state, status, decided_by = transition(session.state, event)
    after = UploadSession(session.stored, session.total, now, state)
    return SessionDecision(after, status, rule or decided_by, text)


def _expire(session: UploadSession) -> SessionDecision:
    state, status, decided_by = transition(session.state, UploadEvent.SILENCE)
    return SessionDecision(session._replace(state=state), status, decided_by)


def _wrong_total(total: int | None, detail: str) -> RequestProblem:
    return RequestProblem(f"The upload was declared with {total} bytes, but {detail}.", "A3-03")


def _query(session: UploadSession, total: int | None, length: int | None, now: float) -> SessionDecision:
    if length:
        return refusal(session, RequestProblem("Client sent query request with a non-empty body.", "A3-09"), now)
    if total == session.stored and session.total in (None, total):
        by = "A status query with another total" if total else "A3-16"
        return _decision(session._replace(total=total), UploadEvent.ALL, now, rule=by)
    return _decision(session, UploadEvent.QUERY, now)


def _whole(session: UploadSession, length: int | None, now: float) -> ReadPlan | SessionDecision:
    """Return the plan or decision for a body without Content-Range, which is the whole upload."""
    if None not in (length, session.total) and length != session.total:
        return refusal(session, _wrong_total(session.total, f"this body has {length} bytes"), now)
    total = session.total if length is None else length
    if total is None:
        return ReadPlan(session.stored, None, "body", None)
    if total < session.stored:
        problem = RequestProblem(f"The body has {total} bytes, but {session.stored} bytes are already stored.")
        return refusal(session, problem, now)
    return ReadPlan(session.stored, total - session.stored, total, total, "A3-05" if total else "A3-16")


def _chunk(
    session: UploadSession, span: ByteSpan, total: int | None, length: int | None, rule: UploadRule, now: float
) -> ReadPlan | SessionDecision:
    if problem := _chunk_problem(session, span, total, length, rule):
        return refusal(session, problem, now)
    if span.first > session.stored:
        return _decision(session, UploadEvent.GAP, now, GAP.format(first=span.first, stored=session.stored))
    skip = session.stored - span.first
    if total is None:
        total = session.total
    if span.last is None:
        return ReadPlan(skip, None if total is None else total - session.stored, "body", total, "A3-15")
    skip = min(skip, span.last + 1 - span.first)  # all bytes of a chunk that is stored already
    take = max(0, span.last + 1 - session.stored)
    if span.last + 1 == total:
        return ReadPlan(skip, take, total, total, "A3-08")
    return ReadPlan(skip, take, None, total, "A3-11" if skip else "A3-15" if total is None else "A3-06")


def _chunk_problem(
    session: UploadSession, span: ByteSpan, total: int | None, length: int | None, rule: UploadRule
) -> RequestProblem | None:
    """Return the problem of a Content-Range or of the chunk's size, or None."""
    size = None if span.last is None else span.last + 1 - span.first
    if size is not None and length is not None and length != size:
        return RequestProblem(f"Content-Range declares {size} bytes, but the body has {length}.")
    if total is None:
        total = session.total
    elif session.total not in (None, total):
        return RequestProblem(f"Content-Range declares a total of {total} bytes, but the upload has {session.total}.")
    elif total < session.stored:
        return RequestProblem(f"Content-Range declares {total} bytes, but {session.stored} bytes are already stored.")
    if span.last is None or size is None:
        return None
    if total is not None and span.last >= total:
        return RequestProblem(f"Content-Range reaches byte {span.last}, but the upload has {total} bytes.")
    if span.last + 1 == total:  # the last chunk may have any size
        return None
    if size < rule.quantum:
        return RequestProblem(SMALL_CHUNK.format(quantum=rule.quantum, size=size), "A3-10")
    if rule.strict and size % rule.quantum:
        return RequestProblem(UNEVEN_CHUNK.format(quantum=rule.quantum, size=size), "chunk_rule")
    return None
