"""Says in a sentence why a server cannot listen at an address."""

import errno
import os

_TAKEN = os.strerror(errno.EADDRINUSE)


def cannot_listen(host: str, port: int, error: OSError) -> OSError:
    """The same in a sentence; cheroot lists what it tried, as Python writes it.

    >>> cannot_listen("127.0.0.1", 80, OSError("None -- (('127.0.0.1', 80): [Errno 13] Permission denied)"))
    OSError('nobody can listen at 127.0.0.1:80 here: Permission denied')
    """
    why = str(error).rpartition("] ")[2].rstrip(")")
    advice = "; name another port, or 0 for one that is free" if why == _TAKEN else ""
    return OSError(f"nobody can listen at {host}:{port} here: {why}{advice}")
