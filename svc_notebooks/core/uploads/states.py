"""The resumable upload: one transition table, for the service and for the client.

Rule 1: every move of an upload session is a row of `TRANSITIONS`, in the order of the interface's table
(States and transitions, Resumable upload session). A move that has no row does not exist: looking it up
raises `IllegalTransition`.

Rule 2: this file does not know which side it runs on. The service (`session.py`) asks the table what happens
next and answers the row's status; the client (`resume.py`) reads an answer's status backwards through
`HEARD` and makes the same move in its own copy. So both sides hold the same state whenever an answer
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

from ..errors.decisions import CANCELLED, CONTRADICTION, FINISHED

QUANTUM = 262_144
"""Chunks are multiples of so many bytes, the last one excepted (256 x 1024)."""

LIFETIME = 7 * 86_400.0
"""Seconds of inactivity after which a session is gone (1 week)."""


class State(Enum):
    """Where an upload session stands."""

    NONE = "none"
    OPEN = "open"
    COMPLETE = "complete"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Event(Enum):
    """What happens to an upload session."""

    ACCEPTED = "the initiation is accepted"
    PART = "bytes arrive and bytes are still missing"
    ALL = "all bytes have arrived"
    QUERY = "a status query"
    REFUSED = "a request that contradicts itself or the session"
    GAP = "a chunk that starts beyond the stored bytes"
    CANCEL = "the client cancels"
    SILENCE = "a week without a request"


class Move(NamedTuple):
    """The state that follows, the status that is answered, and the rule or choice that says so."""

    state: State
    status: int
    decided_by: str


class IllegalTransition(Exception):
    """An event that cannot happen in this state."""


TRANSITIONS: dict[tuple[State, Event], Move] = {
    (State.NONE, Event.ACCEPTED): Move(State.OPEN, 200, "A3-01"),
    (State.OPEN, Event.ALL): Move(State.COMPLETE, 200, "A3-08"),
    (State.OPEN, Event.PART): Move(State.OPEN, 308, "A3-06"),
    (State.OPEN, Event.QUERY): Move(State.OPEN, 308, "A3-09"),
    (State.OPEN, Event.REFUSED): Move(State.OPEN, 400, CONTRADICTION),
    (State.OPEN, Event.GAP): Move(State.OPEN, 503, "A3-11"),
    (State.OPEN, Event.CANCEL): Move(State.CANCELLED, 499, CANCELLED),
    (State.OPEN, Event.SILENCE): Move(State.EXPIRED, 404, "A3-13"),
    (State.COMPLETE, Event.ALL): Move(State.COMPLETE, 200, "A3-18"),
    (State.COMPLETE, Event.PART): Move(State.COMPLETE, 200, "A3-18"),
    (State.COMPLETE, Event.QUERY): Move(State.COMPLETE, 200, "A3-18"),
    (State.COMPLETE, Event.CANCEL): Move(State.COMPLETE, 200, FINISHED),
    (State.COMPLETE, Event.SILENCE): Move(State.EXPIRED, 404, "A3-13"),
    (State.CANCELLED, Event.ALL): Move(State.CANCELLED, 499, CANCELLED),
    (State.CANCELLED, Event.PART): Move(State.CANCELLED, 499, CANCELLED),
    (State.CANCELLED, Event.QUERY): Move(State.CANCELLED, 499, CANCELLED),
    (State.CANCELLED, Event.CANCEL): Move(State.CANCELLED, 499, CANCELLED),
    (State.CANCELLED, Event.SILENCE): Move(State.EXPIRED, 404, "A3-13"),
    (State.EXPIRED, Event.SILENCE): Move(State.EXPIRED, 404, "A3-13"),
}

HEARD: dict[int, Event] = {
    200: Event.ALL,
    201: Event.ALL,
    308: Event.PART,
    404: Event.SILENCE,
    410: Event.SILENCE,
    499: Event.CANCEL,
}
"""What a client concludes from the status of an answer on a session URI; other statuses move nothing."""


def move(state: State, event: Event) -> Move:
    """What follows from this event in this state.

    >>> move(State.OPEN, Event.GAP)
    Move(state=<State.OPEN: 'open'>, status=503, decided_by='A3-11')
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event.value}: impossible for an upload that is {state.value}") from None


@dataclass(frozen=True, slots=True)
class UploadRule:
    """The numbers of the session protocol, which tests make small.

    `strict` refuses every chunk before the last that is no multiple of the quantum; otherwise only those
    below one quantum are refused and longer ones are kept down to the whole multiple (A3-10).
    """

    quantum: int = QUANTUM
    lifetime: float = LIFETIME
    strict: bool = False

    def whole(self, size: int) -> int:
        """The largest multiple of the quantum that is not above `size`."""
        return size - size % self.quantum
