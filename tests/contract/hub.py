"""A hub for tests, which answers the two calls of the REST API of JupyterHub that the service sends."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from svc_notebooks.server.auth.hub import HubSettings, read_hub_settings

PREFIX = "/services/svc"
SCOPE = "access:services!service=svc"
SERVICE_TOKEN = "token-of-the-service"


class FakeHub(ThreadingHTTPServer):
    """A hub with tokens and authorization codes. `calls` are the paths of the requests that it has received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tokens: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, tuple[str, str]] = {}
        self.calls: list[str] = []
        self.status = 200

    def add_token(self, token: str, name: str, scopes: tuple[str, ...] = (SCOPE,), **fields: Any) -> str:
        self.tokens[token] = {"kind": "user", "name": name, "admin": False, "scopes": list(scopes), **fields}
        return token

    def authorize(self, location: str, token: str) -> str:
        """Let the user of a token consent, and return the address to which the browser is sent."""
        query = dict(parse_qsl(urlsplit(location).query))
        assert query["client_id"] == "service-svc"
        assert query["redirect_uri"] == f"{PREFIX}/oauth_callback"
        code = f"code-{len(self.codes)}"
        self.codes[code] = token, query["code_challenge"]
        return f"{query['redirect_uri']}?code={code}&state={query['state']}"

    def settings(self) -> HubSettings:
        return read_hub_settings(self.environ())

    def environ(self) -> dict[str, str]:
        return {
            "JUPYTERHUB_SERVICE_NAME": "svc",
            "JUPYTERHUB_SERVICE_PREFIX": f"{PREFIX}/",
            "JUPYTERHUB_SERVICE_URL": "http://127.0.0.1:10101",
            "JUPYTERHUB_API_URL": f"http://127.0.0.1:{self.server_port}/hub/api",
            "JUPYTERHUB_API_TOKEN": SERVICE_TOKEN,
            "JUPYTERHUB_CLIENT_ID": "service-svc",
            "JUPYTERHUB_BASE_URL": "/",
        }


class _Handler(BaseHTTPRequestHandler):
    server: FakeHub

    def do_GET(self) -> None:
        self.server.calls.append(self.path)
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        model = self.server.tokens.get(token) if self.path == "/hub/api/user" else None
        self._answer(model)

    def do_POST(self) -> None:
        self.server.calls.append(self.path)
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        token, challenge = self.server.codes.pop(form["code"], ("", ""))
        digest = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        is_valid = token and digest == challenge and form["client_secret"] == SERVICE_TOKEN
        self._answer({"access_token": token, "token_type": "Bearer"} if is_valid else None)

    def _answer(self, model: dict[str, Any] | None) -> None:
        content = json.dumps(model or {"status": 403, "message": "Forbidden"}).encode()
        self.send_response(self.server.status if self.server.status != 200 else 200 if model else 403)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


@contextmanager
def running_hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        thread = Thread(target=hub.serve_forever, args=(0.01,))
        thread.start()
        yield hub
        hub.shutdown()
        thread.join()
