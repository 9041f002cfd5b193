"""Starts services in processes of their own, and measures the memory of a process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 1024 * 1024
TOKEN = "bench"

_IN_MEMORY = Path("/dev/shm")
_BLOCK = bytes(range(256)) * (MIB // 256)


@dataclass(frozen=True, slots=True)
class Served:
    """Something that listens on this machine."""

    base_url: str
    pid: int

    @property
    def netloc(self) -> str:
        """Host and port."""
        return self.base_url.partition("://")[2]


@contextmanager
def ours(store: Path | None = None) -> Iterator[Served]:
    """`svc-notebooks serve`, in memory or on a folder."""
    command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--token", TOKEN]
    store_options = [] if store is None else ["--store", str(store)]
    with _running([*command, *store_options], stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield Served(json.loads(process.stdout.readline())["base_url"], process.pid)


@contextmanager
def bare_store(database: Path) -> Iterator[Served]:
    """A socket and SQLite without a service: see bare_store.py."""
    with _running(
        [sys.executable, "-m", f"{__package__}.bare_store", str(database)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        yield Served(json.loads(process.stdout.readline())["base_url"], process.pid)


@contextmanager
def slow_line(served: Served, seconds: float) -> Iterator[str]:
    """The address of a line to a service that delivers everything so much later, in each direction."""
    command = [sys.executable, "-m", f"{__package__}.slow_line", *served.netloc.split(":"), str(seconds)]
    with _running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


@contextmanager
def emulator() -> Iterator[Served]:
    """gcp-storage-emulator, in memory, with a bucket named bench."""
    port = _free_port()
    address_options = ["--host", "127.0.0.1", "--port", str(port)]
    command = [sys.executable, "-m", "gcp_storage_emulator", "start", *address_options]
    with _running([*command, "--in-memory", "--quiet", "--default-bucket", "bench"]) as process:
        _wait_for(port, process)
        yield Served(f"http://127.0.0.1:{port}", process.pid)


@dataclass(frozen=True, slots=True)
class HookServer:
    """A receiver of notifications."""

    address: str
    ca_pem: str


@contextmanager
def hooks(seconds: float) -> Iterator[HookServer]:
    """A receiver that answers after so long."""
    command = [sys.executable, "-m", f"{__package__}.hooks", str(seconds)]
    with _running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield HookServer(**json.loads(process.stdout.readline()))


@contextmanager
def _running(command: list[str], **options: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"the emulator ended with status {process.returncode}")


@contextmanager
def folder(*, on_disk: bool = True) -> Iterator[Path]:
    """A folder that is gone in the end, where the system has it on a file system in memory if it need not be a disk."""
    parent = None if on_disk or not _IN_MEMORY.is_dir() else _IN_MEMORY
    with tempfile.TemporaryDirectory(prefix="svc-bench-", dir=parent) as name:
        yield Path(name)


def big_file(directory: Path, mib: int) -> Path:
    """A file of so many MiB."""
    path = directory / f"{mib}.bin"
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(_BLOCK)
    return path


class MemoryWatch:
    """How many bytes processes grew above what they held when the watch began."""

    def __init__(self, *pids: int) -> None:
        self._processes = [psutil.Process(pid) for pid in pids]
        self._initial = self._resident_sizes()
        self._peak = list(self._initial)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    @property
    def growth(self) -> list[int]:
        """For each process, at its highest."""
        return [most - before for most, before in zip(self._peak, self._initial, strict=True)]

    def _resident_sizes(self) -> list[int]:
        return [process.memory_info().rss for process in self._processes]

    def _sample(self) -> None:
        while not self._stopped.wait(0.005):
            self._peak = [max(pair) for pair in zip(self._peak, self._resident_sizes(), strict=True)]
