"""Serves requests on upload sessions: core/uploads/server_state_machine.py decides, this module acts (A3).

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
from ...core.uploads.server_state_machine import (
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
from ..context.responses import empty_response, encode_json, json_bytes, text_response
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content_io import ContentWriter
from ..storage.session_locks import SessionLock
from ..tables.contents import PartRange
from ..tables.upload_sessions import SessionRow
from .conversion import ConvertedContent, conversion_for, convert
from .operations import NewContent, render_file
from .rows import readable_file
from .simple_upload import (
    OrphanedContent,
    converted_content,
    discard_orphaned,
    file_name,
    store_content,
)

_UNKNOWN_SESSION = "This upload session is unknown or has expired: start the upload from the beginning."
_STATUS_QUERY = ContentRange(None)


class _SessionTakenOver(Exception):
    """A later request has the session."""


def session_caller(context: ServiceContext, query: Query) -> Caller | None:
    """Who began the session that a URI names."""
    row = context.store.upload_sessions.get(query.get("upload_id") or "")
    return Caller(row.owner, row.client, SESSION.scopes, False, None) if row else None


def serve(context: ServiceContext, request: RequestContext) -> Response:
    """A request on a session URI."""
    session_id = request.query.get("upload_id") or ""
    row = context.store.upload_sessions.get(session_id)
    if row is None or row.owner != request.caller.user:
        request.journal_entry.decided_by = "session_uri_is_enough" if row else "A3-14"
        return text_response(404, _UNKNOWN_SESSION)
    try:
        return (
            _cancel(context, request, session_id) if request.method == "DELETE" else _put(context, request, session_id)
        )
    except _SessionTakenOver:
        request.journal_entry.decided_by = "A3-17"
        return _status_response(context, request, session_id)


def _cancel(context: ServiceContext, request: RequestContext, session_id: str) -> Response:
    with context.session_locks.acquire(session_id, None, urgent=True):
        row = _claim(context, session_id)
        decision = cancel(_session_state(row), context.policy.upload_rule, _now(context))
        return _commit(context, request, row, decision)


def _put(context: ServiceContext, request: RequestContext, session_id: str) -> Response:
    content_range = _content_range(request.headers)
    urgent = isinstance(content_range, ContentRange) and content_range.span is None
    with context.session_locks.acquire(session_id, request.body, urgent=urgent) as lock:
        row = _claim(context, session_id)
        request.journal_entry.offset_before = row.stored
        decision = _decide(context, request, _session_state(row), content_range)
        if isinstance(decision, SessionDecision):
            return _commit(context, request, row, decision)
        return _ChunkReceiver(context, request, row, lock).take(decision)


def _claim(context: ServiceContext, session_id: str) -> SessionRow:
    row = context.store.upload_sessions.claim(session_id)
    if row is None:
        raise _SessionTakenOver
    return row


def _status_response(context: ServiceContext, request: RequestContext, session_id: str) -> Response:
    """What a status query would answer: for a request whose own bytes did not land."""
    row = context.store.upload_sessions.get(session_id)
    if row is None:
        return text_response(404, _UNKNOWN_SESSION)
    decision = before_body(_session_state(row), _STATUS_QUERY, 0, context.policy.upload_rule, _now(context))
    return _response(context, request, row, decision)


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
    content_range: ContentRange | RequestProblem | None,
) -> ReadPlan | SessionDecision:
    rule, now = context.policy.upload_rule, _now(context)
    if isinstance(content_range, RequestProblem):
        decision = before_body(session, _STATUS_QUERY, 0, rule, now)
        return (
            refusal(session, content_range, now)
            if isinstance(decision, SessionDecision) and decision.status == 308
            else decision
        )
    length = request.journal_entry.declared
    if length is None and content_range and content_range.span is None:
        length = len(request.body.read(1))  # of a question all that matters is whether it has a body
    decision = before_body(session, content_range, length, rule, now)
    limit = context.policy.max_upload_size
    if isinstance(decision, ReadPlan) and isinstance(decision.total, int) and decision.total > limit:
        raise refuse("tooLarge", limit=limit)
    return decision


class _ChunkReceiver:
    """One request that brings bytes to a session."""

    def __init__(self, context: ServiceContext, request: RequestContext, row: SessionRow, lock: SessionLock) -> None:
        self._context = context
        self._request = request
        self._row = row
        self._lock = lock

    def take(self, plan: ReadPlan) -> Response:
        context, row = self._context, self._row
        writer = context.content.writer(row.stored, self._store_part)
        try:
            received = self._read(plan, writer)
            decision = after_body(_session_state(row), plan, received, context.policy.upload_rule, _now(context))
            last = writer.finish(decision.session.stored)
        except BaseException:
            writer.abort()
            raise
        return _commit(context, self._request, self._row, decision, writer, last)

    def _read(self, plan: ReadPlan, writer: ContentWriter) -> ReceivedBody:
        """Drop what is stored already, append the rest as it comes."""
        skipped, start = 0, writer.end
        try:
            while skipped < plan.skip and (block := self._read_block(plan.skip - skipped)):
                skipped += len(block)
            while (size := self._read_size(plan, writer.end - start)) and (block := self._read_block(size)):
                writer.write(block)
            short = skipped < plan.skip or (plan.take is not None and writer.end - start < plan.take)
            overlong = not short and plan.take is not None and bool(self._read_block(1))
        except Disconnected:
            return ReceivedBody(writer.end - start, broken=True)
        return ReceivedBody(writer.end - start, broken=short, overlong=overlong)

    def _read_size(self, plan: ReadPlan, taken: int) -> int:
        if plan.take is not None:
            return min(BLOCK, plan.take - taken)
        if self._row.stored + taken > self._context.policy.max_upload_size:
            raise refuse("tooLarge", limit=self._context.policy.max_upload_size)
        return BLOCK

    def _read_block(self, size: int) -> bytes:
        if self._lock.interrupted:
            raise Disconnected
        block = self._request.body.read(min(BLOCK, size))
        self._lock.touch()
        return block

    def _store_part(self, piece: PartRange) -> None:
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
    decision: SessionDecision,
    writer: ContentWriter | None = None,
    last: PartRange | None = None,
) -> Response:
    """Write what was decided, all of it or nothing, and answer."""
    request.journal_entry.decided_by = decision.decided_by
    if decision.session.state is UploadState.EXPIRED:
        _drop_session(context, row)
        return text_response(404, _UNKNOWN_SESSION)
    done: list[_CommitResult] = []

    def write(piece: PartRange | None) -> None:
        with _converted_content(context, request, row, decision, piece) as converted, context.store.transaction():
            done.append(_write_decision(context, request, row, decision, piece, converted))

    if writer and last:
        writer.deliver(last, write)
    else:
        write(None)
    for replaced in done[0].replaced:
        discard_orphaned(context, replaced)
    request.journal_entry.offset_after = decision.session.stored
    return _response(context, request, done[0].row, decision)


def _completes(row: SessionRow, decision: SessionDecision) -> bool:
    return row.state == UploadState.OPEN.value and decision.session.state is UploadState.COMPLETE


@contextmanager
def _converted_content(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    decision: SessionDecision,
    piece: PartRange | None,
) -> Iterator[ConvertedContent | None]:
    """What all the bytes become, if these are the last and a native document is asked for; not in a transaction.

    Where that fails the session is as it was: who asks again gets the same answer.
    """
    if not _completes(row, decision):
        yield None
        return
    initiation, metadata, file_id = _initiation_request(request, row), json.loads(row.metadata), row.file or ""
    conversion = conversion_for(context, initiation, file_id, metadata, row.media_type)
    before = context.store.contents.pieces(row.content, 0, row.stored) if conversion else []
    pieces = [*before, piece] if piece else before
    name = file_name(context, initiation, file_id, metadata) or ""
    with convert(context, initiation, conversion, name, decision.session.stored, pieces) as converted:
        yield converted


def _write_decision(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    decision: SessionDecision,
    piece: PartRange | None,
    converted: ConvertedContent | None,
) -> _CommitResult:
    after, replaced = decision.session, list[OrphanedContent]()
    new = row._replace(stored=after.stored, total=after.total, state=after.state.value, touched=after.touched)
    _save(context, new)  # first of all: what an overtaken request would do might fail for reasons of the other one
    if piece:
        context.store.contents.append(row.content, piece)
    if _completes(row, decision):
        new, old = _store_file(context, request, new, converted)
        _save(context, new)
        replaced += [old] if old else []
    if converted or (row.state == UploadState.OPEN.value and after.state is UploadState.CANCELLED):
        replaced.append(OrphanedContent(row.content, context.store.contents.drop(row.content)))
    return _CommitResult(new, replaced)


def _store_file(
    context: ServiceContext, request: RequestContext, row: SessionRow, converted: ConvertedContent | None
) -> tuple[SessionRow, OrphanedContent | None]:
    """All bytes are there: the file appears, or gets its new content."""
    metadata = json.loads(row.metadata)
    media_type = metadata.get("mimeType") or row.media_type
    if media_type is None and row.file:
        media_type = readable_file(context, request.caller, row.file).mime_type
    content = (
        converted_content(context, converted)
        if converted
        else NewContent(row.content, row.stored, media_type or UNKNOWN)
    )
    stored_file, replaced = store_content(context, _initiation_request(request, row), row.file or "", metadata, content)
    return row._replace(file=stored_file.id), replaced


def _initiation_request(request: RequestContext, row: SessionRow) -> RequestContext:
    return replace(request, query=Query.parse(row.query))


def _drop_session(context: ServiceContext, row: SessionRow) -> None:
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
        _drop_session(context, row)


def _response(
    context: ServiceContext, request: RequestContext, row: SessionRow, decision: SessionDecision | ReadPlan
) -> Response:
    assert isinstance(decision, SessionDecision)
    if decision.status == 200:
        return json_bytes(_file_json(context, request, row))
    if decision.status == 308:
        return _incomplete_response(request, decision.session.stored)
    if decision.status == 404:
        return text_response(404, _UNKNOWN_SESSION)
    return text_response(decision.status, decision.text) if decision.text else empty_response(decision.status)


def _file_json(context: ServiceContext, request: RequestContext, row: SessionRow) -> bytes:
    """The file as it was when the upload completed, as the initiation's `fields` select it (edge case 14)."""
    if row.answer is not None:
        return row.answer.encode()
    initiation = _initiation_request(request, row)
    compact = initiation.query.get("prettyPrint") == "false"
    answer = encode_json(
        render_file(context, initiation, readable_file(context, request.caller, row.file or "")), compact=compact
    )
    context.store.upload_sessions.save_answer(row.id, answer.decode())
    return answer


def _incomplete_response(request: RequestContext, stored: int) -> Response:
    stored_header = stored_range(stored)
    headers = [("Range", stored_header)] if stored_header else []
    if request.headers.get("X-Upload-No-308", "").lower() == "yes":
        return empty_response(200, [*headers, ("X-HTTP-Status-Code-Override", "308")])
    return empty_response(308, headers)


def _session_state(row: SessionRow) -> UploadSession:
    return UploadSession(row.stored, row.total, row.touched, UploadState(row.state))


def _now(context: ServiceContext) -> float:
    return context.clock.now().timestamp()
