"""The fields of an event that have no control of their own, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from ..core.event_fields import ORDER
from .field import Field, on_change, passage


class FurtherFields(Field):
    """Every other field of an event, as a JSON object; it has the last word."""

    def __init__(self) -> None:
        self.text = passage(
            "Other fields",
            "What has no control here, as a JSON object, like an id or a status",
            hint='{"status": "tentative", "source": {"title": "…", "url": "https://…"}}',
            rows=2,
        )
        super().__init__(self.text)
        on_change(lambda: self.explain(" ".join(_unknown(self.names))), self.text)

    @property
    def value(self) -> dict[str, Any]:
        """The fields. Raises ValueError for what is no JSON object."""
        text = self.text.value.strip()
        try:
            found = json.loads(text) if text else {}
        except ValueError as error:
            raise ValueError(f'This is no JSON ({error}): write it like {{"status": "tentative"}}.') from None
        if not isinstance(found, dict):
            raise ValueError('This must be a JSON object, like {"status": "tentative"}.')
        return found

    @value.setter
    def value(self, fields: Mapping[str, Any]) -> None:
        self.text.value = json.dumps(fields, ensure_ascii=False, indent=1) if fields else ""

    @property
    def names(self) -> frozenset[str]:
        """The fields that stand here, as far as the text can be read."""
        try:
            return frozenset(self.value)
        except ValueError:
            return frozenset()


def _unknown(names: frozenset[str]) -> Iterator[str]:
    """A sentence for each name that the service will pass over; no reason to refuse it: so does a service elsewhere.

    >>> list(_unknown(frozenset({"colour", "status"})))
    ['colour is no field of an event, and services pass over it; did you mean colorId?']
    """
    for name in sorted(names.difference(ORDER)):
        near = get_close_matches(name, ORDER, n=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        yield f"{name} is no field of an event, and services pass over it{meant}"
