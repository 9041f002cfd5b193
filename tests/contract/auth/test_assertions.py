import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from tests.contract.apps import JWT_BEARER, SCOPE, ServiceAccount, ask, create_service_account, oauth_error
from tests.contract.calendar_client import ADA
from tests.contract.conftest import Wire

# The interface says that tokens are needed, and nothing of where they come from.
pytestmark = pytest.mark.choice("Tokens, consent and the OpenAPI document")


@pytest.fixture
def robot(wire: Wire) -> ServiceAccount:
    return ServiceAccount(wire, create_service_account(wire, "robot"))


@pytest.mark.spec("T-01", "T-01a", "T-04", "T-04a")
def test_a_service_account_gets_a_token_for_its_assertion(wire: Wire, robot: ServiceAccount) -> None:
    answer = robot.grant(robot.sign_assertion())
    token = answer.json["access_token"]
    mine = wire.post_json("/storage/v3/files", {"name": "the robot's"}, token=token).json["id"]

    assert (answer.status, answer.json["token_type"]) == (200, "Bearer")
    assert "refresh_token" not in answer.json
    assert wire.send("GET", f"/storage/v3/files/{mine}").status == 404
    about = wire.send("GET", "/storage/v3/about?fields=user", token=token).json
    assert about["user"]["emailAddress"] == robot.key["client_email"]


BAD_CLAIMS: dict[str, dict[str, Any]] = {
    "no iss": {"iss": None},
    "an unknown iss": {"iss": "nobody@svc.example"},
    "iss that is no text": {"iss": 5},
    "no aud": {"aud": None},
    "another aud": {"aud": "https://elsewhere.example/token"},
    "aud without the path": {"aud": "http://svc.test"},
    "no iat": {"iat": None},
    "no exp": {"exp": None},
    "exp that is a text": {"exp": "soon"},
    "exp without end": {"exp": 10**400},
    "exp that is no number": {"exp": float("nan")},
    "exp that is infinite": {"exp": float("inf")},
    "iat without end": {"iat": -(10**400)},
    "a sub that is no text": {"sub": ["x"]},
}


TIMES = {
    "now, for an hour": (0, 3600, True),
    "for a minute": (0, 60, True),
    "a client whose clock is four minutes ahead": (240, 3600, True),
    "a client whose clock is an hour ahead": (3600, 3600, False),
    "for more than an hour": (0, 3601, False),
    "for nothing": (0, 0, False),
    "over before it began": (0, -60, False),
    "long expired": (-7200, 3600, False),
    "expired this second": (-3600, 3600, False),
    "about to expire": (-3590, 3600, True),
}


@pytest.mark.spec("T-01", "T-01c")
def test_an_assertion_is_valid_for_an_hour_of_the_services_clock(robot: ServiceAccount) -> None:
    now = robot.claims["iat"]

    for case, (begins, lasts, good) in TIMES.items():
        answer = robot.grant(robot.sign_assertion(iat=now + begins, exp=now + begins + lasts))
        assert answer.status == 200 if good else oauth_error(answer) == (400, "invalid_grant"), case


def forged(robot: ServiceAccount, wire: Wire) -> Iterator[tuple[str, str]]:
    """Yield assertions with a signature of another key, and texts that are none."""
    good, other = robot.sign_assertion(), ServiceAccount(wire, create_service_account(wire, "other"))
    head, body, signature = good.split(".")
    swapped = base64url(json.dumps(robot.claims | {"scope": SCOPE + "calendar"}).encode())
    yield "no algorithm", f"{unsigned({'alg': 'none', 'typ': 'JWT'}, robot.claims)}."
    yield "no signature", f"{head}.{body}."
    yield "another body", f"{head}.{swapped}.{signature}"
    yield "another's key", jwt.encode(robot.claims, other.key["private_key"], "RS256")
    yield "the public key as a secret", hmac_signed(robot.claims, robot.key["private_key"])
    yield "a weak secret", jwt.encode(robot.claims, "x" * 32, "HS256")
    yield "another hash", jwt.encode(robot.claims, robot.key["private_key"], "RS512")
    for text in ("x", "a.b", "a.b.c", "..", "a.b.c.d", "\u20ac.b.c", "." * 5000, "e30.e30.e30", "W10.W10.W10"):
        yield f"malformed: {text[:20]}", text
    yield "a key that is not known", jwt.encode(robot.claims, robot.key["private_key"], "RS256", headers={"kid": "k"})


def base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def unsigned(*parts: dict[str, Any]) -> str:
    return ".".join(base64url(json.dumps(part).encode()) for part in parts)


def hmac_signed(claims: dict[str, Any], private_key: str) -> str:
    """Return an assertion signed with the public key as a secret, which no library makes."""
    public = load_pem_private_key(private_key.encode(), None).public_key()
    secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    text = unsigned({"alg": "HS256", "typ": "JWT"}, claims)
    return f"{text}.{base64url(hmac.digest(secret, text.encode(), 'sha256'))}"


@pytest.mark.spec("T-01", "T-01b")
def test_an_assertion_with_a_bad_signature_or_a_bad_claim_is_refused(wire: Wire, robot: ServiceAccount) -> None:
    claims = [(case, robot.sign_assertion(**changes)) for case, changes in BAD_CLAIMS.items()]

    for case, assertion in (*claims, *forged(robot, wire)):
        assert oauth_error(robot.grant(assertion)) == (400, "invalid_grant"), case
    for scope in (None, "", SCOPE + "nothing", 5, ["x"]):
        assert oauth_error(robot.grant(robot.sign_assertion(scope=scope))) == (400, "invalid_scope"), scope
    assert oauth_error(ask(wire, "/token", {"grant_type": JWT_BEARER})) == (400, "invalid_request")
    newer = ServiceAccount(wire, create_service_account(wire, "robot"))
    assert oauth_error(robot.grant(robot.sign_assertion())) == (400, "invalid_grant"), "a new key ends the old one"
    assert newer.grant(newer.sign_assertion()).status == 200


@pytest.mark.spec("T-04", "T-04a", "T-04b")
def test_a_service_account_acts_for_users_in_its_delegated_scopes(wire: Wire, robot: ServiceAccount) -> None:
    agent = ServiceAccount(wire, create_service_account(wire, "agent", delegation=["storage.readonly"]))
    adas = wire.post_json("/storage/v3/files", {"name": "ada's"}, token=wire.service.sign_in(ADA)).json["id"]

    grant = agent.grant(agent.sign_assertion(sub=ADA, scope=SCOPE + "storage.readonly")).json
    wider = agent.grant(agent.sign_assertion(sub=ADA, scope=f"{SCOPE}storage.readonly {SCOPE}calendar"))
    stranger = agent.grant(agent.sign_assertion(sub="never-seen@svc.example", scope=SCOPE + "storage.readonly"))

    assert wire.send("GET", f"/storage/v3/files/{adas}", token=grant["access_token"]).status == 200
    for answer in (wider, robot.grant(robot.sign_assertion(sub=ADA))):
        assert oauth_error(answer) == (401, "unauthorized_client")
    assert oauth_error(stranger) == (400, "invalid_grant")
