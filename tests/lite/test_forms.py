"""Uses the forms of the site with the mouse, in chromium without a network."""

import pytest

from tests.lite.page import run_cell

pytestmark = pytest.mark.lite


@pytest.fixture(scope="module")
def page(browser):
    browser_page = browser.open("00-start.ipynb")
    assert run_cell(browser_page, "import svc_notebooks as svc\nlab = svc.sandbox()\nprint('ready')") == "ready\n"
    browser_page.set_default_timeout(60_000)
    yield browser_page
    browser_page.context.close()


@pytest.fixture
def shot(page, request):
    yield
    folder = request.config.rootpath / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"lite-{request.node.name.removeprefix('test_')}.png")


def test_an_upload_form_uploads_a_file_of_this_machine(page, shot, tmp_path):
    content = b"town,people\nRiga,605000\n"
    (tmp_path / "towns.csv").write_bytes(content)
    run_cell(page, "svc.upload_form()")

    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose files").last.click()
    chooser.value.set_files(tmp_path / "towns.csv")
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 1 file uploaded").wait_for()

    code = "svc.download(svc.files()['id'][0], to='copy.csv')\nprint(open('copy.csv', 'rb').read())"
    assert run_cell(page, code) == f"{content!r}\n"


def test_an_export_form_saves_another_format(page, shot):
    run_cell(page, "table = svc.upload(b'a,b\\n1,2\\n', name='Counts', convert_to='spreadsheet', mime_type='text/csv')")
    run_cell(page, "svc.export_form(table)")

    page.get_by_label("MS Excel (.xlsx)").check()
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("Counts.xlsx").first.wait_for()

    assert run_cell(page, "print(open('Counts.xlsx', 'rb').read(2))") == "b'PK'\n"


def test_an_event_form_creates_an_event(page, shot):
    run_cell(page, "svc.event_form()")

    page.get_by_label("Title", exact=True).fill("Seminar")
    page.get_by_label("Repeats").select_option("Weekly")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_text("Created: Seminar").wait_for()

    assert run_cell(page, "print(svc.events()['summary'].tolist())") == "['Seminar']\n"


def test_a_panel_shows_the_notifications_of_a_channel(page, shot):
    run_cell(page, "svc.watch_panel()")

    page.get_by_role("button", name="Watch", exact=True).click()
    message = page.locator("details:has(code)")
    message.get_by_text("sync", exact=True).first.wait_for()
    page.get_by_text("the change log: active").wait_for()  # shown by a property that becomes None
    run_cell(page, "svc.create_file(name='new.txt')")
    page.get_by_role("button", name="Refresh", exact=True).last.click()
    message.get_by_text("change", exact=True).last.wait_for()
