"""An exercise as a value: its task, its hints, what is laid out for it and how it is checked."""

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

LayOut: TypeAlias = "Callable[[ExerciseService, Random], dict[str, Value]]"
"""Put into a new world what the exercise needs; what the student is given, by name."""

Check: TypeAlias = "Callable[[Evidence], str]"
"""What is right about the answer, in a sentence. Raises NotYet."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One exercise. `answer` is what its cell holds before anybody has solved it, below the line with `begin()`."""

    name: str
    theme: str
    title: str
    text: str
    hints: tuple[str, ...]
    lay_out: LayOut
    check: Check
    answer: str = "# Your code here."
    by_hand: bool = False
    """Whether the requests are to be written, so that the client of this package does not count."""
