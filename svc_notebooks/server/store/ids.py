"""Generates random identifiers and secrets, or reproducible ones from a seed, so that notebooks can be repeated."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from random import Random, SystemRandom
from string import ascii_lowercase
from typing import Any

_BASE32HEX = "0123456789abcdefghijklmnopqrstuv"

# The number of the database, in new ids of files, session URIs and page tokens. Today there is one (docs/scale.md).
SHARD = 0

_SHARD = urlsafe_b64encode(SHARD.to_bytes(3, "big"))[2:].decode()  # two characters, so up to 4095


class Ids:
    """A generator of identifiers in the formats of the HTTP interface.

    >>> a, b = Ids(seed=0), Ids(seed=0)
    >>> a.blob() == b.blob(), len(a.blob()), len(a.native())
    (True, 33, 44)
    """

    def __init__(self, seed: int | None = None, *, opening: int = 0, branch: int = 0) -> None:
        """Begin the random sequences of a seed, or unpredictable sequences without a seed.

        `opening` is the number of earlier openings of the store, and `branch` is the number of a copy of the store.
        Each opening and each copy gets different ids.
        """
        self.seed = seed
        # The seed for a client in the same process. It is different for every opening of a store.
        self.client_seed = f"{seed}/{opening}" if seed is not None and opening else seed
        self._seed = None if seed is None else f"{seed}/{opening}" + (f"/{branch}" if branch else "")
        self._resets = 0
        self._random = SystemRandom() if seed is None else Random(self._seed)
        # Tokens and users have their own sequence, because they stay when a reset begins a new sequence of ids.
        self._secrets = SystemRandom() if seed is None else Random(f"tokens of {self._seed}")
        self._steps = self._begin_steps()

    def blob(self) -> str:
        """Return an id for a file with binary content, a folder or a shortcut."""
        return self._with_shard("1", "2", _text(self._random, 24))

    def native(self) -> str:
        """Return an id for a native document."""
        return self._with_shard("1", "2", _text(self._random, 33)[:43])

    def root(self) -> str:
        """Return an id for the root folder of a user."""
        return self._with_shard("0A", "0B", _text(self._secrets, 12) + "Uk9PVA")

    def _with_shard(self, seeded: str, prefix: str, text: str) -> str:
        """Return an id with the shard after its prefix, or one without it from a seed, as older versions made all."""
        return seeded + text if self._seed is not None else prefix + _SHARD + text[len(_SHARD) :]

    def event(self) -> str:
        """Return an id for an event."""
        if self._seed is None:  # in one call of the operating system
            return "".join(_BASE32HEX[byte % 32] for byte in self._random.randbytes(26))
        return "".join(self._random.choices(_BASE32HEX, k=26))

    def conference(self) -> str:
        """Return an id for a conference, as `abc-defg-hij`."""
        letters = "".join(self._random.choices(ascii_lowercase, k=10))
        return f"{letters[:3]}-{letters[3:7]}-{letters[7:]}"

    def calendar(self) -> str:
        """Return the local part of a new secondary calendar's id, which is the text before the @."""
        return "c_" + "".join(self._random.choices(_BASE32HEX, k=32))

    def upload(self) -> str:
        """Return an id for an upload session. The id may give access, so it is hard to guess without a seed."""
        return self._with_shard("AE", "AF", _text(self._random, 48))

    def token(self) -> str:
        """Return a new access token."""
        return "svc." + _text(self._secrets, 30)

    def code(self) -> str:
        """Return a new OAuth authorization code."""
        return "4/" + _text(self._secrets, 30)

    def refresh_token(self) -> str:
        """Return a new OAuth refresh token."""
        return "1//" + _text(self._secrets, 30)

    def key_id(self) -> str:
        """Return an id for the key of a service account."""
        return self._secrets.randbytes(20).hex()

    def number(self) -> str:
        """Return a new id of 21 digits for an OAuth client."""
        return str(self._secrets.randint(10**20, 10**21 - 1))

    def secret(self) -> str:
        """Return a new secret, such as the secret with which the service signs page tokens."""
        return _text(self._secrets, 30)

    def step(self) -> int:
        """Return the amount from 1 to 9 by which a channel's next message number increases (N-02)."""
        return self._steps.randint(1, 9)

    def _begin_steps(self) -> Random:
        """Return the separate generator for message numbers, so that channels do not change the ids of files."""
        return SystemRandom() if self._seed is None else Random(f"steps of {self._seed}")

    def restart(self) -> None:
        """Begin the next seeded sequence after a reset, so that no id is generated a second time."""
        if self._seed is not None:
            self._resets += 1
            self._random = Random(f"{self._seed} after reset {self._resets}")
            self._steps = self._begin_steps()

    def state(self) -> Any:
        """Return the state of the seeded generators for `go_to`, or None without a seed."""
        return None if self._seed is None else (self._random.getstate(), self._steps.getstate())

    def go_to(self, state: Any) -> None:
        """Restore a state that `state` returned. The state may have been converted to JSON and back.

        Does nothing without a state or a seed. Raises ValueError for an invalid state.
        """
        if state is None or self._seed is None:
            return
        try:
            self._random, self._steps = (_restore(*kept) for kept in state)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"the saved ids state is not valid: {error}") from None


def _restore(version: int, words: Iterable[int], gauss: float | None) -> Random:
    random = Random()
    random.setstate((version, tuple(words), gauss))
    return random


def _text(random: Random, size: int) -> str:
    return urlsafe_b64encode(random.randbytes(size)).decode()
