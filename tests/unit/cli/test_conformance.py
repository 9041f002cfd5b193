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
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


@contextmanager
def served(bend: Bend = lambda request, handle: handle(request)) -> Iterator[tuple[Service, str]]:
    with open_service() as service:
        service.sign_in(token=TOKEN)
        bent = SimpleNamespace(policy=Policy(), provider=None, user_of=service.user_of)
        bent.handle = partial(bend, handle=service.handle)
        with SocketServer(bent, threads=8) as server:
            yield service, server.base_url


def conformance(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SVC_TOKEN": TOKEN, **variables}
    words = command("conformance", *arguments)
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)


def rules_in(path: Path) -> dict[str, Any]:
    """Return the rules of a report by id."""
    return {rule["id"]: rule for rule in json.loads(path.read_text())["rules"]}


@pytest.fixture
def found(tmp_path):
    return tmp_path / "found.json"


def files_of(service: Service) -> list[Any]:
    headers = Headers([("Authorization", f"Bearer {TOKEN}")])
    return json.loads(service.handle(Request("GET", "http://x/storage/v3/files", headers)).content())["files"]


def test_an_existing_report_is_kept_and_nothing_is_sent(found):
    found.write_text('{"rules": []}')

    done = conformance("https://127.0.0.1:9", "--json", str(found))

    assert done.returncode == 2
    assert re.search(r"found\.json exists \(13 bytes, .*\); give --overwrite to replace the file", done.stderr)
    assert found.read_text() == '{"rules": []}'


def answered(status: int, body: bytes, kind: str = "application/json") -> Response:
    return Response(status, Headers([("Content-Type", kind), ("Content-Length", str(len(body)))]), body)


# What may be wrong with a server, and the rule that says so.


def says_200_for_308(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    return replace(answer, status=200) if answer.status == 308 else answer


def sends_no_challenge(request: Request, handle: Handle) -> Response:
    answer = handle(request)
    pairs = [pair for pair in answer.headers.pairs if pair[0].lower() != "www-authenticate"]
    return replace(answer, headers=Headers(pairs))


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
    return answered(200, body)


BROKEN: dict[str, Bend] = {
    "A3-06": says_200_for_308,
    "T-01a": sends_no_challenge,
    "X-02a": makes_a_second_file,
    "A6-02a": shifts_ranges,
    "E-05b": takes_any_event,
}


def test_a_broken_service_fails_by_the_broken_rules_alone(found):
    def bend(request, handle):
        for single in BROKEN.values():
            handle = partial(single, handle=handle)
        return handle(request)

    with served(bend) as (_, base_url):
        done = conformance(base_url, "--rules", ",".join([*BROKEN, "A1-03a"]), "--json", str(found))

    results = {id: rule["result"] for id, rule in rules_in(found).items()}
    assert results == {**dict.fromkeys(BROKEN, "fail"), "A1-03a": "pass"}, done.stdout
    assert done.returncode == 1
    assert all(f"{rule:<8}FAIL" in done.stdout for rule in BROKEN)
    assert TOKEN not in done.stdout + done.stderr


def test_a_service_that_keeps_the_rules_passes_and_is_left_as_it_was(found):
    headers = Headers([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "0")])
    with served() as (service, base_url):
        service.handle(Request("POST", "http://x/upload/storage/v3/files?uploadType=media", headers, b"")).content()
        before = files_of(service)
        done = conformance(base_url, "--rules", "A1-01,A1-02,X-02,E-07", "--json", str(found))
        after = files_of(service)

    assert (done.returncode, {rule["result"] for rule in rules_in(found).values()}) == (0, {"pass"}), done.stdout
    assert after == before != []
    assert "left behind" not in done.stdout


