"""The result of an exercise check, which is an outcome (correct, not yet or not tried) with a message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
        from ..notebook.widgets.html import tag

        style = f"border-left: 4px solid {_COLOURS[self.outcome]}; margin: 0; padding: 2px 12px; max-width: 46em"
        heading = tag("strong", f"{_MARKS[self.outcome]} {self.outcome}.")
        return tag("p", heading, " ", self.message, role="status", style=style)


class CheckFailedError(Exception):
    """Raised by a check for an unmet requirement, with a message about the requests or the service state."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailedError(message)
