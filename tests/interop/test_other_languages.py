"""Stock clients in other languages, unmodified, against a service with the names of their APIs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebooks.core.brand_names import GOOGLE
from svc_notebooks.server.service import Service, open_service

pytestmark = pytest.mark.interop
FOLDER = Path(__file__).parent


@pytest.fixture
def service() -> Iterator[Service]:
    with open_service(seed=0, names=GOOGLE) as service:
        yield service


def run(*command: str) -> object:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ruby(base_url: str, token: str) -> None:
    has_client = (
        shutil.which("ruby")
        and subprocess.run(
            ["ruby", "-e", 'require "google/apis/drive_v3"'], capture_output=True, check=False
        ).returncode
        == 0
    )
    if not has_client:
        pytest.skip("Ruby with google-api-client is not installed")

    assert run("ruby", str(FOLDER / "stock.rb"), base_url, token) == {
        "file": ["Größe.bin", "image/png", 700_000],
        "downloaded": True,
        "listed": [f"listed {number}" for number in range(4)],
        "deleted": [204, 204, 204, 204, 404],
        "event": ["Lunch", ["cancelled"]],
        "changed": 0,
    }
