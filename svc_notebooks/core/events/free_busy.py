"""Merges the times of events to busy periods, and finds the free slots between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def busy_periods(times: Iterable[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    """Return the periods that the times cover between `begin` and `end`, in order. Periods that touch are merged.

    >>> busy_periods([(9, 11), (1, 3), (3, 4), (2, 3), (12, 13)], 2, 10)
    [(2, 4), (9, 10)]
    """
    periods: list[tuple[int, int]] = []
    for first, last in sorted((max(first, begin), min(last, end)) for first, last in times):
        if periods and first <= periods[-1][1]:
            periods[-1] = (periods[-1][0], max(periods[-1][1], last))
        elif first < last:
            periods.append((first, last))
    return periods


def free_slots(busy: Iterable[tuple[int, int]], opening: tuple[int, int], length: int) -> Iterator[tuple[int, int]]:
    """Yield the slots of a length in an opening that no busy time overlaps. The first begins with each free period.

    >>> list(free_slots([(9, 10), (14, 15)], (8, 18), 2))
    [(10, 12), (12, 14), (15, 17)]
    """
    begin, end = opening
    for busy_begin, busy_end in (*busy_periods(busy, begin, end), (end, end)):
        while begin + length <= busy_begin:
            yield begin, begin + length
            begin += length
        begin = busy_end
