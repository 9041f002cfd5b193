"""Wrong answers, each tempting in its own way, and what the check says that is missing.

An entry is the idea behind it, the code, and a part of the message.
"""

# ruff: noqa: E501 - a wrong answer is a line or two, with what is said to it beside it

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
def follow(token, rounds=2, **more):
    while rounds:
        page = read(token, **more)
        apply(page)
        token = page.get("nextPageToken") or page["newStartPageToken"]
        rounds -= "newStartPageToken" in page
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

WRONG: dict[str, list[Wrong]] = {
    "upload-with-a-name": [
        Wrong("forgot the name", "svc.upload(given.content)", "no file named"),
        Wrong(
            "named it afterwards",
            "svc.update(svc.upload(given.content), name=given.name)",
            "The file was changed after its creation",
        ),
        Wrong(
            "the name that my notebook showed",
            "svc.upload(given.content, name='ponds-100.csv')",
            "is called 'ponds-100.csv'|are called 'ponds-100.csv'",
        ),
        Wrong("a file without content", "svc.create_file(name=given.name)", "no bytes"),
        Wrong("another content", "svc.upload(b'hello', name=given.name)", "differs from given.content"),
        Wrong("twice, to be sure", "for _ in range(2): svc.upload(given.content, name=given.name)", "2 files called"),
        Wrong(
            "straight into the store",
            """
from svc_notebooks.client.session import Session
exercise = given._environment.exercise
there = Session("https://elsewhere.example", exercise.token, handler=exercise.service.handle)
svc.upload(given.content, name=given.name, session=there)
""",
            "was called without HTTP",
        ),
        Wrong(
            "made the file, then cleaned the journal",
            "svc.upload(given.content, name=given.name); given._environment.exercise.service._journal.clear()",
            "The journal was changed",
        ),
        Wrong(
            "copied with the name",
            "first = svc.upload(given.content); svc.copy(first, name=given.name); svc.delete(first)",
            "The file is a copy of another file",
        ),
        Wrong(
            "without the name first, then deleted",
            """
svc.delete(svc.upload(given.content))
svc.upload(given.content, name=given.name)
""",
            "created 2 files",
        ),
    ],
    "metadata-in-one-request": [
        Wrong(
            "upload, then describe",
            "svc.update(svc.upload(given.content, name=given.name), description=given.description, starred=True)",
            "The file was changed after its creation",
        ),
        Wrong(
            "resumable has metadata too",
            "svc.upload(given.content, name=given.name, upload_type='resumable',"
            " metadata={'description': given.description, 'starred': True})",
            "not in one request",
        ),
        Wrong(
            "no star",
            "svc.upload(given.content, name=given.name, metadata={'description': given.description})",
            "no star",
        ),
        Wrong(
            "another description",
            "svc.upload(given.content, name=given.name, metadata={'description': 'Bird counts', 'starred': True})",
            "description is 'Bird counts'",
        ),
        Wrong(
            "looked at the list, too",
            """
svc.upload(given.content, name=given.name, metadata={"description": given.description, "starred": True})
svc.files()
""",
            "received 2 requests, and the task asks for a single one",
        ),
        Wrong(
            "a star as a text",
            """
import json
head = json.dumps({"name": given.name, "description": given.description, "starred": "yes"})
body = f"--x\\r\\nContent-Type: application/json\\r\\n\\r\\n{head}\\r\\n--x\\r\\nContent-Type: text/csv\\r\\n\\r\\n".encode()
given.send("POST", "/upload/storage/v3/files?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"},
           body + given.content + b"\\r\\n--x--")
""",
            "no file named",
        ),
        Wrong(
            "a generated id first",
            """
chosen = svc.generate_ids(1)["id"].item()
svc.upload(given.content, name=given.name, file_id=chosen, metadata={"description": given.description, "starred": True})
""",
            "received 2 requests",
        ),
        Wrong(
            "the heading is not data",
            """
rows = given.content.partition(b"\\n")[2]
svc.upload(rows, name=given.name, metadata={"description": given.description, "starred": True})
""",
            "differs from given.content",
        ),
    ],
    "the-lost-receipt": [
        Wrong(
            "again after the error",
            """
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.upload(given.content, name=given.name)
""",
            "created without a generated id",
        ),
        Wrong(
            "a new id for every try",
            """
for _ in range(2):
    chosen = svc.generate_ids(1)["id"].item()
    try:
        given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"},
                   ('{"id": "%s", "name": "%s"}' % (chosen, given.name)).encode())
    except ConnectionError:
        pass
""",
            "2 different ids",
        ),
        Wrong(
            "an id of my own",
            "svc.generate_ids(1); svc.upload(given.content, name=given.name, file_id='order-1')",
            "The service did not generate the id",
        ),
        Wrong(
            "it will have worked",
            """
chosen = svc.generate_ids(1)["id"].item()
try:
    given.send("POST", "/upload/storage/v3/files?uploadType=multipart",
               {"Content-Type": "multipart/related; boundary=x"},
               b'--x\\r\\nContent-Type: application/json\\r\\n\\r\\n{"id": "%s", "name": "%s"}\\r\\n--x\\r\\n'
               b'Content-Type: text/plain\\r\\n\\r\\n%s\\r\\n--x--' % (chosen.encode(), given.name.encode(), given.content))
except ConnectionError:
    pass
""",
            "no later request asked whether the file exists",
        ),
        Wrong(
            "searched, and repeated it nevertheless",
            """
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.files(f"name = '{given.name}'"); svc.upload(given.content, name=given.name)
""",
            "look for the file by its name and do not repeat",
        ),
        Wrong(
            "generated an id, and did not send it",
            """
svc.generate_ids(1)
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.files(f"name = '{given.name}'")
""",
            "had no id",
        ),
    ],
    "go-on-where-it-stopped": [
        Wrong(
            "all over again",
            "svc.upload(given.content, name='film.mp4', upload_type='resumable')",
            "new upload, although the session is still open",
        ),
        Wrong(
            "from the first byte",
            """
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{len(given.content) - 1}/{len(given.content)}"},
           given.content)
""",
            "The first request to the session sent bytes",
        ),
        Wrong(
            "asked, and then from the first byte",
            """
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{total - 1}/{total}"}, given.content)
""",
            "were already stored, so some bytes were sent twice",
        ),
        Wrong(
            "the offset that it was yesterday",
            """
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 786433-{total - 1}/{total}"}, given.content[786433:])
""",
            "but the next missing byte was",
        ),
        Wrong(
            "asked, and went home", "svc.resume_upload(given.session_uri, given.content).status()", "and no file yet"
        ),
        Wrong(
            "asked another session",
            """
total = len(given.content)
given.send("PUT", given.session_uri[:-3] + "zzz", {"Content-Range": f"bytes */{total}"})
for first in range(262144, total, 262144):
    place = {"Content-Range": f"bytes {first}-{total - 1}/{total}"}
    if given.send("PUT", given.session_uri, place, given.content[first:]).status == 200: break
""",
            "had the address of another session",
        ),
        Wrong(
            "other bytes, and then an update",
            """
try:
    svc.resume_upload(given.session_uri, bytes(len(given.content))).run()
except svc.SourceChanged:
    svc.update(svc.files("name = 'film.mp4'"), given.content)
""",
            "send the content of the file in this session",
        ),
        Wrong(
            "zeros in place of the missing bytes",
            """
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2]) + 1
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 1}/{total}"}, bytes(total - offset))
""",
            "differs from given.content",
        ),
        Wrong(
            "the last stored byte once more",
            """
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2])
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 1}/{total}"}, given.content[offset:])
""",
            "were already stored",
        ),
        Wrong(
            "finished, and uploaded once more",
            """
svc.resume_upload(given.session_uri, given.content).run()
svc.upload(given.content, name="film.mp4")
""",
            "although the session is still open",
        ),
        Wrong(
            "finished, and deleted",
            """
svc.resume_upload(given.session_uri, given.content).run()
svc.delete(svc.files("name = 'film.mp4'"))
""",
            "no file yet|no file",
        ),
        Wrong(
            "shortened to what is stored",
            """
total = len(given.content)
answer = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
offset = int(answer.headers["Range"].rpartition("-")[2]) + 1
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {offset}-{total - 2}/{total - 1}"}, given.content[offset:-1])
""",
            "no file yet",
        ),
    ],
    "expired-session": [
        Wrong(
            "run() will begin again by itself",
            "svc.resume_upload(given.session_uri, given.content).run()",
            "The session has expired, and no new upload was started",
        ),
        Wrong(
            "not asked at all",
            "svc.upload(given.content, name=given.name, upload_type='resumable')",
            "No request asked for the state of the old session",
        ),
        Wrong(
            "a simple upload will do",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, name=given.name)
""",
            "The upload type was multipart, not resumable",
        ),
        Wrong(
            "it may come back",
            """
for _ in range(5):
    given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{len(given.content)}"})
svc.upload(given.content, name=given.name, upload_type="resumable")
""",
            "The old session received 5 requests",
        ),
        Wrong(
            "bytes instead of a question",
            """
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-99/{len(given.content)}"}, given.content[:100])
svc.upload(given.content, name=given.name, upload_type="resumable")
""",
            "The first request to the old session sent bytes",
        ),
        Wrong(
            "the wrong name",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, upload_type="resumable", name="night.raw")
""",
            "no file named",
        ),
        Wrong(
            "upload first, ask afterwards",
            """
svc.upload(given.content, name=given.name, upload_type="resumable")
svc.resume_upload(given.session_uri, given.content).status()
""",
            "The new upload was started before the status query",
        ),
        Wrong(
            "only the bytes that were missing",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content[262144:], name=given.name, upload_type="resumable")
""",
            "differs from given.content",
        ),
        Wrong(
            "two sessions, because the first one was left",
            """
svc.resume_upload(given.session_uri, given.content).status()
given.send("POST", "/upload/storage/v3/files?uploadType=resumable", {"Content-Type": "application/json"}, b"{}")
svc.upload(given.content, name=given.name, upload_type="resumable")
""",
            "opened 2 new sessions",
        ),
        Wrong(
            "named afterwards",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.update(svc.upload(given.content, name="new", upload_type="resumable"), name=given.name)
""",
            "The file was changed after its creation",
        ),
    ],
    "resumable-loop": [
        Wrong(
            "the client of the package",
            "svc.upload(given.content, name=given.name, upload_type='resumable')",
            "requests of the client of svc_notebooks",
        ),
        Wrong(
            "everything again after a break",
            _LOOP
            + """
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
""",
            "After a fault, the first session is still open",
        ),
        Wrong(
            "the same chunk again",
            _LOOP
            + """
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset)
    except ConnectionError:
        continue
    if answer.status < 500: offset = stored(answer)
""",
            "without a status query before",
        ),
        Wrong(
            "asked, but not listened",
            _LOOP
            + """
address = start().headers["Location"]
for offset in range(0, total, given.chunk_size):
    while True:
        try:
            if put(offset).status < 500: break
        except ConnectionError:
            pass
        ask()
""",
            "were already stored, so some bytes were sent twice",
        ),
        Wrong(
            "all in one piece",
            _LOOP
            + """
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset, total)
    except ConnectionError:
        answer = ask()
    if answer.status >= 500: answer = ask()
    offset = stored(answer)
""",
            "a chunk must have at most 262,144",
        ),
        Wrong("no loop at all", _LOOP + "address = start().headers['Location']\nput(0)", "no file named"),
        Wrong(
            "a simple upload",
            "given.send('POST', '/upload/storage/v3/files?uploadType=media', {}, given.content)",
            "not sent in a resumable upload",
        ),
        Wrong(
            "a question before every chunk",
            _LOOP
            + """
address = start().headers["Location"]
offset = 0
while offset < total:
    for _ in range(8): offset = stored(ask())
    try:
        put(offset)
    except ConnectionError:
        pass
    offset = stored(ask())
""",
            "are enough",
        ),
        Wrong(
            "counted by itself after a question",
            _LOOP
            + """
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        answer = put(offset)
        if answer.status >= 500: raise ConnectionError
    except ConnectionError:
        ask()
    offset += given.chunk_size
""",
            "but the next missing byte was",
        ),
        Wrong(
            "a question that may not fail",
            _LOOP
            + """
ask = lambda: given.send("PUT", address, {"Content-Range": f"bytes */{total}"})
address = start().headers["Location"]
offset = 0
while offset < total:
    try:
        failed = put(offset).status >= 500
    except ConnectionError:
        failed = True
    offset = stored(ask()) if failed else offset + given.chunk_size
""",
            "no file named|without a status query before",
        ),
        Wrong(
            "renamed when it was there",
            _LOOP
            + """
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
""",
            "The file was changed after its creation",
        ),
    ],
    "a-part-of-a-file": [
        Wrong(
            "all of it, and a slice",
            """
all = svc.read(given.file_id)
svc.upload(all[64 * given.record:64 * given.record + 64], name="record.txt")
""",
            "A download had no range",
        ),
        Wrong(
            "the end as in Python",
            """
part = svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 64))
svc.upload(part[:64], name="record.txt")
""",
            "sent 65 bytes",
        ),
        Wrong(
            "counted from 1",
            """
first = 64 * (given.record - 1)
svc.upload(svc.read(given.file_id, byte_range=(first, first + 63)), name="record.txt")
""",
            "differs from record",
        ),
        Wrong(
            "never uploaded",
            "svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))",
            "no file named 'record.txt'",
        ),
        Wrong(
            "without the last byte",
            """
first = 64 * given.record
svc.upload(svc.read(given.file_id, byte_range=(first, first + 62)) + b"\\n", name="record.txt")
""",
            "sent 63 bytes",
        ),
        Wrong(
            "from the record to the end",
            """
answer = given.send("GET", f"/storage/v3/files/{given.file_id}?alt=media", {"Range": f"bytes={64 * given.record}-"})
svc.upload(answer.body[:64], name="record.txt")
""",
            "but the record has 64",
        ),
        Wrong(
            "one after the other, until the number is right",
            """
for n in range(given.record - 2, given.record + 1):
    part = svc.read(given.file_id, byte_range=(64 * n, 64 * n + 63))
svc.upload(part, name="record.txt")
""",
            "sent 192 bytes",
        ),
        Wrong(
            "two files, to be sure",
            """
part = svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))
for _ in range(2): svc.upload(part, name="record.txt")
""",
            "2 files called",
        ),
        Wrong(
            "the whole file by its link, and a part for show",
            """
link = given.send("GET", f"/storage/v3/files/{given.file_id}?fields=webContentLink").json()["webContentLink"]
import urllib.parse
all = given.send("GET", link).body
svc.read(given.file_id, byte_range=(0, 63))
svc.upload(all[64 * given.record:64 * given.record + 64], name="record.txt")
""",
            "in another way",
        ),
    ],
    "let-the-service-search": [
        Wrong(
            "pandas can search, too",
            """
all = svc.files()
mine = all["name"].str.contains(given.word) & (all["mime_type"] == "text/csv") & ~all["trashed"]
svc.update(all[mine], starred=True)
""",
            "without a query",
        ),
        Wrong(
            "forgot the trash",
            """
svc.update(svc.files(f"name contains '{given.word}' and mimeType = 'text/csv'", fields=["id", "name"]), starred=True)
""",
            "1 other file",
        ),
        Wrong(
            "forgot the type",
            """
svc.update(svc.files(f"name contains '{given.word}' and trashed = false", fields=["id", "name"]), starred=True)
""",
            "2 other files",
        ),
        Wrong(
            "every field",
            """
svc.update(svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false"), starred=True)
""",
            "instead of id and name",
        ),
        Wrong(
            "the word of my own notebook",
            """
svc.update(svc.files("name contains 'moorhen' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"]),
           starred=True)
""",
            "returned 0 of the",
        ),
        Wrong(
            "found, and no star",
            """
svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
""",
            "have a star",
        ),
        Wrong(
            "the others into the trash first",
            """
for file_id in svc.changes("1")["file_id"].unique():
    file = svc.file(file_id)
    if given.word not in file["name"].item() or file["mime_type"].item() != "text/csv": svc.trash(file_id)
svc.update(svc.files("trashed = false", fields=["id", "name"]), starred=True)
""",
            "An update changed 'trashed'",
        ),
        Wrong(
            "a star for all, and taken from the others",
            """
found = svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
every = svc.changes("1")["file_id"].unique().tolist()
svc.update(every, starred=True)
svc.update([one for one in every if one not in set(found["id"])], starred=False)
""",
            "that your search did not return",
        ),
        Wrong(
            "the name begins with the word",
            """
found = svc.files(f"name contains '{given.word} 0' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
svc.update(found, starred=True)
""",
            "returned . of the",
        ),
        Wrong(
            "one page, and the rest by hand",
            """
page = given.send("GET", f"/storage/v3/files?pageSize=2&fields=files(id,name)&q=name+contains+'{given.word}'+and+mimeType='text/csv'+and+trashed=false").json()
svc.update([file["id"] for file in page["files"]], starred=True)
""",
            "returned 2 of the",
        ),
    ],
    "another-format": [
        Wrong(
            "a CSV file is a table",
            "svc.export(svc.upload(given.content, name=given.name, mime_type='text/csv'), 'tsv')",
            "which is not a spreadsheet of the service",
        ),
        Wrong(
            "an empty spreadsheet",
            """
import tempfile
empty = svc.create_file(name=given.name, mime_type="application/vnd.svc-apps.spreadsheet")
svc.export(empty, "tsv", tempfile.mkdtemp())
""",
            "differs from given.content",
        ),
        Wrong(
            "the wrong format",
            """
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "csv", tempfile.mkdtemp())
""",
            "exported as 'text/csv'",
        ),
        Wrong(
            "never exported",
            "svc.upload(given.content, name=given.name, mime_type='text/csv', convert_to='spreadsheet')",
            "never exported",
        ),
        Wrong(
            "rewritten as TSV before the upload",
            """
import tempfile
rows = given.content.replace(b",", b"\\t")
table = svc.upload(rows, name=given.name, mime_type="text/tab-separated-values", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
""",
            "the table was converted before the upload",
        ),
        Wrong(
            "another name",
            """
import tempfile
table = svc.upload(given.content, name="counts", mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
""",
            "no file named",
        ),
        Wrong(
            "a document, not a spreadsheet",
            """
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/plain", convert_to="document")
svc.export(table, "txt", tempfile.mkdtemp())
""",
            "which is not a spreadsheet",
        ),
        Wrong(
            "two spreadsheets",
            """
import tempfile
for _ in range(2):
    table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
""",
            "2 files called",
        ),
    ],
    "too-often": [
        Wrong(
            "some were made twice, and deleted",
            _HAND
            + """
for name in [given.names[0], *given.names]:
    while True:
        answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
        if answer.status != 403: break
        given.clock.advance(int(answer.headers["Retry-After"]))
given.clock.advance(100)
given.send("DELETE", "/storage/v3/files/" + answer.json()["id"])
given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": given.names[-1]}).encode())
""",
            "more than one file|files for",
        ),
        Wrong(
            "at once again",
            _HAND
            + """
for name in given.names:
    for _ in range(40):
        if given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status == 200: break
""",
            "the next request came after 0 seconds",
        ),
        Wrong(
            "a second is long",
            _HAND
            + """
for name in given.names:
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status != 200:
        given.clock.advance(1)
""",
            "the next request came after 1 second\\.",
        ),
        Wrong(
            "tomorrow is another day",
            _HAND
            + """
for name in given.names:
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status != 200:
        given.clock.advance("1d")
""",
            "the next request came only after",
        ),
        Wrong(
            "what is refused is lost",
            _HAND
            + """
for name in given.names:
    answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
    if answer.status == 403: given.clock.advance(int(answer.headers["Retry-After"]))
""",
            "do not exist",
        ),
        Wrong(
            "from the beginning after a refusal",
            _HAND
            + """
done = False
rounds = 0
while not done and rounds < 3:
    rounds += 1
    for name in given.names:
        answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
        if answer.status == 403:
            given.clock.advance(int(answer.headers["Retry-After"]))
            given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
""",
            "more than one file",
        ),
        Wrong(
            "the client of the package",
            "[svc.create_file(name=name) for name in given.names]",
            "requests of the client of svc_notebooks",
        ),
        Wrong(
            "files with content",
            """
part = '--x\\r\\nContent-Type: application/json\\r\\n\\r\\n{"name": "%s"}\\r\\n--x\\r\\nContent-Type: text/plain\\r\\n\\r\\nx\\r\\n--x--'
for name in given.names:
    body = (part % name).encode()
    while (answer := given.send("POST", "/upload/storage/v3/files?uploadType=multipart",
                                {"Content-Type": "multipart/related; boundary=x"}, body)).status == 403:
        given.clock.advance(int(answer.headers["Retry-After"]))
""",
            "asks for empty files",
        ),
        Wrong(
            "waited before each request",
            _HAND
            + """
for name in given.names:
    given.clock.advance(100)
    given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
""",
            "refused no request",
        ),
        Wrong(
            "growing delays instead of the header",
            _HAND
            + """
for name in given.names:
    delay = 1
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status == 403:
        given.clock.advance(delay)
        delay *= 2
""",
            "the next request came after 1 second",
        ),
    ],
    "later-or-never": [
        Wrong(
            "never again",
            _HAND
            + """
for one in given.file_ids:
    try:
        given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}')
    except ConnectionError:
        pass
""",
            "was not repeated|No request tried to change",
        ),
        Wrong(
            "all of them three times",
            _HAND
            + """
for one in given.file_ids:
    for _ in range(4):
        try:
            given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}')
        except ConnectionError:
            pass
        given.clock.advance(2)
""",
            "times; this error is permanent|repeated although it had succeeded",
        ),
        Wrong(
            "at once again",
            _HAND
            + """
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
""",
            "A failed request was repeated without a wait of one second",
        ),
        Wrong(
            "whatever is no 200",
            _HAND
            + """
for one in given.file_ids:
    for _ in range(5):
        try:
            if given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status == 200: break
        except ConnectionError:
            pass
        given.clock.advance(1)
""",
            "times. This error is permanent",
        ),
        Wrong(
            "the client of the package",
            "[svc.update(one, starred=True) for one in given.file_ids]",
            "requests of the client of svc_notebooks",
        ),
        Wrong(
            "a wait of half a second",
            _HAND
            + """
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
        given.clock.advance(0.5)
""",
            "without a wait of one second",
        ),
        Wrong(
            "a lost connection is permanent",
            _HAND
            + """
for one in given.file_ids:
    for _ in range(9):
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            break
        if status < 500: break
        given.clock.advance(1)
""",
            "had no response, and was not repeated",
        ),
        Wrong(
            "only 503 is temporary",
            _HAND
            + """
for one in given.file_ids:
    for _ in range(9):
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            status = 503
        if status != 503: break
        given.clock.advance(1)
""",
            "had the status 500, and was not repeated",
        ),
        Wrong(
            "starred and renamed",
            _HAND
            + """
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true, "name": "nest"}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
""",
            "An update changed",
        ),
        Wrong(
            "no star is set",
            _HAND
            + """
for one in given.file_ids:
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": false}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
""",
            "have a star",
        ),
        Wrong(
            "others are left out",
            _HAND
            + """
for one in given.file_ids:
    if given.send("GET", f"/storage/v3/files/{one}?fields=ownedByMe").status != 200: continue
    status = 500
    while status >= 500:
        try:
            status = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status
        except ConnectionError:
            pass
        given.clock.advance(1)
""",
            "No request tried to change",
        ),
    ],
    "growing-delays": [
        Wrong(
            "at once again",
            _DOWNLOADS + "each(lambda n, answer: 0)",
            "came after 0 seconds. The delay must be at least|Retry-After says",
        ),
        Wrong(
            "always one second",
            _DOWNLOADS + "each(lambda n, answer: max(1, retry_after(answer)))",
            "after 1 second. The delay must be at least 2",
        ),
        Wrong(
            "doubled, but never at random",
            _DOWNLOADS + "each(lambda n, answer: max(0.75 * limit(n), retry_after(answer)))",
            "have the same delays .* so the delays have no jitter",
        ),
        Wrong(
            "the same seed for each file",
            _DOWNLOADS
            + """
def download(file_id):
    draw = random.Random(7)
    delays = [draw.uniform(limit(n) / 2, limit(n)) for n in range(1, 8)]
    for delay in delays:
        answer = get(file_id)
        if answer.status == 200: return
        given.clock.advance(max(delay, retry_after(answer)))
for file_id in given.file_ids: download(file_id)
""",
            "have the same delays",
        ),
        Wrong(
            "Retry-After is not read",
            _DOWNLOADS + "each(lambda n, answer: random.uniform(limit(n) / 2, limit(n)))",
            "Retry-After: .* Wait at least as long as Retry-After says",
        ),
        Wrong(
            "Retry-After in place of the growing delay",
            _DOWNLOADS + "each(lambda n, answer: retry_after(answer) or random.uniform(limit(n) / 2, limit(n)))",
            "because Retry-After does not make a delay shorter",
        ),
        Wrong(
            "without a cap",
            _DOWNLOADS.replace("min(given.cap, 2 ** (n - 1))", "2 ** (n - 1)")
            + "each(lambda n, answer: max(random.uniform(limit(n) / 2, limit(n)), retry_after(answer)))",
            "The delay must be at most 8 seconds",
        ),
        Wrong(
            "the delay grows over all files",
            _DOWNLOADS
            + """
refusals = 0
for file_id in given.file_ids:
    while (answer := get(file_id)).status != 200:
        refusals += 1
        given.clock.advance(max(random.uniform(limit(refusals) / 2, limit(refusals)), retry_after(answer)))
""",
            "Refusal 1 of file 2 .* The delay must be at most 1 second\\.",
        ),
        Wrong(
            "a 403 is final",
            _DOWNLOADS + "each(lambda n, answer: None if answer.status == 403 else"
            " max(random.uniform(limit(n) / 2, limit(n)), retry_after(answer)))",
            "The last download of file 3 had the status 403 and was not repeated",
        ),
        Wrong(
            "only the first file", _DOWNLOADS + "get(given.file_ids[0])", "The last download of file 1 had the status"
        ),
        Wrong("the client of the package", "svc.read(given.file_ids[0])", "requests of the client of svc_notebooks"),
    ],
    "share-with-one": [
        Wrong("no role", "svc.share(given.file_id, given.email)", "which is not the role for comments"),
        Wrong(
            "more is better", "svc.share(given.file_id, given.email, role='writer')", "which allows changes of the file"
        ),
        Wrong(
            "the wrong file, taken back",
            """
other = svc.files("name contains 'budget'")
svc.share(other, given.email, role="commenter")
svc.unshare(other, given.email)
svc.share(given.file_id, given.email, role="commenter")
""",
            "A file other than given.file_id was shared, too",
        ),
        Wrong(
            "anyone with the link",
            "svc.share(given.file_id, 'anyone', role='commenter')",
            "had the type 'anyone', so more than one person had access",
        ),
        Wrong(
            "the person of my own notebook",
            "svc.share(given.file_id, 'bob@svc.example', role='commenter')",
            "shared with 'bob@svc.example'",
        ),
        Wrong(
            "the other files into the trash",
            """
svc.share(given.file_id, given.email, role="commenter")
svc.trash(svc.files("name contains 'budget'"))
""",
            "changed a file that the task does not ask you to change",
        ),
        Wrong(
            "a copy is shared",
            """
svc.share(svc.copy(given.file_id, name="plan"), given.email, role="commenter")
""",
            "other than given.file_id",
        ),
        Wrong(
            "shared, and taken back",
            """
svc.share(given.file_id, given.email, role="commenter")
svc.unshare(given.file_id, given.email)
""",
            "Only the owner",
        ),
        Wrong(
            "by a folder",
            """
folder = svc.create_folder("for " + given.email)
svc.move(given.file_id, folder)
svc.share(folder, given.email, role="commenter")
""",
            "A file other than given.file_id was shared",
        ),
        Wrong(
            "writer for a moment",
            """
import json
made = given.send("POST", f"/storage/v3/files/{given.file_id}/permissions", {"Content-Type": "application/json"},
    json.dumps({"type": "user", "role": "writer", "emailAddress": given.email}).encode()).json()
given.send("PATCH", f"/storage/v3/files/{given.file_id}/permissions/{made['id']}", {"Content-Type": "application/json"}, b'{"role": "commenter"}')
""",
            "had the role 'writer'",
        ),
    ],
    "the-narrowest-scope": [
        Wrong(
            "the key to everything",
            """
for program in ("catalogue", "reader", "diary"):
    one = given.sign_in(program, ["storage"])
    svc.files(session=one)
    svc.read(given.file_id, session=one)
    svc.upload(b"x", name="diary.txt", session=one)
""",
            "not the narrowest",
        ),
        Wrong(
            "two are safer than one",
            """
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly", "storage.readonly"]))
""",
            "has 2 scopes",
        ),
        Wrong(
            "my own session",
            """
svc.files()
svc.read(given.file_id)
svc.upload(b"x", name="diary.txt")
""",
            "no request of the program",
        ),
        Wrong(
            "signed in, and used my own session",
            """
for program, scope in (("catalogue", "storage.metadata.readonly"), ("reader", "storage.readonly"), ("diary", "storage.file")):
    svc.about(session=given.sign_in(program, [scope]))
svc.files()
""",
            "no request shows that it listed the names of the files",
        ),
        Wrong(
            "ids without names",
            'svc.files(fields=["id"], session=given.sign_in("catalogue", ["storage.metadata.readonly"]))',
            "no request shows that it listed the names",
        ),
        Wrong(
            "a part is enough",
            """
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, byte_range=(0, 3), session=given.sign_in("reader", ["storage.readonly"]))
""",
            "no request shows that it downloaded",
        ),
        Wrong(
            "another diary",
            """
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, session=given.sign_in("reader", ["storage.readonly"]))
svc.upload(b"x", name="diary", session=given.sign_in("diary", ["storage.file"]))
""",
            "no request shows that it uploaded",
        ),
        Wrong(
            "right, and looked with my own session",
            """
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, session=given.sign_in("reader", ["storage.readonly"]))
svc.upload(b"x", name="diary.txt", session=given.sign_in("diary", ["storage.file"]))
svc.files()
""",
            "used your own token",
        ),
    ],
    "watch-without-a-gap": [
        Wrong(
            "one channel for all of it",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in=f"{given.hours}h")
given.clock.advance(f"{given.hours}h")
""",
            "The file was watched for 24 hours",
        ),
        Wrong(
            "the next one when the old one has ended",
            """
for _ in range(2):
    channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
    given.clock.advance("25h")
svc.watch_file(given.file_id, given.address)
""",
            "for 1 hour: a channel ended before the next one was opened",
        ),
        Wrong(
            "stopped first",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("20h")
svc.stop_channel(channel)
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("23h")
svc.stop_channel(channel)
""",
            "stopped before the next one was open",
        ),
        Wrong(
            "left open",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
for _ in range(3):
    given.clock.advance("20h")
    channel = svc.renew_channel(channel, expires_in="1d")
""",
            "1 channel had not been stopped",
        ),
        Wrong(
            "the clock does not move",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
svc.stop_channel(svc.renew_channel(channel))
""",
            "watched for 0 hours",
        ),
        Wrong(
            "the default is an hour",
            """
channel = svc.watch_file(given.file_id, given.address)
given.clock.advance("20h")
channel = svc.watch_file(given.file_id, given.address)
""",
            "hours: a channel ended before the next one was opened",
        ),
        Wrong(
            "let the last one run out",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("23h")
svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("40h")
""",
            "No channel was stopped",
        ),
        Wrong(
            "the next one at the moment when the old one ends",
            """
svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance("1d")
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
given.clock.advance(f"{given.hours - 24}h")
svc.stop_channel(channel)
""",
            "opened at the moment when the one before it expired",
        ),
        Wrong(
            "30 hours more",
            """
channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
for _ in range(3):
    given.clock.advance("20h")
    channel = svc.renew_channel(channel, expires_in="1d")
given.clock.advance(f"{given.hours - 30}h")
svc.stop_channel(channel)
""",
            "which is longer than the",
        ),
        Wrong(
            "the clock first",
            "given.clock.advance('2h'); svc.watch_file(given.file_id, given.address)",
            "opened 2 hours after the start",
        ),
    ],
    "believe-nobody": [
        Wrong("everybody is welcome", "given.deliver_to(lambda headers: 200)", "accepted a message"),
        Wrong("nobody is welcome", "given.deliver_to(lambda headers: 403)", "rejected a genuine message"),
        Wrong(
            "None equals None",
            """
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers:
    200 if tokens.get(headers.get("X-Svc-Channel-ID")) == headers.get("X-Svc-Channel-Token") else 403)
