"""The exceptions of the package, grouped by the person who can fix the problem.

    SvcError
    ├── BadRequest          the request is invalid: fix the named field
    ├── NotSignedIn         no token, or an invalid one: sign in
    ├── NotAllowed          not permitted: use another user, scope or role
    ├── NotFound            the resource does not exist, or this user cannot see the resource
    ├── AlreadyExists       the id is in use: an earlier attempt may have succeeded
    ├── RateLimited         too many requests: wait
    ├── SessionExpired      the upload session expired: start the upload again
    ├── ServiceFailed       the service failed, or violated the interface: try again later
    ├── Interrupted         the connection was lost, or the user stopped: resume
    │   └── Unreachable     no connection could be made: check the address and the network
    ├── Unsupported         this installation or browser lacks a requirement of the call
    ├── SourceChanged       the file to upload has changed since the upload began
    ├── ContentMismatch     the content differs from its size or checksum
    └── PathExists          the path has other content: replace it, or use another path

Invalid Python arguments raise ValueError or TypeError before a request is sent. A warning is shown at the line of
the user that called this package.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from errno import EEXIST, ENOSPC
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from ..printable_text import printable
from .catalogue import ENGINE, RATE_LIMIT_REASONS

_MAX_MESSAGE = 2000  # the longest message of the service to show, in characters


class SvcError(Exception):
    """The base class of all exceptions for failed requests and transfers.

    Attributes: `status` (HTTP status), `reason` (the service's reason code), `location` (the field, parameter or header
    of the problem) and `service_message`, each or None; `advice` (what the user can do next).

    >>> error = NotFound("No file x.", status=404, reason="notFound")
    >>> print(error)
    No file x. Check the id, and whether this user has access. (404 notFound)
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
        message = message if len(message) <= _MAX_MESSAGE + 200 else f"{message[:_MAX_MESSAGE]} ..."
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.location = location
        self.service_message = service_message
        self.advice = advice or _ADVICE.get(reason or "", self.advice)
        if "try again" in message:
            self.advice = re.sub(r"^[^.]*\btry again\b[^.]*\.\s*", "", self.advice, flags=re.IGNORECASE)

    @property
    def status_code(self) -> int | None:
        """The same as `status`, under the name that responses of requests have."""
        return self.status

    def __str__(self) -> str:
        code = " ".join(str(part) for part in (self.status, self.reason) if part)
        is_open = self.advice and self.message and self.message[-1] not in ".!?:"
        message = f"{self.message}{'.' if is_open else ''}"
        return " ".join(part for part in (message, self.advice, f"({code})" if code else "") if part)

    def _render_traceback_(self) -> list[str]:
        from .public_calls import render_error

        return render_error(self)


_DOMAIN_NOT_REGISTERED = "push.webhookUrlUnauthorized"
_TOKEN_ERRORS = frozenset({"invalid_client", "invalid_grant", "invalid_token", "unauthorized_client"})

_GROUPS = json.loads((files(__package__) / "advice.json").read_text("utf-8")).values()
# Advice by reason code, which takes precedence over the exception class's advice.
_ADVICE: dict[str, str] = {reason: advice for group in _GROUPS for reason, advice in group.items()}


class BadRequest(SvcError):
    """The request is invalid (400, 405, 411, 413, 416)."""

    advice = "Fix the named field and send the request again."


class NotSignedIn(SvcError):
    """The request has no access token, or the token is not valid (401)."""

    advice = "Give connect() a valid token, or call lab.sign_in() in a sandbox."


class NotAllowed(SvcError):
    """The user is not permitted to perform the request (403)."""

    advice = "Use an account or a scope that is permitted to do this."


class NotFound(SvcError):
    """The requested resource does not exist, or this user cannot see the resource (404, 410)."""

    advice = "Check the id, and whether this user has access."


class AlreadyExists(SvcError):
    """The id of the new resource is already in use (409)."""

    advice = "An earlier attempt may have succeeded: check before you use another id."


