"""A request to an endpoint that needs no access token: token endpoints, links, pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from ...core.auth.oauth import OAuthError
from ...core.http.messages import Body, JSONObject, Query, Request, Response
from ...core.http.multipart import MediaType
from .access_tokens import TokenVerifier
from .request_journal import JournalEntry
from .responses import encode_json, json_bytes
from .service_context import ServiceContext

_FORM = "application/x-www-form-urlencoded"
_MAX_FORM_SIZE = 64 * 1024
_NOT_IN_DESCRIPTION = re.compile(r"[^ !#-\[\]-~]")
"""What may not stand in an error_description (RFC 6749, 5.2)."""
_UNCACHED = [("Pragma", "no-cache")]


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """One such request; `context` and `token_verifier` are the service's."""

    context: ServiceContext
    token_verifier: TokenVerifier
    http_request: Request
    method: str
    path_params: Mapping[str, str]
    query: Query
    body: Body
    journal_entry: JournalEntry

    def now(self) -> float:
        """The present instant in Unix seconds."""
        return self.context.clock.now().timestamp()

    def form(self) -> dict[str, str]:
        """The parameters of a form body. Raises OAuthError: it is none, or names a parameter twice."""
        media_type = MediaType.parse(self.http_request.headers.get("Content-Type") or "").essence
        content = self._content()
        if content and media_type != _FORM:
            raise OAuthError("invalid_request", f"the body must be a form: Content-Type {_FORM}.")
        try:
            pairs = parse_qsl(content.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
        except ValueError:
            raise OAuthError("invalid_request", "the body is no form in ASCII with percent-encoding.") from None
        return unique_parameters(pairs)

    def _content(self) -> bytes:
        pieces, size = [], 0
        while block := self.body.read(_MAX_FORM_SIZE):
            pieces.append(block)
            size += len(block)
            if size > _MAX_FORM_SIZE:
                raise OAuthError("invalid_request", f"the body has more than {_MAX_FORM_SIZE} bytes.")
        return b"".join(pieces)


def unique_parameters(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Parameters by name. Raises OAuthError: one is there twice (RFC 6749, 3.1)."""
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        repeated = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise OAuthError("invalid_request", f"{repeated[:80]} is given more than once.")
    return parameters


def required_parameter(form: Mapping[str, str], name: str) -> str:
    """A parameter that must be there. Raises OAuthError."""
    if not form.get(name):
        raise OAuthError("invalid_request", f"{name} is missing.")
    return form[name]


def no_store_json(value: JSONObject) -> Response:
    """An answer of an OAuth endpoint, which nobody may keep."""
    return json_bytes(encode_json(value), 200, _UNCACHED)


def oauth_error_response(error: OAuthError, *, basic: bool = False) -> Response:
    """The flat answer to what was refused."""
    challenge = [("WWW-Authenticate", 'Basic realm="svc"')] if basic and error.status == 401 else []
    body: JSONObject = {"error": error.error, "error_description": _NOT_IN_DESCRIPTION.sub("?", error.description)}
    return json_bytes(encode_json(body), error.status, [*_UNCACHED, *challenge])
