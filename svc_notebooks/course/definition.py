"""The class ExerciseDefinition, which defines an exercise with a task text, hints, a set-up function and a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .evidence import Evidence
    from .exercise_service import ExerciseService

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
