"""The base class of all forms, with guarded handlers, an alert, a table of results and the equivalent code.

JupyterLab does not show exceptions in callbacks, so the form shows the exceptions of click handlers in the alert.
Buttons are not disabled, because a keyboard user would lose the focus. The file browser disables buttons, and moves the
focus to its list.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets as widgets
from ipywidgets import Widget

from ...core.errors.public_calls import public_methods
from ...notebook.frontend import at_prompt, detect_frontend
from ...notebook.html import Markup, join_html, tag
from .styles import style_sheet

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...notebook.current_session import SessionLike


def dispose(*roots: Widget) -> None:
    """Close widgets and, recursively, their children, layouts and styles."""
    for part in widget_tree(*roots):
        Widget.close(part)


def widget_tree(*roots: Widget) -> dict[Widget, None]:
    """Return a dict whose keys are the widgets and, recursively, their children, layouts and styles.

    >>> from ipywidgets import HBox, Label
    >>> [type(part).__name__ for part in widget_tree(HBox([Label("a")]))]
    ['HBox', 'Label', 'Layout', 'LabelStyle', 'Layout']
    """
    tree: dict[Widget, None] = {}
    pending = [*reversed(roots)]
    while pending:
        part = pending.pop()
        if part not in tree:
            tree[part] = None
            held = [getattr(part, name) for name in part.keys if part.trait_has_value(name)]
            values = [value if isinstance(value, list | tuple) else [value] for value in held]
            pending += [inner for value in reversed(values) for inner in reversed(value) if isinstance(inner, Widget)]
    return tree


_COPY = {
    "type": "button",
    "title": "Copy the code",
    "onclick": "getSelection().selectAllChildren(this.closest('.svc-code').querySelector('pre'));"
    "document.execCommand('copy'); this.textContent = 'Copied'",
}
"""The HTML attributes of the Copy button.

The script does not use navigator.clipboard, because browsers provide it only over https and on localhost.
"""

HANDLER_LOCK = RLock()
"""Held by each handler, and by code that must not run beside a handler.

JupyterLab sends messages of widgets to a subshell of the kernel, which is a thread of its own, and messages of widgets
that are older than the subshell to the main thread. So two handlers of a form could run at the same time.
"""

_NO_KERNEL = "The kernel is not connected. Run the cell again."
"""The message that the style sheet shows while the kernel of the form is not connected."""


def code_view(code: str, title: str = "Equivalent code") -> Markup:
    """Return HTML with a title, the code and a Copy button.

    >>> "<pre>svc.files()</pre>" in code_view("svc.files()")
    True
    """
    head = tag("p", tag("strong", title), " ", tag("button", "Copy", **_COPY))
    return tag("div", head, tag("pre", code), class_="svc-code")


class Form(widgets.VBox):  # type: ignore[misc]
    """The base class of all forms. `last_error` is the last exception or problem that the form has shown, or None."""

    title: ClassVar[str] = "Form"
    instead: ClassVar[str] = "the functions of svc_notebooks"
    """The calls that do the same without a notebook."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        public_methods(cls)

    def __init__(self, session: SessionLike) -> None:
        super().__init__()
        self.add_class("svc-form")
        self.last_error: BaseException | None = None
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self.alert, self.table, self.code_area = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.no_kernel = widgets.HTML(tag("p", _NO_KERNEL, role="alert", class_="svc-kernel"))

    def _compose(self, *parts: widgets.Widget) -> None:
        """Show `parts` from top to bottom, followed by the equivalent code."""
        self.children = [style_sheet("form.css"), self.no_kernel, *parts, self.code_area, *_form_scripts()]
        self._show_code()

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def refresh(self) -> None:
        """Reload the data that a cell or another form may have changed. The base class has no data to reload."""

    def close(self) -> None:
        """Remove the form from the page, and close its widgets in the kernel."""
        dispose(self, self.alert, self.table, self.code_area)

    @abstractmethod
    def code(self) -> str:
        """Return the Python code of an equivalent cell."""

    def _button(self, text: str, tooltip: str, handler: Callable[[], None], style: str = "") -> widgets.Button:
        button = widgets.Button(description=text, tooltip=tooltip, button_style=style)
        button.on_click(lambda _button: self._guard(handler))
        return button

    def _guard(self, handler: Callable[[], None]) -> None:
        with HANDLER_LOCK:
            self._show_error(None)
            try:
                handler()
            except Exception as error:
                self._clear_status()
                self._show_error(error)

    def _clear_status(self) -> None:
        """Remove the status text of an earlier click, which would look like the result of this click."""

    def _show_error(self, error: Exception | None) -> None:
        if error is None:
            self.alert.value = ""
            return
        self.last_error = error
        prefix = "" if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: "
        self.alert.value = tag("p", prefix, error, role="alert")

    def _show_problems(self, summary: str, problems: Sequence[str]) -> None:
        """Show an alert and store all problem texts in `last_error`. Focus the first field with a problem."""
        self.last_error = ValueError(" ".join([summary, *problems]))
        hint = "See the message beside the field." if len(problems) == 1 else "See the messages beside the fields."
        self.alert.value = tag("p", summary, " ", hint, role="alert")
        self._focus_first_problem()

    def _focus_first_problem(self) -> None:
        """Send the focus message to the keyboard widget. Without anywidget, the message has no effect."""
        self.children[-1].send({"go": "wrong"})

    def _show_table(self, result: DataFrame) -> None:
        table = Markup(result.to_html(index=False, border=0, justify="left", na_rep=""))  # to_html escapes the values
        self.table.value = tag("div", table, class_="svc-rows", tabindex="0", role="region", aria_label="Result")

    def _show_code(self) -> None:
        """Show the equivalent code. The code cannot be collapsed, because each update would collapse it again."""
        self.code_area.value = code_view(self.code())

    def __del__(self) -> None:
        """Do nothing, unlike the base class, which calls `close`. This is called for a closed or incomplete form, or at
        the end of Python, when modules that `close` needs are already removed.
        """

    @abstractmethod
    def _summary(self) -> str:
        """Return the state of the form in one line, such as "<UploadForm: 1 file uploaded>"."""

    def __str__(self) -> str:
        if detect_frontend() == "notebook":
            return self._summary()
        return f"{self._summary()} Forms need a notebook, such as JupyterLab. Here use {self.instead}."

    def __repr__(self) -> str:
        return str(self) if at_prompt() else self._summary()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        bundle["text/plain"] = repr(self)
        bundle["text/html"] = self._static_view()
        return bundle

    def _static_view(self) -> Markup:
        about = f"{self.title}: run the cell to use it. Equivalent call:"
        return join_html(tag("p", about), tag("pre", self.code()), Markup(self.table.value))


def _form_scripts() -> list[widgets.Widget]:
    if find_spec("anywidget") is None:
        return []
    from .form_scripts import FormKeys, KernelStatus

    return [KernelStatus(), FormKeys()]
