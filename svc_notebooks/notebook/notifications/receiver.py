"""A receiver of notifications in this kernel, whose messages are DataFrames (A11)."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from ...client.notifications.inbox import Inbox, Received, same_token
from ...core.http.redaction import mask_token
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


_MAX_SECONDS = 3600
_SETTLE_SECONDS = 2.0
"""A delayed response, or another receiver that is dead, delays `wait_for` by at most so many seconds."""

_FORKED = "This receiver listens in process {process}, and this process is a fork of it."
_FORKED_ADVICE = "Look at its messages there, or make a receiver() here."


class Receiver:
    """A receiver of notifications. `address` is its URL for channels.

    It keeps every message once, however often it is sent, and verifies the token of its channel. `answer_with` sets the
    response to the next messages. As a context manager it is closed at the end.
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
        """The authority of its certificate in PEM, which a service must trust."""
        self._inbox = inbox
        self._names = names
        self._close = close
        self._settle = settle
        self._closed = False
        self._process = os.getpid()
        after_fork(self, Receiver._reset_in_child)

    def _reset_in_child(self) -> None:
        """Mark the receiver as closed in a forked child, where no message arrives."""
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
        """Stop receiving messages. Those that came can still be read."""
        if not self._closed:
            self._closed = True
            self._close()

    def answer_with(self, status: int, *, times: int | None = None, delay: float = 0) -> None:
        """Set the response to the next messages.

        Args:
            status: 200, 201, 202, 204 and 102 count as delivered. After 500, 502, 503 and 504 the service tries
                again. Any other is a failure (N-08). A 102 is sent alone, without a final status after it.
            times: The number of messages to which it applies. None means all from now on.
            delay: Seconds of real time before each response. A direct receiver ignores it.

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
        """Wait until messages have come, and return those that match.

        Args:
            state: sync, add, remove, update, trash, untrash or change. None means any.
            channel: The id of a channel. None means any.
            count: The number of messages to wait for.
            timeout: Seconds of real time. A virtual clock does not count and does not move.

        Returns:
            The frame of `messages()`, with those that match.

        Raises:
            TimeoutError: They did not come. The message has the states of those that did.

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
        if self._settle:  # so that messages under way are in the frame, too
            self._settle(min(timeout, _SETTLE_SECONDS))
        # Without threads nothing can arrive during the wait.
        left = max(0.0, ends - monotonic()) if capabilities().threads else 0.0
        matches = self._inbox.wait_for(
            lambda message: (
                state in (None, message.notification.state) and channel in (None, message.notification.channel_id)
            ),
            count,
            left,
        )
        if len(matches) < count:
            arrived = ", ".join(str(message.notification.state) for message in self._inbox.messages()) or "nothing"
            expected = f"{count} of {state or 'any state'}{f' on channel {channel}' if channel else ''}"
            raise TimeoutError(f"waited {timeout:g} seconds for {expected}; received: {arrived}")
        return frame(MESSAGES, [message_record(message) for message in matches])

    def messages(self) -> DataFrame:
        """List every message once, in the order in which they came first.

        Returns:
            One row each: received (datetime64[ms, UTC], the first time), channel_id (str), number (Int64),
            state, changed (str), verified (boolean: whether it carried its channel's token; missing for a
            channel that this receiver does not know), tries (Int64: how often it came), answers (str: the statuses
            of the responses), resource_id, resource_uri (str), expiration (datetime64[ms, UTC]),
            token (str: its first characters and its length; missing if the message carried none),
            content_type (str), content_length (Int64, bytes), kind (str, of the body).
        """
        return frame(MESSAGES, [message_record(message) for message in self._inbox.messages()])

    def explain(self, n: int = -1) -> DataFrame:
        """Return the headers of a message with their meanings, as header, value and meaning (str).

        A token is shown by its first characters and its length. `check_token` compares it with a whole one.

        Args:
            n: The position of the message in `messages()`. -1 is the last.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> channel = svc.watch_changes(rx)
        >>> rx.wait_for("sync").size > 0 and rx.explain()["header"].tolist()[:2]
        ['X-Svc-Channel-ID', 'X-Svc-Message-Number']
        """
        return frame(EXPLAINED, explain_headers(self._message(n), self._names))

    def check_token(self, token: str | None, n: int = -1) -> bool:
        """Return whether a message carried this token, or for None whether it carried none.

        Args:
            token: The whole token of the channel.
            n: The position of the message in `messages()`. -1 is the last.

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
        """Forget all messages."""
        self._inbox.clear()

    def expect(self, channel_id: str, token: str | None) -> None:
        """Verify the messages of a channel by this token, as `watch_file` and `watch_changes` set it."""
        self._inbox.expect(channel_id, token)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every message, in the thread that received it. Returns a function that ends this."""
        return self._inbox.listen(listener)

    def received(self) -> list[Received]:
        """Return the messages as objects."""
        return self._inbox.messages()


def _seconds(argument: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_SECONDS:
        raise ValueError(f"{argument} is {value!r}; it must be a number of seconds from 0 to {_MAX_SECONDS}")
    return float(value)


def _message_count(count: int) -> str:
    return f"{count or 'no'} message{'' if count == 1 else 's'}"


def message_record(message: Received) -> Record:
    """Return a message as a row of `MESSAGES`."""
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
        "token": None if notification.token is None else mask_token(notification.token),
        "content_type": message.headers.get("Content-Type"),
        "content_length": int(length) if length else None,
        "kind": notification.kind,
    }


_CONTENT = {
    "Content-Type": "the media type of the body, JSON even if empty",
    "Content-Length": "the number of bytes of the body, 0 for a file",
}


def explain_headers(message: Received, names: Names) -> list[dict[str, Any]]:
    """Return the family's headers of a message, in the order of the interface's table, and those about its body."""
    token, channel_token = names.header("Channel-Token"), message.notification.token
    meanings = {names.header(row.name): row.meaning for row in HEADERS} | _CONTENT
    return [
        {
            "header": name,
            "value": mask_token(channel_token or "") if name == token else message.headers[name],
            "meaning": meaning,
        }
        for name, meaning in meanings.items()
        if name in message.headers
    ]
