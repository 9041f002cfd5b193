"""Form fields, labelled controls, rows of buttons and style sheets, which the forms import as `ui`.

A field consists of labelled controls, a hint, and a note that shows problems.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import ipywidgets as widgets

from ...core.resources.files import File
from ...notebook.display import Markup, tag

FIELD = "viewersCanCopyContent"
ARGUMENT = "viewers_can_copy_content"
_TOOLTIP = "Off: only people who may edit the file can download, export and copy it (viewersCanCopyContent=true)"


def viewers_switch() -> widgets.Checkbox:
    """Create the checkbox "Viewers may download, export and copy", which is checked by default."""
    return checkbox("Viewers may download, export and copy", _TOOLTIP, value=True)


def is_restricted(facts: File) -> bool:
    """Return whether only people who can edit the file can download, export and copy the file."""
    return facts.get(FIELD) is True


def may_edit(facts: File) -> bool:
    return (facts.get("capabilities") or {}).get("canEdit") is True


# The style of a label in the first column of a form. On narrow pages the label is above the control.
LABEL = {"description_width": "var(--svc-label)"}

# The style of a label that is as wide as its text.
AUTO_WIDTH = {"description_width": "initial"}

# The arguments of radio buttons that are side by side.
IN_A_ROW: Mapping[str, Any] = {"orientation": "horizontal", "layout": {"width": "auto"}}


def describe(text: str, tooltip: str) -> dict[str, Any]:
    """Return ipywidgets arguments for a label with a tooltip. ipywidgets itself hides the tooltip of a text field."""
    label = tag("span", text, title=tooltip)
    return {"description": label, "description_allow_html": True, "tooltip": tooltip}


class Field(widgets.VBox):  # type: ignore[misc]
    """A row of controls, with a hint and a note below the row. `problems` contains the texts of the note.

    >>> name = Field(widgets.Text(description="Name"), hint="as on the door")
    >>> name.show_problems(["It is empty."])
    >>> name.problems
    ('It is empty.',)
    """

    def __init__(self, *controls: widgets.Widget, hint: str = "") -> None:
        self.controls = controls
        self.problems: tuple[str, ...] = ()
        self.hint, self.note = widgets.HTML(), widgets.HTML()
        self.line = widgets.HBox(controls).add_class("svc-line")
        super().__init__([self.line, self.hint, self.note])
        self.add_class("svc-field")
        self.show_hint(hint)
        self.show_problems(())

    @property
    def is_blank(self) -> bool:
        """True for a row of `EditableRows` in which nothing was entered."""
        return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'; '.join(self.problems) or 'no problems'}>"

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute. Raises AttributeError for `value` of a field with several controls, which has no effect."""
        if name == "value" and not hasattr(type(self), name):
            raise AttributeError("this field has several controls; form.fill(...) sets them by their labels")
        super().__setattr__(name, value)

    def show_hint(self, text: str) -> None:
        _set_html(self.hint, text and tag("p", text, class_="svc-hint"))

    def show_problems(self, problems: Iterable[str]) -> None:
        """Show problem texts in the note. If there are no problems, hide the note."""
        self.problems = tuple(problems)
        (self.add_class if self.problems else self.remove_class)("svc-bad")
        paragraphs = [tag("p", problem, class_="svc-wrong", role="alert") for problem in self.problems]
        _set_html(self.note, "".join(paragraphs))

    def watch(self, changed: Callable[[], object]) -> None:
        """Call `changed` whenever the value of a control changes."""
        on_change(changed, *self.controls)

    def field_at(self, path: str) -> Field:
        """Return the field that shows the problems of this event path, which is the field itself by default."""
        return self


