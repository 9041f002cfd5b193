import pytest

from svc_notebooks.core.http.ranges import ContentRange
from svc_notebooks.core.uploads.server_state_machine import (
    ReceivedBody,
    SessionDecision,
    UploadSession,
    after_body,
    before_body,
    cancel,
)
from svc_notebooks.core.uploads.transitions import (
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


def test_an_illegal_transition_is_a_missing_row():
    with pytest.raises(IllegalUploadTransition, match="expired"):
        transition(UploadState.EXPIRED, UploadEvent.PART)


def test_every_state_but_none_can_expire():
    assert {state for state, event in TRANSITIONS if event is UploadEvent.SILENCE} == set(UploadState) - {
        UploadState.NONE
    }


@pytest.mark.spec("A3-13", "A3-13a", "A3-13b")
def test_a_week_of_silence_ends_a_session_and_any_request_renews_it():
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