class RateLimited(SvcError):
    """The user sent too many requests (403 with a rate-limit reason, 429)."""

    advice = "Wait a little, and send fewer requests at a time."


class SessionExpired(SvcError):
    """The upload session expired (404, 410, 499), and the source cannot be read again from its start."""

    advice = "Start the upload again from the beginning."


class ServiceFailed(SvcError):
    """The service failed (5xx), or its response violates the interface."""

    advice = "Try again later. Stored data is kept."


class Interrupted(SvcError):
    """The connection was lost, or the user stopped the work. `session_uri` is set for a resumable upload, else None.

    `uncertain` is True if the request may have succeeded, and was not repeated because this would not be safe.
    """

    advice = "Run the call again."
    uncertain = False

    def __init__(
        self, message: str, *, session_uri: str | None = None, status: int | None = None, resumable: bool = False
    ) -> None:
        super().__init__(message, status=status)
        self.session_uri = session_uri
        if session_uri or resumable:
            self.advice = "Run the call again to resume."


class Unreachable(Interrupted):
    """The client could not connect to the service. The message contains the address.

    >>> svc.connect("http://127.0.0.1:1", token="secret")
    <Session http://127.0.0.1:1>
    >>> try:
    ...     svc.files()
    ... except svc.Unreachable as error:
    ...     print("nothing listens at http://127.0.0.1:1" in str(error))
    True
    """


class Unsupported(SvcError):
    """This installation, browser or forked process lacks a requirement of the call, such as sockets."""

    advice = "Use JupyterLab on your own machine, with all packages installed."

    def __init__(self, message: str, *, advice: str | None = None, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.advice = advice or type(self).advice  # no advice by reason code, because the request is valid

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]  # called by IPython


class SourceChanged(SvcError):
    """The file to upload has changed since the upload began, or has other content than the stored file."""

    advice = "Start a new upload for the new content."


class ContentMismatch(SvcError):
    """The content differs from the reported size or checksum, or the service stored more bytes than were sent."""

    advice = "Delete the partial file and download it again."


class AbusiveFileWarning(UserWarning):
    """Warns that a file flagged as malware or spam is downloaded because of `acknowledge_abuse`.

    >>> issubclass(AbusiveFileWarning, UserWarning)
    True
    """


class UnverifiedUploadWarning(UserWarning):
    """Warns that an upload was resumed, and that the stored content could not be compared with the source.

    >>> issubclass(UnverifiedUploadWarning, UserWarning)
    True
    """


class PathExists(SvcError, FileExistsError):
    """The path to write to contains other content, which was not changed.

    Attributes of the existing file are `path`, `size` (bytes) and `modified` (UTC). `replaceable` is True if
    `overwrite=True` replaces the file.

    >>> isinstance(PathExists("a.txt exists"), FileExistsError)
    True
    """

    advice = "Use overwrite=True to replace it, or another path."

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
    """Return the exception class for an HTTP error status and reason code."""
    if reason in RATE_LIMIT_REASONS:
        return RateLimited
    if reason == _DOMAIN_NOT_REGISTERED:
        return NotAllowed  # a 401, but another token would not help
    if reason in _TOKEN_ERRORS:
        return NotSignedIn  # a token endpoint's 400
    return _BY_STATUS.get(status) or (ServiceFailed if status >= 500 else BadRequest)


def error_from(status: int, body: bytes) -> SvcError:
    """Return the exception for an error response, with the reason, location and message of the body (X-06).

    >>> error_from(404, b'{"error": {"errors": [{"reason": "notFound"}], "message": "File not found: x."}}')
    NotFound('File not found: x.')
    """
    message, reason, location = read_envelope(body)
    try:
        domain = json.loads(body)["error"]["errors"][0]["domain"]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        domain = None
    error_type = Unsupported if domain == ENGINE else error_class(status, reason)
    if body.lstrip().startswith(b"<") and (status < 500 or status == 511):
        return error_type(f"The response {status} is an HTML page.", status=status, advice=_NOT_THE_SERVICE)
    text = message or f"The service returned {status}."
    return error_type(text, status=status, reason=reason, location=location, service_message=message)


