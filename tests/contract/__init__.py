"""The contract, rule by rule, in raw HTTP."""

import pytest

# What tests say through these words shall fail as clearly as what they say themselves.
pytest.register_assert_rewrite("tests.contract.diary", "tests.contract.watching", "tests.contract.wire")
