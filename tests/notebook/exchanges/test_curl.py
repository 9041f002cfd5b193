"""Tests of curl commands, each of which runs in sh against the same service on a socket."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

import svc_notebooks as svc
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")

ODD = 'it\'s "quoted" $HOME `id` \\ {a,b} [0-9] !x %41 ü\t|'


@pytest.fixture
def paste(lab: svc.Sandbox) -> Iterator[Callable[..., str]]:
    """Run the command of the last exchange, or of that number; what it printed: headers and body."""
    with lab.serve() as server:
        token = lab.service.sign_in()

        def run(n: int = -1, file: object = "") -> str:
            command = svc.exchange(n).curl() + " -sS -i"
            shell = {
                "PATH": os.environ["PATH"], "SVC_TOKEN": token, "SVC_BASE_URL": server.base_url, "FILE": str(file),
                "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
            }  # fmt: skip
            done = subprocess.run(["sh", "-c", command], env=shell, capture_output=True, timeout=PATIENCE, check=True)
            return done.stdout.decode()

        yield run


def body(answer: str) -> dict:
    return json.loads(answer.replace("\r\n", "\n").rpartition("\n\n{")[2].join(["{", ""]))


@pytest.mark.spec("D-04", "D-04c")
def test_json_with_every_quote(lab, paste):
    svc.create_file(name=ODD, description="two\nlines\r\nand\x01more")

    assert body(paste(1))["name"] == ODD
    assert svc.files(fields="name,description")["description"].tolist() == ["two\nlines\r\nand\x01more"] * 2


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"x" * 5000, bytes(range(256)) * 10], ids=["text", "long", "binary"]
)
def test_a_multipart_upload(lab, paste, tmp_path, content):
    (tmp_path / "survey.csv").write_bytes(content)
    svc.upload(tmp_path / "survey.csv", metadata={"description": "multi 'part'"})
    assert "uploadType=multipart" in svc.exchange().url

    again = body(paste(1, tmp_path / "survey.csv"))

    assert svc.read(again["id"]) == content
    stored = svc.files(fields="id,description").set_index("id")
    assert stored["description"][again["id"]] == "multi 'part'"
    assert again["mimeType"] == "text/csv"


def test_the_chunks_of_a_resumable_upload(lab, paste, tmp_path):
    """The second chunk again is a repetition, and the last one completes what the notebook began."""
    content = os.urandom(700_000)
    (tmp_path / "big").write_bytes(content)
    up = svc.start_upload(tmp_path / "big", chunk_size=262_144)
    up.send_chunk()
    up.send_chunk()

    assert "308 Resume Incomplete" in paste(3, tmp_path / "big")
    assert "Range: bytes=0-524287" in paste(3, tmp_path / "big")
    assert "Location: " in paste(1)
    made = up.run()
    assert svc.read(made) == content
    assert body(paste(4, tmp_path / "big"))["id"] == made["id"].item()  # its last chunk, once more


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


def test_a_token_in_the_address_is_a_shell_variable(lab, paste):
    token = lab.service.sign_in()
    session = svc.Session("https://sandbox.svc.example", handler=lab.service.handle)
    session.call("GET", "/storage/v3/files", query={"access_token": token, "pageSize": 5})

    command = svc.exchange(session=session).curl()

    assert token not in command
    assert "access_token='\"$SVC_TOKEN\"'&pageSize=5'" in command


def test_a_method_is_quoted(lab, paste):
    svc.generate_ids(1)
    svc.exchange().resend(method="A`B`&C")
    paste(2)
    assert lab.service.journal()[-1]["method"] == "A`B`&C"
