"""The interface's description at an address of its own, for programs that read OpenAPI."""

from __future__ import annotations

from ..core.openapi import document
from ..core.wire import Request, Response
from .address import client_origin
from .house import House
from .reply import as_json


def describe(house: House, request: Request) -> Response:
    """The document, with the address that this request came to. Raises ApiError (400) for a Host that is none."""
    return as_json(request.query, document(house.names, house.policy, client_origin(request, house)))
