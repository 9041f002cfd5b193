import pytest
import vobject
from hypothesis import assume, given

from svc_notebooks.client.events.ical import calendar_file
from svc_notebooks.server.service import open_service
from tests.properties.test_any_event import ALL, EVENTS, ServiceUnderTest, events, hypothesis_settings, outcome


@pytest.fixture(scope="module")
def service():
    return ServiceUnderTest(open_service(seed=0))


@hypothesis_settings
@given(event=events)
def test_any_accepted_event_is_one_event_of_a_file(service, event):
    service.sweep()
    status, made = outcome(service.event("POST", EVENTS + ALL, event))
    assume(status == 200 and made["status"] != "cancelled")

    (vevent,) = vobject.readOne(calendar_file([made], name=str(made.get("summary"))).decode()).vevent_list
    assert vevent.uid.value == made["iCalUID"]
