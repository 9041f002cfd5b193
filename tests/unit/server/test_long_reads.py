from contextlib import nullcontext, suppress

import pytest

from svc_notebooks.core import thread_permit
from svc_notebooks.core.api.operations import OPERATIONS
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.http.messages import Disconnected, Query
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.thread_permit import in_slices, set_permit
from svc_notebooks.server.dispatch.rate_limits import LongReads, RateLimiter
from svc_notebooks.server.dispatch.requests_and_responses import json_text
from svc_notebooks.server.dispatch.service_context import Caller
from svc_notebooks.server.store.clock import VirtualClock


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


ADA = Caller("ada@svc.example", "notebook", frozenset(), service_account=False, expires=None)


def test_who_has_waited_in_real_time_may_go_on_while_the_clock_is_stopped():
    seconds = 0.0
    limiter = RateLimiter(Policy(rate_limit=2, rate_costs="requests"), VirtualClock(), monotonic=lambda: seconds)

    def is_answered(at):
        nonlocal seconds
        seconds = at
        with suppress(ApiError):
            limiter.check(ADA, OPERATIONS[0], Query())
            return True
        return False

    assert [is_answered(at) for at in (0, 1, 2, 61, 62, 63, 64, 122, 124, 125)] == [
        *(True, True, False, False),  # told to wait until 62
        *(True, True, False),  # told to wait until 124
        *(False, True, True),
    ]
