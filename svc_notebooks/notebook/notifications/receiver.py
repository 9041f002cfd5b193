"""Receives notification messages in this kernel, and lists the messages of all receivers as DataFrames (A11)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, cast
from weakref import WeakKeyDictionary, ref

from ...client.json_response import foreign_answer
from ...client.notifications.channels import changes_since, registry_of, start_page_token
from ...client.notifications.inbox import Inbox, Received, same_token
from ...client.session import Session, SessionLike, session_or_current
from ...core.brand_names import Names
from ...core.errors.public_calls import check_function, public_methods, takes
from ...core.http.redaction import mask_token
from ...core.notifications.deliveries import HEADERS, RETRIED, STATES
from ...core.platform import ForkedChild, after_fork, capabilities, need_sockets
from ...core.suggestions import missing_attribute
from ...core.time_arguments import Duration, parse_duration
from ..arguments import choice, optional_text, whole
from ..display import Markup, count_text, join_html, tag
from ..frames import CHANGES, EXPLAINED, MESSAGES, NOTIFICATIONS, Record, frame
from ..sandbox.sandbox import Sandbox, sandbox_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from ...core.http.messages import Request, Response
    from ...server.notifications.delivery_queue import DeliveryRow

    _Files = tuple[str | Path, str | Path]


# The maximum number of messages in the view, which are the latest. The attribute `result` has all messages.
MAX_SHOWN = 50

_WIDTHS = " ".join(f"minmax(0, {width}em)" for width in (5, 6, 11, 14, 6, 10))
_LINE = (
    f"display: inline-grid; grid-template-columns: {_WIDTHS} minmax(3em, 1fr); column-gap: 1em;"
    " width: calc(100% - 2em); vertical-align: top; overflow-wrap: break-word"
)
_LINES = "line-height: 1.6; margin: 0"
_HEADERS = "margin: 0 0 4px 1.4em; font-size: 90%; overflow-wrap: break-word"
_HEADINGS = ("number", "state", "changed", "channel", "received", "answered", "token")
_VERIFIED = {True: "right", False: "wrong: refused", None: "unknown channel"}


def headings(messages: list[Received]) -> Markup:
    """Render the number of messages and the column headings, or a sentence if there are no messages."""
    count = len(messages)
    if not count:
        return tag("p", "No message has come yet.", role="status", style="margin: 4px 2px")
    words = count_text(count, "message")
    if count > MAX_SHOWN:
        words += f"; the last {MAX_SHOWN} are shown"
    names = tag("span", *(tag("b", name) for name in _HEADINGS), style=_LINE)
    status = tag("p", words, role="status", style="margin: 4px 2px")
    return join_html(status, tag("div", names, style="padding-left: 1em"))


def message_line(message: Received, names: Names, watched: dict[str, str]) -> Markup:
    """Render a message as a line that expands to its headers. `watched` maps channel ids to resource names."""
    notification = message.notification
    parts: tuple[object, ...] = (
        notification.number,
        tag("b", notification.state),
        ", ".join(notification.changed),
        watched.get(notification.channel_id or "", notification.channel_id),
        f"{message.received:%H:%M:%S}",
        ", ".join(map(str, message.answers)),
        _VERIFIED[message.verified],
    )
    line = tag("span", *(tag("span", part) for part in parts), style=_LINE)
    headers = (
        tag("div", tag("code", f"{row['header']}: {row['value']}"), tag("i", row["meaning"], style="padding-left: 1em"))
        for row in explain_headers(message, names)
    )
    title = "The headers of this message, and what they mean"
    return tag("details", tag("summary", line, title=title), tag("div", *headers, style=_HEADERS), style=_LINES)


_MAX_SECONDS = 3600
DELIVERY_SECONDS = 1.0
# The maximum number of seconds that `wait_for` waits for a sandbox's deliveries in progress. Such a delivery may wait
# for a delayed response, or for another receiver that does not respond.
_SETTLE_SECONDS = 2.0

_FORKED = "This receiver belongs to process {process} and does not work in a forked child process."
_FORKED_ADVICE = "Read the messages in that process, or open a new receiver() in this process."


@public_methods
class Receiver:
    """A receiver of notification messages. `address` is the URL to which channels send messages.

    The receiver keeps every message once, even if the service sends the message several times, and verifies the
    channel token. `answer_with` sets the response to the next messages. The end of a `with` block closes the receiver.
    """

    def __init__(
        self, session: Session, inbox: Inbox, address: str, ca_pem: str | None, close: Callable[[], None]
    ) -> None:
        self.address = address
        # The certificate authority in PEM that a service must trust. None without an authority of its own.
        self.ca_pem = ca_pem
        self._session, self._names = ref(session), session.names  # a session keeps its receivers alive
        lab = sandbox_of(session)
        self._settle: Callable[[float], None] | None = lab.service.deliver if lab else None
        self._inbox, self._close, self._closed = inbox, close, False
        self._process = os.getpid()
        after_fork(self, Receiver._reset_in_child)

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("a receiver", self, name)

    def _reset_in_child(self) -> None:
        self._closed, self._settle = True, None
        self._inbox = cast(Inbox, ForkedChild(_FORKED.format(process=self._process), _FORKED_ADVICE))

    def __repr__(self) -> str:
        return f"<Receiver: {_message_count(len(self._delivered()))}>"

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop receiving messages. The messages received so far can still be read."""
        if not self._closed:
            self._closed = True
            self._close()

    def answer_with(self, status: int, *, times: int | None = None, delay: Duration = 0) -> None:
        """Set the response to the next messages. Another call adds to the responses that no message got yet.

        In a sandbox, first wait until the messages that are due have been delivered, for at most a second.

        Args:
            status: The HTTP status of the response. After 200, 201, 202, 204 and 102 the message counts as delivered.
                After 500, 502, 503 and 504 the service sends the message again. After any other status the delivery
                has failed (N-08). No final status follows a 102.
            times: The number of messages that get this response. None means all messages from now on.
            delay: The real time before each response, in seconds or as a text such as "2s". A direct receiver ignores
                the delay.

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
        self._delivered()
        self._inbox.answer_with(status, times=times, delay=_seconds("delay", delay))

    def wait_for(
        self, state: str | None = None, *, channel: str | None = None, count: int = 1, timeout: Duration = 10
    ) -> DataFrame:
        """Wait until `count` matching messages have arrived, and return all matching messages.

        Messages that arrived before the call count too, so that a cell can run again. The last row is the newest
        message. For the next one give a larger `count`, or call `clear()` before the change.

        Args:
            state: sync, add, remove, update, trash, untrash or change. None matches any state.
            channel: The id of a channel. None matches any channel.
            count: The number of matching messages to wait for.
            timeout: The maximum wait in real time, in seconds or as a text such as "1 min", even if the session has a
                virtual clock.

        Returns:
            A frame with the columns of `messages()` and a row for each matching message.

        Raises:
            TimeoutError: Too few matching messages arrived in time. The error lists the states of all messages.

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
        seconds = _seconds("timeout", timeout)
        ends = monotonic() + seconds
        if self._settle:  # so that messages under way are in the frame, too
            self._settle(min(seconds, _SETTLE_SECONDS))
        # Without threads nothing can arrive during the wait.
        left = max(0.0, ends - monotonic()) if capabilities().threads else 0.0
        matches = self._inbox.wait_for(
            lambda message: (
                state in (None, message.notification.state) and channel in (None, message.notification.channel_id)
            ),
            count,
            left,
        )
        self._inbox.wait_for_listeners(max(0.0, ends - monotonic()))
        if len(matches) < count:
            messages = self._inbox.messages()
            arrived = ", ".join(str(message.notification.state) for message in messages) or "none"
            place = f" on channel {channel}" if channel else ""
            expected = f"{_message_count(count)} with {f'state {state}' if state else 'any state'}{place}"
            waiting = next((each for each in messages if each.answers and each.answers[-1] in RETRIED), None)
            hint = ""
            if waiting:
                hint = f"; {waiting.notification.state} was answered with {waiting.answers[-1]} and is sent again later"
                hint += ", after lab.clock.advance('10s') if the clock is virtual" if self._settle else ""
            raise TimeoutError(f"waited {seconds:g} seconds for {expected}; received states: {arrived}{hint}")
        return frame(MESSAGES, [message_record(message) for message in matches])

    def messages(self) -> DataFrame:
        """List every received message once, in the order of first arrival.

        In a sandbox, first wait until the messages that are due have been delivered, for at most a second.

        Returns:
            One row for each message: received (datetime64[ms, UTC], the time of the first arrival), channel_id (str),
            number (Int64, the message number), state, changed (str), verified (boolean: True if the message had
            the token of its channel, missing if this receiver does not know the channel), tries (Int64, the number of
            arrivals), answers (str: the statuses of the responses), resource_id, resource_uri (str), expiration
            (datetime64[ms, UTC], of the channel), token (str: the first characters and the length of the token,
            missing if the message had no token), content_type (str), content_length (Int64, bytes), kind (str, of the
            resource in the body).
        """
        return frame(MESSAGES, [message_record(message) for message in self._delivered()])

    def _delivered(self) -> list[Received]:
        """Return the messages, in a sandbox after the delivery of those that are due."""
        if self._settle and not self._closed:
            self._settle(DELIVERY_SECONDS)
        return self._inbox.messages()

    def explain(self, n: int = -1) -> DataFrame:
        """Explain the headers of a message.

        The channel token is masked to its first characters and its length. `check_token` tests a whole token.

        Args:
            n: The position of the message in `messages()`, counted from 0. -1 is the last message.

        Returns:
            One row for each header: header, value, meaning (str).

        Raises:
            ValueError: There is no message at this position.

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver(direct=True)
        >>> channel = svc.watch_changes(rx)
        >>> rx.wait_for("sync").size > 0 and rx.explain()["header"].tolist()[:2]
        ['X-Svc-Channel-ID', 'X-Svc-Message-Number']
        """
        return frame(EXPLAINED, explain_headers(self._message(n), self._names))

    def check_token(self, token: str | None, n: int = -1) -> bool:
        """Return True if a message had this channel token, otherwise False.

        Args:
            token: The whole token of the channel. None tests that the message had no token.
            n: The position of the message in `messages()`, counted from 0. -1 is the last message.

        Raises:
            ValueError: There is no message at this position.

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
        received = self._delivered()
        if isinstance(n, bool) or not isinstance(n, int) or not -len(received) <= n < len(received):
            raise ValueError(f"n is {n!r}, but there are {_message_count(len(received))}; 0 is the first, -1 the last")
        return received[n]

    def clear(self) -> None:
        """Remove all received messages. Channel tokens and responses set by `answer_with` stay."""
        self._inbox.clear()

    def expect(self, channel_id: str, token: str | None) -> None:
        """Set the token with which a channel's messages are verified. None: the messages must have no token."""
        self._inbox.expect(channel_id, token)

    def listen(self, listener: Callable[[Series[Any]], object] | Callable[[], object]) -> Callable[[], None]:
        """Register a function that is called with each message, also with each repetition of a message.

        The response is sent before the call, and messages do not wait for a slow listener: it is called in a thread,
        with one message after another. An error of the listener is shown below the cell with its traceback. It does not
        change the delivery. `wait_for` waits for the listeners, too, until its timeout.

        Args:
            listener: A function of the message, a Series with the columns of `notifications()`. outcome and waited are
                missing while the service has not recorded the response. A function without arguments is possible, too.

        Returns:
            A function without arguments that removes the registration.

        Raises:
            TypeError: `listener` is not a function of one argument or of none.

        >>> lab = svc.sandbox()
        >>> rx, states = svc.receiver(direct=True), []
        >>> stop = rx.listen(lambda message: states.append(message["state"]))
        >>> channel = svc.watch_changes(rx)
        >>> len(rx.wait_for("sync")), states
        (1, ['sync'])
        """
        if not callable(listener):
            raise TypeError(f"listener must be a function of the message, not {type(listener).__name__}")
        if takes(listener, 1):
            with_message = cast("Callable[[Series[Any]], object]", listener)
            return self._inbox.listen(
                lambda message: with_message(notification_rows(self._session(), [message]).iloc[0])
            )
        if not takes(listener, 0):
            check_function("listener", listener, ("message",))
        return self._inbox.listen(lambda message: cast("Callable[[], object]", listener)())

    def received(self) -> list[Received]:
        """Return the messages as Received objects, in the order of first arrival."""
        return self._inbox.messages()


