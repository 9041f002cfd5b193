from pathlib import Path

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.clock import VirtualClock
from tests.contract.conftest import InProcess
from tests.contract.watch_client import Watch
from tests.receivers import receiver


@pytest.mark.spec("N-11")
def test_pending_deliveries_survive_a_restart(tmp_path: Path) -> None:
    clock = VirtualClock()
    with receiver() as webhook:
        webhook.answers = [503]
        with open_service(tmp_path, seed=0, clock=clock) as service:
            service.register_domain("localhost")
            service.trust(webhook.ca_pem)
            watch = Watch(InProcess(service, "http://svc.test"), webhook)
            file = watch.wire.create()["id"]
            watch.file(file, token="kept")
            watch.messages()
            watch.patch(file, {"name": "said before the end"})
        webhook.requests.clear()

        with open_service(tmp_path, seed=0, clock=VirtualClock(clock.now())) as service:
            service.clock.advance("1m")  # type: ignore[union-attr]
            states = [(notification.resource_state, notification.channel_token) for notification in webhook.wait_for(2)]
            attempts = [(row["state"], row["attempt"]) for row in service.deliveries()]

    assert states == [("sync", "kept"), ("update", "kept")]
    assert attempts == [("sync", 2), ("update", 1)]


@pytest.mark.spec("A8-05")
def test_messages_to_a_domain_that_is_no_longer_registered_are_not_sent(tmp_path: Path) -> None:
    """Registered by the policy, and the service is opened again with another one."""
    with receiver() as webhook:
        with open_service(tmp_path, background=False, policy=Policy(verified_domains=("localhost",))) as service:
            service.trust(webhook.ca_pem)
            assert Watch(InProcess(service, "http://svc.test"), webhook).changes().status == 200
        with open_service(tmp_path) as service:
            service.deliver()
            [row] = service.deliveries()

    assert (row["outcome"], row["error"]) == ("failed", "the domain of the address is not registered")
    assert webhook.requests == []
