"""Starts a PostgreSQL server of the system in a temporary folder, for the tests of `make scale`."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_USER = "postgres"
_SETTINGS = {"fsync": "off", "max_connections": "200", "listen_addresses": "127.0.0.1", "shared_buffers": "64MB"}


class NoServer(Exception):
    """Raised if PostgreSQL cannot be started. The message has the reason."""


@contextmanager
def running_server() -> Iterator[str]:
    """Run a server during a `with` block, and return its address without a database. Raises NoServer."""
    programs = _programs()
    prefix = _as_another_user()
    folder = Path(tempfile.mkdtemp(prefix="svc-postgres-"))
    data, log = folder / "data", folder / "log"
    try:
        if prefix:
            shutil.chown(folder, _USER)
        _run([*prefix, programs / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--no-locale", "-U", _USER])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {**_SETTINGS, "port": str(port), "unix_socket_directories": str(folder)}
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        _run([*prefix, programs / "pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start"])
        try:
            yield f"postgresql://{_USER}@127.0.0.1:{port}"
        finally:
            _run([*prefix, programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Return the folder with the programs of the newest PostgreSQL on this machine."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    on_path = shutil.which("pg_ctl")
    folders = [*versions, *([Path(on_path).resolve().parent] if on_path else [])]
    for folder in reversed(folders):
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    raise NoServer("this machine has no PostgreSQL server: apt-get install postgresql")


def _as_another_user() -> list[str]:
    """Return the command that runs another command as a user who is not root, whom PostgreSQL refuses."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        raise NoServer("PostgreSQL refuses to run as root, and there is no setpriv to change the user")
    try:
        user = pwd.getpwnam(_USER)
    except KeyError:
        raise NoServer(f"PostgreSQL refuses to run as root, and there is no user {_USER}") from None
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _run(command: list[object]) -> None:
    done = subprocess.run([str(word) for word in command], cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoServer(f"{command[-1]} failed: {(done.stderr or done.stdout).strip()[-500:]}")
