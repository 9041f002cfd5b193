"""Writes and reads HTTP archives (HAR 1.2), which contain no secrets, because exchanges contain no secrets (T-05)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ...client.downloads.downloads import check_destination, target_path
from ...client.session import SessionLike, session_or_current
from ...core.clock import format_time
from ...core.http.messages import Query, reason
from ...local.existing_file import read_file
from ...local.saving import save_bytes
from ..frames.frames import frame
from ..frames.schemas import HAR_FILE

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Exchange

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
    target = target_path(check_destination(to), "exchanges.har")
    recorded = _select(list(session_or_current(session).exchanges), exchanges)
    content = json.dumps(archive(recorded), ensure_ascii=False, indent=1).encode()
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
