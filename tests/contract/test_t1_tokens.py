"""Where tokens come from, and where they end: consent, code, refresh, assertion, tokeninfo, revocation (T-01, T-04).

Written from RFC 6749 (grants and their errors), 7009 (revocation), 7523 (assertions) and 7636 (proof keys), and the
choices of the service for what those leave open.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest

from svc_notebooks.server.service import Service

from .conftest import Answer, Wire
from .diary import ADA, BOB
from .person import Person, told

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


def refused(answer: Answer) -> tuple[int, str]:
    """Status and error, after the shape of the answer was looked at (RFC 6749, 5.2)."""
    found = answer.json
    assert found.keys() == {"error", "error_description"}
    assert re.fullmatch(r"[\x20-\x21\x23-\x5B\x5D-\x7E]+", found["error_description"]), found["error_description"]
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "no-store" in answer.headers["Cache-Control"]
    return answer.status, found["error"]


@dataclass
class App:
    """An OAuth client, and the people who let it act for them."""

    wire: Wire
    id: str
    secret: str
    asked: dict[str, str] = field(default_factory=dict)

    def address(self, scopes: str = "storage", /, **more: str | None) -> str:
        """Where a browser is sent, to ask for these scopes."""
        uris = " ".join(SCOPE + scope for scope in scopes.split())
        given = {"response_type": "code", "client_id": self.id, "redirect_uri": BACK, "scope": uris, "state": "s"}
        self.asked = {name: value for name, value in (given | PROOF | more).items() if value is not None}
        return f"/authorize?{urlencode(self.asked)}"

    def code(
        self, scopes: str = "storage", /, user: str = ADA, untick: tuple[str, ...] = (), **more: str | None
    ) -> str:
        person = Person(self.wire, self.wire.service.sign_in(user))
        return person.consent(self.address(scopes, **more), untick)["code"]

    def form(self, granted: str, /, **more: str | None) -> dict[str, str]:
        """What is sent for a code."""
        given = {"grant_type": "authorization_code", "code": granted, "redirect_uri": BACK, "code_verifier": VERIFIER}
        given |= {"client_id": self.id, "client_secret": self.secret}
        return {name: value for name, value in (given | more).items() if value is not None}

    def tokens(self, scopes: str = "storage", /, **more: Any) -> dict[str, Any]:
        answer = ask(self.wire, "/token", self.form(self.code(scopes, **more)))
        assert answer.status == 200, answer.body
        return dict(answer.json)

    def refresh(self, token: str, **more: str) -> Answer:
        given = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.id}
        return ask(self.wire, "/token", given | {"client_secret": self.secret} | more)


@pytest.fixture
def app(wire: Wire) -> App:
    return registered(wire)


def registered(wire: Wire, name: str = "Photo app", **options: Any) -> App:
    made = wire.service.oauth_client(name, redirect_uris=[BACK], **options)
    return App(wire, made["client_id"], made.get("client_secret", ""))


def works(wire: Wire, token: str) -> bool:
    answer = wire.send("GET", "/storage/v3/files", token=token)
    assert answer.status in (200, 401), answer.body
    return answer.status == 200


# -- a code and what it is worth -------------------------------------------------------------------------------------


@pytest.mark.spec("T-01", "T-04")
def test_a_code_is_exchanged_for_tokens_that_work_for_who_consented(wire: Wire, app: App) -> None:
    bobs = wire.post_json("/storage/v3/files", {"name": "bob's"}, token=wire.service.sign_in(BOB)).json["id"]

    answer = ask(wire, "/token", app.form(app.code("storage calendar.readonly", user=BOB)))
    found = answer.json

    assert answer.status == 200
    assert "no-store" in answer.headers["Cache-Control"]
    assert found["token_type"] == "Bearer"
    assert found["expires_in"] in (3599, 3600)
    assert set(found["scope"].split()) == {SCOPE + "storage", SCOPE + "calendar.readonly"}
    assert wire.send("GET", f"/storage/v3/files/{bobs}", token=found["access_token"]).status == 200


@pytest.mark.spec("T-01")
def test_a_refresh_token_gives_another_access_token(wire: Wire, app: App) -> None:
    first = app.tokens("storage calendar")

    second = app.refresh(first["refresh_token"]).json

    assert second["access_token"] != first["access_token"]
    assert set(second["scope"].split()) == set(first["scope"].split())
    assert works(wire, first["access_token"])
    assert works(wire, second["access_token"])


@pytest.mark.spec("T-01", "T-03")
def test_a_refresh_may_ask_for_less_and_not_for_more(wire: Wire, app: App) -> None:
    refresh = app.tokens("storage.readonly calendar")["refresh_token"]

    less = app.refresh(refresh, scope=SCOPE + "calendar").json
    more = app.refresh(refresh, scope=f"{SCOPE}calendar {SCOPE}storage")
    again = app.refresh(refresh).json

    assert less["scope"] == SCOPE + "calendar"
    assert wire.send("GET", "/storage/v3/files", token=less["access_token"]).status == 403
    assert refused(more) == (400, "invalid_scope")
    assert works(wire, again["access_token"])


@pytest.mark.spec("T-03")
def test_what_a_person_unticks_is_not_granted(wire: Wire, app: App) -> None:
    found = app.tokens("storage calendar.readonly", untick=("storage",))

    assert found["scope"] == SCOPE + "calendar.readonly"
    assert wire.send("GET", "/storage/v3/files", token=found["access_token"]).status == 403


@pytest.mark.spec("T-01")
def test_a_code_is_good_once_and_who_replays_it_ends_what_came_of_it(wire: Wire, app: App) -> None:
    code = app.code()
    first = ask(wire, "/token", app.form(code)).json
    assert works(wire, first["access_token"])

    assert refused(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")

    assert not works(wire, first["access_token"])
    assert refused(app.refresh(first["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_a_code_ends_soon(wire: Wire, app: App) -> None:
    code = app.code()
    wire.service.clock.advance("11m")

    assert refused(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_basic_credentials_are_as_good_as_those_in_the_form(wire: Wire, app: App) -> None:
    basic = "Basic " + b64encode(f"{app.id}:{app.secret}".encode()).decode()
    form = app.form(app.code(), client_id=None, client_secret=None)

    assert ask(wire, "/token", form, Authorization=basic).status == 200


@pytest.mark.spec("T-01")
def test_a_public_client_has_no_secret_and_must_prove_itself(wire: Wire) -> None:
    public = registered(wire, public=True)
    code = public.code()

    assert refused(ask(wire, "/token", public.form(code, client_secret=None, code_verifier=None)))[1] == "invalid_grant"
    assert ask(wire, "/token", public.form(code, client_secret=None)).status == 200
    without = Person(wire, wire.service.sign_in()).consent(
        public.address(code_challenge=None, code_challenge_method=None)
    )
    assert without["error"] == "invalid_request"


WRONG_VERIFIERS = {
    "missing": None,
    "empty": "",
    "another": VERIFIER[:-1] + "x",
    "the challenge itself": CHALLENGE,
    "too short": VERIFIER[:42],
    "with a blank": VERIFIER + " ",
}


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("wrong", WRONG_VERIFIERS)
def test_only_the_verifier_answers_the_challenge(wire: Wire, app: App, wrong: str) -> None:
    form = app.form(app.code(), code_verifier=WRONG_VERIFIERS[wrong])

    assert refused(ask(wire, "/token", form)) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_a_plain_challenge_is_its_own_verifier(wire: Wire, app: App) -> None:
    code = app.code(code_challenge=VERIFIER, code_challenge_method="plain")

    assert ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-01")
def test_a_verifier_for_a_request_that_had_no_challenge_is_a_downgrade(wire: Wire, app: App) -> None:
    code = app.code(code_challenge=None, code_challenge_method=None)

    assert refused(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")


REFUSALS: dict[str, tuple[dict[str, str | None], tuple[int, str]]] = {
    "no grant_type": ({"grant_type": None}, (400, "invalid_request")),
    "an empty grant_type": ({"grant_type": ""}, (400, "invalid_request")),
    "a password": ({"grant_type": "password"}, (400, "unsupported_grant_type")),
    "client credentials": ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
    "no code": ({"code": None}, (400, "invalid_request")),
    "an unknown code": ({"code": "4/nothing"}, (400, "invalid_grant")),
    "a code with odd letters": ({"code": "\x00\u20ac'--"}, (400, "invalid_grant")),
    "another redirect": ({"redirect_uri": "https://app.example/other"}, (400, "invalid_grant")),
    "a redirect of another case": ({"redirect_uri": BACK.replace("app", "APP")}, (400, "invalid_grant")),
    "no redirect": ({"redirect_uri": None}, (400, "invalid_grant")),
    "an unknown client": ({"client_id": "nobody"}, (401, "invalid_client")),
    "no client": ({"client_id": None}, (401, "invalid_client")),
    "a wrong secret": ({"client_secret": "wrong"}, (401, "invalid_client")),
    "no secret": ({"client_secret": None}, (401, "invalid_client")),
    "a secret that begins well": ({"client_secret": ""}, (401, "invalid_client")),
}


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("case", REFUSALS)
def test_the_token_endpoint_says_what_is_wrong(wire: Wire, app: App, case: str) -> None:
    changes, expected = REFUSALS[case]

    assert refused(ask(wire, "/token", app.form(app.code(), **changes))) == expected


@pytest.mark.spec("T-01")
def test_a_refused_exchange_gives_no_token_and_the_right_one_still_does(wire: Wire, app: App) -> None:
    """A client that mistypes must not lose the consent; one that guesses gains nothing by it."""
    code = app.code()
    assert ask(wire, "/token", app.form(code, client_secret="wrong")).status == 401

    assert ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-04")
def test_a_code_and_a_refresh_token_are_for_their_client_alone(wire: Wire, app: App) -> None:
    other, code, refresh = registered(wire, "Other"), app.code(), app.tokens()["refresh_token"]

    assert refused(ask(wire, "/token", other.form(code))) == (400, "invalid_grant")
    assert refused(other.refresh(refresh)) == (400, "invalid_grant")
    assert ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-01")
def test_a_code_is_no_refresh_token_and_no_access_token(wire: Wire, app: App) -> None:
    code = app.code()

    assert refused(app.refresh(code)) == (400, "invalid_grant")
    assert not works(wire, code)
    refresh = app.tokens()["refresh_token"]
    assert not works(wire, refresh)
    assert refused(ask(wire, "/token", app.form(refresh))) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_wrong_basic_credentials_are_challenged_in_kind(wire: Wire, app: App) -> None:
    form = app.form(app.code(), client_id=None, client_secret=None)

    for basic in (f"{app.id}:wrong", "nobody:x", ":"):
        answer = ask(wire, "/token", form, Authorization="Basic " + b64encode(basic.encode()).decode())
        assert refused(answer) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    for header in ("Basic !!!", "Basic", "Bearer x", "Basic /w=="):
        assert refused(ask(wire, "/token", form, Authorization=header)) == (401, "invalid_client")


@pytest.mark.spec("T-01")
def test_credentials_in_two_places_are_refused(wire: Wire, app: App) -> None:
    basic = "Basic " + b64encode(f"{app.id}:{app.secret}".encode()).decode()

    assert refused(ask(wire, "/token", app.form(app.code()), Authorization=basic)) == (400, "invalid_request")


@pytest.mark.spec("T-01")
def test_a_parameter_that_is_there_twice_is_refused(wire: Wire, app: App) -> None:
    twice = [*app.form(app.code()).items(), ("grant_type", "authorization_code")]

    assert refused(ask(wire, "/token", twice)) == (400, "invalid_request")


@pytest.mark.spec("T-01")
@pytest.mark.parametrize(
    "body, kind",
    [
        (b'{"grant_type": "authorization_code"}', "application/json"),
        (b"\xff\xfe", FORM["Content-Type"]),
        (b"a" * 200_000, FORM["Content-Type"]),
        (b"&".join(b"a%d=1" % n for n in range(2000)), FORM["Content-Type"]),
        (b"", FORM["Content-Type"]),
        (b"grant_type=%", FORM["Content-Type"]),
        (b"grant_type=%ff", FORM["Content-Type"]),
    ],
    ids=["JSON", "bytes", "huge", "many fields", "empty", "half an escape", "an escape that is no text"],
)
def test_a_body_that_is_no_form_is_refused(wire: Wire, body: bytes, kind: str) -> None:
    answer = wire.send("POST", "/token", body, {"Content-Type": kind}, token=None)

    status, error = refused(answer)
    assert status in (400, 413)
    assert error in ("invalid_request", "unsupported_grant_type")


@pytest.mark.spec("T-01")
def test_no_token_is_given_by_an_address(wire: Wire, app: App) -> None:
    """A code and a secret in a query would stand in every log."""
    form = urlencode(app.form(app.code()))

    assert wire.send("GET", f"/token?{form}", token=None).status == 405
    assert refused(wire.send("POST", f"/token?{form}", b"", FORM, token=None))[0] == 400


@pytest.mark.spec("T-01")
def test_what_was_refused_is_said_in_letters_that_the_rfc_allows(wire: Wire, app: App) -> None:
    for odd in ('"quoted"', "back\\slash", "\u20acuro", "new\nline"):
        answers = (
            app.refresh(app.tokens()["refresh_token"], scope=odd),
            ask(wire, "/token", {"grant_type": odd}),
            ask(wire, "/token", [(odd, "1"), (odd, "2")]),
        )
        for answer in answers:
            assert refused(answer)[0] == 400


# -- asking a person -------------------------------------------------------------------------------------------------


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("state", ["plain", "a b&c=d", "\u20ac/?#", "x" * 500])
def test_the_state_comes_back_as_it_was(wire: Wire, app: App, state: str) -> None:
    person = Person(wire, wire.service.sign_in())

    assert person.consent(app.address(state=state))["state"] == state
    assert person.consent(app.address(state=state), button="deny") | {"error_description": ""} == {
        "from": "svc",
        "state": state,
        "error": "access_denied",
        "error_description": "",
    }


SENT_BACK: dict[str, tuple[dict[str, str | None], str]] = {
    "a token at once": ({"response_type": "token"}, "unsupported_response_type"),
    "no response_type": ({"response_type": None}, "unsupported_response_type"),
    "an unknown scope": ({"scope": SCOPE + "nothing"}, "invalid_scope"),
    "no scope": ({"scope": None}, "invalid_scope"),
    "an unknown method": ({"code_challenge_method": "S512"}, "invalid_request"),
    "a challenge that is too short": ({"code_challenge": "x"}, "invalid_request"),
}


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("case", SENT_BACK)
def test_the_client_hears_what_is_wrong_with_its_question(wire: Wire, app: App, case: str) -> None:
    changes, error = SENT_BACK[case]
    answer = Person(wire, wire.service.sign_in()).open(app.address(**changes))

    found = told(answer)
    assert answer.headers["Location"].startswith("https://app.example/back?")
    assert (found["from"], found["state"]) == ("svc", "s")
    assert found["error"] in (error, "invalid_request")
    assert "code" not in found


NOT_SENT: dict[str, dict[str, str | None]] = {
    "an unknown client": {"client_id": "nobody"},
    "no client": {"client_id": None},
    "no redirect": {"redirect_uri": None},
    "another host": {"redirect_uri": "https://evil.example/back?from=svc"},
    "another path": {"redirect_uri": "https://app.example/back/../evil?from=svc"},
    "more behind it": {"redirect_uri": BACK + "&to=evil"},
    "another port": {"redirect_uri": BACK.replace("app.example", "app.example:8443")},
    "a user in it": {"redirect_uri": BACK.replace("app.example", "app.example@evil.example")},
    "a fragment": {"redirect_uri": BACK + "#x"},
    "a line break": {"redirect_uri": BACK + "\r\nSet-Cookie: a=b"},
    "a script": {"redirect_uri": "javascript:alert(1)"},
}


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("case", NOT_SENT)
def test_nobody_is_sent_where_no_client_has_asked_for(wire: Wire, app: App, case: str) -> None:
    answer = Person(wire, wire.service.sign_in()).open(app.address(**NOT_SENT[case]))

    assert answer.status == 400
    assert "Location" not in answer.headers


@pytest.mark.spec("T-01")
def test_a_loopback_client_may_listen_on_any_port(wire: Wire) -> None:
    made = wire.service.oauth_client("Desktop", redirect_uris=["http://127.0.0.1/cb"])
    app, person = App(wire, made["client_id"], made["client_secret"]), Person(wire, wire.service.sign_in())

    for port in ("", ":1", ":49152"):
        answer = person.press(person.open(app.address(redirect_uri=f"http://127.0.0.1{port}/cb")), "allow")
        assert answer.headers["Location"].startswith(f"http://127.0.0.1{port}/cb?")
    for wrong in ("http://127.0.0.1:\uff18\uff10/cb", "http://127.0.0.1:80:80/cb", "http://127.0.0.1.evil.example/cb"):
        assert person.open(app.address(redirect_uri=wrong)).status == 400


@pytest.mark.spec("T-01", "T-04")
def test_consent_needs_the_person_and_the_page(wire: Wire, app: App) -> None:
    """No other site can consent in somebody's name: what it can send lacks what the page has."""
    stranger, person = Person(wire), Person(wire, wire.service.sign_in())
    form = urlencode({"decision": "allow", "scope.storage": "on"}).encode()

    asked = stranger.open(app.address())
    forged = person.send("POST", app.address(), form, **{"Content_Type": FORM["Content-Type"]})
    posted = stranger.send("POST", app.address(), form, **{"Content_Type": FORM["Content-Type"]})

    for answer in (asked, forged, posted):
        assert "code=" not in answer.headers.get("Location", "")


