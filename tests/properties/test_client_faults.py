"""Tests of the client's uploads against a scripted service (cases C51 to C65).

Every list of faults is exhausted in the end: a fault that did not happen proves nothing.
"""

import os
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.uploads import resume_upload, start_upload, upload
from svc_notebooks.core.errors.errors import (
    BadRequest,
    ContentMismatch,
    Interrupted,
    NotAllowed,
    NotSignedIn,
    SessionExpired,
    SourceChanged,
)
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.uploads.transitions import UploadRule
from tests.scripted import (
    BASE,
    TOKEN,
    Q,
    Shelf,
    Stream,
    Time,
    after,
    answer,
    answered_with,
    envelope,
    lost,
    reset,
    session_for,
)

CONTENT = Random(1).randbytes(2 * Q + 4321)
BIG = Random(2).randbytes(9 * 1024 * 1024)


def the_content(shelf: Shelf) -> bytes:
    assert len(shelf.contents) == 1, "exactly one file"
    return next(iter(shelf.contents.values()))


TOTAL = len(CONTENT)
ASKED = f"bytes */{TOTAL}"


def case(
    name: str, rules: tuple[str, ...], faults: list[Any], ranges: dict[int, str] | None = None, chunk: int = Q
) -> Any:
    """A row: faults of the chunks, and the Content-Range of some requests."""
    content = BIG if "8 MiB" in name else CONTENT
    return pytest.param(content, chunk, faults, ranges or {}, id=name, marks=pytest.mark.spec(*rules))


C51 = ("A3-21", "A3-21a", "A3-21b", "A3-20")
BODIES = [b"", b'{"id": "fi', b"<html>ok</html>", b'"text"', b"[" * 50_000]
ARRIVES = [
    case("C51 503 twice", C51, [answer(503), answer(503)]),
    case("C51 reset twice", C51, [reset, reset]),
    case("C51 reset, then 503", C51, [reset, answer(503)]),
    case("C51 408", C51, [answer(408)]),
    case("C51 503 after 256 KiB", C51, [after(Q, answer(503))], chunk=-1),
    case("C51 503 after 8 MiB, then 408", C51, [after(8192 * 1024, answer(503)), answer(408)], chunk=-1),
    case("C51 reset after 300 kB", C51, [after(300_000, reset)], chunk=-1),
    case("C51 every status that means wait", C51, [answer(s) for s in (408, 429, 500, 502, 503, 504)]),
    case("reset", ("A3-21", "A3-21b"), [reset], {1: ASKED}),
    case("reset after a part", ("A3-21", "A3-21b"), [after(Q, reset)], {1: ASKED}),
    case("answer lost", ("A3-21", "A3-21b"), [lost], {1: ASKED}),
    *(case(str(status), ("A3-21", "A3-21b"), [answer(status)], {1: ASKED}) for status in (500, 502, 503, 504)),
    *(case("C53", ("A3-21", "A3-21a"), [None, None, answered_with(body)], {-1: ASKED}) for body in BODIES),
    case("C54 the last answer is lost", ("A3-21", "A3-21a"), [None, None, lost]),
    case("C55 less is stored than was sent", ("A3-20",), [after(307_200, answer(308, Range="bytes=0-307199"))],
         {1: f"bytes 307200-{TOTAL - 1}/{TOTAL}"}, 2 * Q),
    case("C57 a 308 without Range", ("A3-20",), [answer(308)], {1: ASKED, 2: f"bytes 0-{Q - 1}/{TOTAL}"}),
]  # fmt: skip


@pytest.mark.parametrize("content, chunk, faults, ranges", ARRIVES)
def test_the_content_arrives_once_whatever_happens_to_the_chunks(content, chunk, faults, ranges):
    shelf = Shelf({"PUT": list(faults)})

    file = upload(session_for(shelf), content, name="a.bin", chunk_size=chunk)

    assert the_content(shelf) == content
    assert (file["id"] in shelf.files, file["size"]) == (True, str(len(content)))
    sent, lengths = shelf.header_values("Content-Range"), shelf.header_values("Content-Length")
    assert {n: sent[n] for n in ranges} == ranges
    assert [lengths[n] for n, text in ranges.items() if text == ASKED] in ([], ["0"])
    assert shelf.exhausted


