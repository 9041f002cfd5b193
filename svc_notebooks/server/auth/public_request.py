"""The class for requests to endpoints that need no access token, which are OAuth endpoints, links and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from ...core.http.messages import Body, Query, Request, Response
from ...core.http.multipart import MediaType
from ...core.oauth import OAuthError
from ...core.resources.errors import OAuthErrorResponse
from ..dispatch.journal import JournalEntry
from ..dispatch.requests_and_responses import encode_json, json_bytes
from ..dispatch.service_context import ServiceContext
from .access_tokens import TokenVerifier

FORM = "application/x-www-form-urlencoded"
MAX_FORM_SIZE = 64 * 1024
# A character that is not allowed in an error_description (RFC 6749, 5.2).
_NOT_IN_DESCRIPTION = re.compile(r"[^ !#-\[\]-~]")
_UNCACHED = [("Pragma", "no-cache")]


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """A request to an endpoint that needs no access token, with the context and the token verifier of the service."""

    context: ServiceContext
    token_verifier: TokenVerifier
    http_request: Request
    method: str
    path_params: Mapping[str, str]
    query: Query
    body: Body
    journal_entry: JournalEntry
    # Counts the request against the limits of a user, "" without a sign-in. Raises ApiError (403 or 429).
    check_limits: Callable[[str], None]

    def now(self) -> float:
        """Return the current time in Unix seconds."""
        return self.context.clock.now().timestamp()

    def form(self) -> dict[str, str]:
        """Return the parameters of the form body by name. Raises OAuthError if the body is invalid or too long."""
        media_type = MediaType.parse(self.http_request.headers.get("Content-Type") or "").essence
        content = b""
        while block := self.body.read(MAX_FORM_SIZE):
            content += block
            if len(content) > MAX_FORM_SIZE:
                raise OAuthError("invalid_request", f"the body has more than {MAX_FORM_SIZE} bytes.")
        if content and media_type != FORM:
            raise OAuthError("invalid_request", f"the body must be a form with the Content-Type {FORM}.")
        try:
            pairs = parse_qsl(content.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
        except ValueError:
            raise OAuthError("invalid_request", "the body is not a form in ASCII with percent-encoding.") from None
        return unique_parameters(pairs)


def unique_parameters(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name. Raises OAuthError for a repeated parameter (RFC 6749, 3.1)."""
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        repeated = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise OAuthError("invalid_request", f"{repeated[:80]} is given more than once.")
    return parameters


def require_parameter(form: Mapping[str, str], name: str) -> str:
    """Return the value of a required parameter. Raises OAuthError if the parameter is missing or empty."""
    if not form.get(name):
        raise OAuthError("invalid_request", f"{name} is missing.")
    return form[name]


def no_store_json(value: Mapping[str, object]) -> Response:
    """Return a JSON response (200) of an OAuth endpoint, with headers that forbid caching."""
    return json_bytes(encode_json(value), 200, _UNCACHED)


def oauth_error_response(error: OAuthError, *, basic: bool = False) -> Response:
    """Return the JSON response to an OAuth error (RFC 6749, 5.2). `basic` adds a Basic challenge to status 401."""
    challenge = [("WWW-Authenticate", 'Basic realm="svc"')] if basic and error.status == 401 else []
    description = _NOT_IN_DESCRIPTION.sub("?", error.description)
    body: OAuthErrorResponse = {"error": error.error, "error_description": description}
    return json_bytes(encode_json(body), error.status, [*_UNCACHED, *challenge])
