"""Tests of the client's uploads against a scripted service (cases C51 to C65).

Every list of faults is exhausted in the end: a fault that did not happen proves nothing.
"""

import os
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.resumable_upload import resume_upload, start_upload, upload
from svc_notebooks.core.errors.errors import (
    BadRequest,
    ContentMismatch,
    Interrupted,
    NotSignedIn,
    SessionExpired,
    SourceChanged,
)
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.uploads.states import UploadRule
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

WORST = {
    "503 twice": (CONTENT, Q, [answer(503), answer(503)]),
    "reset twice": (CONTENT, Q, [reset, reset]),
    "reset, then 503": (CONTENT, Q, [reset, answer(503)]),
    "408": (CONTENT, Q, [answer(408)]),
    "503 after 256 KiB": (CONTENT, -1, [after(Q, answer(503))]),
    "503 after 8 MiB, then 408": (BIG, -1, [after(8192 * 1024, answer(503)), answer(408)]),
    "reset after 300 kB": (CONTENT, -1, [after(300_000, reset)]),
    "every status that means wait": (CONTENT, Q, [answer(s) for s in (408, 429, 500, 502, 503, 504)]),
}


def the_content(shelf: Shelf) -> bytes:
    assert len(shelf.contents) == 1, "exactly one file"
    return next(iter(shelf.contents.values()))


@pytest.mark.spec("A3-21", "A3-21a", "A3-21b", "A3-20")
@pytest.mark.parametrize("case", WORST)
def test_c51_faults_in_a_row_end_in_the_same_content(case: str) -> None:
    content, chunk, faults = WORST[case]
    shelf = Shelf({"PUT": list(faults)})

    upload(session_for(shelf), content, name="a.bin", chunk_size=chunk)

    assert the_content(shelf) == content
    assert shelf.exhausted


BREAK, SERVER_ERROR = pytest.mark.spec("A3-21", "A3-21b"), pytest.mark.spec("A3-21", "A3-21b")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(reset, id="reset", marks=BREAK),
        pytest.param(after(Q, reset), id="reset after a part", marks=BREAK),
        pytest.param(lost, id="answer lost", marks=BREAK),
        *(pytest.param(answer(status), id=str(status), marks=SERVER_ERROR) for status in (500, 502, 503, 504)),
    ],
)
def test_after_every_failure_the_next_request_is_a_status_query(fault: object) -> None:
    shelf = Shelf({"PUT": [fault]})

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert shelf.header_values("Content-Range")[1] == f"bytes */{len(CONTENT)}"
    assert shelf.header_values("Content-Length")[1] == "0"
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("X-06", "X-06a")
@pytest.mark.parametrize("status, error", [(400, BadRequest), (401, NotSignedIn)])
def test_c52_a_refusal_is_not_repeated(status: int, error: type[Exception]) -> None:
    shelf = Shelf({"PUT": [answer(status, envelope(status, "because"))]})

    with pytest.raises(error, match=f"{status} because"):
        upload(session_for(shelf), CONTENT, chunk_size=Q)
    assert len(shelf.header_values("Content-Range")) == 1


def test_c52_a_503_and_then_a_400_stops_at_the_400() -> None:
    shelf = Shelf({"PUT": [answer(503), answer(400, b"Invalid request.")]})

    with pytest.raises(BadRequest, match="Invalid request"):
        upload(session_for(shelf), CONTENT, chunk_size=Q)
    assert shelf.exhausted
    assert len(shelf.header_values("Content-Range")) == 2


@pytest.mark.spec("A3-21", "A3-21a")
@pytest.mark.parametrize("body", [b"", b'{"id": "fi', b"<html>ok</html>", b'"text"', b"[" * 50_000])
def test_c53_a_last_answer_that_cannot_be_read_is_asked_for_again(body: bytes) -> None:
    shelf = Shelf({"PUT": [None, None, answered_with(body)]})

    file = upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert file["size"] == str(len(CONTENT))
    assert shelf.header_values("Content-Range")[-1] == f"bytes */{len(CONTENT)}"
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-21", "A3-21a")
def test_c54_a_last_answer_that_is_lost_makes_no_second_file() -> None:
    shelf = Shelf({"PUT": [None, None, lost]})

    file = upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert the_content(shelf) == CONTENT
    assert file["id"] in shelf.files


@pytest.mark.spec("A3-20")
def test_c55_less_was_stored_than_sent_and_the_next_chunk_begins_behind_it() -> None:
    """The service stores 307200 bytes of the first 512 KiB, and answers so with a 308."""
    keeps_300k = after(307_200, answer(308, Range="bytes=0-307199"))
    shelf = Shelf({"PUT": [keeps_300k]})

    upload(session_for(shelf), CONTENT, chunk_size=2 * Q)

    assert shelf.header_values("Content-Range")[1] == f"bytes 307200-{len(CONTENT) - 1}/{len(CONTENT)}"
    assert the_content(shelf) == CONTENT
    assert shelf.exhausted


