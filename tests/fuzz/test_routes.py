"""Every route of the OpenAPI document, asked at random (schemathesis): no 5xx, and nothing that is not documented."""

import copy
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, event, given, strategies as st
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode

from svc_notebooks.core.api.openapi import document
from svc_notebooks.core.brand_names import Names
from svc_notebooks.server.transports.socket_server import SocketServer
from svc_notebooks.server.wsgi import WsgiApp
from tests.examples import examples
from tests.fuzz.world import BASE, World, make_world

FORM = "application/x-www-form-urlencoded"
UPLOADS = Names().upload_path("files")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def closed(schema: Any) -> Any:
    """The schemas of answers with nothing beside what they name: the document leaves room, the service has none."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    members = {name: closed(part) for name, part in schema.items()}
    if isinstance(members.get("properties"), dict) and members.get("type") == "object":
        members.setdefault("additionalProperties", False)
    return members


def routes() -> dict[str, Any]:
    description = copy.deepcopy(document(Names(), make_world().service.policy, BASE))
    schemas = description["components"]["schemas"]
    schemas |= {name: closed(schema) for name, schema in schemas.items() if "To" not in name}
    operations = [operation.ok() for operation in schemathesis.openapi.from_dict(description).get_all_operations()]
    return {operation.definition.raw["operationId"]: operation for operation in operations}


ROUTES = routes()


MODES = [
    pytest.param(name, mode, id=f"{name}-{word}")
    for name, route in ROUTES.items()
    for word, mode in (("right", GenerationMode.POSITIVE), ("wrong", GenerationMode.NEGATIVE))
    # A path alone cannot be wrong: any text may be an id.
    if word == "right" or len(route.body) or len(route.query) or len(route.headers)
]


def aimed(case: Any, world: World, draw: Any) -> None:
    """Put something that exists where the dice put a text, most of the time."""
    for place in (case.path_parameters, case.query):
        for name in list(place or {}):
            if name in world.known and draw(st.integers(0, 9)):
                place[name] = draw(st.sampled_from(world.known[name]))
    body = case.body
    for name in list(body) if isinstance(body, dict) and case.media_type == FORM else ():
        if name in world.known and draw(st.integers(0, 9)):
            body[name] = draw(st.sampled_from(world.known[name]))
    if isinstance(body, dict) and "resourceId" in body and draw(st.booleans()):
        body |= {"id": "one", "resourceId": world.known["channel"][0]}
    if isinstance(body, dict) and isinstance(body.get("parents"), list):
        body["parents"] = [draw(st.sampled_from(world.known["fileId"]))]


def check(case: Any, answer: Any) -> None:
    event(f"{answer.status_code}")
    if answer.status_code == 200 and "location" in answer.headers:  # of a new session, which is empty (A3-01)
        assert answer.content == b""
        assert urlsplit(answer.headers["location"][0]).path == UPLOADS
        return
    checks = CHECKS if answer.content else [check for check in CHECKS if check is not content_type_conformance]
    case.validate_response(answer, checks=checks)


@pytest.mark.spec("X-01")
@pytest.mark.parametrize("name, mode", MODES)
def test_whatever_is_asked_the_answer_is_a_documented_one(name, mode):
    world, route = make_world(), ROUTES[name]
    app = WsgiApp(world.service.handle)
    start = world.service.snapshot()
    credentials = {} if name.startswith("oauth.") else {"Authorization": f"Bearer {world.token}"}

    @examples(0.1, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def ask(data):
        world.service.restore(start)
        case = data.draw(route.as_strategy(generation_mode=mode))
        aimed(case, world, data.draw)
        check(case, case.call(app=app, base_url=BASE, headers=credentials))

    ask()
    world.service.close()


@pytest.mark.spec("X-01")
def test_over_a_socket_it_is_the_same():
    world = make_world()

    @examples(0.8, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def ask(data):
        route, mode = data.draw(st.sampled_from([mode_parameters.values for mode_parameters in MODES]))
        case = data.draw(ROUTES[route].as_strategy(generation_mode=mode))
        aimed(case, world, data.draw)
        credentials = {} if route.startswith("oauth.") else {"Authorization": f"Bearer {world.token}"}
        check(case, case.call(base_url=server.base_url, headers=credentials, allow_redirects=False))

    with SocketServer(world.service) as server:
        ask()
    world.service.close()
