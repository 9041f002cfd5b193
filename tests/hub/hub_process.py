"""Runs JupyterHub with the configuration of docs/hub.md, its proxy, and users without Unix accounts."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import requests
from websocket import create_connection

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "hub.md"
PROXY = ROOT / "build" / "hub-proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
DATA = ROOT / ".venv" / "share" / "jupyter"
SECONDS = 120
USERS = ("ada", "bob", "eve")
"""The users of the hub. Ada is an administrator."""

_SETTINGS = """
c.JupyterHub.bind_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.hub_port = {hub}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.cookie_secret_file = "{home}/cookie_secret"
c.JupyterHub.db_url = "sqlite:///{home}/hub.sqlite"
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {{"ada"}}
c.ConfigurableHTTPProxy.command = ["{command}"]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.pid_file = "{home}/proxy.pid"
c.SimpleLocalProcessSpawner.home_dir_template = "{home}/{{username}}"
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.http_timeout = c.Spawner.start_timeout = {seconds}
c.Spawner.environment.update({environment})
"""


def configuration() -> str:
    match = re.search(r"```python\n(from pathlib.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    return match[1]


@contextlib.contextmanager
def running_hub(home: Path) -> Iterator[str]:
    """Run a hub with its proxy and the service, and return its address when the service responds."""
    proxy, hub, api, service = _free_ports(4)
    variables = {  # JupyterLab and its extensions are in the environment of the checkout
        "PYTHONPATH": str(ROOT),
        "JUPYTER_PATH": str(DATA),
        "JUPYTER_CONFIG_PATH": str(DATA.parents[1] / "etc" / "jupyter"),
        "JUPYTERLAB_DIR": str(DATA / "lab"),
    }
    config = configuration().replace("http://127.0.0.1:8000", f"http://127.0.0.1:{proxy}")
    config = config.replace("/srv/svc-notebooks", str(home / "store")).replace(":10101", f":{service}")
    config = config.replace('"svc-notebooks", "serve"', f'"{sys.executable}", "-m", "svc_notebooks.cli", "serve"')
    config += _SETTINGS.format(
        proxy=proxy, hub=hub, api=api, home=home, command=PROXY, seconds=SECONDS, environment=variables
    )
    for user in USERS:
        (home / user).mkdir()
    (home / "jupyterhub_config.py").write_text(config)
    command = [sys.executable, "-m", "jupyterhub", "-f", str(home / "jupyterhub_config.py")]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # the hub starts jupyterhub-singleuser
    environment = {**os.environ, **variables, "PATH": programs, "CONFIGPROXY_AUTH_TOKEN": uuid4().hex}
    url = f"http://127.0.0.1:{proxy}"
    with (home / "hub.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"{url}/services/svc/openapi.json", process, home / "hub.log")
            yield url
        finally:
            process.terminate()
            process.wait(SECONDS)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"JupyterHub ended while it started:\n{log.read_text()[-3000:]}"
        with contextlib.suppress(requests.RequestException):
            if requests.get(url, timeout=5).status_code == 200:
                return
        time.sleep(0.2)
    raise AssertionError(f"the service did not respond within {SECONDS} s:\n{log.read_text()[-3000:]}")


class HubUser:
    """A user who is signed in to the hub in a browser without scripts, and has a notebook server."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.browser = requests.Session()
        self._kernel = ""

    def sign_in(self) -> None:
        self.browser.get(f"{self.url}/hub/login", timeout=SECONDS)
        form = {"username": self.name, "password": "", "_xsrf": self.browser.cookies.get_dict(path="/hub/")["_xsrf"]}
        answer = self.browser.post(f"{self.url}/hub/login?next=/hub/home", form, timeout=SECONDS)
        assert answer.status_code == 200, answer.text[:1000]

    def api(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"X-XSRFToken": self.browser.cookies.get_dict(path="/hub/")["_xsrf"], "Referer": f"{self.url}/hub/"}
        return self.browser.request(method, f"{self.url}/hub/api/{path}", headers=headers, timeout=SECONDS, **options)

    def open(self, address: str) -> requests.Response:
        return self.browser.get(address, headers={"Accept": "text/html"}, timeout=SECONDS)

    def consent(self, page: requests.Response) -> requests.Response:
        """Press the button of the hub's consent page, if the hub asks. Return the page that opens then."""
        if "/hub/api/oauth2/authorize" not in page.url:
            return page
        fields = re.findall(r'<input[^>]*name="(_xsrf|scopes)"[^>]*value="([^"]*)"', page.text)
        headers = {"Accept": "text/html", "Referer": page.url}
        return self.browser.post(page.url, fields, headers=headers, timeout=SECONDS)

    def token(self, **options: Any) -> str:
        """Return a new token of the user, as the page Token of the hub shows."""
        answer = self.api("POST", f"users/{self.name}/tokens", json={"note": "test", **options})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    def start_server(self) -> None:
        answer = self.api("POST", f"users/{self.name}/server")
        assert answer.status_code in (201, 202), answer.text
        deadline = time.monotonic() + SECONDS
        while not self.api("GET", f"users/{self.name}").json()["servers"].get("", {}).get("ready"):
            assert time.monotonic() < deadline, f"the server of {self.name} did not start"
            time.sleep(0.2)
        self._token = self.token()
        address = f"{self.url}/user/{self.name}/api/kernels"
        answer = requests.post(address, json={"name": "python3"}, headers=self._headers(), timeout=SECONDS)
        assert answer.status_code == 201, answer.text
        self._kernel = answer.json()["id"]

    def _headers(self) -> Mapping[str, str]:
        return {"Authorization": f"token {self._token}"}

    def run(self, code: str) -> str:
        """Run a cell, and return what the cell prints. Raises AssertionError for an exception of the cell."""
        address = f"{self.url.replace('http', 'ws', 1)}/user/{self.name}/api/kernels/{self._kernel}/channels"
        headers = [f"{name}: {value}" for name, value in self._headers().items()]
        socket = create_connection(address, header=headers, timeout=SECONDS)
        key, text = uuid4().hex, ""
        header = {"msg_id": key, "msg_type": "execute_request", "session": key, "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        try:
            socket.send(json.dumps(message))
            while True:
                reply = json.loads(socket.recv())
                if reply["parent_header"].get("msg_id") != key:
                    continue
                if reply["msg_type"] == "stream":
                    text += reply["content"]["text"]
                if reply["msg_type"] == "error":
                    raise AssertionError("\n".join(reply["content"]["traceback"]))
                if reply["msg_type"] == "status" and reply["content"]["execution_state"] == "idle":
                    return text.strip()
        finally:
            socket.close()
