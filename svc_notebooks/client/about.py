"""What a service can make of what: the about resource, and its format lists as rows with names (A5-05, A7-04)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from mimetypes import MimeTypes
from weakref import WeakKeyDictionary

from ..core.brand_names import Names
from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSON, JSONObject
from ..core.http.native_formats import EXPORTS, IMPORTS, NATIVES, ExportFormat, ImportFormat
from .session import Session

_LISTS = "importFormats,exportFormats,maxImportSizes"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The lists as they are on the wire, all by media type; sizes in bytes."""

    imports: Mapping[str, tuple[str, ...]]
    exports: Mapping[str, tuple[str, ...]]
    max_sizes: Mapping[str, int]


def get_about(session: Session, fields: str) -> JSONObject:
    """Some fields of the about resource."""
    return session.call("GET", session.names.path("about"), query={"fields": fields})


_known: WeakKeyDictionary[Session, Capabilities] = WeakKeyDictionary()


def capabilities_of(session: Session) -> Capabilities:
    """What this session's service offers; asked once, since it is what is installed there."""
    if session not in _known:
        about = get_about(session, _LISTS)
        _known[session] = Capabilities(
            _lists("importFormats", _by_source(about.get("importFormats"))),
            _lists("exportFormats", about.get("exportFormats")),
            _sizes(about.get("maxImportSizes")),
        )
    return _known[session]


def _by_source(formats: JSON) -> JSON:
    """An array of import formats as a map from the source type to its targets; a map stays as it is.

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
        targets[source] = [*_each(targets.get(source, [])), *_each(row["targets"])]
    return targets


def _lists(field: str, lists: JSON) -> dict[str, tuple[str, ...]]:
    if not isinstance(lists, dict):
        raise ServiceFailed(f"The service does not say which {field} it has.", location=field)
    return {key: tuple(map(str, _each(values))) for key, values in lists.items()}


def _sizes(limits: JSON) -> dict[str, int]:
    """The limits that are numbers; a type without one has none of its own."""
    sizes = limits if isinstance(limits, dict) else {}
    return {key: int(str(size)) for key, size in sizes.items() if str(size).isdecimal()}


def _each(values: JSON) -> Iterable[JSON]:
    return values if isinstance(values, list) else [values]


def native_name(names: Names, native_type: str) -> str:
    """The short word of a native type, as core/http/native_formats.py writes it.

    >>> native_name(Names(), "application/vnd.svc-apps.document")
    'document'
    """
    return native_type.removeprefix(names.media_prefix)


def export_formats(session: Session, native_type: str) -> list[ExportFormat]:
    """What a native document of this type can become here, with media types as they are on the wire."""
    return [
        _export(session.names, native_type, media_type)
        for media_type in capabilities_of(session).exports.get(native_type, ())
    ]


def _export(names: Names, native_type: str, media_type: str) -> ExportFormat:
    native = native_name(names, native_type)
    for row in EXPORTS:
        if row.native == native and names.media_type(row.media_type) == media_type:
            return replace(row, media_type=media_type)
    return ExportFormat(native, media_type, _extension(media_type), media_type)


def _extension(media_type: str) -> str:
    """Of a format that the interface does not name; by Python's tables, which are the same on every machine."""
    return (MimeTypes(filenames=()).guess_extension(media_type) or ".bin").removeprefix(".")


def import_formats(session: Session) -> list[tuple[str, str, ImportFormat | None]]:
    """Each native type with what can become it here: a media type, and the row of the table if it has one.

    A format that is known by several media types is listed once, with the first of them.
    """
    names = session.names
    formats: dict[tuple[str, object], tuple[str, str, ImportFormat | None]] = {}
    for media_type, natives in capabilities_of(session).imports.items():
        for native_type in natives:
            row = _import(names, native_type, media_type)
            formats.setdefault((native_type, row or media_type), (native_type, media_type, row))
    return sorted(formats.values(), key=lambda entry: _native_order(names, entry[0]))


def _import(names: Names, native_type: str, media_type: str) -> ImportFormat | None:
    native = native_name(names, native_type)
    rows = (row for row in IMPORTS if row.native == native)
    return next((row for row in rows if media_type in map(names.media_type, row.media_types)), None)


def _native_order(names: Names, native_type: str) -> int:
    native = native_name(names, native_type)
    return NATIVES.index(native) if native in NATIVES else len(NATIVES)
