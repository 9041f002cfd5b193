import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from types import ModuleType

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import svc_notebooks as svc
from svc_notebooks.core import suggestions
from tests.closing import closing
from tests.conftest import new_kernel
from tools.docs import DESCRIPTION, DOCS, PAGE, written

PACKAGES = ["svc_notebooks", *(f"svc_notebooks.{module.name}" for module in pkgutil.iter_modules(svc.__path__))]


def modules(package: str) -> list[ModuleType]:
    """The modules of a package at every depth, itself first; of svc_notebooks itself no other."""
    first = importlib.import_module(package)
    path = getattr(first, "__path__", ()) if package != svc.__name__ else ()
    inner = pkgutil.walk_packages(path, f"{package}.")
    names = [module.name for module in inner if not module.name.endswith("__main__")]
    return [first, *map(importlib.import_module, names)]


def test_every_public_name_resolves_and_has_an_example():
    values = {name: getattr(svc, name) for name in svc.__all__}

    assert [name for name, value in values.items() if not value.__doc__] == []
    errors = {name for name, value in values.items() if isinstance(value, type) and issubclass(value, Exception)}
    found = {name: doctest.DocTestFinder().find(value, name) for name, value in values.items()}
    assert {name for name in found if not any(test.examples for test in found[name])} <= errors


@pytest.mark.parametrize("package", PACKAGES)
def test_the_examples_run(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"svc": svc, "folder": tmp_path}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    # The functions, which the package caches, have their examples in their own modules.
    finder = doctest.DocTestFinder(recurse=package != svc.__name__)

    for module in modules(package):
        examples = [test for test in finder.find(module, extraglobs=names) if test.examples]
        if examples:
            new_kernel(monkeypatch)
            with closing():
                for example in examples:
                    runner.run(example)

    assert runner.summarize(verbose=False).failed == 0


LOADED = """
import sys
import svc_notebooks as svc

outside = {"requests", "pandas", "numpy", "ipywidgets", "sqlalchemy", "anywidget", "tqdm", "IPython"}
assert not [name for name in sys.modules if name in outside or name.startswith("svc_notebooks.")]
with svc.sandbox():
    svc.files()
assert not {"requests", "psycopg", "sqlalchemy.dialects.postgresql"} & sys.modules.keys()
assert [name for name in dir(svc) if name[0] != "_"] == sorted(svc.__all__)
"""


def test_nothing_is_loaded_before_it_is_used():
    assert subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False).stderr == ""


LAB = (
    "access_token agenda clock close create_access_token create_refresh_token deliver deliveries domains"
    " fault_plans faults flag fork journal limit link limits number oauth_client open_with outbox register_domain"
    " restore save send serve service service_account session sign_in snapshot trust"
)
SESSION = (
    "base_url call clock close exchanges fault from_recipe headers in_process names recipe renew request retry send url"
)


@pytest.mark.parametrize(
    "cell, use_jedi, expected",
    [
        ("svc.", True, svc.__all__),
        ("svc.", False, svc.__all__),
        ("lab.", True, LAB.split()),
        ("session.", True, SESSION.split()),  # without jedi, IPython adds the methods of the class
    ],
)
def test_tab_completes_only_public_names(cell, use_jedi, expected):
    with svc.sandbox() as lab:
        shell = InteractiveShell(user_ns={"svc": svc, "lab": lab, "session": lab.session})
        shell.Completer.use_jedi = use_jedi
        with provisionalcompleter():
            names = {completion.text.lstrip(".") for completion in shell.Completer.completions(cell, len(cell))}

    assert names == set(expected)


def test_the_words_of_other_libraries_lead_to_calls_that_exist():
    known = {*svc.__all__, "lab", "help", "__version__"}

    assert [call for call in suggestions.CALLS.values() if re.match(r"\w+", call)[0] not in known] == []
    assert not {*suggestions.CALLS, *suggestions.MISSING}.intersection(svc.__all__)
    for name in ("mkdir", "revisions", "everyone"):
        with pytest.raises(AttributeError, match=r"create_folder\(|no earlier versions|share\(file, 'anyone'\)"):
            getattr(svc, name)


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("uplaod", "upload"),
        ("calender", "calendars"),
        ("stop", "stop_channel"),
        ("watches", "watch_file"),
        ("export_file", "export"),
        ("get_file", "file"),
    ],
)
def test_a_name_that_is_not_there_is_told_the_one_that_was_meant(typed, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{typed}'; did you mean '{meant}'"):
        getattr(svc, typed)


@pytest.mark.parametrize("path", [PAGE, DESCRIPTION], ids=lambda path: path.name)
def test_the_page_is_not_stale(path):
    assert path.read_text(encoding="utf-8") == written()[path], "run: make docs"


def test_each_public_name_is_in_the_reference_once():
    names = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)

    assert sorted(names) == sorted(svc.__all__)
