"""Implements `svc-notebooks solutions`, which writes the exercise notebooks with tested solutions for a teacher."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from ..core.errors.errors import PathExists
from ..core.printable_text import terminal_text
from ..local.saving import save_bytes
from .notebook_files import PACKAGE, notebooks_folder

_CELL = re.compile(r'(?P<head>given = course\.exercise\("(?P<name>[\w-]+)"\)\.begin\(\)\n)')


def solutions(directory: Path) -> int:
    """Write the solved notebooks to a folder without replacing files. Return 1 if the path is a file, else 0."""
    if directory.exists() and not directory.is_dir():
        sys.stderr.write(f"svc-notebooks solutions: {directory} is a file; choose a folder, or a new path\n")
        return 1
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted((notebooks_folder() / "exercises").glob("*.ipynb")):
        target = directory / path.name
        content = (json.dumps(solve_notebook(path), indent=1, ensure_ascii=False) + "\n").encode()
        try:
            save_bytes(target, content, overwrite=False)
        except PathExists:
            sys.stderr.write(f"{target}: kept the existing file\n")
        else:
            print(terminal_text(target))
    return 0


def solutions_folder() -> Path:
    """Return the folder of the solutions, which is inside the package in a wheel, and inside `tests` in a checkout."""
    inside = PACKAGE / "solutions_shipped"
    return inside if inside.is_dir() else PACKAGE.parent / "tests" / "course" / "solutions"


def solve_notebook(path: Path) -> dict[str, Any]:
    """Return the JSON of an exercise notebook with its solutions and without outputs."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            if match := _CELL.match(source):
                answer = (solutions_folder() / f"{match['name']}.py").read_text(encoding="utf-8").rstrip()
                source = f"{match['head']}\n{answer}"
            cell.update(source=source.splitlines(keepends=True), outputs=[], execution_count=None)
    return notebook
