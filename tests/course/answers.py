"""Runs an answer as a student would: below `begin()`, with whatever happens in it."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import svc_notebooks as svc
from svc_notebooks import course
from svc_notebooks.course.definition import Verdict

SOLUTIONS = Path(__file__).with_name("solutions")


def solution(name: str) -> str:
    return (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8")


def answered(name: str, code: str, seed: str | int = 0) -> Verdict:
    """What the check says of an answer; its exceptions are the student's, and stay there."""
    exercise = course.exercise(name, seed=seed)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            given = exercise.begin()
            with contextlib.suppress(Exception):
                exec(compile(code, name, "exec"), {"svc": svc, "course": course, "given": given})
        return exercise.check()
    finally:
        exercise.reset()
