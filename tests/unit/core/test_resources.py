import json
from pathlib import Path

import pytest

from svc_notebooks.core.api.json_schemas import RESOURCES
from svc_notebooks.core.resources import calendars, errors, files
from svc_notebooks.core.resources.field import hints

BODIES = {
    "ChannelToOpen": files.ChannelToOpen,
    "CalendarToWrite": calendars.CalendarToWrite,
    "CalendarToPatch": calendars.CalendarToWrite,
    "Token": errors.Token,
}


def test_the_schemas_are_those_of_the_documentation():
    page = Path(__file__).parents[3] / "docs/openapi.json"

    assert json.loads(page.read_text("utf-8"))["components"]["schemas"] == json.loads(json.dumps(RESOURCES))


@pytest.mark.parametrize("name", BODIES)
def test_a_type_of_a_body_has_the_fields_of_its_schema(name):
    assert hints(BODIES[name]).keys() == RESOURCES[name]["properties"].keys()
