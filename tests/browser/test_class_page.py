import pytest
from playwright.sync_api import Page, expect

import svc_notebooks as svc
from tests.browser.page_calls import row, screenshot
from tests.browser.school import School

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def sign_in(page: Page, school: School, name: str) -> None:
    page.goto(f"{school.server.base_url}/")
    page.get_by_label("Key or control token").fill(school.tokens[name])
    page.get_by_role("button", name="Open").click()


@pytest.fixture
def live(page: Page, school: School, problems: list[str]) -> Page:
    sign_in(page, school, "Ada")
    page.get_by_role("tab", name="Students").click()
    expect(row(page, "Bob Adams")).to_have_count(1)
    problems.clear()  # the first request, without a token, is refused with 401
    return page


def notice(page: Page):
    return page.locator("#notice")


def test_a_student_has_steps_and_requests(live: Page, school: School) -> None:
    row(live, "Bob Adams").get_by_role("button").click()
    expect(live.locator("#fields")).to_contain_text("Resume an upload: 2 of 2 steps")
    live.get_by_role("button", name="Show requests").click()
    expect(row(live, "/files/00000000000000000000")).to_have_count(1)
    expect(row(live, "eve@school.example")).to_have_count(0)


def test_a_student_is_reset_after_a_question(live: Page, school: School, problems: list[str]) -> None:
    bob = school.session("Bob")
    row(live, "Bob Adams").get_by_role("button").click()
    live.get_by_role("button", name="Reset this student …").click()
    dialog = live.get_by_role("dialog", name="Reset bob@school.example?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert len(svc.files(session=bob)) == 2

    live.get_by_role("button", name="Reset this student …").click()
    live.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert len(svc.files(session=bob)) == 2

    live.get_by_role("button", name="Reset this student …").click()
    dialog.get_by_role("button", name="Reset").click()
    expect(notice(live)).to_contain_text("Reset bob@school.example: 2 files. The backup is /")
    assert len(svc.files(session=bob)) == 0
    (backup,) = school.service.user_backups.rows()
    expect(notice(live)).to_contain_text(f'svc.class_control().restore("{backup["backup"]}")')
    assert problems == []


def test_the_token_is_in_no_address(live: Page, school: School, requested: list[str]) -> None:
    live.get_by_role("button", name="Start").click()
    expect(notice(live)).to_contain_text("Started")

    assert len(requested) > 3
    assert [address for address in requested if "svc." in address.partition("?")[2]] == []
    assert not any(token in address for token in school.tokens.values() for address in [*requested, live.url])


def test_the_browser_session_of_a_teacher_is_enough(page: Page, school: School) -> None:
    page.goto(f"{school.server.base_url}/signin?continue=/")
    page.get_by_label("An access token of this service").fill(school.tokens["Ada"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("tab", name="Students").click()
    expect(row(page, "Bob Adams")).to_have_count(1)

    page.get_by_role("button", name="Start").click()
    expect(notice(page)).to_contain_text("Started")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_axe_reports_no_violations(live: Page, axe, scheme: str, width: int, problems: list[str]) -> None:
    live.set_viewport_size({"width": width, "height": 900})
    live.emulate_media(color_scheme=scheme)
    violations = axe(live, "body")
    screenshot(live, f"class-page-{scheme}-{width}")
    row(live, "Bob Adams").get_by_role("button").click()
    expect(live.locator("#details")).to_be_visible()
    violations += axe(live, "body")
    screenshot(live, f"class-page-details-{scheme}-{width}")
    live.get_by_role("button", name="Reset this student …").click()
    expect(live.get_by_role("dialog")).to_be_visible()
    violations += axe(live, "body")
    screenshot(live, f"class-page-question-{scheme}-{width}")
    live.get_by_role("dialog").get_by_role("button", name="Reset").click()
    expect(notice(live)).to_contain_text("The backup is")
    violations += axe(live, "body")
    screenshot(live, f"class-page-notice-{scheme}-{width}")
    live.get_by_role("button", name="Restore …").click()
    expect(live.get_by_label("Backup")).to_be_visible()
    violations += axe(live, "body")

    assert live.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations == []
    assert problems == []