def because(status: int, reason: str = "because") -> Any:
    return answer(status, envelope(status, reason))


GAP = [None, answer(503, b"the upload offset exceeds already uploaded size"), answer(308, Range="bytes=0-9")]
ENDS = [
    (("X-06", "X-06a"), [because(400)], CONTENT, BadRequest, "400 because"),
    (("X-06", "X-06a"), [because(401)], CONTENT, NotSignedIn, "401 because"),
    (("X-06", "X-06a"), [answer(503), answer(400, b"Invalid request.")], CONTENT, BadRequest, "Invalid request"),
    (("A3-22", "A3-22a"), [because(403, "insufficientPermissions")], CONTENT, NotAllowed, "insufficientPermissions"),
    ((), [answer(308, Range=f"bytes=0-{2 * Q - 1}")], CONTENT, ContentMismatch, "than this upload has sent"),
    (("A3-23", "A3-23b"), GAP, None, SessionExpired, "cannot be read again"),
    (("A3-23", "A3-23b"), [None, answer(404)], None, SessionExpired, "Start the upload again"),
]


@pytest.mark.parametrize(
    "faults, content, error, words",
    [pytest.param(*row, marks=[pytest.mark.spec(*rules)] if rules else []) for rules, *row in ENDS],
    ids=["C52 400", "C52 401", "C52 503, then 400", "C61 403", "C56 too much", "C58 a stream", "C59 a stream"],
)
def test_an_upload_that_cannot_go_on_ends_with_the_error_and_no_further_request(faults, content, error, words):
    """None is a stream, which cannot be read again."""
    shelf = Shelf({"PUT": list(faults)})

    with pytest.raises(error, match=words):
        upload(session_for(shelf), content or Stream(CONTENT), chunk_size=Q)

    assert (len(shelf.header_values("Content-Range")), len(shelf.sessions)) == (len(faults), 1)


@pytest.mark.spec("A3-20")
def test_c58_a_gap_is_asked_about_and_not_sent_again_and_again():
    """A service that lost a chunk answers 503 for the offset, and the status query returns where to continue."""

    def forgets(shelf, request):
        uri = request.url
        shelf.sessions[uri] = shelf.sessions[uri].__class__(total=len(CONTENT))
        shelf.drafts[uri][1].clear()
        return shelf.act(request)

    shelf = Shelf({"PUT": [None, forgets]})
    time = Time()

    upload(session_for(shelf, time), CONTENT, chunk_size=Q)

    assert the_content(shelf) == CONTENT
    assert len(time.slept) == 1
    assert shelf.header_values("Content-Range")[2:4] == [f"bytes */{len(CONTENT)}", f"bytes 0-{Q - 1}/{len(CONTENT)}"]


@pytest.mark.spec("A3-23", "A3-23a", "A3-23b")
def test_c59_a_session_that_is_gone_is_begun_anew_but_not_for_ever():
    shelf = Shelf({"PUT": [None, answer(404), None, answer(410)]})
    upload(session_for(shelf), CONTENT, chunk_size=Q)
    assert len(shelf.sessions) == 3
    assert the_content(shelf) == CONTENT
    assert shelf.exhausted

    shelf = Shelf({"PUT": [answer(404)] * 9})

    with pytest.raises(SessionExpired, match="404"):
        upload(session_for(shelf), CONTENT, chunk_size=Q)
    assert len(shelf.sessions) == 4


@pytest.mark.spec("A3-20")
def test_c60_a_service_that_goes_backwards_is_followed():
    def backwards(shelf, request):
        uri = request.url
        del shelf.drafts[uri][1][100_000:]
        shelf.sessions[uri] = shelf.sessions[uri].__class__(stored=100_000, total=len(CONTENT))
        return Response(308, Headers([("Range", "bytes=0-99999")]))

    shelf = Shelf({"PUT": [None, backwards]})

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert shelf.header_values("Content-Range")[2] == f"bytes 100000-{100_000 + Q - 1}/{len(CONTENT)}"
    assert the_content(shelf) == CONTENT


