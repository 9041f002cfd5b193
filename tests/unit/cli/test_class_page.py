"""The commands of docs/class.md are run in the order of the page."""

import csv
import re
import shlex
import subprocess
from pathlib import Path

import requests

from tests.commands import command, serving

PAGE = (Path(__file__).parents[3] / "docs" / "class.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
(ROSTER,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


def words(begin: str) -> list[str]:
    """The words of the first command of the page that begins so, without the program, with a free port."""
    line = next(line for line in COMMANDS if line.startswith(begin))
    return shlex.split(line.replace("--port 8300", "--port 0"))[1:]


def tokens(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["email"]: row["token"] for row in csv.DictReader(file)}


def test_the_commands_of_the_page_run(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    file = tmp_path / "class-store" / "sign-in-tokens.csv"

    _, *serve = words("svc-notebooks serve --class")
    with serving(*serve, cwd=tmp_path) as ready:
        base_url, before = ready["base_url"], tokens(file)
        teacher = {"Authorization": f"Bearer {before['ada@school.example']}"}
        results = []
        for line in (line for line in COMMANDS if line.startswith("curl")):
            _, _, header, _, body, url = shlex.split(line)
            assert header == "Authorization: Bearer $TEACHER"
            address = url.replace("http://127.0.0.1:8300", base_url)
            results.append(requests.post(address, body, headers=teacher, timeout=30).status_code)
        copied = subprocess.run(command(*words("svc-notebooks backup")), cwd=tmp_path, capture_output=True, timeout=60)
    copy = [word.replace("class-store", "class-backup") for word in serve]
    with serving(*copy, cwd=tmp_path) as again:
        student = {"Authorization": f"Bearer {tokens(file)['bob@school.example']}"}
        about = requests.get(f"{again['base_url']}/storage/v3/about?fields=user", headers=student, timeout=30)

    assert results == [204, 200]
    assert copied.returncode == 0
    assert about.json()["user"]["emailAddress"] == "bob@school.example"
    assert tokens(file)["bob@school.example"] != before["bob@school.example"]
