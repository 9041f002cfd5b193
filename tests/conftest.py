"""What every test shares: the count of rules, and a machine that is nobody's."""

from pathlib import Path

import pytest

pytest_plugins = ["tests.plugin_rules"]


@pytest.fixture(autouse=True)
def _nobodys_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test talks to a developer's own deployment, or writes among their pending uploads."""
    for name in ("SVC_BASE_URL", "SVC_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SVC_NOTEBOOKS_STATE", str(tmp_path / "svc-state"))
