import io
import sys

import pytest

import svc_notebooks as svc
from svc_notebooks.core.policy import MIB
from svc_notebooks.notebook.batch import progress as displays
from svc_notebooks.notebook.batch.progress import reporting
from svc_notebooks.notebook.batch.progress_bar import ProgressBar


@pytest.mark.spec("D-03", "D-03a")
@pytest.mark.parametrize("size, option, bars", [(MIB, None, 0), (8 * MIB, None, 1), (8 * MIB, False, 0), (10, True, 1)])
def test_a_bar_is_shown_for_large_transfers_or_on_request(lab, displayed, size, option, bars):
    svc.upload(bytes(size), name="zeros.bin", progress=option)

    assert len(displayed) == bars


@pytest.mark.spec("D-03", "D-03a", "A6-06", "A6-06b")
def test_the_bar_is_shown_once_and_then_changes(lab, displayed, tmp_path):
    file = svc.upload(bytes(9 * MIB), name="zeros.bin")
    svc.download(file, tmp_path)

    for bar, word in zip(displayed, ("Upload", "Download"), strict=True):
        assert repr(bar) == f"<ProgressBar: {word} zeros.bin>"
        assert "Done: 9 MiB of 9 MiB (100 %)" in bar.children[1].value
        assert 'role="status"' in bar.children[1].value
        assert f'value="{9 * MIB}" max="{9 * MIB}"' in bar.children[0].value


@pytest.mark.spec("D-03", "D-03a")
@pytest.mark.parametrize("error, word", [(KeyboardInterrupt, "Stopped"), (OSError, "Failed")])
def test_a_bar_shows_that_the_transfer_stopped(displayed, error, word):
    with pytest.raises(error), reporting(True, "Upload zeros.bin", 100) as report:  # noqa: PT012
        report(40, 100)
        raise error

    assert [bar.text for bar in displayed] == [f"{word} at 40 bytes of 100 bytes (40 %) in 0 s"]


@pytest.mark.spec("D-03", "D-03b")
def test_a_terminal_has_tqdm(lab, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(displays, "detect_frontend", lambda: "terminal")

    svc.upload(bytes(9 * MIB), name="zeros.bin")

    assert "Upload zeros.bin: 100%" in terminal.getvalue()


def test_the_screen_reader_text_changes_at_most_every_tenth():
    bar = ProgressBar("Upload x", 1000)
    texts = []
    bar.children[1].observe(lambda change: texts.append(change["new"]), "value")

    for done in range(1001):
        bar.report(done, 1000)

    assert len(texts) == 10
