"""Stock OAuth libraries, unmodified, get their tokens from the token endpoint, over TLS as they insist on."""

from importlib.metadata import version
from typing import Any

import jwt
import pytest
import requests
from authlib.integrations.requests_client import AssertionSession, OAuth2Session
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2 import service_account
from google_auth_oauthlib.flow import Flow
from joserfc.jwk import RSAKey
from requests_oauthlib import OAuth2Session as OtherSession

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.calendar_client import ADA, BOB
from tests.contract.conftest import InProcess
from tests.contract.web_user import WebUser
from tests.patience import PATIENCE
from tests.receivers import AUTHORITY, server_context

pytestmark = [pytest.mark.interop, pytest.mark.spec("T-01", "T-01a", "T-04", "T-04a")]

SCOPES = ["https://svc.example/auth/storage", "https://svc.example/auth/calendar.readonly"]
BACK = "https://app.example/back"


@pytest.fixture
def service():
    """On the system's clock: the libraries sign what time it is."""
    with open_service() as service:
        yield service


@pytest.fixture
def base_url(service, tmp_path, monkeypatch):
    authority = tmp_path / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(authority))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority))
    with SocketServer(service, tls=server_context(AUTHORITY.issue_cert("127.0.0.1"))) as server:
        yield server.base_url


@pytest.fixture
def client(service, base_url):
    return service.oauth_client("A stock library", redirect_uris=[BACK], base_url=base_url)


def sent_back(service: Service, address: str, user: str = ADA) -> str:
    """A person follows a client's address and consents; where their browser lands."""
    person = WebUser(InProcess(service, address.partition("/authorize")[0]), service.sign_in(user))
    page = person.open("/authorize" + address.partition("/authorize")[2])
    return str(person.press(page, "allow").headers["Location"])


def user_of(session: requests.Session, base_url: str, **options: Any) -> str:
    """Whom the service takes the bearer of this session for."""
    answer = session.get(f"{base_url}/storage/v3/about?fields=user", **options)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["user"]["emailAddress"])


def test_google_auth_signs_a_service_account_in_and_acts_for_a_user_where_it_may(service, base_url, seen):
    service.sign_in(BOB)
    key = service.service_account("agent", delegation=SCOPES, base_url=base_url)

    for subject in (None, BOB):
        credentials = service_account.Credentials.from_service_account_info(key, scopes=SCOPES, subject=subject)
        with AuthorizedSession(credentials) as session:
            assert user_of(session, base_url) == (subject or key["client_email"])
        assert credentials.valid
    seen("google-auth", version("google-auth"), "sign-in")


def test_google_auth_understands_a_refusal(service, base_url):
    key = service.service_account("robot", base_url=base_url)
    acting = service_account.Credentials.from_service_account_info(key, scopes=SCOPES, subject=BOB)
    replaced = service_account.Credentials.from_service_account_info(key, scopes=SCOPES)

    with pytest.raises(RefreshError, match="unauthorized_client"):
        acting.refresh(Request())
    service.service_account("robot", base_url=base_url)
    with pytest.raises(RefreshError, match="invalid_grant"):
        replaced.refresh(Request())


def test_google_auth_refreshes_for_a_user_until_the_consent_is_over(service, base_url, client):
    flow = Flow.from_client_config({"web": client}, SCOPES, redirect_uri=BACK)
    address, _ = flow.authorization_url(access_type="offline")
    flow.fetch_token(authorization_response=sent_back(service, address, BOB))
    credentials = flow.credentials
    first = credentials.token

    credentials.refresh(Request())

    assert credentials.token != first
    with AuthorizedSession(credentials) as session:
        assert user_of(session, base_url) == BOB
    answer = requests.post(f"{base_url}/revoke", data={"token": credentials.refresh_token}, timeout=PATIENCE)
    assert answer.status_code == 200
    with pytest.raises(RefreshError, match="invalid_grant"):
        credentials.refresh(Request())


