"""Every DataFrame of the package, declared once: its columns, in order, and their dtypes (D-01).

A `Schema` is data; `frames.py` fills it. Column names are snake_case, wire names are camelCase, and
`snake` and `camel` are the only place where one becomes the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

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


def _schema(table: str, *, wire: bool = False) -> Schema:
    rows = [line.split() for line in table.strip().splitlines()]
    return Schema(tuple(Column(snake(key) if wire else key, _DTYPES[kind], key) for key, kind in rows))


FILE = _schema(
    """
    id                           text
    name                         text
    mimeType                     text
    size                         count
    createdTime                  time
    modifiedTime                 time
    trashed                      flag
    starred                      flag
    parents                      any
    webViewLink                  text
    webContentLink               text
    viewersCanCopyContent        flag
    copyRequiresWriterPermission flag
    writersCanShare              flag
    description                  text
    version                      count
    md5Checksum                  text
    sha1Checksum                 text
    sha256Checksum               text
    originalFilename             text
    fileExtension                text
    fullFileExtension            text
    headRevisionId               text
    quotaBytesUsed               count
    viewedByMeTime               time
    modifiedByMeTime             time
    sharedWithMeTime             time
    trashedTime                  time
    explicitlyTrashed            flag
    ownedByMe                    flag
    shared                       flag
    folderColorRgb               text
    iconLink                     text
    thumbnailLink                text
    properties                   any
    appProperties                any
    owners                       any
    permissions                  any
    capabilities                 any
    lastModifyingUser            any
    kind                         text
    """,
    wire=True,
)
"""All that the service tells of a file, in the order in which people ask; sizes in bytes."""

FILES = FILE.pick(FILE.keys[:10])
"""What is shown of a file unless `fields` asks for something else.

Checksums are not among them: the service computes them when they are first asked for.
"""

IDS = _schema("id text")

DELETED = _schema(
    """
    id       text
    deleted  flag
    """
)

DOWNLOADS = _schema(
    """
    id         text
    name       text
    path       text
    first      count
    bytes      count
    verified   flag
    """
)

PENDING = _schema(
    """
    source       text
    name         text
    stored       count
    total        count
    started      time
    session_uri  text
    """
)

HISTORY = _schema(
    """
    n              count
    action         text
    content_range  text
    sent           count
    status         count
    range          text
    stored         count
    total          count
    state          text
    """
)

EXCHANGES = _schema(
    """
    n              count
    time           time
    method         text
    path           text
    query          text
    status         count
    sent           count
    received       count
    content_range  text
    range          text
    error          text
    """
)

JOURNAL = _schema(
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

DOCTOR = _schema(
    """
    check   text
    found   text
    status  text
    fix     text
    """
)
