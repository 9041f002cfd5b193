"""Tests of the source line at which a warning is shown."""

import pytest

from svc_notebooks.core.errors.caller_warning import warn_caller


def test_a_warning_is_shown_at_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="hello") as caught:
        warn_caller("hello")

    assert caught[0].filename == __file__
