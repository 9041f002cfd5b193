"""TLS on a connection that was accepted: the server's side of it, for threads that block."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

HANDSHAKE_SECONDS = 10.0
_HANDSHAKE_BYTE = b"\x16"  # with which every ClientHello begins


class TlsSocket(ssl.SSLSocket):
    """A TLS connection that stays one.

    The library's `shutdown` forgets TLS: from then on what another thread still writes goes out in the clear.
    """

    def shutdown(self, how: int) -> None:
        """Stop one side of the connection, or both."""
        socket.socket.shutdown(self, how)

    def goodbye(self) -> None:
        """Say that nothing more is sent; what still comes is read as it is, and is good for nothing."""
        with suppress(OSError, ValueError):
            self.settimeout(0)
            self.unwrap()
        self._sslobj = None


def is_tls(sock: socket.socket) -> bool:
    """Whether the client begins a handshake; False: it speaks something else. Raises OSError if it says nothing."""
    sock.settimeout(HANDSHAKE_SECONDS)
    first = sock.recv(1, socket.MSG_PEEK)
    if not first:
        raise ConnectionResetError("the client went away before it said anything")
    return first == _HANDSHAKE_BYTE


def secure(sock: socket.socket, context: ssl.SSLContext) -> TlsSocket:
    """Shake hands, within a time. The given socket is used up. Raises OSError."""
    context.sslsocket_class = TlsSocket
    secured = context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
    assert isinstance(secured, TlsSocket)
    try:
        secured.settimeout(HANDSHAKE_SECONDS)
        secured.do_handshake()
    except BaseException:
        secured.close()
        raise
    return secured
