"""A3-19: `kill -9` at any moment of a chunked upload, again and again, and the content is whole in the end.

A client that knows nothing but the interface sends chunks. Now and then the service's process is killed, somewhere
in a chunk, and started again on the same store; the client asks for the status and goes on. What the service says
is stored never shrinks below what it has said before, and never exceeds what was sent.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

Q = 262_144
CHUNK = 8 * Q
TOKEN = "a-token-of-this-test"


@dataclass
class Served:
    """The service in a process of its own, on a store that outlives it."""

    store: Path
    process: subprocess.Popen[str] | None = None
    address: str = ""
    starts: int = 0

    def start(self) -> None:
        command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--store", str(self.store), "--token", TOKEN]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.address = urlsplit(json.loads(self.process.stdout.readline())["base_url"]).netloc
        self.starts += 1

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.communicate()

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate(timeout=20)
            assert self.process.returncode == 0

    def send(self, method: str, target: str, body: bytes | SlowBody = b"", **headers: str) -> http.client.HTTPResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        length = str(len(body))
        with contextlib.closing(http.client.HTTPConnection(self.address, timeout=20)) as connection:
            connection.request(
                method, target, body or None, {"Authorization": f"Bearer {TOKEN}", "Content-Length": length, **sent}
            )
            response = connection.getresponse()
            response.content = response.read()  # type: ignore[attr-defined]
        return response


@dataclass
class SlowBody:
    """A body that lets the test act when so many bytes of it have left."""

    content: bytes
    at: int
    reached: threading.Event = field(default_factory=threading.Event)

    def __len__(self) -> int:
        return len(self.content)

    def __iter__(self):
        for first in range(0, len(self.content), Q // 4):
            if first >= self.at:
                self.reached.set()
            yield self.content[first : first + Q // 4]
        self.reached.set()


def target_of(response: http.client.HTTPResponse) -> str:
    parts = urlsplit(response.headers["Location"])
    return f"{parts.path}?{parts.query}"


def status(served: Served, session: str) -> tuple[int, int]:
    response = served.send("PUT", session, Content_Range="bytes */*")
    stored = response.headers["Range"]
    return response.status, int(stored.removeprefix("bytes=0-")) + 1 if stored else 0


def upload(served: Served, content: bytes, kills: int, dice: random.Random) -> str:
    """One file, chunk by chunk, over so many kills; its id."""
    session = target_of(served.send("POST", "/upload/storage/v3/files?uploadType=resumable"))
    acknowledged = sent = 0
    while True:
        code, stored = status(served, session)
        if code == 200:
            break
        assert code == 308
        assert acknowledged <= stored <= sent, "never less than was promised, never more than was sent"
        assert stored % Q == 0
        acknowledged = stored
        chunk = content[stored : stored + CHUNK]
        sent = max(sent, stored + len(chunk))
        last = f"bytes {stored}-{stored + len(chunk) - 1}/{len(content)}"
        if kills and dice.random() < 0.5:  # after chunks that made the part grow
            kills -= 1
            killed_send(served, session, SlowBody(chunk, dice.randrange(len(chunk) + 1)), last, dice)
        else:
            response = served.send("PUT", session, chunk, Content_Range=last)
            assert response.status in (200, 308)
    return str(json.loads(served.send("PUT", session, Content_Range="bytes */*").content)["id"])  # type: ignore[attr-defined]


def killed_send(served: Served, session: str, body: SlowBody, content_range: str, dice: random.Random) -> None:
    def attempt() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            served.send("PUT", session, body, Content_Range=content_range)

    sender = threading.Thread(target=attempt)
    sender.start()
    body.reached.wait(timeout=20)
    # Spread the moments over the receiving, the writing and the commit; nothing waits for this to have an effect.
    threading.Event().wait(dice.random() * 0.01)
    served.kill()
    sender.join()
    served.start()


def rounds(tmp_path: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    served = Served(tmp_path / "store")
    served.start()
    contents: dict[str, bytes] = {}
    try:
        while served.starts <= kills:
            content = dice.randbytes(dice.randrange(3 * CHUNK, 6 * CHUNK))
            file_id = upload(served, content, min(4, kills + 1 - served.starts), dice)
            contents[file_id] = content
        for file_id, content in contents.items():
            assert served.send("GET", f"/storage/v3/files/{file_id}?alt=media").content == content  # type: ignore[attr-defined]
        listed = json.loads(served.send("GET", "/storage/v3/files?pageSize=1000").content)["files"]  # type: ignore[attr-defined]
        assert {file["id"] for file in listed} == set(contents)
    finally:
        served.stop()


@pytest.mark.spec("A3-19", "A3-19b")
def test_a_few_kills(tmp_path: Path) -> None:
    rounds(tmp_path, kills=6, seed=1)


@pytest.mark.durability
@pytest.mark.spec("A3-19", "A3-19b")
def test_two_hundred_kills(tmp_path: Path) -> None:
    rounds(tmp_path, kills=200, seed=2026)