def _seconds(argument: str, value: Duration) -> float:
    seconds = parse_duration(value, argument).total_seconds()
    if not 0 <= seconds <= _MAX_SECONDS:
        raise ValueError(f"{argument} is {value!r}; it must be a duration from 0 to {_MAX_SECONDS} seconds")
    return seconds


def _message_count(count: int) -> str:
    return f"{count or 'no'} message{'' if count == 1 else 's'}"


_SAME_NAMES = ("channel_id", "number", "state", "resource_id", "resource_uri", "expiration", "kind")


def message_record(message: Received) -> Record:
    """Convert a message to a dict with the columns of the `MESSAGES` frame. The token is masked."""
    notification, length = message.notification, message.headers.get("Content-Length")
    return {
        **{name: getattr(notification, name) for name in _SAME_NAMES},
        "received": message.received,
        "changed": ",".join(notification.changed) or None,
        "verified": message.verified,
        "tries": len(message.answers),
        "answers": ", ".join(map(str, message.answers)),
        "token": None if notification.token is None else mask_token(notification.token),
        "content_type": message.headers.get("Content-Type"),
        "content_length": int(length) if length else None,
    }


_CONTENT = {
    "Content-Type": "the media type of the body, JSON even if empty",
    "Content-Length": "the number of bytes of the body, 0 for a file",
}