@pytest.mark.spec("T-03")
def test_a_person_gives_no_more_than_they_have(wire: Wire, app: App) -> None:
    person = Person(wire, wire.service.sign_in(ADA, scopes=["storage.readonly"]))

    answer = person.consent(app.address("storage storage.readonly"))
    found = ask(wire, "/token", app.form(answer["code"])).json

    assert found["scope"] == SCOPE + "storage.readonly"


@pytest.mark.spec("T-01")
def test_the_page_of_consent_shows_a_client_by_its_name_and_runs_nothing(wire: Wire) -> None:
    app = registered(wire, "<script>alert(1)</script>")

    answer = Person(wire, wire.service.sign_in()).open(app.address())

    assert b"<script>" not in answer.body
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    policy = answer.headers["Content-Security-Policy"] + answer.headers.get("X-Frame-Options", "")
    assert "frame-ancestors 'none'" in policy or "DENY" in policy


# -- assertions of service accounts ----------------------------------------------------------------------------------


@dataclass
class Robot:
    """A service account with its key."""

    wire: Wire
    key: dict[str, str]

    @property
    def claims(self) -> dict[str, Any]:
        now = int(self.wire.service.clock.now().timestamp())
        return {
            "iss": self.key["client_email"],
            "aud": self.key["token_uri"],
            "scope": SCOPE + "storage",
            "iat": now,
            "exp": now + 3600,
        }

    def signed(self, claims: dict[str, Any] | None = None, /, **changes: Any) -> str:
        """The assertion of these claims; None takes one away."""
        found = {name: value for name, value in ((claims or self.claims) | changes).items() if value is not None}
        body, head = json.dumps(found).encode(), {"kid": self.key["private_key_id"]}
        return jwt.PyJWS().encode(body, self.key["private_key"], "RS256", headers=head)  # whatever stands in it

    def grant(self, assertion: str) -> Answer:
        return ask(self.wire, "/token", {"grant_type": JWT_BEARER, "assertion": assertion})


