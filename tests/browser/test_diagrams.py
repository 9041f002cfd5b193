"""Sequence diagrams in JupyterLab: they are drawn whatever text is in them, as an image and by Mermaid."""

import pytest

DRAWING = ".jp-RenderedMermaid img, .jp-RenderedMermaid svg"
IMAGE = ".jp-RenderedHTMLCommon img[alt^=client]"
HOSTILE = """'end; %% note over C: <b>x</b> #35; "q" {a} [b] (c) --> participant ) } ]'"""
HOSTILE += """' end\\n\\talt & ü 漢 \\\\ `x` $y$ :: '"""

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


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
