import pytest

import svc_notebooks as svc
from tests.browser.axe import violations
from tests.browser.school import School

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
svc.connect({url!r}, token={token!r})
board = svc.class_dashboard(every=0.5)
board
"""


@pytest.fixture
def opened(lab, school: School):
    page = lab.show("class.ipynb", CELL.format(url=school.server.base_url, token=school.tokens["Ada"]))
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
    line(page, "/files/00000000000000000000").get_by_text("404").wait_for()
    page.get_by_label("Requests", exact=True).check()
    page.get_by_label("Student", exact=True).select_option("Eve Smith, eve@school.example")
    line(page, "eve@school.example").wait_for()
    page.locator(".svc-rows tr").filter(has_text="bob@school.example").first.wait_for(state="detached")

    assert lab.run_code(page, "print(len(board.result), board.code(), board.last_error)") == (
        "1 school = svc.class_control()\\nschool.journal('eve@school.example') None".replace("\\n", "\n")
    )


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
