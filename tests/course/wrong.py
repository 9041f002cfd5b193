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

WRONG: dict[str, list[Wrong]] = {
    "upload-with-a-name": [
        Wrong("forgot the name", "svc.upload(given.content)", "no file called"),
        Wrong(
            "named it afterwards",
            "svc.update(svc.upload(given.content), name=given.name)",
            "changed after it was there",
        ),
        Wrong(
            "the name that my notebook showed",
            "svc.upload(given.content, name='ponds-100.csv')",
            "is called 'ponds-100.csv'",
        ),
        Wrong("a file without content", "svc.create_file(name=given.name)", "no bytes"),
        Wrong("another content", "svc.upload(b'hello', name=given.name)", "not those of given.content"),
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
    ],
    "metadata-in-one-request": [
        Wrong(
            "upload, then describe",
            "svc.update(svc.upload(given.content, name=given.name), description=given.description, starred=True)",
            "changed after it was there",
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
            "metadata first, content later",
            "svc.update(svc.create_file(name=given.name, description=given.description, starred=True), given.content)",
            "changed after it was there",
        ),
        Wrong(
            "another description",
            "svc.upload(given.content, name=given.name, metadata={'description': 'Bird counts', 'starred': True})",
            "description is 'Bird counts'",
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
            "before an id had been drawn",
        ),
        Wrong(
            "again, and the spare one deleted",
            """
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    svc.upload(given.content, name=given.name)
svc.delete(svc.files().iloc[1]["id"])
""",
            "before an id had been drawn",
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
            "not one that the service has drawn",
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
            "nobody has asked since",
        ),
    ],
    "go-on-where-it-stopped": [
        Wrong(
            "all over again",
            "svc.upload(given.content, name='film.mp4', upload_type='resumable')",
            "asked for 1 new upload",
        ),
        Wrong(
            "from the first byte",
            """
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{len(given.content) - 1}/{len(given.content)}"},
           given.content)
""",
            "before anybody had asked",
        ),
        Wrong(
            "asked, and then from the first byte",
            """
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-{total - 1}/{total}"}, given.content)
""",
            "were stored already",
        ),
        Wrong(
            "the offset that it was yesterday",
            """
total = len(given.content)
given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 786433-{total - 1}/{total}"}, given.content[786433:])
""",
            "the service waited for byte",
        ),
        Wrong(
            "asked, and went home", "svc.resume_upload(given.session_uri, given.content).status()", "and no file yet"
        ),
    ],
    "expired-session": [
        Wrong(
            "run() will begin again by itself",
            "svc.resume_upload(given.session_uri, given.content).run()",
            "asked for no other upload",
        ),
        Wrong(
            "not asked at all",
            "svc.upload(given.content, name=given.name, upload_type='resumable')",
            "Nobody asked the old session",
        ),
        Wrong(
            "a simple upload will do",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, name=given.name)
""",
            "went up as multipart",
        ),
        Wrong(
            "it may come back",
            """
for _ in range(5):
    given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{len(given.content)}"})
svc.upload(given.content, name=given.name, upload_type="resumable")
""",
            "asked 5 times",
        ),
        Wrong(
            "bytes instead of a question",
            """
given.send("PUT", given.session_uri, {"Content-Range": f"bytes 0-99/{len(given.content)}"}, given.content[:100])
svc.upload(given.content, name=given.name, upload_type="resumable")
""",
            "before anybody had asked for its state",
        ),
        Wrong(
            "the wrong name",
            """
svc.resume_upload(given.session_uri, given.content).status()
svc.upload(given.content, upload_type="resumable", name="night.raw")
""",
            "no file called",
        ),
        Wrong(
            "asked, and gave up",
            "svc.resume_upload(given.session_uri, given.content).status()",
            "asked for no other upload",
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
            "sessions: after a break the old one still waits",
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
            "nobody had asked what is stored",
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
            "sent again",
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
            "a chunk shall have 262,144 at most",
        ),
        Wrong("no loop at all", _LOOP + "address = start().headers['Location']\nput(0)", "no file called"),
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
    ],
    "a-part-of-a-file": [
        Wrong(
            "all of it, and a slice",
            """
all = svc.read(given.file_id)
svc.upload(all[64 * given.record:64 * given.record + 64], name="record.txt")
""",
            "named no range",
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
            "not those of record",
        ),
        Wrong(
            "the record of my own notebook",
            """
svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))
svc.upload(b"000177 0123".ljust(63) + b"\\n", name="record.txt")
""",
            "not those of record",
        ),
        Wrong(
            "never uploaded",
            "svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))",
            "no file called 'record.txt'",
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
            "id and name were wanted",
        ),
        Wrong(
            "the word of my own notebook",
            """
svc.update(svc.files("name contains 'moorhen' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"]),
           starred=True)
""",
            "answered 0 of the",
        ),
        Wrong(
            "found, and no star",
            """
svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
""",
            "have a star",
        ),
        Wrong(
            "only the first",
            """
found = svc.files(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false", fields=["id", "name"])
svc.update(found.iloc[0], starred=True)
""",
            "have a star",
        ),
    ],
    "another-format": [
        Wrong(
            "a CSV file is a table",
            "svc.export(svc.upload(given.content, name=given.name, mime_type='text/csv'), 'tsv')",
            "and no spreadsheet",
        ),
        Wrong(
            "commas into tabs",
            "svc.upload(given.content.replace(b',', b'\\t'), name=given.name, mime_type='text/tab-separated-values')",
            "and no spreadsheet",
        ),
        Wrong(
            "an empty spreadsheet",
            """
import tempfile
empty = svc.create_file(name=given.name, mime_type="application/vnd.svc-apps.spreadsheet")
svc.export(empty, "tsv", tempfile.mkdtemp())
""",
            "not those of given.content",
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
            "the next request came after 1 seconds",
        ),
        Wrong(
            "tomorrow is another day",
            _HAND
            + """
for name in given.names:
    while given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode()).status != 200:
        given.clock.advance("1d")
