"""Calls asynchronous JavaScript in a page, with a limit of time."""

from typing import Any

from tests.browser.server import ROOT

PATIENCE = 90_000  # milliseconds until a condition counts as one that never comes; a slow machine gets what it needs

# Playwright waits for a promise without a limit, and one of JupyterLab stays open when a kernel does not answer.
WITHIN = """async (argument) => {
  const running = () => [...document.querySelectorAll('.jp-Cell')]
    .filter((cell) => cell.innerText.includes('[*]')).map((cell) => cell.innerText.slice(0, 300)).join(' ... ');
  let timer;
  const late = new Promise((_, reject) => {
    const fail = () => reject(new Error(`not done after %(patience)d ms; cells that run: ${running()}`));
    timer = setTimeout(fail, %(patience)d);
  });
  try { return await Promise.race([(%(script)s)(argument), late]); } finally { clearTimeout(timer); }
}"""


def call(page: Any, script: str, argument: Any = None, *, patience: int = PATIENCE) -> Any:
    """Call an async function of JavaScript in the page, and return its result. It fails when it takes too long."""
    return page.evaluate(WITHIN % {"script": script, "patience": patience}, argument)


def row(page: Any, text: str) -> Any:
    return page.locator("#rows tr").filter(has_text=text)


def screenshot(page: Any, name: str) -> None:
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(folder / f"{name}.png"))
