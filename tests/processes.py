"""What the tests of several processes run in a child: a process that is started anew imports it."""

import hashlib
import os
import pickle
import random
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import Any

import svc_notebooks as svc

Sent = tuple[str, str]

_MOST_SECONDS = 120


def is_answered(file_id: str) -> bool:
    """Whether the answer is that of the question."""
    return svc.file(file_id)["id"].tolist() == [file_id]


def send(number: int) -> Sent:
    """Upload content that no other number has; the file's id and the digest of what was sent."""
    content = random.Random(number).randbytes(400_000 if number % 2 else 30_000)
    chunk = {"chunk_size": 262_144} if number % 2 else {}
    row = svc.upload(content, name=f"{number}.bin", **chunk)
    return row["id"].iloc[0], hashlib.md5(content).hexdigest()


def connected_send(base_url: str, token: str, number: int) -> Sent:
    """The same in a process that may be new."""
    svc.connect(base_url, token)
    return send(number)


def files(_: object = None) -> list[str]:
    return svc.files()["name"].tolist()


def drawn(_: object = None) -> str:
    session = svc.current_session()
    return f"{os.getpid()} {session.random.getrandbits(128):032x}"


def forked(work: Callable[[], object]) -> Any:
    """What this gives in a forked child: its value, or the error that it raises. A child that hangs is ended."""
    receives, sends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(_MOST_SECONDS)
            with os.fdopen(sends, "wb") as file:
                pickle.dump(_outcome(work), file)
        finally:
            os._exit(0)
    os.close(sends)
    with os.fdopen(receives, "rb") as file:
        content = file.read()
    assert os.waitpid(child, 0)[1] == 0, "the child hangs"
    return pickle.loads(content)


def _outcome(work: Callable[[], object]) -> object:
    try:
        return work()
    except BaseException as error:
        return error


@contextmanager
def living_child() -> Iterator[None]:
    """A forked child that does nothing as long as the block lasts."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        theirs.send(b"begun")
        theirs.recv(1)
        os._exit(0)
    theirs.close()
    ours.recv(5)
    try:
        yield
    finally:
        ours.close()
        os.waitpid(child, 0)


@contextmanager
def held(*locks: Any) -> Iterator[None]:
    """Another thread holds these locks as long as the block lasts."""
    begun, over = Event(), Event()

    def hold() -> None:
        with ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            begun.set()
            over.wait()

    thread = Thread(target=hold)
    thread.start()
    assert begun.wait(_MOST_SECONDS)
    try:
        yield
    finally:
        over.set()
        thread.join()
