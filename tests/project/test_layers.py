"""What import-linter cannot check: whether an import runs at once or when it is needed."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import svc_notebooks

PACKAGE = Path(svc_notebooks.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Libraries that cost a reader a second or a browser a download: when a frame or a form is made, not before.
ONLY_WHEN_USED = ("pandas", "numpy", "jupyterlab", "nbclient", "nbformat", "tqdm")

# Who may use a library at all, by the start of the path below the package.
ONLY_IN = {
    "pandas": ("notebook/",),
    "numpy": ("convert/engines/images.py", "notebook/"),
    "ipywidgets": ("forms/", "notebook/"),
    "anywidget": ("forms/", "notebook/"),
    "IPython": ("course/", "forms/", "notebook/"),
    "tqdm": ("notebook/",),
    "nbclient": ("cli/",),
    "nbformat": ("cli/",),
    "zlib_ng": ("server/store/blob_store.py",),
}


@dataclass(frozen=True, slots=True)
class Import:
    library: str
    at_once: bool
    line: int


def imports(path: Path) -> tuple[Import, ...]:
    return tuple(_walk(ast.parse(path.read_text(encoding="utf-8")), at_once=True))


def _walk(node: ast.AST, *, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name.split(".")[0], at_once, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.level == 0 and child.module:
            yield Import(child.module.split(".")[0], at_once, child.lineno)
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, at_once=at_once and not inside)


USES = [(path.relative_to(PACKAGE).as_posix(), used) for path in FILES for used in imports(path)]


def test_a_heavy_library_is_imported_when_it_is_used():
    early = [(name, used) for name, used in USES if used.at_once and used.library in ONLY_WHEN_USED]

    assert early == [], "import these inside the function that needs them"


def test_a_library_is_used_only_where_it_belongs():
    assert [(name, used) for name, used in USES if not name.startswith(ONLY_IN.get(used.library, ("",)))] == []