class SingleField(Field):
    """A field with one main control. Setting `value` to None restores the initial value.

    `read` converts the value of the control to `value`, and `write` converts it back.
    """

    def __init__(
        self,
        control: widgets.Widget,
        *before: widgets.Widget,
        read: Callable[[Any], Any] = lambda value: value,
        write: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        super().__init__(*before, control)
        self.control, self._default, self._read, self._write = control, control.value, read, write

    @property
    def value(self) -> Any:
        return self._read(self.control.value)

    @value.setter
    def value(self, value: Any) -> None:
        self.control.value = self._default if value is None else self._write(value)


def on_change(changed: Callable[[], object], *controls: widgets.Widget) -> None:
    """Call `changed` whenever the value of one of the controls changes."""
    for control in controls:
        if control.has_trait("value"):
            control.observe(lambda _change: changed(), "value")


def heading(text: str) -> widgets.HTML:
    """Create a label in the label column for a field with several controls."""
    return widgets.HTML(tag("span", text, class_="svc-label"))


def checkbox(label: str, tooltip: str, *, value: bool = False) -> widgets.Checkbox:
    """Create a checkbox that is as wide as its label."""
    return widgets.Checkbox(value=value, **describe(label, tooltip), indent=False, layout={"width": "auto"})


# A text field sends its text when a person presses Enter or leaves the field. If the field sent each letter, a busy
# kernel could handle a click on a button before it has received the last letters. While a person types, only the page
# has the new text. If the kernel then changes any trait of the field, even the placeholder, the page replaces the text
# by the old value of the kernel. So the kernel must not change a trait of a text field while a person may be typing.


def text_field(
    label: str, tooltip: str, *, value: str = "", hint: str = "", style: Mapping[str, str] = LABEL
) -> widgets.Text:
    """Create a one-line text field. The hint is the placeholder of an empty field."""
    return widgets.Text(value, placeholder=hint, continuous_update=False, style=style, **describe(label, tooltip))


def text_area(label: str, tooltip: str, *, hint: str = "", rows: int = 3) -> widgets.Textarea:
    options = describe(label, tooltip)
    return widgets.Textarea(placeholder=hint, rows=rows, continuous_update=False, style=LABEL, **options)


def number_field(value: int, label: str, tooltip: str, *, style: Mapping[str, str] = AUTO_WIDTH) -> widgets.IntText:
    """Create a field for a whole number, which keeps an invalid number, so that the form reports it."""
    control = widgets.IntText(value=value, continuous_update=False, style=style, **describe(label, tooltip))
    return control.add_class("svc-number")


def dropdown(label: str, tooltip: str, options: Any = (), *, style: Mapping[str, str] = LABEL, **traits: Any) -> Any:
    """Create a drop-down list. The options are values, or pairs of a text and a value."""
    return widgets.Dropdown(options=options, style=style, **describe(label, tooltip), **traits)


def radio_buttons(label: str, tooltip: str, options: Any = (), css: str = "", **traits: Any) -> Any:
    """Create radio buttons. `css` is a class for the style sheet, such as svc-across."""
    buttons = widgets.RadioButtons(options=options, **{"style": LABEL, **describe(label, tooltip), **traits})
    return buttons.add_class(css) if css else buttons


def replace_options(chooser: Any, options: Sequence[tuple[str, Any]]) -> None:
    """Replace the options of a list, and keep the selected value if it still exists, otherwise select the first."""
    if list(chooser.options) == list(options):
        return
    before, values = chooser.value, [value for _, value in options]
    chooser.options = options
    chooser.value = before if before in values else next(iter(values), None)


class FormButton(widgets.Button):  # type: ignore[misc]
    """A button that code can also press by a call, such as `form.create()`. `after_call` is called after the press.

    `select` selects the files that the call is given.
    """

    after_call: Callable[[], None] | None = None
    select: Callable[[Any], None] | None = None

    def __call__(self, files: Any = None) -> None:
        """Press the button, after `files` were selected, if they are given. Raises the error that the form shows."""
        if files is not None and self.select is None:
            raise TypeError(f"{self.description!r} is a button, which takes no value; form.fill(...) fills the fields")
        if files is not None and self.select is not None:
            self.select(files)
        self.click()
        if self.after_call:
            self.after_call()


def button(
    text: str,
    tooltip: str,
    pressed: Callable[[], object] = lambda: None,
    style: str = "",
    css: str = "",
    icon: str = "",
) -> FormButton:
    """Create a button. `style` is "primary" or "danger", `css` is a class for the style sheet."""
    made = FormButton(description=text, tooltip=tooltip, button_style=style, icon=icon)
    made.on_click(lambda _button: pressed())
    return made.add_class(css) if css else made


def cancel_button(tooltip: str, pressed: Callable[[], object]) -> widgets.Button:
    """Create the Cancel button of a dialog, which Escape clicks, too (`keyboard.js`)."""
    return button("Cancel", tooltip, pressed, css="svc-cancel")


def small_button(text: str, tooltip: str, pressed: Callable[[], object] = lambda: None) -> widgets.Button:
    return button(text, tooltip, pressed, css="svc-small")


def read_object(text: str, example: str) -> dict[str, Any]:
    """Return a text in a field as a dict. Raises ValueError if the text is not a JSON object."""
    try:
        fields = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ValueError(f"This is not valid JSON ({error}): enter an object such as {example}.") from None
    if not isinstance(fields, dict):
        raise ValueError(f"This must be a JSON object, like {example}.")
    return fields


def table_region(label: str, table: str) -> Markup:
    """Return an HTML table in a region that scrolls, and has a name for screen readers."""
    return tag("div", table, class_="svc-rows", tabindex="0", role="region", aria_label=label)


def facts_table(facts: Mapping[str, object], title: str) -> Markup:
    """Return the facts that have a value as an HTML table with a title."""
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in facts.items() if value]
    return table_region(title, tag("table", tag("caption", title), tag("tbody", *rows), class_="svc-facts"))


