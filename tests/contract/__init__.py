"""The contract, rule by rule, in raw HTTP."""

import pytest

# What tests say through these words shall fail as clearly as what they say themselves.
pytest.register_assert_rewrite("tests.contract.calendar_client", "tests.contract.watch_client", "tests.contract.wire")
