"""Saved outputs in JupyterLab before the notebook is trusted: its sanitizer removes scripts and much of the CSS."""

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
