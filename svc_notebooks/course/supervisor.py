"""Runs the notebooks of one submission one after the other, and stops a notebook that uses too much.

This process runs in the sandbox, or below the grading process without one. It starts a process for each notebook, and
kills the processes that a notebook has left before the next notebook starts.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from base64 import b64decode
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from .runner import GradingLimits, SubmissionJob, prepare_shell, run_cells

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_ROUNDS = 50


def descendants(pid: int, most: int = 10_000) -> list[int]:
    """Return the ids of the running processes below a process, and no more than about `most` of them."""
    below: set[int] = set()
    waiting = [pid]
    while waiting and len(below) <= most:
        children = [child for child in _children(waiting.pop()) if child not in below and _is_running(child)]
        below.update(children)
        waiting += children
    return list(below)


def _children(pid: int) -> list[int]:
    ids: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            ids += map(int, (task / "children").read_text().split())
    return ids


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


def kill_below(pid: int) -> bool:
    """Kill the processes below a process, and return whether none is left."""
    for _ in range(_ROUNDS):
        below = descendants(pid)
        if not below:
            return True
        for child in below:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
    return False


def resident_bytes(pids: list[int]) -> int:
    """Return the memory of processes in bytes. The memory that several processes share counts once."""
    kilobytes = 0
    for pid in pids:
        with suppress(OSError, ValueError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(text.partition("\nPss:")[2].split(maxsplit=1)[0])
    return kilobytes * 1024


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system can: who adopts orphans, or the end with the parent."""
    from ctypes import CDLL

    with suppress(OSError, AttributeError, TypeError):  # only Linux has prctl
        CDLL(None).prctl(option, value, 0, 0, 0)


PRELOADED_MODULES = (
    "IPython.core.application", "IPython.core.completer", "IPython.core.completerlib", "IPython.core.interactiveshell",
    "IPython.core.magics", "IPython.core.oinspect", "pandas", "pandas.io.formats.html", "pyarrow.pandas_compat",
    "pyarrow.vendored.version", "requests", "svc_notebooks.client.downloads.exports",
    "svc_notebooks.client.transport.http", "svc_notebooks.course.student_exercise",
    "svc_notebooks.notebook.events.events", "svc_notebooks.notebook.files.downloads.downloads",
    "svc_notebooks.notebook.files.files", "svc_notebooks.notebook.files.search",
    "svc_notebooks.notebook.files.uploads", "svc_notebooks.notebook.notifications.channels",
)  # fmt: skip
"""The modules that most submissions import. The process of a notebook starts with these modules loaded.

The service is not among them: the exercises of a submission are in the grading process. pyarrow is optional.
"""

_CHECK_SECONDS = 0.25


def main(arguments: list[str]) -> None:
    """Run in the sandbox: send a listening socket of the sandbox's own network, then run the submission."""
    (descriptor,) = map(int, arguments)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(fileno=os.dup(descriptor)) as channel:
        socket.send_fds(channel, [b"\0"], [listener.fileno()])
    gc.disable()
    for name in PRELOADED_MODULES:
        with suppress(ImportError):
            import_module(name)
    run_submission(Connection(descriptor))
    os._exit(0)  # freeing the memory of the modules takes 0.2 s


def run_submission(connection: Connection) -> None:
    """Receive a SubmissionJob, run its notebooks, and report about each cell and the end of each notebook."""
    with suppress(OSError):
        os.setsid()
    job = SubmissionJob.from_bytes(connection.recv_bytes())
    _prctl(_SET_CHILD_SUBREAPER, 1)  # of each process below this one whose parent has ended
    for name in ("HOME", "TMPDIR"):
        Path(job.environment[name]).mkdir(parents=True, exist_ok=True)
    if hasattr(os, "fork"):
        with suppress(OSError):  # the processes of the notebooks try it again
            prepare_shell(job.folder, job.environment["IPYTHONDIR"])
    gc.freeze()  # a collection in the process of a notebook would copy the memory of all modules
    gc.enable()
    _write_files(job)
    for number, cells in enumerate(job.notebooks[job.first :], start=job.first):
        connection.send_bytes(b"start %d" % number)
        if not hasattr(os, "fork"):  # the grading process starts another process for the next notebook
            run_cells(job, cells, connection)
            return
        status = _run_notebook(job, cells, connection)
        connection.send_bytes(b"exit %d %d" % (number, status))


def _write_files(job: SubmissionJob) -> None:
    """Write the other files of a submission to its folder."""
    folder = Path(job.folder)
    for name, content in job.files.items():
        path = folder / name
        with suppress(OSError, ValueError):  # such as a file in place of a folder, or a name that is too long
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b64decode(content))


def _run_notebook(job: SubmissionJob, cells: list[str], connection: Connection) -> int:
    """Run a notebook in a process, and return its exit status, negative for a signal, when nothing of it runs."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    process = os.fork()
    if not process:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            run_cells(job, cells, connection)
        finally:
            os._exit(0)
    signal.signal(signal.SIGTERM, lambda *_: _end(process))
    status = None
    while status is None:
        _wait_for_child()
        status = _reap(process)
        if status is None and (excess := _excess(job.limits)):
            connection.send_bytes(f"excess 0 {excess}".encode())
            _kill_all(process, in_sandbox=job.in_sandbox)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    _kill_all(process, in_sandbox=job.in_sandbox)
    _reap(None)
    return status


def _end(process: int) -> None:
    """End this process and the processes of the running notebook."""
    _kill_all(process, in_sandbox=False)
    os._exit(0)


def _wait_for_child() -> None:
    """Wait until a child ends, but not longer than the interval of the checks."""
    if hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait({signal.SIGCHLD}, _CHECK_SECONDS)
    else:
        time.sleep(_CHECK_SECONDS / 10)


def _reap(process: int | None) -> int | None:
    """Reap all children that have ended, and return the exit status of `process`, or None if it has not ended."""
    with suppress(ChildProcessError):
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == process:
                return os.waitstatus_to_exitcode(status)
            if not child:
                break
    return None


def _excess(limits: GradingLimits) -> str:
    """Return which limit the processes of the notebook exceed, or "" for none."""
    running = descendants(os.getpid(), limits.processes)
    if len(running) > limits.processes:
        return f"it had more than {limits.processes} processes"
    if resident_bytes(running) > limits.memory:
        return f"it was out of memory, with more than {limits.memory / 1024**2:g} MiB"
    return ""


def _kill_all(process: int, *, in_sandbox: bool) -> None:
    """Kill the processes of a notebook. In the sandbox, the system kills all processes except this one at once."""
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    if in_sandbox:
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)
    else:
        kill_below(os.getpid())


if __name__ == "__main__":
    main(sys.argv[1:])
