"""JupyterLab as a person sees it: one page for all tests, and for each test an empty folder and a kernel of its own."""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat

OURS = ("data", "blob", "about", "chrome", "chrome-extension")
"""Addresses that lead nowhere: the last two are of the browser's own view of PDFs."""
PATIENCE = 90_000  # milliseconds until a condition counts as one that never comes; a slow machine gets what it needs
WIDTH, HEIGHT = 1280, 1000
LONGEST = 16_000  # pixels; what a picture of a whole notebook is cut at

# anywidget gives a widget two seconds to begin, which a machine with other things to do may need for less.
PATIENT = """(() => {
  const within = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (time) => within(Math.max(time, 60_000));
})()"""

BEGIN = "async () => { await window.jupyterapp.restored; window.jupyterapp.shell.collapseLeft(); }"

OPEN = """async (path) => {
  const panel = await window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'});
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed;
  await panel.sessionContext.session.kernel.info;
}"""

RUN_ALL = "async () => await window.jupyterapp.commands.execute('notebook:run-all-cells')"

NOTEBOOK = "() => window.jupyterapp.shell.currentWidget.model.toJSON()"

TELL = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const done = kernel.requestExecute({code});
  let told = '';
  done.onIOPub = (m) => {
    if (m.header.msg_type === 'stream') told += m.content.text;
    if (m.header.msg_type === 'error') told += m.content.evalue;
  };
  await done.done;
  return told;
}"""

# Documents are closed without a question, and nobody waits for their kernels to end.
CLEAR = """async () => {
  const shell = window.jupyterapp.shell;
  document.querySelectorAll('.jp-Dialog').forEach((one) => one.remove());
  for (const panel of [...shell.widgets('main')]) {
    if (!panel.context) continue;
    const id = panel.sessionContext?.session?.id;
    panel.context.model.dirty = false;
    panel.dispose();
    if (id) fetch('/api/sessions/' + id, {method: 'DELETE'});
  }
}"""

DRAWN = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content.node;
  const waits = [...notebook.querySelectorAll('img')].some((one) => !one.complete);
  return !waits && !notebook.querySelector('.jp-Cell-Placeholder') && !/Loading widget/.test(notebook.innerText);
}"""

LENGTH = """() => {
  window.jupyterapp.shell.currentWidget.content.outerNode.scrollTop = 0;
  const cells = [...window.jupyterapp.shell.currentWidget.content.node.querySelectorAll('.jp-Cell')];
  const top = cells[0].getBoundingClientRect().top, end = cells.at(-1).getBoundingClientRect().bottom;
  return Math.ceil(end - top + 140);
}"""


class Lab:
    """A running JupyterLab: `run(name)` shows a notebook of its folder, `shot(page, name)` keeps a picture.

    `page` is the one page of all tests: what a test leaves in it, `clear` takes away. `troubles` is what went
    wrong in it where no test looks: errors of the console, and requests to other machines.
    """

    def __init__(self, url: str, work: Path, shots: Path, browser: Any) -> None:
        self.url, self.work, self.shots, self.browser = url, work, shots, browser
        self.folder = work
        self.page: Any = None
        self.troubles: list[str] = []

    # -- a test begins and ends

    def begin(self, test: str) -> None:
        """An empty folder with such a name is `folder`."""
        self.folder = self.work / re.sub(r"\W+", "-", test).strip("-")
        self.folder.mkdir()
        self.troubles.clear()

    def clear(self) -> None:
        """Close what is open; the next test finds JupyterLab as the first one did."""
        if self.page is None or self.page.is_closed():
            return
        self.page.evaluate(CLEAR)
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        if self.page.locator("body[data-jp-theme-light=true]").count() == 0:
            self.theme(self.page, "Light")
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Another page for the next test: this one may be spoilt."""
        if self.page is not None and not self.page.is_closed():
            self.page.evaluate(CLEAR)
            self.page.context.close()

    # -- notebooks

    def write(self, name: str, *cells: str) -> str:
        """A notebook with these code cells."""
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
        }
        nbformat.write(made, self.folder / name)
        return name

    def open(self, name: str) -> Any:
        """The page with a notebook of the folder in it, its kernel ready."""
        if self.page is None or self.page.is_closed():
            self.page = self._new_page()
        self.page.evaluate(OPEN, str((self.folder / name).relative_to(self.work)))
        return self.page

    def run(self, name: str, *, expect_errors: bool = False) -> Any:
        """The page with a notebook in it, all of whose cells have run."""
        page = self.open(name)
        if not page.evaluate(RUN_ALL) and not expect_errors:
            raise AssertionError(f"{name}: {self.errors(page)}")
        return page

    def notebook(self, page: Any) -> Any:
        """The notebook as it would be saved now."""
        return nbformat.from_dict(page.evaluate(NOTEBOOK))

    def errors(self, page: Any) -> list[str]:
        """The exceptions that are shown under cells that do not announce one."""
        return [
            f"{output.ename}: {output.evalue}"
            for cell in self.notebook(page).cells
            for output in cell.get("outputs", [])
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", [])
        ]

    def tell(self, page: Any, words: str) -> str:
        """What the kernel prints, or complains, when it runs this outside of any cell."""
        return page.evaluate(TELL, words).strip()

    # -- what is seen

    def theme(self, page: Any, word: str) -> None:
        """Light or Dark, once it is there to be seen."""
        name = f"JupyterLab {word}"
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        page.locator(f"body[data-jp-theme-name='{name}']").wait_for(state="attached")
        page.locator("#jupyterlab-splash").wait_for(state="detached")

    def shot(self, page: Any, name: str, of: str = "") -> Path:
        """Keep a picture of the page, or of the first thing in it that this selects."""
        path = self.shots / f"{name}.png"
        seen = page.locator(of).first if of else page
        seen.screenshot(path=str(path))
        return path

    def whole(self, page: Any, name: str) -> Path:
        """Keep a picture of the whole notebook, all of it drawn; the window stays as long as that."""
        length = 0
        while length < (wanted := min(max(page.evaluate(LENGTH), HEIGHT), LONGEST)):
            length = wanted
            page.set_viewport_size({"width": page.viewport_size["width"], "height": length})
            page.wait_for_function(DRAWN)
        return self.shot(page, name)

    def _new_page(self) -> Any:
        context = self.browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        context.set_default_timeout(PATIENCE)
        context.add_init_script(PATIENT)
        page = context.new_page()
        page.on("console", lambda said: self._note(said.type == "error", f"the console says: {said.text}"))
        page.on("pageerror", lambda error: self._note(True, f"the page raises: {error}"))
        page.on("request", lambda asked: self._note(_outside(asked.url), f"a request goes out: {asked.url}"))
        page.goto(f"{self.url}/lab?reset")
        page.wait_for_function("window.jupyterapp")
        page.evaluate(BEGIN)
        return page

    def _note(self, wrong: bool, trouble: str) -> None:
        if wrong:
            self.troubles.append(trouble)


def _outside(url: str) -> bool:
    return urlsplit(url).scheme not in OURS and urlsplit(url).hostname != "127.0.0.1"
