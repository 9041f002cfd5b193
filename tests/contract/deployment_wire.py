"""The third way: the tests speak to a deployment, as guests who leave it as they found it.

`svc-notebooks conformance` starts such a run and registers itself as the plugin "conformance", which has a
`target`, the `hidden` texts and the `chosen` rules. Without it nothing here does anything.
"""

import json
import secrets
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import pytest

from svc_notebooks.cli.conformance import rule_number
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from tests.contract.control_client import NoControl, skip_untestable
from tests.contract.created_resources import CreatedResources
from tests.contract.deployment import RemoteDeployment, Unreachable, name_prefixes, operation_of
from tests.contract.differences import LenientObject, Record, Status, first_entry, noting, statuses_named
from tests.contract.discovery import discover
from tests.contract.wire import Answer, Wire
from tests.receivers import receiver

BASE32 = "0123456789abcdefghijklmnopqrstuv"


class DeploymentAnswer(Answer):
    """An answer of a deployment, which is held to the rules and not to our choices."""

    record: Record

    @property
    def json(self) -> Any:
        return _lenient(super().json)

    @property
    def error(self) -> Any:
        assert int(self.status) >= 400, f"a refusal was expected, and {int(self.status)} came"
        try:
            body = super().json
        except ValueError:
            body = None
        return first_entry(body, self.record)


def _lenient(value: Any) -> Any:
    if isinstance(value, dict):
        return LenientObject({name: _lenient(element) for name, element in value.items()})
    return [_lenient(element) for element in value] if isinstance(value, list) else value


class UnreachableReceiver:
    """A receiving URL elsewhere: channels may have it, and what comes there is seen by nobody here."""

    def __init__(self, address: str) -> None:
        self.__dict__["address"] = address

    def __getattr__(self, name: str) -> NoReturn:
        skip_untestable("messages that reach this machine (the control interface)")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        skip_untestable("messages that reach this machine (the control interface)")


