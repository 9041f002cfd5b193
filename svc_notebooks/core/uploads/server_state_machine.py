"""The service's half of a resumable upload: counts and a deadline, never bytes.

    intake = receive(session, content_range, length, rule, now)    before the body is read
    ...the caller drops `intake.skip` bytes of the body and appends at most `intake.take` of the rest...
    verdict = settle(session, intake, received, rule, now)          after it

`before_body` returns a `SessionDecision` at once where no byte of the body matters: a status query, a refusal, a
session that is over. A decision's session says how many bytes count (`stored`): what the caller appended beyond that
is not part of the upload and must be dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..errors.decision_ids import CONTRADICTION, TOTAL
from ..http.ranges import ByteSpan, ContentRange
from .states import UploadEvent, UploadRule, UploadState, transition


@dataclass(frozen=True, slots=True)
class UploadSession:
    """What the service remembers of an upload: sizes in bytes, `touched` in Unix seconds."""

    stored: int = 0
    total: int | None = None
    touched: float = 0.0
    state: UploadState = UploadState.OPEN


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What to do with a body: drop `skip` bytes, append at most `take` (None: to its end).

    `end` is the size of the whole where this body finishes it: a number, "body" when the body's own end is
    the end of the whole, or None when more must follow. `decided_by` is the rule for what it is.
    """

    skip: int
    take: int | None
    end: int | str | None
    total: int | None
    decided_by: str = "A3-05"


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """How a body ended.

    `appended` counts the bytes after the skipped ones; `broken`: it ended before its declared length, or
    before all that was to be skipped had come; `overlong`: it went on after the last byte to take.
    """

    appended: int
    broken: bool = False
    overlong: bool = False


@dataclass(frozen=True, slots=True)
class SessionDecision:
    """The session as it is now, the status to answer, what decided it and, for a refusal, a sentence in plain text."""

    session: UploadSession
    status: int
    decided_by: str
    text: str = ""


class RequestProblem(NamedTuple):
    """What is wrong with a request, in a sentence, and the rule or choice that says so."""

    text: str
    decided_by: str = CONTRADICTION


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
    """Decide what a PUT on the session URI means, before its body is read; `length` None: not declared."""
    if over := _finished(session, rule, now):
        return over
    if content_range is None:
        return _whole(session, length, now)
    if content_range.span is None:
        return _query(session, content_range.total, length, now)
    return _chunk(session, content_range.span, content_range.total, length, rule, now)


def after_body(
    session: UploadSession, plan: ReadPlan, received: ReceivedBody, rule: UploadRule, now: float
) -> SessionDecision:
    """Decide what a body has come to, after it was read."""
    stored = session.stored + received.appended
    kept = replace(session, stored=max(session.stored, rule.floor(stored)))
    if received.overlong:
        return refusal(kept, RequestProblem("The body is longer than the request said."), now)
    if received.broken or plan.end is None:
        by = "A3-12" if received.broken else "chunk_rule" if kept.stored < stored else plan.decided_by
        return _decision(replace(kept, total=plan.total), UploadEvent.PART, now, rule=by)
    end = stored if plan.end == "body" else plan.end
    if plan.total not in (None, end):
        return refusal(kept, _wrong_total(plan.total, f"this one would end it at {end}"), now)
    if stored != end:
        return refusal(kept, RequestProblem(f"The body ended at byte {stored} of {end}."), now)
    return _decision(replace(session, stored=stored, total=stored), UploadEvent.ALL, now, rule=plan.decided_by)


def _wrong_total(total: int | None, detail: str) -> RequestProblem:
    return RequestProblem(f"The upload was declared with {total} bytes; {detail}.", "A3-03")


def cancel(session: UploadSession, rule: UploadRule, now: float) -> SessionDecision:
    """DELETE on the session URI."""
    return _expired(session, rule, now) or _decision(session, UploadEvent.CANCEL, now)


def refusal(session: UploadSession, problem: RequestProblem, now: float) -> SessionDecision:
    """A request that is wrong in itself: the session stays open where it was."""
    return _decision(session, UploadEvent.REFUSED, now, problem.text, rule=problem.decided_by)


def _decision(
    session: UploadSession, event: UploadEvent, now: float, text: str = "", *, rule: str | None = None
) -> SessionDecision:
    """The table's move; `rule` where something more particular than its row decided."""
    state, status, decided_by = transition(session.state, event)
    return SessionDecision(replace(session, state=state, touched=now), status, rule or decided_by, text)


