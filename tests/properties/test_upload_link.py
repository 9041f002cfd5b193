"""Tests of the client's and the service's half of a resumable upload over an unreliable link.

The link cuts requests before and after they act, cuts bodies anywhere, answers 5xx before or after the bytes
were taken, and loses answers. Whatever it does, what is stored is a prefix of the content, and in the end the
content is there exactly once. Chunks are counted in units of 4 bytes, so that hundreds of uploads run a second.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.ranges import ByteSpan, ContentRange, format_stored
from svc_notebooks.core.uploads import client_state_machine, transitions
from svc_notebooks.core.uploads.server_state_machine import (
    ReceivedBody,
    SessionDecision,
    UploadSession,
    after_body,
    before_body,
)
from tests.examples import examples

RULE = transitions.UploadRule(quantum=4)
FAULTS = ("none", "before", "after", "cut", "503 before", "503 after", "308 bare")


@dataclass
class Service:
    session: UploadSession = field(default_factory=lambda: UploadSession(state=transitions.UploadState.OPEN))
    content: bytes = b""
    files: list[bytes] = field(default_factory=list)

    def begin(self) -> client_state_machine.ResponseFacts:
        self.session = UploadSession(
            state=transitions.transition(transitions.UploadState.NONE, transitions.UploadEvent.ACCEPTED).state
        )
        self.content = b""
        return client_state_machine.ResponseFacts(200)

    def put(
        self, content_range: ContentRange | None, body: bytes, declared: int, now: float
    ) -> client_state_machine.ResponseFacts:
        intake = before_body(self.session, content_range, declared, RULE, now)
        if isinstance(intake, SessionDecision):
            return self._answer(intake)
        rest = body[intake.skip :]
        taken = rest if intake.take is None else rest[: intake.take]
        received = ReceivedBody(len(taken), broken=len(body) < declared, overlong=len(taken) < len(rest))
        verdict = after_body(self.session, intake, received, RULE, now)
        self.content = (self.content + taken)[: verdict.session.stored]
        return self._answer(verdict)

    def _answer(self, verdict: SessionDecision) -> client_state_machine.ResponseFacts:
        if verdict.session.state is transitions.UploadState.COMPLETE is not self.session.state:
            self.files.append(self.content[: verdict.session.stored])
        self.session = verdict.session
        return client_state_machine.ResponseFacts(
            verdict.status, format_stored(verdict.session.stored) if verdict.status == 308 else None
        )


def run(content: bytes, known: bool, chunk: int | None, faults: list[tuple[str, int]]) -> Service:
    """Upload the content over a link with these faults. Return the service."""
    service, total, rule = Service(), len(content) if known else None, RetryRule(patience=1e9)
    machine = client_state_machine.ResumableUpload(total, chunk, retry=rule, restarts=0, now=0.0)
    script = iter(faults)
    for now in range(500):
        step = machine.next_step()
        match step:
            case client_state_machine.Done():
                return service
            case client_state_machine.Wait():
                machine.end_wait()
                continue
            case client_state_machine.Begin():
                machine.feed(service.begin(), now, 0.0)
                continue
        assert not isinstance(step, client_state_machine.Failed)
        carry_out(step, machine, service, content, next(script, ("none", 0)), float(now))
        assert content.startswith(service.content), "what is stored is a prefix of the content"
    raise AssertionError("the upload never ends")


def carry_out(step, machine, service, content, fault, now):
    if isinstance(step, client_state_machine.QueryStatus):
        content_range, body = ContentRange(None, step.total), b""
    else:
        body = content[step.first :][: step.size]
        total = step.total
        if total is None and (step.size is None or len(body) < step.size):
            total = len(content)
            machine.total = total
        content_range = step.content_range(len(body), total)
        machine.note_sent(step.first + len(body))
    kind, where = fault
    if kind in ("before", "503 before"):
        answer = None
    else:
        arrived = body[: where % (len(body) + 1)] if kind == "cut" else body
        answer = service.put(content_range, arrived, len(body), now)
    if kind in ("before", "cut", "after"):
        machine.lose_connection(now, 0.0)
    elif kind.startswith("503") or (kind == "308 bare" and answer.status == 308):
        machine.feed(client_state_machine.ResponseFacts(int(kind[:3])), now, 0.0)
    else:
        machine.feed(answer, now, 0.0)


@pytest.mark.spec("A3-12", "A3-18", "A3-20", "A3-21", "A3-21a", "A3-21b")
@examples(2)
@given(
    size=st.integers(0, 40),
    known=st.booleans(),
    chunk=st.sampled_from([None, 4, 8, 12]),
    faults=st.lists(st.tuples(st.sampled_from(FAULTS), st.integers(0, 40)), max_size=30),
)
def test_whatever_the_link_does_the_content_arrives_once(size, known, chunk, faults):
    content = bytes(range(1, size + 1))

    assert run(content, known, chunk, faults).files == [content]


def test_the_last_chunk_of_an_unknown_total_has_the_total():
    step = client_state_machine.Send(8, 4, None)

    assert step.content_range(2, 10) == ContentRange(ByteSpan(8, 9), 10)
    assert step.content_range(0, 8) == ContentRange(None, 8)


def test_an_illegal_transition_is_a_missing_row_and_every_state_but_none_can_expire():
    with pytest.raises(transitions.IllegalUploadTransition, match="expired"):
        transitions.transition(transitions.UploadState.EXPIRED, transitions.UploadEvent.PART)
    can_expire = {state for state, event in transitions.TRANSITIONS if event is transitions.UploadEvent.SILENCE}
    assert can_expire == set(transitions.UploadState) - {transitions.UploadState.NONE}
