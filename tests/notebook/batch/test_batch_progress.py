import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.batch import progress as displays
from svc_notebooks.notebook.batch.progress import BatchProgress, Counts, showing
from svc_notebooks.notebook.display import MIB


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def progress_of(clock, rows, sizes=None, *, progress=None):
    counts = Counts(rows, "files", sizes)
    return BatchProgress(counts, "Upload", progress, patience=2.0, elapsed=clock)


def test_the_text_has_files_bytes_speed_time_left_and_failures():
    counts = Counts(200, "files", [MIB] * 200)
    for n in range(40):
        counts.report(n, MIB // 2, MIB)
        counts.end(n, failed=n < 2)

    assert counts.text(4.0) == "40 of 200 files, 39 of 200 MiB, 9.8 MiB/s, 17 s left, 2 failed"
    assert counts.summary(4.2) == "40 of 200 files, 39 of 200 MiB in 4 s, 2 failed"


@pytest.mark.spec("D-03", "D-03b")
def test_a_log_has_a_line_every_ten_seconds_and_a_last_line(clock, capsys):
    with showing(progress_of(clock, 100)) as progress:
        for n in range(100):
            clock.now += 0.25
            progress.end(n, failed=n == 7)

    assert capsys.readouterr().err.splitlines() == [
        "Upload: 40 of 100 files, 4.0 files/s, 15 s left, 1 failed",
        "Upload: 80 of 100 files, 4.0 files/s, 5 s left, 1 failed",
        "Upload: 100 of 100 files in 25 s, 1 failed. Done.",
    ]


@pytest.mark.spec("D-03", "D-03b")
def test_a_terminal_has_one_bar_for_all_rows(clock, capsys, monkeypatch):
    monkeypatch.setattr(displays, "detect_frontend", lambda: "terminal")
    with showing(progress_of(clock, 4, [MIB] * 4, progress=True)) as progress:
        for n in range(4):
            clock.now += 1
            progress.end(n, failed=n == 3)

    last = capsys.readouterr().err.splitlines()[-1]
    assert "Upload:  75%" in last
    assert last.endswith("| 4 of 4 files, 3 of 4 MiB in 4 s, 1 failed")


@pytest.mark.spec("D-03", "D-03a")
def test_a_batch_that_takes_two_seconds_gets_one_bar(clock, displayed):
    with showing(progress_of(clock, 200)) as progress:
        for n in range(200):
            clock.now += 0.01
            progress.end(n, failed=False)
            assert len(displayed) == (clock.now >= 102)

    (bar,) = displayed
    assert bar.text == "Done: 200 of 200 files in 2 s"


def test_an_interrupt_leaves_the_last_text_and_no_button(clock, displayed):
    with pytest.raises(KeyboardInterrupt), showing(progress_of(clock, 3, progress=True)) as progress:  # noqa: PT012
        progress.end(0, failed=False)
        parts = [*displayed[0].children]
        raise KeyboardInterrupt

    assert displayed[0].text == "Stopped at 1 of 3 files in 0 s"
    assert displayed[0].children == tuple(parts[:2])
    assert repr(parts[3]) == "<CancelButton>"


@pytest.mark.parametrize("workers", [1, 3])
def test_a_function_gets_the_bytes_or_the_rows_of_the_whole_call(lab, workers):
    uploads, deletions = [], []
    files = svc.upload(
        [b"1", b"22", b"333"], name=["a", "b", "c"], workers=workers, progress=lambda *done: uploads.append(done)
    )
    svc.delete(files, workers=workers, progress=lambda *done: deletions.append(done))

    assert uploads[-1] == (6, 6)
    assert uploads == sorted(uploads)
    assert deletions == [(1, 3), (2, 3), (3, 3)]
