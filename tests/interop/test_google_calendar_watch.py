"""Notification channels for calendars that google-api-python-client opens and stops, unmodified."""

import pytest
from googleapiclient.channel import new_webhook_channel
from googleapiclient.errors import HttpError

from tests.receivers import receiver

pytestmark = pytest.mark.interop


def test_events_and_the_list_are_watched(calendar, service):
    api = calendar.service
    event = {"summary": "Tea", "start": {"date": "2026-12-24"}, "end": {"date": "2026-12-25"}}
    with receiver() as hooks:
        service.register_domain("localhost")
        service.trust(hooks.ca_pem)
        token = api.events().list(calendarId="primary").execute()["nextSyncToken"]
        body = new_webhook_channel(hooks.address, token="secret").body()
        channel = api.events().watch(calendarId="primary", body=body).execute()
        listed = api.calendarList().watch(body=new_webhook_channel(hooks.address).body()).execute()
        api.events().insert(calendarId="primary", body=event).execute()
        api.calendars().insert(body={"summary": "Course"}).execute()
        service.deliver()
        changes = api.events().list(calendarId="primary", syncToken=token).execute()["items"]
        for each in (channel, listed):
            stop = {"id": each["id"], "resourceId": each["resourceId"]}
            assert api.channels().stop(body=stop).execute() in ("", b"")
        with pytest.raises(HttpError):
            api.channels().stop(body=stop).execute()

    states = [(message.channel_id, message.resource_state) for message in hooks.requests]
    assert sorted(states) == sorted((each["id"], state) for each in (channel, listed) for state in ("sync", "exists"))
    assert [change["summary"] for change in changes] == ["Tea"]
