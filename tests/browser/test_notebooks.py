"""The saved notebooks in a real JupyterLab, every cell of them."""

import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

SCROLL = "cell => window.jupyterapp.shell.currentWidget.content.scrollToItem(cell, 'start')"
SHOWN = ("table.dataframe", "progress", "details summary code", ".jp-RenderedMermaid img, .jp-RenderedMermaid svg")

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


@pytest.fixture
def copied(lab):
    shutil.copytree(NOTEBOOKS, lab.folder, dirs_exist_ok=True)
    return lab


@pytest.mark.spec("D-01", "D-03", "D-04")
def test_start_runs_and_shows_frames_bars_and_the_wire(copied):
    page = copied.run("00-start.ipynb")

    seen = dict.fromkeys(SHOWN, 0)
    for cell in range(0, 24, 3):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)  # cells are drawn when they come into view
        copied.shot(page, f"start-{cell:02d}")
        for selector in SHOWN:
            seen[selector] = max(seen[selector], page.locator(selector).count())

    assert all(seen.values()), seen


@pytest.mark.spec("W-02", "D-01")
def test_documents_change_their_form_and_are_shown(copied):
    page = copied.run("03-convert.ipynb", expect_errors=True)

    pictures, frames = set(), 0
    for cell in range(0, 27, 2):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)
        copied.shot(page, f"convert-{cell:02d}")
        shown = page.locator(".jp-OutputArea-output img").evaluate_all(
            "all => all.filter(e => e.naturalWidth).map(e => e.src)"
        )
        pictures.update(shown)
        frames = max(frames, page.locator("table.dataframe").count())

    assert len(pictures) >= 2
    assert frames
    assert page.locator(".jp-OutputArea").get_by_text("BadRequest:").count() == 1
    page.get_by_label("MS Excel (.xlsx)").wait_for()


@pytest.mark.spec("A11-01", "W-04", "D-01")
def test_notifications_arrive_and_are_explained(copied):
    page = copied.run("04-notifications.ipynb", expect_errors=True)

    frames = 0
    for cell in range(0, 24, 3):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)
        copied.shot(page, f"notifications-{cell:02d}")
        frames = max(frames, page.locator("table.dataframe").count())

    assert frames
    assert page.locator(".jp-OutputArea").get_by_text("NotAllowed:").count() == 1
    page.get_by_role("button", name="Watch", exact=True).wait_for()


@pytest.mark.spec("W-03", "D-01", "E-20")
def test_events_are_frames_and_a_form(copied):
    page = copied.run("05-events.ipynb")

    frames = 0
    for cell in range(0, 29, 4):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)
        copied.shot(page, f"events-{cell:02d}")
        frames = max(frames, page.locator("table.dataframe").count())

    assert frames
    page.get_by_role("button", name="Create", exact=True).wait_for()


@pytest.mark.spec("E-21")
def test_recurrences_keep_the_clock_on_the_wall(copied):
    page = copied.run("06-recurrence-and-time-zones.ipynb")

    for cell in range(0, 25, 4):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)
        copied.shot(page, f"recurrence-{cell:02d}")

    page.get_by_text("2026-11-05 21:55:00+01:00").wait_for()
