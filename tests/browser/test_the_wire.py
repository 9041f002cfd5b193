"""Looking at the wire in a real JupyterLab: the notebook, and drawings that Mermaid draws whatever is in them."""

import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SCROLL = "cell => window.jupyterapp.shell.currentWidget.content.scrollToItem(cell, 'start')"
DRAWING = ".jp-RenderedMermaid img, .jp-RenderedMermaid svg"
HOSTILE = """'end; %% note over C: <b>x</b> #35; "q" {a} [b] (c) --> participant ) } ]'"""
HOSTILE += """' end\\n\\talt & ü 漢 \\\\ `x` $y$ :: '"""

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


@pytest.mark.spec("D-04")
def test_the_notebook_about_the_wire(lab):
    shutil.copytree(NOTEBOOKS, lab.folder, dirs_exist_ok=True)
    page = lab.run("09-the-wire.ipynb")

    frames = drawings = 0
    for cell in range(0, 21, 3):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)
        lab.shot(page, f"wire-{cell:02d}")
        frames = max(frames, page.locator("table.dataframe").count())
        drawings = max(drawings, page.locator(DRAWING).count())

    assert frames
    assert drawings


@pytest.mark.spec("D-04")
def test_a_drawing_is_drawn_whatever_is_said_in_it(lab):
    """A fault says the worst that can be said to Mermaid, in an answer's reason and in an address."""
    name = lab.write(
        "hostile.ipynb",
        "import svc_notebooks as svc\n"
        "from svc_notebooks.core.wire import Disconnected, Response\n"
        f"WORST = {HOSTILE}\n"
        "def handle(request):\n"
        "    raise Disconnected(WORST)\n"
        "session = svc.Session('https://api.example', handler=handle)\n"
        "for path in (WORST, 'end', '%%', 'a;b#c'):\n"
        "    try:\n"
        "        session.call('POST', '/x/' + path, query={'uploadType': WORST, 'alt': 'end'}, body={})\n"
        "    except svc.SvcError:\n"
        "        pass",
        "svc.exchange(session=session).diagram()",
    )

    page = lab.run(name)
    page.locator(DRAWING).wait_for(timeout=15_000)
    lab.shot(page, "wire-hostile")

    assert page.locator(DRAWING).count() == 1
