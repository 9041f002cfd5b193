"""A form in a script or at a prompt names the equivalent functions, and Python ends without an error message."""

import re
import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

import svc_notebooks as svc
from svc_notebooks.forms.widgets import form

SCRIPT = """
import svc_notebooks as svc

try:
    svc.dashboard()
except RuntimeError:
    lab = svc.sandbox()
for make in (svc.upload_form, svc.export_form, svc.event_form, svc.file_browser, svc.watch_panel, svc.dashboard):
    print(make())
board = svc.dashboard()
for page in board._tabs:
    board.show(page.key)
    print(board.form)
"""


def test_a_script_that_creates_every_form_prints_a_line_for_each_and_no_error(tmp_path):
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=tmp_path, check=True)

    lines = result.stdout.splitlines()
    assert len(lines) == 13
    assert [line for line in lines if "> Forms need a notebook, such as JupyterLab. Here use " not in line] == []
    assert result.stderr == ""


def test_the_prompt_of_ipython_shows_the_hint(lab, capsys):
    shell = InteractiveShell.instance()
    try:
        shell.user_ns["svc"] = svc
        shell.run_cell("svc.export_form()")
    finally:
        InteractiveShell.clear_instance()

    assert "Here use svc.export(file, format)." in re.sub(r"\s+", " ", capsys.readouterr().out)


@pytest.mark.parametrize("make", [svc.upload_form, svc.event_form, svc.dashboard])
def test_a_notebook_shows_the_form_and_not_the_hint(lab, make, monkeypatch):
    monkeypatch.setattr(form, "detect_frontend", lambda: "notebook")

    assert str(make()).endswith(">")
    assert repr(make()).endswith(">")
