"""All exercises by their names, in the order in which a person meets them, and the notebook of each theme."""

from __future__ import annotations

from .definition import Definition
from .themes import content, events, messages, people, resumable, trouble, uploads

THEMES = {
    "uploads": "exercises/e1-uploads.ipynb",
    "resumable": "exercises/e2-resumable.ipynb",
    "content": "exercises/e3-content.ipynb",
    "trouble": "exercises/e4-trouble.ipynb",
    "people": "exercises/e5-people.ipynb",
    "messages": "exercises/e6-messages.ipynb",
    "events": "exercises/e7-events.ipynb",
}

_ROOMS = (uploads, resumable, content, trouble, people, messages, events)

DEFINITIONS: dict[str, Definition] = {one.name: one for room in _ROOMS for one in room.ALL}
