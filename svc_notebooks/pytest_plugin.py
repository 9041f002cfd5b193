"""Fixtures for pytest: a sandbox for tests in the same process, and a served sandbox for any HTTP client.

Installing the package registers the plugin. The service is imported when a test first uses a fixture.

    def test_my_client(svc_service):
        my_client = MyClient(svc_service.base_url, svc_service.token)
        my_client.upload("a.txt", b"hello")
        assert svc_service.lab.journal()["status"].tolist() == [200]

The marker has the options: `@pytest.mark.svc(policy=Policy(...), names=Names(...), clock="system", tls=True)`, and each
setting of `Policy`. A delay such as `lab.faults(delay=3)` is real time for `svc_service`, so that a timeout can be
tested, and moves the clock for `svc_sandbox`. `@pytest.mark.svc(fault_delay="clock")` moves the clock for both.
The report of a failed test lists the requests that the service received.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from .notebook.sandbox.sandbox import Sandbox

_SANDBOX_OPTIONS = frozenset({"seed", "policy", "names", "clock"})
_MARKER_OPTIONS = _SANDBOX_OPTIONS | {"tls"}
_OPTIONS = "seed, policy, names, clock, tls and the settings of Policy"
_MAX_REQUESTS = 20


@dataclass(frozen=True, slots=True)
class ServedSandbox:
    """A sandbox that is served on a loopback socket.

    `base_url` is the address of the service. `token` is an access token of the sandbox's own user with all scopes.
    `ca` is the file with the certificate authority that clients must trust, or None without TLS. `lab` is the
    `Sandbox`, with which a test adds files, users, faults and limits, and moves the clock.
    """

    base_url: str
    token: str
    ca: Path | None
    lab: Sandbox

    @property
    def access_token(self) -> str:
        """The same as `token`, under the name that it has in a sandbox."""
        return self.token

    def __repr__(self) -> str:
        """Return the address without the token, because pytest shows the values of fixtures in reports (T-05)."""
        return f"<ServedSandbox {self.base_url}>"

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            from .core.suggestions import missing_attribute

            hint = f"; did you mean svc_service.lab.{name}?" if name in dir(self.lab) else ""
            raise missing_attribute("svc_service", self, name, hint)


@pytest.fixture
def svc_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A new sandbox with the seed 0 for each test, whose session is the current session during the test."""
    from . import Policy, sandbox

    options = _options(request.node)
    settings = {name: value for name, value in options.items() if name not in _MARKER_OPTIONS}
    chosen = {name: value for name, value in options.items() if name in _SANDBOX_OPTIONS}
    if settings:
        chosen["policy"] = replace(chosen.get("policy") or Policy(), **settings)
    with sandbox(**{"seed": 0, **chosen}) as lab:
        yield lab


@pytest.fixture
def svc_service(request: pytest.FixtureRequest, svc_sandbox: Sandbox) -> ServedSandbox:
    """The sandbox of `svc_sandbox`, served at an address of this machine until the test ends."""
    server = svc_sandbox.serve(tls=bool(_options(request.node).get("tls", False)))
    return ServedSandbox(server.base_url, svc_sandbox.access_token, server.ca, svc_sandbox)


def _options(node: Any) -> dict[str, Any]:
    """Return the options of the `svc` markers of a test. Raises UsageError for an unknown option."""
    from . import Policy

    known = _MARKER_OPTIONS.union(field.name for field in fields(Policy))
    options: dict[str, Any] = {}
    for marker in reversed(list(node.iter_markers("svc"))):  # the marker of the function wins over that of the class
        wrong = [*map(repr, marker.args), *(marker.kwargs.keys() - known)]
        if wrong:
            hint = "; write `with svc_sandbox.faults(...)` in the test" if "faults" in wrong else ""
            raise pytest.UsageError(
                f"the marker svc takes {_OPTIONS} as keyword arguments, not {', '.join(wrong)}{hint}"
            )
        options |= marker.kwargs
    return options


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    line = (
        "svc(seed=0, policy=None, names=None, clock='virtual', tls=False, ...): options of svc_sandbox and svc_service,"
    )
    line += " and settings of Policy, which help(svc_notebooks.Policy) explains"
    config.addinivalue_line("markers", line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the requests that the service received to the report of a failed test."""
    report = yield
    lab = getattr(item, "funcargs", {}).get("svc_sandbox")
    if report.when == "call" and report.failed and lab is not None:
        report.sections.append(("requests to the svc service", _request_lines(lab)))
    return report


def _request_lines(lab: Sandbox) -> str:
    journal = lab.service.journal()
    lines = [
        f"{entry['method']} {entry['path']}{'?' + entry['query'] if entry['query'] else ''} -> {entry['status']}"
        f" ({entry['decided_by']})"
        for entry in journal[-_MAX_REQUESTS:]
    ]
    skipped = [f"... {len(journal) - len(lines)} earlier requests"] if len(journal) > len(lines) else []
    return "\n".join([*skipped, *lines]) or "The service received no request."
