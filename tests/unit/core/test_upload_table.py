"""Tests of the transition table of uploads, and of the service's half of the protocol."""

import pytest

from svc_notebooks.core.http.ranges import ContentRange
from svc_notebooks.core.uploads.server_state_machine import (
    ReadPlan,
    ReceivedBody,
    SessionDecision,
    UploadSession,
    after_body,
    before_body,
    cancel,
)
from svc_notebooks.core.uploads.states import (
    LIFETIME,
    QUANTUM,
    TRANSITIONS,
    IllegalUploadTransition,
    UploadEvent,
    UploadRule,
    UploadState,
    transition,
)

Q = QUANTUM
RULE = UploadRule()


def put(
    session: UploadSession,
    content_range: str | None,
    body: int,
    *,
    length: int | None = -1,
    broken: bool = False,
    rule: UploadRule = RULE,
    now: float = 0.0,
) -> SessionDecision:
    """Perform a PUT of `body` bytes. `length` -1 declares them, None leaves them undeclared (chunked)."""
    parsed = None if content_range is None else ContentRange.parse(content_range)
    intake = before_body(session, parsed, body if length == -1 else length, rule, now)
    if isinstance(intake, SessionDecision):
        return intake
    rest = body - intake.skip
    taken = max(0, rest if intake.take is None else min(rest, intake.take))
    short = rest < 0 or broken
    return after_body(session, intake, ReceivedBody(taken, broken=short, overlong=rest > taken), rule, now)


def test_an_illegal_transition_is_a_missing_row() -> None:
    with pytest.raises(IllegalUploadTransition, match="expired"):
        transition(UploadState.EXPIRED, UploadEvent.PART)


def test_every_state_but_none_can_expire() -> None:
    assert {state for state, event in TRANSITIONS if event is UploadEvent.SILENCE} == set(UploadState) - {
        UploadState.NONE
    }


@pytest.mark.spec("A3-05")
@pytest.mark.parametrize("content_range", [None, f"bytes 0-{2 * Q - 1}/{2 * Q}", "bytes 0-*/*"])
def test_the_whole_in_one_request_completes(content_range: str | None) -> None:
    """Edge cases 6, 7 and 11."""
    verdict = put(UploadSession(), content_range, 2 * Q)

    assert (verdict.status, verdict.session) == (200, UploadSession(2 * Q, 2 * Q, 0.0, UploadState.COMPLETE))


@pytest.mark.spec("A3-06", "A3-08")
def test_chunks_count_up_and_the_last_completes() -> None:
    first = put(UploadSession(), f"bytes 0-{Q - 1}/{Q + 1}", Q)
    last = put(first.session, f"bytes {Q}-{Q}/{Q + 1}", 1)

    assert (first.status, first.session.stored) == (308, Q)
    assert (last.status, last.session.state) == (200, UploadState.COMPLETE)


@pytest.mark.spec("A3-15")
def test_the_total_may_come_with_the_last_chunk_or_in_a_query() -> None:
    """Edge cases 9 and 10."""
    first = put(UploadSession(), f"bytes 0-{Q - 1}/*", Q).session
    by_chunk = put(first, f"bytes {Q}-{Q + 4}/{Q + 5}", 5)
    by_query = put(first, f"bytes */{Q}", 0)

    assert (by_chunk.status, by_query.status) == (200, 200)


@pytest.mark.spec("A3-09", "A3-09a")
@pytest.mark.parametrize("question", ["bytes */*", "*/*", f"bytes */{2 * Q}", f"bytes */{Q // 2}"])
def test_a_query_changes_nothing_and_returns_the_stored_size(question: str) -> None:
    """Edge cases 12, 13, 16 and 44. A query is answered although its total does not fit."""
    session = UploadSession(stored=Q, total=2 * Q)

    verdict = put(session, question, 0)

    assert (verdict.status, verdict.session) == (308, session)


def test_a_query_with_a_body_is_refused() -> None:
    """Edge case 15."""
    assert put(UploadSession(), "bytes */*", 5).status == 400


