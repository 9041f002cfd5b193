"""Identifiers and secrets: from the system's randomness, or from a seed, so that a notebook repeats itself."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from random import Random, SystemRandom
from string import ascii_lowercase
from typing import Any

_BASE32HEX = "0123456789abcdefghijklmnopqrstuv"


class Ids:
    """Draws identifiers in the shapes of the family.

    >>> a, b = Ids(seed=0), Ids(seed=0)
    >>> a.blob() == b.blob(), len(a.blob()), len(a.native())
    (True, 33, 44)
    """

    def __init__(self, seed: int | None = None, *, opening: int = 0, branch: int = 0) -> None:
        """Begin the sequences of a seed.

        `opening` counts the times that a store was opened before: no seeded id is drawn twice in one store.
        `branch` numbers the copies of a store that are used beside each other: each draws ids of its own.
        """
        self.seed = seed
        self.client_seed = f"{seed}/{opening}" if seed is not None and opening else seed
        """For the random numbers of a client in the same process: a store that is opened again gives another one."""
        self._seed = None if seed is None else f"{seed}/{opening}" + (f"/{branch}" if branch else "")
        self._resets = 0
        self._random = SystemRandom() if seed is None else Random(self._seed)
        # Tokens and users have a stream of their own: they stay when a reset begins another sequence of ids.
        self._secrets = SystemRandom() if seed is None else Random(f"tokens of {self._seed}")
        self._steps = self._begin_steps()

    def blob(self) -> str:
        """An id for a file with binary content, a folder or a shortcut."""
        return "1" + _text(self._random, 24)

    def native(self) -> str:
        """An id for a native document."""
        return "1" + _text(self._random, 33)[:43]

    def root(self) -> str:
        """An id for the folder that everything of a user is in."""
        return "0A" + _text(self._secrets, 12) + "Uk9PVA"

    def event(self) -> str:
        """An id for an event."""
        return "".join(self._random.choices(_BASE32HEX, k=26))

    def conference(self) -> str:
        """An id for a conference: `abc-defg-hij`."""
        letters = "".join(self._random.choices(ascii_lowercase, k=10))
        return f"{letters[:3]}-{letters[3:7]}-{letters[7:]}"

    def calendar(self) -> str:
        """What stands before the @ of a secondary calendar's id."""
        return "c_" + "".join(self._random.choices(_BASE32HEX, k=32))

    def upload(self) -> str:
        """An id for an upload session; who knows it could be let in, so it cannot be guessed."""
        return "AE" + _text(self._random, 48)

    def token(self) -> str:
        """An access token."""
        return "svc." + _text(self._secrets, 30)

    def code(self) -> str:
        """An authorization code."""
        return "4/" + _text(self._secrets, 30)

    def refresh_token(self) -> str:
        """A refresh token."""
        return "1//" + _text(self._secrets, 30)

    def key_id(self) -> str:
        """The name of a service account's key."""
        return self._secrets.randbytes(20).hex()

    def number(self) -> str:
        """What an OAuth client is called: 21 digits."""
        return str(self._secrets.randint(10**20, 10**21 - 1))

    def secret(self) -> str:
        """A key that nobody outside sees."""
        return _text(self._secrets, 30)

    def step(self) -> int:
        """How far the number of a channel's next message lies behind the last (N-02)."""
        return self._steps.randint(1, 9)

    def _begin_steps(self) -> Random:
        """A stream of its own: whether somebody watches changes no file's id."""
        return SystemRandom() if self._seed is None else Random(f"steps of {self._seed}")

    def restart(self) -> None:
        """Begin the next seeded sequence: an id from before names nothing that is made from now on."""
        if self._seed is not None:
            self._resets += 1
            self._random = Random(f"{self._seed} after reset {self._resets}")
            self._steps = self._begin_steps()

    def state(self) -> Any:
        """Where a seeded sequence stands; None without a seed."""
        return None if self._seed is None else (self._random.getstate(), self._steps.getstate())

    def go_to(self, state: Any) -> None:
        """Go back to where `state` was taken; it may have been JSON meanwhile. Raises ValueError for what is none."""
        if state is None or self._seed is None:
            return
        try:
            self._random, self._steps = (_standing(*kept) for kept in state)  # both or none
        except (TypeError, OverflowError) as error:
            raise ValueError(f"the sequence of ids cannot be used: {error}") from None


def _standing(version: int, words: Iterable[int], gauss: float | None) -> Random:
    """A sequence that goes on where another one stood."""
    random = Random()
    random.setstate((version, tuple(words), gauss))
    return random


def _text(random: Random, size: int) -> str:
    return urlsafe_b64encode(random.randbytes(size)).decode()
