"""Tests of the schemas that follow from the TypedDicts of the resources, and of the types of request bodies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.core.api.json_schemas import RESOURCES
from svc_notebooks.core.resources import calendars, errors, events, files
from svc_notebooks.core.resources.field import hints

BODIES = {
    "FileToCreate": files.FileToCreate,
    "FileToUpdate": files.FileToUpdate,
    "ChannelToOpen": files.ChannelToOpen,
    "EventToWrite": events.EventToWrite,
    "EventToPatch": events.EventToWrite,
    "CalendarToWrite": calendars.CalendarToWrite,
    "CalendarToPatch": calendars.CalendarToWrite,
}


def test_the_schemas_are_those_of_the_documentation():
    page = Path(__file__).parents[3] / "docs/openapi.json"

    assert json.loads(page.read_text("utf-8"))["components"]["schemas"] == json.loads(json.dumps(RESOURCES))


@pytest.mark.parametrize("name", BODIES)
def test_a_type_of_a_body_has_the_fields_of_its_schema(name: str):
    schema = RESOURCES[name]

    assert hints(BODIES[name]).keys() == schema["properties"].keys()


@pytest.mark.parametrize(
    "name, path, expected",
    [
        ("File", "capabilities/properties/canEdit", {"type": "boolean"}),
        ("File", "contentHints/properties/thumbnail", {}),
        ("File", "createdTime", {"type": "string", "format": "date-time"}),
        ("File", "properties/additionalProperties", {"type": ["string", "null"]}),
        ("FileList", "files", {"type": "array", "items": {"$ref": "#/components/schemas/File"}}),
        ("FileToCreate", "shortcutDetails/required", ["targetId"]),
        ("FileToUpdate", "description", {"type": ["string", "null"]}),
        ("Event", "id", {"type": "string"}),
        ("Event", "reminders/properties/overrides/items/properties/minutes/maximum", 40320),
        ("EventToWrite", "id/pattern", "^[0-9a-v]{5,1024}$"),
        ("EventToWrite", "attendees/items/required", ["email"]),
        ("EventToWrite", "status/anyOf/1", {"type": "null"}),
        ("About", "importFormats/anyOf/0/additionalProperties/type", "array"),
        ("Channel", "expiration", {"type": ["integer", "string"]}),
        ("Token", "token_type", {"const": "Bearer"}),
    ],
)
def test_a_schema_follows_from_the_annotation(name: str, path: str, expected: object):
    schema: Any = RESOURCES[name]["properties"]

    for step in path.split("/"):
        schema = schema[int(step) if isinstance(schema, list) else step]

    assert schema == expected


def test_only_required_fields_of_a_response_are_in_its_schema():
    assert "required" not in RESOURCES["File"]
    assert RESOURCES["Error"]["properties"]["error"]["required"] == ["code", "message", "errors"]
    assert RESOURCES["EventToWrite"]["required"] == ["start", "end"]
    assert "required" not in RESOURCES["EventToPatch"]
    assert hints(errors.Token).keys() == RESOURCES["Token"]["properties"].keys()
