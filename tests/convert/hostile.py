"""Readers that misbehave in a worker process as libraries do with a hostile file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from svc_notebooks.convert.engines import available
from svc_notebooks.convert.job import ConversionError, Job, TooLarge


@dataclass(frozen=True)
class Words:
    text: bytes = b"nothing"

    def pack(self) -> bytes:
        return self.text

    @classmethod
    def unpack(cls, body: bytes) -> Words:
        return cls(body)


def echo(source: bytes, job: Job) -> Words:
    job.note(f"{job.media_type} {job.name}")
    return Words(source)


def write(words: Words, job: Job) -> bytes:
    return words.text


def hang(source: bytes, job: Job) -> Words:
    """Start a child process, write its id to a file, and hang."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(source.decode()).write_text(str(child.pid))
    time.sleep(600)
    return Words()


def abort(source: bytes, job: Job) -> Words:
    os.abort()


def devour(source: bytes, job: Job) -> Words:
    return Words(bytes(4 * 1024**3))


def grow(source: bytes, job: Job) -> Words:
    return Words(bytes((bytearray(b"\1") * int(source))[-1:]))


def child_memory(source: bytes, job: Job) -> Words:
    """Hold as many bytes as the source says, and return how many a program may have meanwhile."""
    held = bytearray(b"\1") * int(source)
    # The limit is set when the program has started and before it gets its input.
    code = "import resource, sys; sys.stdin.read(); print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    status, output, errors = available.run([sys.executable, "-S", "-c", code], b"", os.environ, job)
    assert held[-1] == 1
    assert status == 0, errors
    return Words(output.strip())


def flood(source: bytes, job: Job) -> Words:
    return Words(bytes(64 * 1024**2))


def chatter(source: bytes, job: Job) -> Words:
    print("no JSON", flush=True)
    os.write(1, b"nor this\n")
    return Words(source)


def refuse(source: bytes, job: Job) -> Words:
    raise ConversionError("it is not ours.")


def shun(source: bytes, job: Job) -> Words:
    raise TooLarge("it is too much.")


def stumble(source: bytes, job: Job) -> Words:
    raise KeyError("word/document.xml")


def lack(source: bytes, job: Job) -> Words:
    raise ModuleNotFoundError("No module named 'lxml.etree'", name="lxml.etree")


def recurse(source: bytes, job: Job) -> Words:
    return recurse(source, job)
