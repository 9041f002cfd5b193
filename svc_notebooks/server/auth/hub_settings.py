"""Reads the settings that JupyterHub gives to a managed service in environment variables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

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
