"""Defines an exercise with a task text, hints, a set-up function and a check, and the outcome of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .evidence import Evidence
    from .exercise_service import ExerciseService


class ExerciseOutcome(StrEnum):
    """The outcome of an exercise. The value is the text that is displayed."""

    CORRECT = "correct"
    NOT_YET = "not yet"
    NOT_TRIED = "not tried"


# The mark and the colour of each outcome.
_STYLES = {
    ExerciseOutcome.CORRECT: ("✔", "#2e7d32"),
    ExerciseOutcome.NOT_YET: ("✘", "#b26a00"),
    ExerciseOutcome.NOT_TRIED: ("…", "#757575"),
}


@dataclass(frozen=True, slots=True)
class PartResult:
    """The result of a part of a check: its name, its points, and whether the requirement is met."""

    name: str
    points: int
    met: bool

    def __str__(self) -> str:
        return f"{'+' if self.met else '-'} {self.name} ({self.points if self.met else 0} of {self.points})"


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The result of an exercise check: an outcome, a message, and the parts of the check with their points.

    A notebook displays it as a coloured note. An exercise that was not tried has no parts.

    >>> parts = PartResult("one upload", 2, True), PartResult("the name", 1, False)
    >>> Verdict(ExerciseOutcome.NOT_YET, "The file has no name.", parts)
    not yet: The file has no name.
      + one upload (2 of 2)
      - the name (0 of 1)
    """

    outcome: ExerciseOutcome
    message: str
    parts: tuple[PartResult, ...] = ()

    @property
    def solved(self) -> bool:
        return self.outcome is ExerciseOutcome.CORRECT

    @property
    def points(self) -> int:
        """The points of the parts whose requirements are met."""
        return sum(part.points for part in self.parts if part.met)

    @property
    def max_points(self) -> int:
        """The points of all parts, which is 0 if the exercise was not tried."""
        return sum(part.points for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        parts = [[part.name, part.points, part.met] for part in self.parts]
        return {"outcome": self.outcome.value, "message": self.message, "parts": parts}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Verdict:
        """Create a verdict from the JSON object of `to_json`.

        >>> Verdict.from_json(Verdict(ExerciseOutcome.CORRECT, "One upload.").to_json())
        correct: One upload.
        """
        parts = (PartResult(str(name), int(points), bool(met)) for name, points, met in value["parts"])
        return cls(ExerciseOutcome(value["outcome"]), str(value["message"]), tuple(parts))

    def __repr__(self) -> str:
        return "\n  ".join((f"{self.outcome}: {self.message}", *map(str, self.parts)))

    def _repr_html_(self) -> str:
        from ..notebook.display import tag

        mark, colour = _STYLES[self.outcome]
        style = f"border-left: 4px solid {colour}; margin: 0; padding: 2px 12px; max-width: 46em"
        heading = tag("strong", f"{mark} {self.outcome}.")
        points = f" {self.points} of {self.max_points} points." if self.parts else ""
        parts = [tag("ul", *(tag("li", str(part)) for part in self.parts))] if self.parts else []
        return str(tag("div", heading, points, " ", self.message, *parts, role="status", style=style))


class CheckFailedError(Exception):
    """Raised by a check for an unmet requirement, with a message about the requests or the service state."""


def require(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailedError(message)


def quantity(count: int, thing: str, things: str = "") -> str:
    """Return a number with a noun in the singular or plural. `things` is an irregular plural.

    >>> quantity(1, "file"), quantity(2, "file"), quantity(0, "copy", "copies")
    ('1 file', '2 files', 'no copies')
    """
    return f"{count or 'no'} {thing if count == 1 else things or f'{thing}s'}"


def list_text(names: Iterable[object], maximum: int = 5) -> str:
    """Return up to `maximum` names as an English list, followed by the number of further names.

    >>> list_text(["a", "b", "c"]), list_text([]), list_text("abcdefgh")
    ("'a', 'b' and 'c'", 'nothing', "'a', 'b', 'c', 'd', 'e' and 3 more")
    """
    texts = [repr(str(name)) for name in names]
    shown = texts[:maximum] + ([f"{len(texts) - maximum} more"] if len(texts) > maximum else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing"


# The environment variables for the address of the grading service, its key, and the seed of the exercises' data.
GRADER, KEY, SEED = "SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED"


# A value that an exercise provides to the student. The grading service sends such values as JSON.
Value: TypeAlias = "str | int | bytes | list[str] | dict[str, str] | dict[str, bytes]"

# A function that creates the files and events of an exercise in a new service.
#
# The function returns a dict from names to the values that are provided to the student.
SetUp: TypeAlias = "Callable[[ExerciseService, Random], dict[str, Value]]"


@dataclass(frozen=True, slots=True)
class Part:
    """A requirement of an exercise, with its points.

    `check` raises CheckFailedError if the requirement is not met. A text that it returns is a sentence about a correct
    solution. It does not rely on other parts: without the requests that it needs, it is not met. If it is not met and
    the last request of `operations` was refused, the message begins with this refusal.
    """

    name: str
    check: Callable[[Evidence], object]
    points: int = 1
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExerciseText:
    """The text of an exercise, from exercises/NAME.md.

    `solution` is Markdown: the code with its reasons, and answers to the questions of the notebook.
    """

    title: str
    task: str
    hints: tuple[str, ...]
    solution: str


@cache
def exercise_text(name: str) -> ExerciseText:
    """Read the text of an exercise. The lines of a paragraph are joined.

    >>> exercise_text("too-often").title
    'Rate limits'
    """
    text = Path(__file__).with_name("exercises").joinpath(f"{name}.md").read_text(encoding="utf-8")
    head, _, rest = text.removeprefix("# ").partition("\n\n## Hints\n\n* ")
    title, _, task = head.partition("\n\n")
    hints, _, solution = rest.partition("\n\n## Solution\n\n")
    joined = (" ".join(hint.split()) for hint in hints.split("\n* "))
    return ExerciseText(title, " ".join(task.split()), tuple(joined), solution.rstrip())


@dataclass(frozen=True, slots=True)
class ExerciseDefinition:
    """The definition of an exercise."""

    name: str
    set_up: SetUp
    parts: tuple[Part, ...]
    # The fields that a correct answer may change in the files and events of the set-up, such as "starred".
    changes: tuple[str, ...] = ()
    # The largest number of new files and events, or the name of the value that has a name for each.
    creates: int | str = 0
    # The fields that a correct answer may set in a new file or event, beside those that every answer may set.
    sets: tuple[str, ...] = ()
    # True if the student must write the HTTP requests. Requests of this package's client then fail the check.
    by_hand: bool = False

    @property
    def text(self) -> ExerciseText:
        return exercise_text(self.name)

    @property
    def max_points(self) -> int:
        """The points of all parts, and one for the part that every exercise has: nothing else is changed."""
        return 1 + sum(part.points for part in self.parts)
