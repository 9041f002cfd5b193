"""Signs a person in and out in a browser with a cookie, so that links to files open (A6-08), and handles /authorize,
where a user allows an OAuth client to act for them in the scopes they select (RFC 6749).

The cookie is valid only for pages and never for the interface, so that no other site can call the interface in the
user's name. The store has each session under a key derived from the cookie.

A provider such as JupyterHub signs users in with OAuth (RFC 6749, 4.1) and PKCE (RFC 7636). A random key in a second
cookie ties both steps to one browser. `state` contains the page to open next and a signature of this page and the key,
so that no other site can complete a sign-in. The provider's token stays in memory.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from ...core.api.operations import ALL_SCOPES
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, Request, Response
from ...core.oauth import GRANTS, OAuthError, is_verifier, matches_redirect
from ...core.resources.errors import AuthorizationServer
from ..auth.access_tokens import TokenVerifier
from ..auth.accounts import create_user
from ..auth.oauth_endpoints import code_with_nonce, scope_uri, scopes_of, server_metadata
from ..auth.public_request import PublicRequest, no_store_json, oauth_error_response, unique_parameters
from ..auth.tables import ClientRow, GrantRow, TokenRow, digest_of
from ..dispatch.service_context import IDENTITY_SCOPES, Caller, ServiceContext, external_origin
from .html import html_page, redirect

COOKIE = "svc_session"
CLIENT = "browser"
SIGN_IN = "/signin"
_LIFETIME = 12 * 3600


def session_user(request: PublicRequest) -> Caller | None:
    """Return the caller of a request by its access token, or else by the session cookie.

    Return None if nobody is signed in. Raises ApiError (401) for an invalid access token.
    """
    if "Authorization" in request.http_request.headers or request.query.get("access_token"):
        return request.token_verifier.caller(request.http_request.headers.by_name(), request.query)
    return _session(request)


def signed_in_user(request: PublicRequest) -> str:
    """Return the user whose limits a request counts against, or "" if nobody is signed in."""
    try:
        caller = session_user(request)
    except ApiError:
        return ""
    return caller.user if caller else ""


def _session(request: PublicRequest) -> Caller | None:
    verifier = request.token_verifier
    token = session_token(request.context, verifier, request.http_request)
    if verifier.provider is None:
        return verifier.caller_for_token(token) if token else None
    user = verifier.provider.user(token) if token else None
    return verifier.provided_caller(user, CLIENT) if user else None


def session_token(context: ServiceContext, verifier: TokenVerifier, request: Request) -> str | None:
    """Return the access token behind the session cookie of a request, or None without a session. It may be invalid."""
    secret = cookie_value(request, COOKIE)
    if not secret:
        return None
    key = keyed_digest(context, "session", secret)
    return key if verifier.provider is None else verifier.provider_sessions.get(key)


def keyed_digest(context: ServiceContext, purpose: str, secret: str) -> str:
    """Return the HMAC of a secret under the service's key in hexadecimal, different for each `purpose`."""
    content = f"{purpose} {secret}".encode("utf-8", "surrogatepass")
    return hmac.digest(context.secret.encode(), content, "sha256").hex()


def cookie_value(request: Request, name: str) -> str:
    """Return the value of a cookie of the request, or "" if the cookie is missing."""
    try:
        morsel = SimpleCookie(request.headers.get("Cookie") or "").get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def signature(request: PublicRequest) -> str:
    """Return the signature that a form must send to prove that the form comes from a page made for this browser."""
    return keyed_digest(request.context, "form", cookie_value(request.http_request, COOKIE))


def sign_in(request: PublicRequest) -> Response:
    """Return the sign-in page (GET), or sign a person in and redirect to the path in the parameter `continue`.

    With a provider, redirect the browser to the provider instead.
    """
    target = local_target(request.query.get("continue"))
    if provider := request.token_verifier.provider:
        leads_here = target.partition("?")[0] == SIGN_IN  # after the sign-in, this page must not sign the user in again
        if leads_here and (caller := session_user(request)):
            return html_page("Signed in", account_bar(request, caller) + "<h1>Signed in</h1>")
        key = request.context.ids.token()
        challenge = _encode(sha256(keyed_digest(request.context, "code verifier", key).encode()).digest())
        state = f"{keyed_digest(request.context, 'state', f'{key} {target}')}.{_encode(target.encode())}"
        cookie = set_cookie(request, STATE_COOKIE, key, _STATE_LIFETIME, CALLBACK)
        return redirect(provider.authorize_url(state, challenge), extra=[cookie])
    if request.method != "POST":
        return sign_in_page(request, target)
    try:
        return _start_session(request, request.form(), target)
    except (ApiError, OAuthError) as error:
        return sign_in_page(request, target, status=401, problem=str(error))


