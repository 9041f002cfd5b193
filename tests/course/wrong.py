"""Wrong answers, each tempting in its own way, and what the check says that is missing.

A line "== name" begins an exercise, and a line "-- idea => part of the message" an answer, whose code follows. The code
of an answer with a name in brackets begins with the code of this name.
"""

# ruff: noqa: E501 - a line of code is a line

from __future__ import annotations

from typing import NamedTuple


class Wrong(NamedTuple):
    idea: str
    code: str
    says: str


_HAND = """
import json
JSON = {"Content-Type": "application/json"}
"""

_LOOP = """
import json
total = len(given.content)
body = json.dumps({"name": given.name}).encode()
start = lambda: given.send("POST", "/upload/storage/v3/files?uploadType=resumable",
                           {"Content-Type": "application/json"}, body)
def stored(answer):
    if answer.status == 200: return total
    return int(answer.headers["Range"].rpartition("-")[2]) + 1 if "Range" in answer.headers else 0
def put(offset, size=given.chunk_size):
    chunk = given.content[offset:offset + size]
    place = {"Content-Range": f"bytes {offset}-{offset + len(chunk) - 1}/{total}"}
    return given.send("PUT", address, place, chunk)
def ask():
    while True:
        try:
            answer = given.send("PUT", address, {"Content-Range": f"bytes */{total}"})
            if answer.status < 500: return answer
        except ConnectionError:
            pass
"""

_DOWNLOADS = """
import random
def get(file_id): return given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
def limit(n): return min(given.cap, 2 ** (n - 1))
def retry_after(answer): return float(answer.headers.get("Retry-After", 0))
def each(delay):
    for file_id in given.file_ids:
        for n in range(1, 20):
            answer = get(file_id)
            seconds = None if answer.status == 200 else delay(n, answer)
            if seconds is None: break
            given.clock.advance(seconds)
"""

_EVENT = """
import json
JSON = {"Content-Type": "application/json"}
path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
def read(): return given.send("GET", path).json()
def update(etag, description):
    return given.send("PATCH", path, {**JSON, "If-Match": etag}, json.dumps({"description": description}).encode()).status
"""

_CHANGES = """
import json
copy = dict(zip(given.file_ids, given.names))
def read(token, **more):
    query = "&".join(f"{key}={value}" for key, value in {"pageToken": token, "pageSize": given.page_size, **more}.items())
    return given.send("GET", f"/storage/v3/changes?{query}").json()
def apply(page):
    for change in page["changes"]:
        if change["removed"]: copy.pop(change["fileId"], None)
        else: copy[change["fileId"]] = change["file"]["name"]
def save(token): svc.upload(json.dumps({"files": copy, "page_token": token}).encode(), name="copy.json")
def follow(token, rounds=9, **more):
    while rounds:
        page = read(token, **more)
        apply(page)
        token = page.get("nextPageToken") or page["newStartPageToken"]
        rounds -= "newStartPageToken" in page
        if not page["changes"]: break
    return token
"""

_MESSAGES = """
import json
state = {name: {"state": None, "number": 0, "messages": 0} for name in given.channels}
seen = set()
def parts(headers):
    return headers["X-Svc-Channel-ID"], int(headers["X-Svc-Message-Number"]), headers["X-Svc-Resource-State"]
def save(value=state): svc.upload(json.dumps(value).encode(), name="state.json")
"""

BEGINNINGS = {
    "hand": _HAND,
    "loop": _LOOP,
    "downloads": _DOWNLOADS,
    "event": _EVENT,
    "changes": _CHANGES,
    "messages": _MESSAGES,
}

