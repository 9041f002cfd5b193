"""The panels that the calendar view shows over its grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ipywidgets as widgets

from ...notebook.html import Markup, join_html, tag
from ..widgets.field import LABEL, Field, describe, set_visible, text_field
from ..widgets.styles import row


class Panel(widgets.VBox):  # type: ignore[misc]
    """A panel over the grid. The class `svc-question` lets Escape click the button with the class `svc-cancel`."""

    def __init__(self, label: str, *parts: widgets.Widget) -> None:
        self.head = widgets.HTML()
        super().__init__([self.head, *parts])
        self.label = label
        for name in ("svc-question", "svc-over-grid"):
            self.add_class(name)
        set_visible(self, False)

    @property
    def is_open(self) -> bool:
        return bool(self.layout.display != "none")

    def dismiss(self) -> None:
        set_visible(self, False)

    def _show(self, *lines: Markup) -> None:
        self.head.value = tag("div", *lines, role="group", aria_label=self.label, class_="svc-asked")
        set_visible(self, True)


def _button(text: str, tooltip: str, pressed: Callable[[], None], style: str = "") -> widgets.Button:
    button = widgets.Button(description=text, tooltip=tooltip, button_style=style)
    button.on_click(lambda _button: pressed())
    return button


class EventPanel(Panel):
    """The details of an event, with buttons to edit, delete and close. `pressed` is called with the button's key."""

    def __init__(self, pressed: Callable[[str], None]) -> None:
        self.edit = _button("Edit", "Change the fields of this event", lambda: pressed("edit"), "primary")
        self.delete = _button("Delete", "Delete this event", lambda: pressed("delete"), "danger")
        self.close_button = _button("Close", "Close the details", lambda: pressed("close"))
        self.close_button.add_class("svc-cancel")
        super().__init__("Event", row(self.edit, self.delete, self.close_button))

    def show(self, title: str, facts: Mapping[str, object], *, editable: bool) -> None:
        """Show the facts of an event that have a value."""
        lines = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in facts.items() if value]
        table = tag("table", tag("tbody", join_html(*lines)), class_="svc-facts")
        set_visible(self.edit, editable)
        set_visible(self.delete, editable)
        self._show(tag("p", tag("b", title), role="status"), tag("div", table, class_="svc-rows"))
        (self.edit if editable else self.close_button).focus()


ASK_GUESTS = "Send updates to guests?"
SEND_UPDATES = {
    "all": ("Send", "Send updates to all guests"),
    "none": ("Don't send", "Save the change, and send nothing to the guests"),
}
"""The answers to the question whether the guests of an event are told, as values of `send_updates`."""


class ChoiceQuestion(Panel):
    """A question with a button for each choice. `answered` is called with the key of a choice, or None for Cancel."""

    def __init__(
        self, label: str, choices: Mapping[str, tuple[str, str]], answered: Callable[[str | None], None]
    ) -> None:
        self._on_answer = answered
        self.buttons = {key: self._choice(key, *words) for key, words in choices.items()}
        self.cancel = _button("Cancel", "Change nothing", lambda: self._answer(None))
        self.cancel.add_class("svc-cancel")
        super().__init__(label, row(*self.buttons.values(), self.cancel))

    def _choice(self, key: str, text: str, tooltip: str) -> widgets.Button:
        return _button(text, tooltip, lambda: self._answer(key))

    def ask(self, question: str, *notes: str, refused: Sequence[str] = ()) -> None:
        """Show the question, with only the choices that are not `refused`, and focus the first button."""
        for key, button in self.buttons.items():
            set_visible(button, key not in refused)
        self._show(tag("p", tag("b", question), role="alert"), *(tag("p", note) for note in notes))
        next(iter(self.buttons.values())).focus()

    def _answer(self, key: str | None) -> None:
        if self.is_open:
            self.dismiss()
            self._on_answer(key)


class NewEventPanel(Panel):
    """The title and the calendar of a new event. `pressed` is called with "create", "more" or "cancel".

    The browser sends the title with each press of Create and "More options", and of Enter in the title.
    """

    def __init__(self, pressed: Callable[[str], None]) -> None:
        self.summary = text_field("Title", "The title of the event")
        self.calendar = widgets.Dropdown(**describe("Calendar", "The calendar of the event"), style=LABEL)
        self.create = _button("Create", "Create the event", lambda: pressed("create"), "primary")
        self.more = _button("More options", "Open the event form with these times", lambda: pressed("more"))
        self.create.add_class("svc-create")
        self.more.add_class("svc-new-more")
        self.cancel = _button("Cancel", "Create nothing", lambda: pressed("cancel"))
        self.cancel.add_class("svc-cancel")
        fields = widgets.VBox([Field(self.summary), self.calendar])
        fields.add_class("svc-fields")
        super().__init__("New event", fields, row(self.create, self.more, self.cancel))
        self.add_class("svc-new-event")

    def ask(self, times: str, calendars: Sequence[tuple[str, str]], selected: str) -> None:
        """Show the times of the new event, and focus the title."""
        self.summary.value = ""
        self.calendar.options = [*calendars]
        self.calendar.value = selected
        set_visible(self.calendar, len(calendars) > 1)
        self._show(tag("p", tag("b", "New event"), tag("br"), times))
        self.summary.focus()
