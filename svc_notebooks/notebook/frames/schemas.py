"""The columns and dtypes of the frames (D-01).

A terminal of 80 columns shows the first columns and the last ones: ids and other long texts are in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.events.value_checks import EVENT_FIELDS
from ...core.files.fields import BY_PATH, FILE_FIELDS
from .frames import TIME, Column, Dtype, Schema, schema, select_columns, snake

_INT64 = frozenset({"size", "version", "quotaBytesUsed", "thumbnailVersion"})  # strings on the wire
_TEXTS = ("string", "media", "colour", "enum", "id", "person")
_DTYPES: dict[str, Dtype] = {**dict.fromkeys(_TEXTS, "str"), "boolean": "boolean", "integer": "Int64", "time": TIME}
"""The dtypes of the types of fields. All others are objects."""


def _file_columns(*keys: str) -> tuple[Column, ...]:
    dtypes = {key: "Int64" if key in _INT64 else _DTYPES.get(BY_PATH[key].type, "object") for key in keys}
    return tuple(Column(snake(key), dtype, key) for key, dtype in dtypes.items())


FILES = Schema(
    _file_columns(
        "name", "size", "mimeType", "modifiedTime", "createdTime", "id", "parents", "webViewLink", "starred", "trashed"
    )
)
"""The default columns of a file, which are returned if the `fields` argument is None.

A terminal of 80 columns shows the first two columns and the last two, which are therefore narrow.

Checksums are not default columns, because the service computes a checksum when it is first requested.
"""

UPLOADS = Schema(FILES.columns[:-2] + _file_columns("md5Checksum") + FILES.columns[-2:])
"""The columns of uploaded files: those of files, and the checksum of the sent bytes, which the client has computed."""

TREE_FILES = Schema(
    (*FILES.columns[:1], Column("path", "str", "path"), *FILES.columns[1:], Column("outcome", "str", "outcome"))
)
"""The columns of the files of an uploaded folder, with the path of each file in the folder and the outcome."""

FILE = Schema(FILES.columns + _file_columns(*(field.name for field in FILE_FIELDS if field.name not in FILES.keys)))
"""All columns of a file, with a column for each field of the table `FILE_FIELDS`."""


def file_schema(fields: str | Iterable[str] | None) -> Schema:
    """Return the schema for `fields`, which is None (default columns), "*" (all) or names in camelCase or snake_case.

    >>> file_schema("id,md5Checksum").keys, file_schema(["mime_type"]).keys, len(file_schema("*").keys)
    (('id', 'md5Checksum'), ('mimeType',), 65)
    """
    return select_columns(fields, FILES, FILE, "a file")


IDS = schema("id text")

DELETED = schema("id text, deleted flag")

DOWNLOADS = schema("path text, outcome text, size count, id text, mimeType text, name text, of count")

EXPORTED = schema("path text, outcome text, mimeType text, id text, size count, name text")

ABOUT = schema(
    "displayName text, emailAddress text, quota_usage_trash count, maxUploadSize count, quota_limit count, "
    "quota_usage count"
)

IMPORT_FORMATS = schema(
    "native text, title text, native_type text, media_type text, note text, max_size count, extensions text"
)

EXPORT_FORMATS = schema("native text, title text, media_type text, native_type text, extension text")

PENDING = schema(
    "name text, total count, chunk_size count, media_type text, started time, source text, session_uri text"
)

HISTORY = schema(
    "n count, action text, first count, last count, total count, status count, stored count, waited seconds, "
    "state text, error text"
)

EXCHANGES = schema(
    "method text, path text, query text, time time, content_range text, range text, error text, sent count, "
    "received count, n count, status count"
)

JOURNAL = schema(
    "method text, path text, query text, time time, operation text, user text, client text, scopes any, declared "
    "count, received count, offset_before count, offset_after count, fault text, decided_by text, sent count, n "
    "count, status count"
)

CHANNELS = schema(
    "watching text, expiration time, opened time, id text, resource_id text, resource_uri text, address text, token "
    "text, kind text, state text"
)

STOPPED = schema("id text, stopped flag, outcome text")

MESSAGES = schema(
    "received time, state text, changed text, channel_id text, resource_id text, resource_uri text, expiration time, "
    "token text, content_type text, content_length count, kind text, answers text, tries count, number count, "
    "verified flag"
)

EXPLAINED = schema("header text, value text, meaning text")

NOTIFICATIONS = schema(
    "received time, state text, changed text, watching text, channel_id text, number count, verified flag, "
    "content_type text, content_length count, waited seconds, tries count, answers text, outcome text"
)

DELIVERIES = Schema(
    (
        Column("number", "Int64", "message_number"),
        *schema(
            "state text, channel_id text, resource_id text, due time, time time, error text, attempt count, status "
            "count, outcome text"
        ).columns,
    )
)

CHANGES = schema("time time, name text, fileId text, mimeType text, removed flag, trashed flag")

PERMISSIONS = schema("emailAddress text, role text, id text, file_id text, displayName text, domain text, type text")

DOCTOR = schema("check text, found text, fix text, status text")

TOKEN_INFO = schema("email text, client text, scopes any, expires time")

HAR_FILE = schema("path text, exchanges count, size count, outcome text")

COMPARED = schema("first_n count, second_n count, exchange text, what text, first text, second text")

FAULT_PLANS = schema(
    "plan text, preset text, step count, waits_for text, does text, times count, seen count, fired count"
)

FAULT_PRESETS = schema("name text, teaches text, steps count, what text")

LIMITS = schema("user text, requests count, per seconds, spent count, until time")

DOMAINS = schema("domain text")

AGENDA = schema("time time, user text, subject text, detail text, what text")

EXERCISES = schema(
    "name text, title text, notebook text, outcome text, points count, maxPoints count, hintsTaken count"
)


# -- the columns and dtypes of the frames about a class (docs/class.md)


STUDENTS = schema(
    "name text, email text, role text, active flag, last time, operations text, requests count, errors count, bytes "
    "count, channels count, steps count"
)

CLASS_STEPS = schema(
    "name text, email text, exercise text, title text, step count, of count, text text, time time, request count"
)

CLASS_PREDICTIONS = schema("question text, answer text, right flag, students count")

RESET_STUDENT = schema(
    "user text, backup text, path text, files count, bytes count, uploads count, calendars count, events count, "
    "channels count"
)

BACKUPS = schema("user text, time time, backup text, path text, size count")

CLASS_CLOCK = schema("now time")


# -- the frames about events


_COMPUTED = schema(
    "all_day flag, time_zone text, end_time_zone text, original_start_time_zone text, created time, updated time"
)
_TYPES = {field.path: field.type for field in EVENT_FIELDS if "." not in field.path and "[]" not in field.path}


def _columns(*keys: str) -> tuple[Column, ...]:
    computed = {column.key: column for column in _COMPUTED.columns}
    return tuple(computed.get(key) or Column(snake(key), _DTYPES.get(_TYPES[key], "object"), key) for key in keys)


EVENTS = Schema(
    _columns("summary", "start", "end", "location", "attendees", "recurrence", "time_zone", "end_time_zone")
    + _columns("htmlLink", "id", "all_day", "status")
)
"""The default columns of `events()`. Times are instants in the time zone of the DataFrame.

