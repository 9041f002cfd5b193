"""What keeps people out of a page: axe-core's findings, one for each element, to be read in an assert."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

# JupyterLab's body has no height, only its children do: axe-core takes what lies in it for cut off, and then reads no
# colour of it. Frames are other pages: what an exported document says is its author's, and a sandboxed frame runs no
# script.
RUN = """async (selector) => {
  document.body.style.height = '100vh';
  const options = {iframes: false, resultTypes: ['violations']};
  return (await axe.run({include: [[selector]]}, options)).violations;
}"""


@dataclass(frozen=True, slots=True)
class Violation:
    """One element that breaks one rule of axe-core, and how to mend it."""

    rule: str
    element: str
    mend: str
    impact: str

    def __repr__(self) -> str:
        return f"\n* {self.rule} ({self.impact})\n  {self.element}\n  {self.mend}"


def violations(page: Any, selector: str | None = None) -> list[Violation]:
    """What axe-core finds in the forms of the page, or in what the selector names.

    JupyterLab around the forms is not ours, and is not looked at. Raises playwright's Error where nothing is
    selected: nothing was looked at then.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    return [
        Violation(
            rule=f"{found['id']}: {found['help']}",
            element=node["html"],
            mend="\n  ".join(node["failureSummary"].splitlines()),
            impact=str(node["impact"]),
        )
        for found in page.evaluate(RUN, selector or ".svc-form")
        for node in found["nodes"]
    ]
