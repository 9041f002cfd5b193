"""What is read from and written to a connection, as files; one that is read tells whether it holds something back."""

from __future__ import annotations

import io
import socket
import ssl
from typing import Any

BUFFER = 64 * 1024


class Reader(io.BufferedReader):
    """What comes from a socket; the selector asks it whether it holds something back."""

    raw: Any
    bytes_read = 0

    def has_data(self) -> bool:
        """Whether something can be read at once: here, or in the records that TLS has opened already."""
        sock = self.raw._sock
        timeout = sock.gettimeout()
        sock.settimeout(0)
        try:
            return bool(self.peek(1))
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True  # it is broken, which its next reader will see
        finally:
            sock.settimeout(timeout)


def make_file(sock: socket.socket, mode: str = "r", size: int = BUFFER) -> Any:
    """A connection as a file to be read or written; cheroot calls it as `socket.makefile`."""
    raw = socket.SocketIO(sock, "rb" if "r" in mode else "wb")
    return Reader(raw, BUFFER) if "r" in mode else io.BufferedWriter(raw, size)
