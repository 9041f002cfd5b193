"""The control for the guests of an event, in which a person types or pastes a list of e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...people import read_people
from ...widgets.field import Field, text_area
from .attendee_rows import AttendeeRow, AttendeeRows

_HELP = "E-mail addresses with commas, semicolons or line breaks between them, also with names"
_HINT = "ada@svc.example, Bob <bob@svc.example>"


def guest_text(guests: Sequence[Mapping[str, Any]]) -> str:
    """Return guests as a list for `read_people`.

    >>> guest_text([{"email": "ada@svc.example"}, {"email": "bob@svc.example", "displayName": "Bob"}])
    'ada@svc.example, Bob <bob@svc.example>'
    """
    return ", ".join(
        f"{_quoted(str(guest['displayName']))} <{guest['email']}>" if guest.get("displayName") else str(guest["email"])
        for guest in guests
    )


def _quoted(name: str) -> str:
    return f'"{name}"' if re.search("[,;@]", name) else name


class GuestList(Field):
    """A text field with a list of guests. The rows of guests with details are a control of their own, `details`.

    The kernel changes the text only if a program sets `value` or a person clicks a button, so that a person can go on
    typing.

    >>> guests = GuestList()
    >>> guests.list.value = "ada@svc.example; bob@"
    >>> guests.value, guests.rejected
    ([{'email': 'ada@svc.example'}], ['bob@'])
    """

    def __init__(self) -> None:
        self.list = text_area("Guests", _HELP, hint=_HINT, rows=2)
        self.details = AttendeeRows()
        super().__init__(self.list)
        self.details.take.on_click(lambda _button: self._move_to_rows())
        self.watch(self._show_count)

    @property
    def value(self) -> list[dict[str, Any]]:
        """The event field `attendees`: the guests of the list, then those of the rows that are not blank."""
        return [*self._listed(), *self.details.value]

    @value.setter
    def value(self, attendees: list[dict[str, Any]] | None) -> None:
        """Set the guests. If a guest has details that the list cannot show, all guests become rows."""
        guests = attendees or []
        listable = all(guest.keys() <= {"email", "displayName"} and guest.get("email") for guest in guests)
        self.details.value, self.list.value = [], guest_text(guests) if listable else ""
        if self.value != guests:
            self.details.value, self.list.value = guests, ""

    @property
    def rejected(self) -> list[str]:
        """The entries of the list that are not e-mail addresses."""
        return read_people(self.list.value)[1]

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the list or a row changes."""
        super().watch(changed)
        self.details.watch(changed)

    def entry_problems(self) -> Iterator[tuple[Field, str]]:
        """Yield a problem if entries of the list are not e-mail addresses."""
        rejected = self.rejected
        if len(rejected) == 1:
            yield self, f"{rejected[0]} is not an e-mail address. Correct or remove it."
        elif rejected:
            yield self, f"{', '.join(rejected)} are not e-mail addresses. Correct or remove them."

    def field_at(self, path: str) -> Field:
        """Return the field for a problem at a path such as attendees[1].email, which is this field or a row."""
        match = re.search(r"\[(\d+)\]", path)
        index = int(match[1]) - len(self._listed()) if match else -1
        return self if index < 0 else self.details.field(index)

    def _listed(self) -> list[dict[str, str]]:
        """Return the guests of the list, without repetitions and without guests that have a row."""
        taken = {str(guest.get("email", "")).casefold() for guest in self.details.value}
        guests = {guest["email"].casefold(): guest for guest in reversed(read_people(self.list.value)[0])}
        return [guest for key, guest in reversed(guests.items()) if key not in taken]

    def _move_to_rows(self) -> None:
        """Give each guest of the list a row. Other entries stay in the list."""
        guests = self._listed()
        self.list.value = ", ".join(self.rejected)
        self.details.replace([*self.details.rows, *(AttendeeRow(guest) for guest in guests)])
        if not guests:
            self.details.note.show_problems(["The list of guests is empty. Enter addresses there, or add a guest."])

    def _show_count(self) -> None:
        count = len(self.value)
        self.show_hint(f"{count} guests" if count > 1 else "")