def account(wire: Wire, name: str, **options: Any) -> dict[str, str]:
    """The key file of a service account."""
    made = wire.service.service_account(name, base_url=wire.base_url, **options)
    return {key: str(value) for key, value in made.items()}


@pytest.fixture
def robot(wire: Wire) -> Robot:
    return Robot(wire, account(wire, "robot"))


@pytest.mark.spec("T-01", "T-04")
def test_a_service_account_gets_a_token_for_what_it_has_signed(wire: Wire, robot: Robot) -> None:
    answer = robot.grant(robot.signed())
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


@pytest.mark.spec("T-01")
def test_an_assertion_with_a_bad_claim_is_refused(robot: Robot) -> None:
    for case, changes in BAD_CLAIMS.items():
        assert refused(robot.grant(robot.signed(**changes))) == (400, "invalid_grant"), case


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


@pytest.mark.spec("T-01")
def test_an_assertion_is_good_for_an_hour_by_the_clock_of_the_service(robot: Robot) -> None:
    now = robot.claims["iat"]

    for case, (begins, lasts, good) in TIMES.items():
        answer = robot.grant(robot.signed(iat=now + begins, exp=now + begins + lasts))
        assert answer.status == 200 if good else refused(answer) == (400, "invalid_grant"), case


def unsigned(claims: dict[str, Any]) -> str:
    parts = [{"alg": "none", "typ": "JWT"}, claims]
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def forged(robot: Robot, wire: Wire) -> Iterator[tuple[str, str]]:
    """Assertions that this service account has not signed."""
    good, other = robot.signed(), Robot(wire, account(wire, "other"))
    head, body, signature = good.split(".")
    swapped = urlsafe_b64encode(json.dumps(robot.claims | {"scope": SCOPE + "calendar"}).encode()).decode().rstrip("=")
    public = public_half(robot.key["private_key"])
    yield "no algorithm", unsigned(robot.claims)
    yield "no signature", f"{head}.{body}."
    yield "another body", f"{head}.{swapped}.{signature}"
    yield "another's key", jwt.encode(robot.claims, other.key["private_key"], "RS256")
    yield "the public key as a secret", by_hand({"alg": "HS256", "typ": "JWT"}, robot.claims, public)
    yield "a weak secret", jwt.encode(robot.claims, "x" * 32, "HS256")
    yield "another hash", jwt.encode(robot.claims, robot.key["private_key"], "RS512")
    yield "a key that is not known", jwt.encode(robot.claims, robot.key["private_key"], "RS256", headers={"kid": "k"})


