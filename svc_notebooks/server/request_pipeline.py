"""Takes each request through routing, authentication, rate limits, faults, the handler and the journal.

The route is found in a tree of path segments.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from time import perf_counter
from typing import NamedTuple, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from ..core.api.error_rules import rule_for
from ..core.api.operations import FILE_ID, OPERATIONS, SESSION, Operation, query_parameters
from ..core.api.public_endpoints import BATCHES, PAGES, PUBLIC_ENDPOINTS, SIGN_IN
from ..core.brand_names import Names
from ..core.errors.catalogue import ApiError, refuse
from ..core.fault_plan import FaultTarget
from ..core.http.messages import Disconnected, Query, Request, Response, close_body
from ..core.http.multipart import MediaType
from ..core.http.redaction import redact_target
from ..core.policy import Policy
from ..core.suggestions import nearest_name
from .auth.access_tokens import TokenVerifier
from .auth.public_request import FORM, MAX_FORM_SIZE, PublicRequest
from .dispatch import origin as cors, requests_and_responses as responses
from .dispatch.batch import MAX_BATCH, Batches
from .dispatch.decoded_bodies import WHOLE_BODY, WholeBody
from .dispatch.faults import FAULTS, NO_FAULTS, Faults, faults_from_header
from .dispatch.journal import Journal, JournalEntry
from .dispatch.origin import check_page, without_prefix
from .dispatch.rate_limits import LongReads, RateLimiter
from .dispatch.service_context import (
    ANONYMOUS,
    WITH_API_KEY,
    Caller,
    RequestContext,
    ServiceContext,
    has_only_key,
    require_scopes,
)
from .files.storage_errors import disk_refusal
from .handlers import HANDLERS, LISTS, PUBLIC_HANDLERS, SNAPSHOT_OPERATIONS, UPLOAD_TYPES, Handler
from .uploads.command_protocol import command_headers, command_response, session_request
from .uploads.resumable_upload import expire_session, session_caller
from .web.sign_in import signed_in_user

Methods = dict[str, Operation]


class Route(NamedTuple):
    """The operation of a request and the parameters in its path. `upload` is true if the path is an upload URI."""

    operation: Operation
    path_params: Mapping[str, str]
    upload: bool


@dataclass(slots=True)
class _Node:
    methods: Methods = field(default_factory=dict)
    fixed: dict[str, _Node] = field(default_factory=dict)
    parameter: tuple[str, _Node] | None = None

    def add(self, path: Sequence[str], operation: Operation) -> None:
        if not path:
            self.methods.update(dict.fromkeys(operation.methods, operation))
        elif path[0].startswith("{"):
            self.parameter = self.parameter or (path[0], _Node())
            self.parameter[1].add(path[1:], operation)
        else:
            self.fixed.setdefault(path[0], _Node()).add(path[1:], operation)


_UPDATES = next(operation.methods for operation in OPERATIONS if operation.name == "files.update")

_SESSION_METHODS: Methods = dict.fromkeys(SESSION.methods, SESSION)

# The beginning of the path of every upload URI.
UPLOAD = "/upload/"

# What other services of the API family (docs/decisions.md) have and this one does not, by a segment of the path.
_NOT_OFFERED = {
    "accessproposals": "access proposals",
    "approvals": "approvals",
    "apps": "apps",
    "comments": "comments",
    "download": "long-running operations",
    "drives": "changes of shared drives",
    "generateCseToken": "client-side encryption",
    "listLabels": "labels",
    "modifyLabels": "labels",
    "operations": "long-running operations",
    "revisions": "changes of revisions",
    "teamdrives": "changes of shared drives",
    "transferOwnership": "transfers of calendars",
    "watch": "watching access rules and settings",
}

# These operations as a list, which docs/deployments.md has too.
NOT_OFFERED = ", ".join(sorted(set(_NOT_OFFERED.values())))


class Routes:
    """The tree of all paths of a service, used to find the operation of a request."""

    def __init__(self, names: Names, policy: Policy) -> None:
        roots = (names.path(""), names.upload_path(""), names.calendar_path(""), "/")
        self._roots = {root: _Node() for root in roots}
        # The scopes of which a token needs one, for each operation.
        self.scopes = {operation.name: operation.scopes_under(policy) for operation in (*OPERATIONS, SESSION)}
        plain, media, calendar, public = self._roots.values()
        for operation in OPERATIONS:
            if not operation.is_offered(policy):
                continue
            operation = replace(operation, methods=operation.methods_under(policy))
            if operation.accepts_content:
                media.add(operation.path, operation)
            (calendar if operation.calendar else plain).add(operation.path, operation)
        plain.fixed["files"].fixed["generateCseToken"] = _Node()  # not the id of a file
        endpoints = [endpoint for endpoint in PUBLIC_ENDPOINTS if endpoint.is_offered(policy)]
        for endpoint in endpoints:
            public.add(endpoint.path_under(names), endpoint)
        self._new_upload = names.upload_path("files")
        self._interface = (*(root for root in roots if root != "/"), f"/{names.storage}/v2/")
        self._endpoints = {
            "/".join(("", *endpoint.path_under(names))) for endpoint in endpoints if endpoint.name not in PAGES
        }

    def find(self, method: str, path: str, query: Query) -> Route:
        """Return the route of a request. Raises ApiError (404) for an unknown path and (405) for an unknown method."""
        methods, path_params = self._look_up(path, query)
        is_new_upload = path == self._new_upload and methods is not _SESSION_METHODS
        if is_new_upload and method == "PUT" and query.get("uploadType") == "resumable":
            raise refuse("requiredParameter", name="upload_id")
        operation = methods.get(method)
        if operation is None:
            raise self._refusal(method, path, methods)
        return Route(operation, path_params, path.startswith(UPLOAD))

    def methods(self, path: str, query: Query) -> tuple[str, ...]:
        """Return the HTTP methods that a path allows. Raises ApiError (404) for an unknown path."""
        methods, _ = self._look_up(path, query)
        if not methods:
            raise self._refusal("OPTIONS", path, methods)
        return tuple(methods)

    def is_interface(self, path: str) -> bool:
        """Return True if a path belongs to the interface or to an OAuth endpoint, False for a page that people open."""
        return path.startswith(self._interface) or path in self._endpoints

    def _look_up(self, path: str, query: Query) -> tuple[Methods, Mapping[str, str]]:
        """Return the operations by method and the path parameters. Both are empty for an unknown path."""
        for root, node in self._roots.items():  # noqa: B007 -- `node` is read below
            if path.startswith(root):
                break
        else:
            return {}, {}
        segments = path[len(root) :].split("/")
        in_session = path.startswith(UPLOAD) and "upload_id" in query
        if in_session and segments[0] == "files" and len(segments) < 3 and "" not in segments:
            return _SESSION_METHODS, {}
        path_params: dict[str, str] = {}
        for segment in segments:
            if child := node.fixed.get(segment):
                node = child
            elif node.parameter and segment:
                name, node = node.parameter
                path_params[name] = unquote(segment)
            else:
                return {}, {}
        return node.methods, path_params

    def _similar(self, path: str) -> str:
        """Return the part of a message that suggests a path of the interface, or "" if no path is similar."""
        prefixes = {"", *"".join(self._interface).split("/")}
        segments = [segment[:60] for segment in path.split("/") if segment not in prefixes]
        for root in sorted(self._interface[:-1], key=lambda root: not path.startswith(root)):
            node, meant = self._roots[root], root.rstrip("/")
            for segment in segments:
                name = segment if segment in node.fixed else nearest_name(segment, node.fixed, similarity=0.75)
                if name is not None:
                    node = node.fixed[name]
                elif node.parameter:
                    name, node = segment, node.parameter[1]
                else:
                    break
                meant += f"/{name}"
            else:
                if node.methods:
                    return f"; did you mean {meant}?"
        return ""

    def _refusal(self, method: str, path: str, methods: Methods) -> ApiError:
        is_absent = not _NOT_OFFERED.keys().isdisjoint(path.replace(":", "/").split("/"))
        near, operation = "" if methods or is_absent else self._similar(path), f"{method[:20]} {path[:200]}"
        if near and path.startswith(self._interface):
            return refuse("unknownPath", operation=operation, near=near)
        if (is_absent or not methods) and path.startswith(self._interface):
            rule = "A8-10" if path.endswith("/watch") else None
            return refuse("unknownOperation", decided_by=rule, operation=operation, absent=NOT_OFFERED)
        if not methods:
            roots = f"; the interface is below {self._interface[0]} and {self._interface[2]}."
            return refuse("notFound", message=f"there is nothing at this address{near or roots}")
        allowed = ", ".join(methods)
        updates = method in _UPDATES and any(operation.name == "files.update" for operation in methods.values())
        rule = "update_verbs" if updates else None
        headers = [("Allow", allowed)]
        return refuse("methodNotAllowed", decided_by=rule, headers=headers, method=method[:20], allowed=allowed)


_routes_of = lru_cache(maxsize=16)(Routes)  # services with the same names and policy share the tree

_log = logging.getLogger(__name__)


class _Incoming(NamedTuple):
    """A request before its handler is called. `method` is the method in X-HTTP-Method-Override if a POST has one."""

    request: Request
    headers: Mapping[str, list[str]]
    method: str
    path: str
    query: Query
    body: responses.RequestBody
    entry: JournalEntry


class RequestPipeline:
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
        self.rate_limiters = [rate_limiter]
        self._long_reads = LongReads()
        self._batches = Batches(context, self.handle, self.refusal, tokens.user_of)
        self._routes = _routes_of(context.names, context.policy)
        self._command_headers = command_headers(context)
        self._fault_header = context.names.header("Fault").lower()
        self.observers: list[Observer] = []

    def handle(self, request: Request) -> Response:
        """Return the response to a request, with status 500 if a handler fails.

        Raises Disconnected if a fault cuts the connection, and Unsupported after `Service.close` or in a fork.
        """
        if prefix := self._context.policy.path_prefix:
            request = without_prefix(request, prefix)
        headers = request.headers.by_name()
        if UPLOAD in request.url and not self._command_headers.isdisjoint(headers):
            refused = self.refusal(request, session_request, SESSION.name)
            return refused or command_response(self.handle(session_request(request, self._context)), self._context)
        parts = urlsplit(request.url)
        entry = self._open_entry(request, parts, headers)
        started = perf_counter() if self.observers else 0.0
        override = headers.get("x-http-method-override") if request.method == "POST" else None
        incoming = _Incoming(
            request,
            headers,
            override[0].strip().upper() if override and override[0] else request.method,
            parts.path,
            query_parameters(parts.query),
            responses.RequestBody(request.body, entry),
            entry,
        )
        origin = headers["origin"][0] if "origin" in headers else None
        if origin is not None and not self._routes.is_interface(parts.path):
            origin = None  # a page of this service
        try:
            if origin is not None and request.method == "OPTIONS" and "access-control-request-method" in headers:
                response = self._preflight(incoming)
            elif (self._faults.values.get(FAULTS) or NO_FAULTS)["plans"] or self._fault_header in headers:
                response = self._dispatch_with_faults(incoming)
            else:
                try:
                    response = self._find_and_call(incoming)
                except Exception as error:
                    response = self._failure(error, incoming)
        except BaseException:  # the connection is cut
            self._end_entry(started, entry)
            raise
        entry.status = response.status
        if origin is not None:
            response = cors.with_origin(response, origin, self._context)
        if request.method == "HEAD":
            response = _without_body(response)
        elif isinstance(response.body, bytes):
            entry.sent = len(response.body)
        elif not isinstance(
            response.body, responses.ResponseStream
        ):  # otherwise a fault cuts the body, which counts its bytes
            length = response.headers.get("Content-Length")
            stream = responses.ResponseStream(response.body, entry, length=None if length is None else int(length))
            response = Response(response.status, response.headers, stream)
        if isinstance(response.body, responses.ResponseStream):
            response.body.on_end = partial(self._end_entry, started)
        elif started or self._journal.is_kept:
            self._end_entry(started, entry)
        return response

    def _end_entry(self, started: float, entry: JournalEntry) -> None:
        """Close the journal entry of a request that has ended, and call the observers if it has a start time."""
        self._journal.close(entry)
        for observe in self.observers if started else ():
            observe(entry, perf_counter() - started)

    def refusal(
        self, request: Request, check: Callable[[Request, ServiceContext], object], operation: str = "control"
    ) -> Response | None:
        """Return None if `check` accepts a request, or else add a journal row and return the error response.

        `operation` is the name of the operation in the journal row.
        """
        try:
            check(request, self._context)
        except ApiError as error:
            entry = self._open_entry(request, urlsplit(request.url), request.headers.by_name())
            entry.operation, entry.status = operation, error.status
            response = _error_response(error, entry)
            if request.method == "HEAD":
                response = _without_body(response)
            entry.sent = len(response.content())
            self._journal.close(entry)
            return response
        return None

    def _open_entry(self, request: Request, parts: SplitResult, headers: Mapping[str, list[str]]) -> JournalEntry:
        """Open the journal entry of a request, with its path and query but without tokens and other secrets (T-05)."""
        path, query = parts.path, parts.query
        token = headers["authorization"][0].rpartition(" ")[2] if "authorization" in headers else ""
        if query or "%" in path or token in path:
            path, query = redact_target(path, query, token)
        return self._journal.open(self._context.clock.now(), request.method, path, query)

    def _preflight(self, incoming: _Incoming) -> Response:
        """Return the response to a CORS preflight. Fault plans do not apply to preflights."""
        incoming.entry.decided_by = "allowed_origins"
        try:
            methods = self._routes.methods(incoming.path, incoming.query)
            return cors.preflight(incoming.request, methods, self._context)
        except ApiError as error:
            return _error_response(error, incoming.entry)

    def _dispatch_with_faults(self, incoming: _Incoming) -> Response:
        """Return the response of the handler or of a fault. Raises Disconnected if a fault cuts the connection."""
        request, entry = incoming.request, incoming.entry
        target = self._fault_target(incoming)
        try:
            from_header = faults_from_header(request, self._context, signed_in=entry.user is not None)
        except ApiError as error:
            return _error_response(error, entry)
        injection = self._faults.inject(target, from_header, over_socket=bool(request.client))
        entry.fault = str(injection) or None
        try:
            response = injection.before(lambda: expire_session(self._context, incoming.query, entry.user))
            if response is None:
                body = injection.request_body(request.body, entry) or incoming.body
                try:
                    response = self._find_and_call(incoming._replace(body=body))
                except Exception as error:
                    response = self._failure(error, incoming)
            if request.method == "HEAD":  # before a fault counts the bytes of its body
                response = Response(response.status, response.headers)
            entry.status = response.status
            return injection.after(response, entry)
        finally:
            injection.end()
            entry.fault, entry.decided_by = str(injection) or None, injection.decided_by or entry.decided_by

    def _fault_target(self, incoming: _Incoming) -> FaultTarget:
        """Return the properties of a request that fault plans match, and write them to the journal entry."""
        entry, operation = incoming.entry, None
        with suppress(ApiError):
            operation = self._routes.find(incoming.method, incoming.path, incoming.query).operation
            entry.operation = operation.name
        with suppress(ApiError):
            caller = self._caller(incoming, in_session=operation is SESSION)
            entry.user, entry.client, entry.scopes = caller.user, caller.client, caller.scopes
        with suppress(ApiError):
            entry.declared = responses.content_length(incoming.request)
        return FaultTarget(entry.operation, incoming.method, incoming.path, entry.user, entry.declared)

    def _failure(self, error: Exception, incoming: _Incoming) -> Response:
        """Return the response to a request for which an error was raised."""
        if isinstance(error, ApiError):
            refusal = error
        elif isinstance(error, Disconnected):
            refusal = refuse("cancelled")  # the client has gone, so nobody reads the response
        elif isinstance(error, OSError):
            refusal = disk_refusal(error, self._context, incoming.entry.user or "")
        else:
            _log.error("%s %s failed", incoming.request.method, incoming.path, exc_info=error)
            refusal = refuse("backendError")
        return _error_response(refusal, incoming.entry)

    def _find_and_call(self, incoming: _Incoming) -> Response:
        """Return the response of the handler of a request."""
        if not (WHOLE_BODY.isdisjoint(incoming.headers) or isinstance(incoming.body, WholeBody)):
            limit = self._context.policy.max_upload_size if incoming.path.startswith(UPLOAD) else MAX_BATCH
            with closing(WholeBody(incoming.body, incoming.entry, incoming.request.headers, limit)) as whole:
                return self._find_and_call(incoming._replace(body=whole))
        context, request, method, entry = self._context, incoming.request, incoming.method, incoming.entry
        query, body = incoming.query, incoming.body
        operation, path_params, is_upload = self._routes.find(method, incoming.path, query)
        entry.operation, entry.decided_by = operation.name, operation.decided_by
        if operation.name in PAGES:
            check_page(request, operation.name, context)
        if operation.name in BATCHES:
            entry.declared = responses.content_length(request, required=True)
            return self._batches.run(request, body, operation.name)
        if public_handler := PUBLIC_HANDLERS.get(operation.name):
            entry.declared = responses.content_length(request)

            def check_limits(user: str) -> None:
                self.check_limits(replace(ANONYMOUS, user=user), operation, query)

            public_request = PublicRequest(
                context, self._tokens, request, method, path_params, query, body, entry, check_limits
            )
            user = signed_in_user(public_request)
            if user or operation.name not in SIGN_IN:  # a flood of others must not keep anybody from signing in
                check_limits(user)
            return public_handler(public_request)
        if operation is SESSION:
            caller = self._caller(incoming, in_session=True)
        elif context.policy.api_keys and operation.name in WITH_API_KEY and has_only_key(incoming.headers, query):
            caller = ANONYMOUS
        else:
            caller = self._tokens.caller(incoming.headers, query)
        entry.user, entry.client, entry.scopes = caller.user or None, caller.client, caller.scopes
        caller = require_scopes(caller, self._routes.scopes[operation.name], operation)
        self.check_limits(caller, operation, query)
        entry.declared = responses.content_length(request, required=is_upload and method != "DELETE")
        if not responses.CHECKED_HEADERS.isdisjoint(incoming.headers):
            responses.check_headers(request.headers, method, operation)
        if method == "POST" and operation.body is None and not is_upload:
            query = _with_form(query, request, body)
        if query.pairs and operation is not SESSION:
            responses.check_booleans(query, operation)
        request_context = RequestContext(
            request,
            request.headers,
            method,
            operation,
            path_params,
            path_params.get(FILE_ID, ""),
            query,
            caller,
            body,
            entry,
        )
        receives_content = is_upload and operation.accepts_content
        handler = _upload_handler(request_context) if receives_content else HANDLERS[operation.name]
        is_status_query = operation is SESSION and entry.declared == 0
        if method == "DELETE" or is_status_query:  # no body, so the handler can be called a second time
            return context.reserve.spend(lambda: handler(context, request_context))
        if operation.name in LISTS or operation.name == "freebusy.query":
            snapshot = context.store.reading if operation.name in LISTS else None
            return self._long_reads.run(
                partial(handler, context, request_context), caller.user, incoming.body.gone, snapshot
            )
        if operation.name not in SNAPSHOT_OPERATIONS:
            return handler(context, request_context)
        with context.store.reading():
            return handler(context, request_context)

    def check_limits(self, caller: Caller, operation: Operation, query: Query) -> None:
        """Count a request. Raises ApiError (403 or 429, as the policy says) if the request exceeds a limit."""
        for rate_limiter in self.rate_limiters:
            rate_limiter.check(caller, operation, query)

    def _caller(self, incoming: _Incoming, *, in_session: bool) -> Caller:
        """Return the caller, or an upload session's owner if the policy allows this. Raises ApiError (401)."""
        headers = incoming.headers
        if in_session and self._context.policy.session_uri_is_enough and "authorization" not in headers:
            owner = session_caller(self._context, incoming.query)
            if owner:
                return owner
        return self._tokens.caller(headers, incoming.query, in_session=in_session)


