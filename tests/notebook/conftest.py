"""A sandbox for each test of the notebook floor, and nothing of it left afterwards."""

import pytest

import svc_notebooks as svc


@pytest.fixture
def lab():
    with svc.sandbox() as lab:
        yield lab


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rx(lab):
    with svc.receiver() as rx:
        yield rx


@pytest.fixture
def displayed(monkeypatch):
    """The objects that a notebook would display."""
    import IPython.display

    from svc_notebooks.notebook.batch import progress

    objects = []
    monkeypatch.setattr(IPython.display, "display", objects.append)
    monkeypatch.setattr(progress, "detect_frontend", lambda: "notebook")
    return objects


@pytest.fixture(autouse=True)
def _layouts_without_state(monkeypatch):
    """Open layouts and styles without their state, which is fifty traits of each that only ipywidgets reads.

    A form has hundreds of them, and no page listens to what they send.
    """
    from comm import create_comm
    from ipywidgets import Layout
    from ipywidgets.widgets.widget_style import Style

    def open_without_state(widget):
        if widget.comm is None:
            widget.comm = create_comm(target_name="jupyter.widget")

    for kind in (Layout, Style):
        monkeypatch.setattr(kind, "open", open_without_state)


@pytest.fixture(autouse=True)
def _tidy():
    """No widget, no open sandbox and no current session outlives its test."""
    from ipywidgets import Widget

    from svc_notebooks.client.session import make_current
    from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel

    yield
    Widget.close_all()
    for sandbox in list(kernel._open_sandboxes):
        sandbox.close()  # or the thread that delivers would wait for its end
    make_current(None)
