"""Parsing of the responses in a resumable upload, and the errors of the upload."""

from __future__ import annotations

from ...core.errors.errors import (
    ContentMismatch,
    Interrupted,
    ServiceFailed,
    SessionExpired,
    SvcError,
    Unreachable,
    read_envelope,
)
from ...core.http.messages import Response
from ...core.uploads.client_state_machine import FailureReason, ResponseFacts, ResumableUpload
from ..json_response import read_object
from ..session import Session
from ..transport.foreign_urls import foreign_url
from ..transport.in_process import TransportError
from ..transport.retry import response_error

SESSION_GONE = frozenset(
    {FailureReason.EXPIRED, FailureReason.CANCELLED, FailureReason.DATA_LOSS, FailureReason.UNREWINDABLE}
)
"""The failures after which the upload session cannot be resumed."""


def session_location(url: str, response: Response) -> str:
    """Return the session URI in a Location header, on any host (C62). Raises ServiceFailed if missing or invalid."""
    location = response.headers.get("Location")
    if not location:
        read_object(response, url)  # raises an error that names a page, such as the sign-in page of a network
        raise ServiceFailed(
            "The service opened an upload session without a Location header; check base_url.", location="Location"
        )
    return foreign_url(location, url, "Location")


def response_facts(session: Session, response: Response) -> ResponseFacts:
    """Return a response's status, Range, error reason and Retry-After for the upload state machine."""
    if response.status < 400:
        stored = response.headers.get("Range")
        is_redirect = response.status == 308 and not stored and response.headers.get("Location")
        return ResponseFacts(307 if is_redirect else response.status, stored)
    reason = read_envelope(response.content())[1]
    return ResponseFacts(response.status, reason=reason, retry_after=session.retry_after(response))


def upload_error(
    reason: FailureReason,
    session: Session,
    machine: ResumableUpload,
    response: Response,
    broken: TransportError | None,
    session_uri: str | None,
) -> SvcError:
    """Return the error of a failed upload. `response` is the last response, or `broken` the reason for its absence."""
    status = response.status or None
    if reason is FailureReason.REFUSED:
        return response_error(session, response)
    if reason is FailureReason.DATA_LOSS:
        return ContentMismatch(
            f"The service reports more stored bytes ({response.headers.get('Range')}) than this upload has sent:"
            " another thread or process sends to the same upload session, or the report is wrong.",
            advice="Wait for the other upload and check the file, or start a new upload.",
        )
    if reason is not FailureReason.GAVE_UP:
        return SessionExpired(f"The upload cannot continue: {reason.value}.", status=status)
    if machine.too_long is not None:
        text = f"The upload stopped at status {status}. {machine.retry.too_long_message(machine.too_long)}"
    else:
        detail = f"the last response had status {status}" if status else f"there was no response: {broken}"
        text = f"The upload made no progress for too long; {detail}."
    return interruption_error(text, broken, session_uri=session_uri, status=status)


def interruption_error(
    text: str, broken: TransportError | None, *, session_uri: str | None, status: int | None = None
) -> Interrupted:
    """Return the Interrupted error of a resumable upload, or Unreachable if no connection was made."""
    kind = Unreachable if broken is not None and broken.unreachable else Interrupted
    return kind(text, session_uri=session_uri, status=status)
