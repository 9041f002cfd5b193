"""The dashboard of a class in JupyterLab: a teacher sees the class, resets a student, breaks the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import svc_notebooks as svc
from tests.browser.axe import violations
from tests.browser.layout import layout_problems
from tests.browser.school import School, served_class

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
svc.connect({url!r}, token={token!r})
board = svc.class_dashboard(every=0.5)
board
"""


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    with served_class(tmp_path) as school:
        yield school


@pytest.fixture
def opened(lab, school: School):
    lab.write("class.ipynb", CELL.format(url=school.server.base_url, token=school.tokens["Ada"]))
    page = lab.run("class.ipynb")
    page.get_by_text("5 accounts, 2 with a request").wait_for()
    return page


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).filter(visible=True).click()


def line(page, text: str):
    return page.locator(".svc-rows tr").filter(has_text=text).first


def test_the_lists_follow_the_class(lab, opened, school: School) -> None:
    page = opened
    line(page, "Bob Adams").get_by_text("files.create").wait_for()
    svc.upload(b"x", name="new.txt", session=school.session("Zoë"))
    page.get_by_text("5 accounts, 3 with a request").wait_for()

    page.get_by_label("Steps of exercises").check()
    line(page, "Query the stored size").get_by_text("1 of 2").wait_for()
    page.get_by_label("Errors", exact=True).check()
    line(page, "/files/nowhere").get_by_text("404").wait_for()
    page.get_by_label("Requests", exact=True).check()
    page.get_by_label("Student", exact=True).select_option("Eve Smith, eve@school.example")
    line(page, "eve@school.example").wait_for()
    page.locator(".svc-rows tr").filter(has_text="bob@school.example").first.wait_for(state="detached")

    assert lab.run_code(page, "print(len(board.result), board.code(), board.last_error)") == (
        "1 school = svc.class_control()\\nschool.journal('eve@school.example') None".replace("\\n", "\n")
    )


def test_a_student_is_reset_and_restored(lab, opened, school: School) -> None:
    page, bob = opened, school.session("Bob")
    page.get_by_label("Student", exact=True).select_option("Bob Adams, bob@school.example")
    press(page, "Reset this student …")
    page.get_by_text("Reset bob@school.example?").wait_for()
    press(page, "Cancel")
    assert len(svc.files(session=bob)) == 2

    press(page, "Reset this student …")
    press(page, "Reset")
    page.get_by_role("status").get_by_text("Reset bob@school.example: 2 files. The backup is /").wait_for()
    assert lab.run_code(page, "print(board.code())").endswith("school.reset('bob@school.example')")
    assert len(svc.files(session=bob)) == 0

    press(page, "Restore …")
    press(page, "Restore")
    page.get_by_role("status").get_by_text("Restored bob@school.example: 2 files.").wait_for()
    assert sorted(svc.files(session=bob)["name"]) == ["counts.csv", "winter.zip"]
    assert lab.run_code(page, "print(board.last_error)") == "None"


def test_the_network_breaks_and_the_clock_moves(lab, opened, school: School) -> None:
    page = opened
    press(page, "Start")
    page.get_by_role("status").get_by_text("Started for 60 seconds").wait_for()
    page.get_by_text("Break the network for all: closes the connection").wait_for()
    press(page, "End all faults")
    page.get_by_text("No fault is active.").wait_for()
    assert len(svc.files(session=school.session("Eve"))) == 0

    before = school.service.clock.now()
    page.get_by_label("Forward by").fill("2d")
    press(page, "Advance …")
    page.get_by_text("Advance the clock by 2d?").wait_for()
    press(page, "Advance")
    page.get_by_role("status").get_by_text("The clock was advanced by 2d").wait_for()
    assert (school.service.clock.now() - before).days == 2
    assert lab.run_code(page, "print(board.last_error)") == "None"


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_everybody_can_read_it(lab, opened, theme: str) -> None:
    page = opened
    lab.theme(page, theme)
    line(page, "Bob Adams").wait_for()
    lab.screenshot(page, f"class-{theme.lower()}")
    assert violations(page) == []
    page.get_by_label("Student", exact=True).select_option("Bob Adams, bob@school.example")
    page.get_by_label("Steps of exercises").check()
    line(page, "Query the stored size").wait_for()
    press(page, "Reset this student …")
    page.get_by_text("Reset bob@school.example?").wait_for()
    lab.screenshot(page, f"class-question-{theme.lower()}")
    assert violations(page) == []


def test_a_narrow_window_keeps_everything_inside(lab, opened) -> None:
    page = opened
    page.set_viewport_size({"width": 480, "height": 1000})
    line(page, "Bob Adams").wait_for()
    lab.screenshot(page, "class-narrow")
    assert layout_problems(page) == []


def test_the_token_of_a_student_is_refused(lab, school: School) -> None:
    lab.write("class.ipynb", CELL.format(url=school.server.base_url, token=school.tokens["Bob"]))
    page = lab.run("class.ipynb")

    page.get_by_role("alert").get_by_text("Only the sign-in token of a teacher can do this.").first.wait_for()
