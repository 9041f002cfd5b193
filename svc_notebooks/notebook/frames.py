"""Builds the DataFrames of the package from records and a schema.

The columns and dtypes of a DataFrame do not depend on the number of records (D-01). Column names are snake_case, and
wire names are camelCase. Only `snake` and `camel` convert these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..core.errors.errors import ServiceFailed
from ..core.events.fields import EVENT_FIELDS
from ..core.files.fields import BY_PATH, FILE_FIELDS
from ..core.printable_text import printable
from ..core.suggestions import nearest_name

if TYPE_CHECKING:
    from pandas import DataFrame

Dtype: TypeAlias = Literal["str", "Int64", "boolean", "Float64", "datetime64[ms, UTC]", "object"]
Record: TypeAlias = Mapping[str, Any]
TIME: Dtype = "datetime64[ms, UTC]"
_DTYPES: dict[str, Dtype] = {
    "text": "str",
    "count": "Int64",
    "flag": "boolean",
    "seconds": "Float64",
    "time": TIME,
    "any": "object",
}


@lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """Convert a wire name in camelCase to a column name in snake_case.

    >>> snake("mimeType"), snake("md5Checksum"), snake("id")
    ('mime_type', 'md5_checksum', 'id')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """Convert the name of a column or of a Python argument to a wire name in camelCase.

    >>> camel("mime_type"), camel("mimeType")
    ('mimeType', 'mimeType')
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a DataFrame. `key` is the record key of the column's values."""

    name: str
    dtype: Dtype
    key: str


@dataclass(frozen=True)
class Schema:
    """The columns of a DataFrame with their dtypes, in order."""

    columns: tuple[Column, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple([column.key for column in self.columns])

    @property
    def dtypes(self) -> dict[str, str]:
        """A dict from column names to dtypes, as in the attribute `dtypes` of the DataFrame."""
        return {column.name: _text_dtype() if column.dtype == "str" else column.dtype for column in self.columns}

    @cached_property
    def query(self) -> dict[str, str]:
        """The query parameter that requests the fields of all columns."""
        return {"fields": ",".join(self.keys)}

    def pick(self, keys: Iterable[str]) -> Schema:
        """Return a schema with only the columns for the given record keys, in the order of the keys."""
        by_key = {column.key: column for column in self.columns}
        return Schema(tuple(by_key[key] for key in keys))


def schema(columns: str) -> Schema:
    """Parse a record key and a type (text, count, flag, seconds, time or any) for each column, between commas."""
    rows = [column.split() for column in columns.split(",")]
    return Schema(tuple(Column(snake(key), _DTYPES[kind], key) for key, kind in rows))


def select_columns(fields: str | Iterable[str] | None, default: Schema, everything: Schema, owner: str) -> Schema:
    """Return the schema for a `fields` argument: `default` for None, `everything` for "*", or the named columns.

    Names are separated by commas or in a list, in camelCase or snake_case. `owner` is for error messages, such as "a
    file". Raises TypeError for another type, and ValueError with the nearest column for an unknown name.
    """
    if fields is None:
        return default
    if isinstance(fields, str) and fields.strip() == "*":
        return everything
    if not isinstance(fields, Iterable):
        raise TypeError(f'fields must be "*", a str of comma-separated names or a list of names, not {fields!r}')
    columns = {column.name: column for column in everything.columns}
    selected: list[Column] = []
    for name in fields.split(",") if isinstance(fields, str) else fields:
        if not isinstance(name, str):
            raise TypeError(f'fields must be "*", a str of comma-separated names or a list of names, not {name!r}')
        column = columns.get(snake(name.strip()))
        if column is None:
            near = nearest_name(name, columns)
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"fields has {name!r}, which is not a field of {owner}{hint}")
        selected.append(column)
    return Schema(tuple(selected))


