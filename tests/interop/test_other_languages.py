"""Stock clients in other languages, unmodified, against a service with the names of their APIs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebooks.core.brand_names import GOOGLE
from svc_notebooks.server.service import Service, open_service

pytestmark = [pytest.mark.interop, pytest.mark.languages]
FOLDER = Path(__file__).parent
GO = Path("/usr/share/gocode")
JAVA = Path("/usr/share/java")
JARS = (
    *("google-api-client", "google-oauth-client", "google-http-client", "google-http-client-gson", "gson", "guava"),
    *("opencensus-api", "opencensus-contrib-http-util", "grpc-context", "httpclient", "httpcore", "commons-logging"),
)


@pytest.fixture
def service() -> Iterator[Service]:
    with open_service(seed=0, names=GOOGLE) as service:
        yield service


def run(*command: str, **variables: str) -> object:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ruby(base_url: str, token: str) -> None:
    probe = ["ruby", "-e", 'require "google/apis/drive_v3"']
    if not shutil.which("ruby") or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("Ruby with google-api-client (Debian: ruby-google-api-client) is not installed")

    assert run("ruby", str(FOLDER / "stock.rb"), base_url, token) == {
        "file": ["Größe.bin", "image/png", 700_000],
        "downloaded": True,
        "listed": [f"listed {number}" for number in range(4)],
        "deleted": [204, 204, 204, 204, 404],
        "event": ["Lunch", ["cancelled"]],
        "changed": 0,
    }


def test_go(base_url: str, token: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    if not shutil.which("go") or not (GO / "src/google.golang.org/api/drive/v3").is_dir():
        pytest.skip("Go with its API client (Debian: golang-go, golang-google-api-dev) is not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or tmp_path_factory.mktemp("go")) / "go-build"
    variables = {"GO111MODULE": "off", "GOPATH": str(GO), "GOCACHE": str(cache)}

    assert run("go", "run", str(FOLDER / "stock.go"), base_url, token, **variables) == {
        "file": ["Größe.bin", "image/png", 700_000],
        "tail": True,
        "listed": 4,
        "event": ["Lunch", "cancelled"],
    }


def test_java(base_url: str, token: str) -> None:
    """Each request with a body is compressed, as the generated clients do by default."""
    jars = [JAVA / f"{name}.jar" for name in JARS]
    if not shutil.which("java") or not all(jar.exists() for jar in jars):
        pytest.skip(
            "Java with its API client (Debian: default-jdk-headless, libgoogle-api-client-java) is not installed"
        )

    uploads_and_event = run("java", "-cp", os.pathsep.join(map(str, jars)), str(FOLDER / "Stock.java"), base_url, token)
    assert uploads_and_event == [True, True, 200]
