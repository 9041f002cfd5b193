"""Compares our service with gcp-storage-emulator, both in memory, through the same client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from bench import processes
from bench.neutral import EMULATOR, OURS, NeutralClient, ServiceDialect
from bench.processes import MIB, Served
from bench.rounds import Run, Stopwatch, alternate, timed
from bench.table import Row, at_least, at_most, compare, microseconds, rate

PEER = "gcp-storage-emulator"
LARGE = 8 * MIB
SMALL = 256 * 1024
KILOBYTE = bytes(1024)
FILES = 500

# The emulator takes seconds for 256 MiB in large chunks. It joins what it has with each chunk, so small chunks take it
# longer the more there are.
LARGE_SIZE, SMALL_SIZE = 128, 64

EXISTING = 99_000
EMPTY_SERVICES = 9
FEW, FEW_ROUNDS = 64, 15  # the service adds the words of 64 files to its index at once, so each round has one addition
ROUNDS = 21


@contextmanager
def both() -> Iterator[tuple[NeutralClient, NeutralClient]]:
    """A client for each of the two."""
    with processes.ours() as ours, processes.emulator() as theirs:
        yield NeutralClient(ours, OURS), NeutralClient(theirs, EMULATOR)


def creates() -> Iterator[Row]:
    """Small files, one request each, in services that begin empty: the more the emulator has, the slower it is."""
    runs = {"ours": lambda: _filling(processes.ours, OURS), "theirs": lambda: _filling(processes.emulator, EMULATOR)}
    costs = alternate(runs, ROUNDS)
    work = f"create a file of 1 KB ({FILES} in a row)"
    yield compare(work, costs["ours"], costs["theirs"], PEER, at_least(10), microseconds)


def stored() -> Iterator[Row]:
    """Small files in a store on disk, beside the same row and content in SQLite behind a bare socket."""
    with (
        processes.folder() as folder,
        processes.ours(folder / "store") as ours,
        processes.bare_store(folder / "bare.sqlite") as bare,
    ):
        costs = alternate(
            {name: _creating(NeutralClient(served, OURS), FEW) for name, served in (("ours", ours), ("bare", bare))},
            ROUNDS,
        )
    work = f"create a file of 1 KB in a store on disk ({FEW} in a row)"
    yield compare(work, costs["ours"], costs["bare"], "SQLite and a bare socket", at_most(3), microseconds)


def _filling(service: Callable[[], AbstractContextManager[Served]], dialect: ServiceDialect) -> float:
    with service() as served:
        return _creating(NeutralClient(served, dialect), FILES)()


def chunks() -> Iterator[Row]:
    """A large file, in large chunks and in small ones."""
    with both() as (ours, theirs):
        large = alternate({"ours": _sending(ours, LARGE_SIZE, LARGE), "theirs": _sending(theirs, LARGE_SIZE, LARGE)})
        small = alternate({"ours": _sending(ours, SMALL_SIZE, SMALL), "theirs": _sending(theirs, SMALL_SIZE, SMALL)})
    work = f"take {LARGE_SIZE} MiB in 8 MiB chunks"
    yield compare(work, large["ours"], large["theirs"], PEER, at_least(4), rate(LARGE_SIZE))
    work = f"take {SMALL_SIZE} MiB in 256 KiB chunks"
    yield compare(work, small["ours"], small["theirs"], PEER, at_least(10), rate(SMALL_SIZE))


def _sending(client: NeutralClient, mib: int, chunk: int) -> Run:
    """The cost of a resumable upload, without that of its deletion."""
    content = memoryview(bytes(mib * MIB))

    def run() -> float:
        watch = Stopwatch()
        file_id = client.create_in_chunks(content, chunk)
        cost = watch.stop()
        client.delete(file_id)
        return cost

    return run


def many() -> Iterator[Row]:
    """The last 1,000 of 100,000 files are created as fast as the first 1,000 of services that begin empty."""
    last: list[float] = []
    first: list[float] = []
    with processes.ours() as full:
        _creating(client := NeutralClient(full, OURS), EXISTING)()
        for _ in range(EMPTY_SERVICES):
            with processes.ours() as empty:
                runs = {"last": _creating(client, FEW), "first": _creating(NeutralClient(empty, OURS), FEW)}
                costs = alternate(runs, FEW_ROUNDS)
            last += costs["last"]
            first += costs["first"]
    work = "create the last 1,000 of 100,000 files"
    yield compare(work, tuple(last), tuple(first), "the first 1,000", at_most(1.1), microseconds)


def _creating(client: NeutralClient, files: int) -> Run:
    """The cost of one of so many files of 1 KB, whose requests are prepared on nobody's time."""

    def run() -> float:
        requests = iter([client.creation(KILOBYTE) for _ in range(files)])
        return timed(lambda: client.send(next(requests)), files)()

    return run
