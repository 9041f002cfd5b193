"""Compares the HTTP exchanges of two runs, checks expected exchanges, and writes and reads HTTP archives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlsplit

from ...client.downloads.downloads import target_path
from ...client.session import Session, SessionLike, SessionOwner, session_or_current
from ...core.http.messages import Query, reason
from ...core.times import format_time
from ...local.saving import make_folder, read_file, save_bytes
from ..frames import COMPARED, EXCHANGES, HAR_FILE, frame
from .exchanges import NO_RESPONSE, ExchangeView, exchange_row, exchanges

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Exchange


# A session, a sandbox, a frame of `exchanges()` or of `lab.journal()`, the path of an HTTP archive, or an exchange.
Run: TypeAlias = "Session | SessionOwner | DataFrame | str | os.PathLike[str] | ExchangeView"

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
    rows: list[Row] = []
    for view in (first, second):
        rows.append({**exchange_row(view.exchange)})
        for message in ("request", "response"):
            headers = getattr(view, f"{message}_headers")
            rows[-1] |= {f"{message} header {name}": value for name, value in headers}
            rows[-1][f"{message} body"] = getattr(view, f"{message}_body")
    names = [name for name in dict.fromkeys([*rows[0], *rows[1]]) if name not in _COLUMNS_OF_HEADERS]
    return {name: rows[0].get(name) for name in names}, {name: rows[1].get(name) for name in names}


def _rows(run: Run, name: str) -> list[Row]:
    from pandas import DataFrame

    if isinstance(session := getattr(run, "session", run), Session):
        run = exchanges(session=session)
    elif isinstance(run, ExchangeView):
        run = frame(EXCHANGES, [exchange_row(run.exchange)])
    elif isinstance(run, (str, os.PathLike)):
        run = frame(EXCHANGES, read_har(Path(run).expanduser()))
    if not isinstance(run, DataFrame) or not {"n", "method", "path"} <= set(run.columns):
        expected = "a session, an exchange, a result of exchanges() or lab.journal(), or an archive path"
        raise TypeError(f"{name} must be {expected}")
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
    for name in sorted(first, key=lambda name: name != "status"):
        if name in second and name not in ignored and first[name] != second[name]:
            texts = [None if row[name] is None else str(row[name]) for row in (first, second)]
            yield common | {"what": name, "first": texts[0], "second": texts[1]}


# -- checks that a session has recorded exactly the expected exchanges


ExpectedLine: TypeAlias = "str | tuple[object, ...]"


def assert_exchanges(expected: str | Sequence[ExpectedLine], *, after: int = 0, session: SessionLike = None) -> None:
    """Check that the session has sent exactly these exchanges, in this order.

    Args:
        expected: A text, or a list with one text for each exchange, such as "PUT 308" or
            "POST /upload/storage/v3/files?uploadType=resumable 200". The text consists of the method, optionally a
            path, and the status. The path may contain the wildcard `*`. Query parameters in the path must be in the
            request, which may have further parameters. The status is a number, a class such as "2xx", or "-" for no
            response. "*" matches every method or status. A tuple such as ("PUT", 308) may take the place of the text.
        after: Exchanges up to this number (column n of `exchanges()`) are ignored.

    Raises:
        AssertionError: The exchanges differ. The message has a line for each exchange. A line with `-` is an expected
            exchange that is missing, and a line with `+` is an unexpected exchange.
        ValueError: An element of `expected` has no method or no status.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="hello.txt")
    >>> svc.assert_exchanges(["POST /upload/* 200"])
    """
    patterns = [ExpectedExchange.read(line) for line in ([expected] if isinstance(expected, str) else expected)]
    recorded = [exchange for exchange in session_or_current(session).exchanges if exchange.n > after]
    if len(patterns) != len(recorded) or not all(map(ExpectedExchange.matches, patterns, recorded)):
        lines = _diff_lines(patterns, recorded)
        raise AssertionError("\n".join(["the exchanges differ from the expected exchanges:", *lines]))


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
        parts, status = urlsplit(exchange.url), NO_RESPONSE if exchange.status is None else str(exchange.status)
        query_pairs = set(Query.parse(parts.query).pairs)
        return (
            self.method in ("*", exchange.method)
            and fnmatchcase(parts.path, self.path)
            and query_pairs.issuperset(self.query.pairs)
            and (self.status in ("*", status) or self.status == f"{status[0]}xx")
        )


def _diff_lines(patterns: Sequence[ExpectedExchange], recorded: Sequence[Exchange]) -> Iterator[str]:
    """Yield the lines of the error message. Query parameters that are in no pattern are left out."""
    names = {name for pattern in patterns for name, _ in pattern.query.pairs}
    expected, lines = [pattern.text for pattern in patterns], [_line(exchange, names) for exchange in recorded]
    found = [next((each.text for each in patterns if each.matches(exchange)), None) for exchange in recorded]
    for opcode, a, b, c, d in SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
        if opcode != "equal":
            yield from (f"  - {text}" for text in expected[a:b])
        yield from (f"  {' ' if opcode == 'equal' else '+'} {line}" for line in lines[c:d])


def _line(exchange: Exchange, parameter_names: set[str]) -> str:
    parts = urlsplit(exchange.url)
    query = str(Query([pair for pair in Query.parse(parts.query).pairs if pair[0] in parameter_names]))
    target = f"{parts.path}?{query}" if query else parts.path
    reason = f" ({exchange.error})" if exchange.error else ""
    status = NO_RESPONSE if exchange.status is None else exchange.status
    return f"{exchange.method} {target} {status}  n={exchange.n}{reason}"


# -- HTTP archives (HAR 1.2), which contain no secrets, because exchanges contain no secrets (T-05)


Json = dict[str, Any]
Pairs = Iterable[tuple[str, str]]


def save_har(
    to: str | os.PathLike[str] = "exchanges.har",
    *,
    exchanges: DataFrame | Iterable[int] | None = None,
    overwrite: bool = False,
    session: SessionLike = None,
) -> DataFrame:
    """Save the session's exchanges as an HTTP archive (HAR 1.2), which the developer tools of browsers can open.

    The archive contains no tokens or other secrets. It contains the first 2 KiB of each text body.

    Args:
        to: The path of the file, or a folder, in which the file is named `exchanges.har`.
        exchanges: Only these exchanges: rows of `exchanges()`, or their numbers. None: all exchanges.
        overwrite: Replace an existing file that has other content. If False, such a file raises PathExists.

    Returns:
        One row: path (str), exchanges (Int64), size (Int64, bytes), outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError: `to` is not a path, or `exchanges` has no numbers of exchanges.
        ValueError: The session has no exchange with one of the numbers.
        FileNotFoundError: The folder of `to` does not exist.
        PathExists: A file with other content exists at the path. The file is not changed. PathExists is a subclass of
            FileExistsError. Each further request changes the content of the archive.

    >>> lab = svc.sandbox()
    >>> made = svc.generate_ids(1)
    >>> svc.save_har(folder / "run.har")["exchanges"].tolist()
    [1]
    """
    target = target_path(to, "exchanges.har")
    recorded = _select(list(session_or_current(session).exchanges), exchanges)
    content = json.dumps(archive(recorded), ensure_ascii=False, indent=1).encode()
    make_folder(target.parent)
    saved = save_bytes(target, content, overwrite=overwrite)
    return frame(HAR_FILE, [{**saved._asdict(), "path": str(saved.path), "exchanges": len(recorded)}])


def _select(recorded: list[Exchange], chosen: DataFrame | Iterable[int] | None) -> list[Exchange]:
    """Return the recorded exchanges with the chosen numbers, in the order in which they were sent."""
    from pandas import DataFrame

    if chosen is None:
        return recorded
    column: Any = chosen["n"] if isinstance(chosen, DataFrame) and "n" in chosen.columns else chosen
    try:
        numbers = {index(number) for number in column}
    except TypeError:
        raise TypeError("exchanges must be rows of exchanges(), or numbers of their column n") from None
    if missing := numbers.difference(exchange.n for exchange in recorded):
        raise ValueError(f"exchanges has {min(missing)}, and the record has no such exchange")
    return [exchange for exchange in recorded if exchange.n in numbers]


def archive(exchanges: Iterable[Exchange]) -> Json:
    """Return the HTTP archive of exchanges as a dict that can be written as JSON."""
    from ... import __version__

    creator = {"name": "svc-notebooks", "version": __version__}
    return {"log": {"version": "1.2", "creator": creator, "entries": [_entry(exchange) for exchange in exchanges]}}


def _entry(exchange: Exchange) -> Json:
    milliseconds = round(exchange.seconds * 1000, 3)
    entry = {
        "startedDateTime": format_time(exchange.time),
        "time": milliseconds,
        "request": _request(exchange),
        "response": _response(exchange),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
    }
    return entry | ({"comment": exchange.error} if exchange.error else {})


def _request(exchange: Exchange) -> Json:
    url = quote(exchange.url, safe=":/?#@!$&'()*+,;=%~")  # a redacted secret has brackets
    request: Json = {
        "method": exchange.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _name_value_pairs(exchange.request_headers),
        "queryString": _name_value_pairs(Query.parse(urlsplit(exchange.url).query).pairs),
        "headersSize": -1,
        "bodySize": exchange.sent,
    }
    if exchange.sent:
        request["postData"] = {"mimeType": _content_type(exchange.request_headers), "text": exchange.request_body or ""}
    return request


def _response(exchange: Exchange) -> Json:
    content: Json = {"size": exchange.received, "mimeType": _content_type(exchange.response_headers)}
    if exchange.response_body is not None:
        content["text"] = exchange.response_body
    return {
        "status": exchange.status or 0,
        "statusText": reason(exchange.status or 0),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _name_value_pairs(exchange.response_headers),
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": exchange.received,
    }


def _name_value_pairs(pairs: Pairs) -> list[Json]:
    return [{"name": name, "value": value} for name, value in pairs]


def _content_type(pairs: Pairs) -> str:
    return next((value for name, value in pairs if name.lower() == "content-type"), "")


def read_har(path: str | os.PathLike[str]) -> list[Json]:
    """Read an HTTP archive as dicts with the columns of `exchanges()`. Raises ValueError or OSError for other files."""
    try:
        entries = json.loads(read_file(Path(path)))["log"]["entries"]
        return [_row(n, entry) for n, entry in enumerate(entries, 1)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is not an HTTP archive: {type(error).__name__} {error}") from None


def _row(n: int, entry: Json) -> Json:
    request, response = entry["request"], entry["response"]
    headers, response_headers = (
        {header["name"].lower(): header["value"] for header in message["headers"]} for message in (request, response)
    )
    parts = urlsplit(request["url"])
    return {
        "n": n,
        "time": entry["startedDateTime"],
        "method": request["method"],
        "path": parts.path,
        "query": parts.query,
        "status": response["status"] or None,
        "sent": max(0, request["bodySize"]),
        "received": max(0, response["content"]["size"]),
        "content_range": headers.get("content-range") or response_headers.get("content-range"),
        "range": headers.get("range") or response_headers.get("range"),
        "error": entry.get("comment"),
    }
