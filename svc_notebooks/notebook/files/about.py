"""Lists the signed-in user, the access token, the quota, and the formats of a service as DataFrames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...client import files as client
from ...client.session import Session, SessionLike, session_or_current
from ...core.http.media_types import PDF, ImportFormat
from ..arguments import files_at
from ..frames import ABOUT, EXPORT_FORMATS, IMPORT_FORMATS, TOKEN_INFO, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.service_account import AccountToken
    from ..arguments import File

_INSTALL = 'not read here: pip install "svc-notebooks[ocr]"'


def about(*, session: SessionLike = None) -> DataFrame:
    """Return the signed-in user and their storage quota.

    Returns:
        One row: display_name, email_address (str), quota_limit (Int64, bytes; missing if there is no limit),
        quota_usage, quota_usage_trash (Int64, bytes), max_upload_size (Int64, the most bytes of one file).

    Raises:
        NotSignedIn: The session has no valid token.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"12345")
    >>> svc.about()[["email_address", "quota_usage"]].values.tolist()
    [['ada@svc.example', 5]]
    """

    resource = client.get_about(session_or_current(session), "user,storageQuota,maxUploadSize")
    user, quota = resource.get("user") or {}, resource.get("storageQuota") or {}
    quota_columns = {
        "quota_limit": quota.get("limit"),
        "quota_usage": quota.get("usage"),
        "quota_usage_trash": quota.get("usageInStorageTrash"),
    }
    return frame(ABOUT, [{**user, **quota_columns, "maxUploadSize": resource.get("maxUploadSize")}])


def import_formats(*, session: SessionLike = None) -> DataFrame:
    """List the file formats that the service can convert to native documents.

    Only the first call in a session sends a request.

    Returns:
        One row for each format and native type: native (str, the value for `convert_to` of `upload`), title (str),
        extensions (str, separated by commas; missing if the format has no extension), media_type (str, the first media
        type if the format has several), max_size (Int64, the most bytes of a source; missing if there is no limit),
        note (str, says if text in pictures and scanned pages is read; missing for other formats, and if the service
        is not in this process), native_type (str, the media type of the native document).

    See tests/rules.csv (A5-05).

    >>> lab = svc.sandbox()
    >>> formats = svc.import_formats()
    >>> formats[formats["title"] == "CSV"][["native", "media_type", "max_size"]].values.tolist()[0]
    ['spreadsheet', 'text/csv', 104857600]
    """
    session = session_or_current(session)
    sizes, ocr_available = client.capabilities_of(session).max_sizes, None
    if session.in_process:  # another service does not say whether it reads text in pictures
        from ...convert.engines import available

        ocr_available = available.ocr_available()
    rows = [
        {
            "native": client.native_name(session.names, native_type),
            "title": row.title if row else media_type,
            "extensions": ", ".join(row.extensions) if row and row.extensions else None,
            "media_type": media_type,
            "max_size": sizes.get(native_type),
            "note": _note(row, ocr_available),
            "native_type": native_type,
        }
        for native_type, media_type, row in client.import_formats(session)
    ]
    return frame(IMPORT_FORMATS, rows)


def _note(row: ImportFormat | None, ocr_available: bool | None) -> str | None:
    """Return the note that says whether text in a PDF or picture is read (A5-03). Return None for any other format."""
    if row is None or ocr_available is None or row.native != "document":
        return None
    if PDF in row.media_types:
        return f"its text; that of scanned pages is {'read' if ocr_available else _INSTALL}"
    if any(media_type.startswith("image/") for media_type in row.media_types):
        return f"text in pictures is {'read' if ocr_available else _INSTALL}"
    return None


def export_formats(file: File | None = None, *, session: SessionLike = None) -> DataFrame:
    """List the formats to which native documents can be exported.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            None lists the formats of every native type.

    Returns:
        One row for each native type and format: native (str, the short name of the native type, like "document"),
        title, extension, media_type (str; `export` accepts each of these three as `format`), native_type (str, the
        media type of the native document). A file that is not a native document has no rows.

    Raises:
        NotFound: The file does not exist, or this user may not see it.

    See tests/rules.csv (A7-04).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> svc.export_formats(table)["extension"].tolist()
    ['xlsx', 'ods', 'pdf', 'csv', 'tsv', 'zip']
    """
    session = session_or_current(session)
    if file is None:
        native_types = list(client.capabilities_of(session).exports)
    else:
        files = [client.get_file(session, file_id, fields="mimeType") for file_id in files_at(session, file)]
        native_types = list(dict.fromkeys(str(resource.get("mimeType")) for resource in files))
    rows = [
        {**asdict(row), "native_type": native_type}
        for native_type in native_types
        for row in client.export_formats(session, native_type)
    ]
    return frame(EXPORT_FORMATS, rows)


# -- the access token of a session, and access tokens for service accounts


def token_info(*, session: SessionLike = None) -> DataFrame:
    """Return the user, client, scopes and expiry time of the session's access token.

    The service's /tokeninfo endpoint supplies them. The result does not contain the token.

    Returns:
        One row: email (str), client (str, the OAuth client to which the token was issued), scopes (object: a list with
        the last path segment of each scope URI), expires (datetime64[ms, UTC], missing if the token never expires).

    Raises:
        NotSignedIn: The token is not valid, or has expired.

    See tests/rules.csv (T).

    >>> lab = svc.sandbox()
    >>> svc.token_info()["email"].tolist()
    ['ada@svc.example']
    """
    from ...client import service_account

    info = service_account.token_info(session_or_current(session))
    expires = info.get("exp")
    row = {
        "email": info.get("email"),
        "client": info.get("azp"),
        "scopes": [scope.rpartition("/")[2] for scope in str(info.get("scope") or "").split()],
        "expires": datetime.fromtimestamp(expires, UTC) if isinstance(expires, int | float) else None,
    }
    return frame(TOKEN_INFO, [row])


def service_account_token(
    key: Mapping[str, Any] | str | os.PathLike[str],
    scopes: Iterable[str],
    *,
    subject: str | None = None,
    verify: bool | str | Path | None = None,
) -> AccountToken:
    """Create a function that obtains access tokens for a service account, for `connect(base_url, token=...)`.

    The session calls the function when it needs the first token, and again when a token has expired.

    Args:
        key: The path of the key file, or its content as a dict.
        scopes: The requested scopes, as full URIs.
        subject: The user for whom the account acts. The account needs domain-wide delegation for this. None means
            the account itself.
        verify: The certificate check for the token endpoint: True, False or a file of certificates. None uses the
            environment's certificates.

    Returns:
        An AccountToken, a function without arguments that returns an access token (str).

    Raises:
        OSError: The key file cannot be read.
        TypeError, ValueError: The key is not valid. The message does not show the key.
        ImportError: PyJWT or cryptography is missing (`pip install 'svc-notebooks[identity]'`).

    See tests/rules.csv (T).

    >>> lab = svc.sandbox(clock="system")
    >>> url = lab.serve().base_url
    >>> key = lab.service_account("robot").key
    >>> session = svc.connect(url, svc.service_account_token(key, ["https://svc.example/auth/storage"]))
    >>> svc.token_info()["email"].tolist()
    ['robot@notebooks.iam.svc.example']
    """
    from ...client.service_account import AccountToken, account_key

    if isinstance(scopes, str):
        raise TypeError("scopes must be a list of full URIs, not a str")
    account = account_key(Path(key) if isinstance(key, os.PathLike) else key)
    endpoint = urlsplit(account["token_uri"])
    session = Session(f"{endpoint.scheme}://{endpoint.netloc}", verify=verify)
    return AccountToken(account, scopes, subject=subject, session=session)
