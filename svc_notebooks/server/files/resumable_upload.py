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
    Intake,
    Received,
    UploadSession,
    Verdict,
    Wrong,
    cancel,
    receive,
    refusal,
    settle,
)
from ...core.uploads.states import State
from ..blobs.blob_store import BLOCK
from ..context.access_tokens import Caller
from ..context.responses import dump, empty, json_bytes, plain
from ..context.service_context import Call, House
from ..storage.content import Inflow
from ..storage.session_locks import Turn
from ..store.contents import Piece
from ..store.upload_sessions import SessionRow
from . import rows as drafts
from .conversion import Made, convert, wish
from .operations import NewContent, shown
from .simple_upload import (
    Replaced,
    discard_old,
    file_content,
    made_content,
    name_of,
)

_GONE = "This upload session is unknown or has expired: start the upload from the beginning."
_QUESTION = ContentRange(None)


class _Overtaken(Exception):
    """A later request has the session."""


def session_caller(house: House, query: Query) -> Caller | None:
    """Who began the session that a URI names."""
    row = house.store.sessions.get(query.get("upload_id") or "")
    return Caller(row.owner, row.client, SESSION.scopes, False, None) if row else None


def serve(house: House, call: Call) -> Response:
    """A request on a session URI."""
    key = call.query.get("upload_id") or ""
    row = house.store.sessions.get(key)
    if row is None or row.owner != call.caller.user:
        call.entry.decided_by = "session_uri_is_enough" if row else "A3-14"
        return plain(404, _GONE)
    try:
        return _cancel(house, call, key) if call.method == "DELETE" else _put(house, call, key)
    except _Overtaken:
        call.entry.decided_by = "A3-17"
        return _truth(house, call, key)


def _cancel(house: House, call: Call, key: str) -> Response:
    with house.lanes.turn(key, None, urgent=True):
        row = _claim(house, key)
        verdict = cancel(_session(row), house.policy.upload_rule, _now(house))
        return _conclude(house, call, row, verdict)


def _put(house: House, call: Call, key: str) -> Response:
    asked = _content_range(call.headers)
    urgent = isinstance(asked, ContentRange) and asked.span is None
    with house.lanes.turn(key, call.body, urgent=urgent) as turn:
        row = _claim(house, key)
        call.entry.offset_before = row.stored
        decision = _decide(house, call, _session(row), asked)
        if isinstance(decision, Verdict):
            return _conclude(house, call, row, decision)
        return _Reception(house, call, row, turn).take(decision)


def _claim(house: House, key: str) -> SessionRow:
    row = house.store.sessions.claim(key)
    if row is None:
        raise _Overtaken
    return row


def _truth(house: House, call: Call, key: str) -> Response:
    """What a status query would answer: for a request whose own bytes did not land."""
    row = house.store.sessions.get(key)
    if row is None:
        return plain(404, _GONE)
    verdict = receive(_session(row), _QUESTION, 0, house.policy.upload_rule, _now(house))
    return _answer(house, call, row, verdict)


def _content_range(headers: Headers) -> ContentRange | Wrong | None:
    """The one Content-Range, or what is wrong with it."""
    sent = headers.all("Content-Range")
    try:
        return ContentRange.parse(", ".join(sent)) if sent else None
    except ValueError as error:
        return Wrong(str(error))


def _decide(house: House, call: Call, session: UploadSession, asked: ContentRange | Wrong | None) -> Intake | Verdict:
    rule, now = house.policy.upload_rule, _now(house)
    if isinstance(asked, Wrong):
        verdict = receive(session, _QUESTION, 0, rule, now)
        return refusal(session, asked, now) if isinstance(verdict, Verdict) and verdict.status == 308 else verdict
    length = call.entry.declared
    if length is None and asked and asked.span is None:
        length = len(call.body.read(1))  # of a question all that matters is whether it has a body
    decision = receive(session, asked, length, rule, now)
    limit = house.policy.max_upload_size
    if isinstance(decision, Intake) and isinstance(decision.total, int) and decision.total > limit:
        raise refuse("tooLarge", limit=limit)
    return decision


class _Reception:
    """One request that brings bytes to a session."""

    def __init__(self, house: House, call: Call, row: SessionRow, turn: Turn) -> None:
        self._house = house
        self._call = call
        self._row = row
        self._turn = turn

    def take(self, intake: Intake) -> Response:
        house, row = self._house, self._row
        inflow = house.content.inflow(row.stored, self._keep)
        try:
            received = self._read(intake, inflow)
            verdict = settle(_session(row), intake, received, house.policy.upload_rule, _now(house))
            last = inflow.finish(verdict.session.stored)
        except BaseException:
            inflow.abort()
            raise
        return _conclude(house, self._call, self._row, verdict, inflow, last)

    def _read(self, intake: Intake, inflow: Inflow) -> Received:
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
            return Received(inflow.end - start, broken=True)
        return Received(inflow.end - start, broken=short, overlong=overlong)

    def _left(self, intake: Intake, taken: int) -> int:
        if intake.take is not None:
            return min(BLOCK, intake.take - taken)
        if self._row.stored + taken > self._house.policy.max_upload_size:
            raise refuse("tooLarge", limit=self._house.policy.max_upload_size)
        return BLOCK

    def _next(self, size: int) -> bytes:
        if self._turn.interrupted:
            raise Disconnected
        block = self._call.body.read(min(BLOCK, size))
        self._turn.moved()
        return block

    def _keep(self, piece: Piece) -> None:
        """A full part, and more to come: keep it now, so that a break loses no more than one part."""
        house = self._house
        row = self._row._replace(stored=piece.stop, touched=_now(house))
        with house.store.transaction():
            _save(house, row)
            house.store.contents.append(row.content, piece)
        self._row = row


