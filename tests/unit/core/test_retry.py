from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http.backoff import Backoff, RetryRule, parse_retry_after
from svc_notebooks.core.uploads.client_state_machine import ResponseFacts

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
FAR_ZONE = "Mon, 05 Jan 2026 09:01:30 +" + "9" * 20


@pytest.mark.spec("A3-22", "A3-22a", "A3-22b")
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.001, 100), st.floats(0.001, 1000))
def test_each_delay_is_longer_than_the_one_before_until_the_cap(chances, base, cap):
    rule = RetryRule(base=base, cap=cap)
    delays = [rule.delay(failures, chance) for failures, chance in enumerate(chances, start=1)]

    for delay, following in pairwise(delays):
        assert delay < following or delay == following == cap


@pytest.mark.spec("A3-22", "A3-22a", "A3-22b")
@given(st.integers(1, 10_000), st.floats(0, 1))
def test_jitter_removes_at_most_a_quarter(failures, chance):
    longest = RetryRule().delay(failures, chance=0.0)

    assert 0.75 * longest <= RetryRule().delay(failures, chance) <= longest


@pytest.mark.spec("A3-22", "A3-22c")
@pytest.mark.parametrize(
    "header, seconds",
    [
        ("120", 120),
        ("Mon, 05 Jan 2026 09:01:30 GMT", 90),
        ("soon", None),
        ("9" * 400, float("inf")),
        ("-5", None),
        ("1e9", None),
        ("", None),
        ("Mon, 05 Jan 2026 08:00:00 GMT", 0),
        (FAR_ZONE, None),
        (None, None),
    ],
)
def test_retry_after_is_read_in_both_forms(header, seconds):
    assert parse_retry_after(header, NOW) == seconds


def test_patience_is_counted_from_progress_and_a_deadline_from_the_start():
    backoff = Backoff(RetryRule(base=100, cap=100, patience=60, deadline=600), now=0.0)
    backoff.progress(500.0)
    assert backoff.wait(559.0, 0.5) == 1
    backoff.progress(589.0)
    assert backoff.wait(590.0, 0.5) == 10


@pytest.mark.parametrize("retry_after, left", [(7.1, 7.0), (float("inf"), 300.0), (None, 0.0), (None, -1.0)])
def test_the_client_gives_up_without_time_left_or_for_a_longer_retry_after(retry_after, left):
    backoff = Backoff(RetryRule(), now=0.0)

    assert backoff.wait(300.0 - left, 0.5, retry_after) is None
    assert backoff.too_long == retry_after


@given(st.integers(1, 99), st.floats(0, 1), st.none() | st.floats(0, 1e9), st.floats(-10, 1e6))
def test_no_wait_is_longer_than_the_time_that_is_left(failures, chance, retry_after, left):
    backoff = Backoff(RetryRule(patience=left), now=0.0)
    backoff.failures = failures - 1

    wait = backoff.wait(0.0, chance, retry_after)

    assert wait is None or (retry_after or 0) <= wait <= left


@pytest.mark.parametrize("reason", ["contentDamaged", "databaseDamaged"])
def test_damage_is_not_worth_retrying_at_any_status(reason):
    assert ResponseFacts(500, reason="backendError").worth_retrying
    assert not ResponseFacts(500, reason=reason).worth_retrying
    assert not ResponseFacts(507, reason="insufficientStorage").worth_retrying
