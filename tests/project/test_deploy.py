"""The files of deploy/ fit together, and fit the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from svc_notebooks.cli import _parser

FOLDER = Path(__file__).parents[2] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
_KEYS = {
    "build", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "ports", "restart",
    "stop_grace_period", "volumes",
}  # fmt: skip
"""The keys of a service that the Compose specification has and that we use."""


def entrypoint() -> list[str]:
    line = re.search(r"^ENTRYPOINT (.*)$", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line
    words: list[str] = json.loads(line[1])
    return words


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
def test_the_command_of_a_worker_has_valid_options(name: str) -> None:
    program, *words = entrypoint()
    command = [re.sub(r"\$\{.*\}", "value", word) for word in SERVICES[name]["command"]]
    options = _parser().parse_args([*words, *command])

    assert program == "svc-notebooks"
    assert (options.command, options.shared, options.metrics, options.log_format) == ("serve", True, True, "json")
    assert not options.control
    assert options.shutdown_delay + options.shutdown_timeout < seconds(SERVICES[name]["stop_grace_period"])


def test_each_service_has_known_keys_and_waits_for_services_that_can_be_waited_for() -> None:
    conditions = {"service_healthy": "healthcheck", "service_completed_successfully": "command"}
    for service in SERVICES.values():
        assert service.keys() <= _KEYS
        assert ("image" in service) != ("build" in service)
        for other, how in service.get("depends_on", {}).items():
            assert conditions[how["condition"]] in SERVICES[other]
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (FOLDER / source).exists()


def test_images_have_versions_and_only_the_proxy_has_a_port() -> None:
    images = [service["image"] for service in SERVICES.values() if "image" in service]

    assert all(re.search(r":[\w.-]*\d", image) for image in images)
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "proxy": ["127.0.0.1:8080:8080"]
    }


def test_the_example_has_each_variable_and_no_default_password_is_used() -> None:
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    example = {line.partition("=")[0] for line in (FOLDER / "example.env").read_text().splitlines() if "=" in line}

    assert used == example
    assert all(f"${{{name}:?" in text and f"${{{name}}}" not in text for name in used)


def test_the_proxy_knows_the_workers_and_buffers_nothing() -> None:
    text = (FOLDER / "nginx.conf").read_text(encoding="utf-8")

    assert set(re.findall(r"server (\S+):8080", text)) == {name for name in SERVICES if name.startswith("worker")}
    for setting in ("proxy_request_buffering off", "proxy_buffering off", "client_max_body_size 0"):
        assert f"{setting};" in text
