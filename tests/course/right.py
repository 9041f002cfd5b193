"""Correct answers that differ from the solutions, which the checks must accept. `answers.read` reads the text."""

# ruff: noqa: E501 - a line of code is a line

ANSWERS = r"""
== upload-with-a-name
-- resumable
svc.upload(given.content, name=given.name, upload_type='resumable')
-- step by step
svc.start_upload(given.content, name=given.name).run()
-- from a file
import pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / given.name
path.write_bytes(given.content)
svc.upload(path)
-- looked at it, too
svc.upload(given.content, name=given.name); svc.files(); svc.exchanges()
-- by hand
body = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": given.name}).encode()
        + b'\r\n--x\r\nContent-Type: text/csv\r\n\r\n' + given.content + b'\r\n--x--')
given.send("POST", "/upload/storage/v3/files?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"}, body)
-- without a name first, then deleted
svc.delete(svc.upload(given.content)); svc.upload(given.content, name=given.name)
-- cancelled, and once more
svc.start_upload(given.content, name=given.name).cancel(); svc.upload(given.content, name=given.name)
== metadata-in-one-request
-- auto is multipart
svc.upload(given.content, name=given.name, metadata={'description': given.description, 'starred': True})
-- by hand, with the fields in another order
head = json.dumps({"starred": True, "description": given.description, "mimeType": "text/csv", "name": given.name}).encode()
body = (b"--x\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + head
        + b"\r\n--x\r\nContent-Type: text/csv\r\n\r\n" + given.content + b"\r\n--x--")
given.send("POST", "/upload/storage/v3/files?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"}, body)
== the-lost-receipt
-- asked by the id
chosen = given.send("GET", "/storage/v3/files/generateIds?count=1").json()["ids"][0]
body = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": given.name, "id": chosen}).encode()
        + b'\r\n--x\r\nContent-Type: text/plain\r\n\r\n' + given.content + b'\r\n--x--')
try:
    given.send("POST", "/upload/storage/v3/files?uploadType=multipart",
               {"Content-Type": "multipart/related; boundary=x"}, body)
except ConnectionError:
    assert given.send("GET", f"/storage/v3/files/{chosen}").status == 200
-- looked for it by its name, and did not repeat
try:
    svc.upload(given.content, name=given.name)
except svc.SvcError:
    assert len(svc.files(f"name = '{given.name}'", fields=["name"])) == 1
-- many ids, the last of them
ids = svc.generate_ids(10)['id']; svc.upload(given.content, name=given.name, file_id=ids.iloc[-1])
-- resumable
svc.upload(given.content, name=given.name, file_id=svc.generate_ids(1)['id'][0], upload_type='resumable')
-- the change log shows it
token = send("GET", "/storage/v3/changes/startPageToken").json()["startPageToken"]
try: svc.upload(given.content, name=given.name)
except svc.SvcError: svc.changes(token)
-- a list of all files
try: svc.upload(given.content, name=given.name)
except svc.SvcError: svc.files()
-- a refused search, corrected
try: svc.upload(given.content, name=given.name)
except svc.SvcError: send("GET", "/storage/v3/files?q=title"); svc.files(f"name contains '{given.name}'")
== go-on-where-it-stopped
-- by hand
total = len(given.content)
asked = given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"})
first = int(asked.headers["Range"].rpartition("-")[2]) + 1
given.send("PUT", given.session_uri, {"Content-Range": f"bytes {first}-{total - 1}/{total}"}, given.content[first:])
-- in small chunks
svc.resume_upload(given.session_uri, given.content, chunk_size=262144).run()
-- asked twice
up = svc.resume_upload(given.session_uri, given.content); up.status(); up.run()
-- units in upper case, and a host, too
uri, total = given.session_uri.replace("sandbox", "SANDBOX"), len(given.content)
first = stored(given.send("PUT", uri, {"Content-Range": f"BYTES */{total}"}))
given.send("PUT", uri, {"Content-Range": f"Bytes {first}-{total - 1}/{total}"}, given.content[first:])
-- a total that is unknown at first
uri, total = given.session_uri, len(given.content)
first = stored(given.send("PUT", uri, {"Content-Range": "bytes */*"})); last = first + 262143
given.send("PUT", uri, {"Content-Range": f"bytes {first}-{last}/*"}, given.content[first:last + 1])
put(uri, last + 1, given.content[last + 1:], total)
-- a refused query first
ask(given.session_uri, 1); svc.resume_upload(given.session_uri, given.content).run()
== expired-session
-- by hand
total = len(given.content)
assert given.send("PUT", given.session_uri, {"Content-Range": f"bytes */{total}"}).status == 404
opened = given.send("POST", "/upload/storage/v3/files?uploadType=resumable", JSON, json.dumps({"name": given.name}).encode())
given.send("PUT", opened.headers["Location"], {"Content-Range": f"bytes 0-{total - 1}/{total}"}, given.content)
-- step by step, and asked without the size
given.send("PUT", given.session_uri, {"Content-Range": "bytes */*"})
svc.start_upload(given.content, name=given.name).run()
-- a refused beginning
ask(given.session_uri, len(given.content)); send("POST", "/upload/storage/v3/files?uploadType=resumable", b"{")
svc.upload(given.content, name=given.name, upload_type="resumable")
-- two sessions, of which one was left
ask(given.session_uri, len(given.content)); session(name=given.name)
svc.upload(given.content, name=given.name, upload_type="resumable")
-- a first upload without a query, deleted
svc.delete(svc.upload(given.content, name=given.name)); ask(given.session_uri, len(given.content))
svc.upload(given.content, name=given.name, upload_type="resumable")
== resumable-loop
-- asks before every chunk
total = len(given.content)
uri = given.send("POST", "/upload/storage/v3/files?uploadType=resumable", JSON,
                 json.dumps({"name": given.name}).encode()).headers["Location"]
while True:
    try:
        answer = given.send("PUT", uri, {"Content-Range": f"bytes */{total}"})
    except ConnectionError:
        continue
    if answer.status == 200: break
    if answer.status >= 500: continue
    first = int(answer.headers["Range"].rpartition("-")[2]) + 1 if "Range" in answer.headers else 0
    chunk = given.content[first:first + given.chunk_size]
    try:
        given.send("PUT", uri, {"Content-Range": f"bytes {first}-{first + len(chunk) - 1}/{total}"}, chunk)
    except ConnectionError:
        pass
-- a function that calls itself
total = len(given.content)
def put(where, body=b""):
    try:
        answer = given.send("PUT", uri, {"Content-Range": f"bytes {where}/{total}"}, body)
    except ConnectionError:
        return None
    return answer if answer.status < 500 else None
def send(answer):
    while answer is None: answer = put("*")
    if answer.status in (200, 201): return
    first = int(answer.headers["Range"].split("-")[1]) + 1 if "Range" in answer.headers else 0
    last = min(first + given.chunk_size, total) - 1
    send(put(f"{first}-{last}", given.content[first:last + 1]))
uri = given.send("POST", "/upload/storage/v3/files?uploadType=resumable", {**JSON, "X-Upload-Content-Length": str(total)},
                 json.dumps({"name": given.name}).encode()).headers["Location"]
send(put(f"0-{given.chunk_size - 1}", given.content[:given.chunk_size]))
-- with a type and an aligned chunk after a part
total, uri, first = len(given.content), session(name=given.name, mimeType="audio/wav"), 0
while first < total:
    last = min((first // given.chunk_size + 1) * given.chunk_size, total)
    try: answer = put(uri, first, given.content[first:last], total)
    except ConnectionError: answer = None
    while answer is None or answer.status >= 500:
        try: answer = ask(uri, total)
        except ConnectionError: pass
    first = total if answer.status < 300 else stored(answer)
== a-part-of-a-file
-- by hand
first = 64 * given.record
answer = given.send("GET", f"/storage/v3/files/{given.file_id}?alt=media", {"Range": f"bytes={first}-{first + 63}"})
svc.upload(answer.body, name="record.txt")
-- to disk
import pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / "record.txt"
svc.download(given.file_id, to=path, byte_range=(64 * given.record, 64 * given.record + 63))
svc.upload(path)
-- in two halves
first = 64 * given.record
halves = [svc.read(given.file_id, byte_range=(start, start + 31)) for start in (first, first + 32)]
svc.upload(b"".join(halves), name="record.txt")
-- units in upper case, after a range that is refused
first = 64 * given.record
for value in ("bytes=99999999-", f"BYTES={first}-{first + 63}"):
    response = given.send("GET", f"/storage/v3/files/{given.file_id}?alt=media", {"Range": value})
svc.upload(response.body, name="record.txt")
-- twice
for _ in "ab": record = svc.read(given.file_id, byte_range=(64 * given.record, 64 * given.record + 63))
svc.upload(record, name="record.txt")
== let-the-service-search
-- ids alone, and in another order
svc.update(svc.files(f"mimeType = 'text/csv' and trashed = false and name contains '{given.word}'", fields='id'), starred=True)
-- by hand
from urllib.parse import quote
q = quote(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false")
for one in given.send("GET", f"/storage/v3/files?q={q}&fields=files(id,name)").json()["files"]:
    given.send("PATCH", f"/storage/v3/files/{one['id']}", JSON, b'{"starred": true}')
-- too wide, corrected, and looked at
query = f"name contains '{given.word.upper()}' and not trashed = true"
svc.files(query, fields=["id", "name"])
svc.update(svc.files(f"{query} and mimeType = 'text/csv'", fields=["id", "name"]), starred=True)
svc.files("starred = true")
-- by pages
query, token = quote(f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false"), ""
ids = []
while token is not None:
    page = send("GET", f"/storage/v3/files?pageSize=2&fields=nextPageToken,files(id)&q={query}" + (token and f"&pageToken={token}")).json()
    ids += [file["id"] for file in page["files"]]
    token = page.get("nextPageToken")
for file_id in ids: send("PATCH", f"/storage/v3/files/{file_id}", {"starred": True})
== another-format
-- by its media type
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "text/tab-separated-values", tempfile.mkdtemp())
-- other formats besides
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
for format in ("csv", "tsv"): svc.export(table, format, tempfile.mkdtemp())
-- in a resumable upload
import tempfile
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet", upload_type="resumable")
svc.export(table, "tsv", tempfile.mkdtemp())
-- a converting copy
file = svc.upload(given.content, name="raw.csv", mime_type="text/csv")["id"].item()
copy = send("POST", f"/storage/v3/files/{file}/copy", {"name": given.name, "mimeType": "application/vnd.svc-apps.spreadsheet"}).json()
svc.export(copy["id"], "tsv", tempfile.mkdtemp())
-- a refused export first
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
send("GET", f"/storage/v3/files/{table['id'].item()}/export?mimeType=text/tsv"); svc.export(table, "tsv", tempfile.mkdtemp())
-- an empty spreadsheet, and then its content
table = svc.create_file(name="x", mimeType="application/vnd.svc-apps.spreadsheet")
svc.export(svc.update(table, given.content, mime_type="text/csv", name=given.name), "tsv", tempfile.mkdtemp())
== too-often
-- a little longer than it asks
for name in given.names:
    while (answer := given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": name}).encode())).status == 403:
        given.clock.advance(1.5 * float(answer.headers["Retry-After"]))
-- a list of what is left
left = list(given.names)
while left:
    answer = given.send("POST", "/storage/v3/files", JSON, json.dumps({"name": left[0], "mimeType": "text/plain"}).encode())
    if answer.status == 200: left.pop(0)
    else: given.clock.advance(f"{answer.headers['Retry-After']}s")
-- a wait before each request, and a look at the end
for name in given.names:
    given.clock.advance(10)
    while (response := send("POST", "/storage/v3/files", {"name": name})).status == 403:
        for _ in "ab": given.clock.advance(float(response.headers["retry-after"]))
svc.files()
-- a test first, deleted
def sure(*request):
    while (response := send(*request)).status == 403: given.clock.advance(float(response.headers["Retry-After"]))
    return response
sure("DELETE", f"/storage/v3/files/{sure('POST', '/storage/v3/files', {'name': 'test'}).json()['id']}")
for name in given.names: sure("POST", "/storage/v3/files", {"name": name})
== later-or-never
-- in rounds
left = list(given.file_ids)
while left:
    again = []
    for one in left:
        try:
            if given.send("PATCH", f"/storage/v3/files/{one}", JSON, b'{"starred": true}').status >= 500: again.append(one)
        except ConnectionError:
            again.append(one)
    left = again
    given.clock.advance(5)
-- one after the other, with growing waits
def star(file_id, wait=1):
    try:
        status = given.send("PATCH", f"/storage/v3/files/{file_id}?fields=id", JSON, json.dumps({"starred": True}).encode()).status
    except ConnectionError:
        status = 599
    if status >= 500:
        given.clock.advance(wait)
        star(file_id, 2 * wait)
for file_id in reversed(given.file_ids): star(file_id)
== growing-delays
-- Retry-After and the delay together
for file_id in given.file_ids:
    for n in itertools.count():
        answer = given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
        if answer.status == 200: break
        given.clock.advance(min(8, 2 ** n) * (1 + given.chance()) / 2 + float(answer.headers.get("Retry-After", 0)))
-- the number of the session
refusals = dict.fromkeys(given.file_ids, 0)
for file_id in given.file_ids:
    while (answer := given.send("GET", f"/storage/v3/files/{file_id}?alt=media")).status != 200:
        delay = min(given.cap, 2.0 ** refusals[file_id]) * (1 + given.session.chance()) / 2
        refusals[file_id] += 1
        given.clock.advance(max([delay, *map(float, answer.headers.all("Retry-After"))]))
-- numbers drawn first, and the last file first
numbers = iter([given.chance() for _ in range(200)])
for file_id in reversed(given.file_ids):
    for n in itertools.count():
        response = given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
        if response.status == 200: break
        high, retry_after = min(given.cap, 2**n), float(response.headers.get("Retry-After", 0))
        given.clock.advance(max(high / 2 + high / 2 * round(next(numbers), 3), retry_after))
-- no number where Retry-After is longer
for file_id in given.file_ids:
    for n in itertools.count():
        response = given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
        if response.status == 200: break
        high, retry_after = min(given.cap, 2**n), float(response.headers.get("Retry-After", 0))
        given.clock.advance(retry_after if retry_after > high else max(high / 2 * (1 + given.chance()), retry_after))
-- a number before each request
for file_id in given.file_ids:
    for high in [1, 2, 4, *[given.cap] * 9]:
        wait = high / 2 * (1 + given.chance())
        response = given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
        if response.status == 200: break
        given.clock.advance(max(wait, float(response.headers.get("Retry-After", 0))))
== share-with-one
-- reader first
svc.share(given.file_id, given.email); svc.share(given.file_id, given.email, role='commenter')
-- by hand
body = json.dumps({"type": "user", "role": "commenter", "emailAddress": given.email}).encode()
given.send("POST", f"/storage/v3/files/{given.file_id}/permissions", JSON, body)
-- refused, then as a reader, and in upper case
permissions = f"/storage/v3/files/{given.file_id}/permissions"
send("POST", permissions, {"type": "user", "role": "comment", "emailAddress": given.email})
made = send("POST", permissions, {"type": "user", "role": "reader", "emailAddress": given.email.upper()}).json()
send("PATCH", f"{permissions}/{made['id']}", {"role": "commenter"})
== the-narrowest-scope
-- a file without content
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]), fields=["name"])
svc.download(given.file_id, to=__import__("tempfile").mkdtemp(), session=given.sign_in("reader", ["storage.readonly"]))
svc.upload(b"", name="diary.txt", session=given.sign_in("diary", ["storage.file"]))
-- in another order, and each twice
diary, reader = given.sign_in("diary", ["storage.file"]), given.sign_in("reader", ["storage.readonly"])
catalogue = given.sign_in("catalogue", ["storage.metadata.readonly"])
for _ in range(2):
    svc.read(given.file_id, session=reader)
    svc.files("trashed = false", session=catalogue)
svc.upload(b"Monday", name="diary.txt", upload_type="resumable", session=diary)
== watch-without-a-gap
-- without renew_channel
left = given.hours
channel = svc.watch_file(given.file_id, given.address, expires_in="24h")
while left > 0:
    step = min(left, 23)
    given.clock.advance(f"{step}h")
    left -= step
    if left:
        next_one = svc.watch_file(given.file_id, given.address, expires_in="24h")
        svc.stop_channel(channel)
        channel = next_one
svc.stop_channel(channel)
-- a minute before the end
hours, channels = given.hours, [svc.watch_file(given.file_id, given.address, expires_in="1d")]
while hours > 23:
    given.clock.advance("1379m")
    channels.append(svc.watch_file(given.file_id, given.address, expires_in="1d"))
    given.clock.advance("1m")
    hours -= 23
given.clock.advance(f"{hours}h")
svc.stop_channel(channels[-1])
-- by the hour
channel = svc.watch_file(given.file_id, given.address, expires_in="2h")
for _ in range(given.hours):
    given.clock.advance("1h")
    channel = svc.renew_channel(channel, expires_in="2h")
svc.stop_channel(channel)
-- the last channel expires
channel = svc.watch_file(given.file_id, given.address, expires_in="24h")
for left in range(given.hours, 0, -20):
    if left <= 20: channel = svc.renew_channel(channel, expires_in=f"{left}h")
    given.clock.advance(f"{min(left, 20)}h")
    if left > 40: channel = svc.renew_channel(channel, expires_in="24h")
== believe-nobody
-- another refusal
tokens = dict(zip(given.channels, given.tokens))
def handle(headers):
    try:
        return 204 if tokens[headers["x-svc-channel-id"]] == headers["x-svc-channel-token"] else 401
    except KeyError:
        return 400
given.deliver_to(handle)
-- a set of pairs
genuine = set(zip(given.channels, given.tokens))
given.deliver_to(lambda headers: 200 if (headers.get("X-Svc-Channel-ID"), headers.get("X-Svc-Channel-Token")) in genuine else 403)
== page-by-page
-- pages first, changes later
def pages(token):
    while token:
        page = given.send("GET", f"/storage/v3/changes?pageSize={given.page_size}&pageToken={token}"
                          "&fields=nextPageToken,newStartPageToken,changes(fileId,removed,file(name))").json()
        yield page
        token = page.get("nextPageToken")
copy, token = dict(zip(given.file_ids, given.names)), given.page_token
while True:
    every = list(pages(token))
    changes = [change for page in every for change in page["changes"]]
    copy.update({change["fileId"]: change["file"]["name"] for change in changes if not change["removed"]})
    for change in changes:
        if change["removed"] and change["fileId"] in copy: del copy[change["fileId"]]
    token = every[-1]["newStartPageToken"]
    if not changes: break
svc.upload(json.dumps({"page_token": token, "files": copy}, indent=1).encode(), name="copy.json", upload_type="resumable")
-- with the session
copy, token, page = dict(zip(given.file_ids, given.names)), given.page_token, {"changes": [1]}
while page["changes"]:
    page = given.session.call("GET", "/storage/v3/changes", query={"pageToken": token, "pageSize": given.page_size})
    for change in page["changes"]:
        copy.pop(change["fileId"], None)
        if "file" in change: copy[change["fileId"]] = change["file"]["name"]
    token = page.get("nextPageToken", page.get("newStartPageToken"))
svc.upload(json.dumps({"files": copy, "page_token": int(token)}).encode(), name="copy.json")
-- a first upload replaced, and in the copy
made = svc.upload(b"{}", name="copy.json")
copy, token, page = dict(zip(given.file_ids, given.names)), given.page_token, {"changes": [1]}
while page["changes"]:
    page = send("GET", f"/storage/v3/changes?pageToken={token}&pageSize={given.page_size}").json()
    for change in page["changes"]:
        copy.pop(change["fileId"], None)
        if "file" in change: copy[change["fileId"]] = change["file"]["name"]
    token = page.get("nextPageToken") or page["newStartPageToken"]
svc.update(made, json.dumps({"files": copy, "page_token": token}).encode())
== twice-and-out-of-order
-- message by message, and delivered twice
state, seen = {}, set()
def handle(headers):
    key = headers.get("x-svc-channel-id"), int(headers.get("x-svc-message-number"))
    kind = headers.get("x-svc-resource-state")
    if kind == "sync" or key in seen:
        return 204
    seen.add(key)
    entry = state.setdefault(key[0], {"number": -1, "messages": 0})
    entry["messages"] += 1
    if key[1] > entry["number"]:
        entry.update(number=key[1], state=kind)
    return 202
given.deliver_to(handle)
given.deliver_to(handle)
svc.upload(json.dumps(state).encode(), name="state.json")
-- a DataFrame
import pandas as pd
rows = []
def handle(headers):
    rows.append((headers["X-Svc-Channel-ID"], int(headers["X-Svc-Message-Number"]), headers["X-Svc-Resource-State"]))
    return 200
given.deliver_to(handle)
every = pd.DataFrame(rows, columns=["channel", "number", "state"]).drop_duplicates().query("state != 'sync'")
newest = every.sort_values("number").groupby("channel").last()
newest["messages"] = every.groupby("channel").size()
svc.upload(newest.to_json(orient="index").encode(), name="state.json")
== event-in-its-zone
-- as on the wire
import pandas as pd
start = pd.Timestamp(f"{given.day}T{given.time}")
side = lambda when: {"dateTime": when.isoformat(), "timeZone": given.zone}
svc.create_event(given.summary, start=side(start), end=side(start + pd.Timedelta(minutes=given.minutes)))
-- with zoneinfo
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo
start = datetime.fromisoformat(f"{given.day}T{given.time}").replace(tzinfo=ZoneInfo(given.zone))
svc.create_event(given.summary, start=start, end=start + timedelta(minutes=given.minutes), time_zone=given.zone)
-- moved when it was there
import pandas as pd
start = pd.Timestamp(f"{given.day} {given.time}")
made = svc.create_event(given.summary, start=start, end=start + pd.Timedelta(hours=1), time_zone=given.zone)
svc.update_event(made, end=start + pd.Timedelta(minutes=given.minutes), time_zone=given.zone)
-- an instant in UTC, with the zone
start = pd.Timestamp(f"{given.day} {given.time}", tz=given.zone).tz_convert("UTC")
side = lambda when: {"dateTime": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "timeZone": given.zone}
body = {"summary": given.summary, "start": side(start), "end": side(start + pd.Timedelta(minutes=given.minutes))}
send("POST", "/calendar/v3/calendars/primary/events", body)
== series-with-an-exception
-- the free day deleted
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
made = svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                        recurrence=f"weekly until {given.last}")
every = svc.instances(made)
svc.delete_event(every[every["start"].astype(str).str.startswith(given.free)].iloc[0]["id"])
-- counted
import pandas as pd
start = pd.Timestamp(f"{given.first} {given.time}")
weeks = len(pd.date_range(given.first, given.last, freq="7D"))
free = f"{given.free}T{given.time}:00".replace("-", "").replace(":", "")
svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                 recurrence=[f"RRULE:FREQ=WEEKLY;COUNT={weeks}", f"EXDATE;TZID={given.zone}:{free}"])
== two-programs-one-event
-- reads with the package
path, status = f"/calendar/v3/calendars/primary/events/{given.event_id}", 412
while status == 412:
    row = svc.event(given.event_id)
    event = given.session.call("GET", path)
    change = json.dumps({"description": f"{event['description']}\n{given.line}"}).encode()
    status = given.send("PATCH", path, {"Content-Type": "application/json", "If-Match": event["etag"]}, change).status
-- looked at it three times before
path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
for _ in range(3): given.send("GET", path)
status = 412
while status == 412:
    event = given.send("GET", path).json()
    lines = [*event["description"].splitlines(), given.line]
    status = given.send("PATCH", path, {"content-type": "application/json", "if-match": event["etag"]},
                        json.dumps({"description": "\n".join(lines)}).encode()).status
-- a refused update in between
path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
status = 412
while status == 412:
    event = next(event for event in send("GET", "/calendar/v3/calendars/primary/events").json()["items"] if event["id"] == given.event_id)
    send("PATCH", path, b"{", If_Match=event["etag"])
    status = send("PATCH", path, {"description": event["description"] + "\n" + given.line}, If_Match=event["etag"]).status
svc.event(given.event_id)
== two-way-sync
from svc_notebooks.course.catalogue import solution_code
def solved(*changes):
    code = solution_code("two-way-sync")[0]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in code, old
        code = code.replace(old, new)
    exec(code, globals())
-- answers first, and works later
solved("        run()\n", "        queue.append(number)\n", "seen = set()", "seen, queue = set(), []", "given.deliver_to(handle)\n", "given.deliver_to(handle)\nfor _ in queue: run()\n")
-- the report first
solved("    report()\n", "", "    log = svc.changes(token)\n", "    report()\n    log = svc.changes(token)\n")
-- everything by hand
def read(file_id, what):
    wait = 1
    while (answer := send("GET", f"/storage/v3/files/{file_id}?{what}")).status == 503:
        given.clock.advance(wait); wait *= 2
    return answer
def upload(content, name, folder=None, upload_type="auto"):
    parents = {"parents": [folder]} if folder else {}
    if name != "night.raw": return pd.DataFrame([multipart({"name": name, **parents}, content).json()])
    uri, first, total = session(name=name, **parents), 0, len(content)
    while True:
        try:
            answer = put(uri, first, content[first:first + 262144], total)
        except ConnectionError:
            answer = ask(uri, total)
        if answer.status in (200, 201): return pd.DataFrame([answer.json()])
        first = stored(answer)
def update(file_id, content): given.send("PATCH", f"/upload/storage/v3/files/{file_id}?uploadType=media", {"Content-Type": "text/plain"}, content)
solved('svc.file(change.file_id)["parents"].item()', 'read(change.file_id, "fields=parents").json()["parents"]',
       "svc.read(change.file_id)", 'read(change.file_id, "alt=media").body', "svc.upload(", "upload(", "svc.update(", "update(")
-- reads to the end of the change log in each run
def changes(token):
    rows, empty = [], False
    while not empty:
        log = svc.changes(token); token, empty = log.attrs["page_token"], log.empty
        rows.append(log)
    rows = pd.concat(rows[:-1] or rows); rows.attrs["page_token"] = token
    return rows
solved("svc.changes(token)", "changes(token)")
-- all uploads resumable
solved('"resumable" if name == "night.raw" else "auto"', '"resumable"')
-- looked at it, and a refused upload first
send("POST", "/upload/storage/v3/files?uploadType=resumable", b"{"); svc.event(given.event_id); solved()
"""
