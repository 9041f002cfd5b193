"""Tests of the source line at which a warning is shown."""

import _thread
import queue
import warnings

import pytest

from svc_notebooks.core.errors.caller_warning import warn_caller
from tests.patience import PATIENCE


def test_a_warning_is_shown_at_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="hello") as caught:
        warn_caller("hello")

    assert caught[0].filename == __file__


def test_a_thread_without_a_caller_shows_the_warning():
    shown = queue.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_others: shown.put(str(message))
        _thread.start_new_thread(warn_caller, ("hello",))

        assert shown.get(timeout=PATIENCE) == "hello"
