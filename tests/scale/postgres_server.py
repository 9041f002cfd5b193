"""Starts a PostgreSQL server of the system in a temporary folder, for the tests of `make scale`."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_USER = "postgres"
_SETTINGS = {"max_connections": "200", "listen_addresses": "127.0.0.1", "shared_buffers": "64MB"}
QUICK = {"fsync": "off"}
DURABLE = {"fsync": "on", "synchronous_commit": "on"}
"""The settings that wait for the disk, which are PostgreSQL's defaults. Figures are measured with them."""


class NoServer(Exception):
    """Raised if PostgreSQL cannot be started. The message has the reason."""


class PostgresServer:
    """A server in a folder, which can be stopped in the middle of its work and started again."""

    def __init__(self, folder: Path, durability: Mapping[str, str]) -> None:
        programs, self._prefix = _programs(), _as_another_user()
        self._data, self._program = folder / "data", programs / "pg_ctl"
        if self._prefix:
            shutil.chown(folder, _USER)
        options = ["-A", "trust", "-E", "UTF8", "--no-locale", "-U", _USER]
        _run([*self._prefix, programs / "initdb", "-D", self._data, *options])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {**_SETTINGS, **durability, "port": str(port), "unix_socket_directories": str(folder)}
        self._options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self.address = f"postgresql://{_USER}@127.0.0.1:{port}"

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        log = self._data.with_name("log")
        _run([*self._prefix, self._program, "-D", self._data, "-w", "-l", log, "-o", self._options, "start"])

    def stop(self) -> None:
        """Stop all processes of the server at once, as a failure of the machine does."""
        _run([*self._prefix, self._program, "-D", self._data, "-w", "-m", "immediate", "stop"])


@contextmanager
def postgres_server(durability: Mapping[str, str] = QUICK) -> Iterator[PostgresServer]:
    """Run a server during a `with` block. Raises NoServer."""
    folder = Path(tempfile.mkdtemp(prefix="svc-postgres-"))
    try:
        server = PostgresServer(folder, durability)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_server(durability: Mapping[str, str] = QUICK) -> Iterator[str]:
    """Run a server during a `with` block, and return its address without a database. Raises NoServer."""
    with postgres_server(durability) as server:
        yield server.address


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