def set_visible(widget: widgets.Widget, visible: bool) -> None:
    widget.layout.display = None if visible else "none"


def _set_html(area: widgets.HTML, html: str) -> None:
    area.value = html
    set_visible(area, bool(html))


R = TypeVar("R", bound=Field)


class EditableRows(widgets.VBox, Generic[R]):  # type: ignore[misc]
    """The fields `above`, and rows, each with a Remove button. `note` shows the problems of the whole list.

    `filled` contains the rows that are not blank. In a path such as attendees[1], 1 is an index into `filled`.
    """

    def __init__(self, *above: Field, maximum: int | None = None, too_many_message: str = "") -> None:
        self.rows: list[R] = []
        self.removers: list[widgets.Button] = []
        self._maximum, self._too_many_message = maximum, too_many_message
        self._changed: list[Callable[[], object]] = []
        self.box = widgets.VBox().add_class("svc-indent")
        self.note = Field()
        super().__init__([*above, self.box, self.note])
        self.add_class("svc-wide")

    @property
    def filled(self) -> list[R]:
        return [row for row in self.rows if not row.is_blank]

    def watch(self, changed: Callable[[], object]) -> None:
        self._changed.append(changed)

    def field(self, index: int) -> Field:
        """Return the row with this index in `filled`, or `note` if there is no such row."""
        return self.filled[index] if index < len(self.filled) else self.note

    def field_at(self, path: str) -> Field:
        """Return the row for a path such as attendees[1].email, or `note` if there is no such row."""
        match = re.search(r"\[(\d+)\]", path)
        return self.field(int(match[1])) if match else self.note

    def append(self, row: R, *, focus: bool = False) -> None:
        """Add a row at the end, and focus it if `focus`. If there are `maximum` rows already, show a message."""
        if self._maximum is not None and len(self.rows) >= self._maximum:
            self.note.show_problems([self._too_many_message])
            return
        self.replace([*self.rows, row])
        if focus:
            row.controls[0].focus()

    def remove(self, row: R) -> None:
        self.replace([kept_row for kept_row in self.rows if kept_row is not row])

    def notify(self) -> None:
        """Call all functions that were passed to `watch`."""
        for changed in self._changed:
            changed()

    def replace(self, rows: Sequence[R]) -> None:
        """Replace the rows. The new rows can include rows that are already shown."""
        removers = dict(zip(self.rows, self.removers, strict=True))
        for row in rows:
            if row not in removers:
                removers[row] = small_button("Remove", "Remove this row", partial(self.remove, row))
                row.line.children = [*row.controls, removers[row]]
                row.watch(self.notify)
        self.rows, self.removers = [*rows], [removers[row] for row in rows]
        self.box.children = self.rows
        self.note.show_problems(())
        self.notify()


