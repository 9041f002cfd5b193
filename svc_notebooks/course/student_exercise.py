"""An exercise as a student uses it: task, hints, begin, check and reset."""

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
"""The environment: the address of the grading service, the key for it, and what the data of exercises depend on."""


def default_seed() -> str:
    """What makes a student's data theirs: a seed of the environment, or their name at a JupyterHub, or nothing."""
    return os.environ.get(SEED) or os.environ.get("JUPYTERHUB_USER") or "0"


_outer_sessions: dict[str, Session | None] = {}
"""The session that was there before any exercise: what calls use again when none is under way."""


def _make_current(session: Session) -> None:
    """Let calls of the package use the session of an exercise."""
    session.owner = _outer_sessions
    previous = make_current(session)
    if previous is None or previous.owner is not _outer_sessions:
        _outer_sessions["outside"] = previous


class Said(str):
    """A text for people: Markdown in a notebook, itself elsewhere."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


class Exercise:
    """An exercise of the course: `task`, `hint()`, `begin()`, `check()`, `reset()`.

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
        """The best that `check()` has said."""

    @property
    def name(self) -> str:
        """What `course.exercise` takes."""
        return self._definition.name

    @property
    def task(self) -> Said:
        """What is to be done."""
        return Said(f"**Task:** {self._definition.text}")

    def __repr__(self) -> str:
        return f"<Exercise {self.name}: {self.outcome}>"

    def _repr_markdown_(self) -> str:
        return self.task

    def begin(self) -> Given:
        """Lay the exercise out afresh and give what it needs; calls of this package use its service from now on.

        What was asked before does not count any more, so this stands at the top of an answer.
        """
        self._end()
        self._environment = self._open_environment()
        workspace = Given(self._environment)
        self._session = workspace.session
        _make_current(workspace.session)
        print(workspace)
        return workspace

    def _open_environment(self) -> ExerciseEnvironment:
        if GRADER in os.environ:
            return RemoteEnvironment(self._definition, os.environ[GRADER], os.environ.get(KEY, ""))
        return LocalEnvironment(self._definition, default_seed() if self._seed is None else self._seed)

    def check(self) -> Verdict:
        """What the service saw since `begin()`: correct, not yet or not tried, and why."""
        if self._environment is None:
            message = f'Begin first: given = course.exercise("{self.name}").begin()'
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        result = self._environment.result()
        if self.outcome is not ExerciseOutcome.CORRECT:
            self.outcome = result.outcome
        return result

    def hint(self) -> Said:
        """The next hint; after the last one, the last one again."""
        hints = self._definition.hints
        self.hints_taken = min(self.hints_taken + 1, len(hints))
        return Said(f"**Hint {self.hints_taken} of {len(hints)}.** {hints[self.hints_taken - 1]}")

    def reset(self) -> None:
        """Forget what was done, the hints that were taken and the outcome; notebooks are not touched."""
        self._end()
        self.hints_taken = 0
        self.outcome = ExerciseOutcome.NOT_TRIED

    def _end(self) -> None:
        if self._environment is not None and self._session is not None:
            reset_current(self._session, _outer_sessions.get("outside"))
            self._environment.close()
        self._environment = self._session = None
