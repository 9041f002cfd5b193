"""Creates receivers of notifications, and keeps a list of the receivers of each session (A11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from ...client.json_response import foreign_answer
from ...client.notifications.channels import changes_since, registry_of, start_page_token
from ...client.notifications.inbox import Inbox
from ...client.session import SessionLike, session_or_current
from ...core.platform import capabilities, need_sockets
from ..arguments import is_frame, optional_text
from ..frames.frames import Record, frame
from ..frames.schemas import CHANGES, NOTIFICATIONS
from ..sandbox.sandbox import Sandbox, sandbox_of
from .receiver import Receiver, message_record

if TYPE_CHECKING:
    import ssl

    from pandas import DataFrame, Series

    from ...client.notifications.inbox import Inbox, Received
    from ...client.session import Session
    from ...core.http.messages import Request, Response
    from ...server.notifications.delivery_queue import DeliveryRow

    _Files = tuple[str | Path, str | Path]

_DIRECT_HOST = "receiver.svc.example"
_PATH = "/notifications"

_receivers: WeakKeyDictionary[Session, list[Receiver]] = WeakKeyDictionary()
_address_numbers: WeakKeyDictionary[Sandbox, Iterator[int]] = WeakKeyDictionary()
"""A counter for each sandbox. It numbers the addresses of direct receivers, which must be unique in a sandbox."""


def receivers_of(session: Session) -> list[Receiver]:
    """Return the receivers of a session, oldest first."""
    return list(_receivers.get(session, ()))


def notification_rows(session: Session | None, messages: Iterable[Received]) -> DataFrame:
    """Return a frame with the columns of `notifications()`, with a row for each message, oldest first."""
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


def _describe(session: ref[Session], message: Received) -> Series[Any]:
    """Return a message as a row of `notifications()`, for a listener. The session may have ended."""
    return notification_rows(session(), [message]).iloc[0]


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
            raise ValueError(
                f"address is {address!r}; give a complete https address, such as https://hooks.example.com{_PATH}"
            )
        url, close, ca_pem = _listen(lab, inbox, host, port, certificate)
        url = address or url
    settle, describe = lab.service.deliver if lab else None, partial(_describe, ref(session))
    new = Receiver(inbox, session.names, url, ca_pem=ca_pem, describe=describe, close=close, settle=settle)
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
    from ...client.notifications.https_receiver import HttpsReceiver

    context, ca_pem = _certificate(host, certificate)
    server = HttpsReceiver(inbox, context, host="127.0.0.1" if host == "localhost" else host, port=port, path=_PATH)
    if lab:
        lab.service.register_domain(host)
        if ca_pem:
            lab.service.trust(ca_pem)
    return f"https://{f'[{host}]' if ':' in host else host}:{server.port}{_PATH}", server.close, ca_pem


def _certificate(host: str, files: _Files | None) -> tuple[ssl.SSLContext, str | None]:
    from ..sandbox.certificates import make_authority

    if files is None:
        authority = make_authority()
        return authority.context(host, *(("127.0.0.1",) if host == "localhost" else ())), authority.ca_pem
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*map(str, files))
    return context, None


# -- the messages of receivers with their channels and delivery attempts, and the changes of files


_DELIVERY_SECONDS = 1.0
_CHANGE_FIELDS = "time,removed,fileId,file(name,mimeType,trashed)"


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
        lab.service.deliver(_DELIVERY_SECONDS)
    if receiver is not None and not isinstance(receiver, Receiver):
        raise TypeError(f"receiver must be a receiver, as of receiver(), not {type(receiver).__name__}")
    receivers = receivers_of(session) if receiver is None else [receiver]
    return notification_rows(session, (message for each in receivers for message in each.received()))


def changes(page_token: str | DataFrame | None = None, *, session: SessionLike = None) -> DataFrame:
    """List this user's files that have changed since a position in the change log, with the last change of each file.

    The oldest change comes first.

    Args:
        page_token: The position from which to list changes: an earlier result, or its `attrs["page_token"]`. "1" means
            the beginning of the change log. None continues after this session's last call. If there was no such call,
            None continues after the first `watch_changes`, or returns an empty frame and sets the position to now.

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
    if is_frame(page_token):
        if "page_token" not in page_token.attrs:
            raise ValueError("page_token is a DataFrame without attrs['page_token']; give an earlier result")
        page_token = page_token.attrs["page_token"]
    start = optional_text("page_token", page_token) or registry.page_token or start_page_token(session)
    listed = changes_since(session, start, _CHANGE_FIELDS)
    changed = frame(CHANGES, [{**(change.get("file") or {}), **change} for change in listed])
    changed.attrs["page_token"] = registry.page_token
    return changed
