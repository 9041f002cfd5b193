"""Shows the next instances of a recurrence, and month tables in which the days of the instances are marked (E-21)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import islice

import ipywidgets as widgets

from ....core.events.instances import Occurrence
from ....core.events.series import Series
from ...events.event_days import DAY, day_of, event_days
from ...times import offset_text
from ...widgets.field import set_visible, small_button
from ...widgets.html import Markup, join_html, tag
from ...widgets.month_table import month_after, month_pictures

SHOWN = 8
_COUNTED = 500
_MONTHS = 2


class RecurrencePreview(widgets.VBox):  # type: ignore[misc]
    """A list of the next instances, two month tables, and buttons that show earlier and later months."""

    def __init__(self) -> None:
        self._series: Series | None = None
        self._start_day = self._month = date.min
        self.list, self.months = widgets.HTML(), widgets.HTML()
        self.earlier = small_button("Earlier", "Previous months", lambda: self._turn(-1))
        self.later = small_button("Later", "Next months", lambda: self._turn(1))
        self.turn = widgets.HBox([self.earlier, self.later])
        super().__init__([self.months, self.turn, self.list])
        self.add_class("svc-preview")
        set_visible(self, False)

    def show(self, series: Series | None) -> None:
        """Show the instances of a series. None hides the preview."""
        if series and day_of(series.start) != self._start_day:
            self._start_day = self._month = day_of(series.start)
        self._series = series
        set_visible(self, series is not None)
        if series:
            self.list.value = instance_list(series)
            self._turn(0)

    def _turn(self, months: int) -> None:
        self._month = month_after(self._month, months)
        if self._series:
            days = event_days(self._series, self._month, month_after(self._month, _MONTHS))
            self.months.value = month_pictures(self._month, _MONTHS, days)


def instance_list(series: Series) -> Markup:
    """Return HTML with the number of instances and a list of the first eight instances.

    >>> series = Series(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> instance_list(series).count("<li>")
    2
    """
    instances = list(islice(series.instances(), SHOWN + 1 if series.is_endless else _COUNTED + 1))
    lines = [
        tag("li", _instance_text(instance, before))
        for instance, before in zip(instances, [None, *instances], strict=False)
    ]
    return join_html(tag("p", _count_text(instances, series.is_endless), role="status"), tag("ol", *lines[:SHOWN]))


def _count_text(instances: Sequence[Occurrence], endless: bool) -> str:
    if endless and len(instances) > SHOWN:
        return f"No end; the first {SHOWN}:"
    if len(instances) > _COUNTED:
        return f"More than {_COUNTED} instances; the first {SHOWN}:"
    many = f"{len(instances)} instance{'' if len(instances) == 1 else 's'}"
    if len(instances) <= SHOWN:
        return f"{many}:"
    return f"{many}, the last on {day_of(instances[-1].start):%a %d %b %Y}; the first {SHOWN}:"


def _instance_text(instance: Occurrence, before: Occurrence | None) -> Markup:
    if not isinstance(instance.start, datetime) or not isinstance(instance.end, datetime):
        last = instance.end - DAY
        return join_html(f"{instance.start:%a %d %b %Y}" + (f" to {last:%a %d %b %Y}" if last > instance.start else ""))
    ends = (
        f"{instance.end:%H:%M}" if instance.end.date() == instance.start.date() else f"{instance.end:%a %d %b, %H:%M}"
    )
    offset = f" UTC{offset_text(instance.start)}"
    changed = before and isinstance(before.start, datetime) and before.start.utcoffset() != instance.start.utcoffset()
    shown = (
        tag("strong", offset, title="The offset from UTC has changed since the previous instance")
        if changed
        else offset
    )
    return join_html(f"{instance.start:%a %d %b %Y, %H:%M} to {ends}", tag("small", shown))