def by_hand(header: dict[str, str], claims: dict[str, Any], secret: bytes) -> str:
    """What a library refuses to make: a MAC whose secret everybody knows."""
    import hmac

    parts = [urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in (header, claims)]
    mac = hmac.digest(secret, ".".join(parts).encode(), "sha256")
    return ".".join([*parts, urlsafe_b64encode(mac).decode().rstrip("=")])


def public_half(private: str) -> bytes:
    from cryptography.hazmat.primitives import serialization as form

    key = form.load_pem_private_key(private.encode(), None).public_key()
    return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.spec("T-01")
def test_what_the_service_account_has_not_signed_is_refused(wire: Wire, robot: Robot) -> None:
    for name, assertion in forged(robot, wire):
        assert refused(robot.grant(assertion)) == (400, "invalid_grant"), name


@pytest.mark.spec("T-01")
@pytest.mark.parametrize(
    "text", ["x", "a.b", "a.b.c", "..", "a.b.c.d", "\u20ac.b.c", "." * 5000, "e30.e30.e30", "W10.W10.W10"]
)
def test_what_is_no_assertion_is_refused(robot: Robot, text: str) -> None:
    assert refused(robot.grant(text)) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_without_an_assertion_the_request_is_incomplete(wire: Wire) -> None:
    assert refused(ask(wire, "/token", {"grant_type": JWT_BEARER})) == (400, "invalid_request")


