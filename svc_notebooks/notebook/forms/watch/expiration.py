"""The control for the expiration of a channel: default, after a time, or at a date and time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, LABEL, Field, describe, number_field, on_change, set_visible

if TYPE_CHECKING:
    from ....core.policy import Policy

DEFAULT, AFTER, AT = "default", "after", "at"
_CHOICES = (("Default", DEFAULT), ("After a time", AFTER), ("At a date and time", AT))
_UNITS = (("seconds", "s"), ("minutes", "m"), ("hours", "h"), ("days", "d"))
_SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}


class ChannelEnd(Field):
    """The expiration of a channel. Dates and times are in UTC."""

    def __init__(self) -> None:
        self.choice = widgets.Dropdown(options=_CHOICES, **describe("Expires", "When the channel ends"), style=LABEL)
        self.count = number_field(2, "after", "The lifetime of the channel")
        self.unit = widgets.Dropdown(
            options=_UNITS, value="h", **describe("unit", "The unit of the lifetime"), style=AUTO_WIDTH
        )
        self.day = widgets.DatePicker(**describe("on", "The date on which the channel ends, in UTC"), style=AUTO_WIDTH)
        self.clock = widgets.TimePicker(
            step=1, **describe("at (UTC)", "The time of day at which the channel ends, in UTC"), style=AUTO_WIDTH
        )
        super().__init__(self.choice, self.count, self.unit, self.day, self.clock)
        on_change(self._update_visibility, self.choice)
        self._update_visibility()

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of `watch_file`. Raises ValueError for a missing time."""
        if self.choice.value == AFTER:
            if self.count.value < 1:
                raise ValueError(f"Expires after {self.count.value}: enter a whole number of 1 or more.")
            return {"expires_in": f"{self.count.value}{self.unit.value}"}
        if self.choice.value == AT:
            if self.day.value is None or self.clock.value is None:
                raise ValueError("Enter the date and the time at which the channel ends.")
            moment = datetime.combine(self.day.value, self.clock.value.replace(tzinfo=None), UTC)
            return {"expiration": moment.isoformat()}
        return {}

    def explain_limits(self, policy: Policy | None, *, of_changes: bool) -> None:
        """Show the limits of the service. Only the policy of a sandbox is known."""
        if policy is None:
            self.show_hint("The service may end a channel sooner; the list of channels has the actual time.")
            return
        most = policy.max_changes_channel_lifetime if of_changes else policy.max_file_channel_lifetime
        lifetime = policy.channel_lifetime
        default = "Default: the channel does not end" if lifetime is None else f"Default: {_length_text(lifetime)}"
        watched = "the change log" if of_changes else "a file"
        self.show_hint(f"{default}. At most {_length_text(most)} for {watched}; a later end is shortened to that.")

    def _update_visibility(self) -> None:
        for control in (self.count, self.unit):
            set_visible(control, self.choice.value == AFTER)
        for control in (self.day, self.clock):
            set_visible(control, self.choice.value == AT)


def _length_text(seconds: float) -> str:
    """Return a duration in its largest whole unit.

    >>> _length_text(3600), _length_text(604800), _length_text(90)
    ('1 hour', '7 days', '90 seconds')
    """
    unit, size = next((unit, size) for unit, size in _SECONDS.items() if seconds % size == 0 or size == 1)
    count = seconds / size
    return f"{count:g} {unit}{'' if count == 1 else 's'}"
