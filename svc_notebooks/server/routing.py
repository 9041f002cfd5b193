"""From a method and a path to an operation: the table of core/operations.py, arranged for looking up."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..core.catalogue import ApiError, refuse
from ..core.names import Names
from ..core.operations import FILE_ID, OPERATIONS, SESSION, Operation
from ..core.policy import Policy
from ..core.wire import Query, plain_segment


class Route(NamedTuple):
    """What a request asks for; `upload`: at the media URI."""

    operation: Operation
    file_id: str
    upload: bool


class Routes:
    """The addresses of one service."""

    def __init__(self, names: Names, policy: Policy) -> None:
        self._collection = names.path("files")
        self._upload = names.upload_path("files")
        # Under each prefix, the operations of a path by method; FILE_ID stands for any id.
        self._table: dict[str, dict[str, dict[str, Operation]]] = {self._collection: {}, self._upload: {}}
        for operation in OPERATIONS:
            self._add(operation, policy)

    def _add(self, operation: Operation, policy: Policy) -> None:
        if operation.name == "files.update":
            operation = replace(operation, methods=policy.update_verbs)
        last = operation.path[1] if len(operation.path) > 1 else ""
        for prefix in (self._collection, self._upload) if operation.media else (self._collection,):
            methods = self._table[prefix].setdefault(last, {})
            methods.update(dict.fromkeys(operation.methods, operation))

    def find(self, method: str, path: str, query: Query) -> Route:
        """The route of a request. Raises ApiError (404, 405)."""
        upload = path.startswith("/upload/")
        prefix = self._upload if upload else self._collection
        last = path[len(prefix) + 1 :] if path.startswith(prefix + "/") else None if path != prefix else ""
        if last is None or "/" in last or (path != prefix and not last):
            raise refuse("notFound", message="there is nothing at this address.")
        if upload and "upload_id" in query:
            return Route(_allowed(dict.fromkeys(SESSION.methods, SESSION), method), "", True)
        if upload and not last and method == "PUT" and query.get("uploadType") == "resumable":
            raise refuse("requiredParameter", name="upload_id")
        methods = self._table[prefix].get(last)
        file_id = ""
        if methods is None or last == FILE_ID:
            methods, file_id = self._table[prefix][FILE_ID], plain_segment(last)
        return Route(_allowed(methods, method), file_id, upload)


def _allowed(methods: dict[str, Operation], method: str) -> Operation:
    found = methods.get(method)
    if found is None:
        allowed = ", ".join(methods)
        refused = refuse("methodNotAllowed", method=method[:20], allowed=allowed)
        raise ApiError(refused.rows, [("Allow", allowed)])
    return found
