"""gcsa with a sandbox: a recurring event, free and busy time, and an event in words.

The sandbox has the names of the client, as in google_api_python_client.py. SVC_BASE_URL is the address of the service,
and SVC_TOKEN an access token.
"""

import json
import os
from datetime import datetime
from importlib import resources
from zoneinfo import ZoneInfo

from gcsa.event import Event
from gcsa.google_calendar import GoogleCalendar
from gcsa.recurrence import WEEKLY, Recurrence
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build_from_document

credentials = Credentials(os.environ["SVC_TOKEN"])
calendar = GoogleCalendar("primary", credentials=credentials)
calendar.service.close()

# gcsa has no argument for the address, so its service object is replaced.
document = resources.files("googleapiclient") / "discovery_cache" / "documents" / "calendar.v3.json"
description = json.loads(document.read_text())
description["rootUrl"] = os.environ["SVC_BASE_URL"] + "/"
calendar.service = build_from_document(description, credentials=credentials)

utc = ZoneInfo("UTC")
first, end = datetime(2026, 11, 2, 10, tzinfo=utc), datetime(2026, 11, 2, 11, tzinfo=utc)
rule = Recurrence.rule(freq=WEEKLY, count=3)
calendar.add_event(Event("Seminar", start=first, end=end, timezone="UTC", recurrence=rule))

november = datetime(2026, 11, 1, tzinfo=utc), datetime(2026, 12, 1, tzinfo=utc)
lessons = list(calendar.get_events(*november, single_events=True, order_by="startTime", timezone="UTC"))
print(*[f"{lesson.start:%m-%d}" for lesson in lessons])

busy = calendar.get_free_busy(time_min=november[0], time_max=november[1], timezone="UTC")
print(len(list(busy)), "busy times")

made = calendar.add_quick_event("Appointment at Somewhere on June 3rd 10am-10:25am")
print(made.summary, "at", made.location)
calendar.service.close()
