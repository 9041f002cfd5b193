"""Tests the windows of rate limits beside real time, which a stopped clock does not show."""

from contextlib import suppress

from svc_notebooks.core.api.operations import OPERATIONS
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.http.messages import Query
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.dispatch.rate_limits import RateLimiter
from svc_notebooks.server.dispatch.service_context import Caller
from svc_notebooks.server.store.clock import VirtualClock

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
