"""What went wrong, for people: a small tree by whose fault it is and what to do next.

    SvcError
    ├── BadRequest          the request is wrong: mend the named field
    ├── NotSignedIn         no token, or one that is not valid: sign in
    ├── NotAllowed          signed in, but not for this: another user, scope or role
    ├── NotFound            no such thing, or not for this user
    ├── AlreadyExists       the id is taken: the earlier try may have succeeded
    ├── RateLimited         too many requests: wait
    ├── SessionExpired      the upload session is gone: start the upload again
    ├── ServiceFailed       the service failed, or broke the interface: try again later
    ├── Interrupted         the connection broke or the person stopped it: resume
    │   └── Unreachable     no connection came about: check the address and the network
    ├── Unsupported         this Python cannot do it, another one can: go where it works
    ├── SourceChanged       the file to upload is not the one that the upload began with
    ├── ContentMismatch     what arrived is not what the service says it holds
    └── PathExists          the path to write to has other content: replace it, or take another path

Wrong Python arguments raise ValueError or TypeError before anything is sent.
"""

from __future__ import annotations

import errno
import json
from datetime import datetime
from errno import EEXIST
from pathlib import Path
from typing import Any

from ..printable_text import printable
from .catalogue import ENGINE, RATE_LIMIT_REASONS

_MAX_MESSAGE = 2000  # characters of a service's own words


class SvcError(Exception):
    """Something went wrong; the message says what, and what to do next.

    Attributes: `status` (HTTP status or None), `reason` (the service's reason code or None),
    `location` (the field, parameter or header that it is about, or None), `service_message`
    (the service's own words, or None), `advice` (what to do next).

    >>> error = NotFound("No file x.", status=404, reason="notFound")
    >>> print(error)
    No file x. Check the id, and that this user may see it. (404 notFound)
    """

    advice: str = ""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        reason: str | None = None,
        location: str | None = None,
        service_message: str | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.location = location
        self.service_message = service_message
        self.advice = advice or _ADVICE.get(reason or "", self.advice)

    def __str__(self) -> str:
        code = " ".join(str(part) for part in (self.status, self.reason) if part)
        return " ".join(part for part in (self.message, self.advice, f"({code})" if code else "") if part)

    def _render_traceback_(self) -> list[str]:
        """What IPython asks an error for."""
        from .tracebacks import render_error

        return render_error(self)


_DOMAIN_NOT_REGISTERED = "push.webhookUrlUnauthorized"
_TOKEN_ERRORS = frozenset({"invalid_client", "invalid_grant", "invalid_token", "unauthorized_client"})

_ADVICE = {
    "badRequest": "Mend what it says and send it again.",
    "fileNotDownloadable": "Call export(file, format) for it.",
    "fileNotExportable": "Call download(file) for it, or upload(..., convert_to=...) to make a native document.",
    _DOMAIN_NOT_REGISTERED: "Register the domain with the service first (in a sandbox: lab.register_domain).",
    "channelIdNotUnique": "Leave the id out and one is drawn.",
    "invalid_client": "Check client_id and client_secret.",
    "invalid_grant": "Check the key, the clock of this machine, and what the token is asked for.",
    "unauthorized_client": "Ask for scopes that were delegated to the service account, or leave the subject out.",
    "exportSizeLimitExceeded": "Ask for another format, or make the document smaller.",
    "fieldNotWritable": "Leave this field out, or correct its name: the service sets it, or knows none of that name.",
    "cannotDownloadAbusiveFile": "Who owns it can call download(file, acknowledge_abuse=True).",
    "invalidAbuseAcknowledgment": "Leave acknowledge_abuse out.",
    "orderByContainsDuplicateSortKeys": "Name each key once.",
    "conditionNotMet": "Read it again, and make your change to what is there now.",
    "fullSyncRequired": "List everything once more, without the sync token.",
    "uploadTooLarge": "Send something smaller.",
    "requestedRangeNotSatisfiable": "Ask for bytes that the content has.",
    # what only a deployment answers: no other account and no other scope is needed, but room, time or a setting
    "storageQuotaExceeded": "The account is full: delete files that nobody needs, or ask for more room.",
    "downloadQuotaExceeded": "The file was fetched too often: wait a day, or download a copy of it.",
    "quotaExceeded": "Wait, and ask for less at a time.",
    "activeItemCreationLimitExceeded": "The account has too many files: delete those that nobody needs.",
    "numChildrenInNonRootLimitExceeded": "The folder has too many files: put this one into another.",
    # what somebody must mend on the machine of the service
    "insufficientStorage": "Delete files there, or let its operator make room; then run it again.",
    "contentDamaged": "Upload the content again, or let the service's operator restore it from a backup.",
    "databaseDamaged": "Tell the service's operator: `svc-notebooks check` says what is damaged.",
    "accessNotConfigured": "Switch this interface on for the project that the token belongs to.",
}
"""Where the reason of a refusal tells more than its status what to do next."""


