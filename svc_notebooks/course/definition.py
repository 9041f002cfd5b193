"""Defines an exercise with a task text, hints, a set-up function and a check, and the outcome of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .evidence import Evidence
    from .exercise_service import ExerciseService


class ExerciseOutcome(Enum):
    """The outcome of an exercise. The value is the text that is displayed."""

    CORRECT = "correct"
    NOT_YET = "not yet"
    NOT_TRIED = "not tried"

    def __str__(self) -> str:
        return self.value


_MARKS = {ExerciseOutcome.CORRECT: "✔", ExerciseOutcome.NOT_YET: "✘", ExerciseOutcome.NOT_TRIED: "…"}
_COLOURS = {
    ExerciseOutcome.CORRECT: "#2e7d32",
    ExerciseOutcome.NOT_YET: "#b26a00",
    ExerciseOutcome.NOT_TRIED: "#757575",
}


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The result of an exercise check, with an outcome and a message. A notebook displays it as a coloured note.

    >>> Verdict(ExerciseOutcome.NOT_YET, "The service saw no upload.")
    not yet: The service saw no upload.
    """

    outcome: ExerciseOutcome
    message: str

    @property
    def solved(self) -> bool:
        return self.outcome is ExerciseOutcome.CORRECT

    def __repr__(self) -> str:
        return f"{self.outcome}: {self.message}"

    def _repr_html_(self) -> str:
        from ..notebook.html import tag

        style = f"border-left: 4px solid {_COLOURS[self.outcome]}; margin: 0; padding: 2px 12px; max-width: 46em"
        heading = tag("strong", f"{_MARKS[self.outcome]} {self.outcome}.")
        return str(tag("p", heading, " ", self.message, role="status", style=style))


class CheckFailedError(Exception):
    """Raised by a check for an unmet requirement, with a message about the requests or the service state."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailedError(message)


GRADER, KEY, SEED = "SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED"
"""The environment variables for the address of the grading service, its key, and the seed of the exercises' data."""


Value: TypeAlias = "str | int | bytes | list[str]"
"""A value that an exercise provides to the student. The grading service sends such values as JSON."""

SetUp: TypeAlias = "Callable[[ExerciseService, Random], dict[str, Value]]"
"""A function that creates the files and events of an exercise in a new service.

The function returns a dict from names to the values that are provided to the student.
"""

Check: TypeAlias = "Callable[[Evidence], str]"
"""A function that checks the evidence of an exercise.

The function returns a sentence about a correct solution, or raises CheckFailedError.
"""


@dataclass(frozen=True, slots=True)
class ExerciseDefinition:
    """The definition of an exercise. `answer` is the initial code of the student's cell, without `begin()`."""

    name: str
    theme: str
    title: str
    text: str
    hints: tuple[str, ...]
    set_up: SetUp
    check: Check
    answer: str = "# Your code here."
    changes: tuple[str, ...] = ()
    """The operations by which a correct answer changes the files of the set-up, such as "files.update"."""
    by_hand: bool = False
    """True if the student must write the HTTP requests. Requests of this package's client then fail the check."""
