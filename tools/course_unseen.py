"""The rules and clauses that no notebook of the course shows, with the reasons, and the tests that prove them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
_MARK = re.compile(r"mark\.spec\(([^)]*)\)")
_FIRST_FOLDERS = ("contract", "notebook", "unit")
"""The folders of tests in the order in which a reader would look."""

NOT_SEEN = {
    "A1-03b": "The client sends the length of each body.",
    "A2-04b": "The lesson shows a multipart update that succeeds.",
    "A2-05": "Client and service share the memory of the kernel, so it shows nothing about the client.",
    "A3-02b": "The client always sends the media type.",
    "A3-04b": "The client always sends metadata as JSON.",
    "A3-13b": "A request that renews a session has the same response as any other request.",
    "A3-14b": "A malformed id has the same response as an unknown id, which the lesson shows.",
    "A3-17": "Two threads must send at the same moment, and the order differs from run to run.",
    "A3-19b": "The service runs in the kernel of the notebook, and `kill -9` would end both.",
    "A3-26": "Sending a gibibyte takes too long for a lesson.",
    "A3-27": "The client always sends the unit of a Content-Range.",
    "A3-28": "The client knows the length of its metadata, so its requests are not chunked.",
    "A6-02b": "The lesson reads bytes that exist.",
    "A6-04a": "A saved notebook cannot ask a person.",
    "A6-04c": "The text of a warning contains the path of a temporary file, which differs from run to run.",
    "A6-05b": "The lesson shows what readers may do, and not who may set the restriction.",
    "A6-06a": "Client and service share the memory of the kernel, so it shows nothing about the client.",
    "A6-08c": "Only a browser shows or saves the content. `make browser` opens the link.",
    "A6-08d": "Only a browser could run the content. `make browser` opens the link.",
    "A6-09": "The lesson marks a file as malware after it has opened the links.",
    "A8-01b": "The functions generate the token of a channel, and mask it in each output.",
    "A8-02a": "`watch_file` gives each channel an id.",
    "A8-02b": "`watch_file` generates ids of 36 characters.",
    "A8-07a": "The frames show times. The number of milliseconds is only in the body of the response.",
    "A8-09b": "The service has one version of the interface.",
    "A9-01b": "The lesson shows these rules for a file.",
    "A10-01b": "`stop_channel` always sends both.",
    "A11-02b": "The reader would have to wait as long as the receiver does.",
    "N-01b": "A message that is late looks the same as no message.",
    "N-09a": "The service is in the same kernel, and too quick for a comparison.",
    "E-06a": "The service leaves defaults out of its responses.",
    "E-08a": "The lesson shows the later change, which is ignored.",
    "E-09b": "The lesson requests a new conference instead of copying one.",
    "E-09d": "`create_event` refuses other versions before it sends a request.",
    "E-10b": "The lesson shows another mistake in a gadget.",
    "E-13b": "The lesson shows two other mistakes in reminders.",
    "E-13d": "The lesson shows two other mistakes in reminders.",
    "T-01b": "The lesson shows a request without a token and one with an expired token.",
    "T-05b": "A notebook has no log.",
    "T-05c": "A lesson should not end with a traceback.",
    "D-03b": "A saved notebook is not a terminal.",
    "D-03c": "Nobody interrupts the kernel of a saved notebook.",
    "W-05a": "A saved notebook has no keyboard. `make browser` uses every form with keys only.",
    "W-05b": "The label of a control is not part of the output.",
    "W-05c": "A saved notebook is not JupyterLab. `make browser` opens every form there.",
}
"""The reasons by rule. The rules have the same order as in tests/rules.csv."""


def proofs(rules: Iterable[str]) -> dict[str, str]:
    """Return the path of one test for each of these rules. Raises KeyError for a rule without a test."""
    tests: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py"), key=_order):
        for mark in _MARK.findall(path.read_text(encoding="utf-8")):
            for rule in re.findall(r'"([^"]+)"', mark):
                tests.setdefault(rule, []).append(path)
    return {rule: tests[rule][0].relative_to(ROOT).as_posix() for rule in rules}


def _order(path: Path) -> tuple[int, str]:
    folder = path.relative_to(ROOT / "tests").parts[0]
    place = _FIRST_FOLDERS.index(folder) if folder in _FIRST_FOLDERS else len(_FIRST_FOLDERS)
    return place, path.as_posix()