class BadRequest(SvcError):
    """The request is wrong (400, 405, 411, 413, 416): mend the field that is named."""

    advice = "Mend the field that is named and send it again."


class NotSignedIn(SvcError):
    """No access token, or one that is not valid (401)."""

    advice = "Give connect() a valid token."


class NotAllowed(SvcError):
    """Signed in, but not allowed (403)."""

    advice = "Use an account or a scope that may do this."


class NotFound(SvcError):
    """There is no such thing, or not for this user (404, 410)."""

    advice = "Check the id, and that this user may see it."


class AlreadyExists(SvcError):
    """The id is taken (409)."""

    advice = "An earlier try may have succeeded: look at what is there before you send it under another id."


class RateLimited(SvcError):
    """Too many requests in too short a time (403 with a rate-limit reason, 429)."""

    advice = "Wait a little and try again."


class SessionExpired(SvcError):
    """The upload session is gone (404, 410, 499) and the source cannot be read again from its start."""

    advice = "Start the upload again from the beginning."


class ServiceFailed(SvcError):
    """The service failed (5xx) or answered what the interface does not allow."""

    advice = "Try again later; what was stored stays stored."


class Interrupted(SvcError):
    """The connection broke for longer than the client waits, or the person stopped the work.

    `session_uri` names the upload that can be resumed, where there is one.
    """

    advice = "Run it again."

    def __init__(
        self, message: str, *, session_uri: str | None = None, status: int | None = None, resumable: bool = False
    ) -> None:
        super().__init__(message, status=status)
        self.session_uri = session_uri
        if session_uri or resumable:
            self.advice = "Run it again to go on from where it stopped."


class Unreachable(Interrupted):
    """No connection to the service came about: no host of that name, nothing that listens there, no network.

    The message names the address that was tried.

    >>> svc.connect("http://127.0.0.1:1", token="secret")
    <Session http://127.0.0.1:1>
    >>> try:
    ...     svc.files()
    ... except svc.Unreachable as error:
    ...     print("nothing listens at http://127.0.0.1:1" in str(error))
    True
    """


class Unsupported(SvcError):
    """What was asked for needs what is not there: in a browser a socket or another program, elsewhere an extra, in a
    forked process the sandbox or the receiver of its parent.

    A notebook shows it as its one sentence, without the calls that led to it.
    """

    advice = "It works in JupyterLab on a machine of your own, with everything installed."

    def __init__(self, message: str, *, advice: str | None = None, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.advice = advice or type(self).advice  # whatever the reason: there is nothing to mend in what was asked

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]  # what IPython asks an error for


class SourceChanged(SvcError):
    """The file to upload is not the one that the upload began with."""

    advice = "Start a new upload for the new content."


class ContentMismatch(SvcError):
    """What arrived is not what the service says it holds, or the service holds more than was sent."""

    advice = "Remove the partial file and fetch it again."


class AbusiveFileWarning(UserWarning):
    """A file that was flagged as malware or spam is downloaded, because `acknowledge_abuse` says so; names the file.

    >>> issubclass(AbusiveFileWarning, UserWarning)
    True
    """


