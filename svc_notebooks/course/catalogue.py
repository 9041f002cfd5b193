"""The definitions of all exercises by name, in the order of the course, their solutions, and the notebooks."""

from __future__ import annotations

from .definition import ExerciseDefinition, exercise_text
from .themes import capstone, change_log, content, errors, events, messages, people, resumable, uploads

THEMES = {
    "uploads": "exercises/e1-uploads.ipynb",
    "resumable": "exercises/e2-resumable.ipynb",
    "content": "exercises/e3-content.ipynb",
    "trouble": "exercises/e4-trouble.ipynb",
    "people": "exercises/e5-people.ipynb",
    "messages": "exercises/e6-messages.ipynb",
    "events": "exercises/e7-events.ipynb",
    "capstone": "exercises/e8-capstone.ipynb",
}

_THEME_MODULES = (uploads, resumable, content, errors, people, messages, change_log, events, capstone)

DEFINITIONS: dict[str, ExerciseDefinition] = {
    definition.name: definition for theme in _THEME_MODULES for definition in theme.ALL
}


def solution_code(name: str) -> tuple[str, str]:
    """Return the code of the solution of an exercise, and the answers to the questions of its notebook as Markdown."""
    code, _, answers = exercise_text(name).solution.removeprefix("```python\n").partition("```\n")
    return code.rstrip(), answers.strip()
