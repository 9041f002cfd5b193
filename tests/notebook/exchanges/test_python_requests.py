"""Tests of Python code for exchanges, each of which runs in another process against the same service on a socket."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import svc_notebooks as svc
from tests.patience import PATIENCE

ODD = 'it\'s "quoted" $HOME `id` \\ {a,b} [0-9] %41 ü\t|'


@pytest.fixture
def run(lab: svc.Sandbox, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Run the code of an exchange, by default of the last one, and return its output: status and body.

    The environment has a proxy that does not exist, and a password for this machine in ~/.netrc.
    """
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login nobody password wrong\n")
    with lab.serve() as server:
        token = lab.service.sign_in()

        def run(n: int = -1, file: object = "", **changed: str) -> str:
            environment = {
                **os.environ, "SVC_TOKEN": token, "SVC_BASE_URL": server.base_url, "FILE": str(file),
                "NETRC": str(tmp_path / "netrc"), "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
                "NO_PROXY": "", "no_proxy": "", **changed,
            }  # fmt: skip
            command = [sys.executable, "-c", svc.exchange(n).python()]
            done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=True)
            return done.stdout.decode()

        yield run


def test_json_with_every_quote(lab, run):
    svc.create_file(name=ODD, description="two\nlines\r\nand more")

    status, _, body = run(1).partition(" ")

    assert (status, json.loads(body)["name"]) == ("200", ODD)
    assert svc.files(fields="name,description")["description"].tolist() == ["two\nlines\r\nand more"] * 2


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"x" * 5000, bytes(range(256)) * 10], ids=["text", "long", "binary"]
)
def test_a_multipart_upload(lab, run, tmp_path, content):
    (tmp_path / "survey.csv").write_bytes(content)
    svc.upload(tmp_path / "survey.csv", metadata={"description": "multi 'part'"})

    assert run(1, tmp_path / "survey.csv").startswith("200 ")

    first, second = (svc.read(file_id) for file_id in svc.files()["id"])
    assert first == second == content


def test_the_code_of_an_external_service_has_its_address(lab):
    with lab.serve() as server:
        session = svc.connect(server.base_url, lab.service.sign_in(token="a-very-secret-token"))
        svc.files(session=session)

    code = svc.exchange(session=session).python()

    assert f'"{server.base_url}/storage/v3/files' in code
    assert "a-very-secret-token" not in code
    assert 'os.environ["SVC_TOKEN"]' in code
    elsewhere = svc.exchange(session=session).python("https://elsewhere.example/")
    assert '"https://elsewhere.example/storage/v3/files' in elsewhere
    assert ("no_proxy" in code, "no_proxy" in elsewhere) == (True, False)
