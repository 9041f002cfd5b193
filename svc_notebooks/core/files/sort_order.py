"""Parses the parameter `orderBy`. The store translates the result to SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors.catalogue import refuse
from ..suggestions import nearest_name

SORT_KEYS = (
    "createdTime", "folder", "modifiedByMeTime", "modifiedTime", "name", "name_natural", "quotaBytesUsed",
    "recency", "sharedWithMeTime", "starred", "viewedByMeTime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SortKey:
    """A sort key of the parameter `orderBy`, ascending unless `descending` is True."""

    name: str
    descending: bool = False


def parse_order(text: str) -> tuple[SortKey, ...]:
    """Parse the parameter `orderBy` into sort keys. Raises ApiError for an unknown or repeated key.

    >>> parse_order("folder,modifiedTime desc")
    (SortKey(name='folder', descending=False), SortKey(name='modifiedTime', descending=True))
    """
    keys: dict[str, SortKey] = {}
    duplicates: list[str] = []
    for item in text.split(",") if text.strip() else ():
        name, *direction = item.split() or [""]
        if problem := sort_key_problem(name, direction, SORT_KEYS):
            raise refuse("invalidValue", name="orderBy", message=problem)
        if name in keys:
            duplicates.append(name)
        keys[name] = SortKey(name, direction == ["desc"])
    if duplicates:  # reported only after every key was checked
        raise refuse("duplicateSortKeys", key=duplicates[0])
    return tuple(keys.values())


def sort_key_problem(name: str, direction: Sequence[str], keys: Collection[str]) -> str | None:
    """Return the problem of a sort key and the words after it, or None if the key is valid.

    >>> sort_key_problem("modifiedTme", ["desc"], SORT_KEYS)
    "'modifiedTme' is not a sort key; did you mean modifiedTime?"
    """
    if name not in keys:
        near = nearest_name(name[:60], keys)
        hint = f"did you mean {near}?" if near else f"the keys are {', '.join(keys)}, with or without desc."
        return f"{name[:40]!r} is not a sort key; {hint}"
    if list(direction) not in ([], ["asc"], ["desc"]):
        return f"{name} is followed by {' '.join(direction)[:40]!r}; write {name} or {name} desc."
    return None
