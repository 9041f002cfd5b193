"""The choice of a calendar for an event, among those that the user can write to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....core.errors.errors import SvcError
from ....core.time_zones import UTC_NAME
from ...widgets.field import LABEL, Field, labelled

if TYPE_CHECKING:
    from ....client.session import Session

_PRIMARY = "primary"
_WRITABLE = ("owner", "writer", "writerWithoutPrivateAccess")


class CalendarChoice(Field):
    """The calendars; `value` is None for the person's own, which is what holds anyway."""

    def __init__(self) -> None:
        self._zones: dict[str, str] = {}
        self.chooser = widgets.Dropdown(
            options=[("my own", _PRIMARY)], **labelled("Calendar", "The calendar that the event goes into"), style=LABEL
        )
        super().__init__(self.chooser)

    @property
    def value(self) -> str | None:
        """The id of the calendar."""
        chosen = str(self.chooser.value)
        return None if chosen == _PRIMARY else chosen

    @property
    def time_zone(self) -> str:
        """The zone of the calendar, as far as it is known."""
        return self._zones.get(str(self.chooser.value), UTC_NAME)

    def read(self, session: Session) -> None:
        """Fill the list; what was chosen stays chosen while it is there."""
        from ....client.events.events import list_calendars

        try:
            calendars = [calendar for calendar in list_calendars(session) if calendar.get("accessRole") in _WRITABLE]
        except SvcError as error:
            self.show_hint(f"The calendars cannot be listed: {error}")
            return
        before = self.chooser.value
        self._zones = {_id(calendar): str(calendar.get("timeZone") or UTC_NAME) for calendar in calendars}
        others = [
            (str(calendar.get("summary") or calendar["id"]), _id(calendar))
            for calendar in calendars
            if _id(calendar) != _PRIMARY
        ]
        self.chooser.options = [("my own", _PRIMARY), *others]
        self.chooser.value = before if before in self._zones else _PRIMARY


def _id(calendar: Mapping[str, Any]) -> str:
    return _PRIMARY if calendar.get("primary") else str(calendar["id"])
