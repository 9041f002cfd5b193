import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
EVERY = sorted(
    path.relative_to(NOTEBOOKS) for path in NOTEBOOKS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
)

# The rules that are seen to happen in it; which cell shows which, docs/course.md says.
RULES = {
    "00-start": ("D-01", "D-03", "D-03a", "D-04", "D-04a", "D-04d"),
    "03-convert": ("W-05", "W-05c", "D-01"),
    "04-notifications": ("A11-01", "A11-01a", "A11-01b", "W-05", "W-05c", "D-01"),
    "05-events": ("W-05", "W-05c", "D-01", "E-20", "E-20a"),
    "06-recurrence-and-time-zones": ("E-21",),
    "07-identity-and-scopes": ("T-04", "T-04b"),
    "08-fault-lab": ("X-05", "X-05c", "X-04", "X-04a", "D-01"),
    "09-the-wire": ("D-04", "D-04a", "D-04b", "D-04c", "D-04d"),
}

# What an output is, and what of it is drawn; what a form shows is the form's.
DRAWN_ELEMENTS = {
    "application/vnd.jupyter.widget-view+json": "e => e.querySelectorAll('.jupyter-widgets:not(.jupyter-widgets *)')",
    "text/html": "e => e.querySelectorAll('table.dataframe:not(.jupyter-widgets *)')",
}
MARKS = {"text/html": 'class="dataframe"'}
BROKEN_OUTPUT = (
    ".jp-RenderedMermaid.jp-mod-warning",
    ".jupyter-widgets-disconnected",
    ".jp-RenderedJavaScript .jp-mod-error",
)

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def marked(path: Path):
    rules = RULES.get(path.stem, ())
    mark = pytest.mark.spec(*rules) if rules else ()
    return pytest.param(path, marks=mark, id=path.with_suffix("").as_posix())


def expected(notebook) -> dict[str, int]:
    """How many of each kind the outputs of a notebook hold; the first kind that an output has is the one shown."""
    counts = dict.fromkeys(DRAWN_ELEMENTS, 0)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        kind = next((kind for kind in DRAWN_ELEMENTS if kind in output.get("data", {})), None)
        if kind:
            counts[kind] += output.data[kind].count(MARKS[kind]) if kind in MARKS else 1
    return counts


def drawn(page) -> dict[str, int]:
    outputs = page.locator(".jp-Notebook .jp-OutputArea")
    count = "all => all.reduce((sum, one) => sum + ({select})(one).length, 0)"
    return {kind: outputs.evaluate_all(count.format(select=select)) for kind, select in DRAWN_ELEMENTS.items()}


@pytest.mark.parametrize("path", [marked(path) for path in EVERY])
def test_every_cell_runs_and_is_drawn(lab, path):
    shutil.copytree(NOTEBOOKS, lab.folder, dirs_exist_ok=True)

    page = lab.run(str(path), expect_errors=True)
    lab.screenshot_notebook(page, f"notebook-{path.stem}")

    notebook = lab.notebook(page)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert lab.errors(page) == []
    assert [cell.source for cell in code if cell.execution_count is None] == [], "a cell did not run"
    raised = [any(output.output_type == "error" for output in cell.outputs) for cell in code]
    assert raised == ["raises-exception" in cell.metadata.get("tags", []) for cell in code]
    assert drawn(page) == expected(notebook)
    for selector in BROKEN_OUTPUT:
        assert page.locator(selector).count() == 0
    assert page.locator(".jp-Notebook img").evaluate_all("all => all.filter(one => !one.naturalWidth).length") == 0


def test_every_notebook_that_must_show_something_is_there():
    assert set(RULES) <= {path.stem for path in EVERY}
