"""What a cell shows of an error: the reader's own lines and the sentence, not the way through this package."""

import pickle
import re
import traceback

import pytest
from IPython.core.interactiveshell import InteractiveShell

import svc_notebooks as svc
from svc_notebooks.core.errors import errors

CELL = "def mine(id):\n    return svc.download(id)\n\nmine('abc')"
EVERY = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, svc.SvcError)]


@pytest.fixture
def shell():
    instance = InteractiveShell.instance()
    with svc.sandbox():
        instance.user_ns["svc"] = svc
        yield instance
    InteractiveShell.clear_instance()


def shown(shell, capsys, cell=CELL):
    shell.run_cell(cell)
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


def test_the_readers_own_lines_and_the_sentence_while_the_error_itself_keeps_all(shell, capsys):
    output = shown(shell, capsys)

    assert "----> 4 mine('abc')" in output
    assert "----> 2     return svc.download(id)" in output
    assert output.rstrip().endswith(
        "NotFound: File not found: abc. No file has this id, and none in the top folder has this name;"
        " files(name='abc') finds a file in all folders. (404 notFound)"
    )
    assert "session.py" not in output
    assert len(output.splitlines()) < 15
    shown(shell, capsys, "try:\n    svc.download('abc')\nexcept svc.NotFound as found:\n    error = found")
    error = shell.user_ns["error"]
    before = traceback.format_exception(error)
    error._render_traceback_()
    assert traceback.format_exception(error) == before
    assert any("session.py" in line for line in before)


@pytest.mark.parametrize(
    "cell",
    [
        "svc.upload('nowhere.csv')",
        "svc.upload(3)",
        "svc.upload(b'', mimeType='text/csv')",
        "svc.upload()",
        "svc.share('a', 'bob', role='boss')",
        "svc.files(order_by=3)",
        "lab.fork().serve(port=-1)",
        "svc.create_event('Tea', start='soon', end='later')",
        "import pandas as pd; pd.Series([3.5]).map(svc.read)",
        "import concurrent.futures as f; f.ThreadPoolExecutor().submit(svc.read, 3).result()",
    ],
)
def test_a_built_in_error_shows_only_the_readers_own_line(cell, shell, capsys):
    shell.user_ns["lab"] = svc.sandbox()
    output = shown(shell, capsys, cell)

    assert f"----> 1 {cell}" in output
    assert len(output.splitlines()) == 6


def test_a_built_in_error_is_whole_for_a_debugger_a_pickle_and_verbose(shell, capsys):
    shown(shell, capsys, "try:\n    svc.upload(3)\nexcept TypeError as found:\n    error = found")
    error = shell.user_ns["error"]

    assert type(error) is TypeError
    assert any("sources.py" in line for line in traceback.format_exception(error))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    shell.run_line_magic("xmode", "Verbose")
    assert "sources.py" in shown(shell, capsys, "svc.upload(3)")


def test_an_error_is_not_touched_outside_of_ipython():
    InteractiveShell.clear_instance()
    with pytest.raises(TypeError) as raised:
        svc.upload(3, session=svc.sandbox().session)
    assert not hasattr(raised.value, "_render_traceback_")


def test_every_error_can_be_shown(shell, capsys):
    for kind in EVERY:
        shell.user_ns["kind"] = kind
        assert f"{kind.__name__}: what happened" in shown(shell, capsys, "raise kind('what happened')")
