"""Shows the about resource as frames: the user, the storage quota, import and export formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.http.native_formats import PDF
from ..arguments import file_ids
from ..current_session import session_or_current
from ..frames.frames import frame
from ..frames.schemas import ABOUT, EXPORT_FORMATS, IMPORT_FORMATS

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.http.native_formats import ImportFormat
    from ..arguments import File

_INSTALL = 'not read here: pip install "svc-notebooks[ocr]"'


def about(*, session: Session | None = None) -> DataFrame:
    """Who is signed in, and their storage quota.

    Returns:
        One row: display_name, email_address (str), quota_limit, quota_usage, quota_usage_trash (Int64, bytes;
        a missing limit is none), max_upload_size (Int64, bytes for one file).

    Raises:
        NotSignedIn: The session has no valid token.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"12345")
    >>> svc.about()[["email_address", "quota_usage"]].values.tolist()
    [['ada@svc.example', 5]]
    """
    from ...client.about import get_about

    resource = get_about(session_or_current(session), "user,storageQuota,maxUploadSize")
    user, quota = _object(resource.get("user")), _object(resource.get("storageQuota"))
    quota_columns = {
        "quota_limit": quota.get("limit"),
        "quota_usage": quota.get("usage"),
        "quota_usage_trash": quota.get("usageInStorageTrash"),
    }
    return frame(ABOUT, [{**user, **quota_columns, "maxUploadSize": resource.get("maxUploadSize")}])


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def import_formats(*, session: Session | None = None) -> DataFrame:
    """What can become a native document at this service, and which one.

    The service is asked once for each session.

    Returns:
        One row for each format: native (str, what `convert_to` takes), title, extensions (str, with commas;
        missing where there is none), media_type (str, the first where it has several), max_size (Int64, bytes
        of a source; missing: no limit of its own), note (str, whether text in pictures is read; missing where
        the service is elsewhere and cannot tell), native_type (str, the media type of the document).

    See docs/rules.md#a5-05 (A5-05).

    >>> lab = svc.sandbox()
    >>> formats = svc.import_formats()
    >>> formats[formats["title"] == "CSV"][["native", "media_type", "max_size"]].values.tolist()[0]
    ['spreadsheet', 'text/csv', 104857600]
    """
    from ...client.about import capabilities_of, import_formats, native_name

    session = session_or_current(session)
    sizes, ocr_available = capabilities_of(session).max_sizes, _ocr_available(session)
    rows = [
        {
            "native": native_name(session.names, native_type),
            "title": row.title if row else media_type,
            "extensions": ", ".join(row.extensions) if row and row.extensions else None,
            "media_type": media_type,
            "max_size": sizes.get(native_type),
            "note": _note(row, ocr_available),
            "native_type": native_type,
        }
        for native_type, media_type, row in import_formats(session)
    ]
    return frame(IMPORT_FORMATS, rows)


def _ocr_available(session: Session) -> bool | None:
    """Whether text in pictures is read: known of a service in this process, not of one elsewhere."""
    if not session.in_process:
        return None
    from ...convert.engines.available import ocr_available

    return ocr_available()


def _note(row: ImportFormat | None, ocr_available: bool | None) -> str | None:
    """What is said of pictures, and of paper that was scanned (A5-03)."""
    if row is None or ocr_available is None or row.native != "document":
        return None
    if PDF in row.media_types:
        return f"its text; that of scanned pages is {'read' if ocr_available else _INSTALL}"
    if any(media_type.startswith("image/") for media_type in row.media_types):
        return f"text in pictures is {'read' if ocr_available else _INSTALL}"
    return None


def export_formats(file: File | None = None, *, session: Session | None = None) -> DataFrame:
    """What native documents can become at this service, or what these files can.

    Args:
        file: An id, a row, a DataFrame or a list of ids; None lists the formats of every native type.

    Returns:
        One row for each format: native (str), title, extension (str; `export` takes either, or the media
        type), media_type (str), native_type (str). No row for files that are no native documents.

    Raises:
        NotFound: There is no such file, or not for this user.

    See docs/rules.md#a7-04 (A7-04).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> svc.export_formats(table)["extension"].tolist()
    ['xlsx', 'ods', 'pdf', 'csv', 'tsv', 'zip']
    """
    from ...client.about import capabilities_of, export_formats

    session = session_or_current(session)
    natives = capabilities_of(session).exports if file is None else _native_types(session, file)
    rows = [
        {
            "native": row.native,
            "title": row.title,
            "extension": row.extension,
            "media_type": row.media_type,
            "native_type": native_type,
        }
        for native_type in natives
        for row in export_formats(session, native_type)
    ]
    return frame(EXPORT_FORMATS, rows)


def _native_types(session: Session, file: File) -> list[str]:
    from ...client.files import get_file

    resources = [get_file(session, file_id, fields="mimeType") for file_id in file_ids(file)]
    return list(dict.fromkeys(str(resource.get("mimeType")) for resource in resources))