RATE_LIMITS = [(403, "userRateLimitExceeded"), (403, "rateLimitExceeded"), (429, "rateLimitExceeded")]


@pytest.mark.spec("A3-22", "A3-22a")
@pytest.mark.parametrize("status, reason", RATE_LIMITS)
def test_c61_rate_limits_raise_the_delay_up_to_a_cap_with_jitter(status, reason):
    slow_down = answer(status, envelope(status, reason))
    shelf, time = Shelf({"PUT": [slow_down] * 9}), Time()

    upload(session_for(shelf, time, random=Random(5)), CONTENT, chunk_size=Q)

    longest = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]
    dice = Random(5)
    dice.random()  # thrown for the answer to the initiation
    assert time.slept == [min(32.0, seconds * (1 - 0.25 * dice.random())) for seconds in longest]
    assert all(wait < following or following == 32.0 for wait, following in pairwise(time.slept))
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-22", "A3-22c")
def test_c61_retry_after_is_the_least_that_is_waited():
    shelf = Shelf({"PUT": [answer(429, Retry_After="7"), answer(503, Retry_After="Thu, 01 Jan 2026 00:01:07 GMT")]})
    time = Time()

    upload(session_for(shelf, time), CONTENT, chunk_size=Q)

    assert time.slept == [7.0, 60.0]