A terminal of 80 columns shows the first columns and the last ones, which are therefore narrow.
"""

_OTHERS = [key for key in _TYPES if key not in EVENTS.keys]
_OTHERS.insert(_OTHERS.index("originalStartTime") + 1, "original_start_time_zone")
EVENT = Schema(EVENTS.columns[:-2] + _columns(*_OTHERS) + EVENTS.columns[-2:])
"""All columns of an event, with a column for each top-level field of `EVENT_FIELDS`."""

INSTANCES = Schema(
    _columns("summary", "start", "end", "location", "attendees", "originalStartTime", "original_start_time_zone")
    + _columns("htmlLink", "id", "recurringEventId", "all_day", "status")
)

CREATED = schema("row any, summary text, start time, end time, id text, htmlLink text, error text, field text")

PREVIEW = schema("n count, start time, end time, weekday text, utc_offset text, recurrence text")

FREE_BUSY = schema("calendar text, outcome text, error text, attempts count, seconds seconds, busy any")

FREE_TIMES = schema("start time, end time")

CALENDAR_PERMISSIONS = schema("emailAddress text, role text, calendar text, id text, domain text, type text")

CALENDARS = schema("summary text, accessRole text, timeZone text, id text, description text, primary flag")

COLORS = schema("id text, name text, background text, foreground text")

OUTBOX = schema("to text, time time, event_id text, method text, subject text")

IMPORTED = schema(
    "summary text, start time, end time, time_zone text, iCalUID text, id text, htmlLink text, notes text, "
    "changedInstances count, outcome text"
)

CALENDAR_FILE = schema("path text, calendar text, events count, changedInstances count, size count, outcome text")
