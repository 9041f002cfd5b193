"""The batches of google-api-python-client, unmodified, for files and for calendars."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import google_auth_httplib2
import pytest
import requests
from google.oauth2.credentials import Credentials
from googleapiclient.errors import HttpError
from googleapiclient.http import HttpRequest, build_http
from googleapiclient.model import JsonModel

from tests.interop.conftest import google_client, google_description

pytestmark = pytest.mark.interop


class Outcomes(dict[str, Any]):
    def __call__(self, request_id: str, response: Any, exception: HttpError | None) -> None:
        self[request_id] = exception or response


def test_a_batch_for_files(base_url, token):
    outcomes = Outcomes()
    with google_client("drive", base_url, token) as drive:
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


def test_a_batch_for_calendars(base_url, token):
    outcomes = Outcomes()
    with google_client("calendar", base_url, token) as calendar:
        batch = calendar.new_batch_http_request(callback=outcomes)
        for day in range(1, 31):
            body = {"summary": str(day), "start": {"date": f"2026-11-{day:02}"}, "end": {"date": f"2026-11-{day:02}"}}
            body["end"] = {"date": f"2026-11-{day + 1:02}" if day < 30 else "2026-12-01"}
            batch.add(calendar.events().insert(calendarId="primary", body=body))
        batch.execute()
        listed = calendar.events().list(calendarId="primary", orderBy="startTime", singleEvents=True).execute()

    assert [event["summary"] for event in outcomes.values()] == [str(day) for day in range(1, 31)]
    assert [event["summary"] for event in listed["items"]] == [str(day) for day in range(1, 31)]


def test_each_status_in_a_batch(base_url, token):
    outcomes = Outcomes()
    with google_client("calendar", base_url, token) as calendar:
        events = calendar.events()
        day = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
        event, other = (events.insert(calendarId="primary", body=day).execute() for _ in range(2))
        same, changed = (events.get(calendarId="primary", eventId=other["id"]) for _ in range(2))
        same.headers["If-None-Match"], changed.headers["If-Match"] = other["etag"], '"old"'
        requests_by_status = {
            200: events.get(calendarId="primary", eventId=other["id"]),
            204: events.delete(calendarId="primary", eventId=event["id"]),
            304: same,
            400: events.insert(calendarId="primary", body={}),
            404: events.get(calendarId="primary", eventId="nobody"),
            412: changed,
        }
        batch = calendar.new_batch_http_request(callback=outcomes)
        for status, request in requests_by_status.items():
            batch.add(request, request_id=str(status))
        batch.execute()

    assert (outcomes["200"]["id"], outcomes["204"]) == (other["id"], "")
    assert {name: each.status_code for name, each in outcomes.items() if isinstance(each, HttpError)} == {
        "304": 304, "400": 400, "404": 404, "412": 412,
    }  # fmt: skip


@pytest.mark.parametrize("api", ["drive", "calendar"])
def test_each_operation_in_a_batch(api, base_url, token):
    """An operation that this service does not have is a part as well, and has its own outcome."""
    outcomes, document = Outcomes(), google_description(api)
    operations = list(operations_of(document))
    authorized = google_auth_httplib2.AuthorizedHttp(Credentials(token), http=build_http())
    with google_client(api, base_url, token) as service, closing(authorized) as http:
        batch = service.new_batch_http_request(callback=outcomes)
        for name, method, path in operations:
            body = None if method in ("GET", "DELETE") else "{}"
            headers = {"Content-Type": "application/json"} if body else {}
            answer = JsonModel().response if method != "DELETE" else lambda response, content: content
            address = f"{base_url}/{document['servicePath']}{path}"
            batch.add(HttpRequest(None, answer, address, method, body, headers), request_id=name)
        batch.execute(http=http)

    refused = {name: outcome.status_code for name, outcome in outcomes.items() if isinstance(outcome, HttpError)}
    assert list(outcomes) == [name for name, _, _ in operations]
    assert set(refused.values()) <= {400, 403, 404}
    assert {name for name in outcomes if name not in refused} >= {
        "drive": {"drive.files.list", "drive.files.create", "drive.files.emptyTrash"},
        "calendar": {"calendar.events.list", "calendar.colors.get", "calendar.settings.list"},
    }[api]


def operations_of(resource: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the HTTP method and the path of each operation in a description of an API."""
    for operation in resource.get("methods", {}).values():
        yield operation["id"], operation["httpMethod"], re.sub(r"\{\+?\w+\}", "primary", operation["path"])
    for below in resource.get("resources", {}).values():
        yield from operations_of(below)


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
def test_the_parameter_fields_accepts_each_field_of_the_family(api, base_url, token):
    document = google_description(api)

    def mask(name, above=()):
        fields = document["schemas"][name]["properties"]
        return ",".join(field + below(schema, (*above, name)) for field, schema in fields.items())

    def below(schema, above):
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
            assert session.get(address, params={"fields": "kindd"}).status_code == 400
