import pandas as pd
import pytest

import svc_notebooks as svc
from tests.notebook.batch.test_batch import PicklingExecutor

BATCH_COLUMNS = ["outcome", "error", "attempts", "seconds"]
DAYS = pd.DataFrame({"summary": ["A", "B", "C"], "start": ["2026-11-02"] * 3, "end": ["2026-11-03"] * 3})


@pytest.fixture(params=[{"workers": 3}, {"executor": PicklingExecutor()}], ids=["threads", "executor"])
def how(request, lab):
    """The arguments of a call on a service on a socket, whose session is the current session."""
    with lab.serve() as server, svc.connect(server.base_url, lab.access_token):
        yield request.param


def test_events_are_created_changed_and_deleted_in_their_order(how):
    made = svc.create_events(DAYS, **how)
    changed = svc.update_event(made, location="Lab", **how)
    deleted = svc.delete_event(made, **how)

    assert made["summary"].tolist() == changed["summary"].tolist() == ["A", "B", "C"]
    assert changed["id"].tolist() == deleted["id"].tolist() == made["id"].tolist()
    assert changed["location"].tolist() == ["Lab"] * 3
    assert deleted["deleted"].tolist() == [True] * 3
    for result in (made, changed, deleted):
        assert set(BATCH_COLUMNS) <= set(result.columns)
        assert result["outcome"].tolist() == ["done"] * 3
    assert svc.events().empty


def test_an_event_to_which_the_user_was_not_invited_does_not_stop_the_others(lab):
    guests = [["bob@svc.example"], [], ["bob@svc.example"]]
    made = svc.create_events(DAYS.assign(attendees=guests))
    bob = lab.sign_in("bob@svc.example")

    with pytest.warns(UserWarning, match="1 of 3 rows failed"):
        answered = svc.respond(made, "accepted", session=bob)

    assert answered["outcome"].tolist() == ["done", "failed", "done"]
    assert answered["id"].tolist() == made["id"].tolist()
