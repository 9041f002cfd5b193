"""Batches of google-api-python-client: many calls in one request, for files and for calendars.

The sandbox has the names of the client, as in google_api_python_client.py. SVC_BASE_URL is the address of the service,
and SVC_TOKEN an access token.
"""

import json
import os
from importlib import resources
from typing import Any

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError


def client(name: str) -> Any:
    """Build a client of an API, for the address of the service. The library reads it from `rootUrl` only."""
    document = resources.files("googleapiclient") / "discovery_cache" / "documents" / f"{name}.json"
    description = json.loads(document.read_text())
    description["rootUrl"] = os.environ["SVC_BASE_URL"] + "/"
    return build_from_document(description, credentials=Credentials(os.environ["SVC_TOKEN"]))


def show(request_id: str, response: Any, error: HttpError | None) -> None:
    """Print the outcome of one call. A call that fails does not stop the others."""
    print(request_id, error.status_code if error else response.get("name") or response.get("summary"))


with client("drive.v3") as drive, client("calendar.v3") as calendar:
    batch = drive.new_batch_http_request(callback=show)
    batch.add(drive.files().create(body={"name": "ducks"}), request_id="create")
    batch.add(drive.files().get(fileId="nobody"), request_id="missing")
    batch.execute()

    batch = calendar.new_batch_http_request(callback=show)
    for day in (2, 3, 4):
        event = {
            "summary": f"Lesson {day}",
            "start": {"date": f"2026-11-0{day}"},
            "end": {"date": f"2026-11-0{day + 1}"},
        }
        batch.add(calendar.events().insert(calendarId="primary", body=event), request_id=str(day))
    batch.execute()
