"""The process in which conversions run: `python -m svc_notebooks.convert.pool.worker`.

A line of JSON on standard input is an errand, a line of JSON on standard output is what came of it. Documents
lie in files. Some libraries end the process over a hostile file, or hang: then only this process is lost.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from ..job import ConversionError, Job, JobLimits, TooLarge
from ..registry import load


def run(errand: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an errand says; what came of it as a value: `notes`, or `error` and its `kind`."""
    job = _job(errand["job"])
    try:
        _convert(errand, job)
    except TooLarge as error:
        return {"error": str(error), "kind": "large"}
    except ConversionError as error:
        return {"error": str(error), "kind": "refused"}
    except MemoryError:
        return {"error": "it needs more memory than a conversion may use.", "kind": "large"}
    except Exception as error:  # of a library, about a file that no one foresaw
        return {"error": f"{type(error).__name__}: {error}", "kind": "failed"}
    return {"notes": job.notes}


def _convert(errand: Mapping[str, Any], job: Job) -> None:
    function, model = load(errand["function"]), load(errand["model"])
    source = errand["source"] and Path(errand["source"]).read_bytes()
    if errand["reads"]:
        result = function(source, job).pack()
    else:
        result = function(model() if source is None else model.unpack(source), job)
    if len(result) > job.limits.output:
        raise TooLarge(f"the result would have more than {job.limits.output} bytes.")
    Path(errand["target"]).write_bytes(result)


def _job(given: Mapping[str, Any]) -> Job:
    limits = JobLimits(**given["limits"])
    now = datetime.fromisoformat(given["now"])
    return Job(**{**given, "limits": limits, "now": now, "folder": Path(given["folder"])})


def restrict(memory: int, output: int) -> None:
    """No more memory, no larger files than these, no core dumps; where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, output), (resource.RLIMIT_CORE, 0))
    for what, most in wanted:
        hard = resource.getrlimit(what)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (limit, hard))


def _own_output() -> TextIO:
    """Standard output for the answers alone: what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    return answers


def main() -> None:
    """Answer errands until standard input ends."""
    answers = _own_output()
    restrict(int(sys.argv[1]), int(sys.argv[2]))
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
