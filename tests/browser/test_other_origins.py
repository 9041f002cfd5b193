import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

import svc_notebooks as svc
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.browser.conftest import CHROMIUM
from tests.browser.page_calls import PATIENCE, call
from tests.contract.control_calls import CALLS, control_state

pytestmark = pytest.mark.browser

ADA = "ada@svc.example"
TOKEN = "of-ada"
REDIRECT_URI = "https://app.example/back"

HELPERS = """
const settled = (promise) => promise.then((r) => r.type === 'opaque' ? 'opaque' : r.status, () => 'blocked');
const text = (method, body) => method === 'GET' || body === null ? undefined : body;

const frame = (start) => new Promise((done) => {
  const element = document.createElement('iframe');
  element.name = 'frame' + document.querySelectorAll('iframe').length;
  document.body.append(element);
  element.onload = () => done('loaded');
  setTimeout(() => done('no page'), 10_000);  // an answer that is saved to a file loads no page
  start(element);
});

const inFrame = (url) => frame((element) => { element.src = url; });

const byForm = (url, fields, enctype) => frame((element) => {
  const form = document.createElement('form');
  Object.assign(form, {method: 'POST', action: url, target: element.name, enctype});
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement('input'), {name, value}));
  }
  document.body.append(form);
  form.submit();
});

const asImage = (url) => new Promise((done) => {
  const image = new Image();
  image.onload = image.onerror = (event) => done(event.type);
  image.src = url;
});
"""

ATTACK_CONTROL = (
    "async ([base, calls]) => {"
    + HELPERS
    + """
  const results = {};
  const note = async (how, promise) => { (results[how] ??= []).push(await promise); };
  for (const [method, name, value] of calls) {
    const url = `${base}/_control/${name}`;
    const body = value === null ? null : JSON.stringify(value);
    const simple = {method, body: text(method, body), credentials: 'include'};
    await note('cors', settled(fetch(url, {...simple, credentials: 'omit'})));
    await note('cors with the cookie', settled(fetch(url, simple)));
    await note('preflighted', settled(fetch(url, {...simple, headers: {'Content-Type': 'application/json'}})));
    if (method === 'GET' || method === 'POST') await note('no-cors', settled(fetch(url, {...simple, mode: 'no-cors'})));
    if (method === 'GET') await note('image', asImage(url));
    if (method === 'GET') await note('iframe', inFrame(url));
    if (method === 'POST') await note('form', byForm(url, {[body || '']: ''}, 'text/plain'));
    if (method === 'POST') navigator.sendBeacon(url, body || '');
  }
  return results;
}"""
)

ATTACK_PAGES = (
    "async ([base, authorize]) => {"
    + HELPERS
    + """
  const form = 'application/x-www-form-urlencoded';
  const user = new URLSearchParams({user: 'eve@svc.example'});
  const silent = `${base}${authorize}&prompt=none`;
  const quiet = {credentials: 'include', mode: 'no-cors'};
  await byForm(`${base}/signin`, {user: 'eve@svc.example'}, form);
  await byForm(`${base}/signout`, {}, form);
  await byForm(`${base}${authorize}`, {decision: 'allow', 'scope.storage': 'on', signature: 'x'}, form);
  await inFrame(silent);
  await asImage(silent);
  return Promise.all([
    fetch(`${base}/signin`, {...quiet, method: 'POST', body: user}),
    fetch(`${base}/signout`, {...quiet, method: 'POST', body: ''}),
    fetch(silent, {...quiet, redirect: 'follow'}),
    fetch(silent, {credentials: 'include'}),
    fetch(`${base}/signin`, {credentials: 'include'}),
    fetch(`${base}/storage/v3/files`, {credentials: 'include'}),
  ].map(settled));
}"""
)