def _start_session(request: PublicRequest, form: dict[str, str], target: str) -> Response:
    context, secret = request.context, request.context.ids.token()
    granted = _token_for(request, form)
    with context.store.transaction():
        create_user(context, granted.user)
        request.token_verifier.add_token(
            keyed_digest(request.context, "session", secret),
            granted._replace(client=CLIENT, expires=request.now() + _LIFETIME),
        )
    request.journal_entry.user = granted.user
    return redirect(request.context.policy.path_prefix + target, extra=[set_cookie(request, COOKIE, secret, _LIFETIME)])


def _token_for(request: PublicRequest, form: dict[str, str]) -> TokenRow:
    """Return the token row of a new browser session, for the token or e-mail address in the form.

    Raises ApiError, 401 for an invalid or missing required token and 400 for an invalid address.
    """
    if secret := form.get("token", "").strip():
        caller = request.token_verifier.caller_for_token(secret)
        if caller is None:
            raise refuse("badToken")
        return TokenRow(caller.user, CLIENT, " ".join(sorted(caller.scopes)), int(caller.service_account), None)
    user = form.get("user", "").strip().lower()
    if request.context.policy.browser_sign_in != "choose":
        raise refuse("notSignedIn")
    if user.count("@") != 1 or any(mark.isspace() for mark in user):
        raise refuse("invalid", field="user", message="expected an e-mail address.")
    return TokenRow(user, CLIENT, " ".join(ALL_SCOPES), 0, None)


def set_cookie(request: PublicRequest, name: str, value: str, lifetime: int, path: str = "/") -> tuple[str, str]:
    """Return a Set-Cookie header for a path of this service, which scripts cannot read. Lifetime 0 ends the cookie."""
    secure = "; Secure" if external_origin(request.http_request, request.context).startswith("https:") else ""
    path = request.context.policy.path_prefix + path
    return "Set-Cookie", f"{name}={value}; Path={path}; Max-Age={lifetime}; HttpOnly; SameSite=Lax{secure}"


def sign_out(request: PublicRequest) -> Response:
    """End the browser session, and redirect to the sign-in page or, with a provider, return a page."""
    verifier, end_cookie = request.token_verifier, set_cookie(request, COOKIE, "", 0)
    if secret := cookie_value(request.http_request, COOKIE):
        key = keyed_digest(request.context, "session", secret)
        request.context.store.oauth.end_token(key)
        verifier.clear_cache()
        token = verifier.provider_sessions.take(key)
        if token and verifier.provider:
            verifier.provider.forget(token)
    if verifier.provider is None:
        return redirect(f"{request.context.policy.path_prefix}/signin", extra=[end_cookie])
    name = escape(verifier.provider.name)  # the sign-in page would sign the user in again at once
    text = f"<h1>Signed out</h1><p>You are still signed in to {name}.</p>{_provider_link(request, SIGN_IN)}"
    return html_page("Signed out", text, extra=[end_cookie])


def _provider_link(request: PublicRequest, target: str) -> str:
    provider = request.token_verifier.provider
    address = f"{request.context.policy.path_prefix}/signin?{Query([('continue', target)])}"
    text = f"Sign in with {provider.name}" if provider else "Sign in"
    return f'<p><a class="button" href="{escape(address)}">{escape(text)}</a></p>'


def local_target(target: str | None) -> str:
    """Return `target` if it is a path of this service, without prefix. Otherwise return that of the sign-in page."""
    is_local = target and target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if target and is_local else SIGN_IN


