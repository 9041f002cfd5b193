"""Measures a request while notifications go out to 100 channels, some of whose receivers never answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from statistics import median

from bench.processes import HookServer, hooks
from bench.rounds import Run, alternate
from bench.table import Row, at_most, compare, microseconds
from svc_notebooks.client.session import Session
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.receivers import dead_receiver

CHANNELS, DEAD = 100, 10
CALLS = 10
ATTEMPTS = 50_000
"""More rows than all rounds add: messages are counted in the log of deliveries."""

_MAX_SECONDS = 5.0


def beside_dead_receivers() -> Iterator[Row]:
    """The change itself: queueing is part of it, delivery is not (N-09)."""
    with hooks(0) as hook, ExitStack() as stack:
        dead = [stack.enter_context(dead_receiver()) for _ in range(DEAD)]
        living = [hook.address] * CHANNELS
        costs = alternate(
            {
                "dead": stack.enter_context(watched_file(hook, [*dead, *living[DEAD:]], CHANNELS - DEAD)),
                "alive": stack.enter_context(watched_file(hook, living, CHANNELS)),
                "nobody": stack.enter_context(watched_file(hook, [], 0)),
            }
        )
    work = f"change a file that {CHANNELS} channels watch, {DEAD} receivers dead"
    yield compare(work, costs["dead"], costs["alive"], "all alive", at_most(1.2), microseconds)
    queued = compare(work, costs["dead"], costs["nobody"], "nobody watches", at_most(1), microseconds)
    yield replace(queued, goal="", held="")  # what it costs to queue a hundred messages


@contextmanager
def watched_file(hook: HookServer, addresses: list[str], answering: int) -> Iterator[Run]:
    """A service with a file that these addresses are told of; the middle cost of a change to it."""
    with closing(open_service(seed=0, policy=Policy(deliveries_length=ATTEMPTS))) as service:
        service.register_domain("localhost")
        service.trust(hook.ca_pem)
        session = Session("https://svc.example", service.sign_in(), handler=service.handle)
        file = f"/storage/v3/files/{session.call('POST', '/storage/v3/files', body={'name': 'watched'})['id']}"
        for n, address in enumerate(addresses):
            session.call("POST", f"{file}/watch", body={"id": f"channel-{n}", "type": "web_hook", "address": address})
        arrived = _arrivals(service)
        arrived(answering)

        def change() -> float:
            begun = time.perf_counter()
            session.call("PATCH", file, body={"name": "changed"})
            cost = time.perf_counter() - begun
            arrived(answering)
            return cost

        yield lambda: median(change() for _ in range(CALLS))


def _arrivals(service: Service) -> Callable[[int], None]:
    """Wait until so many more messages were delivered."""
    seen = 0

    def wait(count: int) -> None:
        nonlocal seen
        seen += count
        end = time.monotonic() + _MAX_SECONDS
        while sum(row["outcome"] == "delivered" for row in service.deliveries()) < seen:
            if time.monotonic() > end:
                raise RuntimeError("messages to living receivers are late")
            time.sleep(0.02)

    return wait
