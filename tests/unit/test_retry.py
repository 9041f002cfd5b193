"""When to try again: growing, jittered, capped; and when to stop."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.retry import RetryRule, parse_retry_after

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
FAR_ZONE = "Mon, 05 Jan 2026 09:01:30 +" + "9" * 20


@pytest.mark.spec("A3-22")
def test_the_delay_doubles_up_to_the_cap() -> None:
    rule = RetryRule(base=1, cap=32)

    assert [rule.delay(n, chance=1.0) for n in range(1, 8)] == [1, 2, 4, 8, 16, 32, 32]


@pytest.mark.spec("A3-22")
@given(st.integers(1, 10_000), st.floats(0, 1))
def test_full_jitter_stays_between_nothing_and_the_cap(failures: int, chance: float) -> None:
    assert 0 <= RetryRule().delay(failures, chance) <= RetryRule().cap


@pytest.mark.spec("A3-22")
@pytest.mark.parametrize(
    "header, seconds",
    [
        ("120", 120),
        ("Mon, 05 Jan 2026 09:01:30 GMT", 90),
        ("soon", None),
        ("9" * 400, None),
        (FAR_ZONE, None),
        (None, None),
    ],
)
def test_retry_after_is_read_in_both_forms(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


@pytest.mark.spec("A3-22")
def test_retry_after_is_the_least_that_is_waited() -> None:
    assert RetryRule().delay(1, chance=0.1, retry_after=50) == 50
    assert RetryRule().delay(5, chance=1, retry_after=1) == 16


def test_patience_is_counted_from_progress_and_a_deadline_from_the_start() -> None:
    rule = RetryRule(patience=60, deadline=600)

    assert not rule.exhausted(since_progress=59, since_start=599)
    assert rule.exhausted(since_progress=61, since_start=61)
    assert rule.exhausted(since_progress=1, since_start=601)
