"""Checks metadata arguments against the table of file fields, and converts the arguments to JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from inspect import signature
from typing import Any, NamedTuple, cast

from ...client.session import Session
from ...core.brand_names import Names
from ...core.errors.public_calls import unknown_argument
from ...core.files.fields import FILE_FIELDS, type_problem
from ...core.http.messages import JSON
from ...core.resources.field import Field, Write
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ...core.time_arguments import python_time
from ...core.times import format_time
from ..arguments import column_values, file_ids, is_missing, one_folder_id, plain
from ..frames import FILE, FILES, Schema, camel, snake

_WRITABLE = {
    True: {f.name: f for f in FILE_FIELDS if f.write is not Write.NEVER},
    False: {f.name: f for f in FILE_FIELDS if f.write is Write.ALWAYS},
}


# Arguments of the functions that take fields as keyword arguments, for hints.
_ARGUMENTS = ("workers", "executor", "errors", "resume", "progress", "session")


def metadata_body(metadata: Mapping[str, Any] | None, *, creating: bool, names: Names | None = None) -> File:
    """Convert metadata with Python names to the JSON object of a request. None gives an empty object.

    `creating` is True for a new file, because some fields can only be set then. `names` are the brand names that make
    the media type of a short name such as "folder". None means the default names. Raises TypeError for a field that
    does not exist or cannot be set, and ValueError for an invalid value.

    >>> metadata_body({"mime_type": "folder", "starred": True}, creating=True)
    {'mimeType': 'application/vnd.svc-apps.folder', 'starred': True}
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict of fields, not {type(metadata).__name__}")
    writable, brand = _WRITABLE[creating], names or Names()
    return cast(File, dict(_entry(name, value, writable, brand) for name, value in metadata.items()))


def check_fields(function: Callable[..., object], fields: Iterable[str]) -> None:
    """Raise TypeError for a keyword argument that is not a field of a new file, nor an argument of the function."""
    for name in fields:
        known = [*signature(function).parameters, *map(snake, _WRITABLE[True])]
        if name not in known:
            raise TypeError(unknown_argument(function.__name__, name, known))


class RowBodies(NamedTuple):
    """The JSON objects of the requests for several rows: the fields that all rows share, and the others of each row."""

    shared: File
    rows: list[File]

    @property
    def own_keys(self) -> set[str]:
        """The keys of the fields that have a value for each row."""
        return {key for row in self.rows for key in row}

    @property
    def keys(self) -> list[str]:
        """The keys of all fields."""
        return [*dict.fromkeys([*self.shared, *(key for row in self.rows for key in row)])]

    def body(self, n: int) -> File:
        """Return the JSON object of a row."""
        return cast(File, {**self.shared, **self.rows[n]})


def row_bodies(
    metadata: object, fields: Mapping[str, Any], count: int, *, creating: bool, names: Names, row: str = "file"
) -> RowBodies:
    """Convert metadata and fields with Python names to the JSON objects for `count` rows, as `metadata_body` does.

    The value of a field is a single value, or a list or column with a value for each row. A missing value in a column
    sets nothing. `metadata` is a dict of fields, a list with a dict for each row, or None.

    >>> bodies = row_bodies({"starred": True}, {"name": ["a", "b"]}, 2, creating=False, names=Names())
    >>> bodies.body(1)
    {'starred': True, 'name': 'b'}
    """
    each = column_values("metadata", metadata, count, row)
    own: list[dict[str, Any]] = [{**metadata_body(entry, creating=creating, names=names)} for entry in each or ()]
    own = own or [{} for _ in range(count)]
    if each is None and not isinstance(metadata, Mapping | None):
        raise TypeError(f"metadata must be a dict, a list of dicts or None, not {type(metadata).__name__}")
    shared: dict[str, Any] = {}
    for name, value in {**(cast("Mapping[str, Any]", metadata or {}) if each is None else {}), **fields}.items():
        values = _column(name, value, count, row)
        if values is None:
            shared[name] = value
            continue
        for n, member in enumerate(values):
            if not is_missing(member):
                key, own[n][key] = _entry(name, member, _WRITABLE[creating], names, f"{name} of {row} {n}")
    return RowBodies(metadata_body(shared, creating=creating, names=names), cast("list[File]", own))


