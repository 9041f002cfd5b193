"""A receiver of notifications in this kernel, and its messages as DataFrames (A11)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from ...client.notifications.inbox import Inbox, Received, same_token
from ...core.http.redaction import masked
from ...core.notifications.messages import HEADERS, STATES
from ...core.platform import capabilities
from ...core.process_fork import ForkedChild, after_fork
from ..arguments import choice, optional_text, whole
from ..frames.frames import Record, frame
from ..frames.schemas import EXPLAINED, MESSAGES

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.notifications.inbox import Inbox
    from ...core.brand_names import Names

    _Files = tuple[str | Path, str | Path]


_MAX_SECONDS = 3600
_SETTLE_SECONDS = 2.0
"""Seconds; a receiver that stalls, or another one that is dead, holds `wait_for` up no longer than that."""


_FORKED = "This receiver listens in process {process}, and this process is a fork of it."
_FORKED_ADVICE = "Look at its messages there, or make a receiver() here."


class Receiver:
    """A receiving URL: `address` is what a channel is given.

    It keeps every message once, however often it is sent, and says of each whether it carried the token of
    its channel. `answer_with` decides what the next messages are answered. As a context manager it is closed
    at the end.
    """

    def __init__(
        self,
        inbox: Inbox,
        names: Names,
        address: str,
        *,
        ca_pem: str | None,
        close: Callable[[], None],
        settle: Callable[[float], None] | None = None,
    ) -> None:
        self.address = address
        self.ca_pem = ca_pem
        """The authority of its certificate, in PEM, for a service that must be told to trust it."""
        self._inbox = inbox
        self._names = names
        self._close = close
        self._settle = settle
        self._closed = False
        self._process = os.getpid()
        after_fork(self, Receiver._reset_in_child)

    def _reset_in_child(self) -> None:
        """In a forked child: no message comes here, and nothing is closed."""
        self._closed, self._settle = True, None
        self._inbox = cast(Inbox, ForkedChild(_FORKED.format(process=self._process), _FORKED_ADVICE))

    def __repr__(self) -> str:
        return f"<Receiver: {_message_count(len(self._inbox.messages()))}>"

    def __enter__(self) -> Receiver:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take no more messages; those that came can still be looked at."""
        if not self._closed:
            self._closed = True
            self._close()

    def answer_with(self, status: int, *, times: int | None = None, delay: float = 0) -> None:
        """Decide what messages are answered.

        Args:
            status: 200, 201, 202, 204 and 102 count as delivered; after 500, 502, 503 and 504 the service
                tries again; any other is a failure (N-08). A 102 is sent alone, with no final status behind it.
            times: So many messages, and then as before; None: all from now on.
            delay: Seconds to stall before each answer, in real time; a direct receiver never stalls.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> rx.answer_with(503, times=1)
        >>> channel = svc.watch_changes(rx)
        >>> lab.clock.advance("10s").second
        10
        >>> rx.messages()[["state", "tries", "answers"]].values.tolist()
        [['sync', 2, '503, 200']]
        """
        whole("status", status, 102, 599)
        if times is not None:
            whole("times", times, 1)
        self._inbox.answer_with(status, times=times, delay=_seconds("delay", delay))

    def wait_for(
        self, state: str | None = None, *, channel: str | None = None, count: int = 1, timeout: float = 10
    ) -> DataFrame:
        """Wait until messages have come; those that match.

        Args:
            state: sync, add, remove, update, trash, untrash or change; None: any.
            channel: The id of a channel; None: any.
            count: How many must have come.
            timeout: Seconds of real time; a virtual clock does not matter, and does not move.

        Returns:
            The frame of `messages()`, with those that match.

        Raises:
            TimeoutError: They did not come; it says what did.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> channel = svc.watch_changes(rx)
        >>> rx.wait_for("sync")["number"].tolist()
        [1]
        """
        if state is not None:
            choice("state", state, STATES)
        optional_text("channel", channel)
        whole("count", count, 1)
        ends = monotonic() + _seconds("timeout", timeout)
        if self._settle:  # so that what else is on its way is in the frame, too
            self._settle(min(timeout, _SETTLE_SECONDS))
        left = (
            max(0.0, ends - monotonic()) if capabilities().threads else 0.0
        )  # else nobody else can send anything meanwhile
        matches = self._inbox.wait_for(lambda message: _matches(message, state, channel), count, left)
        if len(matches) < count:
            arrived = ", ".join(str(message.notification.state) for message in self._inbox.messages()) or "nothing"
            expected = f"{count} of {state or 'any state'}{f' on channel {channel}' if channel else ''}"
            raise TimeoutError(f"waited {timeout:g} seconds for {expected}; what came is: {arrived}")
        return frame(MESSAGES, [message_record(message) for message in matches])

    def messages(self) -> DataFrame:
        """Every message, once, in the order in which they came first.

        Returns:
            One row each: received (datetime64[ms, UTC], the first time), channel_id (str), number (Int64),
            state, changed (str), verified (boolean: whether it carried its channel's token; missing for a
            channel that this receiver does not know), tries (Int64: how often it came), answers (str: what
            each try was answered), resource_id, resource_uri (str), expiration (datetime64[ms, UTC]),
            token (str: its first characters and its length; missing where the message carried none),
            content_type (str), content_length (Int64, bytes), kind (str, of the body).
        """
        return frame(MESSAGES, [message_record(message) for message in self._inbox.messages()])

    def explain(self, n: int = -1) -> DataFrame:
        """The headers of a message, one by one: header, value, meaning (str).

        Of a token the first characters and the length are shown; `check_token` compares it with a whole one.

        Args:
            n: Which message of `messages()`; -1 is the last.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> channel = svc.watch_changes(rx)
        >>> rx.wait_for("sync").size > 0 and rx.explain()["header"].tolist()[:2]
        ['X-Svc-Channel-ID', 'X-Svc-Message-Number']
        """
        return frame(EXPLAINED, explained_headers(self._message(n), self._names))

    def check_token(self, token: str | None, n: int = -1) -> bool:
        """Whether a message carried this token; None: whether it carried none.

        Args:
            token: The channel's token, whole.
            n: Which message of `messages()`; -1 is the last.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> channel = svc.watch_changes(rx, token="ponds of the north")
        >>> rx.wait_for("sync")["token"].tolist()
        ['pond… (18 characters)']
        >>> rx.check_token("ponds of the north"), rx.check_token("ponds of the south")
        (True, False)
        """
        return same_token(optional_text("token", token), self._message(n).notification.token)

    def _message(self, n: object) -> Received:
        received = self._inbox.messages()
        if isinstance(n, bool) or not isinstance(n, int) or not -len(received) <= n < len(received):
            raise ValueError(
                f"n is {n!r}, and there are {_message_count(len(received))}, counted from 0; -1 is the last"
            )
        return received[n]

    def clear(self) -> None:
        """Forget the messages that have come."""
        self._inbox.clear()

    def expect(self, channel_id: str, token: str | None) -> None:
        """Let messages of this channel be verified by this token; `watch_file` and `watch_changes` do it."""
        self._inbox.expect(channel_id, token)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this after every message, in whatever thread took it; what is returned ends it."""
        return self._inbox.listen(listener)

    def received(self) -> list[Received]:
        """The messages as values, for views."""
        return self._inbox.messages()


def _matches(message: Received, state: str | None, channel: str | None) -> bool:
    notification = message.notification
    return state in (None, notification.state) and channel in (None, notification.channel_id)


def _seconds(argument: str, value: float) -> float:
    """The value, if it is a number of seconds within an hour."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_SECONDS:
        raise ValueError(f"{argument} is {value!r}; it must be a number of seconds from 0 to {_MAX_SECONDS}")
    return float(value)


