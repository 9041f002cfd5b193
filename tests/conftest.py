"""What every test shares: the count of rules, and a home that is nobody's."""

import pytest

pytest_plugins = ["tests.plugin_rules"]


@pytest.fixture(autouse=True)
def _no_real_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own deployment is never what a test talks to."""
    for name in ("SVC_BASE_URL", "SVC_TOKEN"):
        monkeypatch.delenv(name, raising=False)