""",
            "Your receiver accepted a message without a channel id and",
        ),
        Wrong(
            "in small letters",
            """
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    return 200 if right and token is not None and right.lower() == token.lower() else 403
given.deliver_to(handle)
""",
            "the token in other letter case",
        ),
        Wrong(
            "falls over",
            """
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers: 200 if tokens[headers["X-Svc-Channel-ID"]] == headers["X-Svc-Channel-Token"] else 403)
""",
            "raised KeyError",
        ),
        Wrong("true is no status", "given.deliver_to(lambda headers: True)", "instead of a status"),
        Wrong(
            "try again later",
            """
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    return 200 if right and right == token else 503
given.deliver_to(handle)
""",
            "The response to a forged message had a status of",
        ),
    ],
    "page-by-page": [
        Wrong(
            "svc.changes() has them all", "svc.changes(given.page_token)", "page size .*, instead of given.page_size"
        ),
        Wrong(
            "no page size",
            _CHANGES + "given.send('GET', f'/storage/v3/changes?pageToken={given.page_token}')",
            "which is the default",
        ),
        Wrong("list the files instead", _CHANGES + "read(given.page_token)\nsvc.files()", "A request listed all files"),
        Wrong(
            "only the first page",
            _CHANGES + "apply(read(given.page_token))\nsave(given.page_token)",
            "there are more pages",
        ),
        Wrong(
            "from now on",
            _CHANGES + "save(follow(given.send('GET', '/storage/v3/changes/startPageToken').json()['startPageToken']))",
            "The changes between them are missing",
        ),
        Wrong(
            "token plus page size",
            _CHANGES
            + """
