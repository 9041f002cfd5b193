"""If-None-Match, with which a client learns that an event has not changed."""

from __future__ import annotations

import pytest

from tests.contract.calendar_client import WEEKLY, CalendarClient, Fields, path
from tests.contract.conftest import Answer


def ask(ada: CalendarClient, event: Fields, condition: str) -> Answer:
    headers = {"Authorization": f"Bearer {ada.token}", "If-None-Match": condition}
    return ada.wire.send("GET", path("primary", event["id"]), None, headers, token=None)


@pytest.mark.parametrize("condition", ["{etag}", "W/{etag}", '"1", {etag}', "*"])
def test_an_event_that_has_not_changed_is_304(ada: CalendarClient, condition: str) -> None:
    event = ada.made(summary="Tea")

    answer = ask(ada, event, condition.format(etag=event["etag"]))

    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", event["etag"])
    assert "Content-Length" not in answer.headers


@pytest.mark.parametrize("condition", ['"1"', "", "x"])
def test_with_another_etag_the_event_is_returned(ada: CalendarClient, condition: str) -> None:
    event = ada.made(summary="Tea")

    assert ask(ada, event, condition).json == event


def test_an_instance_that_was_changed_has_an_etag_of_its_own(ada: CalendarClient) -> None:
    first, second, *_ = ada.instances(ada.made(WEEKLY)["id"])
    ada.patch(first["id"], {"summary": "changed"})

    assert ask(ada, first, first["etag"]).status == 200
    assert ask(ada, second, second["etag"]).status == 304
