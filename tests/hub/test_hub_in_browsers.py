"""Three users of a hub, each in a chromium and a JupyterLab of their own: `make hub-tests`."""

from contextlib import ExitStack
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.browser.chromium import CHROMIUM, SKIP_REASON, launch
from tests.browser.lab import EXTEND_WIDGET_TIMEOUT, OPEN, RUN_CODE, WAIT_UNTIL_READY
from tests.browser.page_calls import PATIENCE, call, screenshot
from tests.hub.hub_process import USERS, running_hub

pytestmark = [pytest.mark.hub, pytest.mark.skipif(CHROMIUM is None, reason=SKIP_REASON)]

CONNECT = "import svc_notebooks as svc\n\nsvc.connect()"
SHARE = """table = b"pond,species,count\\nmill,moorhen,75\\nabbey,coot,12\\n"
ponds = svc.upload(table, name="ponds.csv")
svc.share(ponds, "bob@svc.example", role="reader")[["email_address", "role", "outcome"]]"""
CHANGE = """table = table.replace(b"75", b"81")
svc.update(ponds, table)[["name", "size", "modified_time"]]"""
READ = 'ponds = svc.files(name="ponds.csv")\nsvc.read_frame(ponds)'
WATCH = """receiver = svc.receiver(register=True)
svc.watch_file(ponds, receiver=receiver)[["state", "opened", "expiration"]]"""
WAIT = 'receiver.wait_for("update", timeout=90)[["number", "state", "changed"]]'
FIND = 'svc.files(name="ponds.csv")[["name", "size", "modified_time"]]'
DASHBOARD = "svc.class_dashboard(every=0.5)"


class BrowserUser:
    def __init__(self, page: Page, url: str, name: str, home: Path) -> None:
        self.page, self.url, self.name, self.home = page, url, name, home

    def sign_in(self) -> None:
        self.page.goto(f"{self.url}/hub/login?next=/hub/spawn")
        self.page.get_by_label("Username").fill(self.name)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"**/user/{self.name}/lab**")
        self.page.goto(f"{self.url}/user/{self.name}/lab?reset")
        self.page.wait_for_function("window.jupyterapp")
        call(self.page, WAIT_UNTIL_READY)

    def open_notebook(self, name: str, *cells: str) -> None:
        """Write a notebook with these code cells to the user's folder, and open it."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, self.home / f"{name}.ipynb")
        call(self.page, OPEN, f"{name}.ipynb")

    def start(self, number: int) -> None:
        """Start a cell as a person does: a click and Shift+Enter."""
        self._cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def run(self, number: int) -> str:
        self.start(number)
        return self.output(number)

    def output(self, number: int) -> str:
        """The text of the output of a cell that was started, as soon as it has ended."""
        cell = self._cell(number)
        expect(cell.locator(".jp-InputPrompt")).to_have_text(f"[{number + 1}]:")
        return cell.locator(".jp-OutputArea").inner_text()

    def _cell(self, number: int) -> Locator:
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").nth(number)

    def open_live_page(self) -> Page:
        """Open the page of the service in another tab, and sign in with the hub."""
        page = self.page.context.new_page()
        page.goto(f"{self.url}/services/svc/")
        page.get_by_role("link", name="Sign in with JupyterHub").click()
        page.wait_for_url(lambda url: "/services/svc" in url or "/oauth2/authorize" in url)
        if "/oauth2/authorize" in page.url:
            page.get_by_role("button", name="Authorize").click()
        page.wait_for_url(f"{self.url}/services/svc/")
        return page


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """The users of a hub by name. Each is signed in, in a browser of their own."""
    home = tmp_path_factory.mktemp("hub")
    with ExitStack() as stack:
        url = stack.enter_context(running_hub(home))
        tools = stack.enter_context(sync_playwright())
        users = {}
        for name in USERS:
            browser = launch(tools)
            stack.callback(browser.close)
            context = browser.new_context(viewport={"width": 1000, "height": 820})
            context.set_default_timeout(PATIENCE)
            context.add_init_script(EXTEND_WIDGET_TIMEOUT)
            users[name] = BrowserUser(context.new_page(), url, name, home / name)
            users[name].sign_in()
        yield users


def test_two_users_share_a_file_and_one_is_notified_of_the_change_of_the_other(users):
    ada, bob, eve = users.values()
    ada.open_notebook("ponds", CONNECT, SHARE, CHANGE)
    ada.run(0)
    assert "bob@svc.example" in ada.run(1)

    bob.open_notebook("ponds", CONNECT, READ, WATCH, WAIT, READ)
    bob.run(0)
    assert "75" in bob.run(1)
    assert "active" in bob.run(2)
    bob.start(3)  # Bob waits while Ada changes the file
    ada.run(2)
    message = bob.output(3)
    assert "update" in message
    assert "content" in message
    assert "81" in bob.run(4)
    screenshot(ada.page, "hub-ada")
    screenshot(bob.page, "hub-bob")

    file_id = call(ada.page, RUN_CODE, "print(ponds['id'].item())").strip()
    eve.open_notebook("ponds", CONNECT, FIND, f"svc.file({file_id!r})")
    eve.run(0)
    assert "ponds.csv" not in eve.run(1)
    assert f"NotFound: File not found: {file_id}" in eve.run(2)
    screenshot(eve.page, "hub-eve")


def test_an_administrator_sees_all_users_on_the_live_page_and_in_the_dashboard(users):
    ada, bob, eve = users.values()
    for user in (bob, eve):
        user.open_notebook("files", CONNECT, FIND)
        user.run(0)
        user.run(1)

    page = ada.open_live_page()
    page.get_by_role("tab", name="Students").click()
    for name in USERS:
        expect(page.locator("#rows tr").filter(has_text=name)).to_have_count(1)
    page.locator("#rows tr").filter(has_text="bob").get_by_role("button").click()
    expect(page.locator("#details")).to_contain_text("files.list")
    expect(page.get_by_role("button", name="Reset this student …")).to_be_visible()
    screenshot(page, "hub-live-page")

    ada.open_notebook("class", CONNECT, DASHBOARD)
    ada.run(0)
    ada.start(1)
    expect(ada.page.locator(".svc-rows tr").filter(has_text="eve").first).to_be_visible()
    screenshot(ada.page, "hub-dashboard")

    refused = eve.open_live_page()
    expect(refused.get_by_role("alert")).to_contain_text("Only an administrator of JupyterHub can do this.")
    screenshot(refused, "hub-live-page-eve")
