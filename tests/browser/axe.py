"""Runs axe-core on a page, and lists each element that violates an accessibility rule."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tests.browser.page_calls import call

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

# JupyterLab's body has no height, only its children do: axe-core takes what lies in it for cut off, and then reads no
# colour of it. Frames are other pages: what an exported document says is its author's, and a sandboxed frame runs no
# script.
RUN_AXE = """async (selector) => {
  document.body.style.height = '100vh';
  const options = {iframes: false, resultTypes: ['violations']};
  return (await axe.run({include: [[selector]]}, options)).violations;
}"""


@dataclass(frozen=True, slots=True)
class Violation:
    """One element that breaks one rule of axe-core, and how to mend it."""

    rule: str
    element: str
    fix: str
    impact: str

    def __repr__(self) -> str:
        return f"\n* {self.rule} ({self.impact})\n  {self.element}\n  {self.fix}"


def violations(page: Any, selector: str | None = None) -> list[Violation]:
    """What axe-core finds in the forms of the page, or in what the selector names.

    JupyterLab around the forms is not ours, and is not looked at. Raises playwright's Error where nothing is
    selected: nothing was looked at then.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    return [
        Violation(
            rule=f"{violation['id']}: {violation['help']}",
            element=node["html"],
            fix="\n  ".join(node["failureSummary"].splitlines()),
            impact=str(node["impact"]),
        )
        for violation in call(page, RUN_AXE, selector or ".svc-form")
        for node in violation["nodes"]
    ]
