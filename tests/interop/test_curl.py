"""curl, as somebody would type it after reading the interface."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import serving

pytestmark = [pytest.mark.interop, pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")]

Q = 262_144
CONTENT = bytes(range(256)) * (3 * Q // 256) + b"and a tail"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.bin"
    path.write_bytes(CONTENT)
    return path


def curl(token: str, *arguments: str | Path) -> bytes:
    command = ["curl", "-sS", "--max-time", "30", "-H", f"Authorization: Bearer {token}", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.spec("A1-01", "A6-01", "A6-02", "A6-02a")
def test_up_and_down(base_url, token, source, tmp_path):
    kind = "Content-Type: application/x-test"
    upload = f"{base_url}/upload/storage/v3/files?uploadType=media"

    file = json.loads(curl(token, "--data-binary", f"@{source}", "-H", kind, upload))
    address = f"{base_url}/storage/v3/files/{file['id']}?alt=media"
    curl(token, "-o", tmp_path / "copy", address)

    assert (tmp_path / "copy").read_bytes() == CONTENT
    assert curl(token, "-r", "5-9", address) == CONTENT[5:10]
    assert curl(token, "-r", "-3", address) == CONTENT[-3:]
    assert b"content-length: 786442" in curl(token, "-I", address).lower()


@pytest.mark.spec("A1-03", "A1-03a")
def test_a_stream_goes_up_chunked(base_url, token, source):
    upload = f"{base_url}/upload/storage/v3/files?uploadType=media"

    file = json.loads(curl(token, "-X", "POST", "-H", "Transfer-Encoding: chunked", "-T", source, upload))

    assert curl(token, f"{base_url}/storage/v3/files/{file['id']}?alt=media") == CONTENT


@pytest.mark.spec("A3-01", "A3-01a", "A3-06", "A3-09", "A3-09a", "A3-08")
def test_a_resumable_upload_by_hand(base_url, token, source, tmp_path):
    upload = f"{base_url}/upload/storage/v3/files?uploadType=resumable"
    begun = curl(token, "-X", "POST", "-D", "-", upload, "-d", "").decode()
    uri = next(line.split(": ", 1)[1] for line in begun.splitlines() if line.lower().startswith("location:"))
    chunk, rest, total = tmp_path / "chunk", tmp_path / "rest", len(CONTENT)
    chunk.write_bytes(CONTENT[:Q])
    rest.write_bytes(CONTENT[Q:])

    first = curl(token, "-D", "-", "-H", f"Content-Range: bytes 0-{Q - 1}/{total}", "-T", chunk, uri).decode()
    status = curl(token, "-D", "-", "-X", "PUT", "-H", f"Content-Range: bytes */{total}", "-d", "", uri).decode()
    file = json.loads(curl(token, "-H", f"Content-Range: bytes {Q}-{total - 1}/{total}", "-T", rest, uri))

    assert "308 Resume Incomplete" in first
    assert f"bytes=0-{Q - 1}" in status
    assert curl(token, f"{base_url}/storage/v3/files/{file['id']}?alt=media") == CONTENT


def test_over_tls(tmp_path, source):
    """--cacert with the file that `serve --tls` names, and nothing else."""
    with serving("--tls", "--token", "t") as ready:
        ca, base_url = ready["ca"], ready["base_url"]
        upload = f"{base_url}/upload/storage/v3/files?uploadType=media"

        file = json.loads(curl("t", "--cacert", ca, "-H", "Expect: 100-continue", "-T", source, "-X", "POST", upload))
        curl("t", "--cacert", ca, "-o", tmp_path / "copy", f"{base_url}/storage/v3/files/{file['id']}?alt=media")
        with pytest.raises(subprocess.CalledProcessError) as stranger:
            curl("t", f"{base_url}/storage/v3/files")

    assert (tmp_path / "copy").read_bytes() == CONTENT
    assert stranger.value.returncode == 60  # curl's number of a certificate that it cannot verify
