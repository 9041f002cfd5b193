"""Ten tasks with google-api-python-client, for a sandbox that has the names of this client.

    svc.sandbox(
        names=svc.Names(
            header_prefix="X-Goog-",
            media_prefix="application/vnd.google-apps.",
            storage="drive",
            kind_prefix="drive",
            calendar_kind_prefix="calendar",
            storage_scope="drive",
            update_method="PATCH",
        )
    )

SVC_BASE_URL is the address of the service, SVC_TOKEN an access token, and SVC_RECEIVER the HTTPS address of a receiver
of notifications.
"""

import io
import json
import os
import time
from importlib import resources
from typing import Any

from google.oauth2.credentials import Credentials
from googleapiclient.channel import new_webhook_channel
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaInMemoryUpload, MediaIoBaseDownload


def client(name: str) -> Any:
    """Build a client of an API, for the address of the service. The library reads it from `rootUrl` only."""
    document = resources.files("googleapiclient") / "discovery_cache" / "documents" / f"{name}.json"
    description = json.loads(document.read_text())
    description["rootUrl"] = os.environ["SVC_BASE_URL"] + "/"
    return build_from_document(description, credentials=Credentials(os.environ["SVC_TOKEN"]))


drive, calendar = client("drive.v3"), client("calendar.v3")
files = drive.files()

# 1. Sign in: the token says who you are.
print(1, drive.about().get(fields="user").execute()["user"]["emailAddress"])

# 2. Upload content without metadata.
note = files.create(media_body=MediaInMemoryUpload(b"Feed the ducks.", "text/plain")).execute()
print(2, note["name"])

# 3. Upload content with metadata. The library writes the two parts of the body.
table = b"species,count\nmallard,12\n"
ducks = files.create(body={"name": "ducks.csv"}, media_body=MediaInMemoryUpload(table, "text/csv")).execute()
print(3, ducks["name"])

# 4. Upload a large file in chunks. After a failure, the library asks how many bytes are stored, and sends the rest.
media = MediaInMemoryUpload(bytes(700_000), "application/octet-stream", chunksize=262_144, resumable=True)
request = files.create(body={"name": "film.bin"}, media_body=media, fields="id,size")
film, failures = None, 0
while film is None:
    try:
        _, film = request.next_chunk()
    except HttpError as error:
        failures += 1
        if failures > 5 or not (error.status_code == 403 or error.status_code >= 500):
            raise
        time.sleep(0.1 * 2**failures)
print(4, film["size"])

# 5. Convert on import: the media type in the metadata is that of a native document.
native = "application/vnd.google-apps.spreadsheet"
media = MediaInMemoryUpload(table, "text/csv")
sheet = files.create(body={"name": "Ducks", "mimeType": native}, media_body=media).execute()
print(5, sheet["mimeType"])

# 6. Download a range of bytes: the first chunk of a download.
target = io.BytesIO()
MediaIoBaseDownload(target, files.get_media(fileId=ducks["id"]), chunksize=7).next_chunk()
print(6, target.getvalue().decode())

# 7. Export the native document.
exported = files.export(fileId=sheet["id"], mimeType="text/tab-separated-values").execute()
print(7, exported.decode("utf-8-sig").splitlines()[-1])

# 8. List with a query, page by page.
request = files.list(q="name contains 'ducks' and trashed = false", pageSize=1)
names, pages = [], 0
while request is not None:
    page = request.execute()
    names += [file["name"] for file in page["files"]]
    pages += 1
    request = files.list_next(request, page)
print(8, len(names), "files on", pages, "pages")

# 9. Watch a file. The receiver gets "sync" now, and "update" after the change. The channel expires in an hour.
body = new_webhook_channel(os.environ["SVC_RECEIVER"]).body()
channel = files.watch(fileId=ducks["id"], body=body).execute()
files.update(fileId=ducks["id"], body={"description": "counted"}).execute()
print(9, channel["kind"])

# 10. Create a recurring event, and change it only if nobody else has changed it.
event = {
    "summary": "Count ducks",
    "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=8"],
    "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-02T11:00:00", "timeZone": "Europe/Berlin"},
}
event = calendar.events().insert(calendarId="primary", body=event).execute()
statuses = []
for summary in ("Count all ducks", "Count no ducks"):
    change = calendar.events().patch(calendarId="primary", eventId=event["id"], body={"summary": summary})
    change.headers["If-Match"] = event["etag"]
    try:
        change.execute()
        statuses.append(200)
    except HttpError as error:
        statuses.append(error.status_code)
print(10, *statuses)
drive.close()
calendar.close()
