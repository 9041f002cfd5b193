"""Checks that a session has recorded exactly the expected exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from ...core.http.messages import Query
from ..current_session import SessionLike, session_or_current

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange

ExpectedLine: TypeAlias = "str | tuple[object, ...]"

_NO_RESPONSE = "-"


def assert_exchanges(expected: Sequence[ExpectedLine], *, after: int = 0, session: SessionLike = None) -> None:
    """Check that the session has sent exactly these exchanges, in this order.

    Args:
        expected: One text for each exchange, such as "PUT 308" or "POST /upload/storage/v3/files?uploadType=resumable
            200". The text consists of the method, optionally a path, and the status. The path may contain the wildcard
            `*`. Query parameters in the path must be in the request, which may have further parameters. The status is
            a number, a class such as "2xx", or "-" for no response. "*" matches every method or status. A tuple such
            as ("PUT", 308) may take the place of the text.
        after: Exchanges up to this number (column n of `exchanges()`) are ignored.

    Raises:
        AssertionError: The exchanges differ. The message has a line for each exchange. A line with `-` is an expected
            exchange that is missing, and a line with `+` is an unexpected exchange.
        ValueError: An element of `expected` has no method or no status.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="hello.txt")
    >>> svc.assert_exchanges(["POST /upload/* 200"])
    """
    patterns = [ExpectedExchange.read(line) for line in expected]
    recorded = [exchange for exchange in session_or_current(session).exchanges if exchange.n > after]
    pairs = _align(patterns, recorded)
    if any(None in pair for pair in pairs):
        raise AssertionError(
            "\n".join(["the exchanges differ from the expected exchanges:", *_diff_lines(pairs, patterns)])
        )


@dataclass(frozen=True, slots=True)
class ExpectedExchange:
    """A pattern for an exchange, with a method, a path, query parameters and a status. `text` is the original text."""

    text: str
    method: str
    path: str
    query: Query
    status: str

    @classmethod
    def read(cls, line: ExpectedLine) -> ExpectedExchange:
        """Parse an element of `expected`. Raises ValueError if the element does not have two or three words."""
        words = line.split() if isinstance(line, str) else [str(word) for word in line]
        if not 2 <= len(words) <= 3:
            raise ValueError(f'{line!r} is not an exchange; write "PUT 308" or "GET /storage/v3/files 200"')
        path, _, query = (words[1] if len(words) == 3 else "*").partition("?")
        return cls(" ".join(words), words[0].upper(), path or "*", Query.parse(query), words[-1].lower())

    def matches(self, exchange: Exchange) -> bool:
        parts, status = urlsplit(exchange.url), _NO_RESPONSE if exchange.status is None else str(exchange.status)
        query_pairs = set(Query.parse(parts.query).pairs)
        return (
            self.method in ("*", exchange.method)
            and fnmatchcase(parts.path, self.path)
            and query_pairs.issuperset(self.query.pairs)
            and (self.status in ("*", status) or self.status == f"{status[0]}xx")
        )


Pairs: TypeAlias = "list[tuple[ExpectedExchange | None, Exchange | None]]"


def _align(patterns: Sequence[ExpectedExchange], exchanges: Sequence[Exchange]) -> Pairs:
    """Pair as many patterns as possible with matching exchanges, in order.

    Unmatched patterns and exchanges get None.
    """
    matching = [[pattern.matches(exchange) for exchange in exchanges] for pattern in patterns]
    counts = _pair_counts(matching, len(exchanges))
    pairs: Pairs = []
    row, column = 0, 0
    while row < len(patterns) or column < len(exchanges):
        if (
            row < len(patterns)
            and column < len(exchanges)
            and matching[row][column]
            and counts[row][column] == counts[row + 1][column + 1] + 1
        ):
            pairs.append((patterns[row], exchanges[column]))
            row, column = row + 1, column + 1
        elif column == len(exchanges) or (row < len(patterns) and counts[row + 1][column] >= counts[row][column + 1]):
            pairs.append((patterns[row], None))
            row += 1
        else:
            pairs.append((None, exchanges[column]))
            column += 1
    return pairs


def _pair_counts(matching: Sequence[Sequence[bool]], width: int) -> list[list[int]]:
    """Return a table of the largest numbers of pairs of `patterns[row:]` and `exchanges[column:]`."""
    counts = [[0] * (width + 1) for _ in range(len(matching) + 1)]
    for row in reversed(range(len(matching))):
        for column in reversed(range(width)):
            longer = counts[row + 1][column + 1] + 1 if matching[row][column] else 0
            counts[row][column] = max(longer, counts[row + 1][column], counts[row][column + 1])
    return counts


def _diff_lines(pairs: Pairs, patterns: Sequence[ExpectedExchange]) -> Iterator[str]:
    """Yield an error message line for each pair. Query parameters that are in no pattern are left out."""
    parameter_names = {name for pattern in patterns for name, _ in pattern.query.pairs}
    for pattern, exchange in pairs:
        mark = "+" if pattern is None else "-" if exchange is None else " "
        yield f"  {mark} {_line(exchange, parameter_names) if exchange else pattern.text if pattern else ''}"


def _line(exchange: Exchange, parameter_names: set[str]) -> str:
    parts = urlsplit(exchange.url)
    query = str(Query([pair for pair in Query.parse(parts.query).pairs if pair[0] in parameter_names]))
    target = f"{parts.path}?{query}" if query else parts.path
    reason = f" ({exchange.error})" if exchange.error else ""
    status = _NO_RESPONSE if exchange.status is None else exchange.status
    return f"{exchange.method} {target} {status}  n={exchange.n}{reason}"
