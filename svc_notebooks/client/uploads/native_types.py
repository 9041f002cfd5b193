"""The type and the name of the native document to which an upload is converted (A5)."""

from __future__ import annotations

from ...core.http.multipart import MediaType
from ...core.http.native_formats import EXPORTS, IMPORTS, NATIVES, SCRIPT_TEXT
from ..about import capabilities_of, native_name
from ..session import Session

AUTO = "auto"
CONVERT_TO = (*NATIVES, AUTO)
"""The values of `convert_to`, in addition to the media types of native documents."""

_CODE = ("application/javascript", "application/x-javascript")
_EXTENSIONS = frozenset(
    {extension for row in IMPORTS for extension in row.extensions} | {row.extension for row in EXPORTS}
)


def native_type(session: Session, convert_to: object, source_type: str) -> str:
    """Return the media type of the native document to which `convert_to` converts a source.

    Raises TypeError unless `convert_to` is a str, ValueError for an unknown type, or for "auto" without a match.
    """
    if not isinstance(convert_to, str):
        raise TypeError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {type(convert_to).__name__}")
    if convert_to == AUTO:
        return _matching_native_type(session, source_type)
    native = session.names.full_media_type(convert_to, "convert_to")
    if is_document(session, native):
        return native
    raise ValueError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {convert_to!r}")


def is_document(session: Session, media_type: str) -> bool:
    """Return True for the media type of a native document, such as a spreadsheet, but not of a folder."""
    prefix = session.names.media_prefix
    return media_type.startswith(prefix) and media_type.removeprefix(prefix) in NATIVES


def _matching_native_type(session: Session, source_type: str) -> str:
    """Return the first native type to which a source can be converted. Raises ValueError without such a type."""
    essence = MediaType.parse(source_type).essence
    possible = capabilities_of(session).imports.get(essence, ())
    if not possible:
        raise ValueError(
            f"convert_to is 'auto', but {essence} cannot be converted here; import_formats() lists the types"
        )
    order = [session.names.native(native) for native in NATIVES]
    return min(possible, key=lambda native: order.index(native) if native in order else len(order))


def source_type(session: Session, native: str, detected: str) -> str:
    """Return the media type to send for a source of type `detected`. Script text has its own type (A5)."""
    is_code = detected.startswith("text/") or detected in _CODE
    if native_name(session.names, native) == "script" and is_code:
        return session.names.media_type(SCRIPT_TEXT)
    return detected


def document_name(name: str) -> str:
    """Return a file name without the extension of an import or export format. Other names are unchanged.

    >>> document_name("report.docx"), document_name("version 1.2"), document_name(".html")
    ('report', 'version 1.2', '.html')
    """
    stem, dot, extension = name.rpartition(".")
    return stem if dot and stem and extension.lower() in _EXTENSIONS else name
