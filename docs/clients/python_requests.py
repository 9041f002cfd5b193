"""Ten tasks with requests.

SVC_BASE_URL is the address of the service, SVC_TOKEN an access token, and SVC_RECEIVER the HTTPS address of a receiver
of notifications.
"""

import json
import os
import time
import uuid

import requests

base = os.environ["SVC_BASE_URL"]
files = f"{base}/storage/v3/files"
upload = f"{base}/upload/storage/v3/files"
events = f"{base}/calendar/v3/calendars/primary/events"

http = requests.Session()
http.headers["Authorization"] = f"Bearer {os.environ['SVC_TOKEN']}"


def send(method: str, url: str, **options: object) -> requests.Response:
    response = http.request(method, url, timeout=60, **options)
    response.raise_for_status()
    return response


# 1. Sign in: the token says who you are.
user = send("GET", f"{base}/storage/v3/about", params={"fields": "user"}).json()["user"]
print(1, user["emailAddress"])

# 2. Upload content without metadata.
note = send(
    "POST", upload, params={"uploadType": "media"}, data=b"Feed the ducks.", headers={"Content-Type": "text/plain"}
).json()
print(2, note["name"])


# 3. Upload content with metadata, as the two parts of one body. The argument `files` would send multipart/form-data.
def related(metadata: dict[str, str], media_type: str, content: bytes) -> dict[str, str]:
    body = (
        b"--part\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
        + json.dumps(metadata).encode()
        + f"\r\n--part\r\nContent-Type: {media_type}\r\n\r\n".encode()
        + content
        + b"\r\n--part--\r\n"
    )
    headers = {"Content-Type": "multipart/related; boundary=part"}
    return send("POST", upload, params={"uploadType": "multipart"}, data=body, headers=headers).json()


table = b"species,count\nmallard,12\n"
ducks = related({"name": "ducks.csv"}, "text/csv", table)
print(3, ducks["name"])


# 4. Upload a large file in chunks. After an interruption, ask how many bytes are stored, and send the rest.
def resumable(metadata: dict[str, str], content: bytes) -> dict[str, str]:
    session = send("POST", upload, params={"uploadType": "resumable"}, json=metadata).headers["Location"]
    failures, start = 0, None  # the first byte that the service lacks, or None while this is not known
    while True:
        chunk = b"" if start is None else content[start : start + 262_144]
        part = "*" if start is None else f"{start}-{start + len(chunk) - 1}"
        headers = {"Content-Range": f"bytes {part}/{len(content)}"}
        try:
            response = http.put(session, chunk, headers=headers, timeout=60)
        except requests.ConnectionError:
            response = None
        if response is not None and response.status_code == 308:
            stored = response.headers.get("Range")  # "bytes=0-262143", or None without stored bytes
            start = int(stored.partition("-")[2]) + 1 if stored else 0
        elif response is None or response.status_code == 403 or response.status_code >= 500:
            failures, start = failures + 1, None
            if failures > 5:
                raise ConnectionError("the upload fails again and again")
            time.sleep(0.1 * 2**failures)
        else:
            response.raise_for_status()
            return response.json()


film = resumable({"name": "film.bin"}, bytes(700_000))
print(4, send("GET", f"{files}/{film['id']}", params={"fields": "size"}).json()["size"])

# 5. Convert on import: the media type in the metadata is that of a native document.
sheet = related({"name": "Ducks", "mimeType": "application/vnd.svc-apps.spreadsheet"}, "text/csv", table)
print(5, sheet["mimeType"])

# 6. Download a range of bytes.
print(6, send("GET", f"{files}/{ducks['id']}", params={"alt": "media"}, headers={"Range": "bytes=0-6"}).text)

# 7. Export the native document.
exported = send("GET", f"{files}/{sheet['id']}/export", params={"mimeType": "text/tab-separated-values"})
print(7, exported.content.decode("utf-8-sig").splitlines()[-1])

# 8. List with a query, page by page.
names, pages, page_token = [], 0, None
while pages == 0 or page_token:
    query = {"q": "name contains 'ducks' and trashed = false", "pageSize": 1, "pageToken": page_token}
    page = send("GET", files, params=query).json()
    names += [file["name"] for file in page["files"]]
    pages, page_token = pages + 1, page.get("nextPageToken")
print(8, len(names), "files on", pages, "pages")

# 9. Watch a file. The receiver gets "sync" now, and "update" after the change. The channel expires in an hour.
body = {"id": str(uuid.uuid4()), "type": "web_hook", "address": os.environ["SVC_RECEIVER"]}
channel = send("POST", f"{files}/{ducks['id']}/watch", json=body).json()
send("PATCH", f"{files}/{ducks['id']}", json={"description": "counted"})
print(9, channel["kind"])

# 10. Create a recurring event, and change it only if nobody else has changed it.
event = {
    "summary": "Count ducks",
    "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=8"],
    "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-02T11:00:00", "timeZone": "Europe/Berlin"},
}
event = send("POST", events, json=event).json()
if_unchanged = {"If-Match": event["etag"]}
changes = [{"summary": "Count all ducks"}, {"summary": "Count no ducks"}]
print(10, *(http.patch(f"{events}/{event['id']}", json=body, headers=if_unchanged).status_code for body in changes))
http.close()
