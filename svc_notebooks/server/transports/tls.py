"""TLS on a connection that was accepted: the server's side of it."""

from __future__ import annotations

import logging
import socket
import ssl
from contextlib import suppress

HANDSHAKE_SECONDS = 10.0
_HANDSHAKE_BYTE = b"\x16"  # with which every ClientHello begins

_log = logging.getLogger(__name__)


class TlsSocket(ssl.SSLSocket):
    """A TLS connection that stays one.

    The library's `shutdown` forgets TLS: from then on what another thread still writes goes out in the clear.
    """

    def shutdown(self, how: int) -> None:
        """Stop one side of the connection, or both."""
        socket.socket.shutdown(self, how)

    def close_notify(self) -> None:
        """Say that nothing more is sent; what still comes is read as it is, and is good for nothing."""
        with suppress(OSError, ValueError):
            self.settimeout(0)
            self.unwrap()
        self._sslobj = None


class TlsHandshake:
    """The server's side of a TLS handshake: it advances as bytes arrive and never blocks."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.seconds = HANDSHAKE_SECONDS
        self.secured: TlsSocket | None = None
        """The connection, in the place of the one that was given, from the first byte of a handshake on."""
        self.failed = False
        """The client speaks something else, or nothing any more."""

    def advance(self, sock: socket.socket) -> bool:
        """Read what has come; whether the handshake is over."""
        try:
            sock.settimeout(0)
            if self.secured is None and not self._begin(sock):
                return False
            assert self.secured
            self.secured.do_handshake()
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except (OSError, ValueError) as error:
            _log.debug("no handshake: %s", error)
            self.failed = True
            return False
        return True

    def _begin(self, sock: socket.socket) -> bool:
        self.failed = sock.recv(1, socket.MSG_PEEK) != _HANDSHAKE_BYTE
        if not self.failed:
            self._context.sslsocket_class = TlsSocket
            secured = self._context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            assert isinstance(secured, TlsSocket)
            self.secured = secured
        return not self.failed
