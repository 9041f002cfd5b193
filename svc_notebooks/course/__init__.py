"""The exercises: each has a service of its own, and a check that reads the requests to this service.

from svc_notebooks import course

named = course.exercise("upload-with-a-name")  # shows the task
given = named.begin()                          # a fresh service; svc.upload and the others use it
named.check()                                  # correct, not yet or not tried, and what the service saw
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from .catalogue import DEFINITIONS, THEMES
from .student_exercise import Exercise as Exercise

if TYPE_CHECKING:
    from pandas import DataFrame

_exercises: dict[str, Exercise] = {}


def exercise(name: str, *, seed: str | int | None = None) -> Exercise:
    """The exercise of this name; asked again, the same one with what was done in it.

    Args:
        name: As `exercises()` lists it.
        seed: Other data for the same task, and a start from nothing. None: the environment's SVC_COURSE_SEED, or the
            user's name at a JupyterHub.

    Raises:
        ValueError: There is no such exercise; the message names one that is called alike.

    >>> from svc_notebooks import course
    >>> course.exercise("expired-session")
    <Exercise expired-session: not tried>
    """
    if name not in DEFINITIONS:
        near = get_close_matches(str(name), DEFINITIONS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no exercise {name!r}; {hint}course.exercises() lists them")
    if seed is not None:
        if name in _exercises:
            _exercises[name].reset()
        _exercises[name] = Exercise(DEFINITIONS[name], str(seed))
    return _exercises.setdefault(name, Exercise(DEFINITIONS[name]))


def exercises(theme: str | None = None) -> DataFrame:
    """All exercises, in their order, with what became of them in this kernel.

    Args:
        theme: Only those of a notebook, such as "uploads".

    Returns:
        One row each: name, title, notebook, outcome (str: correct, not yet, not tried), hints_taken (Int64).

    Raises:
        ValueError: There is no such theme.

    >>> from svc_notebooks import course
    >>> course.exercises("events")["name"].tolist()
    ['event-in-its-zone', 'series-with-an-exception']
    """
    from ..notebook.frames.frames import frame
    from ..notebook.frames.schemas import EXERCISES

    if theme is not None and theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}, not {theme!r}")
    names = [name for name, definition in DEFINITIONS.items() if theme in (None, definition.theme)]
    return frame(EXERCISES, [_row(name) for name in names])


def _row(name: str) -> dict[str, object]:
    definition, exercise = DEFINITIONS[name], _exercises.get(name)
    return {
        "name": name,
        "title": definition.title,
        "notebook": THEMES[definition.theme],
        "outcome": str(exercise.outcome) if exercise else "not tried",
        "hintsTaken": exercise.hints_taken if exercise else 0,
    }


def reset() -> None:
    """Forget what was done in all exercises of this kernel; no notebook is touched.

    >>> from svc_notebooks import course
    >>> course.reset()
    """
    for exercise in _exercises.values():
        exercise.reset()
    _exercises.clear()
