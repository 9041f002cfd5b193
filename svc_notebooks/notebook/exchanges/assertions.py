"""Saying what should have gone over the wire, and seeing at a glance where it went otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from ...core.http.messages import Query
from ..current_session import session_or_current

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.transport.recorder import Exchange

Line: TypeAlias = "str | tuple[object, ...]"

_NO_ANSWER = "-"


def assert_exchanges(expected: Sequence[Line], *, after: int = 0, session: Session | None = None) -> None:
    """Check that these exchanges went over the wire, in this order and no others.

    Args:
        expected: One text for each exchange, like "PUT 308" or "POST /upload/storage/v3/files?uploadType=resumable
            200": the method, perhaps a path, the status. A path may have `*` in it; parameters behind a `?` must be
            among those of the request. A status may be a class, "2xx", or "-" where no answer came; "*" stands for
            any. A tuple is taken as its words.
        after: Exchanges up to this number (column n of `exchanges()`) do not count.

    Raises:
        AssertionError: It went otherwise; the message shows both, line by line: `-` was expected and did not come,
            `+` came and was not expected.
        ValueError: A line has no method and status.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="hello.txt")
    >>> svc.assert_exchanges(["POST /upload/* 200"])
    """
    patterns = [ExpectedExchange.read(line) for line in expected]
    found = [one for one in session_or_current(session).exchanges if one.n > after]
    pairs = _aligned(patterns, found)
    if any(None in pair for pair in pairs):
        raise AssertionError("\n".join(["the exchanges are not those that were expected:", *_picture(pairs, patterns)]))


@dataclass(frozen=True, slots=True)
class ExpectedExchange:
    """One expected exchange."""

    text: str
    method: str
    path: str
    query: Query
    status: str

    @classmethod
    def read(cls, line: Line) -> ExpectedExchange:
        """From a line. Raises ValueError."""
        words = line.split() if isinstance(line, str) else [str(word) for word in line]
        if not 2 <= len(words) <= 3:
            raise ValueError(f'{line!r} is no exchange; write "PUT 308" or "GET /storage/v3/files 200"')
        path, _, query = (words[1] if len(words) == 3 else "*").partition("?")
        return cls(" ".join(words), words[0].upper(), path or "*", Query.parse(query), words[-1].lower())

    def fits(self, one: Exchange) -> bool:
        """Whether an exchange is one of those."""
        parts, status = urlsplit(one.url), _NO_ANSWER if one.status is None else str(one.status)
        there = set(Query.parse(parts.query).pairs)
        return (
            self.method in ("*", one.method)
            and fnmatchcase(parts.path, self.path)
            and there.issuperset(self.query.pairs)
            and (self.status in ("*", status) or self.status == f"{status[0]}xx")
        )


Pairs: TypeAlias = "list[tuple[ExpectedExchange | None, Exchange | None]]"


def _aligned(patterns: Sequence[ExpectedExchange], found: Sequence[Exchange]) -> Pairs:
    """Both in their order, side by side, with as many pairs as there can be."""
    fits = [[pattern.fits(one) for one in found] for pattern in patterns]
    most = _most_pairs(fits, len(found))
    pairs: Pairs = []
    at, of = 0, 0
    while at < len(patterns) or of < len(found):
        if at < len(patterns) and of < len(found) and fits[at][of] and most[at][of] == most[at + 1][of + 1] + 1:
            pairs.append((patterns[at], found[of]))
            at, of = at + 1, of + 1
        elif of == len(found) or (at < len(patterns) and most[at + 1][of] >= most[at][of + 1]):
            pairs.append((patterns[at], None))
            at += 1
        else:
            pairs.append((None, found[of]))
            of += 1
    return pairs


def _most_pairs(fits: Sequence[Sequence[bool]], width: int) -> list[list[int]]:
    """How many pairs can be made of what follows each place of both (the longest common subsequence)."""
    most = [[0] * (width + 1) for _ in range(len(fits) + 1)]
    for at in reversed(range(len(fits))):
        for of in reversed(range(width)):
            longer = most[at + 1][of + 1] + 1 if fits[at][of] else 0
            most[at][of] = max(longer, most[at + 1][of], most[at][of + 1])
    return most


def _picture(pairs: Pairs, patterns: Sequence[ExpectedExchange]) -> Iterator[str]:
    """A line for each pair; of addresses there are the parameters that somebody asked for."""
    asked = {name for pattern in patterns for name, _ in pattern.query.pairs}
    for pattern, one in pairs:
        mark = "+" if pattern is None else "-" if one is None else " "
        yield f"  {mark} {_line(one, asked) if one else pattern.text if pattern else ''}"


def _line(one: Exchange, asked: set[str]) -> str:
    parts = urlsplit(one.url)
    query = str(Query([pair for pair in Query.parse(parts.query).pairs if pair[0] in asked]))
    target = f"{parts.path}?{query}" if query else parts.path
    why = f" ({one.error})" if one.error else ""
    return f"{one.method} {target} {_NO_ANSWER if one.status is None else one.status}  n={one.n}{why}"
