"""From a method and a path to an operation: the table of core/operations.py, arranged for looking up."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..core.catalogue import ApiError, refuse
from ..core.names import Names
from ..core.operations import FILE_ID, OPERATIONS, PERMISSION_ID, SESSION, Operation
from ..core.policy import Policy
from ..core.wire import Query, plain_segment

Methods = dict[str, Operation]


class Route(NamedTuple):
    """What a request asks for; `upload`: at the media URI."""

    operation: Operation
    file_id: str
    permission_id: str
    upload: bool


class Routes:
    """The addresses of one service."""

    def __init__(self, names: Names, policy: Policy) -> None:
        self._plain_root = names.path("")
        self._upload_root = names.upload_path("")
        # For each path template, the operations of it by method.
        self._plain: dict[tuple[str, ...], Methods] = {}
        self._upload: dict[tuple[str, ...], Methods] = {}
        for operation in OPERATIONS:
            self._add(operation, policy)

    def _add(self, operation: Operation, policy: Policy) -> None:
        if operation.name == "files.update":
            operation = replace(operation, methods=policy.update_verbs)
        for table in (self._plain, self._upload) if operation.media else (self._plain,):
            table.setdefault(operation.path, {}).update(dict.fromkeys(operation.methods, operation))

    def find(self, method: str, path: str, query: Query) -> Route:
        """The route of a request. Raises ApiError (404, 405)."""
        upload = path.startswith("/upload/")
        root, table = (self._upload_root, self._upload) if upload else (self._plain_root, self._plain)
        segments = tuple(path[len(root) :].split("/")) if path.startswith(root) else ()
        if upload and "upload_id" in query and segments[:1] == ("files",) and len(segments) < 3 and "" not in segments:
            return Route(_allowed(dict.fromkeys(SESSION.methods, SESSION), method), "", "", True)
        methods, file_id, permission_id = _look_up(table, segments)
        if upload and segments == ("files",) and method == "PUT" and query.get("uploadType") == "resumable":
            raise refuse("requiredParameter", name="upload_id")
        return Route(_allowed(methods, method), file_id, permission_id, upload)


def _look_up(table: dict[tuple[str, ...], Methods], segments: tuple[str, ...]) -> tuple[Methods, str, str]:
    """The methods of a path, and the ids of the file and the permission that are in it. Raises ApiError (404)."""
    if _PLACES.isdisjoint(segments) and (methods := table.get(segments)):
        return methods, "", ""
    if len(segments) > 1 and segments[1] and (methods := table.get((segments[0], FILE_ID, *segments[2:]))):
        return methods, plain_segment(segments[1]), ""
    if len(segments) == 4 and all(segments) and (methods := table.get((*_file(segments), PERMISSION_ID))):
        return methods, plain_segment(segments[1]), plain_segment(segments[3])
    raise refuse("notFound", message="there is nothing at this address.")


_PLACES = frozenset({FILE_ID, PERMISSION_ID})


def _file(segments: tuple[str, ...]) -> tuple[str, ...]:
    return (segments[0], FILE_ID, segments[2])


def _allowed(methods: Methods, method: str) -> Operation:
    found = methods.get(method)
    if found is None:
        allowed = ", ".join(methods)
        refused = refuse("methodNotAllowed", method=method[:20], allowed=allowed)
        raise ApiError(refused.rows, [("Allow", allowed)])
    return found
