"""Resumable uploads: core/uploads/server_session.py decides, this room acts (A3).

The bytes of a request go into parts while they come. After every `part_size` bytes, and at the end, one short
transaction adds the part to the session's content and moves `stored`, if no later request has claimed the
session meanwhile. So what the session says is stored is stored, whatever breaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from ...core.api.operations import SESSION
from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Headers, Query, Response
from ...core.http.mime import UNKNOWN
from ...core.http.ranges import ContentRange, stored_range
from ...core.uploads.server_session import (
    ReadPlan,
    ReceivedBody,
    RequestProblem,
    SessionDecision,
    UploadSession,
    after_body,
    before_body,
    cancel,
    refusal,
)
from ...core.uploads.states import UploadState
from ..blobs.blob_store import BLOCK
from ..context.access_tokens import Caller
from ..context.responses import dump, empty, json_bytes, plain
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content import ContentWriter
from ..storage.session_locks import SessionLock
from ..store.contents import PartRange
from ..store.upload_sessions import SessionRow
from .conversion import ConvertedContent, conversion_for, convert
from .operations import NewContent, render_file
from .rows import readable_file
from .simple_upload import (
    OrphanedContent,
    discard_old,
    file_content,
    made_content,
    name_of,
)

_GONE = "This upload session is unknown or has expired: start the upload from the beginning."
_QUESTION = ContentRange(None)


class _SessionTakenOver(Exception):
    """A later request has the session."""


def session_caller(context: ServiceContext, query: Query) -> Caller | None:
    """Who began the session that a URI names."""
    row = context.store.upload_sessions.get(query.get("upload_id") or "")
    return Caller(row.owner, row.client, SESSION.scopes, False, None) if row else None


def serve(context: ServiceContext, request: RequestContext) -> Response:
    """A request on a session URI."""
    key = request.query.get("upload_id") or ""
    row = context.store.upload_sessions.get(key)
    if row is None or row.owner != request.caller.user:
        request.journal_entry.decided_by = "session_uri_is_enough" if row else "A3-14"
        return plain(404, _GONE)
    try:
        return _cancel(context, request, key) if request.method == "DELETE" else _put(context, request, key)
    except _SessionTakenOver:
        request.journal_entry.decided_by = "A3-17"
        return _status_response(context, request, key)


def _cancel(context: ServiceContext, request: RequestContext, key: str) -> Response:
    with context.session_locks.acquire(key, None, urgent=True):
        row = _claim(context, key)
        verdict = cancel(_session(row), context.policy.upload_rule, _now(context))
        return _commit(context, request, row, verdict)


def _put(context: ServiceContext, request: RequestContext, key: str) -> Response:
    asked = _content_range(request.headers)
    urgent = isinstance(asked, ContentRange) and asked.span is None
    with context.session_locks.acquire(key, request.body, urgent=urgent) as turn:
        row = _claim(context, key)
        request.journal_entry.offset_before = row.stored
        decision = _decide(context, request, _session(row), asked)
        if isinstance(decision, SessionDecision):
            return _commit(context, request, row, decision)
        return _ChunkReceiver(context, request, row, turn).take(decision)


def _claim(context: ServiceContext, key: str) -> SessionRow:
    row = context.store.upload_sessions.claim(key)
    if row is None:
        raise _SessionTakenOver
    return row


def _status_response(context: ServiceContext, request: RequestContext, key: str) -> Response:
    """What a status query would answer: for a request whose own bytes did not land."""
    row = context.store.upload_sessions.get(key)
    if row is None:
        return plain(404, _GONE)
    verdict = before_body(_session(row), _QUESTION, 0, context.policy.upload_rule, _now(context))
    return _answer(context, request, row, verdict)


def _content_range(headers: Headers) -> ContentRange | RequestProblem | None:
    """The one Content-Range, or what is wrong with it."""
    sent = headers.all("Content-Range")
    try:
        return ContentRange.parse(", ".join(sent)) if sent else None
    except ValueError as error:
        return RequestProblem(str(error))


def _decide(
    context: ServiceContext,
    request: RequestContext,
    session: UploadSession,
    asked: ContentRange | RequestProblem | None,
) -> ReadPlan | SessionDecision:
    rule, now = context.policy.upload_rule, _now(context)
    if isinstance(asked, RequestProblem):
        verdict = before_body(session, _QUESTION, 0, rule, now)
        return (
            refusal(session, asked, now) if isinstance(verdict, SessionDecision) and verdict.status == 308 else verdict
        )
    length = request.journal_entry.declared
    if length is None and asked and asked.span is None:
        length = len(request.body.read(1))  # of a question all that matters is whether it has a body
    decision = before_body(session, asked, length, rule, now)
    limit = context.policy.max_upload_size
    if isinstance(decision, ReadPlan) and isinstance(decision.total, int) and decision.total > limit:
        raise refuse("tooLarge", limit=limit)
    return decision


class _ChunkReceiver:
    """One request that brings bytes to a session."""

    def __init__(self, context: ServiceContext, request: RequestContext, row: SessionRow, turn: SessionLock) -> None:
        self._context = context
        self._request = request
        self._row = row
        self._turn = turn

    def take(self, intake: ReadPlan) -> Response:
        context, row = self._context, self._row
        inflow = context.content.writer(row.stored, self._keep)
        try:
            received = self._read(intake, inflow)
            verdict = after_body(_session(row), intake, received, context.policy.upload_rule, _now(context))
            last = inflow.finish(verdict.session.stored)
        except BaseException:
            inflow.abort()
            raise
        return _commit(context, self._request, self._row, verdict, inflow, last)

    def _read(self, intake: ReadPlan, inflow: ContentWriter) -> ReceivedBody:
        """Drop what is stored already, append the rest as it comes."""
        skipped, start = 0, inflow.end
        try:
            while skipped < intake.skip and (block := self._next(intake.skip - skipped)):
                skipped += len(block)
            while (left := self._left(intake, inflow.end - start)) and (block := self._next(left)):
                inflow.write(block)
            short = skipped < intake.skip or (intake.take is not None and inflow.end - start < intake.take)
            overlong = not short and intake.take is not None and bool(self._next(1))
        except Disconnected:
            return ReceivedBody(inflow.end - start, broken=True)
        return ReceivedBody(inflow.end - start, broken=short, overlong=overlong)

    def _left(self, intake: ReadPlan, taken: int) -> int:
        if intake.take is not None:
            return min(BLOCK, intake.take - taken)
        if self._row.stored + taken > self._context.policy.max_upload_size:
            raise refuse("tooLarge", limit=self._context.policy.max_upload_size)
        return BLOCK

    def _next(self, size: int) -> bytes:
        if self._turn.interrupted:
            raise Disconnected
        block = self._request.body.read(min(BLOCK, size))
        self._turn.touch()
        return block

    def _keep(self, piece: PartRange) -> None:
        """A full part, and more to come: keep it now, so that a break loses no more than one part."""
        context = self._context
        row = self._row._replace(stored=piece.stop, touched=_now(context))
        with context.store.transaction():
            _save(context, row)
            context.store.contents.append(row.content, piece)
        self._row = row


def _save(context: ServiceContext, row: SessionRow) -> None:
    if not context.store.upload_sessions.save(row):
        raise _SessionTakenOver


class _CommitResult(NamedTuple):
    """What became of a session in its transaction, and what nobody needs any more."""

    row: SessionRow
    replaced: list[OrphanedContent]


def _commit(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    verdict: SessionDecision,
    inflow: ContentWriter | None = None,
    last: PartRange | None = None,
) -> Response:
    """Write what was decided, all of it or nothing, and answer."""
    request.journal_entry.decided_by = verdict.decided_by
    if verdict.session.state is UploadState.EXPIRED:
        _forget(context, row)
        return plain(404, _GONE)
    done: list[_CommitResult] = []

    def write(piece: PartRange | None) -> None:
        with _converted(context, request, row, verdict, piece) as made, context.store.transaction():
            done.append(_write(context, request, row, verdict, piece, made))

    if inflow and last:
        inflow.deliver(last, write)
    else:
        write(None)
    for replaced in done[0].replaced:
        discard_old(context, replaced)
    request.journal_entry.offset_after = verdict.session.stored
    return _answer(context, request, done[0].row, verdict)


def _completes(row: SessionRow, verdict: SessionDecision) -> bool:
    return row.state == UploadState.OPEN.value and verdict.session.state is UploadState.COMPLETE


@contextmanager
def _converted(
    context: ServiceContext, request: RequestContext, row: SessionRow, verdict: SessionDecision, piece: PartRange | None
) -> Iterator[ConvertedContent | None]:
    """What all the bytes become, if these are the last and a native document is asked for; not in a transaction.

    Where that fails the session is as it was: who asks again gets the same answer.
    """
    if not _completes(row, verdict):
        yield None
        return
    begun, metadata, file_id = _as_begun(request, row), json.loads(row.metadata), row.file or ""
    found = conversion_for(context, begun, file_id, metadata, row.media_type)
    before = context.store.contents.pieces(row.content, 0, row.stored) if found else []
    pieces = [*before, piece] if piece else before
    name = name_of(context, begun, file_id, metadata) or ""
    with convert(context, begun, found, name, verdict.session.stored, pieces) as made:
        yield made


def _write(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    verdict: SessionDecision,
    piece: PartRange | None,
    made: ConvertedContent | None,
) -> _CommitResult:
    after, replaced = verdict.session, list[OrphanedContent]()
    new = row._replace(stored=after.stored, total=after.total, state=after.state.value, touched=after.touched)
    _save(context, new)  # first of all: what an overtaken request would do might fail for reasons of the other one
    if piece:
        context.store.contents.append(row.content, piece)
    if _completes(row, verdict):
        new, old = _file(context, request, new, made)
        _save(context, new)
        replaced += [old] if old else []
    if made or (row.state == UploadState.OPEN.value and after.state is UploadState.CANCELLED):
        replaced.append(OrphanedContent(row.content, context.store.contents.drop(row.content)))
    return _CommitResult(new, replaced)


def _file(
    context: ServiceContext, request: RequestContext, row: SessionRow, made: ConvertedContent | None
) -> tuple[SessionRow, OrphanedContent | None]:
    """All bytes are there: the file appears, or gets its new content."""
    metadata = json.loads(row.metadata)
    media_type = metadata.get("mimeType") or row.media_type
    if media_type is None and row.file:
        media_type = readable_file(context, request.caller, row.file).mime_type
    content = made_content(context, made) if made else NewContent(row.content, row.stored, media_type or UNKNOWN)
    filed, replaced = file_content(context, _as_begun(request, row), row.file or "", metadata, content)
    return row._replace(file=filed.id), replaced


def _as_begun(request: RequestContext, row: SessionRow) -> RequestContext:
    return replace(request, query=Query.parse(row.query))


def _forget(context: ServiceContext, row: SessionRow) -> None:
    """A session is over; the bytes of one that never completed go with it."""
    parts = []
    with context.store.transaction():
        context.store.upload_sessions.drop(row.id)
        if row.state == UploadState.OPEN.value:
            parts = context.store.contents.drop(row.content)
    context.content.discard(row.content, parts)


def sweep_sessions(context: ServiceContext) -> None:
    """Forget sessions that have been silent for their lifetime."""
    for row in context.store.upload_sessions.older_than(_now(context) - context.policy.session_lifetime):
        _forget(context, row)


def _answer(
    context: ServiceContext, request: RequestContext, row: SessionRow, verdict: SessionDecision | ReadPlan
) -> Response:
    assert isinstance(verdict, SessionDecision)
    if verdict.status == 200:
        return json_bytes(_completed(context, request, row))
    if verdict.status == 308:
        return _incomplete(request, verdict.session.stored)
    if verdict.status == 404:
        return plain(404, _GONE)
    return plain(verdict.status, verdict.text) if verdict.text else empty(verdict.status)


def _completed(context: ServiceContext, request: RequestContext, row: SessionRow) -> bytes:
    """The file as it was when the upload completed, as the initiation's `fields` select it (edge case 14)."""
    if row.answer is not None:
        return row.answer.encode()
    begun = _as_begun(request, row)
    compact = begun.query.get("prettyPrint") == "false"
    answer = dump(render_file(context, begun, readable_file(context, request.caller, row.file or "")), compact=compact)
    context.store.upload_sessions.save_answer(row.id, answer.decode())
    return answer


def _incomplete(request: RequestContext, stored: int) -> Response:
    known = stored_range(stored)
    headers = [("Range", known)] if known else []
    if request.headers.get("X-Upload-No-308", "").lower() == "yes":
        return empty(200, [*headers, ("X-HTTP-Status-Code-Override", "308")])
    return empty(308, headers)


def _session(row: SessionRow) -> UploadSession:
    return UploadSession(row.stored, row.total, row.touched, UploadState(row.state))


def _now(context: ServiceContext) -> float:
    return context.clock.now().timestamp()
