"""The panel of HTTP exchanges in JupyterLab: filter, edit and resend, and the difference, by mouse and by keyboard."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
svc.create_file(name="notes")
svc.files()
board = svc.dashboard()
panel = board.show("wire")
board
"""


@pytest.fixture
def page(lab):
    lab.write("panel.ipynb", CELL)
    page = lab.run("panel.ipynb")
    listed(page, "POST /storage/v3/files").wait_for()
    return page


def listed(page, text):
    return page.get_by_role("grid", name="Exchanges").get_by_role("row").filter(has_text=text).first


def button(page, name):
    return page.get_by_role("button", name=name, exact=True).filter(visible=True)


def test_an_edited_request_is_sent_and_compared(lab, page):
    listed(page, "POST /storage/v3/files").click()
    button(page, "Edit and resend").click()
    expect(page.get_by_label("URL", exact=True)).to_be_focused()  # the kernel has filled the editor
    page.get_by_label("Body", exact=True).fill('{"name": "other"}')
    page.get_by_label("URL", exact=True).fill("/storage/v3/files?fields=name")
    button(page, "Send").click()

    page.get_by_text("Difference between exchanges").wait_for()
    expect(button(page, "Edit and resend")).to_be_focused()
    expect(page.get_by_text('+  "name": "other"')).to_be_visible()
    lab.screenshot(page, "exchange-panel-difference", selector=".svc-dashboard")
    assert lab.run_code(page, "print(svc.files()['name'].tolist(), panel.last_error)") == "['other', 'notes'] None"


def test_the_editor_is_used_by_keyboard(lab, page, axe):
    listed(page, "POST /storage/v3/files").click()
    button(page, "Edit and resend").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("URL", exact=True)).to_be_focused()
    for width, theme in ((1280, "Light"), (1280, "Dark"), (560, "Dark")):
        page.set_viewport_size({"width": width, "height": 1600})
        lab.theme(page, theme)
        lab.screenshot(page, f"exchange-panel-editor-{theme.lower()}-{width}", selector=".svc-dashboard")
        assert axe(page) == []
    page.get_by_label("URL", exact=True).focus()  # a change of the theme moves the focus
    page.keyboard.press("Escape")

    expect(page.get_by_label("URL", exact=True)).to_be_hidden()
    expect(button(page, "Edit and resend")).to_be_focused()


def test_the_list_is_filtered_and_copied(lab, page):
    page.get_by_label("Status", exact=True).fill("4xx")
    page.keyboard.press("Tab")
    page.get_by_text("No exchange matches the filter.").wait_for()
    page.get_by_label("Status", exact=True).fill("")
    page.keyboard.press("Tab")
    page.get_by_label("Method", exact=True).filter(visible=True).select_option("POST")
    page.get_by_text("1 of 3 exchanges").wait_for()
    listed(page, "POST /storage/v3/files").click()
    page.get_by_label("Python code (requests)").check()
    page.get_by_text("import requests").wait_for()
    page.locator(".svc-code", has_text="Python code").get_by_role("button", name="Copy").click()

    page.get_by_role("button", name="Copied", exact=True).wait_for()


def test_the_archive_is_saved_by_the_browser(lab, page):
    with page.expect_download() as download:
        button(page, "Save as HAR").click()

    assert download.value.suggested_filename == "exchanges.har"
