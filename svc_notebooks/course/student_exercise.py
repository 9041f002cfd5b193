"""The class Exercise, which students use to read the task, take hints, and begin, check and reset an exercise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors.public_calls import public_methods
from ..notebook.current_session import make_current, reset_current
from .check_result import ExerciseOutcome, Verdict
from .environment import LocalEnvironment, RemoteEnvironment
from .variables import GRADER, KEY, SEED
from .workspace import Given

if TYPE_CHECKING:
    from ..client.session import Session
    from .definition import ExerciseDefinition
    from .environment import ExerciseEnvironment


def default_seed() -> str:
    """Return the seed (str), which is SVC_COURSE_SEED, or else the user's name at a JupyterHub, or else "0"."""
    return os.environ.get(SEED) or os.environ.get("JUPYTERHUB_USER") or "0"


_outer_sessions: dict[str, Session | None] = {}
"""The session that was current before the first exercise. It becomes current again when an exercise ends."""


class Said(str):
    """A str that a notebook displays as Markdown, and that other front ends display as plain text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


@public_methods
class Exercise:
    """An exercise of the course, with `task`, `hint()`, `begin()`, `check()` and `reset()`.

    >>> from svc_notebooks import course
    >>> named = course.exercise("upload-with-a-name", seed=1)
    >>> named.check()
    not tried: Begin first: given = course.exercise("upload-with-a-name").begin()
    """

    def __init__(self, definition: ExerciseDefinition, seed: str | None = None) -> None:
        self._definition = definition
        self._seed = seed
        self._environment: ExerciseEnvironment | None = None
        self._session: Session | None = None
        self.hints_taken = 0
        self.outcome = ExerciseOutcome.NOT_TRIED
        """The outcome of the last `check()`. Once the outcome is CORRECT, further checks do not change it."""

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self._definition.name

    @property
    def task(self) -> Said:
        """The text of the task as Markdown."""
        return Said(f"**Task:** {self._definition.text}")

    def __repr__(self) -> str:
        return f"<Exercise {self.name}: {self.outcome}>"

    def _repr_markdown_(self) -> str:
        return self.task

    def begin(self) -> Given:
        """Start a new service for the exercise, make its session the current session, and return the values.

        Earlier requests no longer count, so `begin()` is the first line of an answer.

        Returns:
            A `Given` object with the values as attributes, `session`, `clock` and `send()`.
        """
        self._end()
        if GRADER in os.environ:
            self._environment = RemoteEnvironment(self._definition, os.environ[GRADER], os.environ.get(KEY, ""))
        else:
            seed = default_seed() if self._seed is None else self._seed
            self._environment = LocalEnvironment(self._definition, seed)
        workspace = Given(self._environment)
        self._session = workspace.session
        self._session.owner = _outer_sessions
        previous = make_current(self._session)
        if previous is None or previous.owner is not _outer_sessions:
            _outer_sessions["outside"] = previous
        print(workspace)
        return workspace

    def check(self) -> Verdict:
        """Check the requests since `begin()`, and return the outcome (correct, not yet, not tried) with a message."""
        if self._environment is None:
            message = f'Begin first: given = course.exercise("{self.name}").begin()'
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        result = self._environment.result()
        if self.outcome is not ExerciseOutcome.CORRECT:
            self.outcome = result.outcome
        return result

    def hint(self) -> Said:
        """Return the next hint as text. If all hints were taken, return the last hint again."""
        hints = self._definition.hints
        self.hints_taken = min(self.hints_taken + 1, len(hints))
        return Said(f"**Hint {self.hints_taken} of {len(hints)}.** {hints[self.hints_taken - 1]}")

    def reset(self) -> None:
        """End the exercise, and reset its outcome and the number of hints taken. Notebooks are not changed."""
        self._end()
        self.hints_taken = 0
        self.outcome = ExerciseOutcome.NOT_TRIED

    def _end(self) -> None:
        if self._environment is not None and self._session is not None:
            reset_current(self._session, _outer_sessions.get("outside"))
            self._environment.close()
        self._environment = self._session = None
