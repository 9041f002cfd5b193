"""GET and PUT /_control/state: a whole service as the bytes of one file, out and in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from tempfile import TemporaryFile
from typing import BinaryIO

from ..core.catalogue import ApiError, refuse
from ..core.wire import Disconnected, Headers, Request, Response, as_body
from .inlet import declared_length
from .parts import BLOCK
from .reply import empty
from .service import Service

CALLS = ("GET", "PUT")
_TYPE = "application/zip"


def state(service: Service, request: Request) -> Response:
    """Answer one of the two calls. Raises ValueError for a file that cannot be taken; nothing has changed then."""
    if request.method == "GET":
        return _give(service)
    if request.method == "PUT":
        return _take(service, request)
    allowed = ", ".join(CALLS)
    refused = refuse("methodNotAllowed", method=request.method[:20], allowed=allowed)
    raise ApiError(refused.rows, [("Allow", allowed)])


def _give(service: Service) -> Response:
    file = TemporaryFile()  # noqa: SIM115 -- closed by the answer that reads it
    try:
        service.dump(file)
        size = file.seek(0, 2)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return Response(200, Headers([("Content-Type", _TYPE), ("Content-Length", str(size))]), _blocks(file))


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block


def _take(service: Service, request: Request) -> Response:
    body, left = as_body(request.body), declared_length(request)
    with TemporaryFile() as file:
        with suppress(Disconnected):  # what is missing will be missed
            while (left is None or file.tell() < left) and (block := body.read(BLOCK)):
                file.write(block)
        service.load(file)
    return empty(204)
