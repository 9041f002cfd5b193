"""Builds docs/rules.md from tests/rules.csv, with a section for each chapter and an anchor for each rule."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

RULES = Path(__file__).parents[1] / "tests" / "rules.csv"
CHAPTERS = {
    "U": "Upload methods",
    "A1": "Simple upload",
    "A2": "Multipart upload",
    "A3": "Resumable upload",
    "A4": "Metadata",
    "A5": "Import",
    "A6": "Download",
    "A7": "Export",
    "A8": "Watch a file",
    "A9": "Watch the change log",
    "A10": "Stop a channel",
    "A11": "Receiver",
    "N": "Notifications",
    "E": "Events",
    "T": "Tokens and scopes",
    "X": "Errors",
    "V": "API version",
    "L": "Generated ids",
    "D": "Notebook functions",
    "W": "Forms",
}
HEAD = """# Rules

The rules of the interface. `make docs` writes this page from `tests/rules.csv`: do not edit it.

A rule has a number, such as A6-04. A rule with several statements has a row for each of them, with a letter after the
number. Tests name the rules that they prove, and the journal of a sandbox names the rule that decided a response.
Each row has an anchor: `rules.md#a6-04a`. The last column names the modules of `svc_notebooks` that implement the rule,
the main one first.
"""


def page() -> str:
    """Return the Markdown of docs/rules.md."""
    with RULES.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    parts = [HEAD]
    for chapter, rules in groupby(rows, lambda row: row["id"].partition("-")[0]):
        parts.append(f"## {chapter} {CHAPTERS[chapter]}\n\n| rule | text | module |\n| --- | --- | --- |")
        for rule in rules:
            text = rule["rule"].replace("|", "&#124;").replace("<", "&lt;").replace("*", "\\*")
            parts.append(f'| <a id="{rule["id"].lower()}"></a>{rule["id"]} | {text} | `{rule["module"]}` |')
        parts.append("")
    return "\n".join(parts)