_MORE, _FEWER = "More options", "Fewer options"


class MoreOptions(widgets.VBox):  # type: ignore[misc]
    """A button that shows and hides controls. The form uses the values of hidden controls, too.

    >>> more = MoreOptions(widgets.Text(description="Place"))
    >>> more.shown
    False
    >>> more.button.click(); more.shown, more.button.description
    (True, 'Fewer options')
    """

    def __init__(self, *controls: widgets.Widget, counted: Sequence[widgets.Widget] = ()) -> None:
        self._counted = [(control, control.value) for control in counted]
        on_change(self.update_label, *counted)
        self.button = small_button(_MORE, "Show or hide the rarely used options", self._toggle)
        self.box = widgets.VBox(controls)
        super().__init__([self.button, self.box])
        self.add_class("svc-more")
        self.shown = False

    @property
    def shown(self) -> bool:
        return self.box.layout.display is None

    @shown.setter
    def shown(self, shown: bool) -> None:
        set_visible(self.box, shown)
        self.update_label()

    def update_label(self) -> None:
        """Update the button label, which shows the number of hidden controls that are set."""
        count = self._count_set()
        self.button.description = _FEWER if self.shown else f"{_MORE} ({count} set)" if count else _MORE

    def _count_set(self) -> int:
        """Return how many of the counted controls do not have their initial value."""
        return sum(control.value != initial for control, initial in self._counted)

    def _toggle(self) -> None:
        self.shown = not self.shown


class Menu(widgets.VBox):  # type: ignore[misc]
    """A button that opens a list of buttons. A click on one of them closes the list and focuses the menu again.

    `keyboard.js` also closes the list on Escape and on a click elsewhere.

    >>> menu = Menu("More", "Further actions", [widgets.Button(description="Copy")])
    >>> menu.button.click(); menu.shown
    True
    """

    def __init__(self, text: str, tooltip: str, items: Sequence[widgets.Button]) -> None:
        self.items, self.shown = items, False
        self.button = widgets.Button(description=text, icon="ellipsis-h", tooltip=tooltip)
        self.button.on_click(lambda _button: self._show(not self.shown))
        for item in items:
            item.on_click(lambda _button: self._leave())
        box = widgets.VBox(items).add_class("svc-menu-items")
        super().__init__([self.button, box])
        self.add_class("svc-menu")

    def _show(self, shown: bool) -> None:
        self.shown = shown
        (self.add_class if shown else self.remove_class)("svc-open")

    def _leave(self) -> None:
        self._show(False)
        self.button.focus()


_FOLDER = Path(__file__).parent


def style_sheet(name: str, extra_rules: str = "") -> widgets.HTML:
    """Create an invisible widget that adds a style sheet of this folder and extra CSS rules to the page."""
    rules = (_FOLDER / name).read_text(encoding="utf-8")
    return widgets.HTML(tag("style", Markup(rules + extra_rules)), layout={"display": "none"})


def row(*parts: widgets.Widget) -> widgets.HBox:
    """Create a box with buttons side by side, which wrap on narrow pages."""
    return widgets.HBox(parts).add_class("svc-buttons")