def _upload_handler(request: RequestContext) -> Handler:
    """Return the handler for the type of an upload. Raises ApiError (400) for an unknown or missing `uploadType`."""
    upload_type = request.query.get("uploadType")
    if upload_type is None:  # a common client library omits uploadType
        media_type = MediaType.parse(request.headers.get("Content-Type") or "").essence
        upload_type = "multipart" if media_type == "multipart/related" else None
    if upload_type is None or upload_type not in UPLOAD_TYPES:
        raise refuse("badUploadType", value="missing" if upload_type is None else repr(upload_type[:40]))
    handler, rule_to_create, rule_to_update = UPLOAD_TYPES[upload_type]
    request.journal_entry.decided_by = rule_to_update if request.file_id else rule_to_create
    return handler


def _with_form(query: Query, request: Request, body: responses.RequestBody) -> Query:
    """Return the query with the parameters of a form, which clients send to operations without another body."""
    if MediaType.parse(request.headers.get("Content-Type") or "").essence != FORM:
        return query
    content = b""
    while block := body.read(MAX_FORM_SIZE):
        content += block
        if len(content) > MAX_FORM_SIZE:
            raise refuse("metadataTooLarge", limit=MAX_FORM_SIZE)
    return Query([*query.pairs, *query_parameters(content.decode("ascii", "replace")).pairs])


def _error_response(error: ApiError, entry: JournalEntry) -> Response:
    entry.decided_by = rule_for(error.rows[0], entry.operation, upload=entry.path.startswith(UPLOAD))
    return responses.error_response(error)


def _without_body(response: Response) -> Response:
    """Return the response to a HEAD request."""
    close_body(response.body)
    return Response(response.status, response.headers)


# Is called once for each request that has ended, with its journal entry and its duration in seconds.
Observer: TypeAlias = Callable[[JournalEntry, float], None]
