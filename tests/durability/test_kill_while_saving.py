"""`kill -9` in the middle of a save, again and again: what is opened afterwards is the old state or the new one.

A process fills a service, saves it over and over to the same file, and says when it begins a save and when one is
done. It is killed at a random moment of the next one.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import open_saved, open_service

TOKEN = "a-token-of-this-test"
FILES = "http://svc.test/storage/v3/files"
SAVER = """
import sys
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import open_service

path = sys.argv[1]
with open_service(seed=0) as service:
    service.sign_in(token={token!r})
    for number in range(1, 1000):
        url = "http://svc.test/upload/storage/v3/files?uploadType=media"
        content = str(number).encode() * 300_000
        length = ("Content-Length", str(len(content)))
        head = Headers([("Authorization", "Bearer {token}"), ("Content-Type", "text/plain"), length])
        service.handle(Request("POST", url, head, content)).content()
        print("saving", number, flush=True)
        service.save(path, overwrite=True)
        print("saved", number, flush=True)
"""


def numbers_in(path: Path) -> list[int]:
    """Which files a saved service has, by what is in them."""
    with open_saved(path) as service:
        head = Headers([("Authorization", f"Bearer {TOKEN}")])
        listed = service.handle(Request("GET", FILES + "?pageSize=1000", head)).content()
        numbers = []
        for file in json.loads(listed)["files"]:
            content = service.handle(Request("GET", f"{FILES}/{file['id']}?alt=media", head)).content()
            number = int(content[: len(content) // 300_000])
            assert content == str(number).encode() * 300_000
            numbers.append(number)
        return sorted(numbers)


def saving(path: Path, number: int) -> subprocess.Popen[str]:
    """Return a process that has begun to save for this time."""
    command = [sys.executable, "-c", SAVER.format(token=TOKEN), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    while process.stdout.readline().split() != ["saving", str(number)]:
        pass
    return process


@pytest.mark.durability
@pytest.mark.parametrize("seed", range(40))
def test_a_killed_save_leaves_the_old_file_or_the_new_one(tmp_path: Path, seed: int) -> None:
    path, chance = tmp_path / "lesson.svc", random.Random(seed)
    last = chance.randint(3, 6)
    process = saving(path, last)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=chance.random() * 0.05)  # somewhere in this save, or in the next one
    process.kill()
    output_words = process.stdout.read().split()
    process.wait()
    process.stdout.close()

    done = [int(number) for word, number in zip(output_words[::2], output_words[1::2], strict=False) if word == "saved"]
    numbers = numbers_in(path)
    assert numbers == list(range(1, len(numbers) + 1))
    assert max([last - 1, *done]) <= len(numbers) <= max([last - 1, *done]) + 1
    backup = tmp_path / "lesson.svc.bak"
    assert len(numbers_in(backup)) in (len(numbers), len(numbers) - 1)  # the new one may not have taken its place yet


@pytest.mark.durability
def test_what_killed_saves_left_is_gone_after_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "lesson.svc"
    for _ in range(5):
        process = saving(path, 1)
        process.kill()
        process.communicate()

    with open_service(seed=0) as service:
        service.sign_in(token=TOKEN)
        service.save(path, overwrite=True)
    assert {file.name for file in tmp_path.iterdir()} <= {"lesson.svc", "lesson.svc.bak"}
    assert numbers_in(path) == []