def sign_in_page(request: PublicRequest, target: str, *, status: int = 200, problem: str = "") -> Response:
    """Return the sign-in page. `target` is the path to open next, and `problem` is an error message to show."""
    challenge = [("WWW-Authenticate", 'Bearer realm="svc"')] if status == 401 else []
    if request.token_verifier.provider:
        warning = f'<p role="alert" class="warning">{escape(problem)}</p>' if problem else ""
        body = f"<h1>Sign in</h1>{warning}{_provider_link(request, target)}"
        return html_page("Sign in", body, status=status, extra=challenge)
    action = f"{request.context.policy.path_prefix}/signin?{escape(str(Query([('continue', target)])))}"
    known = _session(request)
    parts = [
        "<h1>Sign in</h1>",
        f'<p role="alert" class="warning">{escape(problem)}</p>' if problem else "",
        f"<p>This browser is signed in as <b>{escape(known.user)}</b>.</p>" if known else "",
        _chooser(request, action) if request.context.policy.browser_sign_in == "choose" else "",
        f'<form class="stack" method="post" action="{action}"><label>An access token of this service'
        '<input type="password" name="token" autocomplete="off" required></label><button>Sign in</button></form>',
    ]
    return html_page("Sign in", "".join(parts), status=status, extra=challenge)


def _chooser(request: PublicRequest, action: str) -> str:
    buttons = "".join(
        f'<p><button name="user" value="{escape(email)}">{escape(email)}</button></p>'
        for email in request.context.store.users.emails()
    )
    return (
        f'<form method="post" action="{action}">{buttons}</form><form class="stack" method="post" action="{action}">'
        '<label>Another user<input type="email" name="user" required></label><button>Sign in</button></form>'
    )


def account_bar(request: PublicRequest, caller: Caller | None) -> str:
    """Return the HTML header of a page, with the user's address and a button to sign in or out."""
    prefix = request.context.policy.path_prefix
    if caller is None or not caller.user:
        return f'<header><span>Not signed in</span><a class="button" href="{prefix}/signin">Sign in</a></header>'
    sign_out = f'<form method="post" action="{prefix}/signout"><button>Sign out</button></form>'
    out = sign_out if caller.client == CLIENT else ""
    return f"<header><span>{escape(caller.user)}</span>{out}</header>"


CALLBACK = "/oauth_callback"
STATE_COOKIE = "svc_sign_in"
_STATE_LIFETIME = 600


def complete_sign_in(request: PublicRequest) -> Response:
    """Start a browser session for the user whom the provider has signed in, and redirect to the page to open next.

    Without a valid state or code, return the sign-in page. Raises ApiError, 403 and 503 as the provider does, and 404
    without a provider.
    """
    verifier, provider, query = request.token_verifier, request.token_verifier.provider, request.query
    if provider is None:
        raise refuse("notFound", message="users sign in to this service at /signin.")
    key = cookie_value(request.http_request, STATE_COOKIE)
    target = _target(request, key, query.get("state") or "")
    if target is None:
        problem = "The sign-in began in another browser, or more than ten minutes ago."
        return sign_in_page(request, SIGN_IN, status=401, problem=problem)
    code = query.get("code")
    verified = keyed_digest(request.context, "code verifier", key)
    token = provider.token_for_code(code, verified) if code else None
    user = provider.user(token) if token else None
    if token is None or user is None:
        problem = f"{provider.name} has not signed you in."
        return sign_in_page(request, target, status=401, problem=problem)
    caller, secret = verifier.provided_caller(user, provider.name), request.context.ids.token()
    verifier.provider_sessions.keep(keyed_digest(request.context, "session", secret), token, 1)
    request.journal_entry.user = caller.user
    end_state = set_cookie(request, STATE_COOKIE, "", 0, CALLBACK)
    extra = [set_cookie(request, COOKIE, secret, _LIFETIME), end_state]
    return redirect(request.context.policy.path_prefix + target, extra=extra)


def _target(request: PublicRequest, key: str, state: str) -> str | None:
    """Return the page in a `state`, or None unless this service has sent the state to the browser with this key."""
    signature, _, encoded = state.partition(".")
    try:
        target = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError:
        return None
    expected = keyed_digest(request.context, "state", f"{key} {target}")
    is_valid = hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode())
    return local_target(target) if key and is_valid else None


def _encode(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


# -- the consent to an OAuth client


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
