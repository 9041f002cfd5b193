"""Wrong answers, each tempting in its own way, and what the check says that is missing.

A line "== name" begins an exercise, and a line "-- idea => part of the message" an answer, whose code follows. The lines
before the first answer are part of all answers. `answers.read` reads the text.
"""

# ruff: noqa: E501 - a line of code is a line

_EVENT = '{"start": {"dateTime": "2026-03-01T09:00:00Z"}, "end": {"dateTime": "2026-03-01T10:00:00Z"}}'
ADDITIONS = (
    'send("POST", "/calendar/v3/calendars/primary/acl", {"role": "reader", "scope": {"type": "default"}})',
    'send("POST", "/calendar/v3/calendars", {"summary": "Ponds"})',
    'send("PATCH", "/calendar/v3/calendars/primary", {"timeZone": "Asia/Tokyo"})',
    'send("POST", "/storage/v3/files", {"name": "more.txt"})',
    f'send("POST", "/calendar/v3/calendars/primary/events", {_EVENT})',
)
"""Requests that no task asks for."""

ANSWERS = r"""
== upload-with-a-name
-- forgot the name => The service has no file named '.*'
svc.upload(given.content)
-- named afterwards, in a batch => A batch does not show its requests one by one
batch("PATCH", f"/storage/v3/files/{svc.upload(given.content)['id'].item()}", {"name": given.name})
-- a file without content => The content of the file '.*' \(no bytes\) differs from
svc.create_file(name=given.name)
-- another content => The content of the file '.*' \(.+ bytes\) differs from
svc.upload(given.content + b"\n", name=given.name)
-- twice, to be sure => The service has .+ files called '.*' instead of one
for _ in "ab": svc.upload(given.content, name=given.name)
-- a second file without a name => The new files and events are
svc.upload(given.content); svc.upload(given.content, name=given.name)
-- copied with the name => The file is a copy of another file
file = svc.upload(given.content); svc.copy(file, name=given.name); svc.delete(file)
-- in the trash => The service has no file named '.*'
svc.trash(svc.upload(given.content, name=given.name))
-- shared with everybody => The file '.*' is shared, and the task does not ask you to
svc.share(svc.upload(given.content, name=given.name), "anyone")
-- a spreadsheet of the service => The file '.*' has the type
svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
-- a folder of this name => The file '.*' has the type
svc.create_folder(given.name)
-- an image => The task does not ask you to set 'mimeType' of
multipart({"name": given.name, "mimeType": "image/png"}, given.content)
-- from another century => The task does not ask you to set 'createdTime' of
multipart({"name": given.name, "createdTime": "1999-01-01T00:00:00Z"}, given.content)
-- straight into the store => The journal of the service has .+ request, but the service received .+
from svc_notebooks.client.files import create_file
create_file(course.exercise("upload-with-a-name")._environment.exercise.session(), {"name": given.name})
-- made the file, then cleaned the journal => The journal of the service has .+ requests, but the service received .+
svc.upload(given.content, name=given.name)
course.exercise("upload-with-a-name")._environment.exercise.service._journal.clear()
== metadata-in-one-request
metadata = {"name": given.name, "description": given.description, "starred": True}
-- upload, then describe => The file was changed after its creation \(.+ update\): send everything
svc.update(svc.upload(given.content, name=given.name), description=given.description, starred=True)
-- resumable has metadata, too => The upload type was '.*', so metadata and content were not in
svc.upload(given.content, upload_type="resumable", metadata=metadata)
-- no star => The file has no star\. A file with a star has the field `starred` with
multipart({**metadata, "starred": False}, given.content)
-- another description => The file'.*'Counted by Mia, winter of .+\.', not
multipart({**metadata, "description": given.description + "."}, given.content)
-- description as a property => The file's description is None, not given\.description
multipart({"name": given.name, "starred": True, "properties": {"description": given.description}}, given.content)
-- looked at the list, too => The service received .+ requests, and the task asks for a single one
multipart(metadata, given.content); svc.files()
-- the heading is not data => The content of the file '.*' \(.+ bytes\) differs from
multipart(metadata, given.content.partition(b"\n")[2])
-- into the trash at once => The service has no file named '.*'
multipart({**metadata, "trashed": True}, given.content)
== the-lost-receipt
def upload(**more):
    try: return multipart({"name": given.name, **more}, given.content)
    except ConnectionError: return None
-- again, and the second deleted => The file was created without a generated id, so the repeated request
upload(); send("DELETE", f"/storage/v3/files/{upload().json()['id']}")
-- again as a resumable upload, and the second deleted => The file was created without a generated id, so the repeated request
upload(); svc.delete(svc.upload(given.content, name=given.name, upload_type="resumable"))
-- a new id for every try => The requests had .+ different ids, so each of them can create a file
for chosen in svc.generate_ids(2)["id"]: upload(id=chosen)
-- an id of my own => The file was created without a generated id, so the repeated request
for _ in "ab": upload(id="my" + "0" * 26)
-- it will have worked => The response to the only request was lost, and no later request asked
upload()
-- generated an id, and did not send it => .+ request to create the file had no id
svc.generate_ids(1); upload(); svc.files()
-- a look that is refused => GET /storage/v.+/files got the status .+: q: title is not a field;
upload(); send("GET", "/storage/v3/files?q=" + quote(f"title = '{given.name}'"))
-- a look at another id => GET /storage/v.+/files/nobody got the status .+: File not found:
upload(); send("GET", "/storage/v3/files/nobody")
-- in the trash at the end => The service has no file named '.*'\. The file of this name is in the trash
chosen = svc.generate_ids(1)["id"].item(); upload(id=chosen); upload(id=chosen); svc.trash(chosen)
-- an event of this name is no order => The response to the only request was lost, and no later request asked
upload(); send("POST", "/calendar/v3/calendars", {"summary": given.name})
-- a copy is a second order => The service made 1 copy of a file
upload(); svc.copy(svc.files(f"name = '{given.name}'"), name="another order.txt")
== go-on-where-it-stopped
uri, total = given.session_uri, len(given.content)
-- all over again => The service received .+ new upload, although the session is still open
svc.upload(given.content, name="film.mp4", upload_type="resumable")
-- from the first byte => The first request to the session sent bytes
put(uri, 0, given.content, total)
-- asked, and then from the first byte => A request sent bytes from .+ on, but .+ were already stored, so
ask(uri, total); put(uri, 0, given.content, total)
-- stored bytes again with another method => A PATCH request sent bytes to the session
first = stored(ask(uri, total)); put(uri, 0, given.content[:first], total, "PATCH"); put(uri, first, given.content[first:], total)
-- stored bytes again with POST => A POST request sent bytes to the session
first = stored(ask(uri, total)); put(uri, 0, given.content[:first], total, "POST"); put(uri, first, given.content[first:], total)
-- asked, and went home => No request sent bytes to the session
ask(uri, total)
-- asked another session => .+ request had the address of another session, which knows nothing
ask(uri[:-3] + "zzz", total); svc.resume_upload(uri, given.content).run()
-- cancelled => The session was cancelled with DELETE, so it can no longer be
ask(uri, total); send("DELETE", uri)
-- zeros in place of the missing bytes => The content of the file '.*' \(.+ bytes\) differs from
first = stored(ask(uri, total)); put(uri, first, bytes(total - first), total)
-- zeros, and then an update => The file was changed after its creation \(.+ update\): send its content
first = stored(ask(uri, total)); put(uri, first, bytes(total - first), total); svc.update(svc.files(), given.content)
-- finished, and uploaded once more => The service received .+ new upload, although the session is still open
svc.resume_upload(uri, given.content).run(); svc.upload(given.content, name="film.mp4")
-- finished, and deleted => The upload was finished, but its file no longer exists: there is no
svc.resume_upload(uri, given.content).run(); svc.delete(svc.files())
-- finished, and renamed => The upload is finished, but the file is now called '.*'
svc.resume_upload(uri, given.content).run(); svc.update(svc.files(), name="other.mp4")
-- a copy in its place => The file is a copy of another file
svc.resume_upload(uri, given.content).run(); file = svc.files(); svc.copy(file, name="film.mp4"); svc.delete(file)
== expired-session
uri, total = given.session_uri, len(given.content)
def upload(**more): return svc.upload(given.content, **{"name": given.name, "upload_type": "resumable", **more})
-- run() will begin again by itself => The session has expired, and no new upload was started
svc.resume_upload(uri, given.content).run()
-- not asked at all => No request asked for the state of the old session
upload()
-- a simple upload will do => The new upload had the type 'multipart' and not 'resumable'
ask(uri, total); upload(upload_type="multipart")
-- it may come back => The old session received .+ requests
for _ in range(5): ask(uri, total)
upload()
-- bytes instead of a question => The first request to the old session sent bytes, or its response does
put(uri, 262144, given.content[262144:], total); upload()
-- bytes after the question => .+ request sent bytes to the old session, which has expired
ask(uri, total); put(uri, 262144, given.content[262144:], total); upload()
-- asked with DELETE => The first request to the old session sent bytes, or its response does
send("DELETE", uri); upload()
-- the wrong name => The service has no file named '.*'
ask(uri, total); upload(name="night.raw")
-- upload first, ask afterwards => The new upload was started before the status query
upload(); ask(uri, total)
-- only the bytes that were missing => The content of the file '.*' \(.+ bytes\) differs from
ask(uri, total); svc.upload(given.content[262144:], name=given.name, upload_type="resumable")
-- a copy of the new upload => The file is a copy of another file: send the name and the content in the
ask(uri, total); file = upload(name="first.raw"); svc.copy(file, name=given.name); svc.delete(file)
-- opened, and not finished => The service has no file named '.*'
ask(uri, total); session(name=given.name)
-- named afterwards => The file was changed after its creation \(.+ update\): send the name and
ask(uri, total); svc.update(upload(name="new"), name=given.name)
-- update of an empty file => The new upload had the type 'without content' and not 'resumable'
ask(uri, total); svc.update(svc.create_file(name=given.name), given.content, upload_type="resumable")
-- the new session was cancelled => The service has no file named '.*'\. The upload session was cancelled with DELETE
ask(uri, total); send("DELETE", session(name=given.name))
== resumable-loop
total, size = len(given.content), given.chunk_size
def sure(request):
    while True:
        try:
            if (response := request()).status < 500: return response
        except ConnectionError: pass
def query(): return sure(lambda: ask(address, total))
def end(response): return total if response.status in (200, 201) else stored(response)
def step(first, size=size, content=given.content):
    try: response = put(address, first, content[first:first + size], total)
    except ConnectionError: return query()
    return query() if response.status >= 500 else response
def loop(step=step):
    first = 0
    while first < total: first = end(step(first))
-- the client of the package => The service saw requests of the client of svc_notebooks, which waits,
svc.upload(given.content, name=given.name, upload_type="resumable")
-- everything again after a break => The service opened .+ sessions
for _ in range(9):
    address, first = session(name=given.name), 0
    try:
        while first < total:
            if (response := put(address, first, given.content[first:first + size], total)).status >= 500: break
            first = end(response)
    except ConnectionError: pass
-- the same chunk again => A request of the upload had the status .+ and the next request sent
address = session(name=given.name)
loop(lambda first: sure(lambda: put(address, first, given.content[first:first + size], total)))
-- the same chunk again after a 503 => A request of the upload had the status .+ and the next request sent
address = session(name=given.name)
def again(first):
    try: response = put(address, first, given.content[first:first + size], total)
    except ConnectionError: return query()
    return again(first) if response.status >= 500 else response
loop(again)
-- Range is not read after a 308 => A request sent bytes from .+ on, but the next missing byte was
address, first = session(name=given.name), 0
while first < total:
    try: response = put(address, first, given.content[first:first + size], total)
    except ConnectionError: response = None
    first = first + size if response and response.status < 500 else end(query())
-- counted by itself => A request sent bytes from .+ on, but the next missing byte was
address = session(name=given.name)
for first in range(0, total, size): sure(lambda: step(first))
-- all in one piece => A request sent .+ bytes; a chunk must have at most .+
address = session(name=given.name); loop(lambda first: step(first, total))
-- half a chunk => A request sent .+ bytes; a chunk before the last has .+
address = session(name=given.name); loop(lambda first: step(first, size // 2))
-- with POST => No fault has interrupted the upload yet
address = session(name=given.name); put(address, 0, given.content[:size], total, "POST")
-- no loop at all => No fault has interrupted the upload yet
address = session(name=given.name); step(0)
-- a simple upload => The content was not sent in a resumable upload
given.send("POST", "/upload/storage/v3/files?uploadType=media", {}, given.content)
-- zeros at the end => The content of the file '.*' \(.+ bytes\) differs from
address = session(name=given.name); loop(lambda first: step(first, content=given.content[:-9] + bytes(9)))
-- renamed when it was there => The file was changed after its creation \(.+ update\): send the name in
address = session(name="tape"); loop(); send("PATCH", f"/storage/v3/files/{query().json()['id']}", {"name": given.name})
-- cancelled => The session was cancelled with DELETE, so it can no longer be
address = session(name=given.name); step(0); sure(lambda: send("DELETE", address))
== a-part-of-a-file
first = 64 * given.record
def part(first, last): return svc.read(given.file_id, byte_range=(first, last))
def save(content, name="record.txt"): return svc.upload(content, name=name)
-- a copy of all of it => A download had no range, so the service sent .+ bytes, which are
save(svc.read(svc.copy(given.file_id))[first:first + 64])
-- a unit that is ignored => A download had no range, so the service sent .+ bytes, which are
save(given.send("GET", f"/storage/v3/files/{given.file_id}?alt=media", {"Range": "records=1-2"}).body[first:first + 64])
-- the end as in Python => A download had the range '.*', and the service sent .+
save(part(first, first + 64)[:64])
-- counted from 1 => A download had the range '.*', and the service sent .+
save(part(first - 64, first - 1))
-- never uploaded => The service received .+ requests, and none of them creates a file
part(first, first + 63)
-- without the last byte => The service sent .+ bytes, but the record has .+
save(part(first, first + 62) + b"\n")
-- two files, to be sure => The service has .+ files called '.*' instead of one
for _ in "ab": save(part(first, first + 63))
-- without white space => The content of the file '.*' \(.+ bytes\) differs from record
save(part(first, first + 63).strip())
-- in the trash => The service has no file named '.*'
svc.trash(save(part(first, first + 63)))
-- into the log => The service received .+ requests, and none of them creates a file
svc.update(given.file_id, part(first, first + 63), name="record.txt")
-- the whole file by its link => .+ request asked for content in another way than a download with a
save(part(first, first + 63)); send("GET", svc.file(given.file_id, fields=["webContentLink"])["web_content_link"].item())
== let-the-service-search
def search(*conditions, fields=["id", "name"]): return svc.files(" and ".join(conditions), fields=fields)
word, kind, kept = f"name contains '{given.word}'", "mimeType = 'text/csv'", "trashed = false"
-- pandas can search, too => A request listed files without a query, so the service returned all
files = svc.files(); svc.update(files[files["name"].str.contains(given.word)], starred=True)
-- forgot the trash => The service returned .+ other files \(called '
svc.update(search(word, kind), starred=True)
-- forgot the type => The service returned .+ other files \(called '.*', 'crane
svc.update(search(word, kept), starred=True)
-- the word anywhere => The service returned .+ other file \(called '.*'\): make
svc.update(search(f"fullText contains '{given.word}'", kind, kept), starred=True)
-- my own files => The service returned .+ of the .+ matching files
svc.update(search(word, kind, kept, "'me' in owners"), starred=True)
-- every field => The service returned the fields createdTime, id, mimeType,
svc.update(search(word, kind, kept, fields=None), starred=True)
-- no ids => A response has no ids, because `fields` does not name them
search(word, kind, kept, fields=["id"]); send("GET", "/storage/v3/files?fields=files(name)&q=" + quote(f"{word} and {kind} and {kept}"))
-- a query that is refused => GET /storage/v.+/files got the status .+: q: title is not a field;
send("GET", "/storage/v3/files?q=" + quote(f"title contains '{given.word}'"))
-- the word of my own notebook => The service returned .+ of the .+ matching files
svc.update(search("name contains 'teal'", kind, kept), starred=True)
-- found, and no star => Of the .+ matching files, .+ have a star, and of the other files, .+
search(word, kind, kept)
-- a star and a description => The task does not ask you to change '.*' of '.*'
svc.update(search(word, kind, kept), starred=True, description="found")
-- the others into the trash first => The service returned .+ other files \(called '.*', 'crane
svc.trash(svc.files(f"{word} and not {kind}")); svc.update(search(word, kind, kept), starred=True)
-- a search, and a look at each file => .+ requests asked for single files or changes before the stars
for file in search(word, kind, kept)["id"]: svc.file(file)
svc.update(search(word, kind, kept), starred=True)
-- the names of a list => The query does not find a new file that matches the task
files = svc.files("trashed = false"); names = files[files["name"].str.contains(given.word) & (files["mime_type"] == "text/csv")]["name"]
svc.update(search("(" + " or ".join(f"name = '{name}'" for name in names) + ")", kind, kept), starred=True)
== another-format
def table(content=given.content, **more):
    return svc.upload(content, **{"name": given.name, "mime_type": "text/csv", "convert_to": "spreadsheet", **more})
def tsv(file): svc.export(file, "tsv", tempfile.mkdtemp())
-- a CSV file is a table => The file '.*' has the type text/csv, which is not a
svc.upload(given.content, name=given.name, mime_type="text/csv")
-- an empty spreadsheet => No upload contains the CSV of given\.content, so the table was
tsv(svc.create_file(name=given.name, mimeType="application/vnd.svc-apps.spreadsheet"))
-- the wrong format => The spreadsheet was exported as '.*', not as tab-separated
svc.export(table(), "csv", tempfile.mkdtemp())
-- a format that is refused => GET /storage/v.+/export got the status 400: .+ No export succeeded
send("GET", f"/storage/v3/files/{table()['id'].item()}/export?mimeType=text/tsv")
-- only the head of the response => The export \(no rows\) differs from given\.content
given.send("HEAD", f"/storage/v3/files/{table()['id'].item()}/export?mimeType=text/tab-separated-values")
-- never exported => The spreadsheet was never exported
table()
-- another table exported => The spreadsheet was never exported
table(); tsv(table(b"a,b\n1,2\n", name="other"))
-- rewritten as TSV before the upload => No upload contains the CSV of given\.content, so the table was
tsv(table(given.content.replace(b",", b"\t"), mime_type="text/tab-separated-values"))
-- another name => The service has no file named '.*'
tsv(table(name=given.name + ".csv"))
-- a document, not a spreadsheet => The file '.*' has the type application/vnd\.svc-apps\.document,
svc.upload(given.content, name=given.name, mime_type="text/plain", convert_to="document")
-- two spreadsheets => The service has .+ files called '.*' instead of one
for _ in "ab": tsv(table())
-- replaced afterwards => The spreadsheet was changed after the export
file = table(); tsv(file); svc.update(file, b"a,b\n", mime_type="text/csv")
-- in the trash => The service has no file named '.*'
file = table(); tsv(file); svc.trash(file)
== too-often
def make(wait, **more):
    for name in given.names:
        while (response := send("POST", "/storage/v3/files", {"name": name, **more})).status == 403:
            seconds = wait(float(response.headers["Retry-After"]))
            if seconds is None: break
            if seconds: given.clock.advance(seconds)
            elif len(waits) > 99: return
            waits.append(seconds)
waits = []
-- at once again => After a .+ with Retry-After: .+ the next request came after .+
make(lambda asked: 0)
-- tomorrow is another day => After a .+ with Retry-After: .+ the next request came only after
make(lambda asked: 86400)
-- what is refused is lost => Of the .+ files, .+ do not exist: '.*', '.*', '.*',
make(lambda asked: given.clock.advance(asked) and None)
-- another request while waiting => After a .+ with Retry-After: .+ the next request came after .+
make(lambda asked: (send("GET", "/storage/v3/about?fields=user"), asked)[1])
-- folders => A file has the type '.*'
make(float, mimeType="application/vnd.svc-apps.folder")
-- in the trash => Of the .+ files, .+ do not exist: '.*', '.*', '.*',
make(float, trashed=True)
-- the last one left out => Of the .+ files, .+ do not exist: '.*'
del given.names[-1]; make(float)
-- twice => There is more than one file called '.*', '.*', 'ring
make(float); make(float)
-- the client of the package => The service saw requests of the client of svc_notebooks, which waits,
[svc.create_file(name=name) for name in given.names]
-- files with content => A file has content, and the task asks for empty files
for name in given.names:
    while (response := multipart({"name": name}, b"x")).status == 403: given.clock.advance(float(response.headers["Retry-After"]))
== later-or-never
def star(again=lambda status, n: status is None or status >= 500, wait=1, files=given.file_ids, **more):
    for file_id in files:
        for n in range(1, 30):
            try: status = send("PATCH", f"/storage/v3/files/{file_id}", {"starred": True, **more}).status
            except ConnectionError: status = None
            if not again(status, n): break
            given.clock.advance(wait)
-- never again => The last request for one of the files had no response, and was not
star(lambda status, n: False)
-- all of them four times => A request was repeated although it had succeeded
star(lambda status, n: n < 4)
-- a lost connection is permanent => The last request for one of the files had no response, and was not
star(lambda status, n: (status or 0) >= 500)
-- only 503 is temporary => The last request for one of the files had the status .+ and was not
star(lambda status, n: status in (None, 503))
-- at once again => A failed request was repeated without a wait of one second
star(wait=0)
-- starred and renamed => The task does not ask you to change '.*' of '.*'
star(name="nest")
-- no star is set => Of your .+ files, .+ have a star
star(starred=False)
-- others are left out => No request tried to change one of the files in given\.file_ids
star(files=[one for one in given.file_ids if send("GET", f"/storage/v3/files/{one}?fields=ownedByMe").status == 200])
-- the client of the package => The service saw requests of the client of svc_notebooks, which waits,
[svc.update(one, starred=True) for one in given.file_ids]
== growing-delays
def limit(n): return min(given.cap, 2 ** (n - 1))
def retry_after(response): return float(response.headers.get("Retry-After", 0))
def get(file_id, **headers): return given.send("GET", f"/storage/v3/files/{file_id}?alt=media", headers)
def each(delay, begin=lambda: None, **headers):
    for file_id in given.file_ids:
        begin()
        for n in range(1, 20):
            response = get(file_id, **headers)
            seconds = None if response.status in (200, 206) else delay(n, response)
            if seconds is None: break
            given.clock.advance(seconds)
def drawn(draw, begin=lambda: None): each(lambda n, response: max(draw(n) * limit(n), retry_after(response)), begin)
def jitter(n): return 0.5 + given.chance() / 2
-- at once again => Refusal .+ of file .+ had the status .+ and the next request came
each(lambda n, response: 0)
-- no jitter => The delay after refusal .+ of file .+ was .+ The next number of given\.chance
drawn(lambda n: 0.75)
-- one of two => The delay after refusal .+ of file .+ was .+ The next number of given\.chance
drawn(lambda n: 0.5 + round(given.chance()) / 2)
-- Retry-After is not read => Refusal .+ of file .+ had the status .+ and Retry-After: .+ and the
each(lambda n, response: jitter(n) * limit(n))
-- a 403 is final => The last download of file .+ had the status .+ and was not repeated
each(lambda n, response: None if response.status == 403 else max(jitter(n) * limit(n), retry_after(response)))
-- the first byte only => A download had the header Range, so it did not have the whole content
each(lambda n, response: max(jitter(n) * limit(n), retry_after(response)), Range="bytes=0-0")
-- only the first file => The last download of file .+ had the status .+ and was not repeated
get(given.file_ids[0])
-- the client of the package => The service saw requests of the client of svc_notebooks, which waits,
svc.read(given.file_ids[0])
== share-with-one
permissions = f"/storage/v3/files/{given.file_id}/permissions"
def share(file=given.file_id, with_=given.email, role="commenter"): return svc.share(file, with_, role=role)
-- no role => The role of ivo.+@svc\.example is '.*', which is not the role for
share(role="reader")
-- more is better => A permission had the role '.*', which allows changes of the file
share(role="writer")
-- a role that does not exist => POST /storage/v.+/files/.+/permissions
send("POST", permissions, {"type": "user", "role": "comment", "emailAddress": given.email})
-- the wrong file, taken back => A file other than given\.file_id was shared, too
other = svc.files("name contains 'budget'"); share(other); svc.unshare(other, given.email); share()
-- anyone with the link => A permission had the type '.*', so more than one person had
share(with_="anyone")
-- anyone for a moment => A permission had the type '.*', so more than one person had
share(with_="anyone"); svc.unshare(given.file_id, "anyone"); share()
-- two persons => The file was shared with '.*', and not with given\.email
share(with_=[given.email, "zoe@svc.example"])
-- the other files into the trash => The task does not ask you to change '.*' of '.*'
share(); svc.trash(svc.files("name contains 'budget'"))
-- a copy is shared => A file other than given\.file_id was shared, too
share(svc.copy(given.file_id))
-- shared, and taken back => Only the owner has access to the file given\.file_id
share(); svc.unshare(given.file_id, given.email)
-- by a folder => A file other than given\.file_id was shared, too
folder = svc.create_folder("shared"); svc.move(given.file_id, folder); share(folder)
== the-narrowest-scope
def work(catalogue="storage.metadata.readonly", reader="storage.readonly", diary="storage.file", name="diary.txt"):
    svc.files(session=given.sign_in("catalogue", [catalogue]))
    svc.read(given.file_id, session=given.sign_in("reader", [reader]))
    svc.upload(b"Dear diary", name=name, session=given.sign_in("diary", [diary]))
-- the key to everything => A token of '.*' has the scope storage: that is not the
work("storage", "storage", "storage")
-- the catalogue can read content => A token of '.*' has the scope storage\.readonly: that is not
work(catalogue="storage.readonly")
-- the catalogue knows its own files => A token of '.*' has the scope storage\.file: that is not the
work(catalogue="storage.file")
-- two are safer than one => The token of '.*' has .+ scopes: one is enough for its work
work(); given.sign_in("diary", ["storage.file", "storage.readonly"])
-- a token that nobody uses => A token of '.*' has the scope storage: that is not the narrowest
given.sign_in("reader", ["storage"]); work()
-- a fourth program => given\.sign_in\('.*', \.\.\.\) requested a token with storage for a
work(); given.sign_in("helper", ["storage"])
-- my own session => The service received no request of the program '.*'
svc.files(); svc.read(given.file_id); svc.upload(b"x", name="diary.txt")
-- right, and looked with my own session => .+ request used your own token, which has all scopes
work(); svc.files()
-- another diary => The program '.*' has sent .+, but neither the responses nor the files show
work(name="my diary.txt")
-- ids without names => The program '.*' has sent .+, but neither the responses nor the files show
given.sign_in("catalogue", ["storage.metadata.readonly"]).call("GET", "/storage/v3/files", query={"fields": "files(id)"})
-- a part is enough => The program '.*' has sent .+, but neither the responses nor the files show
svc.files(session=given.sign_in("catalogue", ["storage.metadata.readonly"]))
svc.read(given.file_id, byte_range=(0, 3), session=given.sign_in("reader", ["storage.readonly"]))
-- the diary in the trash => The program '.*' has sent .+, but neither the responses nor the files show
work(); svc.trash(svc.files("name = 'diary.txt'", session=(diary := given.sign_in("diary", ["storage.file"]))), session=diary)
-- a copy of the diary => The new files and events are '.*' and '.*', and the task asks for 1
work(); diary = given.sign_in("diary", ["storage.file"]); svc.copy(svc.files("name = 'diary.txt'", session=diary), session=diary)
== watch-without-a-gap
def watch(file=given.file_id, address=given.address, expires_in="1d"): return svc.watch_file(file, address, expires_in=expires_in)
def follow(hours=given.hours, channel=None, renew=lambda channel: svc.renew_channel(channel, expires_in="1d"), step=20):
    channel = watch() if channel is None else channel
    for left in range(hours, 0, -step):
        given.clock.advance(f"{min(left, step)}h")
        if left > step: channel = renew(channel)
    return channel
-- two channels => The file was watched for .+ hours instead of .+ hours
watch(); given.clock.advance("23h"); channel = watch(); given.clock.advance("23h"); svc.stop_channel(channel)
-- the next one when the old one has ended => No channel was open for .+ hour: a channel ended before the next one
svc.stop_channel(follow(renew=lambda channel: watch(), step=25))
-- the next one at the moment when the old one ends => A channel was opened at the moment when the one before it expired, so
svc.stop_channel(follow(renew=lambda channel: watch(), step=24))
-- stopped first => A channel was stopped before the next one was opened, so messages
svc.stop_channel(follow(renew=lambda channel: (svc.stop_channel(channel), watch())[1]))
-- left open => At the end, .+ channel had not been stopped, so the service continues
follow()
-- the default is an hour => No channel was open for .+ hours: a channel ended before the next one
svc.stop_channel(follow(channel=svc.watch_file(given.file_id, given.address)))
-- two hours more => The file was watched for .+ hours, which is longer than the .+ hours
svc.stop_channel(follow(given.hours + 2))
-- the clock first => The first channel was opened .+ hours after the start of the exercise
given.clock.advance("2h"); svc.stop_channel(follow())
-- another address => A channel has an address other than given\.address
svc.stop_channel(follow(channel=watch(address=given.address + "2")))
-- the change log instead => The service received .+ requests, and none of them opened a channel on
svc.stop_channel(follow(channel=svc.watch_changes(given.address, expires_in="7d"), renew=lambda channel: channel))
-- renamed the file => The task does not ask you to change '.*' and
svc.stop_channel(follow()); svc.update(given.file_id, name="watched")
== believe-nobody
tokens = dict(zip(given.channels, given.tokens))
def accept(right, no=403):
    given.deliver_to(lambda headers: 200 if right(headers.get("X-Svc-Channel-ID"), headers.get("X-Svc-Channel-Token")) else no)
-- everybody is welcome => Your receiver accepted a message
accept(lambda channel, token: True)
-- nobody is welcome => Your receiver rejected a genuine message: it returned .+ instead of
accept(lambda channel, token: False)
-- None equals None => Your receiver accepted a message without a channel id and without a
accept(lambda channel, token: tokens.get(channel) == token)
-- in small letters => Your receiver accepted a message with the token in other letter case:
accept(lambda channel, token: token and tokens.get(channel, "").lower() == token.lower())
-- any of the tokens => Your receiver accepted a message with.* channel
accept(lambda channel, token: token in given.tokens)
-- any of both => Your receiver accepted a message with the token of another channel:
accept(lambda channel, token: channel in tokens and token in given.tokens)
-- the token begins so => Your receiver accepted a message with only the first part of the
accept(lambda channel, token: token and tokens.get(channel, "").startswith(token))
-- it begins with the token => Your receiver accepted a message with the token and further
accept(lambda channel, token: channel in tokens and (token or "").startswith(tokens[channel]))
-- the token in it => Your receiver accepted a message with .*token
accept(lambda channel, token: channel in tokens and tokens[channel] in (token or ""))
-- its first and last letters => Your receiver accepted a message with another letter in the middle of
accept(lambda channel, token: token and (token[:6], token[-6:]) == (tokens.get(channel, "")[:6], tokens.get(channel, "")[-6:]))
-- its letters => Your receiver accepted a message with the letters of the token in
accept(lambda channel, token: sorted(token or "") == sorted(tokens.get(channel, "?")))
-- only one channel => Your receiver rejected a genuine message: it returned .+ instead of
accept(lambda channel, token: (channel, token) == (given.channels[0], given.tokens[0]))
-- channels in any letters => Your receiver accepted a message with the channel id in other letter
accept(lambda channel, token: {name.upper(): value for name, value in tokens.items()}.get((channel or "").upper(), "?") == token)
-- falls over => Your receiver raised KeyError on a message
given.deliver_to(lambda headers: 200 if tokens[headers["X-Svc-Channel-ID"]] == headers["X-Svc-Channel-Token"] else 403)
-- true is no status => Your receiver returned a bool instead of a status on a message with
given.deliver_to(lambda headers: tokens.get(headers.get("X-Svc-Channel-ID"), "?") == headers.get("X-Svc-Channel-Token"))
-- all but the last letter => Your receiver accepted a message with another last letter of the token
accept(lambda channel, token: channel in tokens and len(token or "") == len(tokens[channel]) and token[:-1] == tokens[channel][:-1])
-- a channel that begins so => Your receiver accepted a message with the channel id and further characters
accept(lambda channel, token: any((channel or "").startswith(known) and token == tokens[known] for known in tokens))
-- go elsewhere => The response to a forged message had the status 302
accept(lambda channel, token: tokens.get(channel, "?") == token, no=302)
== page-by-page
copy = dict(zip(given.file_ids, given.names))
def read(token, **more):
    query = "&".join(f"{key}={value}" for key, value in {"pageToken": token, "pageSize": given.page_size, **more}.items())
    return given.send("GET", f"/storage/v3/changes?{query}").json()
def keep(file_id, name): copy[file_id] = name
def apply(page):
    for change in page["changes"]:
        if change["removed"]: copy.pop(change["fileId"], None)
        else: keep(change["fileId"], change["file"]["name"])
def save(token, files=copy): svc.upload(json.dumps({"files": files, "page_token": token}).encode(), name="copy.json")
def follow(token, rounds=9, **more):
    while rounds:
        page = read(token, **more)
        apply(page)
        token = page.get("nextPageToken") or page["newStartPageToken"]
        rounds -= "newStartPageToken" in page
        if not page["changes"]: break
    return token
-- svc.changes() has them all => A request for changes had the page size .+ instead of
svc.changes(given.page_token)
-- no page size => A request for changes had the page size .+ which is the default,
given.send("GET", f"/storage/v3/changes?pageToken={given.page_token}")
-- another page size at the end => A request for changes had the page size .+ instead of
save(follow(follow(given.page_token, 1), pageSize=100))
-- list the files instead => A request listed all files
read(given.page_token); svc.files()
-- only the first page => The last page that you read has a nextPageToken, so there are more
apply(read(given.page_token)); save(given.page_token)
-- from now on => The first request began at the token .+ and what you know is from the token
save(follow(given.send("GET", "/storage/v3/changes/startPageToken").json()["startPageToken"]))
-- token plus page size => A request had the page token .+ which no response contained
token = int(given.page_token)
while "newStartPageToken" not in read(token): token += given.page_size
-- once is enough => You read the change log up to its end once, and the last response has
save(follow(given.page_token, 1))
-- twice is enough => You read the change log up to its end .+ times, and the last response
save(follow(given.page_token, 2))
-- without the deletions => The copy still has .+ files that you can no longer see: 'checked
save(follow(given.page_token, includeRemoved="false"))
-- new files only => The copy has the name '.*' for a file that is now called
keep = copy.setdefault; save(follow(given.page_token))
-- the first change of each file => The copy still has .+ file that you can no longer see: 'checked
seen, every = set(), apply
def apply(page):
    for change in page["changes"]:
        if change["fileId"] not in seen: every({"changes": [change]})
        seen.add(change["fileId"])
save(follow(given.page_token))
-- renamed files only => The copy lacks .+ files of the account: '.*', 'sketch
def keep(file_id, name): copy.update({file_id: name} if file_id in copy else {})
save(follow(given.page_token))
-- the token from the beginning => `page_token` in copy\.json is .+ but the last newStartPageToken was
follow(given.page_token); save(given.page_token)
-- a list of names => copy\.json is not a JSON object with `files`, an object of ids and
save(follow(given.page_token), list(copy.values()))
-- nothing uploaded => The service received .+ requests, and none of them creates a file
follow(given.page_token)
-- again from the beginning => After the end of the change log, the next request had the token .+
follow(given.page_token, 1); save(follow(given.page_token))
== twice-and-out-of-order
state = {name: {"state": None, "number": 0, "messages": 0} for name in given.channels}
seen = set()
def save(value=state): svc.upload(json.dumps(value).encode(), name="state.json")
def deliver(keep, status=lambda channel, number: 200, number=int):
    def handle(headers):
        message = headers["X-Svc-Channel-ID"], number(headers["X-Svc-Message-Number"]), headers["X-Svc-Resource-State"]
        code = status(*message[:2])
        keep(*message)
        seen.add(message[:2])
        return code
    given.deliver_to(handle)
def right(channel, number, kind):
    if kind == "sync": return
    state[channel]["messages"] += (channel, number) not in seen
    if number > state[channel]["number"]: state[channel].update(state=kind, number=number)
-- the last one to arrive => For the channel .+, state\.json has the number .+ but the
deliver(lambda channel, number, kind: kind != "sync" and state[channel].update(state=kind, number=number)); save()
-- sync is a state, too => For the channel .+, state\.json has the state '.*'
deliver(lambda channel, number, kind: state[channel].update(state=kind, number=number)); save()
-- numbers as they are in the headers => For the channel .+, state\.json has the number .+ but the
state = {name: {"state": None, "number": "", "messages": 0} for name in given.channels}
deliver(right, number=str); save({name: {**entry, "number": int(entry["number"])} for name, entry in state.items()})
-- numbers as texts in the file => For the channel .+, state\.json has the number '.*', but
deliver(right); save({name: {**entry, "number": str(entry["number"])} for name, entry in state.items()})
-- every arrival counts => For the channel .+, state\.json has .+ in `messages`, but
deliver(lambda *message: (seen.clear(), right(*message))); save()
-- both channels have the same entry => For the channel .+, state\.json has the number .+ but the
deliver(right); save(dict.fromkeys(given.channels, state[given.channels[0]]))
-- always update => For the channel .+, state\.json has the state '.*',
deliver(right); save({name: {**entry, "state": "update"} for name, entry in state.items()})
-- a conflict is 409 => Your receiver rejected a message that arrived a second time
deliver(right, lambda *message: 409 if message in seen else 200); save()
-- no status => Your receiver returned a NoneType instead of a status on a message: a
given.deliver_to(lambda headers: None)
-- nothing uploaded => The service received no requests, and none of them creates a file
deliver(right)
-- one channel only => state\.json has no entry with state, number and messages for the
deliver(right); save({given.channels[0]: state[given.channels[0]]})
-- uploaded without messages => Your receiver has not responded to all messages
save()
-- in the trash => The service has no file named '.*'
deliver(right); save(); svc.trash(svc.files("name = 'state.json'"))
== event-in-its-zone
start = pd.Timestamp(f"{given.day} {given.time}")
def create(start=start, minutes=given.minutes, summary=given.summary, time_zone=given.zone, **more):
    return svc.create_event(summary, start=start, end=start + pd.Timedelta(minutes=minutes), time_zone=time_zone, **more)
def insert(**fields): send("POST", "/calendar/v3/calendars/primary/events", {"summary": given.summary, **fields})
-- with a place => The task does not ask you to set 'location' of
create(location="Gate 1")
-- once more in another calendar => The task does not ask you to create 'Walks'
create(); other = send("POST", "/calendar/v3/calendars", {"summary": "Walks"}).json()["id"]
-- UTC is a zone => In Australia/Adelaide the event begins at .+ .+ not at
create(time_zone="UTC")
-- the same instant in UTC => The time zone of the event is '.*', which is not given\.zone
create(start.tz_localize(given.zone).tz_convert("UTC"), time_zone="UTC")
-- an offset is enough => The event has a UTC offset and no time zone, so its local time is
local = start.tz_localize(given.zone)
insert(start={"dateTime": local.isoformat()}, end={"dateTime": (local + pd.Timedelta(minutes=given.minutes)).isoformat()})
-- half a minute late => In Australia/Adelaide the event begins at .+ .+ not at
create(start + pd.Timedelta(seconds=30))
-- a few seconds longer => The event lasts .+ minutes, not .+
create(minutes=given.minutes + 0.5)
-- the whole day => The event has dates without times, so it is an all-day event
svc.create_event(given.summary, start=given.day, end=str((start + pd.Timedelta(days=1)).date()))
-- twice, to be sure => There are .+ events called '.*' instead of one
create(); create()
-- another one => The new files and events are
create(); create(summary="Lunch")
-- every day => The event has a recurrence, so it takes place on more than one day
create(recurrence="daily")
-- the zone in the title => There is no event called '.*' in the primary
create(summary=f"{given.summary} ({given.zone})")
== series-with-an-exception
start = pd.Timestamp(f"{given.first} {given.time}")
rule = f"weekly on {given.weekday} until {given.last} except {given.free}"
def create(recurrence=rule, start=start, minutes=90, time_zone=given.zone, summary=given.summary):
    return svc.create_event(summary, start=start, end=start + pd.Timedelta(minutes=minutes), time_zone=time_zone, recurrence=recurrence)
def day_of(text): return pd.Timestamp(f"{text} {given.time}")
-- a place on one of the days => The task does not ask you to set 'location' of
instance = send("GET", f"/calendar/v3/calendars/primary/events/{create()['id'].item()}/instances").json()["items"][1]
send("PATCH", f"/calendar/v3/calendars/primary/events/{instance['id']}", {"location": "Gate 1"})
-- one event for each week => There are .+ events called '.*' instead of one
for day in pd.date_range(given.first, given.last, freq="7D"): create(None, day_of(day.date()))
-- no week off => There is a seminar on .+ which is excluded
create(rule.partition(" except")[0])
-- until the week before => There is no seminar on '.*'
create(rule.replace(given.last, str((pd.Timestamp(given.last) - pd.Timedelta(days=1)).date())))
-- in UTC => The time zone of the event is '.*', which is not given\.zone
create(rule, start.tz_localize(given.zone).tz_convert("UTC"), time_zone="UTC")
-- in the zone of a neighbour => The time zone of the event is '.*', which is not given\.zone
create(time_zone="Europe/Paris")
-- for ever => There is an unexpected seminar on '.*', '.*' and .+
create(f"weekly on {given.weekday} except {given.free}")
-- every other week => There is no seminar on '.*', '.*' and .+ more
create(rule.replace("weekly", "every 2 weeks"))
-- once => The event has no recurrence
create(None)
-- half a minute late => The local start time of the seminar is '.*', not always .+
create(start=start + pd.Timedelta(seconds=30))
-- an hour long => The seminar lasts '.*' minutes, not .+
create(minutes=60)
-- another event on the free day => The new files and events are
create(); create(None, day_of(given.free), summary="Excursion")
-- the free day moved to the week after => The series has .+ instances on .+ days, so there are two on one day
instances = svc.instances(create(rule.partition(" except")[0])); after = day_of(given.free) + pd.Timedelta(days=7)
svc.update_event(instances[instances["start"].astype(str).str.startswith(given.free)].iloc[0]["id"], start=after, end=after + pd.Timedelta(minutes=90), time_zone=given.zone)
-- an hour later on the last day => The local start time of the seminar is '.*' and '.*', not
late = day_of(given.last) + pd.Timedelta(hours=1)
svc.update_event(svc.instances(create()).iloc[-1]["id"], start=late, end=late + pd.Timedelta(minutes=90), time_zone=given.zone)
-- one day is called otherwise => An instance of the series has another summary, '.*'
svc.update_event(svc.instances(create()).iloc[2]["id"], summary="Excursion")
== two-programs-one-event
path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
def read(): return given.send("GET", path).json()
def update(etag, description, method="PATCH", **more):
    return send(method, path, {"description": description, **more}, If_Match=etag).status
def until_done(change, **more):
    while update((event := read())["etag"], change(event["description"]), **more) == 412: pass
def add(text): return f"{text}\n{given.line}"
-- update_event will do => An update had no header If-Match, so it replaces whatever another
event = svc.event(given.event_id); svc.update_event(event, description=add(event["description"].item()))
-- any version => An update had the header If-Match: \*, which is true for every version
update("*", add(read()["description"]))
-- this version, or any => An update had the header If-Match: ".+", \*, which is
event = read(); update(f"{event['etag']}, *", add(event["description"]))
-- by the session => An update was sent by the package
while True:
    event = given.session.call("GET", path)
    try: given.session.call("PATCH", path, body={"description": add(event["description"])}, headers=[("If-Match", event["etag"])])
    except svc.SvcError: continue
    break
-- an etag that nobody gave => An update had the header If-Match: ".+", and no response before had this etag
update('"1"', add(read()["description"])); until_done(add)
-- gave up => Your last update had the status .+ and was not repeated, so
event = read(); update(event["etag"], add(event["description"]))
-- only the etag is new => The description has lost .+ lines that another program had added:
text = read()["description"]; until_done(lambda description: add(text))
-- the lines in another order => Beside given\.line, the description has changed
until_done(lambda description: add("\n".join(sorted(description.splitlines(), reverse=True))))
-- above the other lines => given\.line is not the last line of the description
until_done(lambda description: f"{given.line}\n{description}")
-- no line of its own => The description has lost .+ line that another program had added:
until_done(lambda description: f"{description} {given.line}")
-- twice => The description has given\.line .+ times instead of once
until_done(lambda description: add(add(description)))
-- the whole event => An update was a PUT request, which replaces the whole event
while True:
    event = read()
    if update(event.pop("etag"), add(event.pop("description")), "PUT", **event) != 412: break
-- moved the event, too => The task does not ask you to change '.*' of 'Walk around the
until_done(add, summary="Walk")
-- only looked => The service received .+ request, and none of them changes the event
svc.event(given.event_id)
-- the etag of a second read => An update had the etag of one version of the event, and the description of an earlier one
while True:
    text = read()["description"]
    if update(read()["etag"], add(text)) != 412: break
== two-way-sync
def read_until(wait):
    for n in range(9):
        answer = wait(n)
        if answer.status == 200: return answer
def quick(file_id): return send("GET", f"/storage/v3/files/{file_id}?fields=parents")
READ = 'svc.file(change.file_id)["parents"].item()'
def interrupted(after):
    def upload(content, **more):
        if more["name"] != "night.raw": return svc.upload(content, **more)
        def begin(): return session(name=more["name"], parents=[more["folder"]])
        uri = begin()
        for _ in range(9):
            try: made = put(uri, 0, content, len(content)).json(); return pd.DataFrame([{"id": "none", **made}])
            except ConnectionError: uri = after(uri, len(content), begin)
    globals()["upload"] = upload; solved("svc.upload(content", "upload(content")
-- believes everybody => Your receiver accepted a message with
solved('if headers.get("X-Svc-Channel-ID") != given.channel or not genuine:', "if False:")
-- compares only the token => Your receiver accepted a message with
solved('headers.get("X-Svc-Channel-ID") != given.channel or ', "")
-- refuses a message that arrives again => Your receiver rejected a genuine message
solved("        run()\n", "        run()\n    elif number in seen: return 409\n")
-- a run before the proof => There are two new messages about a change, and the report has given.line \d+ times
solved("    if headers.get(", "    run()\n    if headers.get(")
-- numbers that a forger has used => There are two new messages about a change, and the report has given.line (1|no) time
solved("    if headers.get(", "    if headers.get('X-Svc-Message-Number') in seen: return 200 if genuine and headers.get('X-Svc-Channel-ID') == given.channel else 403\n    seen.add(headers['X-Svc-Message-Number'])\n    if headers.get(", " and number not in seen", "")
-- from now on => The first request began at the token
solved("token = given.page_token", "token = None")
-- from the same token in each run => 2 runs began at given.page_token
solved('    token = log.attrs["page_token"]', "    pass")
-- a list of the folder => A request listed files
solved("    log = svc.changes(token)", "    log = svc.changes(token); svc.files(f\"'{given.folder_id}' in parents\")")
-- after the same time => repeated after 2 seconds, 2 seconds, 2 seconds
solved(READ, "read_until(lambda n: (given.clock.advance(2), quick(change.file_id))[1]).json()['parents']")
-- gives up after a 503 => A request that got a 503 was not repeated until it succeeded
solved(f"if given.folder_id not in {READ}", "if given.folder_id not in quick(change.file_id).json().get('parents', [])", "svc.read(change.file_id)", "send('GET', f'/storage/v3/files/{change.file_id}?alt=media').body")
-- the service wins => the folder of the service does not have your version
solved("changed_here and content != local[name]", "False")
-- the other name => The folder of the service has another content of
solved("    local[name] = known[name] = content", "        local[name.replace('.txt', ' (conflict).txt')], content = content, local[name]; svc.update(change.file_id, content)\n    local[name] = known[name] = content")
-- another name for the conflict => The folder of the service lacks '.* \(conflict\)\.txt'
solved(" (conflict).txt", " (mine).txt")
-- without If-Match => An update had no header If-Match
solved(', "If-Match": event["etag"]', "")
-- above the other lines => given\.line is not the last line of the report
solved("{event['description']}\\n{given.line}", "{given.line}\\n{event['description']}")
-- whatever the version is => An update had the header If-Match: \*
solved('event["etag"]}', '"*"}')
-- only the etag is new => The description has lost .+ that another program had added
solved("    while status == 412:", "    text = given.send('GET', path).json()['description']\n    while status == 412:", "{event['description']}", "{text}")
-- no report => The service received .+ requests, and none of them changes the event
solved("    report()\n", "")
-- everything in one request => The service opened no sessions for night\.raw instead of one
solved('"resumable" if', '"multipart" if')
-- a new session after the interruption => The folder has two files called 'night\.raw'
interrupted(lambda uri, size, begin: begin())
-- from the first byte again => A request of the upload had no response, and the next request sent bytes without
interrupted(lambda uri, size, begin: uri)
-- asks, and sends everything nevertheless => A request sent bytes from 0 on, but .+ were already stored
def asked(uri, size, begin):
    with contextlib.suppress(ConnectionError): ask(uri, size)
    ask(uri, size); return uri
interrupted(asked)
-- a new file for each change => The folder has two files called
solved("        svc.update(ids[name], content)", "        svc.upload(content, name=name, folder=given.folder_id)")
-- nothing is uploaded => the folder of the service does not have your version
solved("        push(name)", "        pass")
-- only what is new is uploaded => The folder of the service has another content of '.*\.txt'
solved("content != known.get(name)", "False")
-- into the root folder => the folder of the service does not have your version
solved(", folder=given.folder_id", "")
-- files of other folders, too => (Your folder in folder.json has another content of|Your receiver raised)
solved(f"given.folder_id not in {READ}", "False")
-- a deleted file comes back => has '.*\.txt', which the task does not ask for
solved("    if change.trashed:", "    if change.trashed:\n        ids.pop(name)\n        return\n    if False:")
-- a deleted file stays here => Your folder in folder\.json has '.*\.txt', which
solved("            local.pop(name, None)", "            pass", "    content = local[name]\n", "    content = local[name]\n    if name in given.known and name not in ids: return\n")
-- the folder as it was => Your folder in folder\.json lacks
solved("in local.items() if", "in given.local.items() if")
-- forgot folder.json => The service has no file named 'folder\.json'
solved('svc.upload(json.dumps(texts)', 'print(json.dumps(texts)')
-- a list of names => folder\.json is not a JSON object of names and texts
solved("json.dumps(texts)", "json.dumps(list(texts))")
-- a star, too => The task does not ask you to set 'starred'
solved('name="folder.json"', 'name="folder.json", metadata={"starred": True}')
-- writes back what it has read => Your program wrote .+ to the service without a change here
solved("    ids[name] = change.file_id\n", "    ids[name] = change.file_id; svc.update(change.file_id, content)\n")
-- a star for a moment => Your program wrote .+ to the service without a change here
solved("    ids[name] = change.file_id\n", "    ids[name] = change.file_id; [svc.update(change.file_id, starred=star) for star in (True, False)]\n")
-- uploads twice => Your program wrote .+ to the service without a change here
solved('        ids[name] = made["id"].item()\n', '        ids[name] = made["id"].item(); svc.update(made, content)\n')
-- `sync` is always genuine => Your receiver accepted a message with
solved("or not genuine:", 'or not genuine and headers["X-Svc-Resource-State"] == "change":')
"""
