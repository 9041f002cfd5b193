"""How many examples a property test draws: its share of what the profile of hypothesis (tests/conftest.py) says."""

from typing import Any

from hypothesis import settings


def examples(share: float = 1.0, **more: Any) -> settings:
    """The settings of a test that draws this share of the profile's examples: below 1 where an example costs much."""
    return settings(max_examples=max(1, round(settings.default.max_examples * share)), **more)
