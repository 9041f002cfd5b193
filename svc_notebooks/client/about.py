"""Requests for the about resource, with a service's import and export formats (A5-05, A7-04)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from mimetypes import MimeTypes
from typing import Any
from weakref import WeakKeyDictionary

from ..core.brand_names import Names
from ..core.errors.errors import ServiceFailed
from ..core.http.media_types import EXPORTS, IMPORTS, NATIVES, ExportFormat, ImportFormat
from ..core.http.messages import JSON
from ..core.resources.files import About
from .json_response import read_resource
from .session import Session


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The import formats (source media type to native types), export formats and maximum import sizes in bytes."""

    imports: Mapping[str, tuple[str, ...]]
    exports: Mapping[str, tuple[ExportFormat, ...]]
    max_sizes: Mapping[str, int]


def get_about(session: Session, fields: str) -> About:
    """Return the about resource with the fields in the mask `fields`, such as "user,storageQuota"."""
    answer = session.fetch("GET", session.names.path("about"), query={"fields": fields})
    return read_resource(answer, About, session.base_url, fields)


_known: WeakKeyDictionary[Session, Capabilities] = WeakKeyDictionary()


def capabilities_of(session: Session) -> Capabilities:
    """Return a service's import and export formats, cached per session. Raises ServiceFailed if not listed."""
    if session not in _known:
        about: Any = get_about(session, "importFormats,exportFormats,maxImportSizes")
        exports = _read_lists("exportFormats", about.get("exportFormats"))
        sizes = about.get("maxImportSizes")
        _known[session] = Capabilities(
            imports=_read_lists("importFormats", _by_source(about.get("importFormats"))),
            exports={
                native_type: tuple(_export_format(session.names, native_type, media_type) for media_type in media_types)
                for native_type, media_types in exports.items()
            },
            # Ignore a size that is not a number.
            max_sizes={
                native_type: int(str(size))
                for native_type, size in (sizes.items() if isinstance(sizes, dict) else ())
                if str(size).isdecimal() and len(str(size)) <= 18
            },
        )
    return _known[session]


def _by_source(formats: JSON) -> JSON:
    """Convert a list of import formats to a dict from source to target types, or to None if an entry is incomplete.

    Returns other JSON, such as a dict, unchanged.

    >>> _by_source([{"source": "text/csv", "targets": ["x/sheet"]}, {"source": "text/csv", "targets": "x/doc"}])
    {'text/csv': ['x/sheet', 'x/doc']}
    """
    if not isinstance(formats, list):
        return formats
    targets: dict[str, JSON] = {}
    for row in formats:
        if not (isinstance(row, dict) and "source" in row and "targets" in row):
            return None
        source = str(row["source"])
        targets[source] = [*_as_list(targets.get(source, [])), *_as_list(row["targets"])]
    return targets


def _read_lists(field: str, lists: JSON) -> dict[str, tuple[str, ...]]:
    if not isinstance(lists, dict):
        raise ServiceFailed(f"The service returned no object in the field {field}.", location=field)
    return {key: tuple(map(str, _as_list(values))) for key, values in lists.items()}


def _as_list(values: JSON) -> Iterable[JSON]:
    return values if isinstance(values, list) else [values]


def native_name(names: Names, native_type: str) -> str:
    """Return the short name of a native type, as in core/http/media_types.py.

    >>> native_name(Names(), "application/vnd.svc-apps.document")
    'document'
    """
    return native_type.removeprefix(names.media_prefix)


def export_formats(session: Session, native_type: str) -> list[ExportFormat]:
    """Return the service's export formats for a native type, or an empty list for an unknown type."""
    return list(capabilities_of(session).exports.get(native_type, ()))


def _export_format(names: Names, native_type: str, media_type: str) -> ExportFormat:
    native = native_name(names, native_type)
    for row in EXPORTS:
        if row.native == native and names.media_type(row.media_type) == media_type:
            return replace(row, media_type=media_type)
    # Formats outside of the interface get the extension from Python's own table, equal on every machine.
    extension = MimeTypes(filenames=()).guess_extension(media_type) or ".bin"
    return ExportFormat(native, media_type, extension.removeprefix("."), media_type)


def import_formats(session: Session) -> list[tuple[str, str, ImportFormat | None]]:
    """Return a service's import formats as tuples (native type, media type, table row), sorted by native type.

    The table row is None if `IMPORTS` does not list the format. A format is listed once, with the service's first media
    type.
    """
    names = session.names
    formats: dict[tuple[str, str], tuple[str, str, ImportFormat | None]] = {}
    for media_type, native_types in capabilities_of(session).imports.items():
        for native_type in native_types:
            rows = (row for row in IMPORTS if row.native == native_name(names, native_type))
            row = next((row for row in rows if media_type in map(names.media_type, row.media_types)), None)
            formats.setdefault((native_type, row.title if row else media_type), (native_type, media_type, row))
    order = {names.native(native): position for position, native in enumerate(NATIVES)}
    return sorted(formats.values(), key=lambda entry: order.get(entry[0], len(order)))