@pytest.mark.spec("T-01")
def test_an_assertion_names_scopes_that_exist(robot: Robot) -> None:
    for scope in (None, "", SCOPE + "nothing", 5, ["x"]):
        assert refused(robot.grant(robot.signed(scope=scope))) == (400, "invalid_scope"), scope


@pytest.mark.spec("T-04")
def test_a_service_account_acts_for_nobody_unless_it_was_let(robot: Robot) -> None:
    assert refused(robot.grant(robot.signed(sub=ADA))) == (401, "unauthorized_client")


@pytest.mark.spec("T-04")
def test_a_service_account_acts_for_users_in_the_scopes_that_it_was_given(wire: Wire) -> None:
    agent = Robot(wire, account(wire, "agent", delegation=["storage.readonly"]))
    adas = wire.post_json("/storage/v3/files", {"name": "ada's"}, token=wire.service.sign_in(ADA)).json["id"]

    found = agent.grant(agent.signed(sub=ADA, scope=SCOPE + "storage.readonly")).json
    wider = agent.grant(agent.signed(sub=ADA, scope=f"{SCOPE}storage.readonly {SCOPE}calendar"))
    stranger = agent.grant(agent.signed(sub="never-seen@svc.example", scope=SCOPE + "storage.readonly"))

    assert wire.send("GET", f"/storage/v3/files/{adas}", token=found["access_token"]).status == 200
    assert refused(wider) == (401, "unauthorized_client")
    assert refused(stranger) == (400, "invalid_grant")


