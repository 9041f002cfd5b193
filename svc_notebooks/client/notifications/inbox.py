"""What a receiver has been told: messages, each once, and what it answers to the next (A11).

No sockets here: `receive` is a function from a request to an answer, whoever carries it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Condition

from ...core.brand_names import Names
from ...core.clock import Clock
from ...core.http.messages import Headers, Request, Response, as_body
from ...core.notifications.messages import Notification, read_notification

_MAX_BODY = 1024 * 1024
_Key = tuple[str | None, int | None, bool | None]
_OK, _FORBIDDEN, _BAD, _TOO_LARGE = 200, 403, 400, 413


@dataclass(slots=True)
class Received:
    """One message; `received` is when it came first, `answers` what was answered each time that it came."""

    notification: Notification
    headers: Headers
    received: datetime
    verified: bool | None
    answers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _PlannedResponse:
    """What the next so many messages are answered; None: all that follow."""

    status: int
    delay: float
    times: int | None


class Inbox:
    """The messages of one receiver. Threads may share it."""

    def __init__(self, names: Names, clock: Clock) -> None:
        self._names = names
        self._clock = clock
        self._changed = Condition()
        self._messages: dict[_Key, Received] = {}
        self._tokens: dict[str, str | None] = {}
        self._planned: list[_PlannedResponse] = []
        self._default = _PlannedResponse(_OK, 0.0, None)
        self._listeners: list[Callable[[], None]] = []

    def expect(self, channel_id: str, token: str | None) -> None:
        """From now on messages of this channel must carry this token; None: must carry none."""
        self._tokens[channel_id] = token

    def answer_with(self, status: int, *, times: int | None, delay: float) -> None:
        """What the next messages are answered; None: from now on, whatever was said before."""
        with self._changed:
            if times is None:
                self._default = _PlannedResponse(status, delay, None)
                self._planned.clear()
            else:
                self._planned.append(_PlannedResponse(status, delay, times))

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this after every message, in the thread that took it; what is returned ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def receive(self, request: Request) -> tuple[Response, float]:
        """The answer to a message, and after how many seconds it is to be given."""
        body = as_body(request.body).read(_MAX_BODY + 1)
        if len(body) > _MAX_BODY:
            return _answer(_TOO_LARGE), 0.0
        notification = read_notification(request.headers, body, self._names)
        if notification.channel_id is None or notification.number is None or notification.state is None:
            return _answer(_BAD), 0.0
        with self._changed:
            status, delay = self._store(notification, request.headers)
            self._changed.notify_all()
        for listener in list(self._listeners):
            listener()
        return _answer(status), delay

    def _store(self, notification: Notification, headers: Headers) -> tuple[int, float]:
        verified = self._verified(notification)
        key = (notification.channel_id, notification.number, verified)  # the same each time that a message is sent
        message = self._messages.setdefault(key, Received(notification, headers, self._clock.now(), verified))
        answer = _PlannedResponse(_FORBIDDEN, 0.0, None) if message.verified is False else self._next_answer()
        message.answers.append(answer.status)
        return answer.status, answer.delay

    def _verified(self, notification: Notification) -> bool | None:
        """Whether it carries the token that its channel was given; None: nobody has told of this channel."""
        if notification.channel_id not in self._tokens:
            return None
        return same_token(self._tokens[notification.channel_id], notification.token)

    def _next_answer(self) -> _PlannedResponse:
        while self._planned and self._planned[0].times == 0:
            self._planned.pop(0)
        if not self._planned:
            return self._default
        self._planned[0].times = (self._planned[0].times or 1) - 1
        return self._planned[0]

    def messages(self) -> list[Received]:
        """All messages, in the order in which they came first."""
        with self._changed:
            return list(self._messages.values())

    def wait_for(self, matches: Callable[[Received], bool], count: int, seconds: float) -> list[Received]:
        """The messages that are wanted, when there are so many of them, or when the time is over."""

        def matching() -> list[Received]:
            return [message for message in self._messages.values() if matches(message)]

        with self._changed:
            self._changed.wait_for(lambda: len(matching()) >= count, seconds)
            return matching()

    def clear(self) -> None:
        """Forget all messages; tokens and answers stay."""
        with self._changed:
            self._messages.clear()


def same_token(expected: str | None, shown: str | None) -> bool:
    """Whether two tokens are the same, or both are missing; it takes as long whichever characters differ."""
    if expected is None or shown is None:
        return expected is shown
    return hmac.compare_digest(expected.encode("utf-8", "replace"), shown.encode("utf-8", "surrogateescape"))


def _answer(status: int) -> Response:
    return Response(status, Headers([("Content-Length", "0")]))
