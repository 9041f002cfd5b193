"""The server side of TLS on an accepted connection."""

from __future__ import annotations

import logging
import socket
import ssl
from contextlib import suppress

HANDSHAKE_SECONDS = 10.0
_HANDSHAKE_BYTE = b"\x16"  # the first byte of every ClientHello

_log = logging.getLogger(__name__)


class TlsSocket(ssl.SSLSocket):
    """A TLS socket that never falls back to plain text.

    The `shutdown` of the standard library removes TLS, after which another thread could write unencrypted bytes.
    """

    def shutdown(self, how: int) -> None:
        """Shut down one direction of the connection, or both."""
        socket.socket.shutdown(self, how)

    def close_notify(self) -> None:
        """Send the TLS close_notify alert. Bytes that arrive afterwards are read without TLS and discarded."""
        with suppress(OSError, ValueError):
            self.settimeout(0)
            self.unwrap()
        self._sslobj = None


class TlsHandshake:
    """A TLS handshake on the server side, which advances as bytes arrive and never blocks."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.seconds = HANDSHAKE_SECONDS
        self.secured: TlsSocket | None = None
        """The TLS socket, which replaces the accepted socket at the first byte of the handshake. None before."""
        self.failed = False
        """True if the client does not use TLS, or has closed the connection."""

    def advance(self, sock: socket.socket) -> bool:
        """Read the bytes that have arrived and continue the handshake. Return True if the handshake is complete."""
        try:
            sock.settimeout(0)
            if self.secured is None and not self._begin(sock):
                return False
            assert self.secured
            self.secured.do_handshake()
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except (OSError, ValueError) as error:
            _log.debug("the TLS handshake failed: %s", error)
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
