"""A text field that finds time zones by a part of their name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache

import ipywidgets as widgets

from .....core.time_zones import zone, zone_names
from ....times import offset_text
from ....widgets.field import LABEL, Field, describe
from .local_times import read_offset

_MAX_MATCHES = 60
_NO_MATCH = "No time zone has this text in its name."
_OFFSET = "Sent as an offset in the date-time, without a time zone."


def matching_zones(text: str, names: Iterable[str]) -> list[str]:
    """Return the zone names that contain every word of the text. Return an empty list for an empty text.

    An exact match comes first, then the names in which a word begins with the first word of the text, then all others.

    >>> matching_zones("new york", ["America/New_York", "Europe/Berlin"])
    ['America/New_York']
    """
    words = _normalize(text).split()
    if not words:
        return []
    matches = [name for name in names if all(word in _normalize(name) for word in words)]

    def rank(name: str) -> tuple[bool, bool, str]:
        parts = _normalize(name).split()
        return parts != words, not any(part.startswith(words[0]) for part in parts), name

    return sorted(matches, key=rank)


@lru_cache(maxsize=2048)  # each letter that is typed compares all names of zones
def _normalize(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return kept.replace("_", " ").replace("/", " ").replace("-", " ")


class ZoneChoice(Field):
    """A text field for a time zone or a part of its name, and a list of the matching time zones."""

    def __init__(
        self,
        value: str,
        label: str = "Time zone",
        tooltip: str = "Type part of a name, as in berlin or new york; Enter takes the first of the list",
        hint: str = "berlin, new york, utc …",
    ) -> None:
        self._updating = False
        self._entered = ""
        self._picked = ""
        self.moment: datetime | None = None
        self.text = widgets.Text(
            value=value,
            **describe(label, tooltip),
            placeholder=hint,
            style=LABEL,
        )
        self.matches = widgets.Select(rows=6, **describe("Zones found", "The time zones with this text in their name"))
        self.matches.add_class("svc-zones")
        self.matches.add_class("svc-over")
        super().__init__(self.text, self.matches)
        self.add_class("svc-zone")
        self.text.observe(lambda _change: self._on_text(), "value")
        self.text.on_msg(self._on_message)
        self.matches.observe(lambda _change: self._pick(), "value")
        self._search()

    @property
    def value(self) -> str:
        """The text without surrounding spaces. The text is not always a valid time zone."""
        return str(self.text.value).strip()

    @value.setter
    def value(self, name: str | None) -> None:
        self.text.value = name or ""

    def watch(self, changed: Callable[[], None]) -> None:
        self.text.observe(lambda _change: changed(), "value")

    def show_offset(self, moment: datetime | None) -> None:
        """Show the UTC offset of `moment` as a hint, and the offset of each listed zone at this moment."""
        self.moment = moment or self.moment
        self._search()
        self.show_hint(f"UTC{offset_text(moment)} at the start" if moment else "")

    def _search(self) -> None:
        known = self.value in zone_names()
        matching = matching_zones(self.value, zone_names())
        (self.matches.add_class if matching and not known else self.matches.remove_class)("svc-open")
        if self._updating:
            return
        self._updating = True
        self.matches.options = [(self._line(name), name) for name in matching[:_MAX_MATCHES]]
        self.matches.index = None
        self._updating = False
        if self.value and not matching:
            self.show_hint(_OFFSET if read_offset(self.value) else _NO_MATCH)

    def _line(self, name: str) -> str:
        if self.moment is None:
            return name
        try:
            return f"{name}  (UTC{offset_text(self.moment.astimezone(zone(name)))})"
        except OverflowError:  # an incomplete year at the end of the range of dates
            return name

    def _pick(self) -> None:
        """Copy the selected zone into the text field, and keep the list for arrow keys."""
        if self._updating or not self.matches.value:
            return
        if self.value not in zone_names():
            self._entered = self.value
        self._picked = self.matches.value
        self._updating = True
        self.text.value = self.matches.value
        self._updating = False

    def _on_text(self) -> None:
        """Search for the text. If its last letters arrive after the choice of a zone, keep that choice.

        While the kernel is busy, a browser sends the last letters later in one message, after Enter or the selection.
        """
        self._search()
        if self.value in zone_names():
            return
        entered, picked = self._entered, self._picked
        self._entered = self._picked = ""
        if not entered or not self.value.startswith(entered):
            return
        if picked in [name for _, name in self.matches.options]:
            self.matches.value = picked
        else:
            self.take_first()

    def _on_message(self, _widget: widgets.Widget, content: dict[str, object], _buffers: object) -> None:
        if content.get("event") == "submit":
            self._entered, self._picked = self.value, ""
            self.take_first()

    def take_first(self) -> None:
        """Set the text to the first zone in the list, as the Enter key does."""
        first = next((value for _, value in self.matches.options), None)
        if first:
            self.text.value = first
