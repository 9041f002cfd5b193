"""Many small files up and down with workers, beside one worker and a plain pool of threads with requests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

import pandas as pd
import requests
from requests.adapters import HTTPAdapter

from bench.processes import MIB, TOKEN, folder, ours, slow_line
from bench.rounds import Run, alternate, processor_timed, timed
from bench.table import HELD, MISSED, Row, at_least, at_most, compare, microseconds, milliseconds
from svc_notebooks.client.session import Session
from svc_notebooks.notebook.files.downloads.downloads import download
from svc_notebooks.notebook.files.files import upload
from svc_notebooks.notebook.files.search import files

CONTENT = bytes(1024)
DELAY = 0.025
MANY, FEW, LEAST = 320, 32, 8
ROUNDS = 9
LISTED = 10_000
COLUMNS = ["id", "name", "size", "mime_type", "md5_checksum"]
FIELDS = "nextPageToken,files(id,name,size,mimeType,createdTime,modifiedTime,trashed,starred,parents,webViewLink)"

Work: TypeAlias = "Callable[[Path], object]"
"""Downloads all files to a folder."""


class Bulk:
    """The same files for both sides: a frame for ours, and one requests session with 16 connections for the other."""

    def __init__(self, base_url: str, state: Path, number: int) -> None:
        self.session = Session(base_url, TOKEN, state_dir=state)
        self.folders = (state / str(n) for n in count())
        names = [f"{n}.bin" for n in range(number)]
        upload([CONTENT] * number, name=names, workers=8, session=self.session)
        self.frame = files(limit=number, fields=COLUMNS, session=self.session)
        self.base_url = base_url
        self.web = requests.Session()
        self.web.mount("http://", HTTPAdapter(pool_maxsize=16))
        self.web.headers["Authorization"] = f"Bearer {TOKEN}"

    def downloads(self, workers: int) -> Work:
        """Ours with so many workers."""
        return lambda to: download(self.frame, to, workers=workers, progress=False, session=self.session)

    def plain_downloads(self, workers: int) -> Work:
        """A pool of so many threads, which compare the digest and write atomically."""

        def fetch(row: Any, to: Path) -> None:
            response = self.web.get(f"{self.base_url}/storage/v3/files/{row.id}", params={"alt": "media"})
            response.raise_for_status()
            if hashlib.md5(response.content).hexdigest() != row.md5_checksum:
                raise AssertionError(row.name)
            part = to / f".{token_hex(8)}"
            part.write_bytes(response.content)
            os.link(part, to / row.name)
            part.unlink()

        def run(to: Path) -> None:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(lambda row: fetch(row, to), self.frame.itertuples()))

        return run

    def to_new_folder(self, work: Work, clock: Callable[[Callable[[], object]], Run] = timed) -> Run:
        """The cost of downloads to an empty folder, for each file."""

        def run() -> float:
            to = next(self.folders)
            to.mkdir()
            cost = clock(lambda: work(to))()
            if len(list(to.iterdir())) != len(self.frame):
                raise AssertionError("not all files were saved")
            shutil.rmtree(to)
            return cost / len(self.frame)

        return run

    def uploads(self, workers: int) -> Run:
        """Ours with so many workers, for each file."""
        names = list(self.frame["name"])
        contents = [CONTENT] * len(names)
        work = timed(lambda: upload(contents, name=names, workers=workers, progress=False, session=self.session))
        return lambda: work() / len(names)

    def plain_uploads(self, workers: int) -> Run:
        """A pool of so many threads, which send metadata and content in one request."""
        url, kind = f"{self.base_url}/upload/storage/v3/files?uploadType=multipart", "multipart/related; boundary=b"

        def send(name: str) -> None:
            parts = [(b"application/json", json.dumps({"name": name}).encode()), (b"application/octet-stream", CONTENT)]
            body = b"".join(b"--b\r\nContent-Type: %s\r\n\r\n%s\r\n" % part for part in parts) + b"--b--"
            response = self.web.post(url, data=body, headers={"Content-Type": kind})
            response.raise_for_status()
            response.json()

        def run() -> None:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(send, self.frame["name"]))

        work = timed(run)
        return lambda: work() / len(self.frame)


@contextmanager
def _bulk(number: int, delay: float = 0) -> Iterator[Bulk]:
    with ExitStack() as stack:
        served = stack.enter_context(ours())
        base_url = stack.enter_context(slow_line(served, delay)) if delay else served.base_url
        yield Bulk(base_url, stack.enter_context(folder(on_disk=False)), number)


def over_a_slow_line() -> Iterator[Row]:
    """25 ms each way, so that nothing but the number of requests at a time matters.

    One worker moves fewer files, because each takes it as long.
    """
    with _bulk(FEW, DELAY) as bulk, _bulk(LEAST, DELAY) as least:
        downloaded = alternate(
            {
                "1": least.to_new_folder(least.downloads(1)),
                "16": bulk.to_new_folder(bulk.downloads(16)),
                "plain": bulk.to_new_folder(bulk.plain_downloads(16)),
            },
            ROUNDS,
        )
        uploaded = alternate({"1": least.uploads(1), "16": bulk.uploads(16), "plain": bulk.plain_uploads(16)}, ROUNDS)
    # An upload needs one request more, for the ids of all files.
    for work, costs, goal in (("download", downloaded, 0.8), ("upload", uploaded, 0.7)):
        title = f"{work} {FEW} files of 1 KB, 25 ms each way, 16 workers"
        yield compare(title, costs["16"], costs["1"], "one worker", at_least(8), _each)
        yield compare(title, costs["16"], costs["plain"], "16 threads with requests", at_least(goal), _each)


def on_one_machine() -> Iterator[Row]:
    """No delay: the processor is what limits the speed."""
    with _bulk(MANY) as bulk:
        down = {str(n): bulk.to_new_folder(bulk.downloads(n)) for n in (1, 4, 16)}
        down |= {f"plain {n}": bulk.to_new_folder(bulk.plain_downloads(n)) for n in (4, 16)}
        downloaded = alternate(down, ROUNDS)
        up = {str(n): bulk.uploads(n) for n in (1, 4, 16)} | {f"plain {n}": bulk.plain_uploads(n) for n in (4, 16)}
        uploaded = alternate(up, ROUNDS)
    for work, costs in (("download", downloaded), ("upload", uploaded)):
        title = f"{work} {MANY} files of 1 KB"
        beside_one = compare(f"{title}, 4 workers", costs["4"], costs["1"], "one worker", at_least(1), _each)
        yield replace(beside_one, goal="", held="")  # one worker and the service occupy two cores
        for n in (4, 16):
            name = f"{n} threads with requests"
            yield compare(f"{title}, {n} workers", costs[f"{n}"], costs[f"plain {n}"], name, at_least(1), _each)


def processor_time() -> Iterator[Row]:
    """The processor time of the client, for each download."""
    with _bulk(MANY) as bulk:
        work = {"ours": bulk.downloads(1), "plain": bulk.plain_downloads(1)}
        costs = alternate({name: bulk.to_new_folder(run, processor_timed) for name, run in work.items()}, ROUNDS)
    title = "processor time of the client for a download of 1 KB"
    yield compare(title, costs["ours"], costs["plain"], "requests, same checks", at_most(1.5), microseconds)


def long_list() -> Iterator[Row]:
    """The same pages, as a frame."""
    with _bulk(1) as bulk:
        names = [f"{n}.bin" for n in range(1, LISTED)]
        upload([b""] * len(names), name=names, workers=8, progress=False, session=bulk.session)

        def plain() -> pd.DataFrame:
            records: list[dict[str, Any]] = []
            query: dict[str, Any] = {"pageSize": 1000, "fields": FIELDS}
            while True:
                page = bulk.web.get(f"{bulk.base_url}/storage/v3/files", params=query).json()
                records += page["files"]
                if "nextPageToken" not in page:
                    return pd.DataFrame(records)
                query["pageToken"] = page["nextPageToken"]

        def listed() -> pd.DataFrame:
            return files(limit=LISTED, session=bulk.session)

        if not len(plain()) == len(listed()) == LISTED:
            raise AssertionError("not all files are listed")
        costs = alternate({"ours": timed(listed), "plain": timed(plain)})
    title = f"files(limit={LISTED:_})"
    yield compare(title, costs["ours"], costs["plain"], "requests and DataFrame(records)", at_most(1.5), milliseconds)


def very_many_rows() -> Iterator[Row]:
    """What a row costs in memory and processor time, and that a tenth of the rows costs a tenth."""
    with ours() as served:
        for name, number, limit in (("ledger", 1_000_000, 10e-6), ("upload", 100_000, None)):
            costs = {rows: _costs_of_rows(name, rows, served.base_url) for rows in (number // 10, number)}
            for rows, (_, processor, beside, size) in costs.items():
                memory = f"{beside / rows:.0f} bytes beside {size / rows:.0f} of the frame"
                text = f"{processor / rows * 1e6:.1f} µs, {memory}"
                goal = f"≤ {limit * 1e6:.0f} µs, 200 bytes" if limit else ""
                held = "" if limit is None else HELD if processor / rows <= limit and beside <= 200 * MIB else MISSED
                yield Row(f"{name} of {rows:,} rows, each", text, "", "", goal, held)


def _costs_of_rows(name: str, rows: int, base_url: str) -> list[float]:
    command = [sys.executable, "-m", f"{__package__}.many_rows", name, str(rows), base_url]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _each(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms each"