""",
            "the wait was a guess",
        ),
        Wrong(
            "what is refused is lost",
            _HAND
            + """
for name in given.names:
    answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())
    if answer.status == 403: given.clock.advance(int(answer.headers["Retry-After"]))
""",
            "were never made",
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
            "it was given up",
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
            "times; the answer cannot change|had worked was asked for again",
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
            "without a second's wait",
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
            "was tried 5 times; the answer cannot change",
        ),
        Wrong(
            "stopped at the first refusal",
            _HAND
            + """
for one in given.file_ids:
    answer = given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}')
    if answer.status >= 400: break
""",
            "never asked to change|given up",
        ),
        Wrong(
            "the client of the package",
            "[svc.update(one, starred=True) for one in given.file_ids]",
            "requests of the client of svc_notebooks",
        ),
    ],
    "share-with-one": [
        Wrong("no role", "svc.share(given.file_id, given.email)", "not the one for comments"),
        Wrong("more is better", "svc.share(given.file_id, given.email, role='writer')", "may change the file"),
        Wrong(
            "the wrong file, taken back",
            """
other = svc.files("name contains 'budget'")
svc.share(other, given.email, role="commenter")
svc.unshare(other, given.email)
svc.share(given.file_id, given.email, role="commenter")
""",
            "Another file than",
        ),
        Wrong("anyone with the link", "svc.share(given.file_id, 'anyone', role='commenter')", "open to 'anyone'"),
        Wrong("all of my files", "svc.share(svc.files(), given.email, role='commenter')", "Another file than"),
        Wrong(
            "taken back in the end",
            """
svc.share(given.file_id, given.email, role="writer")
svc.share(given.file_id, given.email, role="commenter")
""",
            "For a while the role was 'writer'",
        ),
        Wrong(
            "the person of my own notebook",
            "svc.share(given.file_id, 'bob@svc.example', role='commenter')",
            "shared with 'bob@svc.example'",
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
            "readonly reads names, too",
            """
svc.files(session=given.sign_in("catalogue", ["storage.readonly"]))
""",
            "not the narrowest",
        ),
        Wrong(
            "metadata has no content",
            """
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, session=given.sign_in("reader", ["storage.metadata.readonly"]))
""",
            "not the narrowest",
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
            "did not see that it listed",
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
            "Nobody watched the file for 1 hours",
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
            "1 channel still open",
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
            "Nobody watched the file for 19 hours",
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
    ],
    "believe-nobody": [
        Wrong("everybody is welcome", "given.deliver_to(lambda headers: 200)", "Your receiver took a message"),
        Wrong("nobody is welcome", "given.deliver_to(lambda headers: 403)", "Your receiver refused a genuine message"),
        Wrong(
            "any of my tokens",
            """
given.deliver_to(lambda headers: 200 if headers.get("X-Svc-Channel-Token") in given.tokens else 403)
""",
            "took a message",
        ),
        Wrong(
            "None equals None",
            """
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers:
    200 if tokens.get(headers.get("X-Svc-Channel-ID")) == headers.get("X-Svc-Channel-Token") else 403)
""",
            "took a message without a channel",
        ),
        Wrong(
            "it begins like the right one",
            """
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    return 200 if right and token is not None and right.startswith(token) else 403
given.deliver_to(handle)
""",
            "took a message with",
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
            "other capitals",
        ),
        Wrong(
            "falls over",
            """
tokens = dict(zip(given.channels, given.tokens))
given.deliver_to(lambda headers: 200 if tokens[headers["X-Svc-Channel-ID"]] == headers["X-Svc-Channel-Token"] else 403)
""",
            "raised KeyError",
        ),
        Wrong(
            "a message counts once",
            """
tokens = dict(zip(given.channels, given.tokens))
seen = set()
def handle(headers):
    right, token = tokens.get(headers.get("X-Svc-Channel-ID")), headers.get("X-Svc-Channel-Token")
    if not right or right != token: return 403
    key = (headers["X-Svc-Channel-ID"], headers["X-Svc-Message-Number"])
    if key in seen: return 403
    seen.add(key)
    return 200
given.deliver_to(handle)
""",
            "refused a genuine message",
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
            "a sender tries it again",
        ),
    ],
    "event-in-its-zone": [
        Wrong(
            "UTC is a zone",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
""",
            "On a wall in",
        ),
        Wrong(
            "the same instant in UTC",
            """
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}").tz_localize(given.zone).tz_convert("UTC")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=given.minutes), time_zone="UTC")
""",
            "The zone of the event is 'UTC'",
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
            "The event has no zone",
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
            "days and no times",
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
            "which is free",
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
            "The zone of the event is 'UTC'",
        ),
        Wrong(
            "for ever",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} except {given.free}")
""",
            "and none was wanted",
        ),
        Wrong(
            "the wrong week off",
            """
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
free = (pd.Timestamp(given.free) + pd.Timedelta(days=7)).date()
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=f"weekly on {given.weekday} until {given.last} except {free}")
""",
            "which is free",
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
    ],
}
