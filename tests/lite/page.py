"""Opens and runs a notebook of the site in a browser page, and executes code in its kernel."""

from typing import Any

PATIENCE = 600_000  # milliseconds: Python itself is unpacked and compiled in the page, on whatever machine this is

_READY = "window.jupyterapp?.shell?.currentWidget?.sessionContext"

_RUN = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed
  const cells = panel.content.model.cells
  const meant = [...cells].map((cell) => (cell.getMetadata("tags") ?? []).includes("raises-exception"))
  for (let n = 0; n < cells.length; n++) {  // one by one: "run all" ends at an error
    panel.content.deselectAll()
    panel.content.activeCellIndex = n
    await app.commands.execute("notebook:run-cell")
  }
  return panel.content.model.toJSON().cells.map((cell, n) => ({ ...cell, meant: meant[n] }))
}"""

_EXECUTE = """async (code) => {
  const context = window.jupyterapp.shell.currentWidget.sessionContext
  await context.ready
  const future = context.session.kernel.requestExecute({ code })
  let said = ""
  future.onIOPub = ({ content }) => { said += content.text ?? (content.traceback ?? []).join("\\n") }
  await future.done
  return said
}"""

_TIMES = """
window.times = {}  // milliseconds since the page was opened
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given)
    times.started ??= performance.now()
    this.addEventListener("message", ({ data }) => {
      if (data?._kernelMessage) times.ready ??= performance.now()
      if (data?.cannotLoad) times.shown ??= performance.now()
    })
  }
}
"""

_RUN_CELL = """async (code) => {
  const app = window.jupyterapp, panel = app.shell.currentWidget, model = panel.content.model
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed
  const at = model.cells.length
  model.sharedModel.addCell({ cell_type: "code", source: code })
  panel.content.deselectAll()
  panel.content.activeCellIndex = at
  await app.commands.execute("notebook:run-cell")
  return model.toJSON().cells[at].outputs
}"""


class Browser:
    """One chromium. `external_requests` are the requests that did not go to the site."""

    def __init__(self, chromium: Any, address: str) -> None:
        self.external_requests: list[str] = []
        self._chromium, self._address = chromium, address

    def _record_request(self, url: str) -> None:
        if not url.startswith((self._address, "data:", "blob:")):
            self.external_requests.append(url)

    def open(self, name: str) -> Any:
        """A page with a notebook and a kernel of its own, for somebody who was never here."""
        return self._opened(f"{self._address}/lab/index.html?path={name}")

    def start(self) -> Any:
        """The page on which the site opens by itself."""
        return self._opened(self._address)

    def begin(self, name: str) -> Any:
        """A page that only begins to open a notebook. Its variable `times` has the times of its worker."""
        return self._begun(f"{self._address}/lab/index.html?path={name}")

    def _opened(self, address: str) -> Any:
        page = self._begun(address)
        page.wait_for_function(_READY)
        return page

    def _begun(self, address: str) -> Any:
        context = self._chromium.new_context(viewport={"width": 1280, "height": 1000})
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: self._record_request(request.url))
        context.add_init_script(_TIMES)
        page = context.new_page()
        page.goto(address, wait_until="commit")
        return page


def run(page: Any) -> list[dict[str, Any]]:
    """Run all cells; what they are then. `meant`: the site expects this one to end in an error."""
    return page.evaluate(_RUN)


def execute(page: Any, code: str) -> str:
    """What a piece of code says, in the kernel of the page."""
    return str(page.evaluate(_EXECUTE, code))


def run_cell(page: Any, code: str) -> str:
    """Run code in a new last cell, and return the text of its outputs."""
    outputs = page.evaluate(_RUN_CELL, code)
    texts = (each.get("text") or each.get("traceback") or each.get("data", {}).get("text/plain") for each in outputs)
    return "".join(text if isinstance(text, str) else "".join(text) for text in texts if text)