@pytest.mark.parametrize("variables, result", [({"SVC_CONTROL_TOKEN": "of-control"}, "pass"), ({}, "untestable")])
def test_a_control_interface_with_a_token_is_used_by_those_who_have_it(found, variables, result):
    options = {"control": True, "control_token": "of-control", "threads": 8}
    with open_service() as service, SocketServer(service, **options) as server:
        service.sign_in(token=TOKEN)
        done = conformance(server.base_url, "--rules", "T-03b", "--json", str(found), **variables)

    assert rules_in(found)["T-03b"]["result"] == result, done.stdout
    assert ("the control interface was not used (401)" in done.stderr) is (result != "pass")
    assert "of-control" not in done.stdout + done.stderr + found.read_text()


def test_another_choice_differs_and_does_not_fail(found):
    """Other statuses and another form of errors, where no rule names them."""

    def otherwise(request, handle):
        answer = handle(request)
        return answered(422, b'{"error": {"code": 422, "message": "no"}}') if answer.status == 400 else answer

    with served(otherwise) as (_, base_url):
        done = conformance(base_url, "--rules", "E-05b,E-07b,A3-10", "--json", str(found))

    rules = rules_in(found)
    assert rules.keys() == {"E-05b", "E-07b", "A3-10a", "A3-10b", "A3-10c"}
    assert {id for id, rule in rules.items() if rule["result"] != "pass"} == {"A3-10b"}
    assert (done.returncode, rules["A3-10b"]["result"]) == (0, "differs")
    choices = {text.partition(": ")[0] for rule in rules.values() for text in rule["differences"]}
    assert choices == {"Statuses without a rule", "The error envelope", "chunk_rule"}


@pytest.mark.parametrize("status", [404, 200])
def test_another_kind_of_server_gets_one_sentence(status):
    with served(lambda request, handle: answered(status, b"<h1>Not here</h1>", "text/html")) as (_, base_url):
        done = conformance(base_url)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "not as this interface" in done.stderr
    assert "text/html" in done.stderr


def test_a_silent_deployment_ends_the_run():
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as beside:
        silent.settimeout(PATIENCE)
        waited = beside.submit(_leave_unanswered, silent)
        done = conformance(f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout", "0.3")

    assert (done.returncode, done.stdout) == (2, "")
    assert "does not answer: no answer in time." in done.stderr
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
def test_a_wrong_argument_gets_one_sentence(arguments, words):
    done = conformance(*arguments)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr


def test_an_interrupted_run_removes_what_it_has_made():
    words, pipe = ("conformance", "--rules", "A1,A2,A3"), subprocess.PIPE
    with served() as (service, base_url):
        environment = {**os.environ, "SVC_TOKEN": TOKEN}
        process = subprocess.Popen(command(*words, base_url), stdout=pipe, stderr=pipe, text=True, env=environment)
        until(lambda: len(service.journal()) > 60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)

        assert process.returncode == 2
        assert "removing what the run has created" in err
        assert "interrupted" in err
        assert "left behind" not in out
        assert files_of(service) == []


def test_only_restarts_have_no_test_over_http():
    """A test file that moves its fixtures elsewhere must not fall out of a run in silence."""
    lines = conformance("--list").stdout.splitlines()

    assert [line.split()[0] for line in lines if " 0 tests" in line] == ["A3-19a", "A3-19b", "N-11"]


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
def test_a_verdict_is_made_of_outcomes(outcomes, result):
    first, other = rule_rows(RULES, outcomes)

    assert (first["result"], other["result"]) == (result, "untestable")


def test_the_table_has_the_message_of_a_failed_test_and_the_requests():
    rows = rule_rows(RULES, [FAILED, LIBERAL])
    lines = "\n".join(table(rows))

    assert "A-1     FAIL             first\n        test: t: assert 200 == 308\n            GET /x\n" in lines
    assert "choice: chunk_rule: floor here" in lines
    assert "A-2     not testable     second\n        needs: a test over HTTP" in lines
    assert summary(rows).startswith("2 clauses: 0 pass, 1 fail")
