"""What import-linter cannot check: whether an import runs at once or when it is needed."""

import ast
from collections.abc import Iterator
from pathlib import Path

import svc_notebooks

PACKAGE = Path(svc_notebooks.__file__).parent

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


def imports(path: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield (file, library, whether the import runs at once) for each import, but for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    typed = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types, later = ({node for each in group for node in ast.walk(each)} for group in (typed, blocks))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        if node not in for_types:
            yield from ((path.relative_to(PACKAGE).as_posix(), name.split(".")[0], node not in later) for name in names)


IMPORTS = [each for path in sorted(PACKAGE.rglob("*.py")) for each in imports(path)]


def test_a_heavy_library_is_imported_when_it_is_used():
    early = [(file, library) for file, library, at_once in IMPORTS if at_once and library in ONLY_WHEN_USED]

    assert early == [], "import these inside the function that needs them"


def test_a_library_is_used_only_where_it_belongs():
    assert [each for each in IMPORTS if not each[0].startswith(ONLY_IN.get(each[1], ("",)))] == []
