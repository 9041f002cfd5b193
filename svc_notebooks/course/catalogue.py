"""The definitions of all exercises by name, in the order of the course, and the notebook path of each theme."""

from __future__ import annotations

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
