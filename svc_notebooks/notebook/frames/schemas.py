"""Declares the columns and dtypes of every DataFrame of the package (D-01).

A `Schema` is data; `frames.py` fills it. Column names are snake_case, wire names are camelCase, and
`snake` and `camel` are the only place where one becomes the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeAlias

from ...core.files.fields import BY_NAME, FILE_FIELDS

Dtype: TypeAlias = Literal["str", "Int64", "boolean", "Float64", "datetime64[ms, UTC]", "object"]

TIME: Dtype = "datetime64[ms, UTC]"

_DTYPES: dict[str, Dtype] = {
    "text": "str",
    "count": "Int64",
    "flag": "boolean",
    "seconds": "Float64",
    "time": TIME,
    "any": "object",
}


def snake(name: str) -> str:
    """The column of a wire name.

    >>> snake("mimeType"), snake("md5Checksum"), snake("id")
    ('mime_type', 'md5_checksum', 'id')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel(name: str) -> str:
    """The wire name of a column or of a Python argument.

    >>> camel("mime_type"), camel("mimeType")
    ('mimeType', 'mimeType')
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its dtype, and the key that a record has it under."""

    name: str
    dtype: Dtype
    key: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one kind of frame, in order."""

    columns: tuple[Column, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that a record of this schema has."""
        return tuple(column.key for column in self.columns)

    @property
    def dtypes(self) -> dict[str, str]:
        """What `frame.dtypes` says of every frame of this schema."""
        return {column.name: column.dtype for column in self.columns}

    def pick(self, keys: Iterable[str]) -> Schema:
        """The same columns, only these and in this order."""
        named = {column.key: column for column in self.columns}
        return Schema(tuple(named[key] for key in keys))


def schema(table: str) -> Schema:
    """A schema from lines of a key and a kind of column."""
    rows = [line.split() for line in table.strip().splitlines()]
    return Schema(tuple(Column(snake(key), _DTYPES[dtype_name], key) for key, dtype_name in rows))


_FIRST = (
    "id",
    "name",
    "mimeType",
    "size",
    "createdTime",
    "modifiedTime",
    "trashed",
    "starred",
    "parents",
    "webViewLink",
)
_INT64 = frozenset({"size", "version", "quotaBytesUsed", "thumbnailVersion"})  # strings on the wire
_FIELD_DTYPES: dict[str, Dtype] = {
    "string": "str",
    "media": "str",
    "colour": "str",
    "boolean": "boolean",
    "time": TIME,
}


def _file_column(key: str) -> Column:
    dtype = "Int64" if key in _INT64 else _FIELD_DTYPES.get(BY_NAME[key].type, "object")
    return Column(snake(key), dtype, key)


FILES = Schema(tuple(_file_column(key) for key in _FIRST))
"""What is shown of a file unless `fields` asks for something else; sizes in bytes.

Checksums are not among them: the service computes them when they are first asked for.
"""

FILE = Schema(FILES.columns + tuple(_file_column(field.name) for field in FILE_FIELDS if field.name not in _FIRST))
"""All that the service tells of a file: one column for each row of the field table."""


def file_schema(fields: str | Iterable[str] | None) -> Schema:
    """The columns for a `fields` argument: None, "*", or names in either spelling.

    >>> file_schema("id,md5Checksum").keys, file_schema(["mime_type"]).keys, len(file_schema("*").keys)
    (('id', 'md5Checksum'), ('mimeType',), 65)
    """
    if fields is None:
        return FILES
    if fields == "*":
        return FILE
    names = fields.split(",") if isinstance(fields, str) else list(fields)
    return FILE.pick([_file_key(name) for name in names])


def _file_key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f'fields must be "*", names with commas or a list of names, not {name!r}')
    key = camel(name.strip())
    if key not in FILE.keys:
        near = get_close_matches(key, FILE.keys, n=1)
        hint = f"; did you mean {snake(near[0])!r}?" if near else ""
        raise ValueError(f"fields names {name!r}, which no file has{hint}")
    return key


IDS = schema("id text")

DELETED = schema(
    """
    id       text
    deleted  flag
    """
)

DOWNLOADS = schema(
    """
    id        text
    name      text
    path      text
    size      count
    of        count
    mimeType  text
    outcome   text
    """
)

EXPORTED = schema(
    """
    id        text
    name      text
    path      text
    size      count
    mimeType  text
    outcome   text
    """
)

ABOUT = schema(
    """
    displayName        text
    emailAddress       text
    quota_limit        count
    quota_usage        count
    quota_usage_trash  count
    maxUploadSize      count
    """
)

IMPORT_FORMATS = schema(
    """
    native       text
    title        text
    extensions   text
    media_type   text
    max_size     count
    note         text
    native_type  text
    """
)

EXPORT_FORMATS = schema(
    """
    native       text
    title        text
    extension    text
    media_type   text
    native_type  text
    """
)

PENDING = schema(
    """
    name         text
    total        count
    chunk_size   count
    media_type   text
    started      time
    session_uri  text
    source       text
    """
)

HISTORY = schema(
    """
    n       count
    action  text
    first   count
    last    count
    total   count
    status  count
    stored  count
    waited  seconds
    state   text
    error   text
    """
)

EXCHANGES = schema(
    """
    n              count
    time           time
    method         text
    path           text
    status         count
    sent           count
    received       count
    content_range  text
    range          text
    error          text
    query          text
    """
)

JOURNAL = schema(
    """
    n              count
    time           time
    operation      text
    method         text
    path           text
    query          text
    user           text
    client         text
    scopes         any
    declared       count
    received       count
    status         count
    sent           count
    offset_before  count
    offset_after   count
    fault          text
    decided_by     text
    """
)

CHANNELS = schema(
    """
    id            text
    watching      text
    state         text
    opened        time
    expiration    time
    resource_id   text
    resource_uri  text
    address       text
    token         text
    kind          text
    """
)

STOPPED = schema(
    """
    id       text
    stopped  flag
    """
)

MESSAGES = schema(
    """
    received        time
    channel_id      text
    number          count
    state           text
    changed         text
    verified        flag
    tries           count
    answers         text
    resource_id     text
    resource_uri    text
    expiration      time
    token           text
    content_type    text
    content_length  count
    kind            text
    """
)

EXPLAINED = schema(
    """
    header   text
    value    text
    meaning  text
    """
)

NOTIFICATIONS = schema(
    """
    received        time
    channel_id      text
    watching        text
    number          count
    state           text
    changed         text
    verified        flag
    tries           count
    answers         text
    outcome         text
    waited          seconds
    content_type    text
    content_length  count
    """
)

DELIVERIES = schema(
    """
    channel_id      text
    resource_id     text
    message_number  count
    state           text
    attempt         count
    due             time
    time            time
    status          count
    outcome         text
    error           text
    """
)

CHANGES = schema(
    """
    time      time
    fileId    text
    name      text
    mimeType  text
    removed   flag
    trashed   flag
    """
)

PERMISSIONS = schema(
    """
    file_id       text
    id            text
    type          text
    role          text
    emailAddress  text
    domain        text
    """
)

DOCTOR = schema(
    """
    check   text
    found   text
    status  text
    fix     text
    """
)
