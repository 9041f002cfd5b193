"""Measures a call for very many rows in a process of its own: seconds, processor time and memory for each row.

The first argument is "ledger" or "upload", the second the number of rows, the third the address of a service.
It prints a JSON list: seconds, seconds of the processor, the bytes of memory at its highest beside the frame, and the
bytes of the frame. The arguments of the call are in memory before.
"""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd

import svc_notebooks as svc
from bench.processes import TOKEN
from svc_notebooks.client.session import Session


def ledger(number: int, _: str = "") -> Callable[[], pd.DataFrame]:
    """Return the second run of a call with a ledger, in which all rows are done."""
    lab, chance = svc.sandbox(), random.Random(7)
    path = Path(tempfile.mkdtemp(prefix="svc-bench-")) / "rows.sqlite"
    made = svc.upload([b"1", b"2"], name=["a", "b"])["id"].tolist()
    svc.trash(made, resume=path)
    with closing(sqlite3.connect(path)) as database, database:
        (record,) = database.execute("SELECT record FROM rows LIMIT 1").fetchone()
        ids = [f"{chance.getrandbits(160):040x}" for _ in range(number)]
        rows = ((json.dumps(file_id), record.replace(made[0], file_id)) for file_id in ids)
        database.executemany("INSERT INTO rows (key, state, record) VALUES (?, 'done', ?)", rows)
    return lambda: svc.trash(ids, resume=path, session=lab)


def upload(number: int, base_url: str) -> Callable[[], pd.DataFrame]:
    """Return the upload of small contents."""
    session = Session(base_url, TOKEN, state_dir=tempfile.mkdtemp(prefix="svc-bench-"))
    contents, names = [b"city,people\n"] * number, [f"{n}.csv" for n in range(number)]
    return lambda: svc.upload(contents, name=names, progress=False, session=session)


def measure(call: Callable[[], pd.DataFrame]) -> list[float]:
    """Run a call once and return its costs."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, busy = time.perf_counter(), time.process_time()
    result = call()
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    size = int(result.memory_usage(deep=True).sum())
    size += sum(sys.getsizeof(value) + sum(map(sys.getsizeof, value)) for value in result["parents"])
    return [seconds, busy, grown - size, size]


if __name__ == "__main__":
    name, rows, *address = sys.argv[1:]
    print(json.dumps(measure({"ledger": ledger, "upload": upload}[name](int(rows), *address))))
