"""JupyterHub as sign-in provider: its settings for a managed service, its users and its OAuth."""

from __future__ import annotations

import http.client
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from ...core.errors.catalogue import ApiError, refuse
from ...core.events.fields import is_address
from ...core.thread_permit import release_permit
from .tables import digest_of

_REQUIRED = (
    "JUPYTERHUB_SERVICE_NAME",
    "JUPYTERHUB_SERVICE_PREFIX",
    "JUPYTERHUB_SERVICE_URL",
    "JUPYTERHUB_API_URL",
    "JUPYTERHUB_API_TOKEN",
    "JUPYTERHUB_CLIENT_ID",
)


@dataclass(frozen=True, slots=True)
class HubSettings:
    """The address and the credentials of a hub, and the address at which the hub's proxy expects this service.

    A token needs one of the `access_scopes` to use this service. `prefix` has no slash at its end.
    """

    service: str
    prefix: str
    host: str
    port: int
    api_url: str
    api_token: str = field(repr=False)
    client_id: str
    authorize_url: str
    access_scopes: frozenset[str]

    @property
    def redirect_uri(self) -> str:
        """The path to which the hub sends a browser after the sign-in, as the hub has registered it."""
        return f"{self.prefix}/oauth_callback"


def read_hub_settings(environ: Mapping[str, str]) -> HubSettings:
    """Return the settings in environment variables. Raises ValueError if a variable is missing or invalid."""
    missing = [name for name in _REQUIRED if not environ.get(name)]
    if missing:
        raise ValueError(
            f"{missing[0]} is not set; JupyterHub sets it for a service in c.JupyterHub.services that has a url and a"
            " command (docs/hub.md)"
        )
    service, prefix, address, api_url, api_token, client_id = (environ[name] for name in _REQUIRED)
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise ValueError(f"JUPYTERHUB_SERVICE_URL is {address!r}; it must be a URL with a port, http://127.0.0.1:10101")
    base = environ.get("JUPYTERHUB_BASE_URL") or "/"
    return HubSettings(
        service,
        prefix.rstrip("/"),
        host,
        port,
        api_url.rstrip("/"),
        api_token,
        client_id,
        f"{environ.get('JUPYTERHUB_HOST', '')}{base.rstrip('/')}/hub/api/oauth2/authorize",
        _access_scopes(service, environ.get("JUPYTERHUB_OAUTH_ACCESS_SCOPES")),
    )


def _access_scopes(service: str, text: str | None) -> frozenset[str]:
    try:
        scopes = json.loads(text) if text else ["access:services", f"access:services!service={service}"]
        return frozenset(map(str, scopes))
    except (TypeError, ValueError):
        raise ValueError(f"JUPYTERHUB_OAUTH_ACCESS_SCOPES is {text!r}; it must be a JSON list of scopes") from None


_log = logging.getLogger(__name__)

_SECONDS = 5.0
_MAX_SIZE = 1024 * 1024
_REFUSED = (400, 401, 403)  # the statuses of the hub for an unknown token or an invalid code


class ProvidedUser(NamedTuple):
    """A user whom a provider has signed in. `email` is the address of the account. `admin` is true for teachers."""

    email: str
    admin: bool


_KNOWN_SECONDS = 60.0
_UNKNOWN_SECONDS = 5.0
_MAX_REMEMBERED = 10_000
_PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789._-"


