"""Measures the delivery of many notifications, beside a loop over a kept-alive `requests` session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import requests

from bench.processes import HookServer, folder, hooks
from bench.rounds import Run, alternate, timed
from bench.table import Row, at_least, compare, milliseconds
from svc_notebooks.client.session import Session
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.notifications.deliveries import Message
from svc_notebooks.server.notifications.https_sender import HttpsSender
from svc_notebooks.server.notifications.trust_store import TrustStore
from svc_notebooks.server.service import open_service

PEER = "a loop over one requests session"
MESSAGES = 1000
SLOW_MESSAGES, SLOW_LOOP = 160, 40
SLOW = 0.02
CONNECTIONS = 32

_MESSAGE = Message("channel", 2, "resource", "update", "https://svc.example/storage/v3/files/f?alt=json", ("content",))
_HEADERS = _MESSAGE.headers(Names())


def fast() -> Iterator[Row]:
    """What posts the messages alone, and the whole service, from a change to the last of its messages."""
    with (
        hooks(0) as hook,
        folder() as directory,
        post_with_sender(hook, MESSAGES) as ours,
        watched_file(hook, MESSAGES) as service,
    ):
        costs = alternate({"ours": ours, "service": service, "theirs": post_in_a_loop(hook, directory, MESSAGES)})
    theirs = costs["theirs"]
    yield compare(f"post {MESSAGES:,} messages", costs["ours"], theirs, PEER, at_least(4), milliseconds)
    work = f"change a file that {MESSAGES:,} channels watch, until all is delivered"
    yield compare(work, costs["service"], theirs, PEER, at_least(4), milliseconds)


def slow() -> Iterator[Row]:
    """A receiver that takes its time over each message. The loop posts fewer, because each takes it as long."""
    with hooks(SLOW) as hook, folder() as directory, post_with_sender(hook, SLOW_MESSAGES) as ours:
        loop = post_in_a_loop(hook, directory, SLOW_LOOP)
        costs = alternate({"ours": lambda: ours() / SLOW_MESSAGES, "theirs": lambda: loop() / SLOW_LOOP})
    work = f"post a message of {SLOW_MESSAGES}, each answered after 20 ms, {CONNECTIONS} connections"
    yield compare(work, costs["ours"], costs["theirs"], PEER, at_least(20), milliseconds)


def post_in_a_loop(hook: HookServer, directory: Path, count: int) -> Run:
    """As requests' page on sessions has it."""
    ca = directory / "ca.pem"
    ca.write_text(hook.ca_pem)
    web, headers = requests.Session(), dict(_HEADERS)

    def send() -> None:
        for _ in range(count):
            web.post(hook.address, headers=headers, verify=str(ca)).raise_for_status()

    return timed(send)


@contextmanager
def post_with_sender(hook: HookServer, count: int) -> Iterator[Run]:
    """What the service posts with, by itself."""
    trust = TrustStore()
    trust.add(hook.ca_pem)

    async def send_all(post: HttpsSender) -> None:
        outcomes = await asyncio.gather(*(post.send(hook.address, _HEADERS, b"") for _ in range(count)))
        if any(outcome.status != 200 for outcome in outcomes):
            raise RuntimeError(f"not all were delivered: {outcomes}")

    with asyncio.Runner() as runner:
        post = HttpsSender(trust, timeout=30, connections=CONNECTIONS)
        yield timed(lambda: runner.run(send_all(post)))
        runner.run(post.close())


@contextmanager
def watched_file(hook: HookServer, channels: int) -> Iterator[Run]:
    """A service in memory, with a file that so many channels watch."""
    with closing(open_service(seed=0)) as service:
        service.register_domain("localhost")
        service.trust(hook.ca_pem)
        session = Session("https://svc.example", service.sign_in(), handler=service.handle)
        file = f"/storage/v3/files/{session.call('POST', '/storage/v3/files', body={'name': 'watched'})['id']}"
        for n in range(channels):
            channel = {"id": f"channel-{n}", "type": "web_hook", "address": hook.address}
            session.call("POST", f"{file}/watch", body=channel)
        service.deliver()

        def change() -> None:
            session.call("PATCH", file, body={"name": "changed"})
            service.deliver()

        yield timed(change)
        if {row["status"] for row in service.deliveries()} != {200}:
            raise RuntimeError("not all were delivered")