class DeploymentWire(Wire):
    """Speaks to a deployment, notes what it makes there, and touches nothing else."""

    def __init__(self, site: RemoteDeployment, record: Record, prefix: str) -> None:
        self.site, self.record, self.prefix = site, record, prefix
        self.patient = True
        self.ledger = CreatedResources()
        self.log: list[str] = []
        super().__init__(site.control_client, site.target.base_url)  # type: ignore[arg-type]

    def once(self, text: str) -> str:
        return "".join(secrets.choice(BASE32) for _ in text)

    def new(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if not {row.get("id"), row.get("recurringEventId")} & self.site.known_ids]

    def register_receiver(self, receiver: Any) -> Any:
        if isinstance(self.site.control_client, NoControl):
            if self.site.target.address is None:
                skip_untestable("a receiving URL whose domain is registered (--address)")
            return UnreachableReceiver(self.site.target.address)
        if self.site.target.names != Names():
            skip_untestable("messages under the names of the interface")
        if not self._messages_arrive():
            skip_untestable("a deployment whose messages reach this machine")
        return super().register_receiver(receiver)

    def _messages_arrive(self) -> bool:
        """Whether a message comes to a receiver here; tried once in a run."""
        if self.site.messages_arrive is None:
            with receiver() as webhook:
                super().register_receiver(webhook)
                channel = {"id": f"{self.prefix}reach", "type": "web_hook", "address": webhook.address}
                self.post_json("/storage/v3/changes/watch", channel)
                with webhook.arrived:
                    self.site.messages_arrive = webhook.arrived.wait_for(lambda: bool(webhook.requests), 5)
        return self.site.messages_arrive

    def mails(self, outbox: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [mail for mail in outbox if mail["event_id"].partition("_")[0] in self.ledger.ids]

    def calendar(self, token: str, name: str) -> None:
        if name == "primary":
            self.site.count_events(token, name)

    def dial(self) -> socket.socket:
        parts = urlsplit(self.base_url)
        port = parts.port or (443 if self.site.target.is_tls else 80)
        plain = socket.create_connection((parts.hostname, port), timeout=self.site.target.timeout)
        if not self.site.target.is_tls:
            return plain
        return self.site.target.context().wrap_socket(plain, server_hostname=parts.hostname)

    def address(self, target: str) -> str:
        target = target.removeprefix(self.base_url)
        parts = urlsplit(target)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return urlsplit(self.base_url).path + self.site.translation.target(path)

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        target = self._path_of(target)
        self._check_allowed(method, target, pairs)
        sent = body if body is None or isinstance(body, bytes) else list(body)
        if sent is not None and not isinstance(sent, bytes):
            sent = [block for block in sent if block]
        try:
            reply = self.site.exchange(method, target, sent, pairs, patient=self.patient)
        except Unreachable as error:
            self.log.append(f"{method} {target[:200]} -> {error}")
            self.ledger.unseen |= method != "GET"
            self.site.check_alive()
            raise (error.__cause__ or error) from None  # as over any other socket
        self.log.append(f"{method} {target[:200]} -> {reply.status}")
        answer = DeploymentAnswer(Status(reply.status, self.record), reply.reason, reply.headers, reply.body)
        object.__setattr__(answer, "record", self.record)
        self.ledger.note(method, target, _bearer(pairs), _json_of(sent), reply)
        return answer

    def _path_of(self, target: str) -> str:
        """A Location names the deployment as it sees itself; it is spoken to where we found it, nowhere else."""
        if not target.startswith(("http://", "https://")):
            return target
        parts = urlsplit(target)
        path = parts.path.removeprefix(urlsplit(self.base_url).path)
        return f"{path}?{parts.query}" if parts.query else path

    def _check_allowed(self, method: str, target: str, pairs: list[tuple[str, str]]) -> None:
        root = target.removeprefix("/upload").split("/")[1]
        part = "calendar" if root == "calendar" else "storage" if root == "storage" else None
        if part in self.site.missing:
            skip_untestable(f"the {part} interface, which is not there for this token: {self.site.missing[part]}")
        name = operation_of(method, target)
        if isinstance(self.site.control_client, NoControl) and any(key.startswith("X-Svc-Fault") for key, _ in pairs):
            skip_untestable("faults on request, which are no part of the interface")
        if name in self.site.missing:
            skip_untestable(f"{name}, which the interface does not show and this deployment does not have")
        if not self.site.target.destructive and _bearer(pairs) and not self._is_created_here(method, target):
            skip_untestable(f"a {method} that could touch what the run did not make (--destructive)")

    def _is_created_here(self, method: str, target: str) -> bool:
        path = urlsplit(target).path
        if method == "DELETE" or path.endswith("/clear"):
            return self.ledger.contains(target)
        if method in ("PUT", "PATCH"):
            return (
                self.ledger.contains(target)
                or not {unquote(segment) for segment in path.split("/")} & self.site.known_ids
            )
        return True


def _bearer(pairs: Iterable[tuple[str, str]]) -> str | None:
    for name, value in pairs:
        if name.lower() == "authorization" and value.lower().startswith("bearer "):
            return value[7:]
    return None


def _json_of(body: Any) -> Mapping[str, Any]:
    try:
        document = json.loads(body) if isinstance(body, bytes) and body[:1] == b"{" else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


@dataclass
class ConformanceRun:
    command: Any
    site: RemoteDeployment | None = None
    _prefixes: Iterator[str] = field(default_factory=lambda: iter(()))

    def start(self) -> None:
        """Go there, and from now on open no service of our own: a test that would is not about the deployment."""
        if self.command.target is None:
            return
        self.site = discover(self.command)
        self._prefixes = name_prefixes(self.site)
        self.command.site = self.site
        Service.__init__ = _refuse_own_service  # type: ignore[assignment, method-assign]

    def report_leftovers(self) -> None:
        if self.site:
            self.command.leftovers = [*self.site.left, *self.site.strays()]

    def selects_file(self, path: Path) -> bool:
        """Whether a file may hold a test of the chosen rules."""
        if not path.name.startswith("test_"):
            return True
        text = path.read_text(encoding="utf-8")
        speaks = "wire: " in text or ": CalendarClient" in text  # a CalendarClient sends through a wire, too
        return speaks and any(f'"{rule}"' in text for rule in self.command.rules)

    def wants(self, item: pytest.Item) -> bool:
        """Whether a test is about the chosen rules; what runs both ways at home runs once there."""
        item.user_properties.append(("rules", self.command.rules_of(item)))
        item.user_properties.append(("choices", [name for mark in item.iter_markers("choice") for name in mark.args]))
        if not set(self.command.rules_of(item)) & set(self.command.rules):
            return False
        params = getattr(item, "callspec", None)
        if params and params.params.get("way") == "socket":
            return False
        if "wire" not in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="needs a service that the test opens itself"))
        return True

    def visit(self, request: pytest.FixtureRequest) -> Iterator[Wire]:
        assert self.site
        if request.getfixturevalue("policy") != Policy():
            skip_untestable("a service with another policy")
        rules = [self.command.rules.get(rule) for rule in self.command.rules_of(request.node)]
        rule_text = " ".join(rule.rule for rule in rules if rule)
        record, prefix = Record(statuses_named(rule_text)), next(self._prefixes)
        if self.command.failed:
            self.command.failed = False
            self.site.recount()
        wire = DeploymentWire(self.site, record, prefix)
        wire.patient = not {"X-04", "X-05"} & {rule_number(rule) for rule in self.command.rules_of(request.node)}
        try:
            with noting(record):
                yield wire
        finally:
            for choice, description in record.differences:
                request.node.user_properties.append(("difference", (choice, description)))
            request.node.user_properties.append(("log", wire.log[-3:]))
            with self.site.uninterrupted():
                self.site.control_client.undo()
            unseen = wire.ledger.unseen
            self.site.clear(wire.ledger)
            if unseen:
                self.site.find_unseen()


def _refuse_own_service(service: Service, *args: object, **options: object) -> None:
    skip_untestable("a service that the test opens itself")


def run_of(config: pytest.Config) -> ConformanceRun | None:
    """The run against a deployment that this is, if it is one."""
    command = config.pluginmanager.get_plugin("conformance")
    if command is None:
        return None
    if command.run is None:
        command.run = ConformanceRun(command)
    run: ConformanceRun = command.run
    return run
