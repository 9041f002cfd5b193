"""The states of a resumable upload, and one transition table for the service and the client.

Every transition is a row of `TRANSITIONS`, in the order of the interface's table (States and transitions, Resumable
upload session). The service looks up an event and sends the row's status. The client maps the status back to an event
with `EVENT_BY_STATUS` and makes the same transition. A client that missed a response queries the status.

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

# The size in bytes (256 x 1024) of which every chunk except the last is a multiple.
QUANTUM = 262_144

# The seconds without a request after which a session expires (1 week).
LIFETIME = 7 * 86_400.0


class UploadState(Enum):
    """The states of an upload session. NONE is the state before the service accepts an initiation."""

    __hash__ = object.__hash__  # members are compared by identity, and Enum.__hash__ is a slow Python function

    NONE = "none"
    OPEN = "open"
    COMPLETE = "complete"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class UploadEvent(Enum):
    """The events that can change the state of an upload session."""

    __hash__ = object.__hash__

    ACCEPTED = "the initiation is accepted"
    PART = "bytes arrive and bytes are still missing"
    ALL = "all bytes have arrived"
    QUERY = "a status query"
    REFUSED = "a request that contradicts itself or the session"
    GAP = "a chunk that starts beyond the stored bytes"
    CANCEL = "the client cancels"
    SILENCE = "a week without a request"


class Transition(NamedTuple):
    """The next state, the response status, and the rule or decision behind the transition."""

    state: UploadState
    status: int
    decided_by: str


class IllegalUploadTransition(Exception):
    """The event is impossible in the current state of an upload session."""


TRANSITIONS: dict[tuple[UploadState, UploadEvent], Transition] = {
    (UploadState.NONE, UploadEvent.ACCEPTED): Transition(UploadState.OPEN, 200, "A3-01"),
    (UploadState.OPEN, UploadEvent.ALL): Transition(UploadState.COMPLETE, 200, "A3-08"),
    (UploadState.OPEN, UploadEvent.PART): Transition(UploadState.OPEN, 308, "A3-06"),
    (UploadState.OPEN, UploadEvent.QUERY): Transition(UploadState.OPEN, 308, "A3-09"),
    (UploadState.OPEN, UploadEvent.REFUSED): Transition(UploadState.OPEN, 400, "A contradictory Content-Range"),
    (UploadState.OPEN, UploadEvent.GAP): Transition(UploadState.OPEN, 503, "A3-11"),
    (UploadState.OPEN, UploadEvent.CANCEL): Transition(UploadState.CANCELLED, 499, "A cancelled upload"),
    (UploadState.OPEN, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.COMPLETE, UploadEvent.ALL): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.PART): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.QUERY): Transition(UploadState.COMPLETE, 200, "A3-18"),
    (UploadState.COMPLETE, UploadEvent.CANCEL): Transition(UploadState.COMPLETE, 200, "A completed upload session"),
    (UploadState.COMPLETE, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.CANCELLED, UploadEvent.ALL): Transition(UploadState.CANCELLED, 499, "A cancelled upload"),
    (UploadState.CANCELLED, UploadEvent.PART): Transition(UploadState.CANCELLED, 499, "A cancelled upload"),
    (UploadState.CANCELLED, UploadEvent.QUERY): Transition(UploadState.CANCELLED, 499, "A cancelled upload"),
    (UploadState.CANCELLED, UploadEvent.CANCEL): Transition(UploadState.CANCELLED, 499, "A cancelled upload"),
    (UploadState.CANCELLED, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
    (UploadState.EXPIRED, UploadEvent.SILENCE): Transition(UploadState.EXPIRED, 404, "A3-13"),
}

# The event that a client infers from a response status. Other statuses do not change the state.
EVENT_BY_STATUS: dict[int, UploadEvent] = {
    200: UploadEvent.ALL,
    201: UploadEvent.ALL,
    308: UploadEvent.PART,
    404: UploadEvent.SILENCE,
    410: UploadEvent.SILENCE,
    499: UploadEvent.CANCEL,
}


def transition(state: UploadState, event: UploadEvent) -> Transition:
    """Return the transition of an event in a state. Raises IllegalUploadTransition if the table has no such row.

    >>> transition(UploadState.OPEN, UploadEvent.GAP)
    Transition(state=<UploadState.OPEN: 'open'>, status=503, decided_by='A3-11')
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        text = f"the event {event.value!r} is not possible for an upload in the state {state.value!r}"
        raise IllegalUploadTransition(text) from None


@dataclass(frozen=True, slots=True)
class UploadRule:
    """The limits of the upload protocol.

    The service refuses chunks below one quantum, and with `strict` every chunk that is not a multiple of the quantum,
    except the last chunk. Without `strict`, the service stores the largest multiple of the quantum (A3-10).
    """

    quantum: int = QUANTUM
    lifetime: float = LIFETIME
    strict: bool = False
