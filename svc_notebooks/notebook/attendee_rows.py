"""Who is invited: a row for each, with an address, a name, and whether it goes without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .field import Field, entry, heading, small_button, switch
from .labels import FREE
from .rows_choice import RowsChoice

_SHOWN = ("email", "displayName", "optional")


class AttendeeRow(Field):
    """One guest; what else is known of them (`more`) is kept as it is."""

    def __init__(self, attendee: Mapping[str, Any] | None = None) -> None:
        given = attendee or {}
        self.more = {key: value for key, value in given.items() if key not in _SHOWN}
        self.email = entry(
            "E-mail",
            "Where the invitation goes",
            value=str(given.get("email") or ""),
            hint="ada@svc.example",
            style=FREE,
        )
        self.name = entry(
            "Name",
            "What to call them; the service may know it already",
            value=str(given.get("displayName") or ""),
            style=FREE,
        )
        self.optional = switch("optional", "The event takes place without them too", value=bool(given.get("optional")))
        super().__init__(self.email, self.name, self.optional)

    @property
    def value(self) -> dict[str, Any]:
        """The guest as an entry of `attendees`."""
        said = {"email": self.email.value.strip(), "displayName": self.name.value.strip()}
        return {
            **{key: value for key, value in said.items() if value},
            **({"optional": True} if self.optional.value else {}),
            **self.more,
        }


class AttendeeRows(RowsChoice[AttendeeRow]):
    """All guests, and a button for one more."""

    def __init__(self) -> None:
        super().__init__(_is_blank)
        self.add = small_button("Add guest", "One more row", self._add)
        self.children = [Field(heading("Guests"), self.add), self.box, self.note]

    @property
    def value(self) -> list[dict[str, Any]]:
        """`attendees` of an event."""
        return [row.value for row in self.filled]

    @value.setter
    def value(self, attendees: list[dict[str, Any]]) -> None:
        self.clear()
        for one in attendees:
            self.append(AttendeeRow(one))

    def _add(self) -> None:
        row = AttendeeRow()
        if self.append(row):
            row.email.focus()


def _is_blank(row: AttendeeRow) -> bool:
    return not (row.email.value.strip() or row.name.value.strip() or row.more)
