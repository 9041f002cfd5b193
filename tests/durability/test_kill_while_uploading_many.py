"""`kill -9` at random places of an upload of many files with a ledger: the end is the same set of files, none twice.

The service runs in a process of its own. A client uploads 2,000 files, is killed at a random moment, and is started
again with the same call, ten times.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session

FILES, KILLS, LARGE_EVERY = 2_000, 10, 200
CLIENT = """
import sys
import svc_notebooks as svc
from svc_notebooks.local.ledger import Ledger

save = Ledger.save
def save_and_print(self, key, state, **values):
    save(self, key, state, **values)
    print(state, flush=True)
Ledger.save = save_and_print

folder, base_url, token = sys.argv[1:]
svc.connect(base_url, token)
paths = [f"{folder}/{n}.bin" for n in range(FILES)]
result = svc.upload(paths, resume="survey", progress=False)
print(result["outcome"].value_counts().to_dict(), flush=True)
"""


@pytest.fixture
def session() -> Iterator[Session]:
    command = [sys.executable, "-m", "svc_notebooks.cli", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        ready = json.loads(process.stdout.readline())
        with svc.connect(ready["base_url"], ready["token"]) as session:
            yield session
        process.terminate()


@pytest.mark.durability
def test_a_killed_batch_of_uploads_ends_with_each_file_once(tmp_path, session, monkeypatch):
    monkeypatch.setenv("SVC_NOTEBOOKS_STATE", str(tmp_path / "state"))
    chance, contents = random.Random(11), tmp_path / "contents"
    contents.mkdir()
    for n in range(FILES):
        size = 6_000_000 if n % LARGE_EVERY == 0 else chance.randint(0, 4_000)
        (contents / f"{n}.bin").write_bytes(chance.randbytes(size))
    token = session._credential.token
    command = [sys.executable, "-c", CLIENT.replace("FILES", str(FILES)), str(contents), session.base_url, token]
    killed = 0
    while killed < KILLS:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            assert process.stdout
            for _ in range(chance.randint(1, 3 * FILES // (2 * KILLS))):
                assert process.stdout.readline() == "done\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=chance.uniform(0, 0.02))
            process.kill()
            killed += 1
    stored = len(svc.files(limit=FILES + 100, fields="id"))
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 0, ended.stderr

    files = svc.files(limit=FILES + 100, fields="name,size,md5_checksum")
    print(f"{stored} files after {killed} kills, then {ended.stdout.splitlines()[-1]}")
    assert 0 < stored < FILES
    assert set(Counter(files["name"]).values()) == {1}
    assert dict(zip(files["name"], files["size"], strict=True)) == {
        f"{n}.bin": (contents / f"{n}.bin").stat().st_size for n in range(FILES)
    }


@pytest.mark.durability
def test_a_repeated_call_sends_only_the_rows_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with svc.sandbox() as lab:
        ids = svc.upload([b"x"] * 9_900)["id"].tolist()
        ids += [f"missing-{n:025}" for n in range(100)]
        random.Random(11).shuffle(ids)
        sent: Counter[str] = Counter()
        send = lab.session.send

        def counted(request):
            sent[request.method] += 1
            return send(request)

        monkeypatch.setattr(lab.session, "send", counted)
        for expected in (10_000, 100, 100):
            sent.clear()
            with pytest.warns(UserWarning, match="100 of 10000 rows failed"):
                result = svc.trash(ids, resume="survey")
            assert sent == {"PATCH": expected, "GET": 1}  # the ledger reads the id of the top folder
            assert (result["outcome"] == "failed").sum() == 100
            assert result["id"].tolist() == ids
