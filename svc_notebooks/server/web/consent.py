"""Handles /authorize, where a user allows an OAuth client to act for them in the scopes they select (RFC 6749)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

from ...core.api.operations import ALL_SCOPES
from ...core.http.messages import Query, Response
from ...core.oauth import GRANTS, OAuthError, is_verifier, matches_redirect
from ...core.resources.errors import AuthorizationServer
from ..auth.grants import code_with_nonce, scope_uri, scopes_of, server_metadata
from ..auth.public_request import PublicRequest, no_store_json, oauth_error_response, unique_parameters
from ..auth.tables import ClientRow, GrantRow, digest_of
from ..dispatch.service_context import IDENTITY_SCOPES, Caller
from .html import html_page, redirect
from .sign_in import CLIENT, account_bar, session_user, sign_in_page, signature

_METHODS = ("plain", "S256")


@dataclass(frozen=True, slots=True)
class _Authorization:
    client: ClientRow
    redirect: str
    params: dict[str, str]


def authorize(request: PublicRequest) -> Response:
    """Return the consent page, the sign-in page, or a redirect to the client with an authorization code or an error."""
    try:
        authorization = _read_authorization(request)
    except OAuthError as error:
        if "text/html" not in (request.http_request.headers.get("Accept") or ""):
            return oauth_error_response(error)
        return html_page("Invalid request", f"<h1>Invalid request</h1><p>{escape(error.description)}</p>", status=400)
    try:
        return _respond(request, authorization)
    except OAuthError as error:
        return _redirect_back(authorization, {"error": error.error, "error_description": error.description})


def _read_authorization(request: PublicRequest) -> _Authorization:
    """Return the checked client and redirect URI. Raises OAuthError, which must not be sent to the redirect URI."""
    params = unique_parameters(list(request.query.pairs))
    client = request.context.store.oauth.client(params.get("client_id", ""))
    if client is None:
        raise OAuthError("invalid_request", "there is no OAuth client with this client_id.")
    registered, redirect = client.redirects.split(), params.get("redirect_uri", "")
    if not any(matches_redirect(uri, redirect) for uri in registered):
        known = ", ".join(registered) or "none"
        problem = f"redirect_uri is {redirect[:200]!r}, and registered for this client: {known}."
        needed = "Scheme, path and query must be the same, and the host and port unless both are of the loopback."
        raise OAuthError("invalid_request", f"{problem} {needed}")
    return _Authorization(client, redirect, params)


def _respond(request: PublicRequest, authorization: _Authorization) -> Response:
    """Return the consent page, the sign-in page, or a redirect to the client with an authorization code.

    Raises OAuthError, which may be sent to the redirect URI.
    """
    params, entry = authorization.params, request.journal_entry
    if params.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type must be code.", 400)
    challenge, method = _challenge(authorization)
    requested = scopes_of(request.context, params.get("scope")).split()
    caller, silent = _consenting_caller(request, authorization), params.get("prompt") == "none"
    if caller is None and silent:
        raise OAuthError("login_required", "no user is signed in, and prompt=none does not allow a sign-in page.", 400)
    if caller is None:
        return sign_in_page(request, "/authorize?" + str(request.query))
    scopes = [scope for scope in requested if scope in caller.scopes or scope in IDENTITY_SCOPES]
    if request.method == "POST":
        form = request.form()
        if not hmac.compare_digest(form.get("signature", "").encode(), signature(request).encode()):
            raise OAuthError("access_denied", "the form was not sent from the consent page of this service.", 400)
        scopes = [scope for scope in scopes if f"scope.{scope}" in form]
        if form.get("decision") != "allow" or not scopes:
            raise OAuthError("access_denied", "the user has not consented.", 400)
    elif not silent:
        return _consent_page(request, authorization, caller, scopes)
    if not scopes:
        raise OAuthError("invalid_scope", "the user cannot grant any of the requested scopes.")
    entry.user, entry.client, entry.scopes = caller.user, authorization.client.id, frozenset(scopes)
    code = code_with_nonce(request.context.ids.code(), params.get("nonce", ""))
    grant = GrantRow(
        digest=digest_of(code),
        kind="code",
        family=digest_of(code),
        user=caller.user,
        client=authorization.client.id,
        scopes=" ".join(scopes),
        expires=request.now() + request.context.policy.code_lifetime,
        redirect=authorization.redirect,
        challenge=challenge,
        method=method,
    )
    request.context.store.oauth.add_grant(grant)
    return _redirect_back(authorization, {"code": code})


def _challenge(authorization: _Authorization) -> tuple[str, str]:
    """Return the code challenge and its method, "plain" or "S256". The challenge is "" if the request has none.

    Raises OAuthError for an invalid challenge, or if a public client sends none (RFC 7636).
    """
    params = authorization.params
    challenge, method = params.get("code_challenge", ""), params.get("code_challenge_method", "plain")
    if not challenge and not authorization.client.secret:
        raise OAuthError("invalid_request", "a client without a secret must send a code_challenge.")
    if method not in _METHODS or (challenge and not is_verifier(challenge)):
        raise OAuthError(
            "invalid_request", "code_challenge must have 43 to 128 characters, and its method must be plain or S256."
        )
    return challenge, method


def _consenting_caller(request: PublicRequest, authorization: _Authorization) -> Caller | None:
    """Return the user who is signed in, or None if nobody is signed in.

    With prompt=none, return the user in login_hint instead, if the policy allows a sign-in without a token.
    """
    hint = authorization.params.get("login_hint", "").lower()
    chosen = request.context.policy.browser_sign_in == "choose" and authorization.params.get("prompt") == "none"
    if hint and chosen and request.context.store.users.root(hint):
        return Caller(hint, CLIENT, frozenset(ALL_SCOPES), False, None)
    return session_user(request)


def _consent_page(
    request: PublicRequest, authorization: _Authorization, caller: Caller, offered: list[str]
) -> Response:
    boxes = "".join(
        f'<label><input type="checkbox" name="scope.{scope}" checked> {escape(uri)}</label>'
        for scope, uri in ((scope, scope_uri(request.context, scope)) for scope in offered)
    )
    action = f"{request.context.policy.path_prefix}/authorize?{escape(str(request.query))}"
    body = (
        f"{account_bar(request, caller)}<h1>{escape(authorization.client.name)} wants to act for you</h1>"
        f'<p>Clear the permissions that you do not give.</p><form class="stack" method="post" action="{action}">{boxes}'
        f'<input type="hidden" name="signature" value="{signature(request)}">'
        '<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>'
        f"<p>This browser then opens {escape(authorization.redirect)}</p>"
    )
    parts = urlsplit(authorization.redirect)
    leads_to = f"'self' {parts.scheme}://{parts.netloc}" if parts.netloc else None
    return html_page(f"Consent: {authorization.client.name}", body, forms=leads_to)


def _redirect_back(authorization: _Authorization, answer: dict[str, str]) -> Response:
    parts = urlsplit(authorization.redirect)
    if "state" in authorization.params:
        answer["state"] = authorization.params["state"]
    query = "&".join(filter(None, [parts.query, str(Query(answer.items()))]))
    return redirect(parts._replace(query=query).geturl(), 302)


def metadata(request: PublicRequest) -> Response:
    """Return the JSON response with the addresses of the OAuth endpoints, for OAuth libraries (RFC 8414)."""
    document: AuthorizationServer = {
        **server_metadata(request),
        "scopes_supported": [scope_uri(request.context, scope) for scope in ALL_SCOPES],
        "grant_types_supported": list(GRANTS),
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    }
    return no_store_json(document)
