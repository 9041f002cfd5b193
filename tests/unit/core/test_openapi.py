from typing import Any

import pytest
from openapi_spec_validator import validate

from svc_notebooks.core.api.json_schemas import RESOURCES
from svc_notebooks.core.api.openapi import document
from svc_notebooks.core.api.operations import OPERATIONS
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.events.calendars import CALENDAR_SHAPE, LIST_SHAPE as CALENDAR_LIST_SHAPE, RULE_SHAPE
from svc_notebooks.core.events.fields import EVENT_SHAPE
from svc_notebooks.core.field_mask import Shape
from svc_notebooks.core.files.fields import FILE_SHAPE
from svc_notebooks.core.files.permissions import PERMISSION_SHAPE
from svc_notebooks.core.notifications.channels import CHANNEL_SHAPE
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.resources import calendars, errors, files
from svc_notebooks.core.resources.field import hints
from svc_notebooks.server.files import change_log, file_operations

BASE = "https://api.example"


@pytest.mark.parametrize("names", [Names(), Names(storage="drive", calendar="cal")], ids=["svc", "drive"])
def test_the_document_is_valid_under_every_name(names):
    validate(document(names, Policy(), BASE))


def test_every_operation_is_there_under_its_path_and_methods():
    paths, names = document(Names(), Policy(), BASE)["paths"], Names()

    for operation in OPERATIONS:
        of_files = [names.path, names.upload_path] if operation.accepts_content else [names.path]
        methods = {method.lower() for method in operation.methods} - {"head"}
        for root in [names.calendar_path] if operation.calendar else of_files:
            assert methods <= paths[root(*operation.path)].keys(), operation.name


SHAPES: dict[str, Shape] = {
    "File": FILE_SHAPE,
    "Permission": PERMISSION_SHAPE,
    "Channel": CHANNEL_SHAPE,
    "Event": EVENT_SHAPE,
    "Calendar": CALENDAR_SHAPE,
    "CalendarListEntry": CALENDAR_LIST_SHAPE,
    "AclRule": RULE_SHAPE,
    "About": file_operations.ABOUT_SHAPE,
    "Change": change_log._CHANGE_SHAPE,
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_mask_may_have_the_names_of_a_resource(name):
    assert names_of(RESOURCES[name]) <= names_of_shape(SHAPES[name])


def names_of(schema: dict[str, Any], path: str = "") -> set[str]:
    names = {path} if path else set()
    for name, member in schema.get("properties", {}).items():
        names |= names_of(member.get("items", member), f"{path}/{name}")
    return names


def names_of_shape(shape: Shape | None, path: str = "") -> set[str]:
    names = {path} if path else set()
    for name, member in (shape or {}).items():
        if (path, name) == ("", "file"):  # the file of a change has a schema of its own
            names.add("/file")
        elif name:
            names |= names_of_shape(member, f"{path}/{name}")
    return names


BODIES = {
    "ChannelToOpen": files.ChannelToOpen,
    "CalendarToWrite": calendars.CalendarToWrite,
    "CalendarToPatch": calendars.CalendarToWrite,
    "Token": errors.Token,
}


@pytest.mark.parametrize("name", BODIES)
def test_a_type_of_a_body_has_the_fields_of_its_schema(name):
    assert hints(BODIES[name]).keys() == RESOURCES[name]["properties"].keys()
