"""What import-linter cannot see: whether an import runs at once or when it is needed.

Which room may use which, and which file knows requests, SQLAlchemy and cheroot, are contracts in
pyproject.toml, and `make floors` checks them.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import svc_notebooks

PACKAGE = Path(svc_notebooks.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Libraries that cost a reader a second or a browser a download: when a frame or a form is made, not before.
ONLY_WHEN_USED = ("pandas", "numpy", "jupyterlab", "nbclient", "nbformat", "tqdm")

# Who may use a library at all, by the start of the path below the package.
ONLY_IN = {
    "pandas": ("notebook/",),
    "numpy": ("notebook/",),
    "ipywidgets": ("notebook/",),
    "anywidget": ("notebook/",),
    "IPython": ("core/tracebacks.py", "course/", "notebook/"),
    "tqdm": ("notebook/",),
    "nbclient": ("cli/",),
    "nbformat": ("cli/",),
}


@dataclass(frozen=True, slots=True)
class Import:
    """One import that runs."""

    library: str
    at_once: bool
    line: int


def imports(path: Path) -> list[Import]:
    return list(_walk(ast.parse(path.read_text(encoding="utf-8")), at_once=True))


def _walk(node: ast.AST, *, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name.split(".")[0], at_once, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.level == 0 and child.module:
            yield Import(child.module.split(".")[0], at_once, child.lineno)
        elif not _is_for_types(child):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, at_once=at_once and not inside)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_heavy_library_is_imported_when_it_is_used(path: Path):
    early = [found for found in imports(path) if found.at_once and found.library in ONLY_WHEN_USED]

    assert not early, f"{name(path)}: import these inside the function that needs them: {early}"


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_library_is_used_on_its_own_floor(path: Path):
    strangers = [found for found in imports(path) if not name(path).startswith(ONLY_IN.get(found.library, ("",)))]

    assert not strangers, f"{name(path)}: {strangers}, see ONLY_IN"


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_module_is_short_and_says_what_it_is_for(path: Path):
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(text)), f"{name(path)} has no docstring"
    assert text.count("\n") <= 400, f"{name(path)} has over 400 lines: look for the second noun in it"
