"""Finds the operation for a method and a path in a tree of path segments, and the handler of the operation.

Uploads also depend on `uploadType`, and files.get depends on `alt`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from ..core.api.openapi import document
from ..core.api.operations import OPERATIONS, SESSION, Operation
from ..core.api.public_endpoints import PAGES, PUBLIC_ENDPOINTS
from ..core.brand_names import Names
from ..core.errors.catalogue import ApiError, refuse
from ..core.http.messages import Query, Request, Response, plain_segment
from ..core.http.multipart import MediaType
from ..core.policy import Policy
from ..core.suggestions import nearest_name
from .auth import grants, identity_tokens
from .auth.public_request import PublicRequest
from .calendars import (
    calendar_list,
    event_list,
    event_messages as watches,
    event_operations as events,
    free_busy,
    operations as calendars,
)
from .dispatch.messages import json_response
from .dispatch.origin import external_base_url
from .dispatch.service_context import RequestContext, ServiceContext
from .files import change_list, conversion, copy, download, operations as file_operations, permissions
from .notifications import channels
from .uploads import resumable_upload, simple_upload
from .web import consent, pages, sign_in

Handler = Callable[[ServiceContext, RequestContext], Response]

_UPLOAD_TYPES: Mapping[str, tuple[Handler, str, str]] = {
    "media": (simple_upload.simple_upload, "A1-01", "A1-04"),
    "multipart": (simple_upload.multipart, "A2-01", "A2-04"),
    "resumable": (resumable_upload.initiate, "A3-01", "A3-01"),
}
"""For each `uploadType`, the handler, the id of the rule for a new file and the id of the rule for an update."""


def _get(context: ServiceContext, request: RequestContext) -> Response:
    return download.download(context, request) if _alt(request) == "media" else file_operations.get(context, request)


def _export(context: ServiceContext, request: RequestContext) -> Response:
    """Return the exported content of a file. Both valid values of `alt` give the same response."""
    _alt(request)
    return conversion.export(context, request)


def _alt(request: RequestContext) -> str:
    """Return the query parameter `alt`, "json" or "media". Raises ApiError (400) for another value."""
    alt = (request.query.get("alt") or "json").lower()
    if alt not in ("json", "media"):
        raise refuse("invalidParameter", name="alt", message="expected json or media.")
    return alt


HANDLERS: Mapping[str, Handler] = {
    "files.create": file_operations.create,
    "files.get": _get,
    "files.update": file_operations.update,
    "files.generateIds": file_operations.generate_ids,
    "files.list": file_operations.list_files,
    "files.emptyTrash": file_operations.empty_trash,
    "files.delete": file_operations.delete,
    "files.copy": copy.copy,
    "files.export": _export,
    "permissions.create": permissions.create,
    "permissions.list": permissions.list_permissions,
    "permissions.get": permissions.get,
    "permissions.update": permissions.update,
    "permissions.delete": permissions.delete,
    "files.watch": change_list.watch_file,
    "changes.getStartPageToken": change_list.start_page_token,
    "changes.list": change_list.list_changes,
    "changes.watch": change_list.watch_changes,
    "channels.stop": channels.stop,
    "calendarChannels.stop": channels.stop,
    "revisions.list": download.list_revisions,
    "revisions.get": download.get_revision,
    "drives.list": download.list_drives,
    "teamdrives.list": download.list_drives,
    "about.get": file_operations.about,
    "events.insert": events.insert,
    "events.import": events.import_event,
    "events.quickAdd": events.quick_add,
    "events.watch": watches.watch_events,
    "events.list": event_list.list_events,
    "events.get": events.get,
    "events.instances": event_list.list_instances,
    "events.patch": events.change,
    "events.update": events.change,
    "events.delete": events.delete,
    "events.move": events.move,
    "calendars.insert": calendars.insert,
    "calendars.get": calendars.get,
    "calendars.patch": calendars.change,
    "calendars.update": calendars.change,
    "calendars.delete": calendars.delete,
    "calendars.clear": calendars.clear,
    "calendarList.list": calendar_list.list_entries,
    "calendarList.get": calendar_list.get_entry,
    "calendarList.insert": calendar_list.insert,
    "calendarList.watch": watches.watch_calendar_list,
    "calendarList.patch": calendar_list.change,
    "calendarList.update": calendar_list.change,
    "calendarList.delete": calendar_list.delete,
    "settings.list": calendar_list.list_settings,
    "settings.get": calendar_list.get_setting,
    "freebusy.query": free_busy.query,
    "acl.insert": calendars.insert_rule,
    "acl.list": calendars.list_rules,
    "acl.get": calendars.get_rule,
    "acl.patch": calendars.change_rule,
    "acl.update": calendars.change_rule,
    "acl.delete": calendars.delete_rule,
    "colors.get": calendars.colors,
    "upload.session": resumable_upload.serve,
}


READ_ONLY = frozenset(
    {
        "files.get", "files.list", "permissions.list", "permissions.get", "changes.getStartPageToken", "changes.list",
        "about.get", "events.list", "events.get", "events.instances", "calendars.get", "calendarList.list",
        "calendarList.get", "acl.list", "acl.get",
    }
)  # fmt: skip
"""The operations that read the store from one snapshot, beside a request that changes the store."""

LISTS = frozenset(operation for operation in READ_ONLY if operation.endswith((".list", ".instances")))
"""Those of them that always need several statements."""


def upload_handler(request: RequestContext) -> Handler:
    """Return the handler for the type of an upload. Raises ApiError (400) for an unknown or missing `uploadType`."""
    upload_type = request.query.get("uploadType")
    if upload_type is None:  # a common client library omits uploadType
        media_type = MediaType.parse(request.headers.get("Content-Type") or "").essence
        upload_type = "multipart" if media_type == "multipart/related" else None
    if upload_type is None or upload_type not in _UPLOAD_TYPES:
        raise refuse("badUploadType", value="missing" if upload_type is None else repr(upload_type[:40]))
    handler, rule_to_create, rule_to_update = _UPLOAD_TYPES[upload_type]
    request.journal_entry.decided_by = rule_to_update if request.file_id else rule_to_create
    return handler


PUBLIC_HANDLERS: Mapping[str, Callable[[PublicRequest], Response]] = {
    "oauth.token": grants.token,
    "oauth.tokeninfo": grants.tokeninfo,
    "oauth.revoke": grants.revoke,
    "oauth.authorize": consent.authorize,
    "oauth.metadata": consent.metadata,
    "openid.configuration": identity_tokens.configuration,
    "openid.keys": identity_tokens.keys,
    "openid.userinfo": identity_tokens.userinfo,
    "browser.signIn": sign_in.sign_in,
    "browser.signedIn": sign_in.complete_sign_in,
    "browser.signOut": sign_in.sign_out,
    "files.page": pages.view,
    "files.content": pages.content,
    "events.page": pages.event_page,
    "openapi.get": lambda request: describe(request.context, request.http_request),
}


def describe(context: ServiceContext, request: Request) -> Response:
    """Return the OpenAPI document with the address that the client used. Raises ApiError (400) for an invalid Host."""
    return json_response(request.query, document(context.names, context.policy, external_base_url(request, context)))


Methods = dict[str, Operation]
PathParams = Mapping[str, str]
"""The values of the `{name}` parameters of a path template, by name."""


class Route(NamedTuple):
    """The operation of a request and the parameters in its path. `upload` is true if the path is an upload URI."""

    operation: Operation
    path_params: PathParams
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

UPLOAD = "/upload/"
"""The beginning of the path of every upload URI."""

_ABSENT = {
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
"""What the family has and this service does not, by a segment of the path."""

ABSENT = ", ".join(sorted(set(_ABSENT.values())))
"""The operations of the family that this service does not have, as docs/deployments.md lists them."""


@lru_cache(maxsize=16)
def routes_of(names: Names, policy: Policy) -> Routes:
    """Return the tree of all paths of services with these names and this policy, which these services share."""
    return Routes(names, policy)


class Routes:
    """The tree of all paths of a service, used to find the operation of a request."""

    def __init__(self, names: Names, policy: Policy) -> None:
        roots = (names.path(""), names.upload_path(""), names.calendar_path(""), "/")
        self._roots = {root: _Node() for root in roots}
        self.scopes = {operation.name: operation.scopes_under(policy) for operation in OPERATIONS}
        """The scopes of which a token needs one, for each operation."""
        self._plain, self._media, self._calendar, public = self._roots.values()
        for operation in OPERATIONS:
            if operation.is_offered(policy):
                self._add(operation, policy)
        self._plain.fixed["files"].fixed["generateCseToken"] = _Node()  # not the id of a file
        endpoints = [endpoint for endpoint in PUBLIC_ENDPOINTS if endpoint.is_offered(policy)]
        for endpoint in endpoints:
            public.add(endpoint.path_under(names), endpoint)
        self._new_upload = names.upload_path("files")
        self._interface = (*(root for root in roots if root != "/"), f"/{names.storage}/v2/")
        self._endpoints = {
            "/".join(("", *endpoint.path_under(names))) for endpoint in endpoints if endpoint.name not in PAGES
        }

    def _add(self, operation: Operation, policy: Policy) -> None:
        if operation.name == "files.update":
            operation = replace(operation, methods=policy.update_verbs)
        if operation.media:
            self._media.add(operation.path, operation)
        (self._calendar if operation.calendar else self._plain).add(operation.path, operation)

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

    def _look_up(self, path: str, query: Query) -> tuple[Methods, PathParams]:
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
                path_params[name] = plain_segment(segment)
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
        is_absent = not _ABSENT.keys().isdisjoint(path.replace(":", "/").split("/"))
        near = "" if methods or is_absent else self._similar(path)
        if near and path.startswith(self._interface):
            return refuse("unknownPath", operation=f"{method[:20]} {path[:200]}", near=near)
        if (is_absent or not methods) and path.startswith(self._interface):
            rule = "A8-10" if path.endswith("/watch") else None
            return refuse("unknownOperation", decided_by=rule, operation=f"{method[:20]} {path[:200]}", absent=ABSENT)
        if not methods:
            roots = f"; the interface is below {self._interface[0]} and {self._interface[2]}."
            return refuse("notFound", message=f"there is nothing at this address{near or roots}")
        allowed = ", ".join(methods)
        updates = method in _UPDATES and any(operation.name == "files.update" for operation in methods.values())
        rule = "update_verbs" if updates else None
        refused = refuse("methodNotAllowed", decided_by=rule, method=method[:20], allowed=allowed)
        return ApiError(refused.rows, [("Allow", allowed)])
