import pytest

from svc_notebooks.core.uploads.transitions import (
    TRANSITIONS,
    IllegalUploadTransition,
    UploadEvent,
    UploadState,
    transition,
)


def test_an_illegal_transition_is_a_missing_row_and_every_state_but_none_can_expire():
    with pytest.raises(IllegalUploadTransition, match="expired"):
        transition(UploadState.EXPIRED, UploadEvent.PART)
    can_expire = {state for state, event in TRANSITIONS if event is UploadEvent.SILENCE}
    assert can_expire == set(UploadState) - {UploadState.NONE}
