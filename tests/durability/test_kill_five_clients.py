"""`kill -9` while five clients create, upload, replace and delete at once: nothing that was acknowledged is lost.

Each client knows what the service has acknowledged. An operation whose response never came may have happened or
not: the file is then as before or as after it, and never anything else.
"""

import contextlib
import http.client
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.durability.test_kill import Q, Served, target_of

BROKEN = (OSError, http.client.HTTPException)
BOUNDARY = "boundary-of-this-test"
FILES, UPLOAD = "/storage/v3/files", "/upload/storage/v3/files"


def content_of(name: str, version: int, size: int) -> bytes:
    return (f"{name} in version {version}. ".encode() * (size // 16 + 1))[:size]


@dataclass
class KillTestClient:
    """One of five; `expected` holds, by file id, the contents that the file may have, None: it is deleted."""

    served: Served
    up: threading.Event
    stop: threading.Event
    number: int
    dice: random.Random
    expected: dict[str, set[bytes | None]] = field(default_factory=dict)
    unconfirmed: dict[str, bytes] = field(default_factory=dict)
    acknowledged: int = 0

    def send(self, method: str, target: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
        """A response of 2xx, 308 or 404. Raises one of `BROKEN` where the service was killed."""
        self.up.wait()
        response = self.served.send(method, target, body, **headers)
        assert response.status in (200, 204, 308, 404), (response.status, response.content)  # type: ignore[attr-defined]
        return response

    def run(self) -> None:
        made = 0
        while not self.stop.is_set():
            made += 1
            name = f"file {self.number}-{made}"
            operation = self.dice.choice((self.create, self.upload, self.replace, self.replace, self.delete))
            with contextlib.suppress(*BROKEN):
                operation(name)
                self.acknowledged += 1

    def create(self, name: str) -> None:
        content = content_of(name, 1, self.dice.randrange(1, 100_000))
        self.unconfirmed[name] = content
        body = b"".join([
            f'--{BOUNDARY}\r\nContent-Type: application/json\r\n\r\n{json.dumps({"name": name})}\r\n'.encode(),
            f"--{BOUNDARY}\r\nContent-Type: text/plain\r\n\r\n".encode(), content, f"\r\n--{BOUNDARY}--".encode(),
        ])  # fmt: skip
        response = self.send(
            "POST", f"{UPLOAD}?uploadType=multipart", body, Content_Type=f"multipart/related; boundary={BOUNDARY}"
        )
        self.confirm(name, response)

    def confirm(self, name: str, response: http.client.HTTPResponse) -> None:
        assert response.status == 200
        self.expected[json.loads(response.content)["id"]] = {self.unconfirmed.pop(name)}  # type: ignore[attr-defined]

    def upload(self, name: str) -> None:
        """A resumable upload in chunks; a service that was killed is asked how much it has."""
        content = content_of(name, 1, self.dice.randrange(1, 4 * Q))
        metadata = json.dumps({"name": name}).encode()
        response = self.send("POST", f"{UPLOAD}?uploadType=resumable", metadata, Content_Type="application/json")
        session, stored = target_of(response), 0
        self.unconfirmed[name] = content
        while response.status != 200 and not self.stop.is_set():
            try:
                chunk = content[stored : stored + Q]
                span = f"bytes {stored}-{stored + len(chunk) - 1}/{len(content)}"
                response = self.send("PUT", session, chunk, Content_Range=span)
                stored = self.stored(response, stored)
            except BROKEN:
                response = self.query_status(session)
                stored = self.stored(response, stored)
        if response.status == 200 and "id" in json.loads(response.content or b"{}"):  # type: ignore[attr-defined]
            self.confirm(name, response)

    def query_status(self, session: str) -> http.client.HTTPResponse:
        while True:
            with contextlib.suppress(*BROKEN):
                return self.send("PUT", session, Content_Range="bytes */*")

    def stored(self, response: http.client.HTTPResponse, before: int) -> int:
        assert response.status in (200, 308), "the session outlives the kill"
        range_header = response.headers["Range"]
        stored = int(range_header.removeprefix("bytes=0-")) + 1 if range_header else 0
        assert response.status == 200 or stored >= before, "never less than was acknowledged"
        return stored

    def replace(self, name: str) -> None:
        if not self.expected:
            return
        key = self.dice.choice(list(self.expected))
        self.check(key)
        if key not in self.expected:
            return
        content = content_of(key, self.dice.randrange(1_000_000), self.dice.randrange(1, 100_000))
        self.expected[key].add(content)
        self.send("PATCH", f"{UPLOAD}/{key}?uploadType=media", content, Content_Type="text/plain")
        self.expected[key] = {content}

    def delete(self, name: str) -> None:
        if not self.expected:
            return
        key = self.dice.choice(list(self.expected))
        self.expected[key].add(None)
        self.send("DELETE", f"{FILES}/{key}")
        self.expected[key] = {None}
        self.check(key)

    def check(self, key: str) -> None:
        """Compare a file with what is known of it; from then on it is what it is."""
        response = self.send("GET", f"{FILES}/{key}?alt=media")
        content = None if response.status == 404 else response.content  # type: ignore[attr-defined]
        assert content in self.expected[key], "lost, or neither as before nor as after an operation"
        self.expected[key] = {content}
        if content is None:
            del self.expected[key]


def run_with_kills(store: Path, kills: int, seed: int) -> int:
    """Kill the service so many times under five clients, then compare everything; how much was acknowledged."""
    dice = random.Random(seed)
    served, up, stop = Served(store), threading.Event(), threading.Event()
    clients = [KillTestClient(served, up, stop, number, random.Random(seed + number)) for number in range(5)]
    served.start()
    up.set()
    try:
        with ThreadPoolExecutor(5) as pool:
            running = [pool.submit(client.run) for client in clients]
            try:
                for _ in range(kills):
                    # Spread the moments over everything that the clients do; nothing waits for this to have an effect.
                    threading.Event().wait(dice.random() * 0.5)
                    up.clear()
                    served.kill()
                    served.start()
                    up.set()
                    assert not any(each.done() for each in running), [each.exception() for each in running]
            finally:
                stop.set()
                up.set()
        for each in running:
            each.result()
        compare(clients)
    finally:
        served.stop()
    return sum(client.acknowledged for client in clients)


def compare(clients: list[KillTestClient]) -> None:
    names, page = {}, ""
    while True:
        response = clients[0].send("GET", f"{FILES}?pageSize=1000&fields=nextPageToken,files(id,name){page}")
        listed = json.loads(response.content)  # type: ignore[attr-defined]
        names |= {file["id"]: file["name"] for file in listed["files"]}
        if "nextPageToken" not in listed:
            break
        page = f"&pageToken={listed['nextPageToken']}"
    for client in clients:
        for key in list(client.expected):
            client.check(key)
    sure = {key for client in clients for key in client.expected}
    unsure = {name: content for client in clients for name, content in client.unconfirmed.items()}
    assert sure <= names.keys()
    for key in names.keys() - sure:
        response = clients[0].send("GET", f"{FILES}/{key}?alt=media")
        assert response.content == unsure[names[key]], "a file that nobody has made"  # type: ignore[attr-defined]


@pytest.mark.spec("A3-19", "A3-19b")
def test_a_few_kills_under_five_clients(tmp_path: Path) -> None:
    assert run_with_kills(tmp_path / "store", kills=3, seed=1) > 0


@pytest.mark.durability
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_two_hundred_kills_under_five_clients(tmp_path: Path, seed: int) -> None:
    acknowledged = run_with_kills(tmp_path / "store", kills=50, seed=seed)
    aside = [path for path in (tmp_path / "store" / "aside").rglob("*") if path.is_file()]
    print(f"seed {seed}: {acknowledged} operations acknowledged, {len(aside)} parts aside")
