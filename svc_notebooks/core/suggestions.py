"""Finds the name that a user probably meant by a name that does not exist, for error messages."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

SYNONYMS: dict[str, tuple[str, ...]] = {
    "after": ("modified_after", "time_min"),
    "before": ("modified_before", "time_max"),
    "begin": ("start",),
    "block_size": ("chunk_size",),
    "body": ("description",),
    "colour": ("color",),
    "charset": ("encoding",),
    "columns": ("fields", "usecols"),
    "content": ("source",),
    "content_type": ("mime_type",),
    "data": ("source",),
    "dest": ("to",),
    "destination": ("to",),
    "directory": ("parent", "parents", "folder", "to"),
    "duration": ("end",),
    "length": ("duration",),
    "email": ("user", "attendees"),
    "end_time": ("end",),
    "exist_ok": ("overwrite",),
    "file_name": ("name",),
    "filename": ("name",),
    "finish": ("end",),
    "extension": ("name",),
    "filter": ("query",),
    "folder": ("parent", "parents", "to"),
    "folder_id": ("parent", "parents", "folder"),
    "force": ("overwrite",),
    "from": ("start", "source"),
    "glob": ("name",),
    "guests": ("attendees",),
    "invitees": ("attendees",),
    "max_results": ("limit",),
    "media_type": ("mime_type",),
    "mime": ("mime_type",),
    "name": ("summary",),
    "notes": ("description",),
    "order": ("order_by",),
    "page_size": ("limit",),
    "parent": ("parents", "folder", "to"),
    "parent_id": ("parent", "parents", "folder"),
    "parents": ("parent", "folder", "to"),
    "path": ("to", "source"),
    "pattern": ("name",),
    "place": ("location",),
    "q": ("query",),
    "repeat": ("recurrence",),
    "replace": ("overwrite",),
    "room": ("location",),
    "search": ("query",),
    "separator": ("sep",),
    "seperator": ("sep",),
    "sheet_name": ("sheet",),
    "shared": ("shared_with_me",),
    "since": ("modified_after", "time_min"),
    "sort": ("order_by",),
    "sort_by": ("order_by",),
    "start_time": ("start",),
    "subject": ("summary",),
    "target": ("to",),
    "title": ("summary", "name"),
    "topic": ("summary",),
    "tz": ("time_zone",),
    "type": ("mime_type", "role"),
    "until": ("modified_before", "time_max", "end"),
    "verbose": ("progress",),
    "where": ("location", "query"),
}
"""The names of other libraries for an argument, and the names that this package may use instead."""


CALLS = {
    "cancel_event": "delete_event(event)",
    "download_folder": "download(folder)",
    "faults": "lab.faults(...)",
    "find": "files(name=...)",
    "list": "files()",
    "list_files": "files()",
    "ls": "files()",
    "mkdir": "create_folder(name)",
    "move_event": "update_event(event, start=..., end=...)",
    "mv": "move(file, to=folder)",
    "read_csv": "read_frame(file)",
    "read_excel": "read_frame(file, sheet)",
    "read_json": "read_frame(file)",
    "read_parquet": "read_frame(file)",
    "remove": "delete(file)",
    "rename": "update(file, name=...)",
    "replace": "update(file, source)",
    "restore": "untrash(file)",
    "rm": "delete(file)",
    "save": "lab.save(path)",
    "search": "files(text=...)",
    "serve": "lab.serve()",
    "sign_in": "lab.sign_in(user)",
    "undelete": "untrash(file)",
    "unwatch": "stop_channel(channel)",
    "upload_folder": "upload(folder)",
    "write": "update(file, source)",
    "write_frame": "upload(frame, name=...)",
}
"""The names of functions of other libraries, and the equivalent calls of this package.

`lab` is a sandbox.
"""


def nearest_name(name: str, known: Collection[str], *, similarity: float = 0.6) -> str | None:
    """Return the name in `known` that is the same in another style, a synonym or similar. Return None without one.

    `similarity` is the smallest ratio of `difflib.get_close_matches`.

    >>> nearest_name("mimeType", ["name", "mime_type"]), nearest_name("timezone", ["time_zone"])
    ('mime_type', 'time_zone')
    >>> nearest_name("filename", ["name"]), nearest_name("folder", ["parent"]), nearest_name("xyz", ["name"])
    ('name', 'parent', None)
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").replace(" ", "_").lower()
    letters = snake.replace("_", "")
    same = [candidate for candidate in known if candidate.replace("_", "").lower() == letters]
    synonyms = [candidate for candidate in SYNONYMS.get(snake, ()) if candidate in known]
    return next(iter([*same, *synonyms, *get_close_matches(snake[:60], known, 1, similarity)]), None)
