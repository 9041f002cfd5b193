"""The worker process that runs conversions (`python -m svc_notebooks.convert.pool.worker`).

The process reads requests from standard input and writes responses to standard output as lines of JSON. If a library
crashes or hangs on a hostile file, only this process ends, and not the service.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ..engines.available import missing_package, process_memory
from ..input.detect import decrypted
from ..job import MIB, ConversionError, Job, JobLimits, TooLarge
from ..registry import load, reader_for

_CODE_MEMORY = 64 * MIB  # the memory that this process uses for the code of Python and its libraries, beside its data


def run(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run the requested conversion, and write its result to the file `target` of the request.

    Returns {"notes": [...]}, or {"error": message, "kind": "large", "refused" or "failed"} after an error.
    """
    fields = request["job"]
    limits, now = JobLimits(**fields["limits"]), datetime.fromisoformat(fields["now"])
    job = Job(**{**fields, "limits": limits, "now": now, "folder": Path(fields["folder"])})
    try:
        _convert(request, job)
    except TooLarge as error:
        return {"error": str(error), "kind": "large"}
    except ConversionError as error:
        return {"error": str(error), "kind": "refused"}
    except MemoryError:
        return {"error": "the conversion needs more memory than the limit.", "kind": "large"}
    except ModuleNotFoundError as error:
        return {"error": missing_package(str(error.name)), "kind": "refused"}
    except Exception as error:  # raised by a library that does not expect such a file
        return {"error": f"{type(error).__name__}: {error}", "kind": "failed"}
    return {"notes": job.notes}


def _convert(request: Mapping[str, Any], job: Job) -> None:
    model = load(request["model"])
    source = request["source"] and Path(request["source"]).read_bytes()
    if request["reads"]:
        source = decrypted(source)
        reader = reader_for(source, request["native"], request["function"], job)
        result = load(reader)(source, job).pack()
        if job.office:
            result = load(".odf_copy:add_odf")(result, source, request["native"], job)
    else:
        result = load(".odf_copy:export")(source, request["native"], job) if job.office and source else None
        result = result or load(request["function"])(model() if source is None else model.unpack(source), job)
    if len(result) > job.limits.output:
        raise TooLarge(f"the result would have more than {job.limits.output} bytes.")
    Path(request["target"]).write_bytes(result)


def limit_resources(memory: int, output: int) -> None:
    """Limit this process's memory and file sizes in bytes, except on Windows, and disable core dumps."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {
        resource.RLIMIT_DATA: memory - _CODE_MEMORY,
        resource.RLIMIT_AS: 2 * memory,  # also counts what programs reserve and do not use
        resource.RLIMIT_FSIZE: output,
        resource.RLIMIT_CORE: 0,
    }
    for resource_id, maximum in limits.items():
        hard = resource.getrlimit(resource_id)[1]
        limit = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource_id, (limit, hard))


def main() -> None:
    """Answer requests from standard input. The command line has the limits of memory and file sizes in bytes."""
    responses = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("w") as null:  # libraries print to standard output, too
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    limit_resources(int(sys.argv[1]), int(sys.argv[2]))
    for line in sys.stdin:
        response = run(json.loads(line))
        responses.write(json.dumps(response | {"peak_memory": process_memory("VmHWM")}) + "\n")
        responses.flush()


if __name__ == "__main__":
    main()