def _message_count(count: int) -> str:
    return f"{count or 'no'} message{'' if count == 1 else 's'}"


def message_record(message: Received) -> Record:
    """A message as a row of `MESSAGES`."""
    notification, length = message.notification, message.headers.get("Content-Length")
    return {
        "received": message.received,
        "channel_id": notification.channel_id,
        "number": notification.number,
        "state": notification.state,
        "changed": ",".join(notification.changed) or None,
        "verified": message.verified,
        "tries": len(message.answers),
        "answers": ", ".join(map(str, message.answers)),
        "resource_id": notification.resource_id,
        "resource_uri": notification.resource_uri,
        "expiration": notification.expiration,
        "token": None if notification.token is None else masked(notification.token),
        "content_type": message.headers.get("Content-Type"),
        "content_length": int(length) if length else None,
        "kind": notification.kind,
    }


_TOKEN = "Channel-Token"
_CONTENT = {
    "Content-Type": "what the body is; JSON, also where there is none",
    "Content-Length": "how many bytes the body has; 0 for a file",
}


def explained_headers(message: Received, names: Names) -> list[dict[str, Any]]:
    """The family's headers of a message, in the order of the interface's table, and those about its body."""
    token, channel_token = names.header(_TOKEN), message.notification.token
    meanings = {names.header(row.name): row.meaning for row in HEADERS} | _CONTENT
    return [
        {
            "header": name,
            "value": masked(channel_token or "") if name == token else message.headers[name],
            "meaning": meaning,
        }
        for name, meaning in meanings.items()
        if name in message.headers
    ]
