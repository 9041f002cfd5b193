"""Parts in memory and in a folder behave alike, and content survives what happens around it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from svc_notebooks.server.content import Content
from svc_notebooks.server.parts import BLOCK, FolderParts, MemoryParts
from svc_notebooks.server.store import Store, open_database


@pytest.fixture(params=["memory", "folder"])
def parts(request, tmp_path):
    return MemoryParts() if request.param == "memory" else FolderParts(tmp_path, sync=True)


def written(parts, *blocks, keep=None):
    writer = parts.writer()
    for block in blocks:
        writer.write(block)
    if keep is not None:
        writer.truncate(keep)
    return writer.commit()


def test_what_is_written_is_read_in_any_range(parts):
    blocks = [b"ab", b"c" * 70_000, b"de", b"f" * BLOCK * 2]
    whole = b"".join(blocks)
    key = written(parts, *blocks)

    for start, stop in ((0, len(whole)), (1, 3), (70_001, 70_005), (len(whole) - 1, len(whole))):
        assert b"".join(parts.read(key, start, stop)) == whole[start:stop]


@pytest.mark.parametrize("keep", [0, 1, 2, 70_001, 70_004])
def test_a_truncated_part_ends_where_it_was_cut(parts, keep):
    key = written(parts, b"ab", b"c" * 70_000, b"de", keep=keep)

    assert b"".join(parts.read(key, 0, keep)) == (b"ab" + b"c" * 70_000 + b"de")[:keep]


def test_what_is_not_known_is_swept(parts):
    kept, lost = written(parts, b"kept"), written(parts, b"lost")
    parts.writer().abort()

    assert parts.sweep({kept}) == 1
    parts.delete([lost, kept])
    assert parts.sweep(set()) == 0


@pytest.fixture
def store():
    store = Store(open_database(None, "process"))
    yield store
    store.close()


def test_a_download_goes_on_when_its_content_is_deleted(parts, store):
    content = Content(store, parts, part_size=4)
    number = store.contents.begin()
    inflow = content.inflow(0, lambda piece: store.contents.append(number, piece))
    inflow.write(b"0123456789")
    inflow.deliver(inflow.finish(10), lambda piece: store.contents.append(number, piece))
    reading = content.read(number, 1, 9)
    first = next(reading)

    content.discard(number, store.contents.drop(number))

    assert first + b"".join(reading) == b"12345678"
    assert parts.sweep(set()) == 0


HELD = """
import psutil
from svc_notebooks.server.parts import MemoryParts

bytes(24 << 20)  # from here on the C library takes blocks of this size from its heap
parts, keys, between = MemoryParts(), [], []
for _ in range(16):
    writer = parts.writer()
    for _ in range(16):
        writer.write(bytes(b"x") * (256 << 10))
        between.append(b"y" * 1000)
    keys.append(writer.commit())
before = psutil.Process().memory_info().rss
parts.delete(keys)
print((before - psutil.Process().memory_info().rss) >> 20)
"""


@pytest.mark.skipif(not (sys.platform == "linux" and platform.libc_ver()[0] == "glibc"), reason="a matter of glibc")
def test_what_is_deleted_goes_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)

    assert int(done.stdout) > 48, "of 64 MiB"
