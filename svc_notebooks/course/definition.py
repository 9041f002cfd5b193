"""The definition of an exercise: its task, its hints, its set-up and its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .evidence import Evidence
    from .exercise_service import ExerciseService

Value: TypeAlias = "str | int | bytes | list[str]"
"""What a student can be given: it travels as JSON when a teacher grades."""

SetUp: TypeAlias = "Callable[[ExerciseService, Random], dict[str, Value]]"
"""Creates what the exercise needs in a new service; returns the values for the student, by name."""

Check: TypeAlias = "Callable[[Evidence], str]"
"""Returns a sentence about what is right. Raises CheckFailedError."""


@dataclass(frozen=True, slots=True)
class ExerciseDefinition:
    """One exercise. `answer` is what its cell holds before anybody has solved it, below the line with `begin()`."""

    name: str
    theme: str
    title: str
    text: str
    hints: tuple[str, ...]
    set_up: SetUp
    check: Check
    answer: str = "# Your code here."
    by_hand: bool = False
    """Whether the requests are to be written, so that the client of this package does not count."""
