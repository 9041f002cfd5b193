"""Finds the name that a user probably meant by a name that does not exist, for error messages.

Each table has a row for what this package has, with the names that other libraries use for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

ARGUMENTS = {
    "event_id": "i_cal_uid uid",
    "reset='before'": "error exception raises side_effect",
    "single_events": "expand expanded instances",
    "state": "event kind",
    "accepted": "accept ok y yes",
    "address": "url",
    "base_url": "host url",
    "byte_range": "range",
    "chunk_size": "block_size",
    "color": "colour",
    "commenter": "comment",
    "description": "body notes",
    "duration": "length",
    "encoding": "charset",
    "errors": "missing_ok ignore_errors on_error raise_errors",
    "fields": "columns",
    "file_id": "id ids",
    "include_hidden": "hidden",
    "limit": "count head max max_results maximum n page_size top",
    "count": "limit max_results n",
    "location": "location place room where",
    "mime_type": "content_type media_type mime type",
    "order_by": "ascending desc descending order orderby reverse sort sort_by",
    "overwrite": "exist_ok force replace",
    "paths": "path_column with_paths",
    "page_token": "after cursor since sync_token token",
    "per": "interval period seconds window",
    "progress": "callback progress_bar verbose",
    "reader": "read view viewer",
    "receiver": "address rx url webhook",
    "recurrence": "every repeat rrule",
    "recursive": "deep depth recurse",
    "reminders": "alerts reminder",
    "requests": "calls rate",
    "requests=5, per='60s'": "per_minute rpm requests_per_minute",
    "requests=5, per='1s'": "per_second qps requests_per_second rps",
    "role": "access can permission",
    "format": "as_ fmt type",
    "send_updates": "notify send_invitations",
    "sep": "separator seperator",
    "shared_with_me": "shared",
    "sheet": "sheet_name",
    "status": "code status_code",
    "storage_limit": "disk disk_space max_bytes quota quota_bytes storage",
    "summary": "name subject title topic",
    "name": "key extension file_name filename glob new_name pattern rename title",
    "time_zone": "timezone tz zone",
    "timeout": "seconds wait",
    "declined": "decline n no refuse refused reject rejected",
    "delay": "latency seconds sleep timeout wait",
    "token": "access_token api_key",
    "usecols": "columns",
    "user": "email",
    "with_='anyone', an address or 'domain:example.com'": "domain grantee type",
    "with_='anyone'": "anyone anyone_with_link everyone link public world",
    "with_": "attendees email emails people to user users with",
    "people": "attendees calendar calendars email emails users with_",
    "attendees=[...] with all guests": "add_attendee add_attendees add_guest add_guests remove_attendees remove_guests",
    "attendees": "email emails guests invite invitees participants people with_",
    "calendar": "calendars",
    "calendars": "calendar email emails people",
    "within": "after before between date day end from from_ start time_max time_min until when window",
    "modified_before": "before time_max until",
    "time_max": "before end modified_before until",
    "end": "duration end_time finish time_max until",
    "expires_in": "duration length lifetime timeout ttl",
    "start": "begin date day from from_ start_time time_min when",
    "modified_after": "after since time_min updated_min",
    "source": "body file media_body bytes content data df file_path frame from path text",
    "text": "contains full_text query search summary title",
    "query": "filter q search text where",
    "folder": "dst path prefix destination directory folder folder_id into parent parent_id parents target to",
    "parent": "directory folder folder_id parent parent_id parents",
    "parents": "directory folder folder_id parent parent_id parents",
    "tentative": "maybe perhaps",
    "to": (
        "dest destination directory dst file_name file_path filename folder folder_id into location out output parent"
        " parent_id parents path save_as target"
    ),
    "updated_min": "modified_after since sync_token",
    "metadata={'properties': {...}}": "app_properties custom_properties labels properties tags",
    "metadata={'description': ...}": "comment description notes",
    "metadata={'starred': True}": "favorite starred",
    "nth": "index",
    "time_min": "after between date day from_ modified_after since start window within",
    "workers": "jobs max_workers n_jobs parallel threads",
    "writer": "edit editor write",
}
"""The arguments of this package, some with a value. The first one that a function has is suggested."""


ALIASES = {
    **{name: {"to": "folder"} for name in ("upload", "start_upload", "copy")},
    **{name: {"title": "summary", "place": "location"} for name in ("create_event", "update_event")},
}
"""Other names of arguments that a function accepts, because they can mean nothing else."""

BY_NAME = {"free_times": "within=(start, end)"}
"""The argument that users of a function most often give without its name, with a value."""

NOT_ARGUMENTS_OF = {
    "connect": ("user.*|password|timeout|retries", "svc.Session(base_url, token, timeout=...) has more arguments"),
    "sandbox": ("host|port|user.*", "lab.serve(port=...) starts a server, lab.sign_in(user) signs in another user"),
    "delete": ("recursive|parents|force", "a folder is deleted with all that is in it"),
    "upload": (
        "if_exists|conflict.*|on_.*",
        "each upload makes a new file; overwrite=True replaces the content of the file of the same name",
    ),
    "snapshot": (".*", "it returns a name to keep: name = lab.snapshot(), and then lab.restore(name)"),
    "trash": ("recursive|parents|force", "a folder is moved with all that is in it"),
    "files": (r".*size|.*(larg|small|bigg)er.*|.*bytes.*", "filter the frame: df[df['size'] > 1_000_000]"),
    "advance": ("weeks|days|hours|minutes|seconds", "write lab.clock.advance('3 hours')"),
    "limits": (".*", "lab.limit(requests=5, per='60s') sets a limit, and lab.limits() lists all"),
    "faults": ("user|users|email|student", "these faults hold for all users; lab.faults(..., user=...) selects one"),
    "upload_form": (".*", "form.fill(notebook_file=path, name=...) sets fields of a form"),
}
"""The arguments that one function does not have, as a pattern, and what to do instead."""


NOT_ARGUMENTS = {
    name: hint
    for names, hint in {
        "expiration expires": "nothing ends at that time; unshare(file, address) ends the access to a shared file",
        "message notify": "the service sends no message about this; events have send_updates=",
        "max_retries retries retry": (
            "session.retry = dataclasses.replace(session.retry, patience=0) ends the retries of a session"
        ),
        "sheet sheet_name": "read_frame(file, sheet) reads one sheet",
        "encoding mode": "read(file).decode(encoding) is the content as text",
        "last_day": "an all-day event ends on the day after its last day: end=..., or duration='3 days'",
        "index": "df.reset_index(drop=True) has no index to write",
        "all_day": "a date such as start='2026-11-02' makes an all-day event",
        "probability": "nth=3 and times=2 count the requests that fail",
        "every": (
            "give a step for each request: lab.faults(*[{'match': {'nth': n}, 'action': {'status': 503}}"
            " for n in (3, 6, 9)])"
        ),
    }.items()
    for name in names.split()
}
"""The arguments that no function of this package has, or few of them have, and what to use instead."""


CALLS = {
    name: call
    for call, names in {
        "tree(folder)": "du",
        "download(folder)": "backup download_folder mirror",
        "respond(event, 'accepted')": "accept rsvp",
        "permissions(file)": "acl collaborators get_permissions list_permissions shared_with who_has_access",
        "update(file, properties={'label': 'a'})": "add_label add_tag label labels set_label tag tags",
        "about()": "df account me quota storage usage user whoami",
        "create_event(summary, start=..., end=...)": "insert insert_event add_event appointment meeting",
        "share(file, address)": "add_permission grant",
        "lab.clock.advance('1 day')": "advance fast_forward forward sleep tick travel",
        "events()": "agenda calendar",
        "lab.serve().base_url": "address base_url host port",
        "dashboard()": "app gui show ui view",
        "connect(address, token=...)": "build auth authenticate Client login",
        "file_browser()": "browse preview",
        "delete_event(event)": "cancel_event",
        "read(file)": "get_media get_object cat open read_bytes",
        "doctor()": "check diagnose",
        "file(id, fields='name,md5_checksum')": "checksum hash md5",
        "lab.clock": "freeze_time clock freeze",
        "export(file, format)": "convert",
        "copy(file)": "copy2 copytree cp duplicate",
        "create_file(name)": "create touch",
        "exchange().curl()": "curl",
        "respond(event, 'declined')": "decline",
        "lab.deliveries()": "deliveries",
        "file(id, fields='*')": "describe",
        "help(svc.upload)": "docs help",
        "lab.send('GET', path)": "send",
        "update(file, ...)": "set_metadata edit patch",
        "share(file, 'anyone')": "generate_presigned_url presigned_url share_link everyone make_public public publish",
        "files(name=...)": "is_dir isdir isfile exists find",
        "lab.faults(...)": "mock monkeypatch break_ delay fail fault faults inject inject_fault latency outage",
        "download(file)": "fetch get",
        "export_events(to='calendar.ics')": "export_calendar export_ical export_ics ical ics to_ical to_ics",
        "import_events(path)": "from_ical import_calendar import_ical import_ics read_ics",
        "export_formats(file)": "formats",
        "files()['web_view_link']": "get_link link url",
        "files(name='*.csv')": "glob",
        "files(limit=5)": "head",
        "exchanges()": "calls history log logs requests",
        "exchange()": "http last request response",
        "generate_ids()": "ids",
        "lab.clock.now()": "now time today",
        "open_sandbox(path)": "load load_lab load_sandbox",
        "lab.restore(snapshot)": "reset rollback",
        "stop_channel(channel)": "cancel_watch stop_watching unsubscribe unwatch",
        "watch_changes(rx)": "subscribe_changes watch_folder",
        "changes()": "delta poll",
        "file(id)": "get_metadata getsize head_object metadata info size stat",
        "update_event(event, attendees=...)": "invite",
        "lab.journal()": "journal",
        "upload(folder, overwrite=True)": "sync sync_folder rsync",
        "lab.limit(requests=5, per='60s')": "limit rate rate_limit throttle",
        "files()": "iterdir list_objects listdir scandir list list_files ls",
        "receiver().listen(function)": "listen",
        "current_session().close()": "logout sign_out",
        "create_folder('a/b/c')": "makedir makedirs mkdir new_folder",
        "notifications()": "messages",
        "update_event(event, start=..., end=...)": "move_event",
        "move(file, to=folder)": "mv",
        "lab.outbox()": "emails invitations mails outbox",
        "Policy(...)": "policy",
        "fault_presets()": "presets",
        "upload(source)": "MediaFileUpload put_object upload_fileobj put",
        "files(query)": "query select",
        "read_frame(file)": "read_csv read_json read_parquet",
        "read_frame(file, sheet)": "read_excel",
        "read(file).decode()": "read_text",
        "preview_recurrence(...)": "recurrence",
        "create_event(..., reminders=...)": "add_reminder reminder",
        "delete(file)": "remove rm unlink",
        "update(file, name=...)": "rename rename_file",
        "update(file, source)": "replace write",
        "exchange().resend()": "replay",
        "untrash(file)": "restore undelete",
        "pending_uploads()": "resume",
        "unshare(file, address)": "revoke",
        "trash(folder)": "rmdir rmtree",
        "lab.save(path)": "save",
        "download(file, to=path)": "save_as",
        "files(text=...)": "search",
        "lab.serve()": "serve",
        "lab.sign_in(user)": "sign_in users",
        "lab.snapshot()": "snapshot",
        "update(file, starred=True)": "star",
        "watch_file(file, rx)": "subscribe watch",
        "export(file, 'png')": "thumbnail",
        "upload(frame, name='table.csv')": "to_csv",
        "upload(frame, name='table.xlsx')": "to_excel",
        "upload(frame, name='table.parquet')": "to_parquet",
        "export(file, 'pdf')": "to_pdf",
        "lab.access_token": "token tokens",
        "upload(folder)": "upload_folder",
        "__version__": "version",
        "receiver().wait_for(state)": "wait wait_for",
        "files(folder=..., recursive=True, paths=True)": "rglob walk",
        "receiver()": "webhook",
        "upload(frame, name=...)": "write_frame",
        "upload(text.encode(), name=...)": "write_text",
    }.items()
    for name in names.split()
}
"""The names of functions of other libraries, and the equivalent calls of this package.

