"""Controls of an event with a few values: guest permissions, visibility, transparency, invitations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from ...widgets.field import LABEL, Field, checkbox, heading, labelled, on_change

_GUESTS = (
    ("guestsCanInviteOthers", "invite others", True),
    ("guestsCanSeeOtherGuests", "see who else is invited", True),
    ("guestsCanModify", "change the event", False),
)
"""Field, what guests may do, and the default of the interface."""

_VISIBILITY = (
    ("as the calendar has it", "default"),
    ("public", "public"),
    ("private", "private"),
    ("confidential", "confidential"),
)
_TRANSPARENCY = (("busy", "opaque"), ("free", "transparent"))
_INVITATIONS = (
    ("as the service decides", ""),
    ("to all guests", "all"),
    ("to guests outside only", "externalOnly"),
    ("to nobody", "none"),
)


class GuestSwitches(Field):
    """What guests may do; `value` has only what differs from the defaults of the interface."""

    def __init__(self) -> None:
        self.switches = {
            name: checkbox(words, f"Guests may {words}", value=default) for name, words, default in _GUESTS
        }
        super().__init__(heading("Guests may"), *self.switches.values())

    @property
    def value(self) -> dict[str, bool]:
        """Fields of an event."""
        return {name: self.switches[name].value for name, _, default in _GUESTS if self.switches[name].value != default}

    @value.setter
    def value(self, event: Mapping[str, Any]) -> None:
        for name, _, default in _GUESTS:
            self.switches[name].value = default if event.get(name) is None else bool(event[name])

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever one is switched."""
        on_change(changed, *self.switches.values())


class Choice(Field):
    """One of a few values; the first of them is what holds when nothing is said, and `value` is then None."""

    def __init__(self, options: tuple[tuple[str, Any], ...], label: str, tooltip: str) -> None:
        self._default, self._known = options[0][1], {value for _, value in options}
        self.chooser = widgets.Dropdown(options=options, **labelled(label, tooltip), style=LABEL)
        super().__init__(self.chooser)

    @property
    def value(self) -> Any:
        """The value, where it is not what holds anyway."""
        chosen = self.chooser.value
        return None if chosen == self._default else chosen

    @value.setter
    def value(self, chosen: Any) -> None:
        self.chooser.value = chosen if chosen in self._known else self._default


def visibility() -> Choice:
    """Who sees the event."""
    return Choice(_VISIBILITY, "Visibility", "Who sees what the event is about")


def transparency() -> Choice:
    """Whether the event takes time."""
    return Choice(_TRANSPARENCY, "Shows as", "Whether the event blocks its time in the calendar")


def invitations() -> Choice:
    """Whom the service writes to."""
    return Choice(_INVITATIONS, "Invitations", "Who is sent a mail about the event")