@pytest.mark.spec("T-01")
def test_a_new_key_ends_the_old_one(wire: Wire, robot: Robot) -> None:
    newer = Robot(wire, account(wire, "robot"))

    assert refused(robot.grant(robot.signed())) == (400, "invalid_grant")
    assert newer.grant(newer.signed()).status == 200


# -- looking at tokens, and ending them ------------------------------------------------------------------------------


@pytest.mark.spec("T-01")
def test_tokeninfo_says_whom_a_token_is_for(wire: Wire, app: App) -> None:
    token = app.tokens("storage.readonly", user=BOB)["access_token"]
    wire.service.clock.advance("100s")

    by_query = wire.send("GET", f"/tokeninfo?access_token={token}", token=None).json
    by_form = ask(wire, "/tokeninfo", {"access_token": token}).json

    assert by_query == by_form
    assert (by_query["aud"], by_query["azp"], by_query["email"]) == (app.id, app.id, BOB)
    assert by_query["scope"] == SCOPE + "storage.readonly"
    assert int(by_query["expires_in"]) in (3499, 3500)
    assert int(by_query["exp"]) - int(by_query["expires_in"]) == int(wire.service.clock.now().timestamp())


@pytest.mark.spec("T-01")
@pytest.mark.parametrize("token", ["nobody", "", "\u20ac", "a b", "x" * 5000])
def test_tokeninfo_of_what_is_no_token_is_a_refusal(wire: Wire, token: str) -> None:
    answer = wire.send("GET", f"/tokeninfo?{urlencode({'access_token': token})}", token=None)

    status, error = refused(answer)
    assert (status, error in ("invalid_token", "invalid_request")) == (400, True)


