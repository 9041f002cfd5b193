"""A limit of work in steps instead of seconds, so that the work ends at the same step on every machine."""

from __future__ import annotations


class WorkExceeded(Exception):
    """The work took more steps than its budget allows."""


class WorkBudget:
    """Counts the steps of a computation, and raises WorkExceeded after `limit` steps. None means no limit.

    >>> work = WorkBudget(2)
    >>> work.spend(2)
    >>> work.spend()
    Traceback (most recent call last):
        ...
    svc_notebooks.core.work_budget.WorkExceeded: the work needs more than 2 steps
    """

    __slots__ = ("_limit", "done")

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self.done = 0

    def renew(self) -> None:
        """Begin to count from 0 again."""
        self.done = 0

    def spend(self, steps: int = 1) -> None:
        """Add steps to the total. Raises WorkExceeded if the total is larger than the limit."""
        self.done += steps
        if self._limit is not None and self.done > self._limit:
            raise WorkExceeded(f"the work needs more than {self._limit} steps")
