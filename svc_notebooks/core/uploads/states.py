"""The resumable upload: one transition table, for the service and for the client.

Rule 1: every move of an upload session is a row of `TRANSITIONS`, in the order of the interface's table
(States and transitions, Resumable upload session). A move that has no row does not exist: looking it up
raises `IllegalUploadTransition`.

Rule 2: this file does not know which side it runs on. The service (`session.py`) asks the table what happens
next and answers the row's status; the client (`client_state_machine.py`) reads an answer's status backwards through
`EVENT_BY_STATUS` and makes the same move in its own copy. So both sides hold the same state whenever an answer
arrives, and a client that missed an answer knows that it must ask.

A session keeps counts and a deadline, never bytes, and this file keeps neither.

                    PART, QUERY, REFUSED, GAP
                         ┌──────┐
    NONE ──ACCEPTED──► OPEN ◄───┘ ──ALL──► COMPLETE ──SILENCE──► EXPIRED
                         │  └────SILENCE─────────────────────────►  ▲
                         └──CANCEL──► CANCELLED ──SILENCE───────────┘
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..errors.decision_ids import CANCELLED, CONTRADICTION, FINISHED

QUANTUM = 262_144
"""Chunks are multiples of so many bytes, the last one excepted (256 x 1024)."""

LIFETIME = 7 * 86_400.0
"""Seconds of inactivity after which a session is gone (1 week)."""


class UploadState(Enum):
    """Where an upload session stands."""

    NONE = "none"
    OPEN = "open"
    COMPLETE = "complete"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class UploadEvent(Enum):
    """What happens to an upload session."""

    ACCEPTED = "the initiation is accepted"
    PART = "bytes arrive and bytes are still missing"
    ALL = "all bytes have arrived"
    QUERY = "a status query"
    REFUSED = "a request that contradicts itself or the session"
    GAP = "a chunk that starts beyond the stored bytes"
    CANCEL = "the client cancels"
    SILENCE = "a week without a request"


class Transition(NamedTuple):
    """The state that follows, the status that is answered, and the rule or choice that says so."""

    state: UploadState
    status: int
    decided_by: str


class IllegalUploadTransition(Exception):
    """An event that cannot happen in this state."""


TRANSITIONS: dict[tuple[UploadState, UploadEvent], Transition] = {
    (UploadState.NONE, UploadEvent.ACCEPTED): Transition(UploadState.OPEN, 200, "A3-01"),
    (UploadState.OPEN, UploadEvent.ALL): Transition(UploadState.COMPLETE, 200, "A3-08"),
    (UploadState.OPEN, UploadEvent.PART): Transition(UploadState.OPEN, 308, "A3-06"),
    (UploadState.OPEN, UploadEvent.QUERY): Transition(UploadState.OPEN, 308, "A3-09"),
    (UploadState.OPEN, UploadEvent.REFUSED): Transition(UploadState.OPEN, 400, CONTRADICTION),
    (UploadState.OPEN, UploadEvent.GAP): Transition(UploadState.OPEN, 503, "A3-11"),
    (UploadState.OPEN, UploadEvent.CANCEL): Transition(UploadState.CANCELLED, 499, CANCELLED),
    (UploadState.OPEN, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.COMPLETE, UploadEvent.ALL): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.PART): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.QUERY): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.CANCEL): Transition(UploadState.COMPLETE, 200, FINISHED),
    (UploadState.COMPLETE, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.CANCELLED, UploadEvent.ALL): Transition(UploadState.CANCELLED, 499, CANCELLED),
    (UploadState.CANCELLED, UploadEvent.PART): Transition(UploadState.CANCELLED, 499, CANCELLED),
    (UploadState.CANCELLED, UploadEvent.QUERY): Transition(UploadState.CANCELLED, 499, CANCELLED),
    (UploadState.CANCELLED, UploadEvent.CANCEL): Transition(UploadState.CANCELLED, 499, CANCELLED),
    (UploadState.CANCELLED, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.EXPIRED, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
}

EVENT_BY_STATUS: dict[int, UploadEvent] = {
    200: UploadEvent.ALL,
    201: UploadEvent.ALL,
    308: UploadEvent.PART,
    404: UploadEvent.SILENCE,
    410: UploadEvent.SILENCE,
    499: UploadEvent.CANCEL,
}
"""What a client concludes from the status of an answer on a session URI; other statuses move nothing."""


def transition(state: UploadState, event: UploadEvent) -> Transition:
    """What follows from this event in this state.

    >>> transition(UploadState.OPEN, UploadEvent.GAP)
    Transition(state=<UploadState.OPEN: 'open'>, status=503, decided_by='A3-11')
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalUploadTransition(f"{event.value}: impossible for an upload that is {state.value}") from None


@dataclass(frozen=True, slots=True)
class UploadRule:
    """The numbers of the session protocol, which tests make small.

    `strict` refuses every chunk before the last that is no multiple of the quantum; otherwise only those
    below one quantum are refused and longer ones are kept down to the whole multiple (A3-10).
    """

    quantum: int = QUANTUM
    lifetime: float = LIFETIME
    strict: bool = False

    def floor(self, size: int) -> int:
        """The largest multiple of the quantum that is not above `size`."""
        return size - size % self.quantum
