"""Access tokens of service accounts, and information about a session's token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..core.errors.errors import ServiceFailed
from ..core.http.messages import Request
from ..core.oauth import JWT_BEARER, sign, token_problem
from ..core.resources.errors import TokenInfo
from ..local.saving import read_file
from .json_response import read_fields, read_object
from .retry import Retry
from .session import Session
from .transport.urls import host_of

_FORM = "application/x-www-form-urlencoded"
_LIFETIME = 3600
_KEY_FIELDS = ("client_email", "private_key", "private_key_id", "token_uri")


class AccountToken:
    """A callable that exchanges an assertion for an access token.

    `session` has no token and sends the requests to the token endpoint. The private key is neither sent nor shown.
    """

    def __init__(self, key: Mapping[str, Any], scopes: Iterable[str], *, subject: str | None, session: Session) -> None:
        self._key = key
        self._scopes = " ".join(scopes)
        self._subject = subject
        self._session = session

    def __repr__(self) -> str:
        return f"<AccountToken of {self._key['client_email']}>"

    def __call__(self) -> str:
        """Return a new access token. Raises NotSignedIn if refused, ServiceFailed if the response has no token."""
        address, session = self._key["token_uri"], self._session
        content = urlencode({"grant_type": JWT_BEARER, "assertion": self._assertion()}).encode()
        headers = session.headers(("Content-Type", _FORM), ("Content-Length", str(len(content))))
        response = Retry(session, repeatable=True).run(Request("POST", address, headers, content))
        token = read_object(response, address).get("access_token")
        if not isinstance(token, str) or token_problem(token):
            raise ServiceFailed(f"{host_of(address)} returned no valid access_token; check token_uri.")
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
        return sign(claims, self._key["private_key"], self._key["private_key_id"])


def account_key(key: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """Return the checked key of a service account from a dict or a JSON file. No error shows the key.

    Raises OSError for an unreadable file, TypeError or ValueError for an invalid key.
    """
    if isinstance(key, str | Path):
        path = Path(key)
        content = read_file(path)
        try:
            key = json.loads(content)
        except ValueError:
            raise ValueError(f"{path.name} is not a key file, because it is not JSON") from None
    if not isinstance(key, Mapping):
        raise TypeError(f"key must be the path of the key file or its content as a dict, not {type(key).__name__}")
    missing = [name for name in _KEY_FIELDS if not isinstance(key.get(name), str) or not key[name]]
    if missing or key.get("type") != "service_account":
        raise ValueError(f"key is not a service account key: the field {(missing or ['type'])[0]} is missing or wrong")
    return key


def token_info(session: Session) -> TokenInfo:
    """Return the information about the session's token from /tokeninfo. Raises NotSignedIn for an invalid token."""
    return read_fields(session.fetch("GET", "/tokeninfo"), TokenInfo, session.base_url, "scope", "aud", "email")
