"""Finds the operation for a method and a path in a tree of path segments, built from core/api/operations.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from ...core.api.operations import OPERATIONS, SESSION, Operation
from ...core.api.public_endpoints import PAGES, PUBLIC_ENDPOINTS
from ...core.brand_names import Names
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, plain_segment
from ...core.policy import Policy

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

    def _refusal(self, method: str, path: str, methods: Methods) -> ApiError:
        is_absent = not _ABSENT.keys().isdisjoint(path.replace(":", "/").split("/"))
        if (is_absent or not methods) and path.startswith(self._interface):
            rule = "A8-10" if path.endswith("/watch") else None
            return refuse("unknownOperation", decided_by=rule, operation=f"{method[:20]} {path[:200]}", absent=ABSENT)
        if not methods:
            return refuse("notFound", message="there is nothing at this address.")
        allowed = ", ".join(methods)
        updates = method in _UPDATES and any(operation.name == "files.update" for operation in methods.values())
        rule = "update_verbs" if updates else None
        refused = refuse("methodNotAllowed", decided_by=rule, method=method[:20], allowed=allowed)
        return ApiError(refused.rows, [("Allow", allowed)])
