"""Creates receivers of notifications, and keeps those of each session (A11)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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
"""Numbers for the addresses of direct receivers, which must differ among all sessions of a sandbox."""


def receivers_of(session: Session) -> list[Receiver]:
    """Return the receivers of a session, the last one last."""
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
    """Create a receiver of notifications in this kernel, which listens with HTTPS in a thread.

    A sandbox trusts its certificate and delivers to it. A service elsewhere must be able to reach it, under a domain
    that is registered there and with a certificate that the service trusts.

    Args:
        host: The name or address on which to listen, and for which the certificate is.
        port: The port. 0 means a free one.
        certificate: A file with the certificate and one with its key, in PEM. None creates both, with an authority of
            their own, which is `.ca_pem` of the result.
        address: The URL under which the service reaches it through a proxy. None means that of host and port.
        direct: True means that a sandbox calls the receiver as a function, without a socket. None means so only where
            there are no sockets, as in a page.

    Raises:
        Unsupported: There are no sockets here, and `direct` is False or the service is elsewhere.
        ImportError: Certificates cannot be created here. The message names the package to install.
        OSError: The port is in use.
        ValueError: `direct` is True without a sandbox, or the address is not an https address.

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
            raise ValueError("direct=True is for a sandbox; a service elsewhere needs an address that it can reach")
        service = lab.service
        service.register_domain(_DIRECT_HOST)
        number = next(_address_numbers.setdefault(lab, count(1)))
        url = f"https://{_DIRECT_HOST}{_PATH}/{number}"
        service.receive_at(url, lambda request: inbox.receive(request)[0])
        close = partial(service.receive_at, url, None)
        new = Receiver(inbox, session.names, url, ca_pem=None, close=close, settle=service.deliver)
    else:
        if address is not None and not (isinstance(address, str) and address.startswith("https://")):
            raise ValueError(f"address is {address!r}; give the whole address, like https://hooks.example.com{_PATH}")
        new = _https_receiver(lab, inbox, session, host, port, certificate, address)
    _receivers.setdefault(session, []).append(new)
    if lab:
        lab.closes(new.close)
    return new


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


def _certificate(host: str, files: _Files | None) -> tuple[ssl.SSLContext, str | None]:
    from ..sandbox.certificates import make_authority

    if files is None:
        authority = make_authority()
        return authority.context(host, *(("127.0.0.1",) if host == "localhost" else ())), authority.ca_pem
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*map(str, files))
    return context, None
