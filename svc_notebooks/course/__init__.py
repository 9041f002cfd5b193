"""The exercises of the course. Each exercise has its own service and a check of the requests to this service.

from svc_notebooks import course

named = course.exercise("upload-with-a-name")  # displays the task
given = named.begin()                          # starts a new service, which svc.upload and other functions then use
named.check()                                  # returns "correct", "not yet" or "not tried" with a message
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..core.errors.public_calls import public

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..forms.prediction import Prediction
    from .student_exercise import Exercise as Exercise

_exercises: dict[str, Exercise] = {}


def __getattr__(name: str) -> object:
    """Import `Exercise` when it is first used (PEP 562): `grade` starts processes before it imports the exercises."""
    if name == "Exercise":
        from .student_exercise import Exercise

        return Exercise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@public
def exercise(name: str, *, seed: str | int | None = None) -> Exercise:
    """Return the exercise with this name. Further calls without `seed` return the same object.

    Args:
        name: The name of an exercise, from the column `name` of `exercises()`.
        seed: A seed for the data of the task. A seed resets the exercise. None: the environment variable
            SVC_COURSE_SEED, or else the user's name at a JupyterHub.

    Returns:
        An `Exercise` with `task`, `hint()`, `begin()`, `check()`, `solution()` and `reset()`.

    Raises:
        ValueError: There is no exercise with this name. The message suggests the most similar name.

    >>> from svc_notebooks import course
    >>> course.exercise("expired-session")
    <Exercise expired-session: not tried>
    """
    from .catalogue import DEFINITIONS
    from .student_exercise import Exercise

    if name not in DEFINITIONS:
        raise ValueError(f"there is no exercise {name!r}{_nearest(name, DEFINITIONS)}; course.exercises() lists them")
    if seed is not None:
        if name in _exercises:
            _exercises[name].reset()
        _exercises[name] = Exercise(DEFINITIONS[name], str(seed))
    return _exercises.setdefault(name, Exercise(DEFINITIONS[name]))


@public
def exercises(theme: str | None = None) -> DataFrame:
    """List the exercises in the order of the course, with the outcome of each exercise in this kernel.

    Args:
        theme: A theme, such as "uploads", which selects the exercises of one notebook. None: all exercises.

    Returns:
        One row for each exercise: name, title, notebook (str), outcome (str: correct, not yet, not tried), points and
        max_points (Int64, the points of the best check and of all parts), hints_taken (Int64, number).

    Raises:
        ValueError: There is no theme with this name.

    >>> from svc_notebooks import course
    >>> course.exercises("events")["name"].tolist()
    ['event-in-its-zone', 'series-with-an-exception', 'two-programs-one-event']
    """
    from ..notebook.frames import EXERCISES, frame
    from .catalogue import THEMES

    if theme is not None and theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}, not {theme!r}")
    rows = [
        {
            "name": definition.name,
            "title": definition.text.title,
            "notebook": notebook,
            "outcome": str(exercise(definition.name).outcome),
            "points": exercise(definition.name).points,
            "maxPoints": definition.max_points,
            "hintsTaken": exercise(definition.name).hints_taken,
        }
        for name, (notebook, definitions) in THEMES.items()
        if theme in (None, name)
        for definition in definitions
    ]
    return frame(EXERCISES, rows)


@public
def predict(name: str) -> Prediction:
    """Return the possible answers to a question of a lesson, as radio buttons.

    Args:
        name: The name of a question, as in the cells of the lessons.

    Returns:
        A `Prediction`. Its attribute `first` is the first answer that was chosen, with `text`, `why` and `right`. The
        service of a class counts it without your name, if this kernel is connected to one (docs/class.md).

    Raises:
        ValueError: There is no question with this name. The message suggests the most similar name.

    >>> from svc_notebooks import course
    >>> course.predict("http-range")
    <Prediction http-range: not chosen yet>
    """
    import json
    from pathlib import Path

    from ..forms.prediction import Option, Prediction
    from ..notebook.class_control import report_prediction

    questions = json.loads(Path(__file__).with_name("predictions.json").read_text(encoding="utf-8"))
    if name not in questions:
        raise ValueError(f"there is no question {name!r}{_nearest(name, questions)}")
    return Prediction(name, [Option(**option) for option in questions[name]], report_prediction)


def _nearest(name: object, names: Iterable[str]) -> str:
    near = get_close_matches(str(name), names, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def reset() -> None:
    """Reset all exercises of this kernel, with their requests, hints and outcomes. Notebooks are not changed.

    >>> from svc_notebooks import course
    >>> course.reset()
    """
    for exercise in _exercises.values():
        exercise.reset()
    _exercises.clear()