REBINDING_REQUESTS = """async () => {
  const results = [];
  for (const [method, path] of [['POST', '/_control/reset'], ['GET', '/_control/state'], ['GET', '/signin'],
                                ['POST', '/signin'], ['GET', '/_live/activity']]) {
    results.push((await fetch(path, {method, headers: {'X-Forwarded-Host': '127.0.0.1'}})).status);
  }
  return results;
}"""

USE_INTERFACE = """async ([base, token, size]) => {
  const bearer = {Authorization: `Bearer ${token}`};
  const files = `${base}/storage/v3/files`, upload = `${base}/upload/storage/v3/files`;
  const content = new Uint8Array(size).map((_, index) => index % 251);
  const chunk = 262144;

  const parts = ['--b', 'Content-Type: application/json', '', '{"name": "of a page"}',
                 '--b', 'Content-Type: text/plain', '', 'hello', '--b--', ''].join('\\r\\n');
  const multipart = await fetch(`${upload}?uploadType=multipart`, {
    method: 'POST', body: parts, headers: {...bearer, 'Content-Type': 'multipart/related; boundary=b'}});
  const made = await multipart.json();

  const begun = await fetch(`${upload}?uploadType=resumable`, {
    method: 'POST', body: '{"name": "in chunks"}',
    headers: {...bearer, 'Content-Type': 'application/json', 'X-Upload-Content-Length': size}});
  const uri = begun.headers.get('Location');
  const put = (first, end) => fetch(uri, {
    method: 'PUT', body: content.slice(first, end),
    headers: {...bearer, 'Content-Range': `bytes ${first}-${end - 1}/${size}`}});
  const sent = await put(0, chunk);
  const query = await fetch(uri, {method: 'PUT', headers: {...bearer, 'Content-Range': `bytes */${size}`}});
  const next = Number(query.headers.get('Range').split('-')[1]) + 1;
  const last = await put(next, size);
  const file = await last.json();

  const part = await fetch(`${files}/${file.id}?alt=media`, {headers: {...bearer, Range: 'bytes=250-260'}});
  const bytes = [...new Uint8Array(await part.arrayBuffer())];
  const gone = await fetch(`${files}/${made.id}`, {method: 'DELETE', headers: bearer});
  const missing = await fetch(`${files}/${made.id}`, {headers: bearer});
  const stranger = await fetch(files);
  return {
    multipart: [multipart.status, made.name],
    chunks: [begun.status, sent.status, sent.headers.get('Range'), query.status, next, last.status],
    range: [part.status, part.headers.get('Content-Range'), bytes],
    gone: [gone.status, missing.status, (await missing.json()).error.errors[0].reason],
    stranger: [stranger.status, stranger.headers.get('WWW-Authenticate')],
  };
}"""


class _EmptyPageHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body></body>")

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def other_site_port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPageHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    """A service as `serve --control` opens it, whose first user Ada has signed in."""
    with open_service(policy=Policy(browser_sign_in="choose", fault_header="anyone")) as service:
        service.sign_in(token=TOKEN)
        yield service


@pytest.fixture
def base_url(service: Service) -> Iterator[str]:
    with SocketServer(service, control=True) as server:
        yield server.base_url


@pytest.fixture
def signed_in(chromium, base_url):
    """A browser in which Ada is signed in to the pages of the service."""
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{base_url}/signin")
    page.get_by_role("button", name=ADA).click()
    page.get_by_text(f"signed in as {ADA}").wait_for()
    yield page
    context.close()


# To the browser the first is another site, and the second another origin of the same one, to which it sends cookies.
SITES = pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])


@SITES
def test_no_control_call_changes_anything(signed_in, host, other_site_port, service, base_url):
    before = control_state(service)
    signed_in.goto(f"http://{host}:{other_site_port}/")

    results = call(signed_in, ATTACK_CONTROL, [base_url, CALLS])

    for how in ("cors", "cors with the cookie", "preflighted"):
        assert set(results[how]) == {"blocked"}, how
        assert len(results[how]) == len(CALLS)
    assert set(results["no-cors"]) == {"opaque"}
    assert set(results["image"]) == {"error"}
    assert set(results["form"]) == set(results["iframe"]) == {"loaded"}
    refused = [row["status"] for row in service.journal() if row["operation"] == "control"]
    assert set(refused) == {403}
    assert len(refused) >= 4 * len(CALLS)
    assert control_state(service) == before


