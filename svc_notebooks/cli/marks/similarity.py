"""Lists pairs of students whose notebooks are nearly the same, also if names, comments and spaces were changed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...course.submissions import SubmissionContent

_MIN_LINES = 6
_MIN_SHARE = 0.8
_MAX_HOLDERS = 0.15


def similar_notebooks(contents: Sequence[SubmissionContent], name_of: Callable[[str], str] = str) -> list[str]:
    """Return a sentence for each pair of students who share most of their own lines of code.

    The own lines of a student are those that at most 15 % of the class have, or two students of a small class. So
    neither the text of the notebooks nor an answer that everybody finds counts. Lines are compared without the names
    of variables, comments and spaces. It is a reason to talk with both, and no proof. `name_of` returns the name of the
    student of a submission.
    """
    lines = {each.student: set(_lines(each)) for each in contents}
    holders = Counter(line for own in lines.values() for line in own)
    most = max(2, int(_MAX_HOLDERS * len(lines)))
    rare = {student: {line for line in own if holders[line] <= most} for student, own in lines.items()}
    students = [student for student, own in rare.items() if len(own) >= _MIN_LINES]
    sentences = []
    for one, other in combinations(students, 2):
        common, fewer = len(rare[one] & rare[other]), min(len(rare[one]), len(rare[other]))
        if common >= _MIN_LINES and common >= _MIN_SHARE * fewer:
            same = (
                "the same code" if lines[one] == lines[other] else f"{common} of {fewer} lines of their own in common"
            )
            sentences.append(f"{name_of(one)} and {name_of(other)} have {same}")
    return sentences


def _lines(content: SubmissionContent) -> Iterator[str]:
    for notebook in content.notebooks:
        for cell in notebook.cells:
            try:
                tree = ast.parse(cell)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                yield from map(str.strip, cell.splitlines())
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    node.id = "_"
                elif isinstance(node, ast.arg):
                    node.arg = "_"
            yield from map(str.strip, ast.unparse(tree).splitlines())
