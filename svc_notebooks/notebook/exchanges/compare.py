"""Compares the HTTP exchanges of two runs, which come from sessions, DataFrames or HTTP archives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..frames.frames import frame
from ..frames.schemas import COMPARED, EXCHANGES
from .exchange_view import ExchangeView
from .exchanges import exchange_row, exchanges
from .har import read_har

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..current_session import SessionOwner

Run: TypeAlias = "Session | SessionOwner | DataFrame | str | os.PathLike[str] | ExchangeView"
"""A session, a sandbox, a frame of `exchanges()` or of `lab.journal()`, the path of an HTTP archive, or an exchange."""

_IGNORED_COLUMNS = frozenset({"n", "time"})
_COLUMNS_OF_HEADERS = frozenset({"content_range", "range"})
Row: TypeAlias = dict[str, Any]


def compare_exchanges(first: Run, second: Run, *, ignore: Iterable[str] = ()) -> DataFrame:
    """Compare the exchanges of two runs, and return a row for each difference.

    Exchanges are paired by method and path, in order. All columns of both runs except `time` and `n` are compared. Of
    two single exchanges, as `exchange()` and `resend()` return them, all headers and bodies are compared too.

    Args:
        first, second: A session, a sandbox, a frame of `exchanges()` or `lab.journal()`, the path of an HTTP archive,
            or an exchange.
        ignore: Further columns that are not compared, such as "query" if session URIs differ.

    Returns:
        One row for each difference: first_n, second_n (Int64, the number of the exchange in each run, missing if the
        run has no such exchange), exchange (str, method and path), what (str, the column, header or body that
        differs, or "only in first" or "only in second"), first, second (str, the values in each run).

    Raises:
        TypeError: `first` or `second` is not a session, a frame of exchanges or a path.
        ValueError: The file is not an HTTP archive.

    >>> lab = svc.sandbox()
    >>> made = svc.generate_ids(1)
    >>> before = svc.exchanges()
    >>> with lab.faults(status=503):
    ...     made = svc.generate_ids(1)
    >>> svc.compare_exchanges(before, svc.exchanges()[1:])[["what", "first", "second"]].values.tolist()[0]
    ['status', '200', '503']
    """
    ignored = _IGNORED_COLUMNS.union(ignore)
    if isinstance(first, ExchangeView) and isinstance(second, ExchangeView):
        return frame(COMPARED, list(_differences(*_messages(first, second), ignored)))
    runs = _rows(first, "first"), _rows(second, "second")
    return frame(COMPARED, [row for pair in _pairs(*runs) for row in _differences(*pair, ignored)])


def _messages(first: ExchangeView, second: ExchangeView) -> tuple[Row, Row]:
    """Return the columns, headers and bodies of two exchanges as rows with the same keys."""
    rows = [dict(exchange_row(view.exchange)) | dict(_headers_and_bodies(view)) for view in (first, second)]
    names = [name for name in dict.fromkeys([*rows[0], *rows[1]]) if name not in _COLUMNS_OF_HEADERS]
    return {name: rows[0].get(name) for name in names}, {name: rows[1].get(name) for name in names}


def _headers_and_bodies(view: ExchangeView) -> Iterator[tuple[str, str | None]]:
    for message in ("request", "response"):
        for name, value in getattr(view, f"{message}_headers"):
            yield f"{message} header {name}", value
        yield f"{message} body", getattr(view, f"{message}_body")


def _rows(run: Run, name: str) -> list[Row]:
    from pandas import DataFrame

    from ...client.session import Session

    if isinstance(session := getattr(run, "session", run), Session):
        run = exchanges(session=session)
    elif isinstance(run, ExchangeView):
        run = frame(EXCHANGES, [exchange_row(run.exchange)])
    elif isinstance(run, (str, os.PathLike)):
        run = frame(EXCHANGES, read_har(Path(run).expanduser()))
    if not isinstance(run, DataFrame) or not {"n", "method", "path"} <= set(run.columns):
        raise TypeError(
            f"{name} must be a session, an exchange, a result of exchanges() or lab.journal(), or an archive path"
        )
    nested = [name for name in run.columns if any(isinstance(value, list | dict) for value in run[name])]
    columns = run.drop(columns=nested).astype(object)
    records = columns.where(run.notna(), None).to_dict("records")
    return [{str(key): value for key, value in record.items()} for record in records]


def _pairs(first: list[Row], second: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    keys, others = ([f"{row['method']} {row['path']}" for row in rows] for rows in (first, second))
    for opcode, a, b, c, d in SequenceMatcher(None, keys, others, autojunk=False).get_opcodes():
        paired = min(b - a, d - c) if opcode in ("equal", "replace") else 0
        yield from zip(first[a : a + paired], second[c : c + paired], strict=True)
        yield from ((row, None) for row in first[a + paired : b])
        yield from ((None, row) for row in second[c + paired : d])


def _differences(first: Row | None, second: Row | None, ignored: frozenset[str]) -> Iterator[Row]:
    row = first or second or {}
    common = {
        "first_n": first and first["n"],
        "second_n": second and second["n"],
        "exchange": f"{row['method']} {row['path']}",
    }
    if first is None or second is None:
        yield common | {"what": "only in second" if first is None else "only in first"}
        return
    for name in first:
        if name in second and name not in ignored and first[name] != second[name]:
            texts = [None if row[name] is None else str(row[name]) for row in (first, second)]
            yield common | {"what": name, "first": texts[0], "second": texts[1]}