def explain_headers(message: Received, names: Names) -> list[dict[str, Any]]:
    """Return a dict with header, value and meaning for each notification header of a message. The token is masked."""
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


# -- creates receivers, and keeps a list of the receivers of each session (A11)


_DIRECT_HOST = "receiver.svc.example"
_PATH = "/notifications"

_receivers: WeakKeyDictionary[Session, list[Receiver]] = WeakKeyDictionary()
# A counter for each sandbox. It numbers the addresses of direct receivers, which must be unique in a sandbox.
_address_numbers: WeakKeyDictionary[Sandbox, Iterator[int]] = WeakKeyDictionary()


def receivers_of(session: Session) -> list[Receiver]:
    """Return the receivers of a session, oldest first."""
    return list(_receivers.get(session, ()))


def notification_rows(session: Session | None, messages: Iterable[Received]) -> DataFrame:
    """Return a frame with the columns of `notifications()`, with a row for each message, oldest first.

    The session is None if it has ended.
    """
    lab = sandbox_of(session) if session else None
    watched = registry_of(session).watched if session else {}
    attempts_by_message: dict[Any, list[DeliveryRow]] = {}
    for attempt in lab.service.deliveries() if lab else []:
        attempts_by_message.setdefault((attempt["channel_id"], attempt["message_number"]), []).append(attempt)
    rows: list[Record] = []
    for message in messages:
        record = message_record(message)
        channel_id = record["channel_id"]
        attempts = attempts_by_message.get((channel_id, record["number"]), [])
        times = [datetime.fromisoformat(attempt["time"]) for attempt in attempts]
        rows.append(
            {
                **record,
                "watching": (watched[channel_id] or "changes") if channel_id in watched else None,
                "outcome": attempts[-1]["outcome"] if attempts else None,
                "waited": (times[-1] - times[0]).total_seconds() if times else None,
            }
        )
    return frame(NOTIFICATIONS, sorted(rows, key=lambda row: row["received"]))


