"""Disables a service in a forked child process, because a service there would lose changes or damage the store."""

from __future__ import annotations

import os

from ...core.process_fork import ForkedChild, after_fork, keep_forever

_WHERE = (
    "The service of this sandbox belongs to process {process} and does not work in a forked child process, because"
    " changes would be lost."
)
_USE_SOCKETS = "Use threads; or call lab.serve() before the fork, and connect(server.base_url, token) in each child."


def unusable_in_forks(service: object) -> None:
    """Make a service raise Unsupported in a forked child, without closing or finalizing the service's attributes."""
    elsewhere = ForkedChild(_WHERE.format(process=os.getpid()), _USE_SOCKETS)

    def leave(service: object) -> None:
        attributes = vars(service)
        keep_forever(*attributes.values())
        attributes.update(dict.fromkeys(attributes, elsewhere))

    after_fork(service, leave)
