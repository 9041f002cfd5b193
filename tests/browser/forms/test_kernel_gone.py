"""A form in JupyterLab shows a message after its kernel has restarted, died or ended."""

import pytest

from tests.browser.page_calls import call

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
form = svc.{form}
form
"""
MESSAGE = "The kernel is not connected. Run the cell again."
SESSION = "window.jupyterapp.shell.currentWidget.sessionContext"
KILL = f"""() => {{
  {SESSION}.session.kernel.requestExecute({{code: "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"}});
}}"""

JUPYTERLAB_ERRORS = ("Canceled future for", "Cannot send")
"""The messages of JupyterLab in the console about requests to a kernel that has ended."""

ENDS = {
    "restarted": f"async () => await {SESSION}.restartKernel()",
    "killed": KILL,
    "shut down": f"async () => await {SESSION}.shutdown()",
}


@pytest.fixture
def open_form(lab):
    def opened(form="event_form()"):
        page = lab.run(lab.write("gone.ipynb", CELL.format(form=form)))
        page.locator(".svc-form button:visible").first.wait_for()
        assert message(page).count() == 0
        return page

    yield opened
    lab.close()
    lab.page_errors[:] = [error for error in lab.page_errors if not any(text in error for text in JUPYTERLAB_ERRORS)]


def message(page):
    return page.get_by_role("alert").get_by_text(MESSAGE)


@pytest.mark.spec("W-05", "W-05c")
@pytest.mark.parametrize("end", ENDS)
def test_a_form_shows_that_its_kernel_is_not_connected(lab, axe, open_form, end):
    page = open_form()
    page.get_by_label("Title", exact=True).fill("Tea")
    call(page, ENDS[end])

    message(page).wait_for()
    lab.screenshot(page, f"kernel-gone-{end.replace(' ', '-')}")
    assert page.get_by_label("Title", exact=True).input_value() == "Tea"
    assert axe(page) == []
    if end == "restarted":
        lab.theme(page, "Dark")
        page.set_viewport_size({"width": 520, "height": 1000})
        lab.screenshot(page, "kernel-gone-dark-narrow")
        assert axe(page) == []
