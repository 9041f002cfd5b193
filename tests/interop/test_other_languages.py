"""Stock clients in other languages, unmodified, against a service with the names of their APIs.

Those with an option for the address use it. The others reach the service under the host names of their vendor, through
a proxy.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.core.brand_names import GOOGLE
from svc_notebooks.notebook.sandbox.certificates import tls_for
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.family import FAMILY_POLICY
from tests.interop.conftest import CONNECT_PROXY, Seen

pytestmark = [pytest.mark.interop, pytest.mark.languages]
FOLDER = Path(__file__).parent
GO = Path("/usr/share/gocode")
JAVA = Path("/usr/share/java")
JARS = (
    *("google-api-client", "google-oauth-client", "google-http-client", "google-http-client-gson", "gson", "guava"),
    *("opencensus-api", "opencensus-contrib-http-util", "grpc-context", "httpclient", "httpcore", "commons-logging"),
)
NODE = FOLDER.parents[1] / "build" / "node-clients" / "node_modules"
MCP = "@cocal/google-calendar-mcp"
HOSTS = ("www.googleapis.com", "oauth2.googleapis.com", "openidconnect.googleapis.com")
INTERRUPTED = {"match": {"operation": "upload.session", "nth": 2}, "action": {"status": 503}}


@pytest.fixture
def service():
    """A service with the system's clock, because these clients sign their assertions with its time."""
    with open_service(names=GOOGLE, policy=replace(FAMILY_POLICY, host_names=HOSTS)) as service:
        service.sign_in()
        yield service


@pytest.fixture
def vendor(service):
    """The variables with which a program reaches the service under the host names of the vendor."""
    with ExitStack() as stack:
        tls, ca = stack.enter_context(tls_for(*HOSTS))
        address = stack.enter_context(SocketServer(service, tls=tls)).base_url.removeprefix("https://")
        command = [sys.executable, str(CONNECT_PROXY), address]
        proxy = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        stack.callback(proxy.terminate)
        url = proxy.stdout.readline().strip()
        yield {"HTTPS_PROXY": url, "CURL_CA_BUNDLE": str(ca), "NODE_EXTRA_CA_CERTS": str(ca), "NODE_PATH": str(NODE)}


def key_file(service: Service, folder: Path, base_url: str) -> str:
    path = folder / "key.json"
    path.write_text(json.dumps(service.service_account("robot", base_url=base_url)))
    return str(path)


def run(*command: str, **variables: str) -> Any:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(outcomes: Mapping[str, object], seen: Seen, client: str, version: str, *others: str) -> None:
    """Compare the outcomes with those of a client whose every task succeeds, and record them for the documentation."""
    assert outcomes == {**dict.fromkeys(outcomes, True), "sign-in": "robot@notebooks.iam.svc.example"}
    seen(client, version, *outcomes, *others)


def debian(package: str) -> str:
    """Return the version of a package of Debian. Skip the test if it is not installed."""
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Version}", package], capture_output=True, text=True, check=False
    ) if shutil.which("dpkg-query") else None  # fmt: skip
    if done is None or not done.stdout:
        pytest.skip(f"{package} of Debian is not installed")
    return done.stdout.partition("-")[0].partition("+")[0]


def npm(package: str) -> str:
    """Return the version of a package of npm. Skip the test if it is not installed."""
    path = NODE / package / "package.json"
    if shutil.which("node") is None or not path.exists():
        pytest.skip(f"{package} of npm is not installed: make node-clients")
    return str(json.loads(path.read_text())["version"])


def test_ruby(service, base_url, tmp_path, seen):
    version = debian("ruby-google-api-client")
    with service.faults(INTERRUPTED):
        outcomes = run("ruby", str(FOLDER / "stock.rb"), base_url, key_file(service, tmp_path, base_url))

    check(outcomes, seen, "google-api-client in Ruby", version, "interruption")


def test_go(service, base_url, tmp_path, seen):
    version = debian("golang-google-api-dev")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or tmp_path) / "go-build"
    variables = {"GO111MODULE": "off", "GOPATH": str(GO), "GOCACHE": str(cache)}
    key = key_file(service, tmp_path, base_url)
    with service.faults(INTERRUPTED):
        outcomes = run("go", "run", str(FOLDER / "stock.go"), base_url, key, **variables)

    check(outcomes, seen, "google-api in Go", version, "interruption")


def test_java(service, base_url, tmp_path, seen):
    """Each request with a body is compressed, as the generated clients do by default."""
    version = debian("libgoogle-api-client-java")
    jars = os.pathsep.join(str(JAVA / f"{name}.jar") for name in JARS)
    key = key_file(service, tmp_path, base_url)
    with service.faults(INTERRUPTED):
        outcomes = run("java", "-cp", jars, str(FOLDER / "Stock.java"), base_url, key)

    check(outcomes, seen, "google-api-client in Java", version, "interruption")


