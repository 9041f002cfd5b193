"""The batches of google-api-python-client, unmodified, for files and for calendars."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import google_auth_httplib2
import pytest
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError
from googleapiclient.http import build_http

pytestmark = pytest.mark.interop


def client(api: str, base_url: str, token: str) -> Any:
    """The client for "drive" or "calendar", whose bundled description has our address and our word for storage."""
    text = resources.files("googleapiclient").joinpath(f"discovery_cache/documents/{api}.v3.json").read_text()
    document = json.loads(text.replace("drive/v3", "storage/v3"))
    document["rootUrl"] = f"{base_url}/"
    document.pop("mtlsRootUrl", None)
    document["baseUrl"] = f"{base_url}/{document['servicePath']}"
    http = google_auth_httplib2.AuthorizedHttp(Credentials(token), http=build_http())
    return build_from_document(document, http=http)


class Outcomes(dict[str, Any]):
    """The outcomes of a batch by request id."""

    def __call__(self, request_id: str, response: Any, exception: HttpError | None) -> None:
        self[request_id] = exception or response


def test_a_batch_for_files(base_url: str, token: str) -> None:
    outcomes = Outcomes()
    with client("drive", base_url, token) as drive:
        file = drive.files().create(body={"name": "first"}).execute()
        batch = drive.new_batch_http_request(callback=outcomes)
        batch.add(drive.files().create(body={"name": "Größe ✓"}), request_id="made")
        batch.add(drive.files().update(fileId=file["id"], body={"name": "renamed"}), request_id="renamed")
        batch.add(drive.files().get(fileId="nobody"), request_id="missing")
        share = {"type": "user", "role": "reader", "emailAddress": "bob@svc.example"}
        batch.add(drive.permissions().create(fileId=file["id"], body=share), request_id="shared")
        batch.execute()

    assert list(outcomes) == ["made", "renamed", "missing", "shared"]
    assert (outcomes["made"]["name"], outcomes["renamed"]["name"]) == ("Größe ✓", "renamed")
    assert (outcomes["missing"].status_code, outcomes["missing"].reason) == (404, "File not found: nobody.")
    assert outcomes["shared"]["role"] == "reader"


def test_a_batch_for_calendars(base_url: str, token: str) -> None:
    outcomes = Outcomes()
    with client("calendar", base_url, token) as calendar:
        batch = calendar.new_batch_http_request(callback=outcomes)
        for day in range(1, 31):
            body = {"summary": str(day), "start": {"date": f"2026-11-{day:02}"}, "end": {"date": f"2026-11-{day:02}"}}
            body["end"] = {"date": f"2026-11-{day + 1:02}" if day < 30 else "2026-12-01"}
            batch.add(calendar.events().insert(calendarId="primary", body=body))
        batch.execute()
        listed = calendar.events().list(calendarId="primary", orderBy="startTime", singleEvents=True).execute()

    assert [event["summary"] for event in outcomes.values()] == [str(day) for day in range(1, 31)]
    assert [event["summary"] for event in listed["items"]] == [str(day) for day in range(1, 31)]
