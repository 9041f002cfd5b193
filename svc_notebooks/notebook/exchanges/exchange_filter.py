"""Selects recorded exchanges by method, status and path, for the list of exchanges and for its form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .http_text import target

if TYPE_CHECKING:
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
