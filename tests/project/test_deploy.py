"""The files of deploy/ and binder/ fit together and the command line, and let only named files into an image."""

import json
import os
import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from svc_notebooks.cli.options import commands
from svc_notebooks.cli.serve import read_environment, variable_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
KNOWN = set(map(variable_of, commands()["serve"]["options"]))


def entrypoint() -> list[str]:
    line = re.search(r"^ENTRYPOINT (.*)$", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line
    words: list[str] = json.loads(line[1])
    return words


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
def test_the_environment_of_a_worker_has_valid_options(name):
    variables = SERVICES[name]["environment"]
    urls = {"SVC_PUBLIC_URL": "https://files.example.org", "SVC_NAMES": "", "SVC_TOKEN_FILE": ""}
    options = read_environment({**variables, **urls})
    script, program, option, path, app = entrypoint()
    gunicorn = runpy.run_path(str(FOLDER / "gunicorn.conf.py"))

    assert (script, program, option, app) == ("svc-entrypoint", "gunicorn", "--config", "svc_notebooks.server.wsgi:app")
    copied = f"COPY deploy/gunicorn.conf.py {path.removesuffix('gunicorn.conf.py')}"
    assert copied in (FOLDER / "Dockerfile").read_text()
    assert variables.keys() - {variable for variable in variables if variable.startswith("AWS_")} <= KNOWN
    assert options.proxy == [SERVICES["proxy"]["networks"]["front"]["ipv4_address"]]
    assert (options.token, options.control_token) == (None, None)
    assert (options.shared, options.metrics, options.log_format, options.no_live_page) == (True, True, "json", True)
    assert not options.control
    assert gunicorn["graceful_timeout"] < float(SERVICES[name]["stop_grace_period"].removesuffix("s"))


def test_images_have_digests_and_only_the_proxy_has_a_port():
    lines = (FOLDER / "example.env").read_text().splitlines()
    images = dict(line.split("=", 1) for line in lines if "_IMAGE=" in line)

    digest = re.compile(r"[\w/.-]+:[\w.-]*\d[\w.-]*@sha256:(DIGEST|[0-9a-f]{64})")
    assert all(digest.fullmatch(image) for image in images.values())
    assert re.findall(r"^FROM (\S+)", (FOLDER / "Dockerfile").read_text(), re.MULTILINE) == ["${PYTHON_IMAGE}"] * 2
    assert all(service.get("image", "${X_IMAGE:?").startswith("${") for service in SERVICES.values())
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"proxy": ["127.0.0.1:8080:8080"]}


def test_the_example_has_each_variable_and_no_default_password_is_used():
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    example = {line.partition("=")[0] for line in (FOLDER / "example.env").read_text().splitlines() if "=" in line}

    assert used == example
    assert all(f"${{{name}}}" not in text for name in used)
    assert {name for name in used if f"${{{name}:?" not in text} == {"SVC_NAMES"}  # without it, the neutral names


def test_the_proxy_knows_the_workers_and_buffers_nothing():
    text = (FOLDER / "nginx.conf").read_text(encoding="utf-8")

    assert set(re.findall(r"server (\S+):8080", text)) == {name for name in SERVICES if name.startswith("worker")}
    for setting in ("proxy_request_buffering off", "proxy_buffering off", "client_max_body_size 0"):
        assert f"{setting};" in text


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_change_nothing_but_its_data(name):
    service = SERVICES[name]

    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert "no-new-privileges:true" in service["security_opt"]
    assert not re.search("PASSWORD$|SECRET|TOKEN$", " ".join(service.get("environment", {})))


def test_each_secret_is_created_and_used_and_in_no_command(tmp_path):
    script = shutil.copy(FOLDER / "make-secrets.sh", tmp_path)
    for _ in range(2):
        subprocess.run(["sh", script], check=True)
        made = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", ())}

    assert COMPOSE["secrets"] == {name: {"file": f"secrets/{name}"} for name in used}
    assert used <= made.keys()
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    accounts = {each["name"]: each["actions"] for each in json.loads(made["s3_accounts"])["identities"]}
    assert accounts["svc"] == ["Read:svc", "Write:svc", "List:svc"]
    named = re.findall(r"/run/secrets/(\w+)", (FOLDER / "entrypoint.sh").read_text())
    assert set(named) <= set(SERVICES["worker-1"]["secrets"])


def allowed(path: str) -> bool:
    """Whether a file gets into the build: the last line that matches the file or a folder above it decides."""
    result = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
            if re.fullmatch(f"{pattern}(?:/.*)?", path):
                result = line.startswith("!")
    return result


@pytest.mark.parametrize(
    "path",
    [
        "store/svc.sqlite", "svc.sqlite", "sign-in-tokens.csv", "tokens.csv", ".env", "deploy/.env", ".git/config",
        "deploy/secrets/svc_token", "svc_notebooks/store/svc.sqlite", "svc_notebooks/store/svc-store.json",
        "svc_notebooks/tokens.csv", "svc_notebooks/.env", "svc_notebooks/sign-in-tokens.csv", "key.json",
        "svc_notebooks/key.json", "svc_notebooks/store/parts/ab/abcd", "svc_notebooks/id_rsa", ".venv/lib/x.csv",
        "notebooks/store/svc.sqlite", "tests/key.pem", "requirements/store/svc.sqlite", "build/x.csv", "marks.json",
        "svc_notebooks/lesson.svc", "svc_notebooks/cli/jupyter/token.txt", "~/.aws/credentials", "token",
    ],
)  # fmt: skip
def test_no_store_and_no_secret_of_the_checkout_gets_into_the_build(path):
    assert not allowed(path)


def test_the_build_has_what_the_wheel_and_the_dockerfile_need():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    tracked = list(filter(None, listed.split("\0")))
    needed = [path for path in tracked if path.startswith("svc_notebooks/")]
    needed += ["pyproject.toml", "README.md", "LICENSE", "tools/build_hook.py", "tests/conftest.py", "tests/rules.csv"]
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )?(.+) \S+$", (FOLDER / "Dockerfile").read_text(), re.MULTILINE)
    needed += [path for paths in copied for path in paths.split() if path != "."]

    assert [path for path in needed if not allowed(path)] == []
    assert [path for path in tracked if allowed(path) and not (ROOT / path).is_file()] == []


ROOT = Path(__file__).parents[2]
BINDER = ROOT / "binder"


def test_a_python_is_named_that_the_package_takes():
    # With a binder/ folder pyproject.toml is not read; without a runtime the image has Python 3.10.
    version = re.fullmatch(r"python-(3\.\d+)\n", (BINDER / "runtime.txt").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert version
    assert version[1] in SpecifierSet(project["requires-python"])


def test_start_hands_on_our_settings_and_what_it_was_told():
    words = [BINDER / "start", "bash", "-c", 'echo "$JUPYTER_CONFIG_PATH"; echo "$0" "$@"', "first", "second word"]

    environment = {**os.environ, "REPO_DIR": str(ROOT)}
    process = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)

    settings, arguments = process.stdout.splitlines()
    assert (Path(settings) / "jupyter_server_config.json").is_file()
    assert arguments == "first second word"
