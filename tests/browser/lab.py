"""Controls JupyterLab in a browser: one page for all tests, an empty folder and a kernel for each test."""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat

from tests.browser.page_calls import PATIENCE, call

LOCAL_SCHEMES = ("data", "blob", "about", "chrome", "chrome-extension")
"""Addresses that lead nowhere: the last two are of the browser's own view of PDFs."""
KERNEL_PATIENCE = 150_000  # milliseconds until all cells of a notebook have run; the longest takes 10,000 here
WIDTH, HEIGHT = 1280, 1000
MAX_HEIGHT = 16_000  # pixels; what a picture of a whole notebook is cut at

# anywidget gives a widget two seconds to begin, which a machine with other things to do may need for less.
EXTEND_WIDGET_TIMEOUT = """(() => {
  const within = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (time) => within(Math.max(time, 60_000));
})()"""

WAIT_UNTIL_READY = "async () => { await window.jupyterapp.restored; window.jupyterapp.shell.collapseLeft(); }"

OPEN = """async (path) => {
  const panel = await window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'});
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed;
  await panel.sessionContext.session.kernel.info;
}"""

RUN_ALL = "async () => await window.jupyterapp.commands.execute('notebook:run-all-cells')"

NOTEBOOK = "() => window.jupyterapp.shell.currentWidget.model.toJSON()"

RUN_CODE = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const done = kernel.requestExecute({code});
  let output = '';
  done.onIOPub = (m) => {
    if (m.header.msg_type === 'stream') output += m.content.text;
    if (m.header.msg_type === 'error') output += m.content.evalue;
  };
  await done.done;
  return output;
}"""

# Documents are closed without a question, and nobody waits for their kernels to end.
CLOSE_DOCUMENTS = """async () => {
  const shell = window.jupyterapp.shell;
  document.querySelectorAll('.jp-Dialog').forEach((dialog) => dialog.remove());
  for (const panel of [...shell.widgets('main')]) {
    if (!panel.context) continue;
    const id = panel.sessionContext?.session?.id;
    panel.context.model.dirty = false;
    panel.dispose();
    if (id) fetch('/api/sessions/' + id, {method: 'DELETE'});
  }
}"""

IS_DRAWN = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content.node;
  const waits = [...notebook.querySelectorAll('img')].some((image) => !image.complete);
  return !waits && !notebook.querySelector('.jp-Cell-Placeholder') && !/Loading widget/.test(notebook.innerText);
}"""

NOTEBOOK_HEIGHT = """() => {
  window.jupyterapp.shell.currentWidget.content.outerNode.scrollTop = 0;
  const cells = [...window.jupyterapp.shell.currentWidget.content.node.querySelectorAll('.jp-Cell')];
  const top = cells[0].getBoundingClientRect().top, end = cells.at(-1).getBoundingClientRect().bottom;
  return Math.ceil(end - top + 140);
}"""


