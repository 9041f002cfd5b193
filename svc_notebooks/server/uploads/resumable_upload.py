"""Handles resumable uploads, from the initiation to the last chunk (A3, A4)."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext

from ...core.api.operations import SESSION
from ...core.errors.catalogue import refuse
from ...core.files.fields import check_file
from ...core.http.media_types import OCTET_STREAM
from ...core.http.messages import Disconnected, Headers, JSONObject, Query, Response
from ...core.http.multipart import MediaType
from ...core.http.ranges import ByteSpan, ContentRange, format_stored
from ...core.uploads import server_state_machine as state_machine
from ...core.uploads.transitions import UploadState
from ..dispatch.decoded_bodies import WholeBody, unsupported_coding
from ..dispatch.requests_and_responses import empty_response, encode_json, json_bytes, read_json, text_response
from ..dispatch.service_context import Caller, RequestContext, ServiceContext, external_base_url
from ..files.access import file_for
from ..files.conversion import ConvertedContent, conversion_for, convert, too_large
from ..files.file_operations import (
    NewContent,
    add_content,
    check_usage,
    discard_contents,
    response_fields,
    store_content,
)
from ..store.blob_store import BLOCK
from ..store.contents import ContentWriter, PartRange
from ..store.session_locks import SessionLock
from .simple_and_multipart import JSON_ESSENCE, check_content, file_name, header_type, refuse_multipart
from .tables import SessionRow


def expire_session(context: ServiceContext, query: Query, user: str | None) -> bool:
    """Let the upload session of a session URI expire.

    Returns False if the session is unknown, belongs to another user, or was claimed by another request meanwhile.
    """
    row = context.store.upload_sessions.claim(query.get("upload_id") or "")
    if row is None or row.owner != user:
        return False
    return context.store.upload_sessions.save(row._replace(touched=_oldest_use(context)))


def _oldest_use(context: ServiceContext) -> float:
    """Return the time of the last use, in Unix seconds, of the sessions that expire now."""
    return context.clock.now().timestamp() - context.policy.session_lifetime


_DROPPED_PARAMETERS = ("access_token", "oauth_token", "uploadType", "upload_id")


def initiate(context: ServiceContext, request: RequestContext) -> Response:
    """Check an upload, open a resumable session and return a response with the session URI."""
    response_fields(context, request)
    metadata = _metadata(context, request)
    media_type = header_type(request.headers, "X-Upload-Content-Type")
    total = _parse_total(context, request.headers)
    conversion = check_content(context, request, request.file_id, metadata, media_type, total)
    if conversion and conversion.limit is not None and (total or 0) > conversion.limit:
        raise too_large(context, conversion)
    for expired in context.store.upload_sessions.older_than(_oldest_use(context)):
        _drop_session(context, expired)
    query = Query([(name, value) for name, value in request.query.pairs if name not in _DROPPED_PARAMETERS])
    with context.store.transaction():
        row = SessionRow(
            id=context.ids.upload(),
            owner=request.caller.user,
            client=request.caller.client,
            file=request.file_id or None,
            metadata=json.dumps(metadata),
            media_type=media_type,
            query=str(query),
            content=context.store.contents.begin(),
            stored=0,
            total=total,
            state=UploadState.OPEN.value,
            touched=context.clock.now().timestamp(),
        )
        context.store.upload_sessions.add(row)
    query = Query([("uploadType", "resumable"), ("upload_id", row.id), *query.pairs])
    base_url = external_base_url(request.http_request, context)  # that of the caller, who sends its token only there
    location = f"{base_url}{context.names.upload_path('files')}?{query}"
    return empty_response(200, [("Location", location)])


def _metadata(context: ServiceContext, request: RequestContext) -> JSONObject:
    metadata = read_json(request.body, context.policy.max_metadata_size)
    if request.journal_entry.received:
        essence = MediaType.parse(request.headers.get("Content-Type") or "").essence
        if essence != JSON_ESSENCE:
            message = "expected application/json; charset=UTF-8 for metadata."
            raise refuse("invalidHeader", decided_by="A3-04", name="Content-Type", message=message)
    return check_file(metadata, creating=not request.file_id, names=context.names, policy=context.policy)


def _parse_total(context: ServiceContext, headers: Headers) -> int | None:
    text = headers.get("X-Upload-Content-Length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(set(headers.all("X-Upload-Content-Length"))) > 1:
        raise refuse("invalidHeader", name="X-Upload-Content-Length", message="expected one whole number of bytes.")
    if len(text.lstrip("0")) > 18 or int(text) > context.policy.max_upload_size:
        raise refuse("tooLarge", limit=context.policy.max_upload_size)
    return int(text)


# The headers with which a client asks for 200 instead of 308, because of a proxy or of its HTTP library.
_NO_308 = ("X-Upload-No-308", "X-GUploader-No-308")

_UNKNOWN_SESSION = "This upload session is unknown or has expired: start the upload from the beginning."
_STATUS_QUERY = ContentRange(None)
_OPEN, _COMPLETE, _CANCELLED = (
    state.value for state in (UploadState.OPEN, UploadState.COMPLETE, UploadState.CANCELLED)
)
_STATE_BY_VALUE = {state.value: state for state in UploadState}


class _SessionTakenOver(Exception):
    """Raised when a later request has claimed the session."""


def session_caller(context: ServiceContext, query: Query) -> Caller | None:
    """Return the caller who opened the upload session of a session URI, or None if the session is unknown."""
    row = context.store.upload_sessions.get(query.get("upload_id") or "")
    return Caller(row.owner, row.client, SESSION.scopes, False, None) if row else None


def serve(context: ServiceContext, request: RequestContext) -> Response:
    """Handle a request to a session URI, and return the response."""
    session_id = request.query.get("upload_id") or ""
    row = context.store.upload_sessions.get(session_id)
    if row is None or row.owner != request.caller.user:
        request.journal_entry.decided_by = "session_uri_is_enough" if row else "A3-14"
        return text_response(404, _UNKNOWN_SESSION)
    try:
        return _serve_session(context, request, session_id)
    except _SessionTakenOver:
        if request.method == "DELETE":  # another process has claimed the session after this request
            return serve(context, request)
        # The bytes of this request are lost, and the response is that of a status query.
        request.journal_entry.decided_by = "A3-17"
        row = context.store.upload_sessions.get(session_id)
        if row is None:
            return text_response(404, _UNKNOWN_SESSION)
        now = context.clock.now().timestamp()
        decision = state_machine.before_body(_session_of(row), _STATUS_QUERY, 0, context.policy.upload_rule, now)
        assert isinstance(decision, state_machine.SessionDecision)
        return _response(context, request, row, decision)


def _serve_session(context: ServiceContext, request: RequestContext, session_id: str) -> Response:
    """Claim the session, so that earlier requests can no longer change it, and return the response."""
    cancels = request.method == "DELETE"
    content_range = None if cancels else _content_range(request)
    urgent = cancels or (isinstance(content_range, ContentRange) and content_range.span is None)
    body = None if cancels else request.body
    length = body.length() if isinstance(body, WholeBody) else request.journal_entry.declared
    with SessionLock(context.session_locks, session_id, body, urgent=urgent) as lock:
        row = context.store.upload_sessions.claim(session_id)
        if row is None:
            raise _SessionTakenOver
        session = _session_of(row)
        if cancels:
            decision = state_machine.cancel(session, context.policy.upload_rule, context.clock.now().timestamp())
            return _commit(context, request, row, decision)
        request.journal_entry.offset_before = row.stored
        plan = _decide(context, request, session, content_range, length)
        if isinstance(plan, state_machine.SessionDecision):
            return _commit(context, request, row, plan)
        if "Content-Type" in request.headers:
            refuse_multipart(request.headers, row.media_type, json.loads(row.metadata).get("mimeType"))
        return _receive(context, request, row, session, lock, plan)


def _content_range(request: RequestContext) -> ContentRange | state_machine.RequestProblem | None:
    """Return the Content-Range of a request, or None if there is none, or if it is that of a whole body with a coding.

    Such a header can count the bytes with the coding or those without. Raises ApiError (415) for a part of a content
    with a coding, because the decoder needs the parts before.
    """
    sent, body = request.http_request.headers.all("Content-Range"), request.body
    try:
        content_range = ContentRange.parse(", ".join(sent)) if sent else None
    except ValueError as error:
        return state_machine.RequestProblem(str(error))
    if content_range and content_range.span and isinstance(body, WholeBody) and body.codings:
        if content_range.span not in (ByteSpan(0), ByteSpan(0, (content_range.total or 0) - 1)):
            raise unsupported_coding(
                "a chunk cannot have a coding; leave it out, or send the whole content.", "identity"
            )
        if content_range.span.size in (None, body.length(), request.journal_entry.received):
            return None
    return content_range


def _decide(
    context: ServiceContext,
    request: RequestContext,
    session: state_machine.UploadSession,
    content_range: ContentRange | state_machine.RequestProblem | None,
    length: int | None,
) -> state_machine.ReadPlan | state_machine.SessionDecision:
    now, rule = context.clock.now().timestamp(), context.policy.upload_rule
    if isinstance(content_range, state_machine.RequestProblem):
        decision = state_machine.before_body(session, _STATUS_QUERY, 0, rule, now)
        is_open = isinstance(decision, state_machine.SessionDecision) and decision.status == 308
        return state_machine.refusal(session, content_range, now) if is_open else decision
    if length is None and content_range and content_range.span is None:
        length = len(request.body.read(1))  # 1 if the status query has a body, else 0; the exact length does not matter
    decision = state_machine.before_body(session, content_range, length, rule, now)
    limit = context.policy.max_upload_size
    if isinstance(decision, state_machine.ReadPlan) and isinstance(decision.total, int) and decision.total > limit:
        raise refuse("tooLarge", limit=limit)
    return decision


def _receive(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    session: state_machine.UploadSession,
    lock: SessionLock,
    plan: state_machine.ReadPlan,
) -> Response:
    def store_part(piece: PartRange) -> None:
        """Commit a full part before more bytes are written, so that a broken connection loses at most one part."""
        nonlocal row
        new = row._replace(stored=piece.stop, touched=context.clock.now().timestamp())
        row, _ = _save(context, request, row, new, piece)

    writer = context.content.writer(row.stored, store_part, row.content)
    try:
        received = _read_body(lock, writer, plan, request.journal_entry.declared, context.policy.max_upload_size)
        now = context.clock.now().timestamp()
        decision = state_machine.after_body(session, plan, received, context.policy.upload_rule, now)
        response = _commit(context, request, row, decision, writer)
    except BaseException:
        writer.abort()
        raise
    if writer.last_part:
        context.content.keep_open(row.content, writer)
    return response


def _read_body(
    lock: SessionLock, writer: ContentWriter, plan: state_machine.ReadPlan, declared: int | None, limit: int
) -> state_machine.ReceivedBody:
    """Skip the stored bytes of a body and write the rest. Return the number of written bytes and how the body ended."""
    start, skip, left = writer.end, plan.skip, plan.take
    try:
        while skip and (block := lock.read(min(BLOCK, skip))):
            skip -= len(block)
        while left != 0 and (block := lock.read(BLOCK if left is None else min(BLOCK, left))):
            writer.write(block)
            if left is not None:
                left -= len(block)
            elif writer.end > limit:
                raise refuse("tooLarge", limit=limit)
        short = skip > 0 or bool(left)
        is_exact = plan.take is not None and declared == plan.skip + plan.take
        overlong = not (short or is_exact) and left is not None and bool(lock.read(1))
    except Disconnected:
        return state_machine.ReceivedBody(writer.end - start, broken=True)
    return state_machine.ReceivedBody(writer.end - start, broken=short, overlong=overlong)


def _commit(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    decision: state_machine.SessionDecision,
    writer: ContentWriter | None = None,
) -> Response:
    """Store the decision and the last part of the body in one transaction, and return the response."""
    last = writer.finish(decision.session.stored) if writer else None
    request.journal_entry.decided_by = decision.decided_by
    session = decision.session
    if session.state is UploadState.EXPIRED:
        if writer:
            writer.abort()
        _drop_session(context, row)
        return text_response(404, _UNKNOWN_SESSION)
    new = row._replace(stored=session.stored, total=session.total, state=session.state._value_, touched=session.touched)
    if row.state == _OPEN and session.state is UploadState.COMPLETE:
        with _convert(context, request, new, last) as converted:
            new, orphaned = _save(context, request, row, new, last, converted)
    else:
        new, orphaned = _save(context, request, row, new, last)
    if writer:
        writer.confirm()
    if session.state is not UploadState.OPEN:
        writer.close() if writer else context.content.close_writer(row.content)
    discard_contents(context, orphaned)
    request.journal_entry.offset_after = session.stored
    return _response(context, request, new, decision)


def _save(
    context: ServiceContext,
    request: RequestContext,
    row: SessionRow,
    new: SessionRow,
    last: PartRange | None,
    converted: ConvertedContent | None = None,
) -> tuple[SessionRow, dict[int, list[str]]]:
    """Save the new row of a session and the last part of its content. Create the file if the upload is complete.

    Returns the final row of the session, and the contents to delete after the transaction.
    """
    orphaned: dict[int, list[str]] = {}
    sessions, was_open = context.store.upload_sessions, row.state == _OPEN
    with context.store.transaction():
        if not sessions.save(new):  # first, because after the claim of a later request the steps below could fail
            raise _SessionTakenOver
        if last:
            check_usage(context, row.owner)
            if last.start == row.stored:
                context.store.contents.append(row.content, last)
            elif not context.store.contents.extend(row.content, last):  # the rows are those of another state
                raise _SessionTakenOver
        if was_open and new.state == _COMPLETE:
            new, orphaned = _store_file(context, request, new, converted)
            if not sessions.save(new):
                raise _SessionTakenOver
        if converted or (was_open and new.state == _CANCELLED):
            orphaned[row.content] = context.store.contents.drop(row.content)
        sessions.keep(new)
    return new, orphaned


def _convert(
    context: ServiceContext, request: RequestContext, row: SessionRow, last: PartRange | None
) -> AbstractContextManager[ConvertedContent | None]:
    """Return a context manager with the converted content of a complete upload, or None without a conversion.

    No transaction is open while converting. If the `with` block fails, the converted content is deleted.
    """
    initiation, metadata, file_id = _initiation_request(request, row), json.loads(row.metadata), row.file or ""
    conversion = conversion_for(context, initiation, file_id, metadata, row.media_type)
    stored = last.start if last else row.stored
    pieces = context.store.contents.pieces(row.content, 0, stored) if conversion else []
    pieces += [last] if last else []
    name = file_name(context, initiation, file_id, metadata) or ""
    return convert(context, initiation, conversion, name, row.stored, pieces) if conversion else nullcontext()


def _store_file(
    context: ServiceContext, request: RequestContext, row: SessionRow, converted: ConvertedContent | None
) -> tuple[SessionRow, dict[int, list[str]]]:
    """Create the file of a complete upload, or replace its content.

    Returns the new session row and what `store_content` returns.
    """
    metadata = json.loads(row.metadata)
    media_type = metadata.get("mimeType") or row.media_type
    if media_type is None and row.file:
        media_type = file_for(context, request.caller, row.file).mime_type
    content = NewContent(row.content, row.stored, media_type or OCTET_STREAM)
    if converted:
        content = add_content(context, converted.pieces, None, converted.media_type)
    stored_file, replaced = store_content(context, _initiation_request(request, row), row.file or "", metadata, content)
    return row._replace(file=stored_file.id), replaced


def _initiation_request(request: RequestContext, row: SessionRow) -> RequestContext:
    return request._replace(query=Query.parse(row.query))


def _drop_session(context: ServiceContext, row: SessionRow) -> None:
    """Delete a session. If its upload was never completed, also delete the received bytes."""
    parts = []
    with context.store.transaction():
        context.store.upload_sessions.drop(row.id)
        if row.state == _OPEN:
            parts = context.store.contents.drop(row.content)
    context.content.discard(row.content, parts)


def _response(
    context: ServiceContext, request: RequestContext, row: SessionRow, decision: state_machine.SessionDecision
) -> Response:
    if decision.status == 200:
        return json_bytes(_file_json(context, request, row))
    if decision.status == 308:
        stored_header = format_stored(decision.session.stored)
        headers = [("Range", stored_header)] if stored_header else []
        if any(request.headers.get(name, "").lower() == "yes" for name in _NO_308):
            return empty_response(200, [*headers, ("X-HTTP-Status-Code-Override", "308")])
        return empty_response(308, headers)
    if decision.status == 404:
        return text_response(404, _UNKNOWN_SESSION)
    return text_response(decision.status, decision.text) if decision.text else empty_response(decision.status)


def _file_json(context: ServiceContext, request: RequestContext, row: SessionRow) -> bytes:
    """Return and store the uploaded file's JSON, so that later requests get the same response."""
    if row.answer is not None:
        return row.answer.encode()
    initiation = _initiation_request(request, row)
    resource = response_fields(context, initiation).resource(file_for(context, request.caller, row.file or ""))
    answer = encode_json(resource, compact=initiation.query.get("prettyPrint") == "false")
    context.store.upload_sessions.save_answer(row.id, answer.decode())
    return answer


def _session_of(row: SessionRow) -> state_machine.UploadSession:
    return state_machine.UploadSession(row.stored, row.total, row.touched, _STATE_BY_VALUE[row.state])
