"""Makes receivers of notifications and keeps those of each session (A11)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ...core.platform import capabilities, need_sockets
from ..current_session import session_or_current
from ..sandbox.sandbox import Sandbox, sandbox_of
from .receiver import Receiver

if TYPE_CHECKING:
    import ssl

    from ...client.notifications.inbox import Inbox
    from ...client.session import Session

    _Files = tuple[str | Path, str | Path]

_DIRECT_HOST = "receiver.svc.example"
_PATH = "/notifications"

_receivers: WeakKeyDictionary[Session, list[Receiver]] = WeakKeyDictionary()
_address_numbers: WeakKeyDictionary[Sandbox, Iterator[int]] = WeakKeyDictionary()
"""Numbers for the receivers without a socket: the people of a sandbox share its service, and so the addresses."""


def receivers_of(session: Session) -> list[Receiver]:
    """The receivers that were made for a session, the last one last."""
    return list(_receivers.get(session, ()))


def receiver(
    *,
    host: str = "localhost",
    port: int = 0,
    certificate: _Files | None = None,
    address: str | None = None,
    direct: bool | None = None,
    session: Session | None = None,
) -> Receiver:
    """A receiver of notifications in this kernel: HTTPS on this machine, in a thread.

    A sandbox is told by itself to trust its certificate and to deliver to it. A service elsewhere must be able to
    reach it, under a domain that is registered there and with a certificate that it trusts.

    Args:
        host: The name or address to listen on, which the certificate is for.
        port: 0 takes a free one.
        certificate: A file with the certificate and one with its key, in PEM; None makes both, with an authority
            of their own (`.ca_pem` of the result).
        address: The address under which the service reaches it, where a proxy stands before it; None: that of
            host and port.
        direct: No socket: a sandbox calls the receiver as a function. None: where there are no sockets, as in a page.

    Raises:
        Unsupported: There are no sockets here, and `direct` is False, or the service is elsewhere.
        ImportError: Certificates cannot be made here; the message says what to install.
        OSError: The port is in use.
        ValueError: `direct` is for a sandbox; or the address is no https address.

    See docs/rules.md#a11-receiver (A11).

    >>> lab = svc.sandbox()
    >>> with svc.receiver() as rx:
    ...     channel = svc.watch_changes(rx)
    ...     rx.wait_for("sync")["verified"].tolist()
    [True]
    """
    from ...client.notifications.inbox import Inbox

    session = session_or_current(session)
    lab, inbox = sandbox_of(session), Inbox(session.names, session.clock)
    if direct if direct is not None else lab and not capabilities().sockets:
        if lab is None:
            raise ValueError("direct=True is for a sandbox: a service elsewhere needs an address that it can reach")
        made = _direct_receiver(lab, inbox, session)
    else:
        made = _https_receiver(lab, inbox, session, host, port, certificate, _checked_address(address))
    _receivers.setdefault(session, []).append(made)
    if lab:
        lab.closes(made.close)
    return made


def _direct_receiver(lab: Sandbox, inbox: Inbox, session: Session) -> Receiver:
    service = lab.service
    service.register_domain(_DIRECT_HOST)
    address = f"https://{_DIRECT_HOST}{_PATH}/{next(_address_numbers.setdefault(lab, count(1)))}"
    service.receive_at(address, lambda request: inbox.receive(request)[0])

    def close() -> None:
        service.receive_at(address, None)

    return Receiver(inbox, session.names, address, ca_pem=None, close=close, settle=service.deliver)


def _https_receiver(
    lab: Sandbox | None,
    inbox: Inbox,
    session: Session,
    host: str,
    port: int,
    certificate: _Files | None,
    public_address: str | None,
) -> Receiver:
    need_sockets("A receiver that is not direct listens on a socket")
    from ...client.notifications.https_receiver import HttpsReceiver

    context, ca_pem = _certificate(host, certificate)
    listens_on = "127.0.0.1" if host == "localhost" else host
    server = HttpsReceiver(inbox, context, host=listens_on, port=port, path=_PATH)
    url_host = f"[{host}]" if ":" in host else host
    if lab:
        lab.service.register_domain(host)
        if ca_pem:
            lab.service.trust(ca_pem)
    address = public_address or f"https://{url_host}:{server.port}{_PATH}"
    settle = lab.service.deliver if lab else None
    return Receiver(inbox, session.names, address, ca_pem=ca_pem, close=server.close, settle=settle)


def _checked_address(address: str | None) -> str | None:
    if address is not None and not (isinstance(address, str) and address.startswith("https://")):
        raise ValueError(f"address is {address!r}; give the whole address, like https://hooks.example.com{_PATH}")
    return address


def _certificate(host: str, files: _Files | None) -> tuple[ssl.SSLContext, str | None]:
    from ..sandbox.certificates import make_authority

    if files is None:
        authority = make_authority()
        return authority.context(host, *(("127.0.0.1",) if host == "localhost" else ())), authority.ca_pem
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*map(str, files))
    return context, None
