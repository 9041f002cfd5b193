"""The files that docs/clients.md shows: the ten tasks with five clients, batches and gcsa."""

import os
import re
import runpy
import shutil
import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks import Names, Sandbox
from svc_notebooks.core.policy import Policy
from tests.closing import closing
from tests.family import FAMILY, FAMILY_POLICY
from tests.patience import PATIENCE

pytestmark = pytest.mark.interop

PYTHON = "google-api-python-client"
CLIENTS = Path(__file__).parents[2] / "docs" / "clients"
TASKS = """\
1 {user}
2 Untitled
3 ducks.csv
4 700000
5 {native}
6 species
7 mallard\t12
8 2 files on 2 pages
9 api#channel
10 200 412
"""
RCLONE_TASKS = "1 1\n3 ducks.csv\n4 700000\n5 ducks.tsv\n6 species\n7 mallard\t12\n8 2 files\n"


@pytest.fixture
def lab(request):
    """A sandbox with the names that the client knows, and the rules of the deployments that have them."""
    policy = FAMILY_POLICY if request.param is FAMILY else Policy()
    with closing():
        yield svc.sandbox(names=request.param, policy=replace(policy, host_names=("www.googleapis.com",)))


def environment(lab: Sandbox, **variables: str) -> dict[str, str]:
    server = lab.serve(tls="SVC_CA" in variables)
    own = {"SVC_BASE_URL": server.base_url, "SVC_TOKEN": str(lab.access_token)}
    return {**own, **variables, **({"SVC_CA": str(server.ca)} if server.ca else {})}


def run_program(program: str, file: str, variables: dict[str, str]) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    words = ["node" if file.endswith(".mjs") else "bash", CLIENTS / file]
    environment = {**os.environ, **variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_python(file: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    runpy.run_path(str(CLIENTS / file), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "lab, program, file, fault",
    [
        (Names(), "curl", "curl.sh", {"reset": "after"}),
        (Names(), "node", "fetch.mjs", {"reset": "after"}),
        (Names(), "", "python_requests.py", {"reset": "after"}),
        (FAMILY, "", "google_api_python_client.py", {"status": 503}),
    ],
    ids=["curl", "fetch", "requests", "google-api-python-client"],
    indirect=["lab"],
)
def test_ten_tasks(lab, program, file, fault, monkeypatch, capsys, seen):
    receiver = svc.receiver()
    variables = environment(lab, SVC_RECEIVER=receiver.address)

    with lab.faults(operation="upload.session", nth=2, **fault):
        output = run_program(program, file, variables) if program else run_python(file, variables, monkeypatch, capsys)

    assert output == TASKS.format(user="ada@svc.example", native=lab.service.names.native("spreadsheet"))
    assert {"uploadType=media", "uploadType=multipart", "uploadType=resumable"} <= upload_types(lab)
    assert receiver.wait_for("update")["channel_id"].notna().all()
    assert svc.files(name="film.bin")["size"].tolist() == [700_000]
    assert svc.events()["recurrence"].tolist() == [["RRULE:FREQ=WEEKLY;COUNT=8"]]
    assert svc.events()["summary"].tolist() == ["Count all ducks"]
    if lab.service.names == FAMILY:
        seen(PYTHON, version(PYTHON), "upload", "chunks", "interruption", "range", "pages", "events")


def upload_types(lab: Sandbox) -> set[str]:
    queries = lab.journal()["query"].dropna()
    return {part for query in queries for part in query.split("&") if part.startswith("uploadType=")}


@pytest.mark.parametrize("lab", [FAMILY], indirect=True, ids=["rclone"])
def test_seven_tasks_with_rclone(lab, seen):
    variables = environment(lab, SVC_CA="")

    with lab.faults(operation="upload.session", nth=2, status=503):
        output = run_program("rclone", "rclone.sh", variables)

    assert output == RCLONE_TASKS
    assert upload_types(lab) == {"uploadType=multipart", "uploadType=resumable"}
    assert sorted(svc.files()["name"]) == ["ducks", "ducks.csv", "film.bin", "native"]
    assert {206} <= set(lab.journal()["status"])
    about = subprocess.run(["rclone", "version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"v(\d[\d.]+\d)", about)
    seen("rclone", number[1] if number else "", "upload", "chunks", "interruption", "range", "pages")


@pytest.mark.parametrize("lab", [FAMILY], indirect=True, ids=["google-api-python-client"])
def test_batches(lab, monkeypatch, capsys, seen):
    output = run_python("batch_requests.py", environment(lab), monkeypatch, capsys)

    assert output == "create ducks\nmissing 404\n2 Lesson 2\n3 Lesson 3\n4 Lesson 4\n"
    assert svc.files()["name"].tolist() == ["ducks"]
    assert len(svc.events()) == 3
    seen(PYTHON, version(PYTHON), "batch")


@pytest.mark.parametrize("lab", [FAMILY], indirect=True, ids=["gcsa"])
def test_gcsa(lab, monkeypatch, capsys):
    output = run_python("calendar_gcsa.py", environment(lab), monkeypatch, capsys)

    assert output == "11-02 11-09 11-16\n3 busy times\nAppointment at Somewhere\n"
    assert len(svc.events()) == 2
