"""Registers the receivers of students, each of which only the channels of one user can name.

A receiver is identified by its host and port, because the notebooks of a class may run on one machine. The
registrations are one named value of the store.
"""

from __future__ import annotations

import json
from typing import TypedDict

from ...core.errors.catalogue import refuse
from ..tables import Store
from .endpoints import Endpoint, parse_endpoint

_FACT = "class receivers"
_MOST_OF_A_USER = 20


class RegisteredReceiver(TypedDict):
    """The user whose channels may name the receiver, and the certificate authority of its deliveries, or None."""

    user: str
    ca_pem: str | None


def register_receiver(store: Store, user: str, address: str, ca_pem: str | None) -> Endpoint:
    """Register the host and port of an address for a user. The oldest of more than 20 receivers is removed.

    Raises ValueError for an invalid address, and ApiError (409) for a receiver of another user.
    """
    endpoint = parse_endpoint(address)
    with store.transaction():
        known = registered_receivers(store)
        before = known.pop(str(endpoint), None)
        if before and before["user"] != user:
            raise refuse("receiverOfAnother", address=str(endpoint))
        own = [key for key, receiver in known.items() if receiver["user"] == user]
        for key in own[: max(0, len(own) + 1 - _MOST_OF_A_USER)]:
            del known[key]
        known[str(endpoint)] = {"user": user, "ca_pem": ca_pem}
        store.users.set_fact(_FACT, json.dumps(known))
    return endpoint


def registered_receivers(store: Store) -> dict[str, RegisteredReceiver]:
    """Return the registered receivers by host and port, such as "localhost:8443", in the order of registration."""
    receivers: dict[str, RegisteredReceiver] = json.loads(store.users.find_fact(_FACT) or "{}")
    return receivers


def receiver_owner(store: Store, address: str) -> str | None:
    """Return the user of the registered receiver at an address, or None if no user has registered it."""
    receivers = registered_receivers(store)
    try:
        receiver = receivers.get(str(parse_endpoint(address))) if receivers else None
    except ValueError:  # a host name that is not valid
        return None
    return receiver["user"] if receiver else None