_NOT_THE_SERVICE = (
    "It comes from a proxy, from the sign-in page of the network, or from another program: check base_url, HTTPS_PROXY,"
    " HTTP_PROXY and NO_PROXY, and whether the network requires a sign-in."
)


def read_envelope(body: bytes) -> tuple[str | None, str | None, str | None]:
    """Return the message, reason and location of an error body, each or None. Never raises for invalid JSON."""
    try:
        envelope = json.loads(body)
        error = envelope["error"]
        if isinstance(error, str):  # the flat error body of an OAuth endpoint
            return _text(envelope.get("error_description")) or error, error, None
        first = (error.get("errors") or [{}])[0]
        return _text(error.get("message")), _text(first.get("reason")), _text(first.get("location"))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        plain = printable(body[:500].decode("utf-8", "replace").strip())
        return (plain if plain and not plain.startswith(("<", "{")) else None), None, None


def _text(value: object) -> str | None:
    return printable(value, _MAX_MESSAGE) if isinstance(value, str) else None


def cannot_write(path: object, error: OSError) -> OSError:
    """Return a copy of a write error that names the user's path instead of a temporary file.

    >>> str(cannot_write("/proc/a.txt", FileNotFoundError(2, "No such file", "/proc/a.txt.part")))
    "'/proc/a.txt' cannot be written: No such file; choose another place"
    """
    reason = error.strerror or type(error).__name__
    new_error = type(error)(f"{str(path)!r} cannot be written: {reason}; choose another place")
    new_error.errno = error.errno
    return new_error


def disk_full(path: object, needed: int | None, free: int) -> OSError:
    """Return the OSError for a full disk. `needed` (bytes, None if unknown) and `free` (bytes) appear in the message.

    >>> str(disk_full("a.bin", 5_000_000, 4096))
    "'a.bin' cannot be written, its disk is full (5,000,000 more bytes needed, 4,096 free): free space and run it again"
    """
    counts = f"{free:,} bytes free" if needed is None else f"{needed:,} more bytes needed, {free:,} free"
    error = OSError(f"{str(path)!r} cannot be written, its disk is full ({counts}): free space and run it again")
    error.errno = ENOSPC
    return error


# -- warnings at the line of the user that called this package


_confirmed = ContextVar("abuse_warning_suppressed", default=False)


@contextmanager
def suppress_abuse_warning() -> Iterator[None]:
    """Suppress the abuse warning inside the block, because a form has asked the user for confirmation (A6-04a)."""
    token = _confirmed.set(True)
    try:
        yield
    finally:
        _confirmed.reset(token)


def warn_of_abuse(name: str, file_id: str) -> None:
    """Show an AbusiveFileWarning at the first stack frame outside of this package, once per source line and file."""
    if not _confirmed.get():
        message = (
            f"{name} ({file_id}) was flagged as malware or spam and is downloaded because of acknowledge_abuse=True."
        )
        warn_caller(message, AbusiveFileWarning)


_PACKAGE = __name__.partition(".")[0]

# The arguments of calls of `warn_caller`.
CallerWarnings: TypeAlias = "list[tuple[str, type[Warning]]]"

_collected: ContextVar[CallerWarnings | None] = ContextVar("collected", default=None)


@contextmanager
def collected_warnings() -> Iterator[CallerWarnings]:
    """Collect the warnings of the block in a list. A thread or process that the user did not start cannot show them."""
    collected: CallerWarnings = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Show a warning at the first stack frame outside of this package, once per source line and message."""
    if (collected := _collected.get()) is not None:
        return collected.append((message, category))
    frame: FrameType | None = sys._getframe()
    level = 1  # the stack level of the first frame outside of this package
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (_PACKAGE, "contextlib"):
        frame = frame.f_back  # None after the first frame of a thread
        level += 1
    warnings.warn(message, category, stacklevel=level)
