"""`svc-notebooks solutions`: the notebooks of the exercises with the answers in them, for a teacher.

They are made from two sources, the notebooks that students have and the answers beside them, so neither can grow old
without the other.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from ..core.errors.errors import PathExists
from ..local.saving import save_bytes
from .notebook_files import PACKAGE, notebooks_folder

_CELL = re.compile(r'(?P<head>given = course\.exercise\("(?P<name>[\w-]+)"\)\.begin\(\)\n)')


def solutions(directory: Path) -> int:
    """Write the solved notebooks to a folder; 1 if that cannot be, else 0."""
    if directory.exists() and not directory.is_dir():
        return _fail(f"{directory} is a file; name a folder, or one that does not exist yet")
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted((notebooks_folder() / "exercises").glob("*.ipynb")):
        target = directory / path.name
        content = (json.dumps(solved_notebook(path), indent=1, ensure_ascii=False) + "\n").encode()
        try:
            save_bytes(target, content, overwrite=False)
        except PathExists:
            sys.stderr.write(f"{target}: kept what was there\n")
        else:
            print(target)
    return 0


def solutions_folder() -> Path:
    """Where the answers are: inside the package in a wheel, beside it in a checkout."""
    inside = PACKAGE / "solutions_shipped"
    return inside if inside.is_dir() else PACKAGE.parent / "tests" / "course" / "solutions"


def solved_notebook(path: Path) -> dict[str, Any]:
    """A notebook of exercises with the answers in it, and nothing run."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(source=_with_answer("".join(cell["source"])).splitlines(keepends=True))
            cell.update(outputs=[], execution_count=None)
    return notebook


def _with_answer(source: str) -> str:
    """A cell that begins an exercise, with the answer below; every other one as it is."""
    match = _CELL.match(source)
    if match is None:
        return source
    answer = (solutions_folder() / f"{match['name']}.py").read_text(encoding="utf-8").rstrip()
    return f"{match['head']}\n{answer}"


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks solutions: {message}\n")
    return 1