ANSWERS = r"""
== upload-with-a-name
-- forgot the name => no file named
svc.upload(given.content)
-- named it afterwards => The file was changed after its creation
svc.update(svc.upload(given.content), name=given.name)
-- the name that my notebook showed => is called 'ponds-100.csv'|are called 'ponds-100.csv'
svc.upload(given.content, name='ponds-100.csv')
-- a file without content => no bytes
svc.create_file(name=given.name)
-- another content => differs from given.content
svc.upload(b'hello', name=given.name)
-- twice, to be sure => 2 files called
for _ in range(2): svc.upload(given.content, name=given.name)
-- straight into the store => was called without HTTP
from svc_notebooks.client.session import Session
exercise = given._environment.exercise
there = Session("https://elsewhere.example", exercise.token, handler=exercise.service.handle)
svc.upload(given.content, name=given.name, session=there)
-- made the file, then cleaned the journal => The journal was changed
svc.upload(given.content, name=given.name); given._environment.exercise.service._journal.clear()
-- copied with the name => The file is a copy of another file
first = svc.upload(given.content); svc.copy(first, name=given.name); svc.delete(first)
== metadata-in-one-request
-- upload, then describe => The file was changed after its creation
svc.update(svc.upload(given.content, name=given.name), description=given.description, starred=True)
-- resumable has metadata too => not in one request
svc.upload(given.content, name=given.name, upload_type='resumable', metadata={'description': given.description, 'starred': True})
-- no star => no star
svc.upload(given.content, name=given.name, metadata={'description': given.description})
-- another description => description is 'Bird counts'
svc.upload(given.content, name=given.name, metadata={'description': 'Bird counts', 'starred': True})
-- looked at the list, too => received 2 requests, and the task asks for a single one
svc.upload(given.content, name=given.name, metadata={"description": given.description, "starred": True})
svc.files()
-- a star as a text => no file named
import json
head = json.dumps({"name": given.name, "description": given.description, "starred": "yes"})
body = f"--x\r\nContent-Type: application/json\r\n\r\n{head}\r\n--x\r\nContent-Type: text/csv\r\n\r\n".encode()
given.send("POST", "/upload/storage/v3/files?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"},
           body + given.content + b"\r\n--x--")
-- a generated id first => received 2 requests
chosen = svc.generate_ids(1)["id"].item()
svc.upload(given.content, name=given.name, file_id=chosen, metadata={"description": given.description, "starred": True})
-- the heading is not data => differs from given.content
rows = given.content.partition(b"\n")[2]
svc.upload(rows, name=given.name, metadata={"description": given.description, "starred": True})
== the-lost-receipt
-- again after the error => created without a generated id
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.upload(given.content, name=given.name)
-- a new id for every try => 2 different ids
for _ in range(2):
    chosen = svc.generate_ids(1)["id"].item()
    try:
        given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"},
                   ('{"id": "%s", "name": "%s"}' % (chosen, given.name)).encode())
    except ConnectionError:
        pass
-- an id of my own => The service did not generate the id
svc.generate_ids(1); svc.upload(given.content, name=given.name, file_id='order-1')
-- it will have worked => no later request asked whether the file exists
chosen = svc.generate_ids(1)["id"].item()
try:
    given.send("POST", "/upload/storage/v3/files?uploadType=multipart",
               {"Content-Type": "multipart/related; boundary=x"},
               b'--x\r\nContent-Type: application/json\r\n\r\n{"id": "%s", "name": "%s"}\r\n--x\r\n'
               b'Content-Type: text/plain\r\n\r\n%s\r\n--x--' % (chosen.encode(), given.name.encode(), given.content))
except ConnectionError:
    pass
-- searched, and repeated it nevertheless => look for the file by its name and do not repeat
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.files(f"name = '{given.name}'"); svc.upload(given.content, name=given.name)
-- generated an id, and did not send it => had no id
svc.generate_ids(1)
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.files(f"name = '{given.name}'")
== go-on-where-it-stopped
-- all over again => new upload, although the session is still open
svc.upload(given.content, name='film.mp4', upload_type='resumable')
-- from the first byte => The first request to the session sent bytes
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{len(given.content) - 1}/{len(given.content)}"},
           given.content)
-- asked, and then from the first byte => were already stored, so some bytes were sent twice
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{total - 1}/{total}"}, given.content)
-- the offset that it was yesterday => but the next missing byte was
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 786433-{total - 1}/{total}"}, given.content[786433:])
-- asked, and went home => No request sent bytes to the session
svc.resume_upload(given.session_uri, given.content).status()
-- asked another session => had the address of another session
total = len(given.content)
given.send("PUT", given.session_uri[:-3] + "zzz", {"Content-Range": f"bytes */{total}"})
for first in range(262144, total, 262144):
    place = {"Content-Range": f"bytes {first}-{total - 1}/{total}"}
    if given.send("PUT", given.session_uri, place, given.content[first:]).status == 200: break
-- other bytes, and then an update => send the content of the file in this session
try:
    svc.resume_upload(given.session_uri, bytes(len(given.content))).run()
except svc.SourceChanged:
    svc.update(svc.files("name = 'film.mp4'"), given.content)
-- zeros in place of the missing bytes => differs from given.content
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2]) + 1
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 1}/{total}"}, bytes(total - offset))
-- the last stored byte once more => were already stored
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2])
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 1}/{total}"}, given.content[offset:])
-- finished, and uploaded once more => although the session is still open
svc.resume_upload(given.session_uri, given.content).run()
svc.upload(given.content, name="film.mp4")
-- finished, and deleted => no file yet|no file
svc.resume_upload(given.session_uri, given.content).run()
svc.delete(svc.files("name = 'film.mp4'"))
-- shortened to what is stored => no file yet
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2]) + 1
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 2}/{total - 1}"}, given.content[offset:-1])
== expired-session
-- run() will begin again by itself => The session has expired, and no new upload was started
svc.resume_upload(given.session_uri, given.content).run()
-- not asked at all => No request asked for the state of the old session
svc.upload(given.content, name=given.name, upload_type='resumable')
-- a simple upload will do => The upload type was multipart, not resumable
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, name=given.name)
-- it may come back => The old session received 5 requests
for _ in range(5):
    given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{len(given.content)}"})
svc.upload(given.content, name=given.name, upload_type="resumable")
-- bytes instead of a question => The first request to the old session sent bytes
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-99/{len(given.content)}"}, given.content[:100])
svc.upload(given.content, name=given.name, upload_type="resumable")
-- the wrong name => no file named
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, upload_type="resumable", name="night.raw")
-- upload first, ask afterwards => The new upload was started before the status query
svc.upload(given.content, name=given.name, upload_type="resumable")
svc.resume_upload(given.session_uri, given.content).status()
-- only the bytes that were missing => differs from given.content
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content[262144:], name=given.name, upload_type="resumable")
-- two sessions, because the first one was left => opened 2 new sessions
svc.resume_upload(given.session_uri, given.content).status()
given.send("POST", "/upload/storage/v3/files?uploadType=resumable", {"Content-Type": "application/json"}, b"{}")
svc.upload(given.content, name=given.name, upload_type="resumable")
-- named afterwards => The file was changed after its creation
svc.resume_upload(given.session_uri, given.content).status()
svc.update(svc.upload(given.content, name="new", upload_type="resumable"), name=given.name)
== resumable-loop
-- the client of the package => requests of the client of svc_notebooks
svc.upload(given.content, name=given.name, upload_type='resumable')
-- [loop] everything again after a break => After a fault, the first session is still open
while True:
    address = start().headers["Location"]
    offset = 0
    try:
        while offset < total:
            answer = put(offset)
            if answer.status >= 500: raise ConnectionError
            offset = stored(answer)
        break
    except ConnectionError:
        pass
-- [loop] the same chunk again => without a status query before
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset)
    except ConnectionError:
        continue
    if answer.status < 500: offset = stored(answer)
-- [loop] asked, but not listened => were already stored, so some bytes were sent twice
address = start().headers["Location"]
for offset in range(0, total, given.chunk_size):
    while True:
        try:
            if put(offset).status < 500: break
        except ConnectionError:
            pass
        ask()
-- [loop] all in one piece => a chunk must have at most 524,288
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset, total)
    except ConnectionError:
        answer = ask()
    if answer.status >= 500: answer = ask()
    offset = stored(answer)
-- [loop] no loop at all => no file named
address = start().headers['Location']
put(0)
-- a simple upload => not sent in a resumable upload
given.send('POST', '/upload/storage/v3/files?uploadType=media', {}, given.content)
-- [loop] counted by itself after a question => but the next missing byte was
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset)
        if answer.status >= 500: raise ConnectionError
    except ConnectionError:
        ask()
    offset += given.chunk_size
-- [loop] a question that may not fail => no file named|without a status query before
ask = lambda: given.send("PUT", address, {"Content-Range": f"bytes */{total}"})
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        failed = put(offset).status >= 500
    except ConnectionError:
        failed = True
    offset = stored(ask()) if failed else offset + given.chunk_size
-- [loop] renamed when it was there => The file was changed after its creation
body = b'{"name": "tape"}'
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset)
    except ConnectionError:
        answer = ask()
    if answer.status >= 500: answer = ask()
    offset = stored(answer)
given.send("PATCH", "/storage/v3/files/" + answer.json()["id"], {"Content-Type": "application/json"},
           json.dumps({"name": given.name}).encode())
== a-part-of-a-file
-- all of it, and a slice => A download had no range
all = svc.read(given.file_id)
svc.upload(all[64 * given.record:64 * given.record + 64], name="record.txt")
-- the end as in Python => sent 65 bytes
part = svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 64))
svc.upload(part[:64], name="record.txt")
-- counted from 1 => The record has the bytes \d+ to \d+
first = 64 * (given.record - 1)
svc.upload(svc.read(given.file_id, byte_range=(first, first + 63)), name="record.txt")
-- never uploaded => none of them creates a file
svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))
-- without the last byte => sent 63 bytes
first = 64 * given.record
svc.upload(svc.read(given.file_id, byte_range=(first, first + 62)) + b"\n", name="record.txt")
-- from the record to the end => the last byte of a range belongs to it
answer = given.send("GET", f"/storage/v3/files/{given.file_id}?alt=media", {"Range": f"bytes={64 * given.record}-"})
svc.upload(answer.body[:64], name="record.txt")
-- one after the other, until the number is right => and the service sent 64 bytes
for n in range(given.record - 2, given.record + 1):
    part = svc.read(given.file_id, byte_range=(64 * n, 64 * n + 63))
svc.upload(part, name="record.txt")
-- two files, to be sure => 2 files called
part = svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))
for _ in range(2): svc.upload(part, name="record.txt")
-- the whole file by its link, and a part for show => in another way
link = given.send("GET", f"/storage/v3/files/{given.file_id}?fields=webContentLink").json()["webContentLink"]
import urllib.parse
all = given.send("GET", link).body
svc.read(given.file_id, byte_range=(0, 63))
svc.upload(all[64 * given.record:64 * given.record + 64], name="record.txt")
== let-the-service-search
-- pandas can search, too => without a query
all = svc.files()
mine = all["name"].str.contains(given.word) & (all["mime_type"] == "text/csv") & ~all["trashed"]
svc.update(all[mine], starred=True)
-- forgot the trash => 2 other files
svc.update(svc.files(f"name contains '{given.word}' and mimeType = 'text/csv'", fields=["id", "name"]), starred=True)
-- forgot the type => 5 other files
svc.update(svc.files(f"name contains '{given.word}' and trashed = false", fields=["id", "name"]), starred=True)
-- every field => instead of id and name
svc.update(svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false"), starred=True)
-- the word of my own notebook => returned 0 of the
svc.update(svc.files("name contains 'moorhen' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"]),
           starred=True)
-- found, and no star => have a star
svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
-- the others into the trash first => No request listed files
for file_id in svc.changes("1")["file_id"].unique():
    file = svc.file(file_id)
    if given.word not in file["name"].item() or file["mime_type"].item() != "text/csv": svc.trash(file_id)
svc.update(svc.files("trashed = false", fields=["id", "name"]), starred=True)
-- a star for all, and taken from the others => that your search did not return
found = svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
every = svc.changes("1")["file_id"].unique().tolist()
svc.update(every, starred=True)
svc.update([one for one in every if one not in set(found["id"])], starred=False)
-- the name begins with the word => returned . of the
found = svc.files(f"name contains '{given.word} 0' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
svc.update(found, starred=True)
-- one page, and the rest by hand => returned 2 of the
page = given.send("GET", f"/storage/v3/files?pageSize=2&fields=files(id,name)&q=name+contains+'{given.word}'+and+mimeType='text/csv'+and+trashed=false").json()
svc.update([file["id"] for file in page["files"]], starred=True)
== another-format
-- a CSV file is a table => which is not a spreadsheet of the service
svc.export(svc.upload(given.content, name=given.name, mime_type='text/csv'), 'tsv')
-- an empty spreadsheet => No upload contains the CSV
import tempfile
empty = svc.create_file(name=given.name, mime_type="application/vnd.svc-apps.spreadsheet")
svc.export(empty, "tsv", tempfile.mkdtemp())
-- the wrong format => exported as 'text/csv'
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "csv", tempfile.mkdtemp())
-- never exported => never exported
svc.upload(given.content, name=given.name, mime_type='text/csv', convert_to='spreadsheet')
-- rewritten as TSV before the upload => the table was converted before the upload
import tempfile
rows = given.content.replace(b",", b"\t")
table = svc.upload(rows, name=given.name, mime_type="text/tab-separated-values", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
-- another name => no file named
import tempfile
table = svc.upload(given.content, name="counts", mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
-- a document, not a spreadsheet => which is not a spreadsheet
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/plain", convert_to="document")
svc.export(table, "txt", tempfile.mkdtemp())
-- two spreadsheets => 2 files called
import tempfile
for _ in range(2):
    table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
== too-often
-- [hand] some were made twice, and deleted => more than one file|files for
for name in [given.names[0], *given.names]:
    while True:
        answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
        if answer.status != 403: break
        given.clock.advance(int(answer.headers["Retry-After"]))
given.clock.advance(100)
given.send("DELETE", "/storage/v3/files/" + answer.json()["id"])
given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": given.names[-1]}).encode())
-- [hand] at once again => the next request came after 0 seconds
for name in given.names:
    for _ in range(40):
        if given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status == 200: break
-- [hand] a second is long => the next request came after 1 second\.
for name in given.names:
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status != 200:
        given.clock.advance(1)
-- [hand] tomorrow is another day => the next request came only after
for name in given.names:
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status != 200:
        given.clock.advance("1d")
-- [hand] what is refused is lost => do not exist
for name in given.names:
    answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
    if answer.status == 403: given.clock.advance(int(answer.headers["Retry-After"]))
-- [hand] from the beginning after a refusal => the next request came after 0 seconds
done = False
rounds = 0
while not done and rounds < 3:
    rounds += 1
    for name in given.names:
        answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
        if answer.status == 403:
            given.clock.advance(int(answer.headers["Retry-After"]))
            given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
-- the client of the package => requests of the client of svc_notebooks
[svc.create_file(name=name) for name in given.names]
-- files with content => asks for empty files
part = '--x\r\nContent-Type: application/json\r\n\r\n{"name": "%s"}\r\n--x\r\nContent-Type: text/plain\r\n\r\nx\r\n--x--'
for name in given.names:
    body = (part % name).encode()
    while (answer := given.send("POST", "/upload/storage/v3/files?uploadType=multipart",
                                {"Content-Type": "multipart/related; boundary=x"}, body)).status == 403:
        given.clock.advance(int(answer.headers["Retry-After"]))
-- [hand] growing delays instead of the header => the next request came after 1 second
for name in given.names:
    delay = 1
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status == 403:
        given.clock.advance(delay)
        delay *= 2
== later-or-never
-- [hand] never again => was not repeated|No request tried to change
for one in given.file_ids:
    try:
        given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}')
    except ConnectionError:
        pass
-- [hand] all of them three times => times; this error is permanent|repeated although it had succeeded
for one in given.file_ids:
    for _ in range(4):
        try:
            given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}')
        except ConnectionError:
            pass
        given.clock.advance(2)
-- [hand] at once again => A failed request was repeated without a wait of one second
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
-- [hand] whatever is no 200 => times. This error is permanent|and was not repeated. This error is temporary
for one in given.file_ids:
    for _ in range(5):
        try:
            if given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status == 200: break
        except ConnectionError:
            pass
        given.clock.advance(1)
-- the client of the package => requests of the client of svc_notebooks
[svc.update(one, starred=True) for one in given.file_ids]
-- [hand] a wait of half a second => without a wait of one second
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
        given.clock.advance(0.5)
-- [hand] a lost connection is permanent => had no response, and was not repeated
for one in given.file_ids:
    for _ in range(9):
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            break
        if status < 500: break
        given.clock.advance(1)
-- [hand] only 503 is temporary => had the status 500, and was not repeated
for one in given.file_ids:
    for _ in range(9):
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            status = 503
        if status != 503: break
        given.clock.advance(1)
-- [hand] starred and renamed => to change 'name' of 'nest
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true, "name": "nest"}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
-- [hand] no star is set => have a star
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": false}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
-- [hand] others are left out => No request tried to change
for one in given.file_ids:
    if given.send("GET", f"/storage/v3/files/{one}?fields=ownedByMe").status != 200: continue
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
== growing-delays
-- [downloads] at once again => came after 0 seconds. The delay must be at least|Retry-After says
each(lambda n, answer: 0)
-- [downloads] always one second => after 1 second. The delay must be at least 2
each(lambda n, answer: max(1, retry_after(answer)))
-- [downloads] doubled, but never at random => each is the same part of its limit
each(lambda n, answer: max(0.75 * limit(n), retry_after(answer)))
-- [downloads] the same seed for each file => all files have the same delays
def download(file_id):
    draw = random.Random(7)
    delays = [draw.uniform(limit(n) / 2, limit(n)) for n in range(1, 20)]
    for delay in delays:
        answer = get(file_id)
        if answer.status == 200: return
        given.clock.advance(max(delay, retry_after(answer)))
for file_id in given.file_ids: download(file_id)
-- [downloads] Retry-After is not read => Retry-After: .* Wait at least as long as Retry-After says
each(lambda n, answer: random.uniform(limit(n) / 2, limit(n)))
-- [downloads] Retry-After in place of the growing delay => because Retry-After does not make a delay shorter
each(lambda n, answer: retry_after(answer) or random.uniform(limit(n) / 2, limit(n)))
-- without a cap => The delay must be at most 8 seconds
import random
def get(file_id): return given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
def limit(n): return 2 ** (n - 1)
def retry_after(answer): return float(answer.headers.get("Retry-After", 0))
def each(delay):
    for file_id in given.file_ids:
        for n in range(1, 20):
            answer = get(file_id)
            seconds = None if answer.status == 200 else delay(n, answer)
            if seconds is None: break
            given.clock.advance(seconds)
each(lambda n, answer: max(random.uniform(limit(n) / 2, limit(n)), retry_after(answer)))
-- [downloads] the delay grows over all files => Refusal 1 of file 2 .* The delay must be at most 1 second\.
refusals = 0
for file_id in given.file_ids:
    while (answer := get(file_id)).status != 200:
        refusals += 1
        given.clock.advance(max(random.uniform(limit(refusals) / 2, limit(refusals)), retry_after(answer)))
-- [downloads] a 403 is final => The last download of file 3 had the status 403 and was not repeated
each(lambda n, answer: None if answer.status == 403 else max(random.uniform(limit(n) / 2, limit(n)), retry_after(answer)))
-- [downloads] only the first file => The last download of file 1 had the status
get(given.file_ids[0])
-- the client of the package => requests of the client of svc_notebooks
svc.read(given.file_ids[0])
== share-with-one
-- no role => which is not the role for comments
svc.share(given.file_id, given.email)
-- more is better => which allows changes of the file
svc.share(given.file_id, given.email, role='writer')
-- the wrong file, taken back => A file other than given.file_id was shared, too
other = svc.files("name contains 'budget'")
svc.share(other, given.email, role="commenter")
svc.unshare(other, given.email)
svc.share(given.file_id, given.email, role="commenter")
-- anyone with the link => had the type 'anyone', so more than one person had access
svc.share(given.file_id, 'anyone', role='commenter')
-- the person of my own notebook => shared with 'bob@svc.example'
svc.share(given.file_id, 'bob@svc.example', role='commenter')
-- the other files into the trash => to change 'trashed' of
svc.share(given.file_id, given.email, role="commenter")
svc.trash(svc.files("name contains 'budget'"))
-- a copy is shared => other than given.file_id
svc.share(svc.copy(given.file_id, name="plan"), given.email, role="commenter")
-- shared, and taken back => Only the owner
svc.share(given.file_id, given.email, role="commenter")
svc.unshare(given.file_id, given.email)
-- by a folder => A file other than given.file_id was shared
folder = svc.create_folder("for " + given.email)
svc.move(given.file_id, folder)
svc.share(folder, given.email, role="commenter")
-- writer for a moment => had the role 'writer'
import json
made = given.send("POST", f"/storage/v3/files/{given.file_id}/permissions", {"Content-Type": "application/json"},
    json.dumps({"type": "user", "role": "writer", "emailAddress": given.email}).encode()).json()
given.send("PATCH", f"/storage/v3/files/{given.file_id}/permissions/{made['id']}", {"Content-Type": "application/json"}, b'{"role": "commenter"}')
== the-narrowest-scope
-- the key to everything => not the narrowest
for program in ("catalogue", "reader", "diary"):
    one = given.sign_in(program, ["storage"])
    svc.files(session=one)
    svc.read(given.file_id, session=one)
    svc.upload(b"x", name="diary.txt", session=one)
-- two are safer than one => has 2 scopes
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly", "storage.readonly"]))
-- my own session => no request of the program
svc.files()
svc.read(given.file_id)
svc.upload(b"x", name="diary.txt")
-- signed in, and used my own session => no request shows that it listed the names of the files
for program, scope in (("catalogue", "storage.metadata.readonly"), ("reader", "storage.readonly"), ("diary", "storage.file")):
    svc.about(session=given.sign_in(program, [scope]))
svc.files()
-- ids without names => no request shows that it listed the names
svc.files(fields=["id"], session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
-- a part is enough => no request shows that it downloaded
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, byte_range=(0, 3), session=given.sign_in("reader", ["storage.readonly"]))
-- another diary => no request shows that it uploaded
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, session=given.sign_in("reader", ["storage.readonly"]))
svc.upload(b"x", name="diary", session=given.sign_in("diary", ["storage.file"]))
-- right, and looked with my own session => used your own token
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, session=given.sign_in("reader", ["storage.readonly"]))
svc.upload(b"x", name="diary.txt", session=given.sign_in("diary", ["storage.file"]))
svc.files()
== watch-without-a-gap
-- one channel for all of it => The file was watched for 24 hours
channel = svc.watch_file(given.file_id, given.address, expires_in=f"{given.hours}h")
given.clock.advance(f"{given.hours}h")
-- the next one when the old one has ended => for 1 hour: a channel ended before the next one was opened
for _ in range(2):
    channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
    given.clock.advance("25h")
svc.watch_file(given.file_id, given.address)
-- stopped first => stopped before the next one was open
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("20h")
svc.stop_channel(channel)
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("23h")
svc.stop_channel(channel)
-- left open => 1 channel had not been stopped
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
for _ in range(3):
    given.clock.advance("20h")
    channel = svc.renew_channel(channel, expires_in="1d")
-- the clock does not move => watched for 0 hours
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
svc.stop_channel(svc.renew_channel(channel))
-- the default is an hour => hours: a channel ended before the next one was opened
channel = svc.watch_file(given.file_id, given.address)
given.clock.advance("20h")
channel = svc.watch_file(given.file_id, given.address)
-- let the last one run out => No channel was stopped|instead of \d+ hours
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("23h")
svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("40h")
-- the next one at the moment when the old one ends => opened at the moment when the one before it expired
svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("1d")
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance(f"{given.hours - 24}h")
svc.stop_channel(channel)
-- 30 hours more => which is longer than the
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
for _ in range(3):
    given.clock.advance("20h")
    channel = svc.renew_channel(channel, expires_in="1d")
given.clock.advance(f"{given.hours - 30}h")
svc.stop_channel(channel)
-- the clock first => opened 2 hours after the start
given.clock.advance('2h'); svc.watch_file(given.file_id, given.address)
== believe-nobody
-- everybody is welcome => accepted a message
given.deliver_to(lambda headers: 200)
-- nobody is welcome => rejected a genuine message
given.deliver_to(lambda headers: 403)
-- None equals None => Your receiver accepted a message without a channel id and
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers:
    200 if tokens.get(headers.get("X-Svc-Channel-ID")) == headers.get("X-Svc-Channel-Token") else 403)
-- in small letters => the token in other letter case
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    return 200 if right and token is not None and right.lower() == token.lower() else 403
given.deliver_to(handle)
-- falls over => raised KeyError
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers: 200 if tokens[headers["X-Svc-Channel-ID"]] == headers["X-Svc-Channel-Token"] else 403)
-- true is no status => instead of a status
given.deliver_to(lambda headers: True)
-- try again later => The response to a forged message had a status of
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    return 200 if right and right == token else 503
given.deliver_to(handle)
== page-by-page
-- svc.changes() has them all => page size .*, instead of given.page_size
svc.changes(given.page_token)
-- [changes] no page size => which is the default
given.send('GET', f'/storage/v3/changes?pageToken={given.page_token}')
-- [changes] list the files instead => A request listed all files
read(given.page_token)
svc.files()
-- [changes] only the first page => there are more pages
apply(read(given.page_token))
save(given.page_token)
-- [changes] from now on => The changes between them are missing
save(follow(given.send('GET', '/storage/v3/changes/startPageToken').json()['startPageToken']))
-- [changes] token plus page size => which no response contained
token = int(given.page_token)
while "newStartPageToken" not in (page := read(token)):
    apply(page)
    token += given.page_size
apply(page)
follow(page["newStartPageToken"], 1)
-- [changes] once is enough => up to its end once
save(follow(given.page_token, 1))
-- [changes] without the deletions => still has . files that you can no longer see
save(follow(given.page_token, includeRemoved='false'))
-- [changes] del on an id that the copy never had => there are more pages|up to its end once|no file named 'copy.json'
def apply(page):
    for change in page["changes"]:
        if change["removed"]: del copy[change["fileId"]]
        else: copy[change["fileId"]] = change["file"]["name"]
save(follow(given.page_token))
-- [changes] new files only => for a file that is now called
def apply(page):
    for change in page["changes"]:
        if change["removed"]: copy.pop(change["fileId"], None)
        elif change['fileId'] not in copy: copy[change["fileId"]] = change["file"]["name"]
save(follow(given.page_token))
-- [changes] renamed files only => The copy lacks
def apply(page):
    for change in page["changes"]:
        if change["removed"]: copy.pop(change["fileId"], None)
        elif change['fileId'] in copy: copy[change["fileId"]] = change["file"]["name"]
save(follow(given.page_token))
-- [changes] the token from the beginning => but the last newStartPageToken was
follow(given.page_token)
save(given.page_token)
-- [changes] a list of names => is not a JSON object with `files`
follow(given.page_token)
svc.upload(json.dumps(list(copy.values())).encode(), name='copy.json')
-- [changes] nothing uploaded => none of them creates a file
follow(given.page_token)
-- [changes] again from the beginning => read changes a second time
follow(given.page_token, 1)
save(follow(given.page_token, 1))
== twice-and-out-of-order
-- [messages] the last one to arrive => The message that arrives last is not always the newest one|in the order of texts
def handle(headers):
    channel, number, kind = parts(headers)
    if kind != "sync" and (channel, number) not in seen:
        state[channel]["messages"] += 1
    if kind != "sync": state[channel].update(state=kind, number=number)
    seen.add((channel, number))
    return 200
given.deliver_to(handle)
save()
-- [messages] sync is a state, too => This message says that the channel is open
def handle(headers):
    channel, number, kind = parts(headers)
    state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
save()
-- [messages] numbers as they are in the headers => compare int.number.
def handle(headers):
    channel, number, kind = headers["X-Svc-Channel-ID"], headers["X-Svc-Message-Number"], headers["X-Svc-Resource-State"]
    if number > str(state[channel]["number"]): state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
for entry in state.values(): entry["number"] = int(entry["number"])
save()
-- [messages] every arrival counts => A message that arrives again has the same channel and the same number
def handle(headers):
    channel, number, kind = parts(headers)
    if number > state[channel]["number"]: state[channel].update(state=kind, number=number)
    state[channel]["messages"] += kind != "sync"
    return 200
given.deliver_to(handle)
save()
-- [messages] a set of numbers => has the number|both channels use the same numbers
def handle(headers):
    channel, number, kind = parts(headers)
    if number in seen or kind == "sync": return 200
    seen.add(number)
    state[channel]["messages"] += 1
    if number > state[channel]["number"]: state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
save()
-- [messages] what comes late is ignored and not counted => different messages about the file\. A message that arrives after a newer one counts, too
def handle(headers):
    channel, number, kind = parts(headers)
    if kind != "sync" and number > state[channel]["number"]:
        state[channel].update(state=kind, number=number, messages=state[channel]["messages"] + 1)
    return 200
given.deliver_to(handle)
save()
-- [messages] a conflict is 409 => returned 409 for a message that arrived a second time
def handle(headers):
    if parts(headers) in seen: return 409
    seen.add(parts(headers))
    return 200
given.deliver_to(handle)
save()
-- [messages] the state of one and the number of another => State and number must be of the same message
def handle(headers):
    channel, number, kind = parts(headers)
    if kind == "sync": return 200
    state[channel]["number"] = max(number, state[channel]["number"])
    state[channel]["state"] = "update"
    return 200
given.deliver_to(handle)
save()
-- [messages] no status => returned a NoneType instead of a status
given.deliver_to(lambda headers: None)
-- nothing uploaded => none of them creates a file
given.deliver_to(lambda headers: 200)
-- [messages] one channel only => has no entry with state
given.deliver_to(lambda headers: 200)
save({given.channels[0]: 1})
-- [messages] uploaded without messages => has not responded to all messages
save()
== event-in-its-zone
-- UTC is a zone => ^In .* the event begins at
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
-- the same instant in UTC => The time zone of the event is 'UTC'
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}").tz_localize(given.zone).tz_convert("UTC")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
-- an offset is enough => a UTC offset and no time zone
import json, pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}").tz_localize(given.zone)
end = start + pd.Timedelta(minutes=given.minutes)
body = {"summary": given.summary, "start": {"dateTime": start.isoformat()}, "end": {"dateTime": end.isoformat()}}
given.send("POST", "/calendar/v3/calendars/primary/events", {"Content-Type": "application/json"}, json.dumps(body).encode())
-- an hour is an hour => lasts 60 minutes
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(hours=1), time_zone=given.zone)
-- the whole day => The event has dates without times, so it is an all-day
import pandas as pd
svc.create_event(given.summary, start=given.day, end=str((pd.Timestamp(given.day) + pd.Timedelta(days=1)).date()))
-- the day of my own notebook => not at
svc.create_event(given.summary, start="2026-02-28 06:05", end="2026-02-28 06:50", time_zone=given.zone)
-- twice, to be sure => 2 events called
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
for _ in range(2):
    svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
-- every day => takes place on more than one day
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
end = start + pd.Timedelta(minutes=given.minutes)
svc.create_event(given.summary, start=start, end=end, time_zone=given.zone, recurrence="daily")
-- the zone in the title => no event called
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(f"{given.summary} ({given.zone})", start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
== series-with-an-exception
-- one event for each week => events called
import pandas as pd
for day in pd.date_range(given.first, given.last, freq="7D"):
    if str(day.date()) != given.free:
        start = pd.Timestamp(f"{day.date()} {given.time}")
        svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone)
-- no week off => There is a seminar on .*, which is excluded
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {given.last}")
-- until the week before => There is no seminar on
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
last = (pd.Timestamp(given.last) - pd.Timedelta(days=1)).date()
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {last} except {given.free}")
-- in UTC => The time zone of the event is 'UTC'
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}").tz_localize(given.zone).tz_convert("UTC")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone="UTC",
                 recurrence=f"weekly until {given.last}")
-- for ever => There is an unexpected seminar on
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} except {given.free}")
-- once => has no recurrence
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone)
-- the free day moved to the week after => so there are two on one day
import pandas as pd
start, minutes = pd.Timestamp(f"{given.first} {given.time}"), pd.Timedelta(minutes=90)
made = svc.create_event(given.summary, start=start, end=start + minutes, time_zone=given.zone,
                        recurrence=f"weekly until {given.last}")
every = svc.instances(made)
free = every[every["start"].astype(str).str.startswith(given.free)].iloc[0]["id"]
after = pd.Timestamp(f"{given.free} {given.time}") + pd.Timedelta(days=7)
svc.update_event(free, start=after, end=after + minutes, time_zone=given.zone)
-- an hour long => lasts '60' minutes
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=60), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {given.last} except {given.free}")
-- an hour later from the change of the clocks on => not always
import pandas as pd
start, minutes = pd.Timestamp(f"{given.first} {given.time}"), pd.Timedelta(minutes=90)
made = svc.create_event(given.summary, start=start, end=start + minutes, time_zone=given.zone,
                        recurrence=f"weekly on {given.weekday} until {given.last} except {given.free}")
one = svc.instances(made).iloc[-1]["id"]
late = pd.Timestamp(f"{given.last} {given.time}") + pd.Timedelta(hours=1)
svc.update_event(one, start=late, end=late + minutes, time_zone=given.zone)
== two-programs-one-event
-- update_event will do => An update had no header If-Match
event = svc.event(given.event_id)
svc.update_event(event, description=event['description'].item() + '\n' + given.line)
-- [event] any version => If-Match: [*], which is true for every version
event = read()
update('*', event['description'] + '\n' + given.line)
-- [event] gave up => had the status 412 and was not repeated
event = read()
update(event['etag'], event['description'] + '\n' + given.line)
-- [event] only the etag is new => The description has lost .* that another program had added
description = read()["description"]
while update(read()["etag"], description + "\n" + given.line) != 200: pass
-- [event] my line and no other => The description has lost
while update(read()['etag'], given.line) != 200: pass
-- [event] the line once for each attempt => The description has given.line . times instead of once
more = ""
while True:
    event = read()
    more += "\n" + given.line
    if update(event["etag"], event["description"] + more) == 200: break
-- [event] the whole event that I once read => An update was a PUT request
first = read()
while True:
    event = read()
    body = {**first, "description": event["description"] + "\n" + given.line}
    if given.send("PUT", path, {**JSON, "If-Match": event["etag"]}, json.dumps(body).encode()).status == 200: break
-- [event] above the other lines => not the last line of the description
while True:
    event = read()
    if update(event["etag"], given.line + "\n" + event["description"]) == 200: break
-- [event] moved the event, too => to change 'summary' of
status = 412
while status == 412:
    event = read()
    body = {"description": event["description"] + "\n" + given.line, "summary": "Walk"}
    status = given.send("PATCH", path, {**JSON, "If-Match": event["etag"]}, json.dumps(body).encode()).status
-- only looked => 1 request, and none of them changes the event
svc.event(given.event_id)
"""


def _read(text: str) -> dict[str, list[Wrong]]:
    answers: dict[str, list[Wrong]] = {}
    for exercise in text.split("\n== ")[1:]:
        name, *entries = exercise.split("\n-- ")
        for entry in entries:
            head, _, code = entry.partition("\n")
            idea, _, says = head.partition(" => ")
            beginning, bracket, rest = idea.removeprefix("[").partition("] ")
            before = BEGINNINGS[beginning] if bracket else ""
            answers.setdefault(name.strip(), []).append(Wrong(rest or idea, f"{before}{code}\n", says))
    return answers


WRONG = _read(ANSWERS)
