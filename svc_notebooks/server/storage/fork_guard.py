"""Disables a closed service, and one in a forked child, where it would lose changes or damage the store."""

from __future__ import annotations

import os

from ...core.process_fork import ForkedChild, after_fork, keep_forever

_WHERE = (
    "The service of this sandbox belongs to process {process} and does not work in a forked child process, because"
    " changes would be lost."
)
_USE_SOCKETS = "Use threads; or call lab.serve() before the fork, and connect(server.base_url, token) in each child."


_CLOSED = "The service is closed, so it handles no requests."
_REOPEN = "Create a new sandbox with svc.sandbox(), or open the service again."


def unusable_in_forks(service: object) -> None:
    """Make a service raise Unsupported in a forked child, without closing or finalizing the service's attributes."""
    elsewhere = ForkedChild(_WHERE.format(process=os.getpid()), _USE_SOCKETS)

    def leave(service: object) -> None:
        attributes = vars(service)
        keep_forever(*attributes.values())
        attributes.update(dict.fromkeys(attributes, elsewhere))

    after_fork(service, leave)


def unusable_after_close(service: object, attribute: str) -> None:
    """Make every use of an attribute of a closed service raise Unsupported."""
    vars(service)[attribute] = ForkedChild(_CLOSED, _REOPEN)