def test_a_sign_in_with_openid(service, base_url):
    client = service.oauth_client("Desktop", redirect_uris=["http://localhost"], base_url=base_url)
    scopes = ["openid", "https://svc.example/auth/userinfo.email", SCOPES[0]]
    flow = Flow.from_client_config({"installed": client}, scopes, redirect_uri="http://127.0.0.1:8085/")
    landed = sent_back(service, flow.authorization_url(nonce="n/1")[0], BOB)
    flow.fetch_token(authorization_response=landed.replace("http://", "https://"))
    with AuthorizedSession(flow.credentials) as session:
        info = session.get(f"{base_url}/oauth2/v3/userinfo").json()
        assert user_of(session, base_url) == BOB

    discovered = requests.get(f"{base_url}/.well-known/openid-configuration", timeout=PATIENCE).json()
    (key,) = jwt.PyJWKSet.from_dict(requests.get(discovered["jwks_uri"], timeout=PATIENCE).json()).keys
    claims = jwt.decode(flow.credentials.id_token, key, issuer=base_url, audience=client["client_id"])
    assert info == {"sub": claims["sub"], "email": BOB, "email_verified": True}
    assert (claims["email"], claims["nonce"]) == (BOB, "n/1")
    plain = {"Authorization": f"Bearer {service.sign_in()}"}
    assert requests.get(f"{base_url}/oauth2/v3/userinfo", headers=plain, timeout=PATIENCE).status_code == 403


@pytest.mark.parametrize("way", ["client_secret_basic", "client_secret_post"])
def test_authlib_goes_the_whole_way_of_a_code(service, base_url, client, way):
    with OAuth2Session(
        client["client_id"],
        client["client_secret"],
        scope=SCOPES,
        redirect_uri=BACK,
        code_challenge_method="S256",
        token_endpoint_auth_method=way,
        token_endpoint=client["token_uri"],
    ) as session:
        verifier = "v" * 60
        address, state = session.create_authorization_url(client["auth_uri"], code_verifier=verifier)
        landed = sent_back(service, address)
        token = session.fetch_token(authorization_response=landed, code_verifier=verifier, state=state)
        assert user_of(session, base_url) == ADA

        session.refresh_token(refresh_token=token["refresh_token"])
        assert session.token["access_token"] != token["access_token"]
        assert user_of(session, base_url) == ADA
        assert session.revoke_token(f"{base_url}/revoke", session.token["access_token"]).status_code == 200
        assert session.get(f"{base_url}/storage/v3/files").status_code == 401


def test_authlib_as_a_public_client(service, base_url):
    public = service.oauth_client("Desktop", redirect_uris=[BACK], public=True, base_url=base_url)
    options = {"scope": SCOPES, "redirect_uri": BACK, "code_challenge_method": "S256"}
    with OAuth2Session(public["client_id"], token_endpoint_auth_method="none", **options) as session:
        verifier = "w" * 60
        address, state = session.create_authorization_url(public["auth_uri"], code_verifier=verifier)
        landed = sent_back(service, address)
        session.fetch_token(public["token_uri"], authorization_response=landed, code_verifier=verifier, state=state)

        assert user_of(session, base_url) == ADA


def test_authlib_signs_an_assertion(service, base_url):
    key = service.service_account("robot", base_url=base_url)
    with AssertionSession(
        token_endpoint=key["token_uri"],
        issuer=key["client_email"],
        subject=key["client_email"],
        audience=key["token_uri"],
        grant_type=AssertionSession.JWT_BEARER_GRANT_TYPE,
        claims={"scope": " ".join(SCOPES)},
        key=RSAKey.import_key(key["private_key"]),
        header={"alg": "RS256"},
    ) as session:
        assert user_of(session, base_url) == key["client_email"]


def test_requests_oauthlib_goes_the_whole_way_of_a_code(service, base_url, client):
    with OtherSession(client["client_id"], redirect_uri=BACK, scope=SCOPES, pkce="S256") as session:
        address, _ = session.authorization_url(client["auth_uri"])
        landed = sent_back(service, address)
        session.fetch_token(client["token_uri"], authorization_response=landed, client_secret=client["client_secret"])
        first = session.token["access_token"]
        secrets = {"client_id": client["client_id"], "client_secret": client["client_secret"]}

        session.refresh_token(client["token_uri"], **secrets)

        assert session.token["access_token"] != first
        assert user_of(session, base_url) == ADA
