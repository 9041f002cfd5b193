"""The exercise object of a student, with the task, hints, begin, check and reset."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..notebook.current_session import make_current, reset_current
from .check_result import ExerciseOutcome, Verdict
from .environment import LocalEnvironment, RemoteEnvironment
from .workspace import Given

if TYPE_CHECKING:
    from ..client.session import Session
    from .definition import ExerciseDefinition
    from .environment import ExerciseEnvironment

GRADER, KEY, SEED = "SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED"
"""Environment variables with the address of the grading service, its key, and the seed of the exercises' data."""


def default_seed() -> str:
    """Return the seed of a student's data from the environment, or from their name at a JupyterHub."""
    return os.environ.get(SEED) or os.environ.get("JUPYTERHUB_USER") or "0"


_outer_sessions: dict[str, Session | None] = {}
"""The session that was current before any exercise, which becomes current again after the last one."""


class Said(str):
    """A text that is displayed as Markdown in a notebook, and as it is elsewhere."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


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
        """The best outcome of `check()`."""

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self._definition.name

    @property
    def task(self) -> Said:
        """The text of the task."""
        return Said(f"**Task:** {self._definition.text}")

    def __repr__(self) -> str:
        return f"<Exercise {self.name}: {self.outcome}>"

    def _repr_markdown_(self) -> str:
        return self.task

    def begin(self) -> Given:
        """Start the exercise with a new service, and return its values. Calls of this package use this service.

        Earlier requests do not count any more, so this is the first line of an answer.
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
        """Check the requests since `begin()`, and return the outcome with a message."""
        if self._environment is None:
            message = f'Begin first: given = course.exercise("{self.name}").begin()'
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        result = self._environment.result()
        if self.outcome is not ExerciseOutcome.CORRECT:
            self.outcome = result.outcome
        return result

    def hint(self) -> Said:
        """Return the next hint, or the last one again."""
        hints = self._definition.hints
        self.hints_taken = min(self.hints_taken + 1, len(hints))
        return Said(f"**Hint {self.hints_taken} of {len(hints)}.** {hints[self.hints_taken - 1]}")

    def reset(self) -> None:
        """Forget the requests, the number of hints taken and the outcome. Notebooks are not changed."""
        self._end()
        self.hints_taken = 0
        self.outcome = ExerciseOutcome.NOT_TRIED

    def _end(self) -> None:
        if self._environment is not None and self._session is not None:
            reset_current(self._session, _outer_sessions.get("outside"))
            self._environment.close()
        self._environment = self._session = None