@pytest.mark.spec("A3-10", "A3-10a")
def test_an_uneven_chunk_is_kept_down_to_the_whole_multiple() -> None:
    verdict = put(UploadSession(), "bytes 0-2499999/10000000", 2_500_000)

    assert (verdict.status, verdict.session.stored) == (308, 2_359_296)


@pytest.mark.spec("A3-10", "A3-10b")
def test_a_chunk_below_one_quantum_is_refused() -> None:
    verdict = put(UploadSession(), "bytes 0-99999/10000000", 100_000)

    assert (verdict.status, verdict.session.stored, verdict.session.state) == (400, 0, UploadState.OPEN)
    assert "262144" in verdict.text


@pytest.mark.spec("A3-10", "A3-10c")
def test_the_strict_rule_refuses_every_uneven_chunk() -> None:
    strict = UploadRule(strict=True)

    assert put(UploadSession(), f"bytes 0-{Q}/10000000", Q + 1, rule=strict).status == 400
    assert put(UploadSession(), f"bytes 0-{Q - 1}/10000000", Q, rule=strict).status == 308


@pytest.mark.spec("A3-11", "A3-11a")
def test_a_gap_is_refused_and_the_session_stays_as_it_was() -> None:
    """Edge case 24."""
    verdict = put(UploadSession(stored=Q), f"bytes {2 * Q}-{3 * Q - 1}/*", Q)

    assert (verdict.status, verdict.session) == (503, UploadSession(stored=Q))
    assert f"{2 * Q} byte(s), which exceeds already uploaded size of {Q} byte(s)" in verdict.text


@pytest.mark.spec("A3-11", "A3-11b")
def test_an_overlap_keeps_the_stored_bytes_and_takes_the_new_tail() -> None:
    """Edge cases 21 to 23. The skipped bytes are not compared."""
    intake = before_body(UploadSession(stored=Q), ContentRange.parse(f"bytes 0-{2 * Q - 1}/*"), 2 * Q, RULE, 0.0)

    assert intake == ReadPlan(skip=Q, take=Q, end=None, total=None, decided_by="A3-11")
    stored_already = before_body(UploadSession(stored=2 * Q), ContentRange.parse(f"bytes 0-{Q - 1}/*"), Q, RULE, 0.0)
    assert stored_already == ReadPlan(skip=Q, take=0, end=None, total=None, decided_by="A3-11")
    assert put(UploadSession(stored=2 * Q), f"bytes 0-{Q - 1}/*", Q).session.stored == 2 * Q


@pytest.mark.spec("A3-12")
def test_a_broken_body_keeps_whole_quanta() -> None:
    """Edge case 33."""
    verdict = put(UploadSession(), f"bytes 0-{4 * Q - 1}/{4 * Q}", 2 * Q + 100_000, length=4 * Q, broken=True)

    assert (verdict.status, verdict.session.stored) == (308, 2 * Q)


def test_a_smaller_quantum_can_keep_a_single_byte() -> None:
    """Edge case 17: with a unit of one byte, one stored byte is a legal state."""
    rule = UploadRule(quantum=1)

    verdict = put(UploadSession(), "bytes 0-3/4", 1, length=4, broken=True, rule=rule)

    assert (verdict.status, verdict.session.stored) == (308, 1)


@pytest.mark.spec("A3-03", "A3-03b")
@pytest.mark.parametrize("size", [2 * Q - 1, 2 * Q + 1])
@pytest.mark.parametrize("form", ["none", "range", "chunked", "to the end"])
def test_a_declared_size_must_be_met(size: int, form: str) -> None:
    """Edge case 31: with a Content-Range, without one, and without a declared length."""
    session = UploadSession(total=2 * Q)
    content_range = {"range": f"bytes 0-{size - 1}/{size}", "to the end": "bytes 0-*/*"}.get(form)

    verdict = put(session, content_range, size, length=None if form == "chunked" else -1)

    assert (verdict.status, verdict.session.state) == (400, UploadState.OPEN)


@pytest.mark.spec("A3-16", "A3-16c")
@pytest.mark.parametrize("content_range", [None, "bytes */0"])
def test_an_empty_file_is_complete_with_nothing(content_range: str | None) -> None:
    """Edge cases 18 and 19."""
    verdict = put(UploadSession(), content_range, 0)

    assert (verdict.status, verdict.session.total) == (200, 0)


