"""The controls for attendees with details. Each attendee has a row, and optional details below the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from ...people import people
from ...widgets.field import (
    AUTO_WIDTH,
    EditableRows,
    Field,
    checkbox,
    describe,
    heading,
    on_change,
    set_visible,
    small_button,
    text_field,
)
from .inputs import whole_number

_RESPONSES = (
    ("No response yet", "needsAction"),
    ("Accepted", "accepted"),
    ("Tentative", "tentative"),
    ("Declined", "declined"),
)
_DEFAULTS = {"additionalGuests": "", "comment": "", "responseStatus": "needsAction", "resource": False}
"""The detail fields of a guest and their default values. Default values are not sent."""
_SHOWN = ("email", "displayName", "optional", *_DEFAULTS)


class AttendeeRow(Field):
    """A row for one guest. `more` contains the attendee fields without a control, which do not change."""

    def __init__(self, attendee: Mapping[str, Any] | None = None) -> None:
        fields = attendee or {}
        self.more = {key: value for key, value in fields.items() if key not in _SHOWN}
        self.email = text_field(
            "E-mail",
            "The address that gets the invitation",
            value=str(fields.get("email") or ""),
            hint="ada@svc.example",
            style=AUTO_WIDTH,
        )
        self.name = text_field(
            "Name",
            "The name that is shown; the service may already know it",
            value=str(fields.get("displayName") or ""),
            style=AUTO_WIDTH,
        )
        self.optional = checkbox(
            "Optional", "Whether the event can take place without this guest", value=bool(fields.get("optional"))
        )
        self.toggle = small_button(
            "Details", "Show or hide response, comment, additional guests and resource", self._toggle
        )
        self.details: dict[str, Any] = {}
        self.box = widgets.HBox()
        self.box.add_class("svc-line")
        self.box.add_class("svc-details")
        self._changed: list[Callable[[], None]] = []
        super().__init__(self.email, self.name, self.optional, self.toggle)
        self.children = [self.line, self.box, self.hint, self.note]
        set_visible(self.box, False)
        if any(fields.get(key) for key in _DEFAULTS):
            self._toggle()
            self._set_details(fields)

    @property
    def value(self) -> dict[str, Any]:
        texts = {"email": self.email.value.strip(), "displayName": self.name.value.strip()}
        [person] = people("email", {key: value for key, value in texts.items() if value})
        return {
            **person,
            **({"optional": True} if self.optional.value else {}),
            **self._details(),
            **self.more,
        }

    def watch(self, changed: Callable[[], None]) -> None:
        super().watch(changed)
        self._changed.append(changed)
        on_change(changed, *self.details.values())

    def _toggle(self) -> None:
        if not self.details:
            self._build()
        set_visible(self.box, self.box.layout.display is not None)

    def _build(self) -> None:
        self.details = {
            "responseStatus": widgets.Dropdown(
                options=_RESPONSES,
                **describe("Response", "The response of the guest"),
                style=AUTO_WIDTH,
            ),
            "comment": text_field("Comment", "A comment with the response", style=AUTO_WIDTH),
            "additionalGuests": text_field(
                "Additional guests", "The number of people who come with the guest", hint="0", style=AUTO_WIDTH
            ),
            "resource": checkbox("Resource", "A room or a device, not a person; set only when it is first added"),
        }
        self.details["additionalGuests"].add_class("svc-number")
        self.box.children = [*self.details.values()]
        for changed in self._changed:
            on_change(changed, *self.details.values())

    def _set_details(self, fields: Mapping[str, Any]) -> None:
        count = fields.get("additionalGuests")
        if isinstance(count, bool) or not isinstance(count, int | None):
            raise TypeError("additionalGuests must be a whole number")
        for key, default in _DEFAULTS.items():
            value = fields.get(key) or default
            self.details[key].value = str(value) if key == "additionalGuests" else value

    def _details(self) -> dict[str, Any]:
        values = {key: control.value for key, control in self.details.items() if control.value != _DEFAULTS[key]}
        if "additionalGuests" in values:
            values["additionalGuests"] = whole_number(values["additionalGuests"])
        return {key: value for key, value in values.items() if value is not None}


class AttendeeRows(EditableRows[AttendeeRow]):
    """The rows of guests with details, a button that adds a row, and a button that moves the listed guests to rows."""

    def __init__(self) -> None:
        super().__init__(lambda row: not (row.value.keys() - {"optional"}))
        self.add = small_button("Add guest", "Add a row for a guest with details", self._add)
        self.take = small_button("Edit listed guests", "Move the guests of the list to rows with details", lambda: None)
        self.children = [Field(heading("Guest details"), self.add, self.take), self.box, self.note]

    @property
    def value(self) -> list[dict[str, Any]]:
        """The guests of the rows that are not blank, as entries of the event field `attendees`."""
        return [row.value for row in self.filled]

    @value.setter
    def value(self, attendees: list[dict[str, Any]] | None) -> None:
        self.replace([AttendeeRow(attendee) for attendee in attendees or []])

    def _add(self) -> None:
        row = AttendeeRow()
        if self.append(row):
            row.email.focus()
