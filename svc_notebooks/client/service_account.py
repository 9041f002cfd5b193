"""Who a session is: tokens of service accounts, and what a token is good for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..core.auth import assertions as keys
from ..core.auth.oauth import JWT_BEARER
from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSONObject, Request
from .session import Session, read_object
from .transport.retry import Retry

_FORM = "application/x-www-form-urlencoded"
_LIFETIME = 3600
_KEY_FIELDS = ("client_email", "private_key", "private_key_id", "token_uri")


class AccountToken:
    """Gives access tokens of a service account: each call signs an assertion and asks the token endpoint.

    `session` is what asks, without a token of its own; it is never told the key, and neither is who prints this.
    """

    def __init__(self, key: Mapping[str, Any], scopes: Iterable[str], *, subject: str | None, session: Session) -> None:
        self._key = key
        self._scopes = " ".join(scopes)
        self._subject = subject
        self._session = session

    def __repr__(self) -> str:
        return f"<AccountToken of {self._key['client_email']}>"

    def __call__(self) -> str:
        """A new access token. Raises NotSignedIn: the service does not accept the assertion."""
        form = {"grant_type": JWT_BEARER, "assertion": self._assertion()}
        answer = post_form(self._session, self._key["token_uri"], form)
        token = answer.get("access_token")
        if not isinstance(token, str):
            raise ServiceFailed("The token endpoint answered no access_token.")
        return token

    def _assertion(self) -> str:
        now = int(self._session.clock.now().timestamp())
        claims = {
            "iss": self._key["client_email"],
            "aud": self._key["token_uri"],
            "scope": self._scopes,
            "iat": now,
            "exp": now + _LIFETIME,
        }
        if self._subject:
            claims["sub"] = self._subject
        return keys.sign(claims, self._key["private_key"], self._key["private_key_id"])


def account_key(key: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """A service account's key, from its file or as it is. Raises OSError, TypeError, ValueError; none shows it."""
    if isinstance(key, str | Path):
        key = _read(Path(key))
    if not isinstance(key, Mapping):
        raise TypeError(f"key is {type(key).__name__}; give the key file's path, or the dict that it holds")
    missing = [name for name in _KEY_FIELDS if not isinstance(key.get(name), str) or not key[name]]
    if missing or key.get("type") != "service_account":
        raise ValueError(f"key is no service account's key: it has no {(missing or ['type'])[0]}")
    return key


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path.name} is no key file: it is no JSON") from None


def token_session(token_uri: str, *, verify: bool | str | Path | None = None) -> Session:
    """A session that asks a token endpoint and is nobody itself."""
    parts = urlsplit(token_uri)
    return Session(f"{parts.scheme}://{parts.netloc}", verify=verify)


def post_form(session: Session, address: str, form: Mapping[str, str]) -> JSONObject:
    """What an OAuth endpoint answers to a form. Raises NotSignedIn or BadRequest with its error and its words."""
    content = urlencode(form).encode()
    headers = session.headers(("Content-Type", _FORM), ("Content-Length", str(len(content))))
    request = Request("POST", address, headers, content)
    return read_object(Retry(session, repeatable=True).run(lambda: request))


def token_info(session: Session) -> JSONObject:
    """What the session's own token is good for. Raises NotSignedIn."""
    return session.call("GET", "/tokeninfo")
