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
    page = lab.show("panel.ipynb", CELL)
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