token = int(given.page_token)
while "newStartPageToken" not in (page := read(token)):
    apply(page)
    token += given.page_size
apply(page)
follow(page["newStartPageToken"], 1)
""",
            "which no response contained",
        ),
        Wrong("once is enough", _CHANGES + "save(follow(given.page_token, 1))", "up to its end once"),
        Wrong(
            "without the deletions",
            _CHANGES + "save(follow(given.page_token, includeRemoved='false'))",
            "still has . files that you can no longer see",
        ),
        Wrong(
            "del on an id that the copy never had",
            _CHANGES.replace('copy.pop(change["fileId"], None)', 'del copy[change["fileId"]]')
            + "save(follow(given.page_token))",
            "there are more pages|up to its end once|no file named 'copy.json'",
        ),
        Wrong(
            "new files only",
            _CHANGES.replace("else: copy[", "elif change['fileId'] not in copy: copy[")
            + "save(follow(given.page_token))",
            "for a file that is now called",
        ),
        Wrong(
            "renamed files only",
            _CHANGES.replace("else: copy[", "elif change['fileId'] in copy: copy[") + "save(follow(given.page_token))",
            "The copy lacks",
        ),
        Wrong(
            "the token from the beginning",
            _CHANGES + "follow(given.page_token)\nsave(given.page_token)",
            "but the last newStartPageToken was",
        ),
        Wrong(
            "a list of names",
            _CHANGES
            + "follow(given.page_token)\nsvc.upload(json.dumps(list(copy.values())).encode(), name='copy.json')",
            "is not a JSON object with `files`",
        ),
        Wrong("nothing uploaded", _CHANGES + "follow(given.page_token)", "no file named 'copy.json'"),
        Wrong(
            "again from the beginning",
            _CHANGES + "follow(given.page_token, 1)\nsave(follow(given.page_token, 1))",
            "read changes a second time",
        ),
    ],
    "twice-and-out-of-order": [
        Wrong(
            "the last one to arrive",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    if kind != "sync" and (channel, number) not in seen:
        state[channel]["messages"] += 1
    if kind != "sync": state[channel].update(state=kind, number=number)
    seen.add((channel, number))
    return 200
given.deliver_to(handle)
save()
""",
            "The message that arrives last is not always the newest one",
        ),
        Wrong(
            "sync is a state, too",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
save()
""",
            "This message says that the channel is open",
        ),
        Wrong(
            "numbers as they are in the headers",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = headers["X-Svc-Channel-ID"], headers["X-Svc-Message-Number"], headers["X-Svc-Resource-State"]
    if number > str(state[channel]["number"]): state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
for entry in state.values(): entry["number"] = int(entry["number"])
save()
""",
            "compare int.number.",
        ),
        Wrong(
            "every arrival counts",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    if number > state[channel]["number"]: state[channel].update(state=kind, number=number)
    state[channel]["messages"] += kind != "sync"
    return 200
given.deliver_to(handle)
save()
""",
            "A message that arrives again has the same channel and the same number",
        ),
        Wrong(
            "a set of numbers",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    if number in seen or kind == "sync": return 200
    seen.add(number)
    state[channel]["messages"] += 1
    if number > state[channel]["number"]: state[channel].update(state=kind, number=number)
    return 200
given.deliver_to(handle)
save()
""",
            "has the number|both channels use the same numbers",
        ),
        Wrong(
            "what comes late is ignored and not counted",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    if kind != "sync" and number > state[channel]["number"]:
        state[channel].update(state=kind, number=number, messages=state[channel]["messages"] + 1)
    return 200
given.deliver_to(handle)
save()
""",
            r"different messages about the file\. A message that arrives after a newer one counts, too",
        ),
        Wrong(
            "a conflict is 409",
            _MESSAGES
            + """
def handle(headers):
    if parts(headers) in seen: return 409
    seen.add(parts(headers))
    return 200
given.deliver_to(handle)
save()
""",
            "returned 409 for a message that arrived a second time",
        ),
        Wrong(
            "the state of one and the number of another",
            _MESSAGES
            + """
def handle(headers):
    channel, number, kind = parts(headers)
    if kind == "sync": return 200
    state[channel]["number"] = max(number, state[channel]["number"])
    state[channel]["state"] = "update"
    return 200
given.deliver_to(handle)
save()
""",
            "State and number must be of the same message",
        ),
        Wrong(
            "no status", _MESSAGES + "given.deliver_to(lambda headers: None)", "returned a NoneType instead of a status"
        ),
        Wrong("nothing uploaded", "given.deliver_to(lambda headers: 200)", "no file named 'state.json'"),
        Wrong(
            "one channel only",
            _MESSAGES + "given.deliver_to(lambda headers: 200)\nsave({given.channels[0]: 1})",
            "has no entry with state",
        ),
        Wrong("uploaded without messages", _MESSAGES + "save()", "has not responded to all messages"),
    ],
    "event-in-its-zone": [
        Wrong(
            "UTC is a zone",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
""",
            "^In .* the event begins at",
        ),
        Wrong(
            "the same instant in UTC",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}").tz_localize(given.zone).tz_convert("UTC")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
