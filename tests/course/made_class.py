"""Makes a class of submissions: right, wrong, broken, endless and hostile, each with the mark that it must get."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from svc_notebooks.cli.notebook_files import solve_notebook
from svc_notebooks.course.catalogue import DEFINITIONS, solution_code
from tests.course.notebooks import FIRST, write_notebook

NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "exercises"

NAMED = "upload-with-a-name"

ENDLESS = {
    "sleeps": "import time; time.sleep(10_000)",
    "computes": "while True: pass",
    "catches": """
import time
while True:
    try: time.sleep(1)
    except BaseException: pass
""",
    "waits": "import subprocess; subprocess.run(['sleep', '10000'])",
    "reads": "import os; os.read(os.pipe()[0], 1)",
    "retries": """
while True:
    try: raise OSError
    except Exception: pass
""",
}
"""Cells that do not end."""

HOSTILE = {
    "overwrites": """
import glob, pathlib
for path in glob.glob(FOLDER + "/**", recursive=True): pathlib.Path(path).write_text("")
""",
    "deletes": "import shutil; shutil.rmtree(FOLDER)",
    "kills": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "kills all": "import os, signal; os.kill(-1, signal.SIGKILL)",
    "crowd": """
import os, time
for _ in range(200):
    if not os.fork(): time.sleep(10_000)
time.sleep(10_000)
""",
    "memory": """
import os, time
for _ in range(4):
    if not os.fork(): break
kept = bytearray(b"x") * 10**9
time.sleep(10_000)
""",
    "disk": "for n in range(100): open(f'file {n}', 'wb').write(bytes(10**8))",
    "loud": "for _ in range(100): print('x' * 10**6)",
    "calls home": "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=5)",
    "leaves": "import subprocess; subprocess.Popen(['sleep', '4245'], start_new_session=True)",
    "reports": """
import os
for fd in range(3, 64):
    try: os.write(fd, b"\\0\\0\\0\\5end 9")
    except OSError: pass
""",
    "patches": """
from svc_notebooks.course import definition, exercise_service, grading_service
yes = definition.Verdict(definition.ExerciseOutcome.CORRECT, "yes")
exercise_service.ExerciseService.result = lambda self: yes
grading_service.GradedSubmission.end = lambda self: {"share-with-one": yes}
""",
}
"""Cells that attack the grading process, the machine or other submissions. FOLDER is the folder of the class."""

HOSTILE_REMARKS = {
    "calls home": "URLError",
    "crowd": "more than 32 processes",
    "deletes": "FileNotFoundError",
    "disk": "No space left",
    "kills": "ended its process",
    "kills all": "ended its process",
    "loud": "its output was more than",
    "memory": "out of memory",
}
"""A part of what the report says of each, where it says something."""

BROKEN = {
    "imports": ("import no_such_package", "ModuleNotFoundError"),
    "syntax": ("this is no Python", "SyntaxError"),
    "divides": ("1 / 0", "ZeroDivisionError"),
    "undefined": ("upload(content)", "NameError"),
}
"""Cells that raise an exception, and the name of its type."""


@dataclass(frozen=True)
class Planted:
    """A submission's expected mark: the names of the solved exercises, and a part of what the report says."""

    student: str
    solved: frozenset[str]
    says: str = ""


def answer(name: str, code: str) -> str:
    return f"given = course.exercise({name!r}).begin()\n{code}"


def solution(name: str) -> str:
    return answer(name, solution_code(name)[0])


SIZE = 60
"""The number of students in a class."""


def make_class(folder: Path, wrong: dict[str, list[str]], classes: int = 1) -> list[Planted]:
    """Write so many classes of 60 to a folder, as one class. `wrong` are the wrong answers to each exercise."""
    return [planted for number in range(classes) for planted in _make_class(folder, wrong, number)]


def _make_class(folder: Path, wrong: dict[str, list[str]], number: int) -> Iterator[Planted]:
    yield from _right(folder, range(20 * number, 20 * (number + 1)))
    yield from _wrong(folder, wrong, range(14 * number, 14 * (number + 1)))
    for members in (_broken, _endless, _hostile):
        yield from members(folder, number)


def _right(folder: Path, numbers: Iterable[int]) -> Iterator[Planted]:
    solved = {path.name: json.dumps(solve_notebook(path)) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    for number in numbers:
        student = folder / f"right {number:03}"
        student.mkdir(parents=True)
        for name, text in solved.items():
            (student / name).write_text(text)
        yield Planted(student.name, frozenset(DEFINITIONS), "all notebooks ran to the end without an exception")


def _wrong(folder: Path, wrong: dict[str, list[str]], numbers: Iterable[int]) -> Iterator[Planted]:
    """One notebook with half of the exercises solved and a wrong answer to each of the others."""
    for number in numbers:
        failed = {name for place, name in enumerate(DEFINITIONS) if (place + number) % 2}
        cells = [
            answer(name, wrong[name][number % len(wrong[name])]) if name in failed else solution(name)
            for name in DEFINITIONS
        ]
        write_notebook(folder / f"wrong {number:03}" / "all.ipynb", FIRST, *cells)
        yield Planted(f"wrong {number:03}", frozenset(set(DEFINITIONS) - failed))


def _broken(folder: Path, number: int) -> Iterator[Planted]:
    prefix = f"broken {number}"
    for name, (cell, error) in BROKEN.items():
        write_notebook(folder / f"{prefix} {name}" / "e1.ipynb", FIRST, cell, solution(NAMED))
        yield Planted(f"{prefix} {name}", frozenset({NAMED}), f"raised an exception in cell 2: {error}")
    (folder / f"{prefix} empty").mkdir()
    yield Planted(f"{prefix} empty", frozenset(), "handed in an empty folder")
    (folder / f"{prefix} file.ipynb").write_text("<<<<<<< mine")
    yield Planted(f"{prefix} file", frozenset(), "cannot be read")
    write_notebook(folder / f"{prefix} other.ipynb", "1 + 1")
    yield Planted(f"{prefix} other", frozenset(), "no exercise found: no cell")
    write_notebook(folder / f"{prefix} first.ipynb", solution(NAMED))
    yield Planted(f"{prefix} first", frozenset(), "NameError")


def _endless(folder: Path, number: int) -> Iterator[Planted]:
    for name, cell in ENDLESS.items():
        cells = [FIRST, solution(NAMED), cell, solution("share-with-one")]
        write_notebook(folder / f"endless {number} {name}.ipynb", *cells)
        solved = {NAMED} if name == "catches" else {NAMED, "share-with-one"}
        yield Planted(f"endless {number} {name}", frozenset(solved), "because it timed out")


def _hostile(folder: Path, number: int) -> Iterator[Planted]:
    for name, cell in HOSTILE.items():
        student = f"hostile {number} {name}"
        cells = [FIRST, solution(NAMED), cell.replace("FOLDER", repr(str(folder))), "import time; time.sleep(0.5)"]
        write_notebook(folder / student / "e1.ipynb", *cells)
        yield Planted(student, frozenset({NAMED}), HOSTILE_REMARKS.get(name, ""))


def contents(folder: Path) -> Iterable[tuple[str, bytes]]:
    return [(str(path), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]
