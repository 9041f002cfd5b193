"""Lists the recorded exchanges of a session (D-04), from which tokens were removed (T-05)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias
from urllib.parse import urlsplit

from ...client.session import SessionLike, session_or_current
from ..frames.frames import Record, frame
from ..frames.schemas import EXCHANGES
from .exchange_view import ExchangeView
from .request_code import target

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Exchange


MethodArgument: TypeAlias = "str | Iterable[str] | None"
StatusArgument: TypeAlias = "int | str | Iterable[int | str] | None"

NO_RESPONSE = "-"
"""The status of an exchange without a response, as in `assert_exchanges`."""

_STATUS = re.compile(r"[1-5]xx|[1-5]\d\d|-")


@dataclass(frozen=True, slots=True)
class ExchangeFilter:
    """Conditions for an exchange. An empty condition accepts every exchange."""

    methods: frozenset[str]
    statuses: frozenset[str]
    path: str

    @classmethod
    def read(cls, method: MethodArgument, status: StatusArgument, path: str | None) -> ExchangeFilter:
        """Return the filter for these arguments. Raises ValueError or TypeError for an invalid argument."""
        if path is not None and not isinstance(path, str):
            raise TypeError(f"path must be a text that the path contains, not {type(path).__name__}")
        return cls(frozenset(_methods(method)), frozenset(_statuses(status)), (path or "").lower())

    def matches(self, exchange: Exchange) -> bool:
        """Return True if an exchange meets all conditions."""
        status = NO_RESPONSE if exchange.status is None else str(exchange.status)
        return (
            (not self.methods or exchange.method in self.methods)
            and (not self.statuses or not self.statuses.isdisjoint({status, f"{status[0]}xx"}))
            and self.path in target(exchange).lower()
        )


def _methods(method: MethodArgument) -> list[str]:
    if method is None:
        return []
    methods = list(method) if isinstance(method, Iterable) and not isinstance(method, str) else [method]
    if wrong := [text for text in methods if not (isinstance(text, str) and text.isalpha())]:
        raise ValueError(f"method has {wrong[0]!r}; it must be a method such as 'PUT', or several")
    return [text.upper() for text in methods]


def _statuses(status: StatusArgument) -> list[str]:
    if status is None:
        return []
    statuses = status if isinstance(status, Iterable) and not isinstance(status, str) else [status]
    texts = [str(each).strip().lower() for each in statuses]
    if wrong := [text for text in texts if not _STATUS.fullmatch(text)]:
        raise ValueError(
            f"status has {wrong[0]!r}; it must be a number such as 404, a class such as '4xx', '-' for no response, or"
            " several"
        )
    return texts


def exchanges(
    *,
    method: MethodArgument = None,
    status: StatusArgument = None,
    path: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """List the last 1000 HTTP exchanges of the session. The oldest exchange is the first row.

    `session.exchanges.clear()` removes all exchanges from the list.

    Args:
        method: Only exchanges with this method or one of these methods, such as "PUT".
        status: Only exchanges with this status or one of these: a number such as 404, a class such as "4xx", or "-"
            for no response.
        path: Only exchanges whose path or query contains this text, in upper or lower case.
        session: None: the current session.

    Returns:
        One row for each exchange: n (Int64, the number from 1), time (datetime64[ms, UTC]), method, path (str),
        status (Int64, missing if there was no response), sent and received (Int64, bytes of the bodies),
        content_range and range (str, request headers or else response headers), error (str, the reason if there
        was no response), query (str).

    Raises:
        ValueError: `method` or `status` is invalid.
        TypeError: `path` is not a text.

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.exchanges()[["n", "method", "status"]].values.tolist()
    [[1, 'POST', 200]]
    >>> len(svc.exchanges(status="4xx"))
    0
    """
    conditions = ExchangeFilter.read(method, status, path)
    recorded = session_or_current(session).exchanges
    return frame(EXCHANGES, [exchange_row(exchange) for exchange in recorded if conditions.matches(exchange)])


def exchange(n: SupportsIndex = -1, *, session: SessionLike = None) -> ExchangeView:
    """Return a recorded exchange as a view, with methods that show it, convert it to code and send it again.

    The methods are `http()`, `curl()`, `python()`, `diagram()` and `resend()`. A notebook displays the view as HTML.

    Args:
        n: The number of the exchange in column n of `exchanges()`. -1 is the last exchange, -2 the last but one.

    Returns:
        An `ExchangeView`.

    Raises:
        TypeError: `n` is not a whole number.
        ValueError: The session has no exchange with this number, or the exchange is no longer recorded.

    >>> lab = svc.sandbox()
    >>> made = svc.generate_ids(1)
    >>> print(str(svc.exchange()).splitlines()[0])
    GET /storage/v3/files/generateIds?count=1 HTTP/1.1
    """
    if isinstance(n, bool) or not isinstance(n, SupportsIndex):
        raise TypeError(f"n must be a number from the column n of exchanges(), not {type(n).__name__}")
    session, number = session_or_current(session), index(n)
    recorded = list(session.exchanges)
    numbers = [exchange.n for exchange in recorded]
    if number in numbers:
        position = numbers.index(number)
    elif number < 0 and -number <= len(recorded):
        position = len(recorded) + number
    else:
        available = f"the recorded exchanges are {numbers[0]} to {numbers[-1]}" if recorded else "nothing was sent yet"
        raise ValueError(f"n is {number}, but there is no such exchange; {available}")
    return ExchangeView(recorded, position, session)


def exchange_row(exchange: Exchange) -> Record:
    """Return the values of the columns of `exchanges()` for one exchange."""
    request_headers, response_headers = dict(exchange.request_headers), dict(exchange.response_headers)
    parts = urlsplit(exchange.url)
    return {
        "n": exchange.n,
        "time": exchange.time,
        "method": exchange.method,
        "path": parts.path,
        "query": parts.query,
        "status": exchange.status,
        "sent": exchange.sent,
        "received": exchange.received,
        "content_range": request_headers.get("Content-Range") or response_headers.get("Content-Range"),
        "range": request_headers.get("Range") or response_headers.get("Range"),
        "error": exchange.error,
    }
