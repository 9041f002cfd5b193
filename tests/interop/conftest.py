"""A service on a socket, for programs that know nothing of us."""

import itertools
import json
import os
import re
from collections import defaultdict
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import pytest

from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.socket_server import SocketServer

ROOT = Path(__file__).parents[2]
CONNECT_PROXY = ROOT / "docs" / "clients" / "connect_proxy.py"
SEEN = ROOT / "build" / "clients-seen"
# The tasks in the table of docs/deployments.md, in this order.
TASKS = ("sign-in", "upload", "chunks", "interruption", "range", "pages", "batch", "events", "sync")


class Seen(Protocol):
    """Records the tasks that a client did in a test."""

    def __call__(self, client: str, version: str, *tasks: str) -> None: ...


@pytest.fixture
def seen(request):
    def record(client, version, *tasks):
        assert set(tasks) <= set(TASKS)
        SEEN.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", f"{client} {request.node.name}")
        (SEEN / f"{name}.json").write_text(json.dumps([client, version, f"{datetime.now(UTC):%Y-%m-%d}", tasks]))

    return record


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the table of the clients if WRITE_CLIENTS is set. Clients that were not run keep their row."""
    if not os.environ.get("WRITE_CLIENTS") or hasattr(session.config, "workerinput"):
        return
    page = ROOT / "docs" / "deployments.md"
    heading = "| client | version | tasks | date |\n|---|---|---|---|\n"
    before, heading, after = page.read_text("utf-8").partition(heading)
    old = "".join(itertools.takewhile(lambda line: line.startswith("|"), after.splitlines(keepends=True)))
    rows = dict(re.findall(r"^\| (.*?) (\|.*)$", old, re.MULTILINE))
    tasks_of = defaultdict[tuple[str, str, str], set[str]](set)
    for path in SEEN.glob("*.json"):
        client, version, date, tasks = json.loads(path.read_text())
        tasks_of[client, version, date].update(tasks)
    for (client, version, date), tasks in tasks_of.items():
        rows[client] = f"| {version} | {', '.join(task for task in TASKS if task in tasks)} | {date} |"
    table = "".join(f"| {client} {rows[client]}\n" for client in sorted(rows, key=str.casefold))
    page.write_text(before + heading + table + after.removeprefix(old), "utf-8")


@pytest.fixture
def service():
    service = open_service(seed=0)
    yield service
    service.close()


@pytest.fixture
def base_url(service):
    with SocketServer(service) as server:
        yield server.base_url


@pytest.fixture
def token(service):
    return service.sign_in()


def google_description(api: str) -> dict[str, Any]:
    """Return the bundled description of the API "drive" or "calendar" with our word for storage."""
    text = resources.files("googleapiclient").joinpath(f"discovery_cache/documents/{api}.v3.json").read_text()
    document: dict[str, Any] = json.loads(text.replace("drive/v3", "storage/v3"))
    return document


def google_client(api: str, base_url: str, token: str) -> Any:
    """The client for "drive" or "calendar", whose bundled description has our address."""
    import google_auth_httplib2
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build_from_document
    from googleapiclient.http import build_http

    document = google_description(api)
    document["rootUrl"] = f"{base_url}/"
    document["baseUrl"] = f"{base_url}/{document['servicePath']}"
    document.pop("mtlsRootUrl", None)
    http = google_auth_httplib2.AuthorizedHttp(Credentials(token), http=build_http())
    return build_from_document(document, http=http)


@pytest.fixture
def calendar(base_url, token):
    """gcsa with its service object pointed at ours; everything above it is as it was installed."""
    from gcsa.google_calendar import GoogleCalendar
    from google.oauth2.credentials import Credentials

    calendar = GoogleCalendar("primary", credentials=Credentials(token))
    calendar.service.close()
    calendar.service = google_client("calendar", base_url, token)
    yield calendar
    calendar.service.close()
