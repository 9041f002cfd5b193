"""Correct answers that differ from the solutions, which the checks must accept. `answers.read` reads the text."""

# ruff: noqa: E501 - a line of code is a line

ANSWERS = r"""
== upload-with-a-name
-- resumable
svc.upload(given.content, name=given.name, upload_type='resumable')
-- looked at it, too
svc.upload(given.content, name=given.name); svc.files(); svc.exchanges()
-- by hand
multipart({"name": given.name}, given.content)
== metadata-in-one-request
-- by hand, with the fields in another order
head = json.dumps({"starred": True, "description": given.description, "mimeType": "text/csv", "name": given.name}).encode()
body = (b"--x\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + head
        + b"\r\n--x\r\nContent-Type: text/csv\r\n\r\n" + given.content + b"\r\n--x--")
given.send("POST", "/upload/storage/v3/files?uploadType=multipart", {"Content-Type": "multipart/related; boundary=x"}, body)
== the-lost-receipt
-- asked by the id
chosen = given.send("GET", "/storage/v3/files/generateIds?count=1").json()["ids"][0]
try: multipart({"name": given.name, "id": chosen}, given.content)
except ConnectionError: assert given.send("GET", f"/storage/v3/files/{chosen}").status == 200
-- resumable
svc.upload(given.content, name=given.name, file_id=svc.generate_ids(1)['id'][0], upload_type='resumable')
== go-on-where-it-stopped
-- a refused query first
ask(given.session_uri, 1); svc.resume_upload(given.session_uri, given.content).run()
== expired-session
-- step by step, and asked without the size
given.send("PUT", given.session_uri, {"Content-Range": "bytes */*"})
svc.start_upload(given.content, name=given.name).run()
== resumable-loop
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
import pathlib
path = pathlib.Path(tempfile.mkdtemp()) / "record.txt"
svc.download(given.file_id, to=path, byte_range=(64 * given.record, 64 * given.record + 63))
svc.upload(path)
== let-the-service-search
-- ids alone, and in another order
svc.update(svc.files(f"mimeType = 'text/csv' and trashed = false and name contains '{given.word}'", fields='id'), starred=True)
-- too wide, corrected, and looked at
query = f"name contains '{given.word.upper()}' and not trashed = true"
svc.files(query, fields=["id", "name"])
svc.update(svc.files(f"{query} and mimeType = 'text/csv'", fields=["id", "name"]), starred=True)
svc.files("starred = true")
== another-format
-- in a resumable upload
table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet", upload_type="resumable")
svc.export(table, "tsv", tempfile.mkdtemp())
-- a converting copy
file = svc.upload(given.content, name="raw.csv", mime_type="text/csv")["id"].item()
copy = send("POST", f"/storage/v3/files/{file}/copy", {"name": given.name, "mimeType": "application/vnd.svc-apps.spreadsheet"}).json()
svc.export(copy["id"], "tsv", tempfile.mkdtemp())
== too-often
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
== share-with-one
-- reader first
svc.share(given.file_id, given.email); svc.share(given.file_id, given.email, role='commenter')
-- refused, then as a reader, and in upper case
permissions = f"/storage/v3/files/{given.file_id}/permissions"
send("POST", permissions, {"type": "user", "role": "comment", "emailAddress": given.email})
made = send("POST", permissions, {"type": "user", "role": "reader", "emailAddress": given.email.upper()}).json()
send("PATCH", f"{permissions}/{made['id']}", {"role": "commenter"})
== the-narrowest-scope
-- in another order, and each twice
diary, reader = given.sign_in("diary", ["storage.file"]), given.sign_in("reader", ["storage.readonly"])
catalogue = given.sign_in("catalogue", ["storage.metadata.readonly"])
for _ in range(2):
    svc.read(given.file_id, session=reader)
    svc.files("trashed = false", session=catalogue)
svc.upload(b"Monday", name="diary.txt", upload_type="resumable", session=diary)
== watch-without-a-gap
-- a minute before the end
hours, channels = given.hours, [svc.watch_file(given.file_id, given.address, expires_in="1d")]
while hours > 23:
    given.clock.advance("1379m")
    channels.append(svc.watch_file(given.file_id, given.address, expires_in="1d"))
    given.clock.advance("1m")
    hours -= 23
given.clock.advance(f"{hours}h")
svc.stop_channel(channels[-1])
== believe-nobody
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
== twice-and-out-of-order
-- a DataFrame
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
-- moved when it was there
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
start = pd.Timestamp(f"{given.first} {given.time}")
made = svc.create_event(given.summary, start=start, end=start + pd.Timedelta(minutes=90), time_zone=given.zone,
                        recurrence=f"weekly until {given.last}")
every = svc.instances(made)
svc.delete_event(every[every["start"].astype(str).str.startswith(given.free)].iloc[0]["id"])
== two-programs-one-event
-- a refused update in between
path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
status = 412
while status == 412:
    event = next(event for event in send("GET", "/calendar/v3/calendars/primary/events").json()["items"] if event["id"] == given.event_id)
    send("PATCH", path, b"{", If_Match=event["etag"])
    status = send("PATCH", path, {"description": event["description"] + "\n" + given.line}, If_Match=event["etag"]).status
svc.event(given.event_id)
== two-way-sync
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
"""