def test_r(service, vendor, tmp_path, seen):
    version = debian("r-cran-googledrive")
    outcomes = run("Rscript", str(FOLDER / "stock.R"), key_file(service, tmp_path, f"https://{HOSTS[1]}"), **vendor)

    check(outcomes, seen, "googledrive in R", version)


def test_node(service, vendor, tmp_path, seen):
    version = npm("@googleapis/drive")
    outcomes = run("node", str(FOLDER / "stock.cjs"), key_file(service, tmp_path, f"https://{HOSTS[1]}"), **vendor)

    check(outcomes, seen, "@googleapis/drive and @googleapis/calendar", version)


def test_an_mcp_server(service, vendor, tmp_path, seen):
    version = npm(MCP)
    client = {"client_id": "notebook", "client_secret": "x", "redirect_uris": ["http://localhost:3000/oauth2callback"]}
    token = {"access_token": service.sign_in(), "refresh_token": "r", "expiry_date": int(time.time() + 3600) * 1000}
    for name, value in (("client", {"installed": client}), ("token", {"normal": token})):
        (tmp_path / name).write_text(json.dumps(value))
    files = {"GOOGLE_OAUTH_CREDENTIALS": "client", "GOOGLE_CALENDAR_MCP_TOKEN_PATH": "token"}
    variables = {**os.environ, **vendor, **{name: str(tmp_path / file) for name, file in files.items()}}
    command = ["node", str(NODE / MCP / "build" / "index.js")]
    november = {"timeMin": "2026-11-01T00:00:00", "timeMax": "2026-12-01T00:00:00"}
    times = {"start": "2026-11-05T12:00:00", "end": "2026-11-05T13:00:00", "timeZone": "UTC"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=variables) as server:
        tool = mcp_session(server)
        made = tool("create-event", calendarId="primary", summary="Lunch", **times)["event"]
        found = tool("search-events", calendarId="primary", query="Lunch", **november)["events"]
        busy = tool("get-freebusy", calendars=[{"id": "primary"}], **november)["calendars"]["primary"]["busy"]
        tool("update-event", calendarId="primary", eventId=made["id"], summary="Dinner")
        listed = tool("list-events", calendarId="primary", **november)["events"]
        tool("delete-event", calendarId="primary", eventId=made["id"])
        left = tool("list-events", calendarId="primary", **november)["events"]
        server.terminate()

    assert [event["id"] for event in found] == [made["id"]]
    assert [period["start"] for period in busy] == ["2026-11-05T12:00:00Z"]
    assert ([event["summary"] for event in listed], left) == (["Dinner"], [])
    seen(MCP, version, "events")


UNMODIFIED = """
import json
import os
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.http import MediaInMemoryUpload

account = Credentials(os.environ["SVC_TOKEN"])
media = MediaInMemoryUpload(bytes(700_000), "image/png", chunksize=262_144, resumable=True)
file = build("drive", "v3", credentials=account).files().create(body={"name": "a"}, media_body=media, fields="size")
lunch = build("calendar", "v3", credentials=account).events().quickAdd(calendarId="primary", text="Lunch 2026-11-05")
print(json.dumps([int(file.execute()["size"]), lunch.execute()["htmlLink"].startswith("https://www.googleapis.com/")]))
"""


def test_a_proxy_under_the_host_names_of_the_vendor():
    """The program has no setting of an address."""
    if missing := [program for program in ("nginx", "unshare", "ip", "openssl", "curl") if not shutil.which(program)]:
        pytest.skip(f"{missing[0]} is not installed")
    if subprocess.run(["unshare", "--map-root-user", "--mount", "--net", "true"], check=False).returncode:
        pytest.skip("this user cannot create a network of its own")
    recipe = CONNECT_PROXY.with_name("vendor_hosts.sh")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

    assert run("bash", str(recipe), sys.executable, "-c", UNMODIFIED, PATH=path) == [700_000, True]


def mcp_session(server: subprocess.Popen[str]) -> Callable[..., Any]:
    """Begin a session of the Model Context Protocol, and return a function that calls a tool."""

    def ask(method: str, **params: Any) -> Any:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        return next(each for line in server.stdout if (each := json.loads(line)).get("id") == method)["result"]

    ask("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={"name": "test", "version": "1"})
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def call(name: str, **arguments: Any) -> Any:
        return json.loads(ask("tools/call", name=name, arguments=arguments)["content"][0]["text"])

    return call
