"""Measures imports, and the building of frames from responses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd

from bench.in_process import one_file
from bench.rounds import Run, alternate, timed
from bench.table import Row, at_most, compare, milliseconds
from svc_notebooks.client.files import get_file
from svc_notebooks.notebook.frames import FILES, frame

LATE = ("requests", "pandas", "ipywidgets", "sqlalchemy", "svc_notebooks.server")

_IMPORT = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"
_LOADED = "import json, sys, svc_notebooks; print(json.dumps([n for n in {!r} if n in sys.modules]))"


def frames() -> Iterator[Row]:
    """The frame of `files()`, with its dtypes, from 10,000 records as the service answers them."""
    records = _records(10_000)
    costs = alternate(
        {
            "ours": timed(lambda: frame(FILES, records), 3),
            "plain": timed(lambda: pd.DataFrame(records), 3),
            "normalize": timed(lambda: pd.json_normalize(records), 3),
        },
        15,
    )
    work = "files frame of 10,000 rows"
    yield compare(work, costs["ours"], costs["plain"], "DataFrame(records)", at_most(1.3), milliseconds)
    yield compare(work, costs["ours"], costs["normalize"], "json_normalize", at_most(0.5), milliseconds)


def _records(count: int) -> list[dict[str, Any]]:
    with one_file() as (session, file_id):
        file = get_file(session, file_id, fields=",".join(FILES.keys))
    text = json.dumps(file)
    return [{**json.loads(text), "id": f"{file_id}-{n}", "size": str(n)} for n in range(count)]


def imports() -> Iterator[Row]:
    """`import`, in a fresh interpreter each time."""
    costs = alternate({name: _importing(name) for name in ("svc_notebooks", "requests")}, 9)
    yield compare(
        "import svc_notebooks", costs["svc_notebooks"], costs["requests"], "import requests", at_most(1.2), milliseconds
    )
    loaded = json.loads(_python(_LOADED.format(LATE)))
    names = ", ".join(LATE)
    yield Row(
        "what the import loads", ", ".join(loaded) or "none", f"of {names}", "", "none", "no" if loaded else "yes"
    )


def first_frame() -> Iterator[Row]:
    """The first frame of a new process, beside the import of pandas alone, which it needs."""
    costs = alternate(
        {
            "ours": _importing("svc_notebooks; svc_notebooks.sandbox(); svc_notebooks.files()"),
            "pandas": _importing("pandas"),
        },
        15,
    )
    work = "import svc_notebooks; sandbox(); files() in a new process"
    yield compare(work, costs["ours"], costs["pandas"], "import pandas", at_most(1.5), milliseconds)


def _importing(name: str) -> Run:
    return lambda: float(_python(_IMPORT.format(name)))


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