def receiver(
    *,
    host: str = "localhost",
    port: int = 0,
    certificate: _Files | None = None,
    address: str | None = None,
    direct: bool | None = None,
    register: bool = False,
    session: SessionLike = None,
) -> Receiver:
    """Create a receiver of notification messages, an HTTPS server in a thread of this kernel.

    A sandbox trusts the certificate of the receiver and registers its domain. Any other service must be able to reach
    the receiver over the network, must trust the certificate, and must have the receiver's domain registered.

    Args:
        host: The host name or IP address on which the receiver listens and to which the certificate applies.
        port: The port. 0 means any free port.
        certificate: The paths of a certificate file and a key file, both in PEM. None creates a certificate and its
            own certificate authority, which is the attribute `ca_pem` of the receiver.
        address: The https URL at which the service reaches the receiver, if there is a proxy before the receiver.
            None means the URL with `host` and the port.
        direct: True makes the sandbox call the receiver as a function, without a socket. None does this only for
            a sandbox in an environment without sockets, such as a browser page.
        register: True registers the receiver at the service of a class (`svc-notebooks serve --class`), for the
            channels of your account only. The service then trusts the certificate of the receiver.

    Returns:
        A Receiver, which listens until `close()` or the end of its `with` block.

    Raises:
        Unsupported: This environment has no sockets, and the receiver is not direct.
        ImportError: A package that creates certificates is missing. The message names the package to install.
        OSError: The port is in use.
        ValueError: `direct` is True and the session has no sandbox, or `address` is not an https URL.

    See tests/rules.csv (A11).

    >>> lab = svc.sandbox()
    >>> with svc.receiver() as rx:
    ...     channel = svc.watch_changes(rx)
    ...     rx.wait_for("sync")["verified"].tolist()
    [True]
    """
    session = session_or_current(session)
    lab, inbox = sandbox_of(session), Inbox(session.names, session.clock)
    ca_pem: str | None = None
    if direct if direct is not None else lab and not capabilities().sockets:
        if lab is None:
            raise ValueError("direct=True works only with a sandbox; give an https address that the service can reach")
        url, close = _receive_in_process(lab, inbox)
    else:
        if address is not None and not (isinstance(address, str) and address.startswith("https://")):
            example = f"https://hooks.example.com{_PATH}"
            raise ValueError(f"address is {address!r}; give a complete https address, such as {example}")
        url, close, ca_pem = _listen(lab, inbox, host, port, certificate)
        url = address or url
    new = Receiver(session, inbox, url, ca_pem, close)
    if register and lab is None:
        _register(session, new)
    _receivers.setdefault(session, []).append(new)
    if lab:
        lab.closes(new.close)
    return new


