"""Sends requests to the REST API of JupyterHub."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from ...core.errors.catalogue import refuse
from ...core.thread_permit import release_permit
from .hub_settings import HubSettings

_log = logging.getLogger(__name__)

_SECONDS = 5.0
_MAX_SIZE = 1024 * 1024
_REFUSED = (400, 401, 403)
"""The statuses of the hub for an unknown token or an invalid code."""


class HubApi:
    """The two calls of a hub that this service needs.

    Both raise ApiError (503) if the hub does not respond or its response is not the documented one.
    """

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings

    def user(self, token: str) -> dict[str, Any] | None:
        """Return the hub's user model of a token, or None if the hub does not know the token."""
        return self._send("GET", "/user", {"Authorization": f"Bearer {token}"})

    def token(self, code: str, verifier: str) -> dict[str, Any] | None:
        """Exchange an authorization code for an access token, or return None if the hub refuses the code."""
        form = {
            "grant_type": "authorization_code",
            "client_id": self._settings.client_id,
            "client_secret": self._settings.api_token,
            "code": code,
            "redirect_uri": self._settings.redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send("POST", "/oauth2/token", headers, urlencode(form))

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: str | None = None
    ) -> dict[str, Any] | None:
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
