"""Every example in a docstring of the notebook floor runs, against a sandbox."""

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import svc_notebooks as svc
from svc_notebooks import notebook

MODULES = [module.name for module in iter_modules(notebook.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path):
    module = import_module(f"svc_notebooks.notebook.{name}")

    failed, _ = doctest.testmod(module, extraglobs={"svc": svc, "folder": tmp_path})

    assert failed == 0
