"""Runs a program for a job, with the memory of the job that the worker process does not use."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..job import MIB, Job, TooLarge

_STATUS = Path("/proc/self/status")
_CODE_MEMORY = 112 * MIB
"""The memory that a program uses for code beside its data: 93 MiB for pandoc 3.9, 104 MiB for LibreOffice 7.4."""


def process_memory(field: str) -> int:
    """Return the memory of this process in bytes, now ("VmRSS") or at most ("VmHWM"). Returns 0 except on Linux."""
    match = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE) if _STATUS.exists() else None
    return int(match[1]) * 1024 if match else 0


def program_memory(job: Job, minimum: int = 64 * MIB) -> int:
    """Return how many bytes of data a program may have beside this process. Raises TooLarge below the minimum."""
    memory = job.limits.memory - process_memory("VmRSS") - _CODE_MEMORY
    if memory < minimum:
        raise TooLarge("the conversion needs more memory than the limit.")
    return memory


def run(command: Sequence[str], source: bytes, environment: Mapping[str, str], job: Job) -> tuple[int, bytes, bytes]:
    """Run a program with standard input `source`. Raises TooLarge above a limit of time or output.

    Returns the exit status, standard output and standard error. On Linux, the system limits the program's memory.
    """
    # Standard output is a file, since with a pipe this process would grow beside the program.
    with tempfile.TemporaryFile(dir=job.folder) as target:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=target, stderr=subprocess.PIPE, env=environment, cwd=job.folder
        ) as process:
            _limit_memory(process.pid, program_memory(job))
            try:
                _, errors = process.communicate(source, timeout=job.limits.seconds)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise TooLarge(f"the conversion took more than {job.limits.seconds:g} seconds.") from error
        target.seek(0)
        if process.returncode < 0:  # ended by the system, since a file exceeded the limit
            raise TooLarge("the conversion needs more memory or disk space than the limit.")
        return process.returncode, target.read(), errors


def _limit_memory(pid: int, memory: int) -> None:
    try:
        from resource import RLIMIT_DATA, prlimit
    except ImportError:  # not Linux
        return
    prlimit(pid, RLIMIT_DATA, (memory, memory))