def test_c56_more_is_stored_than_was_sent_is_an_error() -> None:
    shelf = Shelf({"PUT": [answer(308, Range=f"bytes=0-{2 * Q - 1}")]})

    with pytest.raises(ContentMismatch, match="than this upload has sent"):
        upload(session_for(shelf), CONTENT, chunk_size=Q)


@pytest.mark.spec("A3-20")
def test_c57_a_308_without_range_is_asked_about_once_and_means_nothing_is_stored() -> None:
    shelf = Shelf({"PUT": [answer(308)]})

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    first, question, again = shelf.header_values("Content-Range")[:3]
    assert question == f"bytes */{len(CONTENT)}"
    assert first == again
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-20")
def test_c58_a_gap_is_asked_about_and_not_sent_again_and_again() -> None:
    """A service that lost a chunk answers 503 for the offset, and the status query returns where to continue."""

    def forgets(shelf: Shelf, request: Request) -> Response:
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


@pytest.mark.spec("A3-23", "A3-23b")
def test_c58_a_gap_that_a_stream_cannot_fill_is_an_error() -> None:
    gap = answer(503, b"the upload offset exceeds already uploaded size")
    behind = answer(308, Range="bytes=0-9")
    shelf = Shelf({"PUT": [None, gap, behind]})

    with pytest.raises(SessionExpired, match="cannot be read again"):
        upload(session_for(shelf), Stream(CONTENT), chunk_size=Q)
    assert shelf.exhausted


@pytest.mark.spec("A3-23", "A3-23a")
def test_c59_a_session_that_is_gone_is_begun_anew() -> None:
    shelf = Shelf({"PUT": [None, answer(404), None, answer(410)]})

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert len(shelf.sessions) == 3
    assert the_content(shelf) == CONTENT
    assert shelf.exhausted


@pytest.mark.spec("A3-23", "A3-23b")
def test_c59_but_not_for_ever() -> None:
    shelf = Shelf({"PUT": [answer(404)] * 9})

    with pytest.raises(SessionExpired, match="404"):
        upload(session_for(shelf), CONTENT, chunk_size=Q)
    assert len(shelf.sessions) == 4


@pytest.mark.spec("A3-23", "A3-23b")
def test_c59_and_not_for_a_stream_whose_beginning_is_gone() -> None:
    shelf = Shelf({"PUT": [None, answer(404)]})

    begun = start_upload(session_for(shelf), Stream(CONTENT), chunk_size=Q)
    with pytest.raises(SessionExpired, match="Start the upload again"):
        begun.run()
    assert len(shelf.sessions) == 1


@pytest.mark.spec("A3-20")
def test_c60_a_service_that_goes_backwards_is_followed() -> None:
    """The second 308 has fewer bytes than the first one."""

    def backwards(shelf: Shelf, request: Request) -> Response:
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
def test_c61_rate_limits_raise_the_delay_up_to_a_cap_with_jitter(status: int, reason: str) -> None:
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
def test_c61_retry_after_is_the_least_that_is_waited() -> None:
    shelf = Shelf({"PUT": [answer(429, Retry_After="7"), answer(503, Retry_After="Thu, 01 Jan 2026 00:01:07 GMT")]})
    time = Time()

    upload(session_for(shelf, time), CONTENT, chunk_size=Q)

    assert time.slept == [7.0, 60.0]


@pytest.mark.spec("A3-22", "A3-22a")
def test_c61_a_403_that_is_no_rate_limit_is_not_waited_for() -> None:
    shelf, time = Shelf({"PUT": [answer(403, envelope(403, "insufficientPermissions"))]}), Time()

    with pytest.raises(Exception, match="insufficientPermissions"):
        upload(session_for(shelf, time), CONTENT, chunk_size=Q)
    assert time.slept == []


@pytest.mark.spec("A3-22", "A3-22b")
@pytest.mark.parametrize("rule", [RetryRule(patience=60), RetryRule(deadline=60)], ids=["patience", "deadline"])
def test_the_client_gives_up_in_the_end_and_the_session_stays(rule: RetryRule) -> None:
    shelf, time = Shelf({"PUT": [None, *[answer(503)] * 100]}), Time()
    session = session_for(shelf, time, retry=rule)
    begun = start_upload(session, CONTENT, chunk_size=Q)

    with pytest.raises(Interrupted, match="503") as caught:
        begun.run()
    assert caught.value.session_uri == begun.session_uri
    assert sum(time.slept) == pytest.approx(60)

    shelf.faults.clear()
    begun.resume()
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-25")
@pytest.mark.parametrize(
    "location",
    ["https://elsewhere.example:8443/x/y;z?a=%2F&upload_id={n}&b=+%20#frag", BASE + "/entirely/other?path={n}"],
)
def test_c62_the_session_uri_is_used_letter_by_letter(location: str) -> None:
    shelf = Shelf(location=location)

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert {url for method, url, _ in shelf.requests if method == "PUT"} == {location.format(n=1)}


def test_c62_a_relative_session_uri_is_one_of_the_service() -> None:
    uri = BASE + "/upload/here?upload_id=1"
    shelf = Shelf(location=uri, faults={"POST": [answer(200, Location="/upload/here?upload_id=1")]})
    shelf.begin(Request("POST", uri, body=b"{}"))

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert the_content(shelf) == CONTENT


