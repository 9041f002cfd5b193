"""Tests that the types of the resources have the fields of the schemas in docs/openapi.json, with the same types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from svc_notebooks.core.api.json_schemas import RESOURCES
from svc_notebooks.core.resources import calendars, errors, events, files
from svc_notebooks.core.resources.files import Permission

Schema = dict[str, Any]

SCHEMAS: dict[str, Schema] = json.loads(json.dumps(RESOURCES))
TYPES = {
    name: value
    for module in (calendars, errors, events, files)
    for name, value in vars(module).items()
    if is_typeddict(value)
}
NAMES = {
    "Channel": "ChannelResource",
    "Error": "ErrorResponse",
    "OAuthError": "OAuthErrorResponse",
    "EventToPatch": "EventToWrite",
    "CalendarToPatch": "CalendarToWrite",
}
"""The types whose names differ from those of their schemas."""

UNTYPED = {
    "PermissionToCreate", "PermissionToUpdate", "ChannelToStop", "AclRuleToCreate", "AclRuleToChange",
    "CalendarListEntryToInsert", "CalendarListEntryToWrite", "FreeBusyQuery", "SettingList",
}  # fmt: skip
"""Bodies for which the type of the resource serves, or that are read field by field, and pages of such resources."""

CHECKED = sorted(SCHEMAS.keys() - UNTYPED - {"Nothing", "Document"})
NULL = {"type": "null"}
SCALARS = {"string": str, "integer": int, "boolean": bool, "null": NoneType}


@pytest.mark.parametrize("name", CHECKED)
def test_a_type_has_the_fields_of_its_schema(name):
    assert list(differences(SCHEMAS[name], type_of(name), name)) == []


def test_the_schemas_are_those_of_the_documentation():
    page = Path(__file__).parents[3] / "docs/openapi.json"

    assert json.loads(page.read_text("utf-8"))["components"]["schemas"] == SCHEMAS


def test_every_type_is_part_of_a_schema():
    used: set[type] = set()
    for name in CHECKED:
        add_parts(type_of(name), used)

    assert used == set(TYPES.values())


def differences(schema: Schema, type_: Any, path: str) -> Iterator[str]:
    """Yield each difference. For an alternative that no member of a union matches, yield those of the nearest
    member."""
    options = alternatives(schema)
    if not schema:
        return
    union = get_args(type_) if isinstance(type_, UnionType) else (type_,)
    for option in options:
        # Below the first level of a request's body the types for reading serve, which do without null.
        if option != NULL or path.count(".") + path.count("{}") < 2:
            yield from min((mismatches(option, member, path) for member in union), key=len)
    for member in union:
        if all(mismatches(option, member, path) for option in options):
            yield f"{path}: the schema has no {member}"


def alternatives(schema: Schema) -> list[Schema]:
    if "anyOf" in schema:
        return [option for member in schema["anyOf"] for option in alternatives(member)]
    if isinstance(schema.get("type"), list):
        return [NULL if name == "null" else schema | {"type": name} for name in schema["type"]]
    return [schema]


def mismatches(schema: Schema, type_: Any, path: str) -> list[str]:
    if "$ref" in schema:
        return [] if type_ is type_of(schema["$ref"].rpartition("/")[2]) else [f"{path}: {type_} for {schema}"]
    if "properties" in schema and is_typeddict(type_):
        return list(field_differences(schema["properties"], type_, path))
    kind, arguments = schema.get("type", "string"), get_args(type_)
    if kind == "array" and get_origin(type_) is list:
        return list(differences(schema["items"], arguments[0], f"{path}[]"))
    if kind == "object" and get_origin(type_) is dict:
        values = schema["additionalProperties"]
        return [] if values is True else list(differences(values, arguments[1], f"{path}{{}}"))
    return [] if SCALARS.get(kind, object()) is type_ else [f"{path}: {type_} for {schema}"]


def field_differences(properties: dict[str, Schema], type_: Any, path: str) -> Iterator[str]:
    fields = hints(type_)
    part_is_enough = "To" in path or (type_ is Permission and path != "Permission")
    yield from (f"{path}.{name} is missing" for name in properties.keys() - fields.keys())
    if not ("." in path and part_is_enough):
        yield from (f"{path}.{name} is not in the schema" for name in fields.keys() - properties.keys())
    for name in properties.keys() & fields.keys():
        yield from differences(properties[name], fields[name], f"{path}.{name}")


def add_parts(type_: Any, used: set[type]) -> None:
    if is_typeddict(type_) and type_ not in used:
        used.add(type_)
        for part in hints(type_).values():
            add_parts(part, used)
    for argument in get_args(type_):
        add_parts(argument, used)


def type_of(name: str) -> Any:
    return TYPES[NAMES.get(name, name)]


def hints(type_: Any) -> dict[str, Any]:
    return get_type_hints(type_, localns={"JSON": object, "JSONObject": dict[str, object]})
