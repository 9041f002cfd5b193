"""The base class of all forms, with guarded handlers, an alert, a table of results and the equivalent code.

JupyterLab does not show exceptions in callbacks, so the form shows the exceptions of click handlers in the alert.
Buttons are not disabled, because a keyboard user would lose the focus. The file browser disables buttons, and moves the
focus to its list.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import anywidget
import ipywidgets as widgets
from ipywidgets import Widget

from ...client.session import Session, SessionLike, session_or_current
from ...core.errors.public_calls import public_methods, shorten_traceback, unknown_argument
from ...core.fault_plan import PRESETS
from ...notebook.arguments import choice, is_frame, one_id
from ...notebook.display import Markup, join_html, tag
from ...notebook.frontend import at_prompt, detect_frontend
from . import ui
from .background_task import BackgroundTask

if TYPE_CHECKING:
    from pandas import DataFrame


_FOLDER = Path(__file__).parent


_LINE_LENGTH = 88
_INDENT = "    "


def call_text(function: str, positional: Iterable[Any], named: Mapping[str, Any]) -> str:
    """Return the Python code of a call. A long call has a line for each argument.

    >>> call_text("update_event", ["abc"], {"start": "2026-11-02"})
    "svc.update_event('abc', start='2026-11-02')"
    """
    first = [*map(repr, positional)]
    line = f"svc.{function}({', '.join([*first, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(line) <= _LINE_LENGTH:
        return line
    lines = [*first, *(f"{name}={_text(value, len(name))}" for name, value in named.items())]
    return "\n".join([f"svc.{function}(", *_indent(lines), ")"])


def _text(value: Any, before: int) -> str:
    """Return a value as Python code, with a line for each entry of a list that is too long for one line."""
    text = repr(value)
    if not isinstance(value, list) or len(text) + before + len(_INDENT) + 2 <= _LINE_LENGTH:
        return text
    return "\n".join(["[", *_indent(map(repr, value)), "]"])


def _indent(lines: Iterable[str]) -> list[str]:
    return [_INDENT + line.replace("\n", f"\n{_INDENT}") + "," for line in lines]


class FormScript(anywidget.AnyWidget):
    """An invisible widget that prevents JupyterLab from handling the keys that a person presses in a form.

    After a message from the kernel, the browser focuses the first field with a problem (class `svc-bad`). While the
    form is not connected to its kernel, the script shows the message `no_kernel` of the form.

    >>> FormScript()
    <FormScript>
    """

    _esm = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("kernel_status.js", "keyboard.js"))

    def __repr__(self) -> str:
        return "<FormScript>"


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


# The script of a Copy button. The script does not use navigator.clipboard, because browsers provide it only over https
# and on localhost.
_COPY = (
    "getSelection().selectAllChildren(this.closest('div,td').querySelector('pre,a'));"
    "document.execCommand('copy'); this.textContent = 'Copied'"
)


def copy_button(label: str, title: str) -> Markup:
    """Return a button that copies the code or the link beside it, which is in the same div or cell of a table."""
    return tag("button", label, type="button", title=title, onclick=_COPY)


# Held by each handler, and by code that must not run beside a handler.
#
# JupyterLab sends messages of widgets to a subshell of the kernel, which is a thread of its own, and messages of
# widgets that are older than the subshell to the main thread. So two handlers of a form could run at the same time.
HANDLER_LOCK = RLock()

# The message that the style sheet shows while the kernel of the form is not connected.
_NO_KERNEL = "The kernel is not connected. Run the cell again."


def code_view(code: str, title: str = "Equivalent code") -> Markup:
    """Return HTML with a title, the code and a Copy button.

    >>> "<pre>svc.files()</pre>" in code_view("svc.files()")
    True
    """
    head = tag("p", tag("strong", title), " ", copy_button("Copy", "Copy the code"))
    return tag("div", head, tag("pre", code), class_="svc-code")


class Section(widgets.VBox):  # type: ignore[misc]
    """A heading and controls, as a part of a form.

    The form has a method `_run`, which runs an action. Its arguments are the equivalent code, the action, and the
    message after the action.
    """

    heading = ""

    def __init__(self, form: Any) -> None:
        self._form, self._button, self._run = form, form._button, form._run
        super().__init__([widgets.HTML(tag("h4", self.heading, class_="svc-head")), *self._controls()])

    @abstractmethod
    def _controls(self) -> list[widgets.Widget]:
        """Return the controls of the section, from top to bottom."""

    def update(self) -> None:
        """Update the controls from the state of the service. The base class has nothing to update."""


def preset_text(name: str) -> str:
    """Return what a preset of faults teaches, and its faults."""
    preset = next(preset for preset in PRESETS if preset.name == name)
    return f"{preset.teaches}. In turn: {'; '.join(preset.descriptions())}."


# Other names of labels in `fill`, for a form that has no label of this name.
_SYNONYMS = dict.fromkeys(("file", "files", "path", "paths", "source"), ("notebook_file", "document"))


def refuse_unnamed(values: Sequence[object], labels: Iterable[str]) -> None:
    """Raise TypeError for values that `fill` was given without a label."""
    if values:
        raise TypeError(
            f"fill() takes label=value, and this {type(values[0]).__name__} has no label; "
            f"the labels of this form are {', '.join(labels)}"
        )


def _control_value(argument: str, control: Widget, value: Any) -> Any:
    """Return the value that a control has for a value of `fill`.

    For a text this is also a path, a list of one text or a row with an id, and for a field of JSON a dict.
    """
    if control.has_trait("options"):
        options: dict[str, Any] = dict(each if isinstance(each, tuple) else (each, each) for each in control.options)
        value = one_id(value, argument) if is_frame(value) else value
        by_extension = [each for label, each in options.items() if str(label).endswith(f"(.{value})")]
        value = by_extension[0] if by_extension else value
        return value if value in [*options.values()] else options[choice(argument, value, options)]
    if not isinstance(control.value, str) or isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list | tuple) and len(value) == 1:
        return _control_value(argument, control, value[0])
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping) and isinstance(control, widgets.Textarea):
        return json.dumps(value)
    if is_frame(value) or hasattr(value, "keys"):
        return one_id(value, argument)
    shown = f"{len(value)} values" if isinstance(value, list | tuple) else type(value).__name__
    raise TypeError(f"{argument} must be one str or path, not {shown}")


@public_methods
class Form(widgets.VBox):  # type: ignore[misc]
    """The base class of all forms. `last_error` is the last exception or problem that the form has shown, or None."""

    title: ClassVar[str] = "Form"
    # The calls that do the same without a notebook.
    instead: ClassVar[str] = "the functions of svc_notebooks"

    # The task that runs long calls, of a form that has one.
    work: BackgroundTask
    _last_code = ""  # the code of the last action of the person, of a form that shows it

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        public_methods(cls)

    def __init__(self, session: SessionLike) -> None:
        super().__init__()
        self.add_class("svc-form")
        self.last_error: BaseException | None = None
        self._session = session
        self.alert, self.status, self.table, self.code_area = (widgets.HTML() for _ in range(4))
        self.no_kernel = widgets.HTML(tag("p", _NO_KERNEL, role="alert", class_="svc-kernel"))

    def _compose(self, *parts: widgets.Widget) -> None:
        """Show `parts` from top to bottom, followed by the equivalent code."""
        self.children = [ui.style_sheet("form.css"), self.no_kernel, *parts, self.code_area, FormScript()]
        self._show_code()

    @property
    def session(self) -> Session:
        """The session of the form, which is the current session unless another one was passed."""
        return session_or_current(self._session)

    if not TYPE_CHECKING:  # so that mypy knows only the attributes that exist

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError, which says how code fills the form and presses its buttons."""
            if name.startswith("_") or hasattr(type(self), name):  # the error of a property
                super().__getattribute__(name)
            uses = ["form.fill(...) fills the fields"]
            uses += [f"form.{key}.click()" for key, part in vars(self).items() if isinstance(part, widgets.Button)]
            hint = "; ".join(filter(None, [", ".join(uses), f"without a form use {self.instead}"]))
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; {hint}", name=name, obj=self)

        def __setattr__(self, name: str, value: object) -> None:
            if name == "value" and not hasattr(type(self), name):  # a form is no single control
                self.__getattr__(name)
            super().__setattr__(name, value)

    def fill(self, *unnamed: Any, **values: Any) -> None:
        """Set controls by their labels in lower case, with _ between the words: `form.fill(convert_to="document")`.

        A list takes the text or the value of an option, a text field also a path or a row. Raises TypeError for a value
        without a label, for a label that the form does not have (the message lists all) and for a text of another type,
        ValueError for an option that a list does not have, and TraitError for another value that a control refuses.
        """
        self._set_controls([self], unnamed, values)

    def _set_controls(
        self, roots: Iterable[Widget], unnamed: Sequence[Any], values: Mapping[str, Any], function: str = "fill"
    ) -> None:
        """Set the controls in `roots` by their labels. `function` is the name of the caller in messages."""
        controls: dict[str, Widget] = {}
        for part in widget_tree(*roots):
            label = re.sub(r"<[^>]*>", "", getattr(part, "description", ""))
            if label and part.has_trait("value"):
                controls.setdefault(re.sub(r"\W+", "_", label.lower()).strip("_"), part)
        refuse_unnamed(unnamed, controls)
        named = {
            next((label for label in (name, *_SYNONYMS.get(name, ())) if label in controls), name): name
            for name in values
        }
        if unknown := [name for label, name in named.items() if label not in controls]:
            synonyms = [name for name, labels in _SYNONYMS.items() if {*labels} & {*controls} and name not in controls]
            raise TypeError(unknown_argument(function, unknown[0], [*controls, *synonyms]))
        for label, name in named.items():
            controls[label].value = _control_value(name, controls[label], values[name])

    @property
    def busy(self) -> bool:
        """True while a task of the form runs."""
        return "work" in vars(self) and self.work.busy

    def refresh(self) -> None:
        """Reload the data that a cell or another form may have changed. The base class has no data to reload."""

    def close(self) -> None:
        """Remove the form from the page, and close its widgets in the kernel."""
        dispose(self, self.alert, self.status, self.table, self.code_area)

    @abstractmethod
    def code(self) -> str:
        """Return the Python code of an equivalent cell."""

    def _button(
        self, text: str, tooltip: str, handler: Callable[[], None], style: str = "", icon: str = ""
    ) -> widgets.Button:
        return self._callable(ui.button(text, tooltip, self._guarded(handler), style, icon=icon))

    def _callable(self, button: ui.FormButton) -> ui.FormButton:
        """Let a call of the button raise the error that the form shows after it."""
        button.after_call = self._raise_shown
        return button

    def _raise_shown(self) -> None:
        if self.alert.value and self.last_error is not None:
            shorten_traceback(self.last_error)
            raise self.last_error

    def _guarded(self, handler: Callable[..., None]) -> Callable[..., None]:
        """Return the handler as a callback that shows its errors."""
        return lambda *values: self._guard(lambda: handler(*values))

    def _guard(self, handler: Callable[[], None]) -> None:
        with HANDLER_LOCK:
            self._show_error(None)
            try:
                handler()
            except Exception as error:
                self._show_failure(error)

    def _show_failure(self, error: Exception) -> None:
        self._clear_status()
        self._show_error(error)

    def _clear_status(self) -> None:
        """Remove the status text of an earlier click, which would look like the result of this click."""
        self._show_status("")

    def _show_status(self, text: str) -> None:
        self.status.value = tag("p", text, role="status") if text else ""

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
        hints = ("", " See the message beside the field.", " See the messages beside the fields.")
        self.alert.value = tag("p", summary, hints[min(len(problems), 2)], role="alert")
        self.children[-1].send({"go": "wrong"})

    def _show_table(self, rows: DataFrame, empty: str = "") -> None:
        """Show a DataFrame as a table in a region with a name for screen readers. `empty` replaces an empty table.

        A heading is the name of a column in words. Times are those of a clock in the time zone that the heading has.
        """
        if empty and rows.empty:
            self.table.value = tag("p", empty)
            return
        columns = {}
        for name, column in rows.items():
            heading = str(name).replace("_", " ").capitalize()
            if (zone := getattr(column.dtype, "tz", None)) is not None:
                heading, column = f"{heading} ({zone})", column.dt.strftime("%Y-%m-%d %H:%M:%S").str.removesuffix(":00")
            columns[heading] = column
        table = rows.assign(**columns)[[*columns]].to_html(index=False, border=0, justify="left", na_rep="")
        self.table.value = ui.table_region("Result", Markup(table))  # to_html escapes the values

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
        bundle["text/html"] = str(self._static_view())
        return bundle

    def _static_view(self) -> Markup:
        about = f"{self.title}: run the cell to use it. Equivalent call:"
        return join_html(tag("p", about), tag("pre", self.code()), Markup(self.table.value))
