"""Finds the name that a user probably meant by a name that does not exist, for error messages.

Each table of suggestions.json has a row for what this package has, with the names that other libraries use for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from difflib import get_close_matches
from importlib.resources import files


def _by_name(rows: dict[str, str]) -> dict[str, str]:
    """Return a dict from each of the names in the values of a table to its key."""
    return {name: key for key, names in rows.items() for name in names.split()}


_TABLES = json.loads((files(__package__) / "suggestions.json").read_text("utf-8"))

# The arguments of this package, some with a value. The first one that a function has is suggested.
ARGUMENTS: dict[str, str] = _TABLES["ARGUMENTS"]

# Other names of arguments that a function accepts, because they can mean nothing else.
ALIASES: dict[str, dict[str, str]] = _TABLES["ALIASES"]

# The argument that users of a function most often give without its name, with a value.
BY_NAME = {"free_times": "within=(start, end)"}

# The arguments that one function does not have, as a pattern, and what to do instead.
NOT_ARGUMENTS_OF: dict[str, tuple[str, str]] = _TABLES["NOT_ARGUMENTS_OF"]

# The arguments that no function of this package has, or few of them have, and what to use instead.
NOT_ARGUMENTS = _by_name(_TABLES["NOT_ARGUMENTS"])

# The names of functions of other libraries, and the equivalent calls of this package.
#
# `lab` is a sandbox, and `rx` a receiver.
CALLS = _by_name(_TABLES["CALLS"])

# The names of what the service does not have, and what to do instead.
MISSING = _by_name(_TABLES["MISSING"])

# The attributes that users of other libraries expect of an object, and what to use instead.
ATTRIBUTES = {kind: _by_name(rows) for kind, rows in _TABLES["ATTRIBUTES"].items()}

# The attributes of a sandbox and of its clock, and what a program does at another service.
ONLY_IN_A_SANDBOX = _by_name(_TABLES["ONLY_IN_A_SANDBOX"])


def missing_attribute(kind: str, owner: object, name: str, hint: str = "") -> AttributeError:
    """Return the error for an attribute that an object does not have, with a hint, if there is one.

    `kind` is a key of `ATTRIBUTES`, and `hint` is used if neither that table nor a similar name has one.

    >>> missing_attribute("a session", "", "post")
    AttributeError("a session has no attribute 'post'; did you mean call(method, path) or lab.send(method, path)?")
    """
    if name.startswith("_"):  # also `__dict__`, which dir() reads
        return AttributeError(f"{kind} has no attribute {name!r}", name=name, obj=owner)
    known = [public for public in dir(owner) if not public.startswith("_")]
    near = ATTRIBUTES[kind].get(name) or nearest_name(name, known, similarity=0.75)
    listed = f"; it has {', '.join(known)}" if len(known) <= MAX_LISTED else ""
    text = f"; did you mean {near}?" if near else hint or listed
    return AttributeError(f"{kind} has no attribute {name!r}{text}", name=name, obj=owner)


# The most names that an error message lists.
MAX_LISTED = 25


def nearest_name(name: str, known: Collection[str], *, similarity: float = 0.6) -> str | None:
    """Return the name in `known` that is the same in another style, a synonym or similar. Return None without one.

    A synonym may have a value, as in "with_='anyone'".

    `similarity` is the smallest ratio of `difflib.get_close_matches`.

    >>> nearest_name("mimeType", ["name", "mime_type"]), nearest_name("timezone", ["time_zone"])
    ('mime_type', 'time_zone')
    >>> nearest_name("filename", ["name"]), nearest_name("folder", ["parent"]), nearest_name("xyz", ["name"])
    ('name', 'parent', None)
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(" ", "_").lower()
    letters = snake.replace("_", "")
    same = [candidate for candidate in known if candidate.replace("_", "").lower() == letters]
    synonyms = [text for text, names in ARGUMENTS.items() if text.partition("=")[0] in known and snake in names.split()]
    return next(iter([*same, *synonyms, *get_close_matches(snake[:60], known, 1, similarity)]), None)