def _register(session: Session, new: Receiver) -> None:
    """Register a receiver at the service of a class. Close the receiver if the service refuses it."""
    try:
        answer = session.fetch("POST", "/_class/receivers", body={"address": new.address, "ca_pem": new.ca_pem})
        if "receiver" not in answer:
            raise foreign_answer(session.base_url, "it has no receiver", str([*answer][:9]))
    except BaseException:
        new.close()
        raise


def _receive_in_process(lab: Sandbox, inbox: Inbox) -> tuple[str, Callable[[], None]]:
    """Let a sandbox call an inbox as a function. Return the address, and a function that ends it."""
    lab.service.register_domain(_DIRECT_HOST)
    url = f"https://{_DIRECT_HOST}{_PATH}/{next(_address_numbers.setdefault(lab, count(1)))}"

    def answer(request: Request) -> Response:
        response, _ = inbox.receive(request)
        inbox.notify()
        return response

    lab.service.receive_at(url, answer)
    return url, partial(lab.service.receive_at, url, None)


def _listen(
    lab: Sandbox | None, inbox: Inbox, host: str, port: int, certificate: _Files | None
) -> tuple[str, Callable[[], None], str | None]:
    """Start a server for an inbox. Return its address, a function that ends it, and the certificate authority."""
    need_sockets("A receiver that is not direct listens on a socket")
    import ssl

    from ...client.notifications.https_receiver import HttpsReceiver
    from ..sandbox.certificates import server_context

    ca_pem: str | None = None
    if certificate is None:
        context, ca_pem = server_context(host, *(("127.0.0.1",) if host == "localhost" else ()))
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, certificate))
    server = HttpsReceiver(inbox, context, host="127.0.0.1" if host == "localhost" else host, port=port, path=_PATH)
    if lab:
        lab.service.register_domain(host)
        if ca_pem:
            lab.service.trust(ca_pem)
    return f"https://{f'[{host}]' if ':' in host else host}:{server.port}{_PATH}", server.close, ca_pem


