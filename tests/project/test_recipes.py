"""Every block of docs/recipes.md runs: each recipe in a sandbox of its own, after the lines at the head of the page."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.closing import closing
from tests.patience import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
INTRODUCTION, *SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
RECIPES = {section.partition("\n")[0]: section for section in SECTIONS}

# A condition that holds after each recipe. `output` is the output of its commands.
RESULTS = {
    "Connect to a service outside this kernel": "service.base_url == server.base_url and len(first) == 1",
    "Upload a folder of CSV files, and read all of them as one frame": "birds['count'].sum() == 18",
    "Save a DataFrame as Parquet or Excel, and read it back": "again.equals(people)",
    "Find files, and download all that match": "len(os.listdir('copies')) == 2 and sizes.sum() == 58",
    "Read and write files by URL, with pandas and other programs": "same.equals(people) and len(sheet) == 2",
    "Make a folder, and move files into it": "sorted(inside['name']) == ['1.txt', '2.txt', 'people.csv']",
    "Change a file, and restore it from the trash": "svc.files(trashed=False)['name'].item() == 'one person.csv'",
    "Share with a class": "set(roles['role']) == {'owner', 'reader'} and len(seen) == 2",
    "Resume an upload after a crash": "film['size'].item() == 6_000_000 and len(pending) == 1",
    "Turn a web page into a document, and get it as PDF": "Path('Birds.pdf').read_bytes().startswith(b'%PDF')",
    "Do something whenever a file changes": "message['changed'].item() == 'content,properties' and text == b'final'",
    "List the changes since the last time": "changed['name'].tolist() == ['news.txt']",
    "Put the rows of a spreadsheet into a calendar": "created['error'].isna().all() and len(svc.events()) == 2",
    "Change one event of a series, the following ones, or all": "len(svc.instances(series)) == 3 and "
    "str(svc.event(rest)['start'].item()) == '2026-12-02 14:00:00+01:00'",
    "Export a calendar to another program as an .ics file": "len(dates) == 8 and Path('november.ics').exists()",
    "Import an .ics file from another program": (
        "imported['time_zone'].item() == 'Europe/Berlin' and len(lessons) == 8 and again['id'].equals(imported['id'])"
    ),
    "See a calendar by month or week, and move events with the mouse": "len(view.listed) == 1 and moved.empty",
    "Find an hour at which two people are free": (
        "free['start'].dt.hour.tolist() == [12, 16] and meeting['start'].item() == slot['start']"
    ),
    "Let requests fail, and see how the client reacts": "tries.tolist() == [503, 503, 200]",
    "Move the clock a week ahead, and restore the state before": "late - lab.clock.now() == pd.Timedelta('8D')",
    "Save a sandbox to a file, and open it later or elsewhere": "names.tolist() == ['birds.csv'] * 2",
    "Show a request as HTTP, curl or Python, and save all requests as HAR": "Path('run.har').exists()",
    "Test my own client in pytest": "'1 passed' in output",
    "Test my own webhook endpoint": "received == ['sync', 'update'] and attempts['state'][0] == 'sync'",
    "Call it with curl or rclone": "Path('people.csv').read_bytes() == svc.read(file) and len(svc.files()) == 2",
    "Call it with google-api-python-client": "svc.files()['name'].tolist() == ['birds.csv']",
    "Call it with fetch in JavaScript": "output == 'species,count\\nrobin,3\\n\\n'",
}

PACKAGES = {
    "Save a DataFrame as Parquet or Excel, and read it back": "pyarrow",
    "Read and write files by URL, with pandas and other programs": "pyarrow",
}


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_block(language: str, code: str, names: dict[str, Any]) -> str | None:
    """Run Python in this process, and commands in a shell. Save a block that begins with a file name as this file.

    Return the name of a program that the block needs and that is not installed, else None.
    """
    file = re.match(r"(?:#|//) (\w+\.\w+)\n", code)
    if file:
        Path(file[1]).write_text(code, encoding="utf-8")
    elif language == "python":
        exec(compile(code, PAGE.name, "exec"), names)
    elif missing := [name for name in re.findall(r"^\w+", code, re.MULTILINE) if shutil.which(name) is None]:
        return missing[0]
    else:
        shell = subprocess.run(["bash", "-ec", code], capture_output=True, text=True, timeout=PATIENCE)
        assert shell.returncode == 0, shell.stdout + shell.stderr
        names["output"] = shell.stdout
    return None


def test_each_recipe_has_a_result():
    assert list(RECIPES) == list(RESULTS)
    assert f"shows {len(RECIPES)} tasks" in INTRODUCTION


@pytest.mark.parametrize("title", RECIPES)
def test_every_block_runs(title, tmp_path, monkeypatch):
    if title in PACKAGES and find_spec(PACKAGES[title]) is None:
        pytest.skip(f"{PACKAGES[title]} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    names = {"os": os}
    with mock.patch.dict(os.environ), closing():
        missing = [run_block(language, code, names) for language, code in blocks(INTRODUCTION + RECIPES[title])]

        program = next(filter(None, missing), None)
        assert (program and "output" in RESULTS[title]) or eval(RESULTS[title], names)
    if program:
        pytest.skip(f"{program} is not installed; all other blocks of the recipe have run")
