"""Signs a person in at a provider such as JupyterHub, with OAuth (RFC 6749, 4.1) and PKCE (RFC 7636).

A random key in a cookie ties both steps to one browser. `state` contains the page to open next and a signature of this
page and the key, so that no other site can complete a sign-in. The provider's token stays in memory.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from ...core.errors.catalogue import refuse
from ...core.http.messages import Response
from ..auth.access_tokens import SignInProvider
from ..auth.public_request import PublicRequest
from . import browser_session
from .browser_session import (
    SIGN_IN,
    account_bar,
    cookie_value,
    keyed_digest,
    local_target,
    session_cookie,
    set_cookie,
    sign_in_page,
)
from .html import html_page, redirect

CALLBACK = "/oauth_callback"
STATE_COOKIE = "svc_sign_in"
_STATE_LIFETIME = 600


def sign_in(request: PublicRequest) -> Response:
    """Redirect the browser to the provider. Without a provider, show the sign-in page or sign a person in."""
    provider, target = request.token_verifier.provider, local_target(request.query.get("continue"))
    if provider is None:
        return browser_session.sign_in(request)
    leads_here = target.partition("?")[0] == SIGN_IN  # after the sign-in, this page must not sign the user in again
    if leads_here and (caller := browser_session.session_user(request)):
        return html_page("Signed in", account_bar(request, caller) + "<h1>Signed in</h1>")
    return _start(request, provider, target)


def _start(request: PublicRequest, provider: SignInProvider, target: str) -> Response:
    key = request.context.ids.token()
    challenge = _encode(sha256(_verifier(request, key).encode()).digest())
    state = f"{_signature(request, key, target)}.{_encode(target.encode())}"
    cookie = set_cookie(request, STATE_COOKIE, key, _STATE_LIFETIME, CALLBACK)
    return redirect(provider.authorize_url(state, challenge), extra=[cookie])


def complete_sign_in(request: PublicRequest) -> Response:
    """Start a browser session for the user whom the provider has signed in, and redirect to the page to open next.

    Without a valid state or code, return the sign-in page. Raises ApiError, 403 and 503 as the provider does, and 404
    without a provider.
    """
    verifier, provider, query = request.token_verifier, request.token_verifier.provider, request.query
    if provider is None:
        raise refuse("notFound", message="users sign in to this service at /signin.")
    key = cookie_value(request, STATE_COOKIE)
    target = _target(request, key, query.get("state") or "")
    if target is None:
        problem = "The sign-in began in another browser, or more than ten minutes ago."
        return sign_in_page(request, SIGN_IN, status=401, problem=problem)
    code = query.get("code")
    token = provider.token_for_code(code, _verifier(request, key)) if code else None
    user = provider.user(token) if token else None
    if token is None or user is None:
        problem = f"{provider.name} has not signed you in."
        return sign_in_page(request, target, status=401, problem=problem)
    caller, secret = verifier.provided_caller(user, provider.name), request.context.ids.token()
    verifier.provider_sessions.add(keyed_digest(request, "session", secret), token)
    request.journal_entry.user = caller.user
    end_state = set_cookie(request, STATE_COOKIE, "", 0, CALLBACK)
    extra = [session_cookie(request, secret), end_state]
    return redirect(request.context.policy.path_prefix + target, extra=extra)


def _target(request: PublicRequest, key: str, state: str) -> str | None:
    """Return the page in a `state`, or None unless this service has sent the state to the browser with this key."""
    signature, _, encoded = state.partition(".")
    try:
        target = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError:
        return None
    is_valid = hmac.compare_digest(signature.encode("utf-8", "replace"), _signature(request, key, target).encode())
    return local_target(target) if key and is_valid else None


def _signature(request: PublicRequest, key: str, target: str) -> str:
    return keyed_digest(request, "state", f"{key} {target}")


def _verifier(request: PublicRequest, key: str) -> str:
    return keyed_digest(request, "code verifier", key)


def _encode(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")
