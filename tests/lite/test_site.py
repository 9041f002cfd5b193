"""Runs every notebook in JupyterLite without a network, and tests what only a browser page can show.

There are no frames here: PyPI has no numpy and no pandas for Pyodide, and its own distribution is not to be had
without the network. A cell that needs more of a frame than a stand-in has is counted and not judged; the same cell
runs with pandas itself, without threads, sockets and processes, in tests/notebook/sandbox/test_in_a_browser.py.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.lite.page import execute, run

pytestmark = pytest.mark.lite

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.relative_to(NOTEBOOKS).as_posix() for path in NOTEBOOKS.rglob("[!.]*.ipynb"))
NOT_JUDGED = ("OnlyAStandIn",)
NOT_OFFLINE = ("PIL", "lxml", "cryptography")
"""Compiled packages that PyPI has not for Pyodide either."""


def errors(cell):
    return [output for output in cell["outputs"] if output["output_type"] == "error"]


def classify_cells(cells):
    """The cells that ran well, those that could not be judged here, and what went wrong."""
    well, without, wrong = [], [], []
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        cell_errors = errors(cell)
        if not cell["execution_count"]:
            wrong.append(f"{cell['source'][:80]!r} was not run")
        elif not cell_errors:
            well.append(cell)
        elif _name(cell_errors[0]) in NOT_JUDGED or _needs_missing_package(cell_errors[0]["evalue"]):
            without.append(cell)
        elif cell["meant"]:
            well.append(cell)
        elif _name(cell_errors[0]) == "NameError" and without:
            without.append(cell)  # what such a cell would have made
        else:
            wrong.append(f"{cell['source'][:80]!r}: {cell_errors[0]['ename']}: {cell_errors[0]['evalue'][:300]}")
    return well, without, wrong


def _name(error):
    """The kernel of the page names an error as `<class 'pandas.OnlyAStandIn'>`."""
    return error["ename"].strip("<>'").rpartition(".")[2].removeprefix("class '")


def _needs_missing_package(message):
    says = ("No module named '{}'", "need the package {}", "the conversion needs {}")
    return any(template.format(name) in message for name in NOT_OFFLINE for template in says)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(browser, name, record_property):
    page = browser.open(name)

    cells = run(page)
    page.context.close()

    well, without, wrong = classify_cells(cells)
    record_property("cells", f"{len(well)} ran, {len(without)} need more than a stand-in")
    print(f"{name}: {len(well)} cells ran, {len(without)} need pandas or another package that is not to be had offline")
    assert wrong == []
    for error in (error for cell in cells if cell["cell_type"] == "code" for error in errors(cell)):
        assert _name(error) != "Unsupported" or len(error["traceback"]) == 1
    assert browser.external_requests == []


@pytest.fixture(scope="module")
def page(browser):
    """The page on which the site opens, with the package loaded and a sandbox."""
    browser_page = browser.start()
    assert browser_page.evaluate("window.jupyterapp.shell.currentWidget.context.path") == "00-start.ipynb"
    assert execute(browser_page, "import svc_notebooks as svc\nlab = svc.sandbox()\nprint('ready')") == "ready\n"
    yield browser_page
    browser_page.context.close()


def test_there_are_no_threads_and_nobody_misses_them(page):
    code = """
rx = svc.receiver()
svc.watch_changes(rx)
svc.create_file(name="a")
lab.deliver()
print([(one.notification.state, one.verified) for one in rx.received()])
import threading
print(threading.active_count())
"""
    assert execute(page, code) == "[('sync', True), ('change', True)]\n1\n"


def test_what_cannot_be_is_one_sentence(page):
    output = execute(page, "lab.serve()")

    assert output.startswith("Unsupported: serve() listens on a socket, and a browser has none.")
    assert len(output.splitlines()) == 1


def test_spreadsheets_and_pdf_are_made_in_the_page(page):
    """typst is loaded when a cell imports it, and found from then on."""
    code = "table = svc.upload(b'a,b\\n1,2\\n', name='t.csv', convert_to='spreadsheet')\n"
    code += "print(svc.export(table, 'xlsx')['size'].item() > 0)\nsvc.export(table, 'pdf')"

    assert "True" in execute(page, code)
    assert "the conversion needs typst, which is not loaded" in execute(page, "svc.export(table, 'pdf')")
    assert execute(page, "import typst\nsvc.export(table, 'pdf')\nprint(open('t.pdf', 'rb').read(5))") == "b'%PDF-'\n"


class Elsewhere(BaseHTTPRequestHandler):
    """A service elsewhere, which lets pages of one origin read its answers, or of none."""

    allowed: str | None = None

    def do_GET(self):
        body = b'{"files": []}'
        self.send_response(200)
        self._permissions()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.send_response(204)
        self._permissions()
        self.end_headers()

    def _permissions(self):
        if self.allowed:
            self.send_header("Access-Control-Allow-Origin", self.allowed)
            self.send_header("Access-Control-Allow-Headers", "*, authorization")

    def log_message(self, *_args):
        pass


@pytest.fixture
def elsewhere():
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Elsewhere,), {}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def _calling_code(server):
    address = f"http://127.0.0.1:{server.server_port}"
    return f"other = svc.connect({address!r}, token='t')\nprint(len(svc.files(session=other)))\nsvc.connect"


def test_a_service_elsewhere_that_lets_this_page_ask_is_asked(page, elsewhere, address):
    elsewhere.RequestHandlerClass.allowed = address

    assert execute(page, _calling_code(elsewhere)).startswith("0\n")


def test_a_service_elsewhere_that_does_not_is_named_with_what_it_must_allow(page, elsewhere):
    output = execute(page, _calling_code(elsewhere))

    assert "CORS" in output
    assert f"127.0.0.1:{elsewhere.server_port}" in output