def _expired(session: UploadSession, rule: UploadRule, now: float) -> SessionDecision | None:
    if session.state is not UploadState.EXPIRED and now - session.touched < rule.lifetime:
        return None
    state, status, decided_by = transition(session.state, UploadEvent.SILENCE)
    return SessionDecision(replace(session, state=state), status, decided_by)


def _finished(session: UploadSession, rule: UploadRule, now: float) -> SessionDecision | None:
    if expired := _expired(session, rule, now):
        return expired
    return None if session.state is UploadState.OPEN else _decision(session, UploadEvent.QUERY, now)


def _query(session: UploadSession, total: int | None, length: int | None, now: float) -> SessionDecision:
    if length:
        return refusal(session, RequestProblem("Client sent query request with a non-empty body.", "A3-09"), now)
    if total == session.stored and session.total in (None, total):
        return _decision(replace(session, total=total), UploadEvent.ALL, now, rule=TOTAL if total else "A3-16")
    return _decision(session, UploadEvent.QUERY, now)


def _whole(session: UploadSession, length: int | None, now: float) -> ReadPlan | SessionDecision:
    if None not in (length, session.total) and length != session.total:
        return refusal(session, _wrong_total(session.total, f"this body has {length}"), now)
    total = session.total if length is None else length
    if total is None:
        return ReadPlan(session.stored, None, "body", None)
    if total < session.stored:
        return refusal(
            session, RequestProblem(f"The body has {total} bytes, but {session.stored} are stored already."), now
        )
    return ReadPlan(session.stored, total - session.stored, total, total, "A3-05" if total else "A3-16")


def _chunk(
    session: UploadSession, span: ByteSpan, total: int | None, length: int | None, rule: UploadRule, now: float
) -> ReadPlan | SessionDecision:
    if problem := _contradiction(session, span, total, length) or _chunk_size_problem(span, total, session.total, rule):
        return refusal(session, problem, now)
    if span.first > session.stored:
        return _decision(session, UploadEvent.GAP, now, GAP.format(first=span.first, stored=session.stored))
    return _read_plan(session, span, session.total if total is None else total)


def _contradiction(
    session: UploadSession, span: ByteSpan, total: int | None, length: int | None
) -> RequestProblem | None:
    if span.size is not None and length is not None and length != span.size:
        return RequestProblem(f"Content-Range names {span.size} bytes, but the body has {length}.")
    if total is None:
        return _beyond_total(span, session.total)
    if session.total not in (None, total):
        return RequestProblem(f"Content-Range names a total of {total} bytes; the upload has {session.total}.")
    if total < session.stored:
        return RequestProblem(f"Content-Range names a total of {total} bytes, but {session.stored} are stored already.")
    return _beyond_total(span, total)


def _beyond_total(span: ByteSpan, total: int | None) -> RequestProblem | None:
    if total is None or span.last is None or span.last < total:
        return None
    return RequestProblem(f"Content-Range reaches byte {span.last}, but the upload has {total} bytes.")


def _chunk_size_problem(
    span: ByteSpan, total: int | None, known_total: int | None, rule: UploadRule
) -> RequestProblem | None:
    end = known_total if total is None else total
    if span.size is None or (end is not None and span.last == end - 1):
        return None
    if span.size < rule.quantum:
        return RequestProblem(SMALL_CHUNK.format(quantum=rule.quantum, size=span.size), "A3-10")
    if rule.strict and span.size % rule.quantum:
        return RequestProblem(UNEVEN_CHUNK.format(quantum=rule.quantum, size=span.size), "chunk_rule")
    return None


def _read_plan(session: UploadSession, span: ByteSpan, total: int | None) -> ReadPlan:
    skip = session.stored - span.first
    if span.last is None:
        return ReadPlan(skip, None if total is None else total - session.stored, "body", total, "A3-15")
    take = max(0, span.last + 1 - session.stored)
    ends = total is not None and span.last == total - 1
    return ReadPlan(skip, take, total if ends else None, total, _chunk_rule(skip, ends, total))


def _chunk_rule(skip: int, ends: bool, total: int | None) -> str:
    """What decides on a chunk: that it is the last, that it repeats stored bytes, that nobody knows the end."""
    if ends:
        return "A3-08"
    return "A3-11" if skip else "A3-15" if total is None else "A3-06"
