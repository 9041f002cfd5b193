"""The worker process that runs conversions: `python -m svc_notebooks.convert.pool.worker`.

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


def run(request: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an errand says; what came of it as a value: `notes`, or `error` and its `kind`."""
    job = _job_from_json(request["job"])
    try:
        _convert(request, job)
    except TooLarge as error:
        return {"error": str(error), "kind": "large"}
    except ConversionError as error:
        return {"error": str(error), "kind": "refused"}
    except MemoryError:
        return {"error": "it needs more memory than a conversion may use.", "kind": "large"}
    except Exception as error:  # of a library, about a file that no one foresaw
        return {"error": f"{type(error).__name__}: {error}", "kind": "failed"}
    return {"notes": job.notes}


def _convert(request: Mapping[str, Any], job: Job) -> None:
    function, model = load(request["function"]), load(request["model"])
    source = request["source"] and Path(request["source"]).read_bytes()
    if request["reads"]:
        result = function(source, job).pack()
    else:
        result = function(model() if source is None else model.unpack(source), job)
    if len(result) > job.limits.output:
        raise TooLarge(f"the result would have more than {job.limits.output} bytes.")
    Path(request["target"]).write_bytes(result)


def _job_from_json(fields: Mapping[str, Any]) -> Job:
    limits = JobLimits(**fields["limits"])
    now = datetime.fromisoformat(fields["now"])
    return Job(**{**fields, "limits": limits, "now": now, "folder": Path(fields["folder"])})


def limit_resources(memory: int, output: int) -> None:
    """No more memory, no larger files than these, no core dumps; where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, output), (resource.RLIMIT_CORE, 0))
    for resource_id, maximum in limits:
        hard = resource.getrlimit(resource_id)[1]
        limit = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource_id, (limit, hard))


def _reserve_stdout() -> TextIO:
    """Standard output for the answers alone: what a library prints goes nowhere."""
    responses = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    return responses


def main() -> None:
    """Answer errands until standard input ends."""
    responses = _reserve_stdout()
    limit_resources(int(sys.argv[1]), int(sys.argv[2]))
    for line in sys.stdin:
        responses.write(json.dumps(run(json.loads(line))) + "\n")
        responses.flush()


if __name__ == "__main__":
    main()
