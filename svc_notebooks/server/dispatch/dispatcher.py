"""Dispatches a request: routes, authenticates, limits, injects faults, calls the handler, writes the journal."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from ...core.api.error_rules import rule_for
from ...core.api.operations import SESSION
from ...core.api.public_endpoints import PAGES
from ...core.errors.catalogue import ApiError, refuse
from ...core.faults.plan import FaultTarget
from ...core.http.messages import Disconnected, Query, Request, Response
from ...core.http.redaction import redacted_query, without_secret
from ..context.access_tokens import Caller, TokenVerifier, require_scopes
from ..context.bodies import CountedStream, RequestBody, check_length, declared_length
from ..context.csrf import check_page
from ..context.public_request import PublicRequest
from ..context.request_journal import Journal, JournalEntry
from ..context.responses import error_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.resumable_upload import session_caller
from ..files.storage_errors import disk_refusal
from ..state.expiry import expire_session
from . import cors
from .fault_injection import FaultInjection, faults_from_header
from .fault_plans import Faults
from .handlers import PUBLIC_HANDLERS, handler_of
from .rate_limits import RateLimiter
from .routing import UPLOAD, Routes

_log = logging.getLogger(__name__)


class Dispatcher:
    """Turns each request of a service into its response."""

    def __init__(
        self,
        context: ServiceContext,
        tokens: TokenVerifier,
        journal: Journal,
        faults: Faults,
        rate_limiter: RateLimiter,
    ) -> None:
        self._context = context
        self._tokens = tokens
        self._journal = journal
        self._faults = faults
        self._rate_limiter = rate_limiter
        self._routes = Routes(context.names, context.policy)
        self._fault_header = context.names.header("Fault")

    def handle(self, request: Request) -> Response:
        """Answer a request. What fails inside is logged and answered as a 500.

        Raises:
            Disconnected: a fault of `faults` cuts the connection; nothing else is ever raised.
        """
        parts = urlsplit(request.url)
        entry = self._journal.open(self._context.clock.now(), request.method, *_redacted_path_and_query(request, parts))
        query = Query.parse(parts.query)
        answer = self._dispatch_with_faults if self._faults or self._fault_header in request.headers else self._respond
        origin = self._page_origin(request, parts.path)
        if origin is not None and cors.is_preflight(request):
            answer = self._preflight
        response = answer(request, parts.path, query, entry)
        entry.status = response.status
        if origin is not None:
            response = cors.with_origin(response, origin, self._context)
        return _counted(response, entry, head=request.method == "HEAD")

    def refusal(self, request: Request, check: Callable[[Request, ServiceContext], None]) -> Response | None:
        """The answer to a control call that `check` refuses, noted in the journal; None: it refuses nothing."""
        try:
            check(request, self._context)
        except ApiError as error:
            path = _redacted_path_and_query(request, urlsplit(request.url))
            entry = self._journal.open(self._context.clock.now(), request.method, *path)
            entry.operation, entry.status = "control", error.status
            return _counted(_refused(error, entry), entry, head=request.method == "HEAD")
        return None

    def _page_origin(self, request: Request, path: str) -> str | None:
        """The origin of the web page that uses the interface; None: a program does, or it is one of our own pages."""
        origin: str | None = request.headers.get("Origin")
        return origin if origin is not None and self._routes.is_interface(path) else None

    def _preflight(self, request: Request, path: str, query: Query, entry: JournalEntry) -> Response:
        """Answer what a browser asks before it sends the request of a page. No fault of a plan is meant for it."""
        entry.decided_by = "allowed_origins"
        try:
            return cors.preflight(request, self._routes.methods(path, query), self._context)
        except ApiError as error:
            return _refused(error, entry)

    def _dispatch_with_faults(self, request: Request, path: str, query: Query, entry: JournalEntry) -> Response:
        """As `_respond`, with the faults that are meant for this request."""
        target = self._target(request, path, query, entry)
        try:
            from_header = faults_from_header(request, self._context, signed_in=entry.user is not None)
        except ApiError as error:
            return _refused(error, entry)
        injection = self._faults.inject(target, from_header)
        entry.fault = str(injection) or None
        try:
            return self._dispatch_under_faults(injection, request, path, query, entry)
        finally:
            injection.end()
            entry.fault, entry.decided_by = str(injection) or None, injection.decided_by or entry.decided_by

    def _dispatch_under_faults(
        self, injection: FaultInjection, request: Request, path: str, query: Query, entry: JournalEntry
    ) -> Response:
        response = injection.before(lambda: expire_session(self._context, query, entry.user))
        if response is None:
            truncated = dataclasses.replace(request, body=injection.body(request.body))
            response = self._respond(truncated, path, query, entry)
        if request.method == "HEAD":  # before a fault counts the bytes of its body
            response = Response(response.status, response.headers)
        entry.status = response.status
        return injection.after(response)

    def _target(self, request: Request, path: str, query: Query, entry: JournalEntry) -> FaultTarget:
        """What is known of a request before anything is done; the journal knows it, too, if nothing ever is."""
        method, operation = _method(request), None
        with suppress(ApiError):
            operation = self._routes.find(method, path, query).operation
            entry.operation = operation.name
        with suppress(ApiError):
            caller = self._caller(request, query, operation is SESSION)
            entry.user, entry.client, entry.scopes = caller.user, caller.client, caller.scopes
        with suppress(ApiError):
            entry.declared = declared_length(request)
        return FaultTarget(entry.operation, method, path, entry.user, entry.declared)

    def _respond(self, request: Request, path: str, query: Query, entry: JournalEntry) -> Response:
        try:
            return self._dispatch(request, path, query, entry)
        except ApiError as error:
            return _refused(error, entry)
        except Disconnected:
            return _refused(refuse("cancelled"), entry)  # nobody reads it
        except OSError as error:
            return _refused(disk_refusal(error, self._context, entry.user or ""), entry)
        except Exception:
            _log.exception("%s %s failed", request.method, path)
            return _refused(refuse("backendError"), entry)

    def _dispatch(self, request: Request, path: str, query: Query, entry: JournalEntry) -> Response:
        method = _method(request)
        route = self._routes.find(method, path, query)
        operation = route.operation
        entry.operation, entry.decided_by = operation.name, operation.decided_by
        if operation.name in PAGES:
            check_page(request, operation.name, self._context)
        if public_handler := PUBLIC_HANDLERS.get(operation.name):
            entry.declared = declared_length(request)
            body = RequestBody(request.body, entry.declared, entry)
            return public_handler(
                PublicRequest(self._context, self._tokens, request, method, route.path_params, query, body, entry)
            )
        caller = self._caller(request, query, operation is SESSION)
        entry.user, entry.client, entry.scopes = caller.user, caller.client, caller.scopes
        caller = require_scopes(caller, operation.allowed_scopes(self._context.policy), operation)
        self._rate_limiter.check(caller, operation, media=query.get("alt") == "media")
        if route.upload and method != "DELETE":
            check_length(request)
        entry.declared = declared_length(request)
        body = RequestBody(request.body, entry.declared, entry)
        request_context = RequestContext(request, method, operation, route.path_params, query, caller, body, entry)
        handler = handler_of(request_context, upload=route.upload)
        is_status_query = operation is SESSION and entry.declared == 0
        if method == "DELETE" or is_status_query:  # neither has a body that would have to be read a second time
            return self._context.reserve.spend(lambda: handler(self._context, request_context))
        return handler(self._context, request_context)

    def _caller(self, request: Request, query: Query, session: bool) -> Caller:
        if session and self._context.policy.session_uri_is_enough and "Authorization" not in request.headers:
            owner = session_caller(self._context, query)
            if owner:
                return owner
        return self._tokens.caller(request, query)


def _redacted_path_and_query(request: Request, parts: SplitResult) -> tuple[str, str]:
    """Path and query as the journal may have them: neither secrets by their names nor the caller's own token (T-05)."""
    token = (request.headers.get("Authorization") or "").rpartition(" ")[2]
    if parts.query or "%" in parts.path or token in parts.path:
        return without_secret(parts.path, token), without_secret(redacted_query(parts.query, parts.path), token)
    return parts.path, ""


def _method(request: Request) -> str:
    """The method; a POST may name another that a proxy would not let through (edge case 47)."""
    other = request.headers.get("X-HTTP-Method-Override")
    return other.strip().upper() if other and request.method == "POST" else request.method


def _refused(error: ApiError, entry: JournalEntry) -> Response:
    entry.decided_by = rule_for(error.rows[0], entry.operation, upload=entry.path.startswith(UPLOAD))
    return error_response(error)


def _counted(response: Response, entry: JournalEntry, *, head: bool) -> Response:
    """Count what goes out; a HEAD gets the headers alone."""
    if isinstance(response.body, bytes):
        if head:
            return Response(response.status, response.headers)
        entry.sent = len(response.body)
        return response
    length = response.headers.get("Content-Length")
    outgoing = CountedStream(response.body, entry, None if length is None else int(length))
    return Response(response.status, response.headers, outgoing)
