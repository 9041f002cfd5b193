from contextlib import nullcontext

import pytest

from svc_notebooks.core import thread_permit
from svc_notebooks.core.http.messages import Disconnected
from svc_notebooks.core.thread_permit import in_slices, set_permit
from svc_notebooks.server.dispatch.rate_limits import LongReads
from svc_notebooks.server.dispatch.requests_and_responses import json_text


class Permit(nullcontext[None]):
    """Counts how often it is released."""

    others_wait = False
    pauses = 0

    def __enter__(self) -> None:
        self.pauses += 1


@pytest.fixture
def permit(monkeypatch):
    monkeypatch.setattr(thread_permit, "SLICE_SECONDS", 0.0)
    permit = Permit()
    set_permit(permit)
    yield permit
    set_permit(None)


@pytest.mark.parametrize("others_wait, pauses", [(True, 100), (False, 0)])
def test_a_long_list_has_pauses_if_others_wait(permit, others_wait, pauses):
    permit.others_wait = others_wait

    text = LongReads().run(lambda: json_text([*range(100)], "\n"), "ada", lambda: False, nullcontext)

    assert (text.count(","), permit.pauses) == (99, pauses)


def test_the_work_ends_when_the_client_has_gone(permit):
    with pytest.raises(Disconnected):
        LongReads().run(lambda: [*in_slices(iter(range(1000)))], "ada", lambda: True, None)
