"""The definitions of all exercises by name, in the order of the course, their solutions, and the notebooks."""

from .definition import ExerciseDefinition, exercise_text
from .themes import capstone, change_log, content, errors, events, messages, people, resumable, uploads

# The notebook and the exercises of each theme.
THEMES: dict[str, tuple[str, tuple[ExerciseDefinition, ...]]] = {
    "uploads": ("exercises/e1-uploads.ipynb", uploads.ALL),
    "resumable": ("exercises/e2-resumable.ipynb", resumable.ALL),
    "content": ("exercises/e3-content.ipynb", content.ALL),
    "trouble": ("exercises/e4-trouble.ipynb", errors.ALL),
    "people": ("exercises/e5-people.ipynb", people.ALL),
    "messages": ("exercises/e6-messages.ipynb", (*messages.ALL, *change_log.ALL)),
    "events": ("exercises/e7-events.ipynb", events.ALL),
    "capstone": ("exercises/e8-capstone.ipynb", capstone.ALL),
}

DEFINITIONS = {definition.name: definition for _, definitions in THEMES.values() for definition in definitions}


def solution_code(name: str) -> tuple[str, str]:
    """Return the code of the solution of an exercise, and the answers to the questions of its notebook as Markdown."""
    code, _, answers = exercise_text(name).solution.removeprefix("```python\n").partition("```\n")
    return code.rstrip(), answers.strip()
