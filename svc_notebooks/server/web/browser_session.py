"""Signs a person in and out in a browser, with a cookie, so that links to files open (A6-08).

The cookie is good for pages alone, never for the interface itself, so that no other site can call it in their name.
It is not an access token either: the store has a browser session under a key that is derived from the cookie.
"""

from __future__ import annotations

import hmac
from html import escape
from http.cookies import CookieError, SimpleCookie

from ...core.api.operations import ALL_SCOPES
from ...core.auth.oauth import OAuthError
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, Response
from ..auth.users import create_user
from ..context.access_tokens import Caller
from ..context.external_origin import external_origin
from ..context.html import html_page, redirect
from ..context.public_request import PublicRequest
from ..store.users import TokenRow

COOKIE = "svc_session"
CLIENT = "browser"
_LIFETIME = 12 * 3600


def session_user(visit: PublicRequest) -> Caller | None:
    """Who looks: by the access token of the request, else by the cookie. Raises ApiError (401) for a bad token."""
    if "Authorization" in visit.http_request.headers or visit.query.get("access_token"):
        return visit.token_verifier.caller(visit.http_request, visit.query)
    return _session(visit)


def _session(visit: PublicRequest) -> Caller | None:
    """Who is signed in by the cookie."""
    secret = cookie(visit)
    return visit.token_verifier.caller_for_token(_session_key(visit, secret)) if secret else None


def _session_key(visit: PublicRequest, secret: str) -> str:
    """What the store has in place of a cookie; only the service can work it out."""
    return _keyed(visit, "session", secret)


def _keyed(visit: PublicRequest, purpose: str, secret: str) -> str:
    """A digest that only the service can work out; those of two purposes have nothing in common."""
    content = f"{purpose} {secret}".encode("utf-8", "surrogatepass")
    return hmac.digest(visit.context.secret.encode(), content, "sha256").hex()


def cookie(visit: PublicRequest) -> str:
    """The secret in the cookie, "" without one."""
    try:
        morsel = SimpleCookie(visit.http_request.headers.get("Cookie") or "").get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def signature(visit: PublicRequest) -> str:
    """What only a page that was made for this browser knows: forms must bring it along."""
    return _keyed(visit, "form", cookie(visit))


def sign_in(visit: PublicRequest) -> Response:
    """The page where a person says who they are, and what follows when they have."""
    target = local_target(visit.query.get("continue"))
    if visit.method != "POST":
        return sign_in_page(visit, target)
    try:
        return _start_session(visit, visit.form(), target)
    except (ApiError, OAuthError) as error:
        return sign_in_page(visit, target, status=401, problem=str(error))


def _start_session(visit: PublicRequest, form: dict[str, str], target: str) -> Response:
    context, secret = visit.context, visit.context.ids.token()
    granted = _token_for(visit, form)
    with context.store.transaction():
        create_user(context, granted.user)
        visit.token_verifier.add_token(
            _session_key(visit, secret), granted._replace(client=CLIENT, expires=visit.now() + _LIFETIME)
        )
    visit.journal_entry.user = granted.user
    return redirect(target, extra=[("Set-Cookie", _cookie(visit, secret, _LIFETIME))])


def _token_for(visit: PublicRequest, form: dict[str, str]) -> TokenRow:
    """Who signs in: the bearer of a token, or, where that is enough, whoever they say they are."""
    if secret := form.get("token", "").strip():
        caller = visit.token_verifier.caller_for_token(secret)
        if caller is None:
            raise refuse("badToken")
        return TokenRow(caller.user, CLIENT, " ".join(sorted(caller.scopes)), int(caller.service_account), None)
    user = form.get("user", "").strip().lower()
    if visit.context.policy.browser_sign_in != "choose":
        raise refuse("notSignedIn")
    if user.count("@") != 1 or any(mark.isspace() for mark in user):
        raise refuse("invalid", field="user", message="expected an e-mail address.")
    return TokenRow(user, CLIENT, " ".join(ALL_SCOPES), 0, None)


def _cookie(visit: PublicRequest, secret: str, lifetime: int) -> str:
    secure = "; Secure" if external_origin(visit.http_request, visit.context).startswith("https:") else ""
    return f"{COOKIE}={secret}; Path=/; Max-Age={lifetime}; HttpOnly; SameSite=Lax{secure}"


def sign_out(visit: PublicRequest) -> Response:
    """Forget the person."""
    if secret := cookie(visit):
        visit.context.store.oauth.end_token(_session_key(visit, secret))
        visit.token_verifier.clear_cache()
    return redirect("/signin", extra=[("Set-Cookie", _cookie(visit, "", 0))])


def local_target(target: str | None) -> str:
    """Where a person wanted to go, if that is within this service."""
    is_local = target and target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if target and is_local else "/signin"


def sign_in_page(visit: PublicRequest, target: str, *, status: int = 200, problem: str = "") -> Response:
    """Ask who somebody is."""
    action = f"/signin?{escape(str(Query([('continue', target)])))}"
    known = _session(visit)
    parts = [
        "<h1>Sign in</h1>",
        f'<p role="alert" class="warning">{escape(problem)}</p>' if problem else "",
        f"<p>This browser is signed in as <b>{escape(known.user)}</b>.</p>" if known else "",
        _chooser(visit, action) if visit.context.policy.browser_sign_in == "choose" else "",
        f'<form class="stack" method="post" action="{action}"><label>An access token of this service'
        '<input type="password" name="token" autocomplete="off" required></label><button>Sign in</button></form>',
    ]
    challenge = [("WWW-Authenticate", 'Bearer realm="svc"')] if status == 401 else []
    return html_page("Sign in", "".join(parts), status=status, extra=challenge)


def _chooser(visit: PublicRequest, action: str) -> str:
    """A button for each user, and room for another; nobody has a password here."""
    buttons = "".join(
        f'<p><button name="user" value="{escape(email)}">{escape(email)}</button></p>'
        for email in visit.context.store.users.emails()
    )
    return (
        f'<form method="post" action="{action}">{buttons}</form><form class="stack" method="post" action="{action}">'
        '<label>Somebody else<input type="email" name="user" required></label><button>Sign in</button></form>'
    )


def account_bar(caller: Caller | None) -> str:
    """The line at the top of a page: who looks, and the way out."""
    if caller is None or not caller.user:
        return '<header><span>not signed in</span><a class="button" href="/signin">Sign in</a></header>'
    out = '<form method="post" action="/signout"><button>Sign out</button></form>' if caller.client == CLIENT else ""
    return f"<header><span>{escape(caller.user)}</span>{out}</header>"
