"""A service that lies about every length. As a program, this module lets public functions meet the lies.

    python -m tests.hostile_service URL

It prints a JSON object with the outcome for each lie and function, the most bytes that a call has left on disk, and the
memory in bytes that all calls took beyond that of honest calls.
"""

import gzip
import json
import re
import socket
import sys
import tempfile
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.core.http.backoff import RetryRule

SIZE = 1000
HUGE = 256 * 1024 * 1024
BLOCK = b" " * 65_536
FILE = {"kind": "svc#file", "id": "f1" * 10, "name": "f.csv", "size": str(SIZE), "mimeType": "text/csv"}
ABOUT = {"importFormats": {}, "exportFormats": {"application/vnd.svc-apps.spreadsheet": ["text/csv"]}}
OK = b"HTTP/1.1 200 OK\r\n"
Blocks = Iterator[bytes]


def blocks(size: int = HUGE, block: bytes = BLOCK) -> Blocks:
    for _ in range(size // len(block)):
        yield block


def endless(head: bytes, line: bytes) -> Blocks:
    yield head
    while True:
        yield line * 1000


def message(*headers: bytes, body: bytes | Blocks = b"", first: bytes = OK) -> Blocks:
    yield first + b"".join(header + b"\r\n" for header in headers) + b"\r\n"
    yield from [body] if isinstance(body, bytes) else body


def chunked(body: Blocks, end: bytes = b"0\r\n\r\n") -> Blocks:
    for block in body:
        yield b"%x\r\n%s\r\n" % (len(block), block)
    yield end


@cache
def bomb(wbits: int) -> bytes:
    """Return compressed blocks, which are one block again and again: to compress all of them takes seconds."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first, block = (packer.compress(BLOCK) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + block * (HUGE // len(BLOCK) - 1) + packer.flush()


@cache
def names() -> bytes:
    return b"".join(b',"%d":0' % n for n in range(900_000))


GZIP, DEFLATE = 31, 15
CHUNKED = b"Transfer-Encoding: chunked"
SPACES = b'{"id": "f1f1f1f1f1f1f1f1f1f1", "x": "' + BLOCK


def length(size: int | bytes) -> bytes:
    return b"Content-Length: %s" % (size if isinstance(size, bytes) else str(size).encode())


def coded(coding: bytes, body: bytes) -> Blocks:
    return message(b"Content-Encoding: " + coding, length(len(body)), body=body)


def status(line: bytes, *headers: bytes, body: bytes | Blocks = b"") -> Blocks:
    return message(*headers, body=body, first=b"HTTP/1.1 " + line + b"\r\n")


LIES: dict[str, Callable[[], Blocks]] = {
    "no length": lambda: message(body=blocks()),
    "no length, JSON": lambda: message(b"Content-Type: application/json", body=endless(SPACES, BLOCK)),
    "chunks": lambda: message(CHUNKED, body=chunked(blocks())),
    "a long length": lambda: message(length(HUGE), body=blocks()),
    "a length of 19 digits": lambda: message(length(10**18), body=blocks()),
    "a length of 5,000 digits": lambda: message(length(b"9" * 5000), body=blocks()),
    "a negative length": lambda: message(length(-5), body=blocks()),
    "two lengths": lambda: message(length(HUGE), length(5), body=blocks()),
    "a short length": lambda: message(length(10), body=b"x" * 10),
    "a length and no end": lambda: message(length(SIZE), b"Connection: close", body=b"x" * 10),
    "short chunks": lambda: message(CHUNKED, body=chunked(iter([b"x" * 10]))),
    "chunks of one byte": lambda: message(CHUNKED, body=chunked(blocks(4 * SIZE, b"x"))),
    "a negative chunk": lambda: message(CHUNKED, body=b"-5\r\nabcde\r\n0\r\n\r\n"),
    "a chunk of many digits": lambda: message(CHUNKED, body=b"f" * 5000 + b"\r\nabc"),
    "a chunk without an end": lambda: message(CHUNKED, body=b"ffffff\r\nabc"),
    "trailers without an end": lambda: message(CHUNKED, body=endless(b"1\r\nx\r\n0\r\n", b"A: b\r\n")),
    "gzip": lambda: coded(b"gzip", bomb(GZIP)),
    "gzip in chunks": lambda: message(b"Content-Encoding: gzip", CHUNKED, body=chunked(iter([bomb(GZIP)]))),
    "gzip twice": lambda: coded(b"gzip, gzip", gzip.compress(bomb(GZIP))),
    "gzip of nothing": lambda: message(b"Content-Encoding: gzip", body=endless(b"", gzip.compress(b""))),
    "a name in gzip without an end": lambda: message(
        b"Content-Encoding: gzip", body=endless(gzip.compress(b"")[:3] + b"\x08" + gzip.compress(b"")[4:10], b"A" * 50)
    ),
    "stored blocks of nothing": lambda: message(
        b"Content-Encoding: deflate", body=endless(b"\x78\x9c", b"\0\0\0\xff\xff")
    ),
    "extensions of chunks": lambda: message(CHUNKED, body=endless(b"", b"1;" + b"a" * 500 + b"\r\nx\r\n")),
    "gzip that is cut": lambda: coded(b"gzip", gzip.compress(b"x" * SIZE)[:-9]),
    "gzip that is text": lambda: coded(b"gzip", b"x" * SIZE),
    "deflate": lambda: coded(b"deflate", bomb(DEFLATE)),
    "another coding": lambda: coded(b"br", b"x" * SIZE),
    "five codings": lambda: coded(b"gzip,gzip,gzip,gzip,gzip", b"x" * SIZE),
    "headers without an end": lambda: endless(OK, b"A: b\r\n"),
    "a header line without an end": lambda: endless(OK + b"A: ", b"x"),
    "large headers": lambda: message(*[b"A%d: " % n + b"x" * 60_000 for n in range(90)]),
    "a status line without an end": lambda: endless(b"HTTP/1.1 200 ", b"x"),
    "100 without an end": lambda: endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "103 without an end": lambda: endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    "206 of more": lambda: status(b"206 P", b"Content-Range: bytes 0-9999/10000", length(10_000), body=b"x" * 10_000),
    "206 of another place": lambda: status(b"206 P", b"Content-Range: bytes 5-9/1000", length(5), body=b"x" * 5),
    "206 of a huge size": lambda: status(b"206 P", b"Content-Range: bytes 0-%d/%d" % (HUGE - 1, HUGE), body=blocks()),
    "416": lambda: status(b"416 R", b"Content-Range: bytes */5", length(0)),
    "an error without an end": lambda: status(b"400 Bad", body=endless(b'{"error": "', BLOCK)),
    "503 without an end": lambda: status(b"503 Busy", body=endless(b"", BLOCK)),
    "a redirect": lambda: status(b"302 Found", b"Location: http://[half/" + b"x" * 5000, length(0)),
    "308": lambda: status(b"308 R", b"Range: bytes=0-99999999999999999999", length(0)),
    "a sign-in page": lambda: message(b"Content-Type: text/html", length(19), body=b"<html>Sign in</html"),
    "JSON of a proxy": lambda: message(b"Content-Type: application/json", length(12), body=b'{"ok": true}'),
    "a JSON list": lambda: message(b"Content-Type: application/json", length(2), body=b"[]"),
    "deep JSON": lambda: message(length(2_000_000), body=b'{"id":' + b"[" * 1_999_994),
    "many names": lambda: message(b"Connection: close", body=b'{"id": "f1f1f1f1f1f1f1f1f1f1"' + names() + b"}"),
    "many values": lambda: message(length(20_000_007), body=b'{"id":[' + b"{}," * 6_666_666 + b"{"),
    "a long text": lambda: message(length(16_000_011), body=b'{"id": "x' + b"y" * 16_000_000 + b'"}'),
    "nothing": lambda: iter([b""]),
    "not HTTP": lambda: iter([b"SSH-2.0-OpenSSH\r\n"]),
}

CALLS: dict[str, tuple[str, Callable[[Session, Path], object]]] = {
    "download": ("content", lambda session, folder: svc.download(FILE["id"], folder, session=session)),
    "download of a part": (
        "content",
        lambda session, folder: svc.download(FILE["id"], folder, byte_range=(5, 9), session=session),
    ),
    "read": ("content", lambda session, folder: svc.read(FILE["id"], session=session)),
    "read_frame": ("content", lambda session, folder: svc.read_frame(FILE["id"], session=session)),
    "export": ("export", lambda session, folder: svc.export("d1" * 10, "csv", folder, session=session)),
    "file": ("json", lambda session, folder: svc.file(FILE["id"], session=session)),
    "files": ("json", lambda session, folder: svc.files(session=session)),
    "about": ("json", lambda session, folder: svc.about(session=session)),
    "upload": ("json", lambda session, folder: svc.upload(b"x", session=session)),
    "resumable upload": (
        "session",
        lambda session, folder: svc.upload(b"x" * SIZE, upload_type="resumable", session=session),
    ),
    "delete": ("json", lambda session, folder: svc.delete(FILE["id"], session=session)),
    "changes": ("json", lambda session, folder: svc.changes("1", session=session)),
    "watch_file": ("json", lambda session, folder: svc.watch_file(FILE["id"], "https://x.example/", session=session)),
    "create_event": (
        "json",
        lambda session, folder: svc.create_event("E", start="2026-11-02", end="2026-11-03", session=session),
    ),
    "events": ("json", lambda session, folder: svc.events(session=session)),
    "token_info": ("json", lambda session, folder: svc.token_info(session=session)),
}
"""The functions, and the kind of request that meets the lie. The others are answered honestly."""

EVERY = ("download", "download of a part", "read", "export", "file", "resumable upload")
OF_EVERY_FUNCTION = ("honesty", "no length, JSON", "a sign-in page", "JSON of a proxy", "a JSON list", "a redirect")
"""The functions that meet every lie, and the lies that every function meets."""


class HostileService:
    """A service on a socket. Its base URL names a lie and the kind of request that meets it, as in `/3/content`."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._lies = list(LIES.values())
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=[self._server.accept()[0]], daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as requests:
            target = requests.readline().decode()
            size = 0
            while (line := requests.readline()).strip():
                size = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else size
            requests.read(size)
            for block in self._answer(target):
                connection.sendall(block)

    def _answer(self, target: str) -> Blocks:
        _, lie, lied_to, *path = target.split()[1].split("/")
        kind = "json"
        if "upload_id" in target:
            kind = "session"
        elif "/export?" in target:
            kind = "export"
        elif "alt=media" in target:
            kind = "content"
        if kind == lied_to:
            return self._lies[int(lie)]()
        if "uploadType=resumable" in target and kind == "json":
            return message(b"Location: /" + f"{lie}/{lied_to}/upload?upload_id=1".encode(), length(0))
        native = {**FILE, "id": "d1" * 10, "mimeType": next(iter(ABOUT["exportFormats"]))}
        answer = ABOUT if path[-1].startswith("about") else native if path[-1].startswith("d") else FILE
        body = b"a\n" * (SIZE // 2) if kind in ("content", "export") else json.dumps(answer).encode()
        return message(length(len(body)), b"Connection: close", body=body)


def peak_memory() -> int:
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024


def call_all(url: str) -> dict[str, object]:
    """Let the functions meet the lies of the service at `url`. Return the outcomes, and the use of memory and disk."""
    outcomes: dict[str, dict[str, str]] = {}
    left = before = 0
    for number, lie in enumerate(["honesty", *LIES]):
        for name, (kind, call) in CALLS.items():
            if name not in EVERY and lie not in OF_EVERY_FUNCTION:
                continue
            base_url = f"{url}/{number - 1}/{'none' if lie == 'honesty' else kind}"
            session = Session(base_url, "token", retry=RetryRule(base=0.001, patience=0.02), timeout=(2, 2))
            with tempfile.TemporaryDirectory() as folder:
                try:
                    call(session, Path(folder))
                    outcome = "returned"
                except svc.SvcError as error:
                    outcome = f"{type(error).__name__}: {error}"
                except Exception as error:
                    outcome = f"! {type(error).__name__}: {error}"
                left = max(left, sum(path.stat().st_size for path in Path(folder).iterdir()))
            session.close()
            outcomes.setdefault(lie, {})[name] = outcome
        before = before or peak_memory()
    peak = peak_memory()
    return {"outcomes": outcomes, "left": left, "memory": peak - before}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(call_all(sys.argv[1]), sys.stdout)