def _column(name: str, value: Any, count: int, row: str) -> list[Any] | None:
    """Return the values of the rows, or None for a single value, which is a list for the fields that have lists."""
    has_list = camel(name) in ("parents", "contentRestrictions")
    if has_list and not (isinstance(value, list | tuple) and all(isinstance(entry, list | tuple) for entry in value)):
        return None
    return column_values(name, value, count, row)


def _entry(name: object, value: Any, writable: Mapping[str, Field], names: Names, row: str = "") -> tuple[str, JSON]:
    key = camel(str(name))
    if key in ("directory", "folder", "parent", "parents") and not writable.keys() & {"parents"}:
        raise TypeError(f"{name} cannot be set here; move(file, to=folder) moves a file into a folder")
    if key not in writable and key in _WRITABLE[True]:
        raise TypeError(f"{name} can only be set when the file is created")
    if key not in writable:
        arguments = ("folder" if writable is _WRITABLE[True] else "source", *_ARGUMENTS)
        near = nearest_name(str(name), [*map(snake, writable), *arguments])
        hint = f"; did you mean {near}?" if near else f"; the fields are {', '.join(map(snake, writable))}"
        raise TypeError(f"{name} is not a field that can be set here{hint}")
    wire_value = _wire_value(key, value, names)
    problem = None if wire_value is None else type_problem(writable[key], wire_value)
    if problem:
        shown = f"{row} is of type {type(value).__name__}" if row else f"{name} is {value!r:.200}"
        if key in ("properties", "appProperties") and isinstance(value, Mapping):
            problem = f"the values must be texts: { ({str(k): str(v) for k, v in value.items()})!r:.200}"
        raise ValueError(f"{shown}: {problem.rstrip('.')}")
    return key, wire_value


def _wire_value(key: str, value: Any, names: Names) -> JSON:
    if key.endswith("Time") and isinstance(value, date | str):
        with suppress(ValueError):
            moment = python_time(key, value)
            if not isinstance(moment, datetime):
                return f"{moment}T00:00:00Z"
            moment = datetime.combine(moment.date(), moment.timetz())  # also of a Timestamp
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC) if isinstance(value, str) else moment.astimezone()
            return format_time(moment)
    if key == "parents" and value is not None:
        return [*file_ids(value, key)]
    if key == "mimeType" and isinstance(value, str):
        return names.full_media_type(value)
    return plain(value)  # type: ignore[no-any-return]


def with_parent(session: Session, metadata: Any, parent: object, folder: object = None) -> Any:
    """Return metadata with the folder `parent` as `parents`, or unchanged if there is no folder.

    `folder` is the same. `metadata` may be a list with a dict for each file. Raises TypeError or ValueError if there is
    not exactly one folder, or if the metadata have `parents` too.
    """
    if folder is not None and parent is not None:
        raise ValueError("folder and parent name the folder twice; leave one of them out")
    argument, parent = ("folder", folder) if parent is None else ("parent", parent)
    if parent is None:
        return metadata
    is_list = isinstance(metadata, list | tuple)
    if not is_list and not isinstance(metadata, Mapping | None):
        return metadata
    if any(isinstance(each, Mapping) and "parents" in each for each in (metadata if is_list else [metadata])):
        raise ValueError(f"{argument} and parents name the folder twice; leave one of them out")
    folders = [one_folder_id(session, parent, argument)]
    if is_list:
        return [{**entry, "parents": folders} if isinstance(entry, Mapping) else entry for entry in metadata]
    return {**(metadata or {}), "parents": folders}


def files_schema_with(keys: Iterable[str], columns: Schema = FILES) -> Schema:
    """Return the default columns of a file, and a column for each other field in `keys`, such as fields that were set.

    >>> files_schema_with({"name": "a", "description": "b"}).keys[-2:]
    ('trashed', 'description')
    """
    others = [key for key in dict.fromkeys(keys) if key not in FILES.keys]
    return Schema(columns.columns + FILE.pick(others).columns) if others else columns
