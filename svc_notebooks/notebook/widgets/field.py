"""Form fields, which are controls with a label, a hint and a note for problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets as widgets

from .html import tag

LABEL = {"description_width": "var(--svc-label)"}
"""The style of a label in the first column; on narrow pages the style sheet puts it above its control."""

AUTO_WIDTH = {"description_width": "initial"}
"""The style of a label that is as wide as its text."""


def describe(text: str, tooltip: str) -> dict[str, Any]:
    """Return a label with a tooltip, because ipywidgets shows the tooltip of a text field only without a label."""
    label = tag("span", text, title=tooltip)
    return {"description": label, "description_allow_html": True, "tooltip": tooltip}


class Field(widgets.VBox):  # type: ignore[misc]
    """Controls in a row, a hint and a note. `problems` has the texts of the note.

    >>> name = Field(widgets.Text(description="Name"), hint="as on the door")
    >>> name.show_problems(["It is empty."])
    >>> name.problems
    ('It is empty.',)
    """

    def __init__(self, *controls: widgets.Widget, hint: str = "") -> None:
        self.controls = controls
        self.problems: tuple[str, ...] = ()
        self.hint, self.note = widgets.HTML(), widgets.HTML()
        self.line = widgets.HBox(controls)
        self.line.add_class("svc-line")
        super().__init__([self.line, self.hint, self.note])
        self.add_class("svc-field")
        self.show_hint(hint)
        self.show_problems(())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'; '.join(self.problems) or 'no problems'}>"

    def show_hint(self, text: str) -> None:
        """Show a hint below the controls."""
        _set_html(self.hint, text and tag("p", text, class_="svc-hint"))

    def show_problems(self, problems: Iterable[str]) -> None:
        """Show problems in the note. Without any, hide it."""
        self.problems = tuple(problems)
        (self.add_class if self.problems else self.remove_class)("svc-bad")
        paragraphs = [tag("p", problem, class_="svc-wrong", role="alert") for problem in self.problems]
        _set_html(self.note, "".join(paragraphs))

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the value of a control changes."""
        on_change(changed, *self.controls)

    def field_at(self, path: str) -> Field:
        """Return the field that shows a problem at this path of the event, which is this field itself."""
        return self


class SingleField(Field):
    """A field with one control and its value. None sets the first value again."""

    def __init__(self, control: widgets.Widget, *before: widgets.Widget) -> None:
        super().__init__(*before, control)
        self.control, self._default = control, control.value

    @property
    def value(self) -> Any:
        """The value of the control."""
        return self.control.value

    @value.setter
    def value(self, value: Any) -> None:
        self.control.value = self._default if value is None else value


def on_change(changed: Callable[[], None], *controls: widgets.Widget) -> None:
    """Call `changed` whenever the value of a control changes."""
    for control in controls:
        if control.has_trait("value"):
            control.observe(lambda _change: changed(), "value")


def heading(text: str) -> widgets.HTML:
    """Return a text in the column of the labels, for fields with more than one control."""
    return widgets.HTML(tag("span", text, class_="svc-label"))


def checkbox(label: str, tooltip: str, *, value: bool = False) -> widgets.Checkbox:
    """Return a checkbox that is as wide as its label."""
    return widgets.Checkbox(value=value, **describe(label, tooltip), indent=False, layout={"width": "auto"})


# Text fields send their text with Enter or when they lose the focus. If each letter were sent, the letters that a busy
# kernel has not handled yet would arrive after the click on a button. Until then only the page has the text, and it
# draws a field again with the kernel's value if any trait of it changes. So no trait of a text field may change, not
# even its hint, while a person may be typing.


def text_field(
    label: str, tooltip: str, *, value: str = "", hint: str = "", style: Mapping[str, str] = LABEL
) -> widgets.Text:
    """Return a one-line text field. It shows the hint while it is empty."""
    return widgets.Text(value, placeholder=hint, continuous_update=False, style=style, **describe(label, tooltip))


def text_area(label: str, tooltip: str, *, hint: str = "", rows: int = 3) -> widgets.Textarea:
    """Return a text field of several lines."""
    options = describe(label, tooltip)
    return widgets.Textarea(placeholder=hint, rows=rows, continuous_update=False, style=LABEL, **options)


def number_field(value: int, label: str, tooltip: str) -> widgets.IntText:
    """Return a field for a whole number. Numbers out of bounds are reported and not changed."""
    control = widgets.IntText(value=value, continuous_update=False, style=AUTO_WIDTH, **describe(label, tooltip))
    control.add_class("svc-number")
    return control


def small_button(text: str, tooltip: str, pressed: Callable[[], object]) -> widgets.Button:
    """Return a button inside a form."""
    button = widgets.Button(description=text, tooltip=tooltip)
    button.add_class("svc-small")
    button.on_click(lambda _button: pressed())
    return button


def set_visible(widget: widgets.Widget, visible: bool) -> None:
    """Show or hide a widget."""
    widget.layout.display = None if visible else "none"


def _set_html(area: widgets.HTML, html: str) -> None:
    area.value = html
    set_visible(area, bool(html))
