import pytest

from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.http.messages import Request
from svc_notebooks.server.service import open_service
from tests.contract.wire import InProcess


def test_each_reset_begins_new_ids_that_a_seed_repeats():
    """A row from before a reset does not name a file created after it."""
    with open_service(seed=7) as first_service, open_service(seed=7) as second_service:
        drawn = []
        for service in (first_service, second_service):
            wire = InProcess(service, "http://svc.test")
            drawn.append([wire.create()["id"]])
            for _ in range(2):
                service.reset()
                assert wire.names() == []
                drawn[-1].append(wire.create()["id"])

    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


def test_a_closed_service_refuses_requests_with_advice(caplog):
    service = open_service(seed=0)
    service.close()

    with pytest.raises(Unsupported, match="The service is closed") as error:
        service.handle(Request("GET", "http://svc.local/storage/v3/files"))

    assert "svc.sandbox()" in error.value.advice
    assert not caplog.records
