"""From a method and a path to an operation: the table of core/api/operations.py, arranged for looking up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...core.api.operations import OPERATIONS, SESSION, Operation
from ...core.api.public_endpoints import CALENDAR, PAGES, PUBLIC_ENDPOINTS
from ...core.brand_names import Names
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, plain_segment
from ...core.policy import Policy

Methods = dict[str, Operation]
PathParams = Mapping[str, str]
"""What stands in a path for each `{name}` of its template."""


class Route(NamedTuple):
    """What a request asks for; `upload`: at the media URI."""

    operation: Operation
    path_params: PathParams
    upload: bool


@dataclass(slots=True)
class _Node:
    """A segment of paths: what it answers, and what may follow: fixed words, or one place with its name."""

    methods: Methods = field(default_factory=dict)
    fixed: dict[str, _Node] = field(default_factory=dict)
    parameter: tuple[str, _Node] | None = None

    def add(self, path: Sequence[str], operation: Operation) -> None:
        """Make room for an operation at this path below."""
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
"""How the path of a media URI begins."""


class Routes:
    """The addresses of one service."""

    def __init__(self, names: Names, policy: Policy) -> None:
        roots = (names.path(""), names.upload_path(""), names.calendar_path(""), "/")
        self._roots = {root: _Node() for root in roots}
        self._plain, self._media, self._calendar, public = self._roots.values()
        for operation in OPERATIONS:
            self._add(operation, policy)
        for endpoint in PUBLIC_ENDPOINTS:
            public.add([names.calendar if word == CALENDAR else word for word in endpoint.path], endpoint)
        self._new_upload = names.upload_path("files")
        self._interface = tuple(root for root in roots if root != "/")
        self._endpoints = {
            "/".join(("", *endpoint.path)) for endpoint in PUBLIC_ENDPOINTS if endpoint.name not in PAGES
        }

    def _add(self, operation: Operation, policy: Policy) -> None:
        if operation.name == "files.update":
            operation = replace(operation, methods=policy.update_verbs)
        if operation.media:
            self._media.add(operation.path, operation)
        (self._calendar if operation.calendar else self._plain).add(operation.path, operation)

    def find(self, method: str, path: str, query: Query) -> Route:
        """The route of a request. Raises ApiError (404, 405)."""
        try:
            return self._find(method, path, query)
        except ApiError:
            if method == "POST" and path.endswith("/watch") and path.startswith(self._interface):
                raise refuse(
                    "notFound", decided_by="A8-10", message="only files and the change log can be watched."
                ) from None
            raise

    def _find(self, method: str, path: str, query: Query) -> Route:
        methods, path_params = self._look_up(path, query)
        begins = path == self._new_upload and methods is not _SESSION_METHODS
        if begins and method == "PUT" and query.get("uploadType") == "resumable":
            raise refuse("requiredParameter", name="upload_id")
        return Route(_allowed(methods, method), path_params, path.startswith(UPLOAD))

    def methods(self, path: str, query: Query) -> tuple[str, ...]:
        """The methods that an address takes. Raises ApiError (404)."""
        return tuple(self._look_up(path, query)[0])

    def is_interface(self, path: str) -> bool:
        """Whether a path is one of the interface or of a token endpoint, as opposed to a page for people."""
        return path.startswith(self._interface) or path in self._endpoints

    def _look_up(self, path: str, query: Query) -> tuple[Methods, PathParams]:
        node, segments = self._root_of(path)
        in_session = path.startswith(UPLOAD) and "upload_id" in query
        if in_session and segments[:1] == ["files"] and len(segments) < 3 and "" not in segments:
            return _SESSION_METHODS, {}
        return _look_up(node, segments)

    def _root_of(self, path: str) -> tuple[_Node, list[str]]:
        for root, node in self._roots.items():
            if path.startswith(root):
                return node, path[len(root) :].split("/")
        raise _not_found()


def _look_up(node: _Node, segments: list[str]) -> tuple[Methods, PathParams]:
    """The methods of a path, and what stands in its places. Raises ApiError (404)."""
    path_params: dict[str, str] = {}
    for segment in segments:
        if child := node.fixed.get(segment):
            node = child
        elif node.parameter and segment:
            name, node = node.parameter
            path_params[name] = plain_segment(segment)
        else:
            raise _not_found()
    if not node.methods:
        raise _not_found()
    return node.methods, path_params


def _not_found() -> ApiError:
    return refuse("notFound", message="there is nothing at this address.")


def _allowed(methods: Methods, method: str) -> Operation:
    operation = methods.get(method)
    if operation is None:
        allowed = ", ".join(methods)
        updates = method in _UPDATES and any(known.name == "files.update" for known in methods.values())
        rule = "update_verbs" if updates else None
        refused = refuse("methodNotAllowed", decided_by=rule, method=method[:20], allowed=allowed)
        raise ApiError(refused.rows, [("Allow", allowed)])
    return operation