def frame(schema: Schema, records: Sequence[Record]) -> DataFrame:
    """Return a DataFrame with a row for each record. A key that a record does not have becomes a missing value.

    Raises ServiceFailed for a value that the dtype of its column does not allow.

    >>> from svc_notebooks.notebook.frames import FILES
    >>> dict(frame(FILES, []).dtypes.astype(str)) == FILES.dtypes
    True
    """
    import numpy as np
    import pandas as pd

    if not records and schema in _empty_frames:
        return _empty_frames[schema].copy()
    columns: dict[str, Any] = {}
    for column in schema.columns:
        dtype: Dtype = column.dtype
        made: Any
        try:
            values = list(map(itemgetter(column.key), records))
        except KeyError:
            if len(records) == 1 and dtype in _missing:
                columns[column.name] = _missing[dtype].copy()
                continue
            values = [record.get(column.key) for record in records]
        try:
            if dtype == "Int64" and None not in values:
                # int64 is a string on the wire
                numbers = np.fromiter(map(int, values), dtype="int64", count=len(values))
                made = pd.arrays.IntegerArray(numbers, np.zeros(len(values), dtype=bool))
            elif dtype == "Int64":
                made = pd.array([None if value is None else int(value) for value in values], dtype=dtype)
            elif dtype == "boolean" and (flags := np.array(values)).dtype == bool:
                made = pd.arrays.BooleanArray(flags, np.zeros(len(values), dtype=bool))
            elif dtype == TIME:
                made = pd.DatetimeIndex(_instants(values), tz="UTC").array
            elif dtype == "object":
                made = np.empty(len(values), dtype=object)
                made[:] = values
            elif dtype == "str" and _text_dtype() == "object":
                made = np.array([np.nan if value is None else value for value in values], dtype=object)
            else:
                made = pd.array(values, dtype=dtype)
        except UnicodeEncodeError:  # Arrow, which stores texts where pyarrow is installed, has no lone surrogates
            made = pd.array(values, dtype=pd.StringDtype("python", na_value=np.nan))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"The service returned a value of {column.key} that is not a {dtype}: {printable(str(error))}"
            raise ServiceFailed(problem, location=column.key, advice="Check base_url.") from None
        columns[column.name] = made
        if len(values) == 1 and values[0] is None:
            _missing[dtype] = made.copy()
    result = pd.DataFrame(columns, copy=False)
    if not records:
        _empty_frames[schema] = result.copy()
    return result


_empty_frames: dict[Schema, DataFrame] = {}  # dataFrames without rows. A copy takes a tenth of the time of a new one.


# Columns of one missing value. An event has dozens of them, and a copy takes a tenth of the time of a new one.
_missing: dict[Dtype, Any] = {}


def concatenate(schema: Schema, frames: Sequence[DataFrame], numbers: Sequence[int] | None = None) -> DataFrame:
    """Return a DataFrame with the rows of all given DataFrames, which have this schema. The rows are numbered from 0.

    A single DataFrame whose rows are numbered is returned itself. With `numbers`, the rows are sorted by them, and the
    given DataFrames lose their columns, so that only one column is in memory twice.

    >>> from svc_notebooks.notebook.frames import FILES
    >>> len(concatenate(FILES, [frame(FILES, [{}]), frame(FILES, [{}])]))
    2
    """
    import numpy as np
    import pandas as pd

    if not frames:
        return frame(schema, [])
    if len(frames) == 1 and numbers is None:
        is_numbered = frames[0].index.equals(pd.RangeIndex(len(frames[0])))  # without the copy of reset_index
        return frames[0] if is_numbered else frames[0].reset_index(drop=True)
    order = None if numbers is None else np.argsort(np.asarray(numbers))
    is_sorted = order is None or bool((np.diff(order) == 1).all())
    columns: dict[str, Any] = {}
    for column in schema.columns:
        pieces = [each[column.name] if order is None else each.pop(column.name) for each in frames]
        if column.dtype == "str" and len({piece.dtype for piece in pieces}) > 1:  # some have lone surrogates
            pieces = [piece.astype(pd.StringDtype("python", na_value=np.nan)) for piece in pieces]
        values = pd.concat(pieces, ignore_index=True).array
        columns[column.name] = values if is_sorted else values.take(order)
    return pd.DataFrame(columns, copy=False)


@cache
def _text_dtype() -> Dtype:
    """Return the dtype of texts, which is "str" since pandas 3 and "object" before. A missing text is NaN in both."""
    import pandas as pd

    return "str" if int(pd.__version__.partition(".")[0]) >= 3 else "object"