@pytest.mark.spec("A3-25")
def test_c63_a_source_that_changed_between_two_attempts_is_refused(tmp_path: Path) -> None:
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
        resume_upload(session, begun.session_uri or "", path)
    with pytest.raises(SourceChanged, match="changed while it was uploaded"):
        begun.send_chunk()
    assert len(shelf.files) == 0


@pytest.mark.spec("A3-25")
def test_c64_another_process_goes_on_with_the_session_uri_and_the_source(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    shelf = Shelf()
    begun = start_upload(session_for(shelf), path, chunk_size=Q)
    begun.send_chunk()

    other = session_for(shelf)  # as in a new process: nothing is known but what is given
    file = resume_upload(other, begun.session_uri or "", path, chunk_size=Q).resume()

    assert file["size"] == str(len(CONTENT))
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
@pytest.mark.parametrize("origin", FOREIGN)
def test_c65_a_foreign_session_uri_gets_no_token(origin: str) -> None:
    shelf = Shelf(location=origin + "/upload?upload_id={n}")

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert set(shelf.header_values("Authorization")) == {None}
    assert shelf.header_values("Authorization", "POST") == [f"Bearer {TOKEN}"]


def test_c65_the_services_own_origin_gets_it_however_it_is_written() -> None:
    shelf = Shelf(location="HTTPS://API.example.org:443/upload?upload_id={n}")

    upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert set(shelf.header_values("Authorization")) == {f"Bearer {TOKEN}"}


def test_a_token_that_expires_on_the_way_is_asked_for_once_more() -> None:
    tokens = iter(["old", "new"])
    shelf = Shelf({"PUT": [None, answer(401)]})

    upload(session_for(shelf, token=lambda: next(tokens)), CONTENT, chunk_size=Q)

    assert shelf.header_values("Authorization") == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"]
    assert the_content(shelf) == CONTENT


@pytest.mark.spec("X-07")
def test_a_409_after_a_lost_session_means_that_the_file_is_there() -> None:
    """Everything was sent, the response and the session were lost, and the id is in use by this upload."""

    def forgets_after(shelf: Shelf, request: Request) -> Response:
        shelf.act(request)
        shelf.sessions.clear()
        return Response(503)

    shelf = Shelf({"PUT": [forgets_after], "POST": [None, answer(409, envelope(409, "fileIdInUse"))]})

    file = upload(session_for(shelf), CONTENT, metadata={"id": "mine"}, chunk_size=-1)

    assert file["id"] == "mine"
    assert the_content(shelf) == CONTENT
    assert shelf.exhausted


@pytest.mark.spec("D-03", "D-03c")
def test_a_keyboard_interrupt_leaves_an_upload_that_the_same_call_finishes(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    shelf = Shelf()
    session = session_for(shelf, state_dir=tmp_path / "state")

    def press_stop(sent: int, total: int | None) -> None:
        if sent > Q:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upload(session, path, chunk_size=Q, progress=press_stop)
    assert len(session.pending.all()) == 1

    upload(session_for(shelf, state_dir=tmp_path / "state"), path, chunk_size=Q)

    assert the_content(shelf) == CONTENT
    assert len(shelf.sessions) == 1
    assert session.pending.all() == []


def test_a_service_that_takes_chunks_and_keeps_nothing_is_given_up() -> None:
    class Sieve(Shelf):
        def put(self, request: Request, limit: int | None = None) -> Response:
            return Response(308)

    time = Time()
    with pytest.raises(Interrupted):
        upload(session_for(Sieve(), time), CONTENT, chunk_size=Q)
    assert sum(time.slept) > 300


def test_a_source_that_cannot_be_read_is_the_persons_error_and_no_reason_to_retry() -> None:
    class Broken(Stream):
        def read(self, size: int = -1, /) -> bytes:
            if self._at >= Q:
                raise OSError(5, "the disk is on fire")
            return super().read(min(size, Q))

    shelf, time = Shelf(), Time()
    with pytest.raises(OSError, match="on fire"):
        upload(session_for(shelf, time), Broken(CONTENT), chunk_size=Q)
    assert time.slept == []


def test_a_service_with_sub_chunk_memory_is_followed_byte_by_byte() -> None:
    """The content arrives, however much of each chunk the service stores."""
    dice = Random(3)
    faults = [after(dice.randrange(Q), dice.choice([reset, answer(503)])) if n % 2 else None for n in range(20)]
    shelf = Shelf({"PUT": faults}, rule=UploadRule(quantum=1))

    upload(session_for(shelf), BIG, chunk_size=Q)

    assert the_content(shelf) == BIG


def test_the_sessions_of_two_services_are_two(tmp_path: Path) -> None:
    """The same file to another address is a separate upload."""
    shelf = Shelf()
    first = session_for(shelf, state_dir=tmp_path)
    start_upload(first, CONTENT, chunk_size=Q).close()
    other = Session("https://other.example.org", TOKEN, handler=shelf, state_dir=tmp_path)

    upload(other, CONTENT, chunk_size=Q)

    assert len(shelf.sessions) == 2
