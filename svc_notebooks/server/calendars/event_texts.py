"""Builds the JSON of the events in a list. The instances of a series share the JSON of everything but id and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, NamedTuple, cast

from ...core import field_mask
from ...core.field_mask import Mask
from ...core.http.messages import JSON
from ..dispatch.responses import json_text
from .event_resource import EventRecord, EventView
from .instances import Slot, build_instance
from .page_budget import Entry

_TIMES = {"start": "start", "end": "end", "originalStartTime": "start"}
_MARK = "\0"
_MARK_AS_JSON = json_text(_MARK)[1:-1]


class ItemStyle(NamedTuple):
    """The fields of each event in a list, and whether the JSON is on one line or indented by two spaces."""

    mask: Mask
    is_compact: bool
    fields: str | None = None
    """The parameter `fields`, from which the mask was made."""

    def line(self, depth: int) -> str:
        """Return the beginning of a line at a depth of the JSON, or "" if everything is on one line."""
        return "" if self.is_compact else "\n" + "  " * depth


class EventTexts:
    """The JSON of the events of a view. `shared` has a template for each series, by the number of its row."""

    def __init__(self, view: EventView, shared: dict[int, str], style: ItemStyle) -> None:
        self._view = view
        self._shared = shared
        self._style = style
        self._key = (view.key, style.fields, style.is_compact)

    def of(self, event_id: str, entry: Entry) -> str:
        """Return the JSON of an event, or of the instance of a recurring event with this id."""
        event, slot = entry
        if slot is None:
            return self._stored(event) if event.has_fields_of_row else self._text(event)
        template = self._shared.get(event.row.seq)
        if template is None:
            template = self._shared[event.row.seq] = self._template(event, slot)
        if slot.dates:
            start, end = (day.isoformat() for day in slot.dates)
        else:
            start, end = self._view.time_text(slot.start), self._view.time_text(slot.end)
        return template % {"id": event_id, "link": self._view.link(event_id), "start": start, "end": end}

    def _stored(self, event: EventRecord) -> str:
        """Return the JSON of an event whose fields are those of its row, which is built again only if it changes."""
        texts, key = self._view.context.texts, (event.row, self._key)
        text = texts.get(key)
        if text is None:
            text = self._text(event)
            texts.keep(key, text, len(event.row.body))
        return text

    def _text(self, event: EventRecord) -> str:
        resource = cast(JSON, self._view.resource(event))
        return json_text(field_mask.apply(self._style.mask, resource), self._style.line(2))

    def _template(self, event: EventRecord, slot: Slot) -> str:
        """Return the JSON of an instance as a template with names for the id, the link and the times.

        The texts that replace the names consist of characters that JSON does not escape.
        """
        style = self._style
        resource: Any = field_mask.apply(style.mask, cast(JSON, self._view.resource(build_instance(event, slot))))
        inner, colon = style.line(3), ":" if style.is_compact else ": "
        members = [f'"{name}"{colon}{_member(name, value, inner)}' for name, value in resource.items()]
        return "{" + inner + ("," + inner).join(members) + style.line(2) + "}" if resource else "{}"


def item_mask(mask: Mask) -> Mask:
    """Return the mask of the events in a list, from the mask of the list."""
    return field_mask.ALL if field_mask.STAR in mask else mask.get("items", field_mask.ALL)


def list_text(page: Mapping[str, Any], items: Sequence[str], style: ItemStyle) -> str:
    """Return the JSON of a page whose items, of which there is at least one, are already JSON."""
    before, _, after = json_text(page, style.line(0)).partition('"items":[]' if style.is_compact else '"items": []')
    name, inner = '"items":' if style.is_compact else '"items": ', style.line(2)
    return f"{before}{name}[{inner}{(',' + inner).join(items)}{style.line(1)}]{after}{style.line(0)}"


def _member(name: str, value: Any, newline: str) -> str:
    if name == "id":
        return '"%(id)s"'
    if name == "htmlLink":
        return '"%(link)s"'
    if name not in _TIMES:
        text = encode_basestring(value) if type(value) is str else json_text(value, newline)
        return text.replace("%", "%%")
    marked = {key: _MARK if key in ("date", "dateTime") else text for key, text in value.items()}
    return json_text(marked, newline).replace("%", "%%").replace(_MARK_AS_JSON, f"%({_TIMES[name]})s")
