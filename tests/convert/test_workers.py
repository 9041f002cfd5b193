import contextlib
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from svc_notebooks.convert.job import MIB, JobLimits
from svc_notebooks.convert.pool import worker
from svc_notebooks.convert.pool.converter import Abandoned, ProcessPool
from tests.convert import sources
from tests.patience import PATIENCE

LIMITS = JobLimits(seconds=20, memory=1024 * MIB, output=32 * MIB)


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and limits the memory of each process")


class ConversionRunner:
    def __init__(self, workers: ProcessPool | ModuleType, folder: Path, limits: JobLimits = LIMITS) -> None:
        self.workers = workers
        self.folder = folder
        self.limits = limits
        self.target = folder / "target"

    def run(self, name: str, source: bytes | None = b"words", *, reads: bool = True, **client: Any) -> dict[str, Any]:
        source_file = self.folder / "source"
        if source is not None:
            source_file.write_bytes(source)
        job = {
            "media_type": "text/plain", "folder": str(self.folder), "name": "n", "now": "2026-11-21T00:00:00+00:00",
            "limits": asdict(self.limits),
        }  # fmt: skip
        return self.workers.run(
            {
                "function": f"tests.convert.hostile:{name}", "native": "document",
                "model": "tests.convert.hostile:Words", "reads": reads,
                "source": None if source is None else str(source_file), "target": str(self.target), "job": job,
            },
            **client,
        )  # fmt: skip


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[ConversionRunner]:
    workers = ProcessPool(LIMITS, size=1)
    with contextlib.closing(workers):
        yield ConversionRunner(workers, tmp_path)


def test_a_source_becomes_a_body_with_notes_and_a_body_a_file(runner: ConversionRunner) -> None:
    assert runner.run("echo") == {"notes": ["text/plain n"]}
    assert runner.target.read_bytes() == b"words"
    for body, expected in ((b"body", b"body"), (None, b"nothing")):
        assert runner.run("write", body, reads=False) == {"notes": []}
        assert runner.target.read_bytes() == expected


@pytest.mark.parametrize(
    "name,kind,words",
    [
        ("refuse", "refused", "it is not ours."), ("shun", "large", "it is too much."),
        ("stumble", "failed", "KeyError"), ("recurse", "failed", "RecursionError"), ("devour", "large", "memory"),
        ("flood", "large", "33554432 bytes"), ("abort", "large", "memory"),
    ],
)  # fmt: skip
def test_every_failure_gets_a_response_and_the_next_request_works(runner, name, kind, words):
    answer = runner.run(name)

    assert answer["kind"] == kind
    assert words in answer["error"]
    assert runner.run("chatter") == {"notes": []}  # output of libraries is no response
    assert runner.run("echo") == {"notes": ["text/plain n"]}


def _runs(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _ends(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while _runs(pid) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _runs(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the child in /proc")
def test_a_hanging_conversion_is_killed_with_its_children(tmp_path: Path) -> None:
    limits = JobLimits(seconds=3)
    with contextlib.closing(ProcessPool(limits, size=1)) as workers:
        answer = ConversionRunner(workers, tmp_path, limits).run("hang", str(tmp_path / "child").encode())

    assert answer == {"error": "the conversion took more than 3 seconds.", "kind": "large"}
    _ends(int((tmp_path / "child").read_text()))


def test_a_worker_is_reused_and_replaced_when_it_died(runner: ConversionRunner) -> None:
    assert runner.run("echo") == runner.run("echo")
    [(_, first)] = runner.workers._idle
    first.stop()
    first._process.wait()

    assert runner.run("echo") == {"notes": ["text/plain n"]}
    [(_, second)] = runner.workers._idle
    assert second is not first


@linux
def test_a_worker_that_was_large_is_replaced(runner: ConversionRunner) -> None:
    runner.run("grow", b"%d" % (8 * MIB))
    [(_, small)] = runner.workers._idle
    assert runner.run("grow", b"%d" % (300 * MIB)) == {"notes": []}

    assert runner.workers._idle == []
    assert small._process.poll() is not None


@linux
def test_a_worker_and_its_program_share_the_memory(runner: ConversionRunner) -> None:
    def for_program(held: int) -> int:
        assert runner.run("child_memory", b"%d" % held) == {"notes": []}
        return int(runner.target.read_bytes())

    much, little = for_program(MIB), for_program(401 * MIB)

    assert much < LIMITS.memory - 100 * MIB  # of which pandoc uses 93 MiB for its code
    assert much - little == pytest.approx(400 * MIB, abs=20 * MIB)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the child in /proc")
def test_a_conversion_of_a_disconnected_client_is_killed(runner: ConversionRunner, tmp_path: Path) -> None:
    child = tmp_path / "child"
    with pytest.raises(Abandoned):
        runner.run("hang", str(child).encode(), is_gone=child.exists)

    _ends(int(child.read_text()))
    assert runner.run("echo") == {"notes": ["text/plain n"]}


def test_an_abandoned_conversion_keeps_the_process_of_another_user(tmp_path: Path) -> None:
    with contextlib.closing(ProcessPool(LIMITS, size=2)) as workers:
        runner, child = ConversionRunner(workers, tmp_path), tmp_path / "child"
        runner.run("echo", user="ada")
        [(_, kept)] = workers._idle
        with pytest.raises(Abandoned):
            runner.run("hang", str(child).encode(), user="bob", is_gone=child.exists)
        runner.run("echo", user="ada")

        assert [worker for _, worker in workers._idle] == [kept]


def test_a_started_process_belongs_to_its_first_user(tmp_path: Path) -> None:
    with contextlib.closing(ProcessPool(LIMITS, size=2)) as workers:
        workers.start()
        [(_, started)] = workers._idle
        run = ConversionRunner(workers, tmp_path).run
        run("echo", user="ada")
        assert workers._idle == [("ada", started)]

        run("echo", user="ben")

        (first, second) = workers._idle
        assert first == ("ada", started)
        assert second[1] is not started


def test_threads_share_the_pool(tmp_path: Path) -> None:
    def convert(n: int) -> bytes:
        folder = tmp_path / str(n)
        folder.mkdir()
        runner = ConversionRunner(workers, folder)
        runner.run("echo", str(n).encode())
        return runner.target.read_bytes()

    with contextlib.closing(ProcessPool(LIMITS, size=2)) as workers, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(convert, range(24))) == [str(n).encode() for n in range(24)]


def test_without_processes_conversions_run_inline(tmp_path: Path) -> None:
    runner = ConversionRunner(worker, tmp_path)
    missing = 'the conversion needs lxml, which is not installed (pip install "svc-notebooks[convert]").'

    assert runner.run("echo") == {"notes": ["text/plain n"]}
    assert runner.run("stumble")["kind"] == "failed"
    assert runner.run("lack") == {"error": missing, "kind": "refused"}
    with_the_default_password_of_excel = runner.run("echo", sources.encrypted(sources.docx(), "VelvetSweatshop"))
    assert "The file is MS Word, not Plain text, and was read as such." in with_the_default_password_of_excel["notes"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_limits_apply_only_in_the_worker(runner: ConversionRunner) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    runner.run("echo")

    assert resource.getrlimit(resource.RLIMIT_AS) == before
