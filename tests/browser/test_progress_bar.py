"""Stopping a call for many files with the button of its progress bar, while the kernel runs the cell."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

SERVICE = """
import svc_notebooks as svc
lab = svc.sandbox()
files = svc.upload([b"x"] * 9, name=[f"{n}.txt" for n in range(9)])
server = lab.serve()
session = svc.connect(server.base_url, lab.service.sign_in(), verify=server.ca)
session.fault({"status": 503, "headers": {"Retry-After": "250"}})  # all requests of the session wait as long
"""
DELETE = """
try:
    svc.delete(files, workers=2, progress=True, session=session)
except KeyboardInterrupt as interrupt:
    deleted, left = len(interrupt.result), len(svc.files(session=lab))
    print(f"{deleted + left} in all, {left > 6}")
"""


def test_cancel_stops_a_running_call_and_the_error_has_the_finished_rows(lab):
    lab.write("bulk.ipynb", SERVICE, DELETE)
    page = lab.open("bulk.ipynb")
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.click()
    page.get_by_text("Stopped at").wait_for()

    page.locator(".jp-OutputArea-output", has_text="9 in all, True").wait_for()
    assert cancel.count() == 0
