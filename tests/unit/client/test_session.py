import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from svc_notebooks.client.files import create_file, get_file, list_files
from svc_notebooks.client.session import EnvironmentToken, Session
from svc_notebooks.client.transport.in_process import TransportError
from svc_notebooks.client.uploads.uploads import upload
from svc_notebooks.core.errors.errors import Interrupted, NotFound, NotSignedIn, RateLimited, ServiceFailed, SvcError
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response
from tests.scripted import BASE, TOKEN, Shelf, Time, answer, envelope, lost, session_for


def replies(*responses: Response) -> tuple[Session, list[Request]]:
    """Make a session whose service gives these responses in order, and the list of its requests."""
    requests: list[Request] = []
    waiting = list(responses)

    def handler(request: Request) -> Response:
        requests.append(request)
        return waiting.pop(0)

    return session_for(handler), requests


REDIRECT = Headers([("Location", "https://www.example.org/login")])
PAGE = b"\n<!doctype html><title>Sign in</title>"
NO_ANSWERS = [
    *((ServiceFailed, Response(200, body=b), "not a JSON object") for b in (b"<html>", b"[1]", b"\xff", b"[" * 50_000)),
    *((ServiceFailed, Response(s, REDIRECT), "redirects to .*org/login; check base_url") for s in (301, 304, 308)),
    *((SvcError, Response(s, body=PAGE), f"{s} is an HTML page.*base_url, HTTPS_PROXY.*NO_PROXY") for s in (403, 511)),
]


@pytest.mark.parametrize("error, response, words", NO_ANSWERS)
def test_a_response_that_is_not_of_the_interface_is_an_error(error, response, words):
    session, requests = replies(response)

    with pytest.raises(error, match=words) as caught:
        session.call("GET", "/storage/v3/files/x")

    assert response.status < 400 or caught.value.status == response.status
    assert len(requests) == 1


@pytest.mark.spec("X-06", "X-06a", "X-06b")
def test_a_refusal_is_an_error_with_the_services_reason():
    session, requests = replies(Response(404, body=envelope(404, "notFound")))

    with pytest.raises(NotFound) as caught:
        session.call("GET", "/storage/v3/files/x")
    assert (caught.value.status, caught.value.reason, caught.value.location) == (404, "notFound", "x")
    assert caught.value.service_message == "said the service"
    assert caught.value.advice in str(caught.value)
    assert len(requests) == 1


@pytest.mark.spec("A3-22", "A3-22c")
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_retryable_response_is_waited_for(status):
    shelf, time = Shelf({"GET": [answer(status, Retry_After="9")]}), Time()
    name = shelf.store(b"")

    assert get_file(session_for(shelf, time), name)["id"] == name
    assert time.slept == [9.0]


def test_a_creation_that_may_have_arrived_is_not_sent_again():
    shelf = Shelf({"POST": [lost]})

    with pytest.raises(Interrupted, match="may have succeeded"):
        create_file(session_for(shelf), {"name": "a"})
    assert shelf.made == 1


@pytest.mark.spec("X-06", "X-06a")
def test_the_last_error_is_raised_when_the_patience_is_used_up():
    shelf, time = Shelf({"GET": [answer(429, envelope(429, "rateLimitExceeded"))] * 99}), Time()

    with pytest.raises(RateLimited, match="Wait a little"):
        get_file(session_for(shelf, time, retry=RetryRule(patience=20)), "x")
    assert sum(time.slept) == pytest.approx(20)


@pytest.mark.parametrize("sent", [False, True])
def test_a_service_that_never_answered_is_tried_three_times(tmp_path, sent):
    """A request over http:// to a TLS port fails each time, and waiting does not help."""
    time, tries = Time(), []

    def fail(request):
        tries.append(request)
        raise TransportError("connection refused", sent=sent)

    nobody = SimpleNamespace(send=fail, close=lambda: None)
    session = Session(BASE, TOKEN, transport=nobody, clock=time, sleep=time.sleep, state_dir=tmp_path)
    with pytest.raises(Interrupted, match="connection refused"):
        session.call("GET", "/x")
    assert len(tries) == 3


def test_a_request_is_sent_again_after_a_response_that_breaks_off_and_a_repeated_page_token_is_an_error():
    def breaks():
        yield b'{"id"'
        raise Disconnected("cut")

    session, requests = replies(Response(200, body=breaks()), Response(200, body=b'{"id": "x"}'))

    assert session.call("GET", "/x") == {"id": "x"}
    assert "cut" in (session.exchanges[0].error or "")
    assert len(requests) == 2
    session, _ = replies(*[Response(200, body=b'{"files": [], "nextPageToken": "t"}')] * 2)
    with pytest.raises(ServiceFailed, match="same page token"):
        list(list_files(session))


