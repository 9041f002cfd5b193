"""A connection while no thread serves it: bytes are collected as they come, until a deadline."""

from __future__ import annotations

import select
import socket
import ssl
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from operator import attrgetter
from typing import Protocol

from ...core.errors.catalogue import ApiError, Row, refuse
from ...core.errors.decision_ids import UNREADABLE
from ...core.policy import Policy
from ..context.responses import error_response
from .connection_queue import LaneTable
from .http1 import UNREADABLE_REASONS, head
from .request_head import BUFFER, RequestReader, credential
from .tls import TlsHandshake, TlsSocket
from .transfer_rate import TransferBudget

IDLE_SECONDS = 65
_REFUSED = {408: "requestTimeout", 413: "uploadTooLarge", 414: "uriTooLong", 500: "backendError", 503: "backendError"}
_NEXT_REQUEST_MILLISECONDS = (
    5  # milliseconds that a thread waits for the next request of its connection before it goes elsewhere
)
_MAX_LINGER_BYTES = 64 * 1024 * 1024
_LINGER_SECONDS = 2.0
_MAX_LINGER_SECONDS = 30.0


class ConnectionServer(Protocol):
    """What a connection asks of its server."""

    base_url: str
    policy: Policy
    users: LaneTable


class WaitingConnection(ABC):
    """A connection that waits for the head of a request."""

    server: ConnectionServer
    socket: socket.socket
    rfile: RequestReader
    remote_addr: str | None

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.lane = ""
        self.handshake = TlsHandshake(tls) if tls else None
        self.deadline = time.monotonic() + (self.handshake.seconds if self.handshake else IDLE_SECONDS)

    @property
    def token(self) -> str | None:
        """The access token of the request that has come, whatever it is worth."""
        return credential(self.rfile.head)

    def collect(self) -> bool:
        """Take what has come, and wait for nothing; whether a thread has something to do with this connection."""
        if self.handshake and not self._advance_handshake(self.handshake):
            return self.handshake.failed
        had = bool(self.rfile.head)
        is_ready = self.rfile.collect()
        if self.rfile.head and not had:
            self.deadline = time.monotonic() + self.server.policy.head_timeout
        self.lane = self.lane_of_request()
        return is_ready

    def lane_of_request(self) -> str:
        """The lane of the request that has come, by what is known now."""
        return self.server.users.lane(self.token, str(self.remote_addr))

    def _advance_handshake(self, handshake: TlsHandshake) -> bool:
        is_over = handshake.advance(self.socket)
        if handshake.secured:
            self.socket = handshake.secured
        if is_over:
            self.handshake = None
            self.rfile.use(self.socket)
            self.wait_for_request()
        return is_over

    def wait_for_request(self) -> None:
        """Wait for another request."""
        self.rfile.set_budget(None)
        self.deadline = time.monotonic() + IDLE_SECONDS

    def has_more_soon(self) -> bool:
        """Wait a moment for more to come."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(_NEXT_REQUEST_MILLISECONDS))

    def expire(self) -> None:
        """Close it at its deadline; who has begun a request is told why."""
        if self.rfile.head and not self.handshake:
            with suppress(OSError):
                self.socket.settimeout(0)
                self.socket.send(unreadable_response(408, UNREADABLE_REASONS[408]))
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def end_handshake(self) -> None:
        """There will be none; who speaks something else than TLS is told so."""
        if self.handshake and not self.handshake.secured:
            refusal = error_response(refuse("badRequest", message=f"This is an https address: {self.server.base_url}"))
            with suppress(OSError):
                self.socket.settimeout(_LINGER_SECONDS)
                self.socket.sendall(head(refusal, connection="close") + refusal.content())
            self.lingering_close()

    def lingering_close(self) -> None:
        """Let the peer finish: a connection closed on unread bytes would take the answer with it."""
        left, end = _MAX_LINGER_BYTES, time.monotonic() + _MAX_LINGER_SECONDS
        with suppress(OSError, ValueError):
            self.shut_down_tls()
            self.socket.shutdown(socket.SHUT_WR)
            self.rfile.set_budget(TransferBudget(_LINGER_SECONDS, self.server.policy.least_rate))
            while left > 0 and time.monotonic() < end and (block := self.rfile.read1(BUFFER)):
                left -= len(block)

    def shut_down_tls(self) -> None:
        """End TLS, where it is spoken."""
        if isinstance(self.socket, TlsSocket):
            self.socket.close_notify()


def unreadable_response(status: int, reason: str) -> bytes:
    """The answer to what is no request, or not all of one."""
    row = Row(status, _REFUSED.get(status, "badRequest"), UNREADABLE, f"The request cannot be read: {reason}.")
    refusal = error_response(ApiError([row]))
    return head(refusal, connection="close") + refusal.content()


def overdue(waiting: list[WaitingConnection], most: int) -> list[WaitingConnection]:
    """The connections to close: those whose deadline is over, and the next ones where there are more than `most`."""
    now, surplus = time.monotonic(), len(waiting) - most
    by_deadline = sorted(waiting, key=attrgetter("deadline"))
    return [connection for index, connection in enumerate(by_deadline) if index < surplus or connection.deadline <= now]
