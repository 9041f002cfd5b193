import json

import pytest

from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.http.messages import Request
from svc_notebooks.server.service import open_service
from tests.framed import requester


def create(service, token, name="a"):
    body = json.dumps({"name": name}).encode()
    answer = requester(service, token)("POST", "/storage/v3/files", body, Content_Type="application/json")
    return json.loads(answer.content())["id"]


def names(service, token):
    answer = requester(service, token)("GET", "/storage/v3/files")
    return [file["name"] for file in json.loads(answer.content())["files"]]


def test_each_reset_begins_new_ids_that_a_seed_repeats():
    """A row from before a reset does not name a file created after it."""
    with open_service(seed=7) as first_service, open_service(seed=7) as second_service:
        drawn = []
        for service in (first_service, second_service):
            token = service.sign_in()
            drawn.append([create(service, token)])
            for _ in range(2):
                service.reset()
                assert names(service, token) == []
                drawn[-1].append(create(service, token))

    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


def test_a_closed_service_refuses_requests_with_advice(caplog):
    service = open_service(seed=0)
    service.close()

    with pytest.raises(Unsupported, match="The service is closed") as error:
        service.handle(Request("GET", "http://svc.local/storage/v3/files"))

    assert "svc.sandbox()" in error.value.advice
    assert not caplog.records
