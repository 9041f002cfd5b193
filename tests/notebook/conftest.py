"""A sandbox for each test of the notebook floor, and nothing of it left afterwards."""

import pytest

import svc_notebooks as svc


@pytest.fixture
def lab():
    with svc.sandbox() as lab:
        yield lab


@pytest.fixture(autouse=True)
def _tidy():
    """No widget, no open sandbox and no current session outlives its test."""
    from ipywidgets import Widget

    from svc_notebooks.notebook.current_session import make_current
    from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel

    yield
    Widget.close_all()
    for sandbox in list(kernel._open_sandboxes):
        sandbox.close()  # or the thread that delivers would wait for its end
    make_current(None)
