"""OAuth clients and service accounts, as contract tests of the token endpoints use them."""

import json
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import jwt

from tests.contract.calendar_client import ADA
from tests.contract.conftest import Answer, Wire
from tests.contract.web_user import WebUser

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
BACK = "https://app.example/back?from=svc"
SCOPE = "https://svc.example/auth/"
VERIFIER = "a-verifier-that-is-long-enough-for-rfc-7636_~."
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
PROOF = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


def ask(wire: Wire, path: str, form: dict[str, str] | list[tuple[str, str]], **headers: str) -> Answer:
    """A form to an OAuth endpoint, without a bearer."""
    sent = FORM | {name.replace("_", "-"): value for name, value in headers.items()}
    return wire.send("POST", path, urlencode(form).encode(), sent, token=None)


def oauth_error(answer: Answer) -> tuple[int, str]:
    """Status and error, after the shape of the answer was looked at (RFC 6749, 5.2)."""
    body = answer.json
    assert body.keys() == {"error", "error_description"}
    assert re.fullmatch(r"[\x20-\x21\x23-\x5B\x5D-\x7E]+", body["error_description"]), body["error_description"]
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "no-store" in answer.headers["Cache-Control"]
    return answer.status, body["error"]


@dataclass
class App:
    wire: Wire
    id: str
    secret: str

    def address(self, scopes: str = "storage", /, **more: str | None) -> str:
        """Where a browser is sent, to ask for these scopes."""
        uris = " ".join(SCOPE + scope for scope in scopes.split())
        parameters = {"response_type": "code", "client_id": self.id, "redirect_uri": BACK, "scope": uris, "state": "s"}
        asked = {name: value for name, value in (parameters | PROOF | more).items() if value is not None}
        return f"/authorize?{urlencode(asked)}"

    def code(
        self, scopes: str = "storage", /, user: str = ADA, untick: tuple[str, ...] = (), **more: str | None
    ) -> str:
        person = WebUser(self.wire, self.wire.service.sign_in(user))
        return person.consent(self.address(scopes, **more), untick)["code"]

    def form(self, granted: str, /, **more: str | None) -> dict[str, str]:
        """What is sent for a code."""
        parameters = {"grant_type": "authorization_code", "code": granted, "redirect_uri": BACK}
        parameters |= {"code_verifier": VERIFIER, "client_id": self.id, "client_secret": self.secret}
        return {name: value for name, value in (parameters | more).items() if value is not None}

    def tokens(self, scopes: str = "storage", /, **more: Any) -> dict[str, Any]:
        answer = ask(self.wire, "/token", self.form(self.code(scopes, **more)))
        assert answer.status == 200, answer.body
        return dict(answer.json)

    def refresh(self, token: str, **more: str) -> Answer:
        parameters = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.id}
        return ask(self.wire, "/token", parameters | {"client_secret": self.secret} | more)


def register_app(wire: Wire, name: str = "Photo app", **options: Any) -> App:
    made = wire.service.oauth_client(name, redirect_uris=[BACK], **options)
    return App(wire, made["client_id"], made.get("client_secret", ""))


def is_token_valid(wire: Wire, token: str) -> bool:
    answer = wire.send("GET", "/storage/v3/files", token=token)
    assert answer.status in (200, 401), answer.body
    return answer.status == 200


@dataclass
class ServiceAccount:
    wire: Wire
    key: dict[str, str]

    @property
    def claims(self) -> dict[str, Any]:
        now = int(self.wire.service.clock.now().timestamp())
        claims = {"iss": self.key["client_email"], "aud": self.key["token_uri"], "scope": SCOPE + "storage"}
        return {**claims, "iat": now, "exp": now + 3600}

    def sign_assertion(self, claims: dict[str, Any] | None = None, /, **changes: Any) -> str:
        """The assertion of these claims; None takes one away."""
        payload = {name: value for name, value in ((claims or self.claims) | changes).items() if value is not None}
        body, head = json.dumps(payload).encode(), {"kid": self.key["private_key_id"]}
        return jwt.PyJWS().encode(body, self.key["private_key"], "RS256", headers=head)  # whatever stands in it

    def grant(self, assertion: str) -> Answer:
        return ask(self.wire, "/token", {"grant_type": JWT_BEARER, "assertion": assertion})


def create_service_account(wire: Wire, name: str, **options: Any) -> dict[str, str]:
    """The key file of a service account."""
    made = wire.service.service_account(name, base_url=wire.base_url, **options)
    return {key: str(value) for key, value in made.items()}