def _instants(values: list[Any]) -> Any:
    """Convert ISO 8601 texts, datetimes and None to a numpy array of UTC instants in milliseconds."""
    import numpy as np
    import pandas as pd

    try:
        texts = np.frombuffer("".join(values).encode(), dtype="u1").reshape(len(values), 24)
    except (TypeError, ValueError):
        pass
    else:
        if (texts[:, 19] == ord(".")).all() and (texts[:, 23] == ord("Z")).all():
            return texts.view("S24").ravel().astype("S23").astype("datetime64[ms]")
    if set(map(type, values)) == {str} and min(map(len, values)) >= len("2026-01-01T00:00:00Z"):
        with suppress(ValueError):  # before pandas 3, the years before 1678 and after 2261 are out of bounds
            return pd.to_datetime(values, utc=True, format="ISO8601").tz_localize(None).as_unit("ms").to_numpy()
    instants: list[str] = []
    for value in values:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else value
        instants.append("NaT" if instant is None else instant.astimezone(UTC).replace(tzinfo=None).isoformat())
    return np.array(instants, dtype="datetime64[ms]")


# -- the columns and dtypes of the frames (D-01). A terminal of 80 columns shows the first columns and the last ones:
# ids and other long texts are in the middle


_INT64 = frozenset({"size", "version", "quotaBytesUsed", "thumbnailVersion"})  # strings on the wire
_TEXTS = ("string", "media", "colour", "enum", "id", "person")
_FIELD_DTYPES: dict[str, Dtype] = dict.fromkeys(_TEXTS, "str")
_FIELD_DTYPES |= {"boolean": "boolean", "integer": "Int64", "time": TIME}
"""The dtypes of the types of fields. All others are objects."""


def _file_columns(*keys: str) -> tuple[Column, ...]:
    dtypes = {key: "Int64" if key in _INT64 else _FIELD_DTYPES.get(BY_PATH[key].type, "object") for key in keys}
    return tuple(Column(snake(key), dtype, key) for key, dtype in dtypes.items())


# The default columns of a file, which are returned if the `fields` argument is None.
#
# A terminal of 80 columns shows the first two columns and the last two, which are therefore narrow.
#
# Checksums are not default columns, because the service computes a checksum when it is first requested.
FILES = Schema(
    _file_columns(
        "name", "size", "mimeType", "modifiedTime", "createdTime", "id", "parents", "webViewLink", "starred", "trashed"
    )
)

# The columns of uploaded files: those of files, and the checksum of the sent bytes, which the client has computed.
UPLOADS = Schema(FILES.columns[:-2] + _file_columns("md5Checksum") + FILES.columns[-2:])

# The columns of the files of an uploaded folder, with the path of each file in the folder and the outcome.
TREE_FILES = Schema(
    (*FILES.columns[:1], Column("path", "str", "path"), *FILES.columns[1:], Column("outcome", "str", "outcome"))
)

# All columns of a file, with a column for each field of the table `FILE_FIELDS`.
FILE = Schema(FILES.columns + _file_columns(*(field.name for field in FILE_FIELDS if field.name not in FILES.keys)))


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

_DELIVERY = schema(
    "state text, channel_id text, resource_id text, due time, time time, error text, attempt count, status count, "
    "outcome text"
)
DELIVERIES = Schema((Column("number", "Int64", "message_number"), *_DELIVERY.columns))

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
    return tuple(computed.get(key) or Column(snake(key), _FIELD_DTYPES.get(_TYPES[key], "object"), key) for key in keys)


# The default columns of `events()`. Times are instants in the time zone of the DataFrame.
#
# A terminal of 80 columns shows the first columns and the last ones, which are therefore narrow.
EVENTS = Schema(
    _columns("summary", "start", "end", "location", "attendees", "recurrence", "time_zone", "end_time_zone")
    + _columns("htmlLink", "id", "all_day", "status")
)

_OTHERS = [key for key in _TYPES if key not in EVENTS.keys]
_OTHERS.insert(_OTHERS.index("originalStartTime") + 1, "original_start_time_zone")

# All columns of an event, with a column for each top-level field of `EVENT_FIELDS`.
EVENT = Schema(EVENTS.columns[:-2] + _columns(*_OTHERS) + EVENTS.columns[-2:])

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