class Lab:
    """A running JupyterLab: `run(name)` shows a notebook of its folder, `screenshot(page, name)` keeps a picture.

    `page` is the one page of all tests: what a test leaves in it, `clear` takes away. `page_errors` is what went
    wrong in it where no test looks: errors of the console, and requests to other machines.
    """

    def __init__(self, url: str, work: Path, screenshots: Path, browser: Any) -> None:
        self.url, self.work, self.screenshots, self.browser = url, work, screenshots, browser
        self.folder = work
        self.page: Any = None
        self.page_errors: list[str] = []

    # -- a test begins and ends

    def start_test(self, test: str) -> None:
        """An empty folder with such a name is `folder`. The folder of a first run that failed is removed."""
        self.folder = self.work / re.sub(r"\W+", "-", test).strip("-")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.page_errors.clear()

    def clear(self) -> None:
        """Close what is open; the next test finds JupyterLab as the first one did."""
        if self.page is None or self.page.is_closed():
            return
        call(self.page, CLOSE_DOCUMENTS)
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        if self.page.locator("body[data-jp-theme-light=true]").count() == 0:
            self.theme(self.page, "Light")
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Another page for the next test: this one may be spoilt."""
        if self.page is not None and not self.page.is_closed():
            call(self.page, CLOSE_DOCUMENTS)
            self.page.context.close()

    # -- notebooks

    def write(self, name: str, *cells: str) -> str:
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        nbformat.write(made, self.folder / name)
        return name

    def open(self, name: str) -> Any:
        """The page with a notebook of the folder in it, its kernel ready."""
        if self.page is None or self.page.is_closed():
            self.page = self._new_page()
        call(self.page, OPEN, str((self.folder / name).relative_to(self.work)))
        return self.page

    def run(self, name: str, *, expect_errors: bool = False) -> Any:
        """The page with a notebook in it, all of whose cells have run."""
        page = self.open(name)
        if not call(page, RUN_ALL, patience=KERNEL_PATIENCE) and not expect_errors:
            raise AssertionError(f"{name}: {self.errors(page)}")
        return page

    def notebook(self, page: Any) -> Any:
        return nbformat.from_dict(page.evaluate(NOTEBOOK))

    def show(self, name: str, *cells: str) -> Any:
        """The page with a notebook of these code cells, all of which have run."""
        return self.run(self.write(name, *cells))

    def errors(self, page: Any) -> list[str]:
        """The exceptions that are shown under cells that do not announce one."""
        return [
            f"{output.ename}: {output.evalue}"
            for cell in self.notebook(page).cells
            for output in cell.get("outputs", [])
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", [])
        ]

    def run_code(self, page: Any, code: str) -> str:
        """What the kernel prints, or complains, when it runs this outside of any cell."""
        return call(page, RUN_CODE, code).strip()

    # -- what is seen

    def theme(self, page: Any, word: str) -> None:
        """Light or Dark, once it is there to be seen."""
        name = f"JupyterLab {word}"
        call(page, "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        page.locator(f"body[data-jp-theme-name='{name}']").wait_for(state="attached")
        page.locator("#jupyterlab-splash").wait_for(state="detached")

    def screenshot(self, page: Any, name: str, selector: str = "") -> Path:
        """Keep a picture of the page, or of the first thing in it that this selects."""
        path = self.screenshots / f"{name}.png"
        target = page.locator(selector).first if selector else page
        target.screenshot(path=str(path))
        return path

    def screenshot_notebook(self, page: Any, name: str) -> Path:
        """Keep a picture of the whole notebook, all of it drawn; the window stays as long as that."""
        length = 0
        while length < (needed := min(max(page.evaluate(NOTEBOOK_HEIGHT), HEIGHT), MAX_HEIGHT)):
            length = needed
            page.set_viewport_size({"width": page.viewport_size["width"], "height": length})
            page.wait_for_function(IS_DRAWN)
        return self.screenshot(page, name)

    def _new_page(self) -> Any:
        context = self.browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        context.set_default_timeout(PATIENCE)
        context.add_init_script(EXTEND_WIDGET_TIMEOUT)
        page = context.new_page()
        page.on(
            "console", lambda message: self._record_error(message.type == "error", f"the console says: {message.text}")
        )
        page.on("pageerror", lambda error: self._record_error(True, f"the page raises: {error}"))
        page.on(
            "request", lambda request: self._record_error(_outside(request.url), f"a request goes out: {request.url}")
        )
        page.goto(f"{self.url}/lab?reset")
        page.wait_for_function("window.jupyterapp")
        call(page, WAIT_UNTIL_READY)
        return page

    def _record_error(self, wrong: bool, message: str) -> None:
        if wrong:
            self.page_errors.append(message)


def _outside(url: str) -> bool:
    return urlsplit(url).scheme not in LOCAL_SCHEMES and urlsplit(url).hostname != "127.0.0.1"
