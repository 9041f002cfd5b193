"""Outputs in JupyterLab: saved ones before the notebook is trusted, a progress bar, and sequence diagrams."""

import nbformat
import pytest

import svc_notebooks as svc

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

LONG = "x" * 300


def test_an_exchange_with_long_words_and_bodies_fits_the_page(lab):
    with svc.sandbox() as sandbox:
        metadata = {"name": LONG, "properties": {f"key{n}": str(n) for n in range(40)}}
        sandbox.send("POST", f"/storage/v3/files?fields=*&x={LONG}", {"X-Long": LONG}, metadata)
        html = svc.exchange()._repr_html_()
    lab.write("saved.ipynb", "svc.exchange()")
    notebook = nbformat.read(lab.folder / "saved.ipynb", as_version=4)
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", data={"text/html": html})]
    nbformat.write(notebook, lab.folder / "saved.ipynb")

    page = lab.open("saved.ipynb")
    view = page.locator(".jp-RenderedHTML > details")
    view.wait_for()
    lab.screenshot(page, "static-exchange")
    widths = view.evaluate("v => [v.parentElement, ...v.querySelectorAll('*')].map(e => e.scrollWidth - e.clientWidth)")
    fonts = {pre.evaluate("e => getComputedStyle(e).fontFamily") for pre in view.locator("pre").all()}
    more = view.locator("details > summary")

    assert max(widths) <= 1
    assert all("monospace" in font for font in fonts)
    assert "more lines" in more.inner_text()
    more.click()
    view.locator("details > pre").wait_for()
    assert type(html) is str


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


DRAWING = ".jp-RenderedMermaid img, .jp-RenderedMermaid svg"
IMAGE = ".jp-RenderedHTMLCommon img[alt^=client]"
HOSTILE = """'end; %% note over C: <b>x</b> #35; "q" {a} [b] (c) --> participant ) } ]'"""
HOSTILE += """' end\\n\\talt & ü 漢 \\\\ `x` $y$ :: '"""


@pytest.mark.spec("D-04", "D-04d")
def test_a_drawing_is_drawn_whatever_is_said_in_it(lab):
    """A fault says the worst that can be said to Mermaid, in an answer's reason and in an address."""
    name = lab.write(
        "hostile.ipynb",
        "import svc_notebooks as svc\n"
        "from svc_notebooks.core.http.messages import Disconnected, Response\n"
        f"WORST = {HOSTILE}\n"
        "def handle(request):\n"
        "    raise Disconnected(WORST)\n"
        "session = svc.Session('https://api.example', handler=handle)\n"
        "for path in (WORST, 'end', '%%', 'a;b#c'):\n"
        "    try:\n"
        "        session.call('POST', '/x/' + path, query={'uploadType': WORST, 'alt': 'end'}, body={})\n"
        "    except svc.SvcError:\n"
        "        pass",
        "from IPython.display import Markdown\n"
        "diagram = svc.exchange(session=session).diagram()\n"
        "display(diagram, Markdown(f'```mermaid\\n{diagram.mermaid}\\n```'))",
    )

    page = lab.run(name)
    page.locator(DRAWING).wait_for()
    lab.screenshot(page, "wire-hostile")

    assert page.locator(DRAWING).count() == 1
    assert page.locator(IMAGE).evaluate_all("all => all.map(one => one.naturalWidth > 0)") == [True]
