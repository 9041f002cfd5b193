"""The batches of google-api-python-client, unmodified, for files and for calendars."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import google_auth_httplib2
import pytest
import requests
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


def test_a_batch_of_deletions(base_url: str, token: str) -> None:
    outcomes = Outcomes()
    with client("drive", base_url, token) as drive:
        files = [drive.files().create(body={"name": str(n)}).execute()["id"] for n in range(3)]
        batch = drive.new_batch_http_request(callback=outcomes)
        for file in (*files, files[0]):
            batch.add(drive.files().delete(fileId=file))
        batch.execute()

    assert [getattr(outcome, "status_code", outcome) for outcome in outcomes.values()] == ["", "", "", 404]


RESPONSES = {
    "drive": {
        "about": "About",
        "files": "FileList",
        "files/{file}": "File",
        "files/{file}/permissions": "PermissionList",
        "files/{file}/revisions": "RevisionList",
        "changes?pageToken=1": "ChangeList",
        "changes/startPageToken": "StartPageToken",
        "files/generateIds": "GeneratedIds",
        "drives": "DriveList",
    },
    "calendar": {
        "calendars/primary": "Calendar",
        "calendars/primary/events": "Events",
        "calendars/primary/acl": "Acl",
        "users/me/calendarList": "CalendarList",
        "users/me/settings": "Settings",
        "colors": "Colors",
    },
}


@pytest.mark.parametrize("api", RESPONSES)
def test_the_parameter_fields_accepts_each_field_of_the_family(api: str, base_url: str, token: str) -> None:
    document = json.loads(
        resources.files("googleapiclient").joinpath(f"discovery_cache/documents/{api}.v3.json").read_text()
    )

    def mask(name: str, above: tuple[str, ...] = ()) -> str:
        return ",".join(
            field + below(schema, (*above, name)) for field, schema in document["schemas"][name]["properties"].items()
        )

    def below(schema: dict[str, Any], above: tuple[str, ...]) -> str:
        schema = schema.get("items", schema)
        inner = ""
        if "$ref" in schema and schema["$ref"] not in above:
            inner = mask(schema["$ref"], above)
        elif "properties" in schema:
            inner = ",".join(field + below(part, above) for field, part in schema["properties"].items())
        return f"({inner})" if inner else ""

    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        root = f"{base_url}/{'storage' if api == 'drive' else api}/v3"
        file = session.post(f"{root}/files", json={"name": "a"}).json().get("id")
        for path, resource in RESPONSES[api].items():
            address = f"{root}/{path.format(file=file)}"
            assert session.get(address, params={"fields": mask(resource)}).status_code == 200, resource
            assert session.get(address, params={"fields": "kindd"}).status_code == (200 if path == "drives" else 400)
