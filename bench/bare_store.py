"""The least that a stored file costs: a socket, a row and its content in SQLite, and a commit for each request.

    python -m bench.bare_store DATABASE

It prints its base URL like `svc-notebooks serve`, and answers each POST with an id.
"""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import sys
from itertools import count

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SETTINGS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
_TABLES = """
CREATE TABLE files (id TEXT PRIMARY KEY, name TEXT, size INTEGER);
CREATE TABLE contents (id TEXT PRIMARY KEY, content BLOB);
"""


def main(path: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(_SETTINGS + _TABLES)
    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"base_url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
    ids = map(str, count(1))
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        while head := b"".join(iter(stream.readline, b"\r\n")):
            length = _LENGTH.search(head)
            content = stream.read(int(length[1])) if length else b""
            number = next(ids)
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO files VALUES (?, ?, ?)", (number, "Untitled", len(content)))
            database.execute("INSERT INTO contents VALUES (?, ?)", (number, content))
            database.execute("COMMIT")
            answer = json.dumps({"id": number}).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
