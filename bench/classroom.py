"""Measures a service that many people use: long lists, lists beside other requests, and people beside programs."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from bench.clients import greedy_clients, send_requests
from bench.processes import Served, folder, ours
from bench.rounds import Costs, Run, alternate, median_of
from bench.table import Row, at_most, compare, milliseconds, within
from svc_notebooks.server.service import open_service

FEW, MANY = 5_000, 500_000
GREEDY, CLASS = 64, 250
CLASS_SECONDS = 0.15
ROUNDS = 9
SECONDS, SECONDS_FOR_P99, PAUSE = 2.0, 4.0, 0.05
SORTED = "/storage/v3/files?orderBy=modifiedTime%20desc&fields=files(id)"
METADATA = "/storage/v3/files/f0000001"
ABOUT = "/storage/v3/about?fields=user"

_MAKE = """INSERT INTO files (id, owner, parent, name, mime_type, created, modified, trashed, explicitly_trashed,
    starred, version, abusive, extra, name_key, natural_key, words, all_words)
    WITH numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :files)
    SELECT printf('f%07d', n), :owner, :root, 'report ' || n, 'text/csv', 0, n * 7919 % 1000003, 0, 0, 0, 1, 0, '{}',
    'report ' || n, 'report ' || n, ' report ' || n, ' report ' || n FROM numbers"""


def tokens(count: int) -> list[str]:
    """The tokens of so many users."""
    return [f"token-{number}" for number in range(count)]


def make_store(path: Path, files: int) -> None:
    """Make a store in which the first of many users has so many files."""
    with open_service(path, seed=0) as service:
        for number, token in enumerate(tokens(CLASS)):
            service.sign_in(f"user{number}@svc.example", token=token)
        store = service._context.store
        root = store.users.root("user0@svc.example")
        with store.transaction():
            store.database.driver.execute(_MAKE, {"files": files, "owner": "user0@svc.example", "root": root})


@contextmanager
def served(files: int) -> Iterator[Served]:
    """A service with so many files of its first user."""
    with folder(on_disk=False) as path:
        make_store(path / "store", files)
        with ours(path / "store") as service:
            yield service


def _ask(service: Served, target: str, token: str = "token-0") -> bytes:
    request = urllib.request.Request(service.base_url + target, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as response:
        content: bytes = response.read()
    return content


def long_list() -> Iterator[Row]:
    """A sorted page of many files beside one of few."""
    with served(FEW) as few, served(MANY) as many:
        contenders: Mapping[str, Run] = {
            name: median_of(lambda service=service: _ask(service, SORTED), 10)  # type: ignore[misc]
            for name, service in (("few", few), ("many", many))
        }
        costs = alternate(contenders, ROUNDS)
    work = f"a sorted page of {MANY:,} files"
    yield compare(work, costs["many"], costs["few"], f"of {FEW:,} files", at_most(5), milliseconds)


def _percentile(seconds: list[float], percent: int) -> float:
    return median(seconds) if percent == 50 else quantiles(seconds, n=100)[percent - 1]


def _beside(service: Served, target: str, others: Mapping[str, tuple[list[str], float]]) -> Callable[[str, int], Costs]:
    """Measure one person's requests for a file, alone and beside the greedy clients of each name.

    `others` has their tokens, and for how many seconds requests are measured. A person who sends more than one request
    in `PAUSE` seconds needs more than the share of one among many users.

    Returns a function from "alone" or a name, and a percentile, to the seconds of each round.
    """
    contenders = {"alone": ([], max(duration for _, duration in others.values())), **others}
    rounds: dict[str, list[list[float]]] = {name: [] for name in contenders}

    def run(name: str) -> float:
        greedy, duration = contenders[name]
        with greedy_clients(service.netloc, target, greedy) if greedy else nullcontext():
            seconds = send_requests(service.netloc, METADATA, ["token-0"], pause=PAUSE, duration=duration)
        rounds[name].append(seconds)
        return median(seconds)

    alternate({name: partial(run, name) for name in contenders}, ROUNDS)
    return lambda name, percent: tuple(_percentile(seconds, percent) for seconds in rounds[name][1:])


def beside_a_list() -> Iterator[Row]:
    """Metadata of a file while somebody lists many files in their order, again and again."""
    with served(MANY) as service:
        costs = _beside(service, SORTED, {"list": (tokens(1), SECONDS)})
    work = f"read a file's metadata beside sorted lists of {MANY:,} files, p50"
    yield compare(work, costs("list", 50), costs("alone", 50), "alone", at_most(3), milliseconds)


def beside_greedy_clients() -> Iterator[Row]:
    """Metadata of a file while programs of another user, or of many, send one request after the other."""
    with served(FEW) as service:
        same_user, users = tokens(2)[1:] * GREEDY, tokens(GREEDY + 1)[1:]
        costs = _beside(service, ABOUT, {"user": (same_user, SECONDS_FOR_P99), "users": (users, SECONDS)})
    for percent in (50, 99):
        work = f"read a file's metadata beside {GREEDY} greedy connections of another user, p{percent}"
        yield compare(work, costs("user", percent), costs("alone", percent), "alone", at_most(3), milliseconds)
    work = f"read a file's metadata beside {GREEDY} other users with a greedy connection each, p50"
    row = compare(work, costs("users", 50), costs("alone", 50), "alone", at_most(3), milliseconds)
    yield replace(row, goal="", held="")


def a_class() -> Iterator[Row]:
    """A class in which everybody sends a request a second, beside one person alone."""
    with served(FEW) as service:

        def run(people: int, pause: float) -> float:
            seconds = send_requests(service.netloc, ABOUT, tokens(people), pause=pause, duration=SECONDS)
            return _percentile(seconds, 99 if people > 1 else 50)

        costs = alternate({"class": lambda: run(CLASS, 1.0), "alone": lambda: run(1, PAUSE)}, ROUNDS)
    work = f"{CLASS} people, a request a second each, p99"
    yield within(work, costs["class"], CLASS_SECONDS, costs["alone"], "one person, p50", milliseconds)
