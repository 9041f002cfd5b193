"""The public names: all of them resolve, explain themselves, and cost nothing until they are used."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import svc_notebooks as svc
from tests.closing import closing

ROOT = Path(__file__).parents[2]
HEAVY = ("requests", "pandas", "numpy", "ipywidgets", "sqlalchemy", "cheroot", "anywidget", "tqdm", "IPython")


def modules() -> list[str]:
    found = pkgutil.walk_packages(svc.__path__, f"{svc.__name__}.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", svc.__all__)
def test_a_public_name_resolves_and_has_an_example(name: str):
    value = getattr(svc, name)

    assert value.__doc__, f"{name} has no docstring"
    is_error = isinstance(value, type) and issubclass(value, Exception)
    examples = [test for test in doctest.DocTestFinder().find(value, name) if test.examples]
    assert is_error or examples, f"no docstring of {name} has an example"


@pytest.mark.parametrize("module", ["svc_notebooks", *modules()])
def test_the_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    given = {"svc": svc, "folder": tmp_path}
    with closing():
        failed, _ = doctest.testmod(importlib.import_module(module), extraglobs=given, optionflags=doctest.ELLIPSIS)

    assert failed == 0


def test_editors_and_the_table_know_the_same_names():
    tree = ast.parse(Path(svc.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname: node.module for node in block.body for alias in node.names}

    assert seen == svc._ROOM_OF


def test_importing_brings_in_nothing_heavy():
    code = f"import sys, svc_notebooks; print(sorted(set({HEAVY!r}) & set(sys.modules)))"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"


def test_importing_loads_no_room_at_all():
    code = "import sys, svc_notebooks; print([name for name in sys.modules if name.startswith('svc_notebooks.')])"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"


def test_dir_lists_every_name_before_it_is_used():
    assert set(svc.__all__) <= set(dir(svc))


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("uplaod", "upload"),
        ("calendar", "calendars"),
        ("stop", "stop_channel"),
        ("watch", "watch_file"),
        ("export_file", "export"),
        ("get_file", "file"),
    ],
)
def test_a_name_that_is_not_there_is_told_the_one_that_was_meant(typed, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{typed}'; did you mean '{meant}'"):
        getattr(svc, typed)


def test_a_name_that_is_like_no_other_is_told_nothing():
    with pytest.raises(AttributeError, match=r"no attribute 'zzz'$"):
        svc.zzz  # noqa: B018 - looking it up is the act