class JupyterHub:
    """A hub whose users can use this service. `domain` is the domain of their accounts."""

    name = "JupyterHub"

    def __init__(self, settings: HubSettings, domain: str, *, now: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._domain = settings, domain
        self._now = now
        # The user of a token or the refusal, and the time until which it is remembered, by the digest of the token.
        self._remembered: dict[str, tuple[float, ProvidedUser | ApiError | None]] = {}

    def user(self, token: str) -> ProvidedUser | None:
        """Return the user of a hub token, or None if the hub does not know the token.

        Raises ApiError, 403 for a token without a scope to access this service, and 503 if the hub does not respond.
        """
        key, now = digest_of(token), self._now()
        until, user = self._remembered.get(key, (now, None))
        if now >= until:
            user = self._user_of(self._send("GET", "/user", {"Authorization": f"Bearer {token}"}))
            seconds = _KNOWN_SECONDS if isinstance(user, ProvidedUser) else _UNKNOWN_SECONDS
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = now + seconds, user
        if isinstance(user, ApiError):
            raise ApiError(user.rows, user.headers)
        return user

    def _user_of(self, model: dict[str, Any] | None) -> ProvidedUser | ApiError | None:
        if model is None:
            return None
        name, scopes = model.get("name"), model.get("scopes")
        if model.get("kind") != "user" or not isinstance(name, str) or not name:
            return refuse("hubUser")
        if not isinstance(scopes, list) or self._settings.access_scopes.isdisjoint(map(str, scopes)):
            return refuse("hubScope", name=f"access:services!service={self._settings.service}")
        return ProvidedUser(hub_email(name, self._domain), model.get("admin") is True)

    def forget(self, token: str) -> None:
        """Ask the hub again when the token is used next."""
        self._remembered.pop(digest_of(token), None)

    def authorize_url(self, state: str, challenge: str) -> str:
        """Return the address of the hub at which a browser asks the user to sign in."""
        parameters = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._settings.redirect_uri,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._settings.authorize_url}?{urlencode(parameters)}"

    def token_for_code(self, code: str, verifier: str) -> str | None:
        """Exchange an authorization code for a hub token, or return None if the hub refuses the code."""
        form = {
            "grant_type": "authorization_code",
            "client_id": self._settings.client_id,
            "client_secret": self._settings.api_token,
            "code": code,
            "redirect_uri": self._settings.redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        model = self._send("POST", "/oauth2/token", headers, urlencode(form))
        token = model.get("access_token") if model else None
        return token if isinstance(token, str) and token else None

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: str | None = None
    ) -> dict[str, Any] | None:
        """Return the JSON object of a response, or None if the hub refuses the token or the code.

        Raises ApiError (503) if the hub does not respond or its response is not the documented one.
        """
        parts = urlsplit(self._settings.api_url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=_SECONDS)
        try:
            with release_permit():
                connection.request(method, parts.path + path, body, {"Accept": "application/json", **headers})
                response = connection.getresponse()
                content = response.read(_MAX_SIZE)
            if response.status in _REFUSED:
                return None
            model = json.loads(content) if response.status == 200 else None
            if not isinstance(model, dict):
                raise ValueError(f"status {response.status} is not expected")
            return model
        except (OSError, http.client.HTTPException, ValueError) as error:
            _log.warning("JupyterHub: %s %s failed: %s", method, path, error)
            raise refuse("hubUnavailable") from None
        finally:
            connection.close()


def check_admin(provider: JupyterHub, secret: str | None) -> None:
    """Raise ApiError, 401 without a valid token of the provider and 403 unless the user is an administrator."""
    user = provider.user(secret) if secret else None
    if user is None:
        raise refuse("badToken", headers=[("WWW-Authenticate", 'Bearer realm="svc hub"')])
    if not user.admin:
        raise refuse("hubAdmin")


def hub_email(name: str, domain: str) -> str:
    """Return the e-mail address of the account of a hub user. Two different names have different addresses.

    >>> hub_email("ada", "svc.example"), hub_email("bob@uni.example", "svc.example")
    ('ada@svc.example', 'bob@uni.example')
    >>> hub_email("Bob B", "svc.example"), hub_email("ada@svc.example", "svc.example")
    ('%42ob%20%42@svc.example', 'ada%40svc.example@svc.example')
    """
    # Case matters in the names of some hubs, but not in addresses. An address of `domain` could be another user's.
    if name == name.lower() and is_address(name) and not name.endswith(f"@{domain}"):
        return name
    content = name.encode("utf-8", "surrogatepass")
    local = "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02x}" for byte in content)
    address = f"{local}@{domain}"
    return address if is_address(address) else f"{local.replace('.', '%2e')}@{domain}"
