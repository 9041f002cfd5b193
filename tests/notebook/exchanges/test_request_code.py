"""Tests of curl commands and Python code, each of which runs in a process against the same service on a socket."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import svc_notebooks as svc
from tests.patience import PATIENCE

ODD = 'it\'s "quoted" $HOME `id` \\ {a,b} [0-9] !x %41 ü\t|'


@pytest.fixture(params=["curl", "python"])
def run(request: pytest.FixtureRequest, lab: svc.Sandbox, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Run the command or the code of an exchange, and return its output: the status, with curl the headers, the body.

    The environment has a proxy that does not exist, and a password for this machine in ~/.netrc.
    """
    if request.param == "curl" and not shutil.which("curl"):
        pytest.skip("curl is not installed")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login nobody password wrong\n")
    with lab.serve() as server:
        token = lab.service.sign_in()

        def run(n: int, file: object = "") -> str:
            environment = {
                **os.environ, "SVC_TOKEN": token, "SVC_BASE_URL": server.base_url, "FILE": str(file),
                "NETRC": str(tmp_path / "netrc"), "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
                "NO_PROXY": "", "no_proxy": "",
            }  # fmt: skip
            view = svc.exchange(n)
            shell = ["sh", "-c", view.curl() + " -sS -i"]
            command = shell if request.param == "curl" else [sys.executable, "-c", view.python()]
            done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=True)
            return done.stdout.decode()

        yield run


of_curl = pytest.mark.parametrize("run", ["curl"], indirect=True)


def body(answer: str) -> dict:
    assert "200" in answer.splitlines()[0]
    return json.loads(answer[answer.index("{") :])


@pytest.mark.spec("D-04", "D-04c")
def test_json_with_every_quote(lab, run):
    svc.create_file(name=ODD, description="two\nlines\r\nand\x01more")

    assert body(run(1))["name"] == ODD
    assert svc.files(fields="name,description")["description"].tolist() == ["two\nlines\r\nand\x01more"] * 2


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"x" * 5000, bytes(range(256)) * 10], ids=["text", "long", "binary"]
)
def test_a_multipart_upload(lab, run, tmp_path, content):
    (tmp_path / "survey.csv").write_bytes(content)
    svc.upload(tmp_path / "survey.csv", metadata={"description": "multi 'part'"})
    assert "uploadType=multipart" in svc.exchange().url

    again = body(run(1, tmp_path / "survey.csv"))

    assert svc.read(again["id"]) == content
    stored = svc.files(fields="id,description").set_index("id")
    assert stored["description"][again["id"]] == "multi 'part'"
    assert again["mimeType"] == "text/csv"


@of_curl
def test_the_chunks_of_a_resumable_upload(lab, run, tmp_path):
    """The second chunk again is a repetition, and the last one completes what the notebook began."""
    content = os.urandom(700_000)
    path = tmp_path / "big"
    path.write_bytes(content)
    up = svc.start_upload(path, chunk_size=262_144)
    up.send_chunk()
    up.send_chunk()

    answer = run(3, path)
    assert "308 Resume Incomplete" in answer
    assert "Range: bytes=0-524287" in answer
    assert "Location: " in run(1)
    made = up.run()
    assert svc.read(made) == content
    assert body(run(4, path))["id"] == made["id"].item()  # its last chunk, once more


def test_the_address_may_be_given_and_a_header_without_its_secret_is_left_out(lab):
    svc.generate_ids(1)
    given = svc.exchange().curl("https://api.example/").splitlines()[-1].strip()
    assert given.startswith("'https://api.example/storage")
    assert '"$SVC_BASE_URL"' in svc.exchange().curl()
    assert "sandbox.svc.example" not in svc.exchange().curl()

    view = svc.exchange().resend(headers={"Proxy-Authorization": "Basic bWU6c2VjcmV0", "X-Trace": "7"})
    for code in (view.curl(), view.python()):
        assert "X-Trace" in code
        assert "Proxy-Authorization" not in code


def test_a_token_in_the_address_is_a_shell_variable(lab):
    token = lab.service.sign_in()
    session = svc.Session("https://sandbox.svc.example", handler=lab.service.handle)
    session.call("GET", "/storage/v3/files", query={"access_token": token, "pageSize": 5})

    command = svc.exchange(session=session).curl()
    assert token not in command
    assert "access_token='\"$SVC_TOKEN\"'&pageSize=5'" in command


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


@of_curl
def test_a_method_is_quoted(lab, run):
    svc.generate_ids(1)
    svc.exchange().resend(method="A`B`&C")
    run(2)
    assert lab.service.journal()[-1]["method"] == "A`B`&C"