@pytest.mark.spec("T-01")
def test_a_token_ends_on_the_second(wire: Wire, app: App) -> None:
    token = app.tokens()
    lives = token["expires_in"]
    wire.service.clock.advance(lives - 1)
    assert works(wire, token["access_token"])

    wire.service.clock.advance(1)
    answer = wire.send("GET", "/storage/v3/files", token=token["access_token"])

    assert (answer.status, answer.error["reason"]) == (401, "authError")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    info = wire.send("GET", f"/tokeninfo?access_token={token['access_token']}", token=None)
    assert refused(info) == (400, "invalid_token")
    assert works(wire, app.refresh(token["refresh_token"]).json["access_token"])


@pytest.mark.spec("T-01")
def test_an_upload_outlives_the_token_that_began_it(wire: Wire, app: App) -> None:
    tokens = app.tokens()
    begun = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b"", token=tokens["access_token"])
    wire.service.clock.advance("2h")

    refused_put = wire.send("PUT", begun.headers["location"], b"late", token=tokens["access_token"])
    renewed = app.refresh(tokens["refresh_token"]).json["access_token"]
    done = wire.send("PUT", begun.headers["location"], b"late", token=renewed)

    assert (refused_put.status, refused_put.error["reason"]) == (401, "authError")
    assert done.status == 200


@pytest.mark.spec("T-01")
def test_a_revoked_token_is_good_for_nothing(wire: Wire, app: App) -> None:
    tokens = app.tokens()
    token = tokens["access_token"]
    assert works(wire, token)

    assert ask(wire, "/revoke", {"token": token}).status == 200

    assert not works(wire, token)
    assert refused(wire.send("GET", f"/tokeninfo?access_token={token}", token=None)) == (400, "invalid_token")
    assert refused(ask(wire, "/revoke", {"token": token})) == (400, "invalid_token")


@pytest.mark.spec("T-01")
def test_who_revokes_a_refresh_token_ends_the_consent_and_no_other(wire: Wire, app: App) -> None:
    gone, stays = app.tokens(), app.tokens()
    renewed = app.refresh(gone["refresh_token"]).json["access_token"]

    assert ask(wire, "/revoke", {"token": gone["refresh_token"]}).status == 200

    assert not works(wire, gone["access_token"])
    assert not works(wire, renewed)
    assert refused(app.refresh(gone["refresh_token"])) == (400, "invalid_grant")
    assert works(wire, stays["access_token"])


@pytest.mark.spec("T-01")
def test_nothing_is_revoked_by_a_link(wire: Wire, app: App) -> None:
    token = app.tokens()["access_token"]

    assert wire.send("GET", f"/revoke?token={token}", token=None).status == 405
    assert works(wire, token)


@pytest.mark.spec("T-01")
def test_a_reset_and_an_old_snapshot_do_not_bring_a_revoked_token_back(wire: Wire, app: App, service: Service) -> None:
    token = app.tokens()["access_token"]
    ask(wire, "/revoke", {"token": token})

    service.reset()

    assert not works(wire, token)


@pytest.mark.spec("T-01")
def test_oauth_libraries_find_the_endpoints(wire: Wire) -> None:
    found = wire.send("GET", "/.well-known/oauth-authorization-server", token=None).json

    base = found["issuer"]
    assert found["authorization_endpoint"] == f"{base}/authorize"
    assert found["token_endpoint"] == f"{base}/token"
    assert found["response_types_supported"] == ["code"]
    assert "S256" in found["code_challenge_methods_supported"]
    assert set(found["grant_types_supported"]) == {"authorization_code", "refresh_token", JWT_BEARER}