""",
            "The time zone of the event is 'UTC'",
        ),
        Wrong(
            "an offset is enough",
            """
import json, pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}").tz_localize(given.zone)
end = start + pd.Timedelta(minutes=given.minutes)
body = {"summary": given.summary, "start": {"dateTime": start.isoformat()}, "end": {"dateTime": end.isoformat()}}
given.send("POST", "/calendar/v3/calendars/primary/events", {"Content-Type": "application/json"}, json.dumps(body).encode())
""",
            "a UTC offset and no time zone",
        ),
        Wrong(
            "an hour is an hour",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(hours=1), time_zone=given.zone)
""",
            "lasts 60 minutes",
        ),
        Wrong(
            "the whole day",
            """
import pandas as pd
svc.create_event(given.summary, start=given.day, end=str((pd.Timestamp(given.day) + pd.Timedelta(days=1)).date()))
""",
            "The event has dates without times, so it is an all-day",
        ),
        Wrong(
            "the day of my own notebook",
            """
svc.create_event(given.summary, start="2026-02-28 06:05", end="2026-02-28 06:50", time_zone=given.zone)
""",
            "not at",
        ),
        Wrong(
            "twice, to be sure",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
for _ in range(2):
    svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
""",
            "2 events called",
        ),
        Wrong(
            "every day",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
end = start + pd.Timedelta(minutes=given.minutes)
svc.create_event(given.summary, start=start, end=end, time_zone=given.zone, recurrence="daily")
""",
            "takes place on more than one day",
        ),
        Wrong(
            "the zone in the title",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(f"{given.summary} ({given.zone})", start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
""",
            "no event called",
        ),
    ],
    "series-with-an-exception": [
        Wrong(
            "one event for each week",
            """
import pandas as pd
for day in pd.date_range(given.first, given.last, freq="7D"):
    if str(day.date()) != given.free:
        start = pd.Timestamp(f"{day.date()} {given.time}")
        svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone)
""",
            "events called",
        ),
        Wrong(
            "no week off",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {given.last}")
""",
            "There is a seminar on .*, which is excluded",
        ),
        Wrong(
            "until the week before",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
last = (pd.Timestamp(given.last) - pd.Timedelta(days=1)).date()
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {last} except {given.free}")
""",
            "There is no seminar on",
        ),
        Wrong(
            "in UTC",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}").tz_localize(given.zone).tz_convert("UTC")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone="UTC",
                 recurrence=f"weekly until {given.last}")
""",
            "The time zone of the event is 'UTC'",
        ),
        Wrong(
            "for ever",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} except {given.free}")
