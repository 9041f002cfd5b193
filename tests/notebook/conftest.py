"""A sandbox for each test of the notebook floor, and nothing of it left afterwards."""

import pytest

import svc_notebooks as svc


@pytest.fixture
def lab():
    with svc.sandbox() as lab:
        yield lab


@pytest.fixture(autouse=True)
def _tidy():
    """No widget and no current session outlives its test."""
    from ipywidgets import Widget

    from svc_notebooks.notebook.current import make_current

    yield
    Widget.close_all()
    make_current(None)