@SITES
def test_no_page_signs_in_signs_out_or_consents(signed_in, host, other_site_port, service, base_url):
    app = service.oauth_client("app", [REDIRECT_URI])
    query = {"response_type": "code", "client_id": app["client_id"], "redirect_uri": REDIRECT_URI,
             "scope": "https://svc.example/auth/storage"}  # fmt: skip
    people, since = service._context.store.users.emails(), service.requests_served
    signed_in.goto(f"http://{host}:{other_site_port}/")

    results = call(signed_in, ATTACK_PAGES, [base_url, f"/authorize?{urlencode(query)}"])

    assert results[2:] == ["opaque", "blocked", "blocked", "blocked"]
    rows = [(row["operation"], row["method"], row["status"]) for row in service.journal(since)]
    changing = {status for name, method, status in rows if method == "POST" or name == "oauth.authorize"}
    assert changing == {403}
    assert len(rows) == 11
    assert service._context.store.users.emails() == people
    signed_in.goto(f"{base_url}/signin")
    assert f"signed in as {ADA}" in signed_in.inner_text("body")


def test_a_name_that_was_made_to_lead_here_reaches_nothing(chromium, service, base_url):
    """DNS rebinding: to the browser the page at this name and the service are one origin."""
    before, port = control_state(service), urlsplit(base_url).port
    arguments = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=arguments, timeout=PATIENCE)
    try:
        page = browser.new_page()
        page.goto(f"http://evil.example:{port}/storage/v3/files")
        statuses = call(page, REBINDING_REQUESTS)
    finally:
        browser.close()

    assert statuses == [403, 403, 403, 403, 403]
    assert control_state(service)[:3] == before[:3]
    assert {row["decided_by"] for row in service.journal() if row["status"] == 403} == {"host_names"}


@SITES
def test_a_page_with_a_token_uses_the_interface(signed_in, host, other_site_port, base_url):
    signed_in.goto(f"http://{host}:{other_site_port}/")

    results = call(signed_in, USE_INTERFACE, [base_url, TOKEN, 600_000])

    assert results == {
        "multipart": [200, "of a page"],
        "chunks": [200, 308, "bytes=0-262143", 308, 262_144, 200],
        "range": [206, "bytes 250-260/600000", [250, *range(10)]],
        "gone": [204, 404, "notFound"],
        "stranger": [401, 'Bearer realm="svc"'],
    }


RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"

RUN_SCRIPT = """async ([script, base, token]) => {
  window.process = {env: {SVC_BASE_URL: base, SVC_TOKEN: token}};
  const lines = [];
  const log = console.log;
  console.log = (line) => lines.push(line);
  try {
    await new (async () => {}).constructor(script)();
  } catch (error) {
    lines.push(String(error));
  }
  console.log = log;
  return lines;
}"""


@SITES
def test_the_recipe_with_fetch_works_in_a_page_of_this_machine(chromium, host, other_site_port):
    script = re.search(r"^```javascript\n(.*?)^```", RECIPES.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    with svc.sandbox() as lab, chromium.new_context() as context:
        page = context.new_page()
        page.goto(f"http://{host}:{other_site_port}/")
        server = lab.serve()
        lines = call(page, RUN_SCRIPT, [script[1], server.base_url, lab.access_token])
        page.goto("data:text/html,a page whose origin is null")
        refused = call(page, RUN_SCRIPT, [script[1], server.base_url, lab.access_token])

    assert lines == ["species,count\nrobin,3\n"]
    assert refused == ["TypeError: Failed to fetch"]
