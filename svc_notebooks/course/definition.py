"""The definition of an exercise, with its task, hints, set-up and check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .evidence import Evidence
    from .exercise_service import ExerciseService

Value: TypeAlias = "str | int | bytes | list[str]"
"""A value that an exercise gives to the student; it is sent as JSON when a teacher grades."""

SetUp: TypeAlias = "Callable[[ExerciseService, Random], dict[str, Value]]"
"""Creates the files and events of the exercise in a new service, and returns the values for the student by name."""

Check: TypeAlias = "Callable[[Evidence], str]"
"""Returns a sentence about the correct solution, or raises CheckFailedError."""


@dataclass(frozen=True, slots=True)
class ExerciseDefinition:
    """An exercise. `answer` is the text of its cell before it is solved, below the line with `begin()`."""

    name: str
    theme: str
    title: str
    text: str
    hints: tuple[str, ...]
    set_up: SetUp
    check: Check
    answer: str = "# Your code here."
    by_hand: bool = False
    """Whether the student must write the requests, so that requests of this package's client do not count."""
