"""Lists pairs of students whose notebooks are nearly the same, also if names, comments and spaces were changed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from ...course.submissions import SubmissionContent, exercise_cells
from ..notebook_files import notebooks_folder

_MIN_LINES = 4
_MIN_SHARE = 0.8
_MAX_HOLDERS = 0.15


def similar_notebooks(contents: Sequence[SubmissionContent], name_of: Callable[[str], str] = str) -> list[str]:
    """Return sentences about students with the same code, and about pairs who share most of their own lines of code.

    The own lines of a student are those that the course's notebooks do not have. Of these, a pair shares lines that at
    most 15 % of the class have, or two students of a small class, so that an answer that everybody finds does not
    count. They are compared without the names of variables, comments and spaces. It is a reason to talk with the
    students, and no proof. `name_of` returns the name of the student of a submission.
    """
    notebooks = sorted((notebooks_folder() / "exercises").glob("*.ipynb"))
    course = set(_lines(cell for path in notebooks for cell in exercise_cells(path.read_bytes())))
    cells = {each.student: tuple(cell.strip() for book in each.notebooks for cell in book.cells) for each in contents}
    own = {student: set(_lines(code)) - course for student, code in cells.items()}
    holders = Counter(line for lines in own.values() for line in lines)
    most = max(2, int(_MAX_HOLDERS * len(own)))
    same: dict[tuple[str, ...], list[str]] = {}
    for student, code in cells.items():
        if own[student]:
            same.setdefault(code, []).append(student)
    groups = [list(map(name_of, students)) for students in same.values() if len(students) > 1]
    sentences = [f"{', '.join(group[:-1])} and {group[-1]} have the same code" for group in groups]
    for one, other in combinations([students[0] for students in same.values()], 2):
        rare, others = ({line for line in own[each] if holders[line] <= most} for each in (one, other))
        common, fewer = len(rare & others), min(len(rare), len(others))
        if common >= _MIN_LINES and common >= _MIN_SHARE * fewer:
            pair = f"{name_of(one)} and {name_of(other)}"
            sentences.append(f"{pair} have {common} of {fewer} lines of their own in common")
    return sentences


def _lines(cells: Iterable[str]) -> Iterator[str]:
    for cell in cells:
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
