"""Checks metadata arguments against the table of file fields, and converts the arguments to JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from ...core.brand_names import Names
from ...core.clock import format_time
from ...core.files.fields import FILE_FIELDS, type_problem
from ...core.http.messages import JSON
from ...core.resources.field import Field, Write
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ..arguments import file_ids, plain
from ..frames.frames import Schema, camel, snake
from ..frames.schemas import FILE, FILES

_WRITABLE = {
    True: {f.name: f for f in FILE_FIELDS if f.write is not Write.NEVER},
    False: {f.name: f for f in FILE_FIELDS if f.write is Write.ALWAYS},
}


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


def _entry(name: object, value: Any, writable: Mapping[str, Field], names: Names) -> tuple[str, JSON]:
    key = camel(str(name))
    if key in ("parent", "parents") and key not in writable:
        raise TypeError(f"{name} cannot be set here; move(file, to=folder) moves a file into a folder")
    if key not in writable and key in _WRITABLE[True]:
        raise TypeError(f"{name} can only be set when the file is created")
    if key not in writable:
        arguments = () if writable is _WRITABLE[True] else ("source",)
        near = nearest_name(str(name), [*map(snake, writable), *arguments])
        hint = f"; did you mean {near}?" if near else f"; the fields are {_list_fields(writable)}"
        raise TypeError(f"{name} is not a field that can be set here{hint}")
    wire_value = _wire_value(key, value, names)
    problem = None if wire_value is None else type_problem(writable[key], wire_value)
    if problem:
        raise ValueError(f"{name} is {value!r}: {problem.rstrip('.')}")
    return key, wire_value


def _list_fields(writable: Mapping[str, Field]) -> str:
    return ", ".join(snake(key) for key in writable)


def _wire_value(key: str, value: Any, names: Names) -> JSON:
    if isinstance(value, datetime):
        return format_time(value if value.tzinfo else value.astimezone())
    if key == "parents" and value is not None:
        return [*file_ids(value, key)]
    if key == "mimeType" and isinstance(value, str):
        return names.full_media_type(value)
    return plain(value)  # type: ignore[no-any-return]


def with_parent(metadata: Mapping[str, Any] | None, parent: object) -> Mapping[str, Any] | None:
    """Return metadata with the folder `parent` as `parents`, or unchanged if `parent` is None.

    Raises TypeError or ValueError if `parent` is not exactly one folder, or if the metadata have `parents` too.

    >>> with_parent({"starred": True}, {"id": "abc"})
    {'starred': True, 'parents': ['abc']}
    """
    if parent is None or not isinstance(metadata, Mapping | None):
        return metadata
    if metadata and "parents" in metadata:
        raise ValueError("parent and parents name the folder twice; leave one of them out")
    folders = file_ids(parent, "parent")
    if len(folders) != 1:
        raise ValueError(f"parent has {len(folders)} folders; a file can be in only one folder")
    return {**(metadata or {}), "parents": folders}


def files_schema_with(keys: Iterable[str]) -> Schema:
    """Return the default columns of a file, and a column for each other field in `keys`, such as fields that were set.

    >>> files_schema_with({"name": "a", "description": "b"}).keys[-2:]
    ('webViewLink', 'description')
    """
    others = [key for key in dict.fromkeys(keys) if key not in FILES.keys]
    return Schema(FILES.columns + FILE.pick(others).columns) if others else FILES
