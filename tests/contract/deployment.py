"""A deployment as the suite meets it: what it has, who we are there, and what we leave as we found it."""

import http.client
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from svc_notebooks.cli.conformance import Deployment, Secrets
from svc_notebooks.core.http.messages import Headers
from tests.contract.control_client import ControlClient, NoControl, skip_untestable
from tests.contract.created_resources import CALENDARS, FILES, CreatedResource, CreatedResources
from tests.contract.translation import Translation
from tests.contract.wire import Answer

ADA, BOB = "ada@svc.example", "bob@svc.example"

Body = bytes | list[bytes] | None
Pairs = list[tuple[str, str]]

TRIES = 6
LONGEST_WAIT = 60.0
SILENCES = 3
"""After so many requests in a row without an answer the run ends."""


class Unreachable(Exception):
    """No answer came."""


class Reply(Answer):
    def object(self) -> dict[str, Any]:
        try:
            body = self.json
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}


@dataclass
class RemoteDeployment:
    target: Deployment
    hidden: Secrets
    raise_interrupt: Callable[[], None]
    """Raises the interrupt that came since the last request."""
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    translation: Translation = field(init=False)
    control_client: NoControl | ControlClient = field(init=False)
    missing: dict[str, str] = field(default_factory=dict)
    """Operations that it lacks, and how that was seen."""
    known_ids: set[str] = field(default_factory=set)
    """Ids of what is there and was not made by the test that runs."""
    people: dict[str, str] = field(default_factory=dict)
    """Which of the suite's people we have a token of."""
    left: list[str] = field(default_factory=list)
    visits: int = 0
    initial_ids: set[str] = field(default_factory=set)
    """Ids that were there when we came."""
    messages_arrive: bool | None = None
    """Whether its messages come to a receiver of this machine; None: not tried yet."""
    _met: set[str] = field(default_factory=set)
    _counted: set[tuple[str, str]] = field(default_factory=set)
    _silent: int = 0
    _undisturbed: bool = False

    def __post_init__(self) -> None:
        self.translation = Translation(self.target.names)
        self.people = {ADA: self.target.token}
        if self.target.second_token:
            self.people[BOB] = self.target.second_token
        self.control_client = NoControl(self.people, ADA, self.count_first_visit)

    # Speaking with it.

    def connection(self) -> http.client.HTTPConnection:
        netloc, timeout = urlsplit(self.target.base_url).netloc, self.target.timeout
        if self.target.is_tls:
            return http.client.HTTPSConnection(netloc, timeout=timeout, context=self.target.context())
        return http.client.HTTPConnection(netloc, timeout=timeout)

    def exchange(self, method: str, target: str, body: Body, pairs: Pairs, *, patient: bool = True) -> Reply:
        """One exchange; a rate limit is waited for, unless it is what is tested. Raises Unreachable."""
        if not self._undisturbed:
            self.raise_interrupt()
        for attempt in range(TRIES if patient else 0):
            reply = self._once(method, target, body, pairs)
            if not _is_rate_limit(reply):
                return reply
            time.sleep(_wait(reply, attempt))
        return self._once(method, target, body, pairs)

    def _once(self, method: str, target: str, body: Body, pairs: Pairs) -> Reply:
        connection = self.connection()
        try:
            self._send(connection, method, target, body, pairs)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._silent += 1
            raise Unreachable(_describe_error(error)) from error
        finally:
            connection.close()
        self._silent = 0
        headers = Headers((name, self.translation.header_back(value)) for name, value in response.getheaders())
        is_json = "json" in headers.get("content-type", "")
        return Reply(response.status, response.reason, headers, self.translation.back(content) if is_json else content)

    def _send(self, connection: http.client.HTTPConnection, method: str, target: str, body: Body, pairs: Pairs) -> None:
        path = urlsplit(self.target.base_url).path + self.translation.target(target)
        connection.putrequest(method, path, skip_accept_encoding=True)
        media_type = next((value.lower() for name, value in pairs if name.lower() == "content-type"), "")
        if isinstance(body, bytes) and ("json" in media_type or media_type.startswith("multipart/")):
            body = self.translation.out(body)
        for name, value in pairs:
            connection.putheader(self.translation.header(name), value)
        if isinstance(body, list):
            connection.putheader("Transfer-Encoding", "chunked")
        elif body is not None:
            connection.putheader("Content-Length", str(len(body)))
        is_chunked = isinstance(body, list)
        connection.endheaders(iter(body) if is_chunked else body or None, encode_chunked=is_chunked)

    def check_alive(self) -> None:
        """End the run if nothing has answered for a while."""
        if self._silent >= SILENCES:
            pytest.exit(f"{self.target.base_url} has stopped answering.", returncode=2)

    def ask(
        self, method: str, target: str, value: Mapping[str, Any] | None = None, token: str | None = None, **more: str
    ) -> Reply:
        pairs = [("Authorization", f"Bearer {token or self.target.token}"), *more.items()]
        if value is None:
            return self.exchange(method, target, b"" if method in ("POST", "PUT") else None, pairs)
        body = json.dumps(value).encode()
        return self.exchange(method, target, body, [*pairs, ("Content-Type", "application/json; charset=UTF-8")])

    def control(self, method: str, name: str, body: Mapping[str, Any] | None = None) -> Any:
        """A call of the control interface. Fails the test that made it if it is refused."""
        content = None if body is None else json.dumps(body).encode()
        pairs = self.control_credentials()
        pairs += [] if body is None else [("Content-Type", "application/json")]
        content = content if content is None else self.translation.out(content)
        reply = self.exchange(method, f"/_control/{name}", content, pairs)
        if reply.status in (404, 405):
            skip_untestable(f"{method} {name.split('/')[0]} of the control interface, which is not there")
        if reply.status >= 300:
            raise AssertionError(f"the control call {method} {name} was answered {reply.status}: {reply.body[:300]!r}")
        return reply.object()

    def control_credentials(self) -> list[tuple[str, str]]:
        """What each control call must send."""
        token = self.target.control_token
        return [("Authorization", f"Bearer {token}")] if token else []

    # What is there already.

    def count_first_visit(self, token: str, person: str) -> None:
        """Somebody comes in: what the person sees already is remembered."""
        if person not in self._met:
            self._met.add(person)
            self.count_files(token)

    def recount(self) -> None:
        """After a failure: what a deployment made against the rules shall not fail the tests that follow."""
        counted, self._counted = self._counted, set()
        for kind, token in counted:
            self.count_files(token) if kind == "files" else self.count_events(token, kind)

    def find_unseen(self) -> None:
        """A request whose answer did not name what it made: it is known from now on.

        It is removed only where there is a control interface, for such a deployment is there for tests: elsewhere
        it could as well be something that another client of the account made just now.
        """
        known = set(self.known_ids)
        self.recount()
        if isinstance(self.control_client, ControlClient):
            for file_id in self.known_ids - known:
                self.ask("DELETE", f"{FILES}/{file_id}", token=self.control_client.sign_in())

    def strays(self) -> list[str]:
        """Files of ours that the run did not note: those of a request whose answer never came, or one of another's."""
        if "files.list" in self.missing:
            return []
        self.known_ids = set(self.initial_ids)
        known, self._counted = self._counted, set()
        self.count_files(self.target.token)
        self._counted = known
        return [
            f"file {file_id} appeared during the run, which did not see it made"
            for file_id in self.known_ids - self.initial_ids
        ]

    def count_files(self, token: str) -> None:
        """Remember the files that this person sees."""
        if "files.list" in self.missing or ("files", token) in self._counted:
            return
        self._counted.add(("files", token))
        self._remember(f"{FILES}?pageSize=1000&fields=nextPageToken,files(id)", "files", token)

    def count_events(self, token: str, calendar: str) -> None:
        """Remember the events of a calendar, deleted ones as well."""
        if "events.list" in self.missing or (calendar, token) in self._counted:
            return
        self._counted.add((calendar, token))
        path = f"{CALENDARS}/{quote(calendar, safe='')}/events?showDeleted=true&maxResults=2500"
        self._remember(path, "items", token)

    def _remember(self, path: str, key: str, token: str) -> None:
        page, more = self._page(path, token), ""
        while True:
            rows = page.get(key)
            rows = rows if isinstance(rows, list) else []
            self.known_ids |= {str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row}
            following = page.get("nextPageToken")
            if not following or following == more:
                return
            more = following
            page = self._page(f"{path}&pageToken={quote(str(more))}", token)

    def _page(self, path: str, token: str) -> dict[str, Any]:
        return self.exchange("GET", path, None, [("Authorization", f"Bearer {token}")]).object()

    # What is made.

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Nothing in here is cut short by an interrupt; it is heard afterwards."""
        self._undisturbed = True
        try:
            yield
        finally:
            self._undisturbed = False

    def clear(self, ledger: CreatedResources) -> None:
        """Remove what a test has made; what it was stays known, should it be listed still."""
        self.known_ids |= ledger.ids
        with self.uninterrupted():
            self.left += ledger.remove(self._remove)

    def _remove(self, made: CreatedResource) -> int:
        if made.method == "DELETE" and made.description != "session" and self._lacks_deletion(made.path):
            return 501
        try:
            pairs = [("Authorization", f"Bearer {made.token}")] if made.token else []
            body = None
            if made.body is not None:
                body, pairs = json.dumps(dict(made.body)).encode(), [*pairs, ("Content-Type", "application/json")]
            return self.exchange(made.method, made.path, body, pairs).status
        except Unreachable:
            return 0

    def _lacks_deletion(self, path: str) -> bool:
        return (operation_of("DELETE", path) or "") in self.missing


def _is_rate_limit(reply: Reply) -> bool:
    if reply.status == 429:
        return True
    return reply.status == 403 and b"ateLimitExceeded" in reply.body


def _wait(reply: Reply, attempt: int) -> float:
    after = reply.headers.get("retry-after", "")
    return min(float(after) if after.isdigit() else 2.0**attempt, LONGEST_WAIT)


def _describe_error(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return f"{type(error).__name__}: {error}"


def operation_of(method: str, target: str) -> str | None:
    """The family's name of an operation that the interface does not show; None: one that it does, or none at all."""
    from svc_notebooks.core.api.operations import OPERATIONS

    parts = urlsplit(target)
    root, *path = parts.path.strip("/").split("/")
    media = root == "upload"
    if media:
        root, *path = path
    if root not in ("storage", "calendar") or path[:1] != ["v3"]:
        return None
    names = [
        operation.name
        for operation in OPERATIONS
        if method in operation.methods
        and operation.calendar == (root == "calendar")
        and _fits(operation.path, path[1:])
    ]
    if not names:
        return None
    name = min(names, key=lambda name: name in ("files.get", "files.delete"))  # /files/generateIds is no file
    if media:
        return "PATCH of an upload address" if method == "PATCH" else None
    shown = name in SHOWN or (name == "files.get" and "media" in parse_qs(parts.query).get("alt", []))
    return None if shown else name


SHOWN = {"files.create", "files.watch", "changes.watch", "channels.stop", "events.insert"}


def _fits(template: Iterable[str], path: list[str]) -> bool:
    template = list(template)
    return len(template) == len(path) and all(
        word.startswith("{") or word == part for word, part in zip(template, path, strict=True)
    )


def name_prefixes(site: RemoteDeployment) -> Iterator[str]:
    """Prefixes for names that must be new for ever, one for each test."""
    while True:
        site.visits += 1
        yield f"svc-conformance-{site.run}-{site.visits}-"