@pytest.mark.parametrize(
    "address, used",
    [
        ("https://api.example.org/", "https://api.example.org"),
        (" HTTPS://API.Example.org:443 ", "https://api.example.org"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/gate/", "http://[::1]:8080/gate"),
    ],
)
def test_an_address_is_normalized(address, used):
    assert Session(address, handler=Shelf()).base_url == used


def test_a_token_function_is_called_when_needed_and_again_after_a_401():
    tokens = iter(["first", "second"])
    shelf = Shelf({"GET": [None, answer(401), answer(401)]})
    name = shelf.store(b"")
    session = session_for(shelf, token=lambda: next(tokens))

    get_file(session, name)
    with pytest.raises(NotSignedIn):
        get_file(session, name)
    assert shelf.header_values("Authorization", "GET") == ["Bearer first", "Bearer first", "Bearer second"]


TOKENS = {
    "": "token is empty",
    **dict.fromkeys(("two words", "ünicode"), "token must be printable ASCII"),
    **dict.fromkeys(("secret\n", "\tsecret"), "line end .* use token.strip"),
    **dict.fromkeys(("Bearer secret", "bearer\tsecret\n"), 'begins with the word "Bearer"'),
    **dict.fromkeys(('"secret"', "'secret'", "\u201csecret\u201d"), "quotes around it"),
    **dict.fromkeys(("b'secret'", 'b"secret"'), r"use token\.decode"),
}
ADDRESSES = (
    "api.example.org", "ftp://x", "https://", "https://u:p@x", "https://x?a=1", "https://x#f", "https://x:99999",
)  # fmt: skip
REFUSED: list[Any] = [
    *((lambda _, wrong=wrong: Session(wrong, handler=Shelf()), ValueError, r"base_url|Port") for wrong in ADDRESSES),
    *((lambda _, wrong=wrong: Session(BASE, wrong, handler=Shelf()), ValueError, TOKENS[wrong]) for wrong in TOKENS),
    (lambda _: Session(BASE, b"x", handler=Shelf()), TypeError, r"token must be .* not bytes"),
    (lambda _: session_for(Shelf(), token=lambda: None).call("GET", "/x"), TypeError, r"token must be .* not NoneType"),
    (lambda session: session.call("GET", "storage/v3/files"), ValueError, "must begin with a slash"),
    *((lambda session, wrong=wrong: get_file(session, wrong), ValueError, "file_id") for wrong in ("", ".", "..")),
    (lambda session: get_file(session, 7), TypeError, "file_id"),
    (lambda session: session.recipe(), TypeError, r"a sandbox cannot be pickled or moved to another process"),
    pytest.param(pickle.dumps, TypeError, r"connect\(", marks=pytest.mark.spec("T-05", "T-05d")),
]


@pytest.mark.parametrize("call, error, words", REFUSED)
def test_a_wrong_value_is_refused_before_anything_is_sent(call, error, words):
    session, requests = replies()

    with pytest.raises(error, match=words) as caught:
        call(session)

    assert "secret" not in str(caught.value)
    assert requests == []


@pytest.mark.spec("T-05", "T-05d")
def test_a_recipe_has_the_token_only_if_the_session_has_no_source_for_it(monkeypatch):
    monkeypatch.setenv("SVC_TOKEN", TOKEN)
    for source, contained in ((EnvironmentToken("SVC_TOKEN"), False), (token_of_this_module, False), (TOKEN, True)):
        with Session(BASE, source, proxies={"https": "http://proxy:3128"}) as session:
            pickled = pickle.dumps(session.recipe())
            opened = Session.from_recipe(pickle.loads(pickled))
        assert (TOKEN.encode() in pickled) == contained
        assert opened.is_own_token(TOKEN)
        assert TOKEN not in repr(session.recipe())
        assert opened.recipe().settings["proxies"] == {"https": "http://proxy:3128"}


def token_of_this_module() -> str:
    return TOKEN


@pytest.mark.spec("D-04", "D-04a", "D-04b")
def test_bodies_are_counted_and_text_is_kept_to_2_kib():
    session = session_for(Shelf())

    upload(session, b"\x00" * 5000, mime_type="image/png")
    upload(session, b"a" * 5000, mime_type="text/plain")
    upload(session, b"\xff\x00" * 2500, name="x.png", mime_type="image/png")

    binary, text, multipart = session.exchanges
    assert (binary.sent, binary.request_body) == (5000, None)
    assert (text.sent, text.request_body) == (5000, "a" * 2048)
    assert multipart.request_body is not None
    assert '{"name": "x.png"}' in multipart.request_body
    assert multipart.sent > 5000


@pytest.mark.spec("A1-03", "A1-03b")
@pytest.mark.parametrize("method, length", [("PUT", ["5"]), ("PATCH", ["5"]), ("GET", [None])])
def test_a_request_by_hand_has_the_length_of_its_body_in_process(method, length):
    shelf = Shelf()
    session_for(shelf).send(Request(method, f"{BASE}/storage/v3/files/{shelf.store(b'')}", body=b"hello"))

    assert shelf.header_values("Content-Length", method) == length
