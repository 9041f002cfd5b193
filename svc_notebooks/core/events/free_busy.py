"""Merges the times of events to busy periods, and finds the free slots between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def busy_periods(times: Iterable[tuple[int, int]], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the periods that the times cover between `begin` and `end`, in order. Periods that touch are merged.

    >>> list(busy_periods([(9, 11), (1, 3), (3, 4), (2, 3), (12, 13)], 2, 10))
    [(2, 4), (9, 10)]
    """
    start = stop = None
    for first, last in sorted((max(first, begin), min(last, end)) for first, last in times):
        if last <= first:
            continue
        if start is None or stop is None:
            start, stop = first, last
        elif first <= stop:
            stop = max(stop, last)
        else:
            yield start, stop
            start, stop = first, last
    if start is not None and stop is not None:
        yield start, stop


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
