"""Tests that `svc-notebooks conformance` names the broken rule and removes everything that it creates."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest

from svc_notebooks.cli.conformance import CaseOutcome, InterfaceRule, rule_rows, summary, table
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.commands import command
from tests.patience import PATIENCE, until

TOKEN = "a-token-that-nobody-sees"
Handle = Callable[[Request], Response]
Bend = Callable[[Request, Handle], Response]


class Bent:
    """A service that answers in a way of its own."""

    policy = Policy()
    provider = None

    def __init__(self, service: Service, bend: Bend) -> None:
        self._service = service
        self._bend = bend

    def handle(self, request: Request) -> Response:
        return self._bend(request, self._service.handle)

    def user_of(self, token: str) -> str | None:
        return self._service.user_of(token)


@contextmanager
def served(bend: Bend = lambda request, handle: handle(request)) -> Iterator[tuple[Service, str]]:
    """A service of ours, bent, and its address."""
    with open_service() as service:
        service.sign_in(token=TOKEN)
        with SocketServer(cast(Service, Bent(service, bend)), threads=8) as server:
            yield service, server.base_url


@dataclass(frozen=True)
class Ran:
    """What a run said."""

    status: int
    out: str
    err: str
    rules: dict[str, Any]


def run(base_url: str, *arguments: str, token: str = TOKEN, path: Path | None = None, **variables: str) -> Ran:
    more = ("--json", str(path)) if path else ()
    environment = {**os.environ, "SVC_TOKEN": token, **variables}
    done = subprocess.run(
        command("conformance", base_url, *arguments, *more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment,
    )
    rules = json.loads(path.read_text())["rules"] if path and path.exists() else []
    return Ran(done.returncode, done.stdout, done.stderr, {rule["id"]: rule for rule in rules})


def files_of(service: Service) -> list[Any]:
    answer = service.handle(
        Request("GET", "http://x/storage/v3/files", Headers([("Authorization", f"Bearer {TOKEN}")]))
    )
    return cast("list[Any]", json.loads(answer.content())["files"])


def test_an_existing_report_is_kept_and_nothing_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text('{"rules": []}')

    done = run("https://127.0.0.1:9", path=path)

    assert done.status == 2
    assert re.search(r"found\.json exists \(13 bytes, .*\); give --overwrite to replace the file", done.err)
    assert path.read_text() == '{"rules": []}'


def body_of(request: Request) -> bytes:
    return request.body if isinstance(request.body, bytes) else request.body.read()


def without(response: Response, name: str) -> Response:
    pairs = [(key, value) for key, value in response.headers.pairs if key.lower() != name]
    return replace(response, headers=Headers(pairs))


# What may be wrong with a server, and the rule that says so.


def says_200_for_308(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    return replace(answer, status=200) if answer.status == 308 else answer


def sends_no_challenge(request: Request, handle: Handle) -> Response:
    return without(handle(request), "www-authenticate")


def makes_a_second_file(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    if answer.status != 409:
        return answer
    body = b'{"name": "again"}'
    kept = [pair for pair in request.headers.pairs if pair[0].lower() != "content-length"]
    return handle(replace(request, headers=Headers([*kept, ("Content-Length", str(len(body)))]), body=BytesIO(body)))


def shifts_ranges(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    return replace(answer, body=answer.content()[1:] + b"?") if answer.status == 206 else answer


def takes_any_event(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    if answer.status != 400 or "/events" not in request.url:
        return answer
    body = b'{"kind": "svc#event", "id": "0123456789", "htmlLink": "http://x", "status": "confirmed"}'
    return Response(200, Headers([("Content-Type", "application/json"), ("Content-Length", str(len(body)))]), body)


def bent_by(*bends: Bend) -> Bend:
    """All of them at once."""

    def bend(request: Request, handle: Handle) -> Response:
        for single in bends:
            handle = partial(single, handle=handle)
        return handle(request)

    return bend


BROKEN: dict[str, Bend] = {
    "A3-06": says_200_for_308,
    "T-01a": sends_no_challenge,
    "X-02a": makes_a_second_file,
    "A6-02a": shifts_ranges,
    "E-05b": takes_any_event,
}


def test_a_broken_service_fails_by_the_broken_rules_alone(tmp_path: Path) -> None:
    with served(bent_by(*BROKEN.values())) as (_, base_url):
        done = run(base_url, "--rules", ",".join([*BROKEN, "A1-03a"]), path=tmp_path / "found.json")

    results = {id: rule["result"] for id, rule in done.rules.items()}
    assert results == {**dict.fromkeys(BROKEN, "fail"), "A1-03a": "pass"}, done.out
    assert done.status == 1
    assert all(f"{rule:<8}FAIL" in done.out for rule in BROKEN)
    assert TOKEN not in done.out + done.err


def test_a_service_that_keeps_the_rules_passes_and_is_left_as_it_was(tmp_path: Path) -> None:
    with served() as (service, base_url):
        before = _keep_a_file(service)
        done = run(base_url, "--rules", "A1-01,A1-02,X-02,E-07", path=tmp_path / "found.json")
        after = files_of(service)

    assert (done.status, {rule["result"] for rule in done.rules.values()}) == (0, {"pass"}), done.out
    assert [file["id"] for file in after] == [before]
    assert "left behind" not in done.out


def _keep_a_file(service: Service) -> str:
    headers = Headers([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "0")])
    answer = service.handle(Request("POST", "http://x/upload/storage/v3/files?uploadType=media", headers, b""))
    return str(json.loads(answer.content())["id"])


@pytest.mark.parametrize("variables, result", [({"SVC_CONTROL_TOKEN": "of-control"}, "pass"), ({}, "untestable")])
def test_a_control_interface_with_a_token_is_used_by_those_who_have_it(tmp_path, variables, result):
    with (
        open_service() as service,
        SocketServer(service, control=True, control_token="of-control", threads=8) as server,
    ):
        service.sign_in(token=TOKEN)
        done = run(server.base_url, "--rules", "T-03b", path=tmp_path / "found.json", **variables)

    assert done.rules["T-03b"]["result"] == result, done.out
    assert ("the control interface was not used (401)" in done.err) is (result != "pass")
    assert "of-control" not in done.out + done.err + (tmp_path / "found.json").read_text()


def test_another_choice_differs_and_does_not_fail(tmp_path: Path) -> None:
    """Other statuses and another form of errors, where no rule names them."""

    def otherwise(request: Request, handle: Handle) -> Response:
        answer = handle(request)
        if answer.status != 400:
            return answer
        body = b'{"error": {"code": 422, "message": "no"}}'
        return Response(422, Headers([("Content-Type", "application/json"), ("Content-Length", str(len(body)))]), body)

    with served(otherwise) as (_, base_url):
        done = run(base_url, "--rules", "E-05b,E-07b,A3-10", path=tmp_path / "found.json")

    assert {id: rule["result"] for id, rule in done.rules.items()} == {
        "E-05b": "pass", "E-07b": "pass", "A3-10a": "pass", "A3-10b": "differs", "A3-10c": "pass",
    }  # fmt: skip
    assert done.status == 0
    choices = {text.partition(": ")[0] for rule in done.rules.values() for text in rule["differences"]}
    assert choices == {"Statuses without a rule", "The error envelope", "chunk_rule"}


def nothing_here(request: Request, handle: Handle) -> Response:
    body = b"<h1>Not here</h1>"
    return Response(404, Headers([("Content-Type", "text/html"), ("Content-Length", str(len(body)))]), body)


def a_page_for_everything(request: Request, handle: Handle) -> Response:
    return replace(nothing_here(request, handle), status=200)


@pytest.mark.parametrize("bend", [nothing_here, a_page_for_everything])
def test_another_kind_of_server_gets_one_sentence(bend: Bend) -> None:
    with served(bend) as (_, base_url):
        done = run(base_url)

    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "not as this interface" in done.err
    assert "text/html" in done.err


def test_a_silent_deployment_ends_the_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as beside:
        silent.settimeout(PATIENCE)
        waited = beside.submit(_leave_unanswered, silent)
        done = run(f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout", "0.3")

    assert (done.status, done.out) == (2, "")
    assert "does not answer: no answer in time." in done.err
    assert waited.result() < 29  # without the option it would be 30


def _leave_unanswered(silent: socket.socket) -> float:
    """How long the first who comes waits."""
    with silent.accept()[0] as connection:
        begun = time.monotonic()
        while connection.recv(65536):
            pass
        return time.monotonic() - begun


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["files.example.org"], "is not a base address"),
        ([], "BASE_URL is missing"),
        (["http://x", "--rules", "Z9"], "Z9, which is not a rule of the suite"),
        (["http://x", "--names", "colour=red"], "--names must be google, NAME=VALUE"),
    ],
)
def test_a_wrong_argument_gets_one_sentence(arguments: list[str], words: str) -> None:
    environment = {**os.environ, "SVC_TOKEN": TOKEN}
    done = subprocess.run(
        command("conformance", *arguments),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment,
    )

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr


def test_an_interrupted_run_removes_what_it_has_made() -> None:
    with served() as (service, base_url):
        environment = {**os.environ, "SVC_TOKEN": TOKEN}
        process = subprocess.Popen(
            command("conformance", base_url, "--rules", "A1,A2,A3"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        until(lambda: len(service.journal()) > 60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)

        assert process.returncode == 2
        assert "removing what the run has created" in err
        assert "interrupted" in err
        assert "left behind" not in out
        assert files_of(service) == []


def test_only_restarts_have_no_test_over_http() -> None:
    """A test file that moves its fixtures elsewhere must not fall out of a run in silence."""
    done = subprocess.run(
        command("conformance", "--list"), capture_output=True, text=True, timeout=PATIENCE, check=False
    )

    assert [line.split()[0] for line in done.stdout.splitlines() if " 0 tests" in line] == [
        "A3-19a", "A3-19b", "N-11",
    ]  # fmt: skip


# The parts of it.


RULES = {id: InterfaceRule(id, "a", "server", text) for id, text in (("A-1", "first"), ("A-2", "second"))}
FAILED = CaseOutcome(("A-1",), "fail", "t: assert 200 == 308\n            GET /x")
LIBERAL = CaseOutcome(("A-1",), "differs", differences=("chunk_rule: floor here",))
PASSED = CaseOutcome(("A-1",), "pass")
SKIPPED = CaseOutcome(("A-1",), "untestable", "a clock")


@pytest.mark.parametrize(
    "outcomes, result",
    [
        ([PASSED, FAILED], "fail"),
        ([PASSED, LIBERAL, SKIPPED], "pass"),
        ([LIBERAL, SKIPPED], "differs"),
        ([SKIPPED], "untestable"),
        ([], "untestable"),
    ],
)
def test_a_verdict_is_made_of_outcomes(outcomes: list[CaseOutcome], result: str) -> None:
    first, other = rule_rows(RULES, outcomes)

    assert (first["result"], other["result"]) == (result, "untestable")


def test_the_table_has_the_message_of_a_failed_test_and_the_requests() -> None:
    rows = rule_rows(RULES, [FAILED, LIBERAL])
    lines = "\n".join(table(rows))

    assert "A-1     FAIL             first\n        test: t: assert 200 == 308\n            GET /x\n" in lines
    assert "choice: chunk_rule: floor here" in lines
    assert "A-2     not testable     second\n        needs: a test over HTTP" in lines
    assert summary(rows).startswith("2 clauses: 0 pass, 1 fail")
