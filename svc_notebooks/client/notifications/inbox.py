"""Stores each received message once, and determines the responses (A11). Uses no sockets."""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Condition, Thread, get_ident

from ...core.brand_names import Names
from ...core.errors.public_calls import show_error
from ...core.http.messages import Headers, Request, Response, as_body
from ...core.notifications.deliveries import Notification, read_notification
from ...core.platform import capabilities
from ...core.times import Clock

_MAX_BODY = 64 * 1024
# The most messages that are kept. Above it, each new one replaces the oldest that is not of a known channel.
_MAX_MESSAGES = 10_000

_Key = tuple[str | None, int | None, bool | None]
_OK, _FORBIDDEN, _BAD, _TOO_LARGE, _FULL = 200, 403, 400, 413, 503


@dataclass(slots=True)
class Received:
    """A received message, its first arrival time, and the response status for each arrival.

    `verified` is True if the message had its channel's token, False if not, and None for an unknown channel.
    """

    notification: Notification
    headers: Headers
    received: datetime
    verified: bool | None
    answers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _PlannedResponse:
    """The status and the delay in seconds of the next `times` responses, or of all if `times` is None."""

    status: int
    delay: float
    times: int | None = None


class Inbox:
    """The messages of one receiver. Thread-safe."""

    def __init__(self, names: Names, clock: Clock) -> None:
        self._names = names
        self._clock = clock
        self._changed = Condition()
        self._messages: dict[_Key, Received] = {}
        self._tokens: dict[str, str | None] = {}
        self._planned: list[_PlannedResponse] = []
        self._default = _PlannedResponse(_OK, 0.0)
        self._listeners: list[Callable[[Received], object]] = []
        self._unheard: deque[Received] = deque()
        self._listening: int | None = None  # the thread that calls the listeners now

    def expect(self, channel_id: str, token: str | None) -> None:
        """Set the token that verifies the messages of a channel. None means that messages must have no token."""
        self._tokens[channel_id] = token

    def answer_with(self, status: int, *, times: int | None, delay: float) -> None:
        """Set the status and delay in seconds of the next `times` responses, or of all later responses if None."""
        with self._changed:
            if times is None:
                self._default = _PlannedResponse(status, delay)
                self._planned.clear()
            else:
                self._planned.append(_PlannedResponse(status, delay, times))

    def listen(self, listener: Callable[[Received], object]) -> Callable[[], None]:
        """Register a function that `notify` calls with each message. Returns a function to unregister."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def notify(self) -> None:
        """Call the listeners with the messages that they have not had, one after another, in a thread of their own.

        The transport calls this after the response, so that a slow listener delays no response.
        """
        with self._changed:
            if self._listening is not None or not self._unheard:
                return
            self._listening = -1
        if capabilities().threads:
            Thread(target=self._call_listeners, name="svc-listener", daemon=True).start()
        else:
            self._call_listeners()

    def _call_listeners(self) -> None:
        while True:
            with self._changed:
                self._listening = get_ident() if self._unheard else None
                self._changed.notify_all()
                if not self._unheard:
                    return
                message = self._unheard.popleft()
            for listener in list(self._listeners):
                try:
                    listener(message)
                except Exception as error:
                    show_error("A listener failed for a message, which was delivered:", error)

    def wait_for_listeners(self, seconds: float) -> None:
        """Wait until the listeners have had all messages, or `seconds` have passed. A listener does not wait."""
        with self._changed:
            if self._listening != get_ident():
                self._changed.wait_for(lambda: self._listening is None and not self._unheard, seconds)

    def receive(self, request: Request) -> tuple[Response, float]:
        """Store a message, and return the response and its delay in seconds. Invalid messages get a 400 or 413."""
        body = as_body(request.body).read(_MAX_BODY + 1)
        status, delay = _TOO_LARGE, 0.0
        if len(body) <= _MAX_BODY:
            notification = read_notification(request.headers, body, self._names)
            if notification.channel_id is None or notification.number is None or notification.state is None:
                status = _BAD
            else:
                with self._changed:
                    status, delay = self._store(notification, notification.channel_id, request.headers)
                    self._changed.notify_all()
        return Response(status, Headers([("Content-Length", "0")])), delay

    def _store(self, notification: Notification, channel_id: str, headers: Headers) -> tuple[int, float]:
        """Store a new message or count a repeated arrival, and return the response status and delay in seconds."""
        verified = None
        if channel_id in self._tokens:
            verified = same_token(self._tokens[channel_id], notification.token)
        key = (channel_id, notification.number, verified)  # equal for each arrival of a message
        if len(self._messages) >= _MAX_MESSAGES and key not in self._messages:
            stray = next((key for key, message in self._messages.items() if not message.verified), None)
            if stray is None:
                return _FULL, 0.0  # the service sends it again later
            del self._messages[stray]
        message = self._messages.setdefault(key, Received(notification, headers, self._clock.now(), verified))
        response = self._default
        if verified is False:
            response = _PlannedResponse(_FORBIDDEN, 0.0)
        else:
            while self._planned and self._planned[0].times == 0:
                self._planned.pop(0)
            if self._planned:
                response = self._planned[0]
                response.times = (response.times or 1) - 1
        message.answers.append(response.status)
        if self._listeners:
            self._unheard.append(message)
        return response.status, response.delay

    def messages(self) -> list[Received]:
        """Return all messages in the order of first arrival."""
        with self._changed:
            return list(self._messages.values())

    def wait_for(self, matches: Callable[[Received], bool], count: int, seconds: float) -> list[Received]:
        """Wait until `count` messages match or `seconds` have passed, and return all matching messages."""

        def matching() -> list[Received]:
            return [message for message in self._messages.values() if matches(message)]

        with self._changed:
            self._changed.wait_for(lambda: len(matching()) >= count, seconds)
            return matching()

    def clear(self) -> None:
        """Remove all messages, but keep the channel tokens and planned responses."""
        with self._changed:
            self._messages.clear()


def same_token(expected: str | None, sent: str | None) -> bool:
    """Return True if two tokens are equal or both None. Compares in constant time, so that attackers learn nothing."""
    if expected is None or sent is None:
        return expected is sent
    return hmac.compare_digest(expected.encode("utf-8", "replace"), sent.encode("utf-8", "surrogateescape"))