# -- the messages of receivers with their channels and delivery attempts, and the changes of files


def notifications(receiver: Receiver | None = None, *, session: SessionLike = None) -> DataFrame:
    """List the messages that this session's receivers have received, in the order of arrival.

    In a sandbox, first wait until the messages that are due have been delivered, for at most a second.

    Args:
        receiver: Only the messages of this receiver. None lists those of all.

    Returns:
        One row for each message: received (datetime64[ms, UTC], the time of the first arrival), channel_id, watching
        (str, a file id or "changes"), number (Int64, the message number), state, changed (str), verified (boolean:
        True if the message had the token of its channel), tries (Int64, the number of arrivals), answers (str: the
        status of each response), outcome (str: delivered, retry, failed or cancelled), waited (Float64, seconds from
        the first to the last delivery attempt), content_type (str), content_length (Int64, bytes). outcome and waited
        are missing outside a sandbox, because other services do not report their attempts.

    See tests/rules.csv (N).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx)
    >>> svc.notifications()[["state", "answers", "outcome"]].values.tolist()
    [['sync', '200', 'delivered']]
    """
    session = session_or_current(session)
    if lab := sandbox_of(session):
        lab.service.deliver(DELIVERY_SECONDS)
    if receiver is not None and not isinstance(receiver, Receiver):
        raise TypeError(f"receiver must be a receiver, as of receiver(), not {type(receiver).__name__}")
    receivers = receivers_of(session) if receiver is None else [receiver]
    return notification_rows(session, (message for each in receivers for message in each.received()))


def changes(page_token: str | DataFrame | None = None, *, session: SessionLike = None) -> DataFrame:
    """List this user's files that have changed since a position in the change log, with the last change of each file.

    The oldest change comes first.

    Args:
        page_token: The position from which to list changes: an earlier result, or its `attrs["page_token"]`, or the
            result of `watch_changes`. "1" means the beginning of the change log. None continues after this session's
            last call. If there was no such call, None continues after the first `watch_changes`, or returns an empty
            frame and sets the position to now.

    Returns:
        One row for each changed file: time (datetime64[ms, UTC]), file_id, name, mime_type (str), removed (boolean:
        True if the file was deleted or is not shared with this user any more), trashed (boolean).
        `attrs["page_token"]` of the frame is the position for the next call.

    Raises:
        BadRequest: The service did not issue this page token.

    See tests/rules.csv (A9).

    >>> lab = svc.sandbox()
    >>> len(svc.changes())
    0
    >>> file = svc.upload(b"new", name="new.txt")
    >>> svc.changes()[["name", "removed"]].values.tolist()
    [['new.txt', False]]
    """
    session = session_or_current(session)
    registry = registry_of(session)
    if (attrs := getattr(page_token, "attrs", None)) is not None:  # of a DataFrame or one of its rows
        if "page_token" not in attrs:
            hint = "give a result of changes() or watch_changes()"
            raise ValueError(f"page_token is a DataFrame without attrs['page_token']; {hint}")
        page_token = attrs["page_token"]
    start = optional_text("page_token", page_token) or registry.page_token or start_page_token(session)
    listed = changes_since(session, start)
    changed = frame(CHANGES, [{**(change.get("file") or {}), **change} for change in listed])
    changed.attrs["page_token"] = registry.page_token
    return changed