""",
            "There is an unexpected seminar on",
        ),
        Wrong(
            "once",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone)
""",
            "has no recurrence",
        ),
        Wrong(
            "the free day moved to the week after",
            """
import pandas as pd
start, minutes = pd.Timestamp(f"{given.first} {given.time}"), pd.Timedelta(minutes=90)
made = svc.create_event(given.summary, start=start, end=start + minutes, time_zone=given.zone,
                        recurrence=f"weekly until {given.last}")
every = svc.instances(made)
free = every[every["start"].astype(str).str.startswith(given.free)].iloc[0]["id"]
after = pd.Timestamp(f"{given.free} {given.time}") + pd.Timedelta(days=7)
svc.update_event(free, start=after, end=after + minutes, time_zone=given.zone)
""",
            "so there are two on one day",
        ),
        Wrong(
            "an hour long",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=60), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {given.last} except {given.free}")
""",
            "lasts '60' minutes",
        ),
        Wrong(
            "an hour later from the change of the clocks on",
            """
import pandas as pd
start, minutes = pd.Timestamp(f"{given.first} {given.time}"), pd.Timedelta(minutes=90)
made = svc.create_event(given.summary, start=start, end=start + minutes, time_zone=given.zone,
                        recurrence=f"weekly on {given.weekday} until {given.last} except {given.free}")
