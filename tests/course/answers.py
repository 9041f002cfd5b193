"""Runs an answer as a student would: below `begin()`, with whatever happens in it."""

from __future__ import annotations

import contextlib
import io

import svc_notebooks as svc
from svc_notebooks import course
from svc_notebooks.course.catalogue import solution_code
from svc_notebooks.course.definition import Verdict


def solution(name: str) -> str:
    return solution_code(name)[0]


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


def read(text: str, beginnings: dict[str, str]) -> dict[str, dict[str, str]]:
    """The code of each answer by exercise and idea. "== name" begins an exercise, "-- [beginning] idea" an answer."""
    answers: dict[str, dict[str, str]] = {}
    for exercise in text.split("\n== ")[1:]:
        name, *entries = exercise.split("\n-- ")
        for entry in entries:
            head, _, code = entry.partition("\n")
            beginning, bracket, rest = head.removeprefix("[").partition("] ")
            answers.setdefault(name, {})[rest or head] = f"{beginnings[beginning] if bracket else ''}{code}\n"
    return answers