def _save(house: House, row: SessionRow) -> None:
    if not house.store.sessions.save(row):
        raise _Overtaken


class _Done(NamedTuple):
    """What became of a session in its transaction, and what nobody needs any more."""

    row: SessionRow
    replaced: list[Replaced]


def _conclude(
    house: House, call: Call, row: SessionRow, verdict: Verdict, inflow: Inflow | None = None, last: Piece | None = None
) -> Response:
    """Write what was decided, all of it or nothing, and answer."""
    call.entry.decided_by = verdict.decided_by
    if verdict.session.state is State.EXPIRED:
        _forget(house, row)
        return plain(404, _GONE)
    done: list[_Done] = []

    def write(piece: Piece | None) -> None:
        with _converted(house, call, row, verdict, piece) as made, house.store.transaction():
            done.append(_write(house, call, row, verdict, piece, made))

    if inflow and last:
        inflow.deliver(last, write)
    else:
        write(None)
    for replaced in done[0].replaced:
        discard_old(house, replaced)
    call.entry.offset_after = verdict.session.stored
    return _answer(house, call, done[0].row, verdict)


def _completes(row: SessionRow, verdict: Verdict) -> bool:
    return row.state == State.OPEN.value and verdict.session.state is State.COMPLETE


@contextmanager
def _converted(
    house: House, call: Call, row: SessionRow, verdict: Verdict, piece: Piece | None
) -> Iterator[Made | None]:
    """What all the bytes become, if these are the last and a native document is asked for; not in a transaction.

    Where that fails the session is as it was: who asks again gets the same answer.
    """
    if not _completes(row, verdict):
        yield None
        return
    begun, metadata, file_id = _as_begun(call, row), json.loads(row.metadata), row.file or ""
    found = wish(house, begun, file_id, metadata, row.media_type)
    before = house.store.contents.pieces(row.content, 0, row.stored) if found else []
    pieces = [*before, piece] if piece else before
    name = name_of(house, begun, file_id, metadata) or ""
    with convert(house, begun, found, name, verdict.session.stored, pieces) as made:
        yield made


def _write(
    house: House, call: Call, row: SessionRow, verdict: Verdict, piece: Piece | None, made: Made | None
) -> _Done:
    after, replaced = verdict.session, list[Replaced]()
    new = row._replace(stored=after.stored, total=after.total, state=after.state.value, touched=after.touched)
    _save(house, new)  # first of all: what an overtaken request would do might fail for reasons of the other one
    if piece:
        house.store.contents.append(row.content, piece)
    if _completes(row, verdict):
        new, old = _file(house, call, new, made)
        _save(house, new)
        replaced += [old] if old else []
    if made or (row.state == State.OPEN.value and after.state is State.CANCELLED):
        replaced.append(Replaced(row.content, house.store.contents.drop(row.content)))
    return _Done(new, replaced)


def _file(house: House, call: Call, row: SessionRow, made: Made | None) -> tuple[SessionRow, Replaced | None]:
    """All bytes are there: the file appears, or gets its new content."""
    metadata = json.loads(row.metadata)
    media_type = metadata.get("mimeType") or row.media_type
    if media_type is None and row.file:
        media_type = drafts.seen_file(house, call.caller, row.file).mime_type
    content = made_content(house, made) if made else NewContent(row.content, row.stored, media_type or UNKNOWN)
    filed, replaced = file_content(house, _as_begun(call, row), row.file or "", metadata, content)
    return row._replace(file=filed.id), replaced


def _as_begun(call: Call, row: SessionRow) -> Call:
    return replace(call, query=Query.parse(row.query))


def _forget(house: House, row: SessionRow) -> None:
    """A session is over; the bytes of one that never completed go with it."""
    parts = []
    with house.store.transaction():
        house.store.sessions.drop(row.id)
        if row.state == State.OPEN.value:
            parts = house.store.contents.drop(row.content)
    house.content.discard(row.content, parts)


def sweep_sessions(house: House) -> None:
    """Forget sessions that have been silent for their lifetime."""
    for row in house.store.sessions.older_than(_now(house) - house.policy.session_lifetime):
        _forget(house, row)


def _answer(house: House, call: Call, row: SessionRow, verdict: Verdict | Intake) -> Response:
    assert isinstance(verdict, Verdict)
    if verdict.status == 200:
        return json_bytes(_completed(house, call, row))
    if verdict.status == 308:
        return _incomplete(call, verdict.session.stored)
    if verdict.status == 404:
        return plain(404, _GONE)
    return plain(verdict.status, verdict.text) if verdict.text else empty(verdict.status)


def _completed(house: House, call: Call, row: SessionRow) -> bytes:
    """The file as it was when the upload completed, as the initiation's `fields` select it (edge case 14)."""
    if row.answer is not None:
        return row.answer.encode()
    begun = _as_begun(call, row)
    compact = begun.query.get("prettyPrint") == "false"
    answer = dump(shown(house, begun, drafts.seen_file(house, call.caller, row.file or "")), compact=compact)
    house.store.sessions.keep_answer(row.id, answer.decode())
    return answer


def _incomplete(call: Call, stored: int) -> Response:
    known = stored_range(stored)
    headers = [("Range", known)] if known else []
    if call.headers.get("X-Upload-No-308", "").lower() == "yes":
        return empty(200, [*headers, ("X-HTTP-Status-Code-Override", "308")])
    return empty(308, headers)


def _session(row: SessionRow) -> UploadSession:
    return UploadSession(row.stored, row.total, row.touched, State(row.state))


def _now(house: House) -> float:
    return house.clock.now().timestamp()
