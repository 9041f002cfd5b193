"""The definitions of all exercises by name, in the order of the course, their solutions, and the notebooks."""

from __future__ import annotations

from pathlib import Path

from .definition import ExerciseDefinition
from .themes import (
    change_log,
    content,
    errors,
    events,
    messages,
    people,
    repeated_messages,
    resumable,
    uploads,
)

THEMES = {
    "uploads": "exercises/e1-uploads.ipynb",
    "resumable": "exercises/e2-resumable.ipynb",
    "content": "exercises/e3-content.ipynb",
    "trouble": "exercises/e4-trouble.ipynb",
    "people": "exercises/e5-people.ipynb",
    "messages": "exercises/e6-messages.ipynb",
    "events": "exercises/e7-events.ipynb",
}

_THEME_MODULES = (
    uploads,
    resumable,
    content,
    errors,
    people,
    messages,
    repeated_messages,
    change_log,
    events,
)

DEFINITIONS: dict[str, ExerciseDefinition] = {
    definition.name: definition for theme in _THEME_MODULES for definition in theme.ALL
}


def solution_text(name: str) -> str:
    """Return the solution of an exercise as Markdown: the code with its reasons, and answers to the questions."""
    return (Path(__file__).with_name("solutions") / f"{name}.md").read_text(encoding="utf-8")


def solution_code(name: str) -> tuple[str, str]:
    """Return the code of the solution of an exercise, and the answers to the questions of its notebook as Markdown."""
    code, _, answers = solution_text(name).removeprefix("```python\n").partition("```\n")
    return code.rstrip(), answers.strip()