`lab` is a sandbox, and `rx` a receiver.
"""

_NO_ZIP = "download(folder) saves the files into a folder, and shutil.make_archive(name, 'zip', folder) packs a folder"
_CANCEL_UPLOAD = (
    "an interrupted upload ends by itself when its session expires; pending_uploads() lists those to resume"
)

MISSING = {
    "batch": "each function takes a list or a DataFrame of files, and workers=8 calls the service in threads",
    "raises": "pytest.raises(svc.SvcError) tests that a call fails; help(svc.SvcError) lists the classes",
    "delete_calendar": "current_session().execute('DELETE', '/calendar/v3/calendars/ID') deletes the calendar ID",
    "update_calendar": "current_session().call('PATCH', '/calendar/v3/calendars/ID', body={...}) changes it",
    **dict.fromkeys(
        ("login_as", "set_current_session", "set_session", "switch", "switch_user", "use", "use_session"),
        "give the argument session=..., or use `with session:`, in which it is the current session",
    ),
    **dict.fromkeys(("archive", "download_zip", "unzip", "zip"), _NO_ZIP),
    **dict.fromkeys(("abort_upload", "cancel_upload", "stop_upload"), _CANCEL_UPLOAD),
    **dict.fromkeys(
        ("watch_calendar", "watch_event", "watch_events"),
        "no function watches events: events(updated_min=...) lists those that have changed since",
    ),
    **{
        name: f"the interface has no {what}"
        for what, names in {
            "earlier versions of a file; copy(file) keeps its content": (
                "get_revision list_revisions list_versions restore_version revision revisions version_history versions"
            ),
            "comments on files; update(file, description=...) keeps a text with a file": (
                "add_comment comment comments create_comment list_comments replies"
            ),
            "shared drives; share(create_folder(name), addresses) shares a folder": (
                "create_drive drives list_drives shared_drive shared_drives team_drives teamdrives"
            ),
            "transfer of ownership; copy(file, session=...) makes a copy that another user owns": (
                "change_owner make_owner set_owner transfer transfer_ownership"
            ),
            "groups; share(file, [addresses]) takes several addresses": "add_member create_group groups members",
            "tasks; create_event(summary, start=...) makes an event": "create_task tasks todo todos",
            "answers by e-mail; respond(event, 'accepted', session=...) answers as an attendee": "reply",
            "locks; update(file, content_restrictions=[{'read_only': True}]) protects a file": "lock unlock",
        }.items()
        for name in names.split()
    },
    "undo": "a change cannot be undone; untrash(file) takes files out of the trash, lab.restore() restores a snapshot",
}
"""The names of what the service does not have, and what to do instead."""


ATTRIBUTES = {
    kind: {name: instead for instead, names in rows.items() for name in names.split()}
    for kind, rows in {
        "an exchange": {
            "response_body or request_body": "body content text",
            "status": "code ok reason status_code status_line",
            "seconds": "duration elapsed",
            "url": "path query uri",
            "resend()": "again repeat replay retry send",
            "http()": "print raw show",
            "response_headers or request_headers": "headers",
            "json.loads(exchange.response_body)": "json",
            "python() or the recipe 'Call it with fetch in JavaScript'": "fetch javascript js",
            "http(), request_headers or request_body": "request",
            "http(), response_headers or response_body": "response",
        },
        "a response": {
            "json.loads(response.body)": "json",
            "response.body.decode()": "text",
            "status": "code ok reason status_code",
            "headers": "header",
            "body": "data raw",
        },
        "a sandbox": {
            "close()": "kill shutdown stop",
            "serve()": "run start",
            "svc.assert_exchanges([...])": "assert_called",
            "lab.faults(...)": "break_network",
            "lab.send(method, url, {'Authorization': None}), which sends no token": "anonymous",
            "lab.sign_in(address)": "add_user create_user user users",
            "lab.journal()": "call_count calls responses history log logs requests",
            "lab.serve().base_url": "link_to uri url",
            "svc.Policy(storage_limit=...), the argument policy of sandbox()": "quota",
            "lab.send(method, url)": "delete_request get patch post put request",
        },
        "a clock": {},
        "a receiver": {
            "address": "base_url uri url",
            "close()": "shutdown stop",
            "messages()": "all count df frame queue received requests",
            "wait_for(state)": "get join last poll recv wait",
        },
        "a server": {"base_url": "address host link uri url"},
        "an upload": {
            "session_uri": "address uri url",
            "history, or run(progress=True)": "percent progress",
            "send_chunk(), which sends one chunk at a time": "next pause step stop",
        },
        "a session": {
            "svc.connect(base_url, token)": "auth token",
            "svc.Session(base_url, token, verify=..., proxies=..., timeout=...)": "adapters mount timeout verify",
            "call(method, path) or lab.send(method, path)": "delete get head options patch post put",
            "base_url": "address host server uri",
        },
        "svc_service": {"token": "access_token api_key bearer", "base_url": "address host uri url"},
    }.items()
}
"""The attributes that users of other libraries expect of an object, and what to use instead."""


def missing_attribute(kind: str, owner: object, name: str, hint: str = "") -> AttributeError:
    """Return the error for an attribute that an object does not have, with a hint, if there is one.

    `kind` is a key of `ATTRIBUTES`, and `hint` is used if neither that table nor a similar name has one.

    >>> missing_attribute("a session", "", "post")
    AttributeError("a session has no attribute 'post'; did you mean call(method, path) or lab.send(method, path)?")
    """
    if name.startswith("_"):  # also `__dict__`, which dir() reads
        return AttributeError(f"{kind} has no attribute {name!r}", name=name, obj=owner)
    known = [public for public in dir(owner) if not public.startswith("_")]
    near = ATTRIBUTES[kind].get(name) or nearest_name(name, known, similarity=0.75)
    listed = f"; it has {', '.join(known)}" if len(known) <= MAX_LISTED else ""
    text = f"; did you mean {near}?" if near else hint or listed
    return AttributeError(f"{kind} has no attribute {name!r}{text}", name=name, obj=owner)


MAX_LISTED = 25
"""The most names that an error message lists."""


def nearest_name(name: str, known: Collection[str], *, similarity: float = 0.6) -> str | None:
    """Return the name in `known` that is the same in another style, a synonym or similar. Return None without one.

    A synonym may have a value, as in "with_='anyone'".

    `similarity` is the smallest ratio of `difflib.get_close_matches`.

    >>> nearest_name("mimeType", ["name", "mime_type"]), nearest_name("timezone", ["time_zone"])
    ('mime_type', 'time_zone')
    >>> nearest_name("filename", ["name"]), nearest_name("folder", ["parent"]), nearest_name("xyz", ["name"])
    ('name', 'parent', None)
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(" ", "_").lower()
    letters = snake.replace("_", "")
    same = [candidate for candidate in known if candidate.replace("_", "").lower() == letters]
    synonyms = [text for text, names in ARGUMENTS.items() if text.partition("=")[0] in known and snake in names.split()]
    return next(iter([*same, *synonyms, *get_close_matches(snake[:60], known, 1, similarity)]), None)
