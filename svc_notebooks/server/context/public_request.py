"""A request at a door of the service that asks for no access token first: token endpoints, links, pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from ...core.auth.oauth import OAuthError
from ...core.http.messages import Body, JSONObject, Query, Request, Response
from ...core.http.multipart import MediaType
from .access_tokens import TokenVerifier
from .journal import JournalEntry
from .responses import dump, json_bytes
from .service_context import ServiceContext

_FORM = "application/x-www-form-urlencoded"
_MOST = 64 * 1024
_EXCLUDED = re.compile(r"[^ !#-\[\]-~]")
"""What may not stand in an error_description (RFC 6749, 5.2)."""
_UNCACHED = [("Pragma", "no-cache")]


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """One such request; `context` and `access` are the service's."""

    context: ServiceContext
    access: TokenVerifier
    request: Request
    method: str
    places: Mapping[str, str]
    query: Query
    body: Body
    entry: JournalEntry

    def now(self) -> float:
        """The present instant in Unix seconds."""
        return self.context.clock.now().timestamp()

    def form(self) -> dict[str, str]:
        """The parameters of a form body. Raises OAuthError: it is none, or names a parameter twice."""
        given = MediaType.parse(self.request.headers.get("Content-Type") or "").essence
        content = self._content()
        if content and given != _FORM:
            raise OAuthError("invalid_request", f"the body must be a form: Content-Type {_FORM}.")
        try:
            pairs = parse_qsl(content.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
        except ValueError:
            raise OAuthError("invalid_request", "the body is no form in ASCII with percent-encoding.") from None
        return single(pairs)

    def _content(self) -> bytes:
        pieces, size = [], 0
        while block := self.body.read(_MOST):
            pieces.append(block)
            size += len(block)
            if size > _MOST:
                raise OAuthError("invalid_request", f"the body has more than {_MOST} bytes.")
        return b"".join(pieces)


def single(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Parameters by name. Raises OAuthError: one is there twice (RFC 6749, 3.1)."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise OAuthError("invalid_request", f"{twice[:80]} is given more than once.")
    return found


def needed(form: Mapping[str, str], name: str) -> str:
    """A parameter that must be there. Raises OAuthError."""
    if not form.get(name):
        raise OAuthError("invalid_request", f"{name} is missing.")
    return form[name]


def no_store_json(value: JSONObject) -> Response:
    """An answer of an OAuth endpoint, which nobody may keep."""
    return json_bytes(dump(value), 200, _UNCACHED)


def oauth_error_response(error: OAuthError, *, basic: bool = False) -> Response:
    """The flat answer to what was refused."""
    challenge = [("WWW-Authenticate", 'Basic realm="svc"')] if basic and error.status == 401 else []
    body: JSONObject = {"error": error.error, "error_description": _EXCLUDED.sub("?", error.description)}
    return json_bytes(dump(body), error.status, [*_UNCACHED, *challenge])
