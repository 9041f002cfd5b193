"""The control interface and saved files, told nonsense: it is refused, and the service goes on."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, strategies as st

from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response
from svc_notebooks.server.transports.control_api import with_control
from tests.examples import examples
from tests.fuzz.world import World, make_world

PLAN = examples(0.4, suppress_health_check=list(HealthCheck))
CALLS = {
    "tokens": ("user", "client", "scopes", "service_account", "expires_in"),
    "clock": ("advance", "now", "freeze"),
    "faults": ("steps", "in_order", "preset"),
    "limits": ("user", "requests", "per"),
    "domains": ("domain",),
    "trust": ("ca_pem",),
    "restore": ("id",),
    "clients": ("name", "redirect_uris", "public"),
    "files/x": ("abusive",),
}
MATCH = ("operation", "method", "path", "user", "nth")
ACTION = ("status", "reset", "cut_request_after", "cut_response_after", "delay", "headers", "body")
HUGE = 10**400
ODD = st.sampled_from(
    [None, "", 0, -1, True, HUGE, 2**63, 1e308, "\ud800", "\x00", "7d", "1e999s", "P99999999999D", [], {}, "x" * 5000,
     "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "ada@svc.example", "storage", ["storage"], "https://x.example"]
)  # fmt: skip
KEYS = st.sampled_from(MATCH + ACTION)
VALUES = st.recursive(ODD, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner))
STEPS = st.lists(st.dictionaries(st.sampled_from(["match", "times", "action", "\ud800"]), VALUES), max_size=2)


@pytest.fixture(scope="module")
def world():
    return make_world()


def tell(world: World, method: str, path: str, body: Any) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = Headers([("Content-Length", str(len(content)))])
    return with_control(world.service)(Request(method, f"http://svc.test/_control/{path}", headers, content))


def bodies(path: str) -> st.SearchStrategy[dict[str, Any]]:
    special = {"steps": STEPS} if path == "faults" else {}
    return st.fixed_dictionaries({}, optional={**dict.fromkeys(CALLS[path], VALUES), **special, "\ud800": ODD})


@pytest.mark.spec("X-05", "X-05c", "X-01")
@pytest.mark.parametrize("path", CALLS)
def test_nonsense_is_refused_in_the_envelope(world, path):
    @PLAN
    @given(body=bodies(path))
    @example(body={"user": "x", "expires_in": HUGE})
    @example(body={"steps": [{"action": {"status": 503, "body": "\ud800"}}], "\ud800": 1})
    def tell_it(body):
        answer = tell(world, "POST", path, body)
        assert answer.status in (200, 204, 400, 404), body
        assert answer.status < 300 or b'"errors"' in answer.content()

    tell_it()
    world.service.clear_faults()
    world.service.limit("ada@svc.example", None)


ACTIONS = st.fixed_dictionaries({}, optional=dict.fromkeys(ACTION, VALUES))


@pytest.mark.spec("X-05", "X-05c")
@PLAN
@given(action=ACTIONS | st.just({"status": 503}))
@example(action={"status": 503, "body": "\ud800"})
@example(action={"status": 503, "body": {"a": "\ud800"}})
@example(action={"status": 503, "headers": {"X": "a\r\nSet-Cookie: b"}})
@example(action={"cut_request_after": HUGE})
@example(action={"cut_response_after": HUGE})
def test_a_plan_that_was_taken_can_be_carried_out(world, action):
    """What is wrong with it is said when it is given, not by the request that it strikes."""
    world.service.clear_faults()
    if tell(world, "POST", "faults", {"steps": [{"action": action}]}).status != 200:
        return
    try:
        answer = world.ask("POST", "/storage/v3/files", {"name": "struck"})
        answer.content()
    except Disconnected:
        return
    finally:
        world.service.clear_faults()
    text = "".join(name + value for name, value in answer.headers.pairs)
    assert text.isascii() or text.encode("latin-1")
    assert not set(text) & set("\r\n")


NUMBERS = st.sampled_from(["503", "9" * 400, "-1", "nan", "x"])
SHORT = st.one_of(
    st.text(max_size=30),
    st.builds(lambda name, value: f"{name}={value}", st.sampled_from(ACTION), NUMBERS),
    ACTIONS.map(json.dumps),
)


@pytest.mark.spec("X-05", "X-05c")
@PLAN
@given(text=SHORT)
@example(text="cut_request_after=" + "9" * 400)
@example(text='{"status": 503, "body": "\\ud800"}')
def test_a_request_may_ask_for_any_fault_and_gets_an_answer_or_a_cut(world, text):
    try:
        answer = world.ask("POST", "/storage/v3/files", {"name": "x"}, X_Svc_Fault=text)
        answer.content()
    except Disconnected:
        return
    assert 200 <= answer.status < 600


def saved(world: World) -> dict[str, bytes]:
    """The entries of a saved service."""
    file = io.BytesIO()
    world.service.dump(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(entries: dict[str, bytes]) -> bytes:
    """A file of these entries whose manifest agrees with them."""
    manifest = json.loads(entries["manifest.json"])
    held = {name: [len(data), sha256(data).hexdigest()] for name, data in entries.items() if name != "manifest.json"}
    manifest["entries"] = held
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {**entries, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def one_value_changed(entries: dict[str, bytes], value: Any) -> Iterator[dict[str, bytes]]:
    """The same with this value in each column in turn, in the first row of its table."""
    for name, data in entries.items():
        lines = data.splitlines() if name.startswith("tables/") else []
        for column in range(len(json.loads(lines[0])) if lines else 0):
            row = json.loads(lines[0])
            row[column] = value
            yield {**entries, name: b"\n".join([json.dumps(row).encode(), *lines[1:]]) + b"\n"}


@pytest.mark.spec("X-01")
@pytest.mark.parametrize("value", [HUGE, 2**63, None, "\ud800"], ids=lambda value: f"{value!r:.12}")
def test_a_saved_file_with_a_strange_value_is_refused_or_taken_and_nothing_else(value):
    """Nobody's file may end a program, or leave half a service behind."""
    world = make_world()
    entries = saved(world)

    for changed in one_value_changed(entries, value):
        with suppress(ValueError):
            world.service.load(io.BytesIO(written(changed)))

    world.service.load(io.BytesIO(written(entries)))
    assert world.ask("GET", "/storage/v3/files?fields=*").status == 200