class PathExists(SvcError, FileExistsError):
    """The path to write to has other content, which was left as it is. Python's `FileExistsError` catches it, too.

    Attributes: `path`; `size` (bytes) and `modified` (UTC) of what lies there; `replaceable`: whether `overwrite=True`
    replaces it.

    >>> isinstance(PathExists("a.txt exists"), FileExistsError)
    True
    """

    advice = "Give overwrite=True to replace it, or another path."

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        size: int | None = None,
        modified: datetime | None = None,
        replaceable: bool = False,
    ) -> None:
        super().__init__(message)
        self.errno = EEXIST
        self.filename = None if path is None else str(path)
        self.path = path
        self.size = size
        self.modified = modified
        self.replaceable = replaceable


_BY_STATUS: dict[int, type[SvcError]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: AlreadyExists,
    410: NotFound,
    429: RateLimited,
}


def error_class(status: int, reason: str | None) -> type[SvcError]:
    """The leaf of the tree that an answer belongs to."""
    if reason in RATE_LIMIT_REASONS:
        return RateLimited
    if reason == _DOMAIN_NOT_REGISTERED:
        return NotAllowed  # a 401, and yet another token would not help
    if reason in _TOKEN_ERRORS:
        return NotSignedIn  # a token endpoint's 400
    return _BY_STATUS.get(status) or (ServiceFailed if status >= 500 else BadRequest)


def error_from(status: int, body: bytes) -> SvcError:
    """The error that an answer means, with the service's reason, location and words kept (X-06).

    >>> error_from(404, b'{"error": {"errors": [{"reason": "notFound"}], "message": "File not found: x."}}')
    NotFound('File not found: x.')
    """
    message, reason, location = read_envelope(body)
    text = message or f"The service answered {status}."
    error_type = Unsupported if _domain(body) == ENGINE else error_class(status, reason)
    return error_type(text, status=status, reason=reason, location=location, service_message=message)


def read_envelope(body: bytes) -> tuple[str | None, str | None, str | None]:
    """Message, reason and location of an error body, each None where it says nothing.

    It never raises: an error body that is no JSON, or another shape of it, must not hide the error.
    """
    try:
        envelope = json.loads(body)
        error = envelope["error"]
        if isinstance(error, str):  # the flat shape of OAuth's endpoints
            return _text(envelope.get("error_description")) or error, error, None
        first = (error.get("errors") or [{}])[0]
        return _text(error.get("message")), _text(first.get("reason")), _text(first.get("location"))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return _plain(body), None, None


def _domain(body: bytes) -> object:
    try:
        return json.loads(body)["error"]["errors"][0]["domain"]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return printable(value, _MAX_MESSAGE) if isinstance(value, str) else None


def _plain(body: bytes) -> str | None:
    text = printable(body[:500].decode("utf-8", "replace").strip())
    return text if text and not text.startswith(("<", "{")) else None


def cannot_write(path: object, error: OSError) -> OSError:
    """The same error about the place that a person named, and not about a file beside it that nobody asked for.

    >>> str(cannot_write("/proc/a.txt", FileNotFoundError(2, "No such file", "/proc/a.txt.part")))
    "'/proc/a.txt' cannot be written: No such file; choose another place"
    """
    reason = error.strerror or type(error).__name__
    new_error = type(error)(f"{str(path)!r} cannot be written: {reason}; choose another place")
    new_error.errno = error.errno
    return new_error


def disk_full(path: object, needed: int | None, free: int) -> OSError:
    """The error for a file that the local disk has no room for; both numbers in bytes.

    >>> str(disk_full("a.bin", 5_000_000, 4096))
    "'a.bin' cannot be written, its disk is full (5,000,000 more bytes needed, 4,096 free): make room and run it again"
    """
    counts = f"{free:,} bytes free" if needed is None else f"{needed:,} more bytes needed, {free:,} free"
    error = OSError(f"{str(path)!r} cannot be written, its disk is full ({counts}): make room and run it again")
    error.errno = errno.ENOSPC
    return error
