"""From a method and a path to an operation: the table of core/api/operations.py, arranged for looking up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...core.api.operations import OPERATIONS, SESSION, Operation
from ...core.api.public_endpoints import CALENDAR, PAGES, PUBLIC_ENDPOINTS
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, plain_segment
from ...core.names import Names
from ...core.policy import Policy

Methods = dict[str, Operation]
Places = Mapping[str, str]
"""What stands in a path for each `{name}` of its template."""


class Route(NamedTuple):
    """What a request asks for; `upload`: at the media URI."""

    operation: Operation
    places: Places
    upload: bool


@dataclass(slots=True)
class _Node:
    """A segment of paths: what it answers, and what may follow: fixed words, or one place with its name."""

    methods: Methods = field(default_factory=dict)
    words: dict[str, _Node] = field(default_factory=dict)
    place: tuple[str, _Node] | None = None

    def add(self, path: Sequence[str], operation: Operation) -> None:
        """Make room for an operation at this path below."""
        if not path:
            self.methods.update(dict.fromkeys(operation.methods, operation))
        elif path[0].startswith("{"):
            self.place = self.place or (path[0], _Node())
            self.place[1].add(path[1:], operation)
        else:
            self.words.setdefault(path[0], _Node()).add(path[1:], operation)


_UPDATES = next(one.methods for one in OPERATIONS if one.name == "files.update")

_SESSION_METHODS: Methods = dict.fromkeys(SESSION.methods, SESSION)

UPLOAD = "/upload/"
"""How the path of a media URI begins."""


class Routes:
    """The addresses of one service."""

    def __init__(self, names: Names, policy: Policy) -> None:
        roots = (names.path(""), names.upload_path(""), names.calendar_path(""), "/")
        self._roots = {root: _Node() for root in roots}
        self._plain, self._media, self._calendar, doors = self._roots.values()
        for operation in OPERATIONS:
            self._add(operation, policy)
        for door in PUBLIC_ENDPOINTS:
            doors.add([names.calendar if word == CALENDAR else word for word in door.path], door)
        self._new_upload = names.upload_path("files")
        self._interface = tuple(root for root in roots if root != "/")
        self._endpoints = {"/".join(("", *door.path)) for door in PUBLIC_ENDPOINTS if door.name not in PAGES}

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
        methods, places = self._look_up(path, query)
        begins = path == self._new_upload and methods is not _SESSION_METHODS
        if begins and method == "PUT" and query.get("uploadType") == "resumable":
            raise refuse("requiredParameter", name="upload_id")
        return Route(_allowed(methods, method), places, path.startswith(UPLOAD))

    def methods(self, path: str, query: Query) -> tuple[str, ...]:
        """The methods that an address takes. Raises ApiError (404)."""
        return tuple(self._look_up(path, query)[0])

    def is_interface(self, path: str) -> bool:
        """Whether a path is one of the interface or of a token endpoint, as opposed to a page for people."""
        return path.startswith(self._interface) or path in self._endpoints

    def _look_up(self, path: str, query: Query) -> tuple[Methods, Places]:
        node, segments = self._below(path)
        in_session = path.startswith(UPLOAD) and "upload_id" in query
        if in_session and segments[:1] == ["files"] and len(segments) < 3 and "" not in segments:
            return _SESSION_METHODS, {}
        return _look_up(node, segments)

    def _below(self, path: str) -> tuple[_Node, list[str]]:
        for root, node in self._roots.items():
            if path.startswith(root):
                return node, path[len(root) :].split("/")
        raise _nothing()


def _look_up(node: _Node, segments: list[str]) -> tuple[Methods, Places]:
    """The methods of a path, and what stands in its places. Raises ApiError (404)."""
    places: dict[str, str] = {}
    for segment in segments:
        if found := node.words.get(segment):
            node = found
        elif node.place and segment:
            name, node = node.place
            places[name] = plain_segment(segment)
        else:
            raise _nothing()
    if not node.methods:
        raise _nothing()
    return node.methods, places


def _nothing() -> ApiError:
    return refuse("notFound", message="there is nothing at this address.")


def _allowed(methods: Methods, method: str) -> Operation:
    found = methods.get(method)
    if found is None:
        allowed = ", ".join(methods)
        updates = method in _UPDATES and any(one.name == "files.update" for one in methods.values())
        by = "update_verbs" if updates else None
        refused = refuse("methodNotAllowed", decided_by=by, method=method[:20], allowed=allowed)
        raise ApiError(refused.rows, [("Allow", allowed)])
    return found