one = svc.instances(made).iloc[-1]["id"]
late = pd.Timestamp(f"{given.last} {given.time}") + pd.Timedelta(hours=1)
svc.update_event(one, start=late, end=late + minutes, time_zone=given.zone)
""",
            "not always",
        ),
    ],
    "two-programs-one-event": [
        Wrong(
            "update_event will do",
            "event = svc.event(given.event_id)\n"
            "svc.update_event(event, description=event['description'].item() + '\\n' + given.line)",
            "An update had no header If-Match",
        ),
        Wrong(
            "any version",
            _EVENT + "event = read()\nupdate('*', event['description'] + '\\n' + given.line)",
            "If-Match: [*], which is true for every version",
        ),
        Wrong(
            "gave up",
            _EVENT + "event = read()\nupdate(event['etag'], event['description'] + '\\n' + given.line)",
            "had the status 412 and was not repeated",
        ),
        Wrong(
            "only the etag is new",
            _EVENT
            + """
description = read()["description"]
while update(read()["etag"], description + "\\n" + given.line) != 200: pass
""",
            "The description has lost .* that another program had added",
        ),
        Wrong(
            "my line and no other",
            _EVENT + "while update(read()['etag'], given.line) != 200: pass",
            "The description has lost",
        ),
        Wrong(
            "the line once for each attempt",
            _EVENT
            + """
more = ""
while True:
    event = read()
    more += "\\n" + given.line
    if update(event["etag"], event["description"] + more) == 200: break
""",
            "The description has given.line . times instead of once",
        ),
        Wrong(
            "the whole event that I once read",
            _EVENT
            + """
first = read()
while True:
    event = read()
    body = {**first, "description": event["description"] + "\\n" + given.line}
    if given.send("PUT", path, {**JSON, "If-Match": event["etag"]}, json.dumps(body).encode()).status == 200: break
""",
            "The event has the location",
        ),
        Wrong(
            "above the other lines",
            _EVENT
            + """
while True:
    event = read()
    if update(event["etag"], given.line + "\\n" + event["description"]) == 200: break
""",
            "not the last line of the description",
        ),
        Wrong(
            "moved the event, too",
            _EVENT
            + """
status = 412
while status == 412:
    event = read()
    body = {"description": event["description"] + "\\n" + given.line, "summary": "Walk"}
    status = given.send("PATCH", path, {**JSON, "If-Match": event["etag"]}, json.dumps(body).encode()).status
""",
            "Your update has changed 'summary'",
        ),
        Wrong("only looked", "svc.event(given.event_id)", "1 request, and none of them changes the event"),
    ],
}