@pytest.mark.spec("A3-22", "A3-22b")
@pytest.mark.parametrize("rule", [RetryRule(patience=60), RetryRule(deadline=60)], ids=["patience", "deadline"])
def test_the_client_gives_up_in_the_end_and_the_session_stays(rule):
    shelf, time = Shelf({"PUT": [None, *[answer(503)] * 100]}), Time()
    begun = start_upload(session_for(shelf, time, retry=rule), CONTENT, chunk_size=Q)

    with pytest.raises(Interrupted, match="503") as caught:
        begun.run()
    assert caught.value.session_uri == begun.session_uri
    assert sum(time.slept) == pytest.approx(60)

    shelf.faults.clear()
    begun.resume()
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-25")
@pytest.mark.parametrize(
    "location, sent",
    [
        ("https://elsewhere.example:8443/x/y;z?a=%2F&upload_id={n}&b=+%20#frag",) * 2,
        (BASE + "/entirely/other?path={n}",) * 2,
        ("/upload/here?upload_id={n}", BASE + "/upload/here?upload_id={n}"),
    ],
    ids=["elsewhere", "other path", "relative"],
)
def test_c62_the_session_uri_is_used_letter_by_letter_and_a_relative_one_is_of_the_service(location, sent):
    shelf = Shelf(location=sent, faults={"POST": [answer(200, Location=location.format(n=1))]})
    shelf.begin(Request("POST", BASE, body=b"{}"))

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert {url for method, url, _ in shelf.requests if method == "PUT"} == {sent.format(n=1)}
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-25")
def test_c63_a_source_that_changed_between_two_attempts_is_refused(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    shelf = Shelf()
    session = session_for(shelf, state_dir=tmp_path / "state")
    begun = start_upload(session, path, chunk_size=Q)
    begun.send_chunk()
    begun.close()
    path.write_bytes(CONTENT[:-1] + b"!")
    os.utime(path, ns=(1, 1))

    with pytest.raises(SourceChanged):
        resume_upload(session, begun.session_uri, path)
    with pytest.raises(SourceChanged, match="changed while it was uploaded"):
        begun.send_chunk()
    assert len(shelf.files) == 0


@pytest.mark.spec("A3-25")
def test_c64_another_process_goes_on_with_the_session_uri_and_the_source(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    shelf = Shelf()
    begun = start_upload(session_for(shelf), path, chunk_size=Q)
    begun.send_chunk()

    other = session_for(shelf)  # as in a new process: nothing is known but what is given
    assert resume_upload(other, begun.session_uri, path, chunk_size=Q).resume()["size"] == str(len(CONTENT))
    assert shelf.header_values("Content-Range")[1:] == [
        f"bytes */{len(CONTENT)}",
        f"bytes {Q}-{2 * Q - 1}/{len(CONTENT)}",
        f"bytes {2 * Q}-{len(CONTENT) - 1}/{len(CONTENT)}",
    ]
    assert the_content(shelf) == CONTENT


FOREIGN = (
    "https://evil.example",
    "http://api.example.org",
    "https://api.example.org:8443",
    "https://api.example.org.evil.example",
    "https://api.example.org@evil.example",
)


@pytest.mark.spec("T-05", "T-05a")
@pytest.mark.parametrize("origin", [*FOREIGN, "HTTPS://API.example.org:443"])
def test_c65_a_session_uri_gets_the_token_only_if_its_origin_is_that_of_the_service(origin):
    shelf = Shelf(location=origin + "/upload?upload_id={n}")

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert set(shelf.header_values("Authorization")) == {None if origin in FOREIGN else f"Bearer {TOKEN}"}
    assert shelf.header_values("Authorization", "POST") == [f"Bearer {TOKEN}"]


def test_a_token_that_expires_on_the_way_is_asked_for_once_more():
    tokens = iter(["old", "new"])
    shelf = Shelf({"PUT": [None, answer(401)]})

    upload(session_for(shelf, token=lambda: next(tokens)), CONTENT, chunk_size=Q)

    assert shelf.header_values("Authorization") == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"]
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("X-07")
def test_a_409_after_a_lost_session_means_that_the_file_is_there():
    """Everything was sent, the response and the session were lost, and the id is in use by this upload."""

    def forgets_after(shelf, request):
        shelf.act(request)
        shelf.sessions.clear()
        return Response(503)

    shelf = Shelf({"PUT": [forgets_after], "POST": [None, answer(409, envelope(409, "fileIdInUse"))]})

    assert upload(session_for(shelf), CONTENT, metadata={"id": "mine"}, chunk_size=-1)["id"] == "mine"
    assert the_content(shelf) == CONTENT
    assert shelf.exhausted


@pytest.mark.spec("D-03", "D-03c")
def test_a_keyboard_interrupt_leaves_an_upload_that_the_same_call_finishes(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    shelf = Shelf()
    session = session_for(shelf, state_dir=tmp_path / "state")

    def press_stop(sent, total):
        if sent > Q:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upload(session, path, chunk_size=Q, progress=press_stop)
    assert len(session.pending.all()) == 1

    upload(session_for(shelf, state_dir=tmp_path / "state"), path, chunk_size=Q)

    assert the_content(shelf) == CONTENT
    assert len(shelf.sessions) == 1
    assert session.pending.all() == []


def test_a_service_that_takes_chunks_and_keeps_nothing_is_given_up():
    class Sieve(Shelf):
        def put(self, request, limit=None):
            return Response(308)

    time = Time()
    with pytest.raises(Interrupted):
        upload(session_for(Sieve(), time), CONTENT, chunk_size=Q)
    assert sum(time.slept) > 300


def test_a_source_that_cannot_be_read_is_the_persons_error_and_no_reason_to_retry():
    class Broken(Stream):
        def read(self, size=-1, /):
            if self._at >= Q:
                raise OSError(5, "the disk is on fire")
            return super().read(min(size, Q))

    shelf, time = Shelf(), Time()
    with pytest.raises(OSError, match="on fire"):
        upload(session_for(shelf, time), Broken(CONTENT), chunk_size=Q)
    assert time.slept == []


def test_a_service_with_sub_chunk_memory_is_followed_byte_by_byte():
    dice = Random(3)
    faults = [after(dice.randrange(Q), dice.choice([reset, answer(503)])) if n % 2 else None for n in range(20)]
    shelf = Shelf({"PUT": faults}, rule=UploadRule(quantum=1))

    upload(session_for(shelf), BIG, chunk_size=Q)

    assert the_content(shelf) == BIG


def test_the_sessions_of_two_services_are_two(tmp_path):
    shelf = Shelf()
    start_upload(session_for(shelf, state_dir=tmp_path), CONTENT, chunk_size=Q).close()
    upload(Session("https://other.example.org", TOKEN, handler=shelf, state_dir=tmp_path), CONTENT, chunk_size=Q)

    assert len(shelf.sessions) == 2
