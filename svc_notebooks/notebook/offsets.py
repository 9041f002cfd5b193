"""How far a clock is from UTC, in a few letters."""

from __future__ import annotations

from datetime import datetime, timedelta

_MINUTE = timedelta(minutes=1)


def offset_text(moment: datetime) -> str:
    """The offset of an aware moment, with its minutes only where there are any.

    >>> from datetime import timezone
    >>> offset_text(datetime(2026, 11, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))))
    '+5:30'
    """
    minutes = round((moment.utcoffset() or timedelta()) / _MINUTE)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}"