@pytest.mark.parametrize(
    "content_range, body",
    [
        (f"bytes 0-{Q - 1}/{2 * Q}", Q - 1),
        (f"bytes 0-{Q - 1}/{2 * Q}", Q + 1),
        (f"bytes 0-{Q - 1}/{4 * Q}", Q),
        (f"bytes {Q}-{3 * Q - 1}/*", 2 * Q),
        ("bytes */*", 1),
    ],
)
def test_a_contradiction_is_refused_and_changes_nothing(content_range: str, body: int) -> None:
    """Edge cases 25 to 27: length against range, total against total, range beyond the known total."""
    session = UploadSession(stored=Q, total=2 * Q)

    verdict = put(session, content_range, body)

    assert (verdict.status, verdict.session) == (400, session)


def test_a_total_below_the_stored_bytes_is_refused() -> None:
    """Edge case 25."""
    assert put(UploadSession(stored=2 * Q), f"bytes 0-{Q - 1}/{Q}", Q).status == 400


def test_an_undeclared_body_that_is_too_long_is_refused_and_stores_no_more_than_was_named() -> None:
    """Edge case 27 with chunked encoding."""
    verdict = put(UploadSession(), f"bytes 0-{Q - 1}/{2 * Q}", 2 * Q, length=None)

    assert (verdict.status, verdict.session.stored) == (400, Q)


def test_an_undeclared_body_that_is_too_short_keeps_what_came() -> None:
    """Edge case 26 with chunked encoding: the declared range is never credited."""
    verdict = put(UploadSession(), f"bytes 0-{3 * Q - 1}/*", 2 * Q + 5, length=None)

    assert (verdict.status, verdict.session.stored) == (308, 2 * Q)


def test_a_body_shorter_than_the_stored_bytes_completes_nothing() -> None:
    verdict = put(UploadSession(stored=2 * Q), "bytes 0-*/*", Q)

    assert (verdict.status, verdict.session.state) == (308, UploadState.OPEN)


@pytest.mark.spec("A3-13", "A3-13a", "A3-13b")
def test_a_week_of_silence_ends_a_session_and_any_request_renews_it() -> None:
    """Edge case 41."""
    hour = 3600.0
    renewed = put(UploadSession(stored=Q), "bytes */*", 0, now=LIFETIME - hour).session

    assert put(renewed, "bytes */*", 0, now=2 * LIFETIME - 2 * hour).status == 308
    for wrong, status in ((f"bytes {Q}-{Q + 9}/*", 400), (f"bytes {9 * Q}-{10 * Q - 1}/*", 503)):
        refused = put(UploadSession(stored=Q), wrong, 10 if status == 400 else Q, now=LIFETIME - hour)
        assert refused.status == status
        assert put(refused.session, "bytes */*", 0, now=2 * LIFETIME - 2 * hour).status == 308
    for question in (None, "bytes */*", f"bytes 0-{Q - 1}/*"):
        verdict = put(renewed, question, 0 if question != f"bytes 0-{Q - 1}/*" else Q, now=2 * LIFETIME)
        assert (verdict.status, verdict.session.state) == (404, UploadState.EXPIRED)
    assert cancel(renewed, RULE, 2 * LIFETIME).status == 404


@pytest.mark.spec("A3-18")
def test_a_complete_session_answers_the_same_to_everything() -> None:
    """Edge cases 14, 43 and the repeated last chunk."""
    done = UploadSession(2 * Q, 2 * Q, 0.0, UploadState.COMPLETE)

    for content_range, body in (("bytes */*", 0), (f"bytes {Q}-{2 * Q - 1}/{2 * Q}", Q), (None, 7)):
        assert put(done, content_range, body) == SessionDecision(done, 200, "A3-18")
    assert cancel(done, RULE, 0.0).status == 200


def test_a_cancelled_session_stays_cancelled() -> None:
    cancelled = cancel(UploadSession(stored=Q), RULE, 0.0)

    assert (cancelled.status, cancelled.session.state) == (499, UploadState.CANCELLED)
    assert put(cancelled.session, "bytes */*", 0).status == 499
