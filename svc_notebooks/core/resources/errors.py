"""The bodies of error responses, and the responses of the token endpoints."""

from __future__ import annotations

from typing import Annotated, Literal, Required, TypedDict

from ..http.messages import JSONObject
from .field import Field


class ErrorDetail(TypedDict, total=False):
    """A single problem of a request, with its reason code, message and location."""

    domain: Required[str]
    reason: Required[str]
    message: Required[str]
    locationType: str
    location: str


class ErrorContent(TypedDict):
    """The HTTP status, the message of the first problem, and all problems of a request."""

    code: int
    message: str
    errors: Annotated[list[ErrorDetail], Field(schema_keywords={"minItems": 1})]


class ErrorResponse(TypedDict):
    """The body of every error response of the interface (X-01)."""

    error: ErrorContent


class Token(TypedDict, total=False):
    """The response of the token endpoint with a new access token."""

    access_token: Required[str]
    token_type: Required[Literal["Bearer"]]
    expires_in: Required[int]
    scope: Required[str]
    refresh_token: str
    id_token: str


class TokenInfo(TypedDict, total=False):
    """The owner, client, scopes and expiry of an access token."""

    azp: str
    aud: Required[str]
    scope: Required[str]
    email: str
    email_verified: bool
    access_type: Literal["offline", "online"]
    exp: int
    expires_in: int


class AuthorizationServer(TypedDict, total=False):
    """The metadata of the authorization server (RFC 8414)."""

    issuer: Required[str]
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str
    userinfo_endpoint: str
    jwks_uri: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    code_challenge_methods_supported: list[str]
    subject_types_supported: list[str]
    id_token_signing_alg_values_supported: list[str]


class UserInfo(TypedDict, total=False):
    """The claims of a user (OpenID Connect Core, 5.3)."""

    sub: Required[str]
    email: str
    email_verified: bool
    name: str


class KeySet(TypedDict):
    """The public keys that verify ID tokens (RFC 7517)."""

    keys: list[JSONObject]


class OAuthErrorResponse(TypedDict):
    """The body of an error response of a token endpoint (RFC 6749, section 5.2)."""

    error: str
    error_description: str
