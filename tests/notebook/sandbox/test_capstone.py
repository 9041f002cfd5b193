import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.closing import closing

CELLS = json.loads(Path(__file__).parents[3].joinpath("notebooks/11-capstone.ipynb").read_text("utf-8"))["cells"]
TEXT = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
SOLUTION = "\n\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
FIRST_PROGRAM = "def receive(headers, world):\n    return True"

# What is changed in the solution, and the parts that this costs.
WRONG = {
    "no comparison of the token": (
        "if not hmac.compare_digest(world.token.encode(), given.encode()):",
        "if False:",
        {"receiver: one run"},
    ),
    "repeated messages": ("return is_new and", "return", {"receiver: one run"}),
    "every state": (' and headers["X-Svc-Resource-State"] == "change"', "", {"receiver: one run"}),
    "the change log from now": (
        "svc.changes(world.page_token)",
        'svc.changes(world.lab.session.call("GET", "/storage/v3/changes/startPageToken")["startPageToken"])',
        {"change log: from the stored token", "both folders are equal"},
    ),
    "a list of all files": (
        "log = svc.changes(",
        "svc.files()\n    log = svc.changes(",
        {"change log: no list of all files"},
    ),
    "the service wins": (
        "if changed and local != remote:",
        "if False:",
        {"conflict: both contents are kept", "both folders are equal"},
    ),
    "no If-Match": ('{"If-Match": etag}, ', "{}, ", {"If-Match: both lines are in the report"}),
    "one request": (
        "progress=False)\n        known =",
        'upload_type="multipart", progress=False)\n        known =',
        {"upload: a status query", "upload: little is sent twice"},
    ),
    "nothing is pushed": ("        push(world, path)", "        pass", {"both folders are equal"}),
}


def judge(program: str) -> tuple[set[str], str]:
    """Return the names of the parts without a +, and the error of the program."""
    names: dict[str, Any] = {}
    with closing():
        for cell in CELLS:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and not source.startswith("course.predict"):
                if FIRST_PROGRAM in source:
                    break
                exec(compile(source, "11-capstone", "exec"), names)
        exec(compile(program, "program", "exec"), names)
        world = names["rehearse"](names["receive"], names["sync"])
        table = names["parts"](world)
        names["scratch"].cleanup()
    return set(table.loc[table["result"] == "-", "part"]), world.error


def test_the_solution_has_every_part():
    assert judge(SOLUTION) == (set(), "")


@pytest.mark.parametrize("idea", WRONG)
def test_a_wrong_program_loses_its_part(idea):
    old, new, parts = WRONG[idea]
    assert SOLUTION.count(old) == 1

    missing, _ = judge(SOLUTION.replace(old, new))

    assert parts <= missing


def test_an_unsteady_client_loses_the_delays(monkeypatch):
    monkeypatch.setattr("svc_notebooks.core.http.backoff.RetryRule.delay", lambda *_: 2.0)

    assert "backoff: growing delays" in judge(SOLUTION)[0]
