import pytest

from svc_notebooks.server.dispatch.service_context import SizedCache
from tests.contract.calendar_client import ADA, BOB, CalendarClient, Fields, accepted
from tests.contract.conftest import Wire


@pytest.mark.parametrize("change", [{"summary": "new"}, {"colorId": "3"}, {"location": "Room 7"}])
def test_a_list_after_a_change_has_the_new_event(ada: CalendarClient, change: Fields) -> None:
    event = ada.made(summary="old")
    ada.items()

    changed = accepted(ada.patch(event["id"], change))

    assert ada.items() == [changed]
    assert changed["etag"] != event["etag"]


def test_each_user_gets_what_the_role_allows(ada: CalendarClient, wire: Wire) -> None:
    ada.made(summary="Surgery", visibility="private")
    ada.share("reader", BOB)
    bob = CalendarClient(wire, BOB, ADA)

    assert [event.get("summary") for event in ada.items()] == ["Surgery"]
    assert [event.get("summary") for event in bob.items()] == [None]
    assert [event.get("summary") for event in ada.items()] == ["Surgery"]


def test_links_have_the_address_of_each_request(ada: CalendarClient, wire: Wire) -> None:
    ada.made()
    first = ada.items()[0]["htmlLink"]

    host = {"Host": "other.example"}
    listed = wire.send("GET", "/calendar/v3/calendars/primary/events", token=ada.token, headers=host)

    link = accepted(listed)["items"][0]["htmlLink"]
    assert link.startswith("http://other.example/")
    assert ada.items()[0]["htmlLink"] == first != link


def test_the_oldest_texts_leave_a_full_cache() -> None:
    cache = SizedCache[str](12)
    for key, text in (("a", "text"), ("b", "text"), ("c", "text"), ("large", "x" * 13)):
        cache.keep(key, text, len(text) + 2)

    assert [cache.get(key) for key in ("a", "b", "c", "large")] == [None, "text", "text", None]
