"""The client process that memory.py watches: uploads and downloads one large file on command."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.processes import MIB, TOKEN
from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.uploads import upload
from tests.contents import save_content


def main(base_url: str, folder: str, chunk: str) -> None:
    """Warm up, then do what each line of the standard input says: up or down."""
    directory = Path(folder)
    session = Session(base_url, TOKEN, state_dir=directory / "state")
    small = directory / "small.bin"
    small.write_bytes(bytes(MIB))
    file_id = _move_up(session, small, int(chunk))
    save_content(session, file_id, directory / "small.copy")
    print("warm", flush=True)
    for line in sys.stdin:
        if line == "up\n":
            file_id = _move_up(session, directory / "large.bin", int(chunk))
        else:
            save_content(session, file_id, directory / "large.copy")
        print(line, end="", flush=True)


def _move_up(session: Session, path: Path, chunk: int) -> str:
    return str(upload(session, path, chunk_size=chunk)["id"])


main(*sys.argv[1:])
