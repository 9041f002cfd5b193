"""Files as DataFrames: upload, list, change, remove.

Wherever a file is meant, its id, a row, a whole DataFrame or a list of ids will do (D-02). Wrong arguments
raise TypeError or ValueError before anything is sent. In a call for several rows one that fails does not
lose the others: every row is tried, and the error that is raised at the end has the rows that worked as
its `result`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.wire import JSONObject
from .arguments import choice, file_ids, names_for, sources, whole
from .current import session_or_current
from .frames import frame
from .metadata import metadata_body
from .progress import Progress, check_progress
from .rows import for_each
from .schemas import DELETED, FILES, IDS, file_schema
from .transfers import UPLOAD_TYPES, Sending, send

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..client.session import Session
    from .arguments import File, Sources

_SHOWN = ",".join(FILES.keys)


def upload(
    source: Sources,
    *,
    name: str | Sequence[str] | None = None,
    mime_type: str | None = None,
    file_id: str | None = None,
    upload_type: str = "auto",
    chunk_size: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    progress: Progress = None,
    session: Session | None = None,
) -> DataFrame:
    """Upload one file or several, and show what the service made of them.

    Args:
        source: A path, bytes, a file opened with mode "rb", a DataFrame (sent as CSV), or a list of those.
        name: What to call it; a list of names for a list of sources. A path is called by its file name,
            anything else 'Untitled'.
        mime_type: Its media type; None takes it from the name or from the first bytes.
        file_id: An id from `generate_ids()`: repeating the call then makes no second file.
        upload_type: "media" (content only), "multipart" (content and metadata in one request),
            "resumable", or "auto": 5 MB or less go as media or multipart, more as resumable (A1-05).
        chunk_size: Bytes for each request of a resumable upload, a multiple of 262144; None chooses.
        metadata: Further fields, like `{"starred": True, "properties": {"lab": "7"}}`.
        progress: None shows a bar for 8 MiB and more; True and False always and never; or a function of
            (bytes done, bytes in all).

    Returns:
        One row for each source: id, name, mime_type (str), size (Int64, bytes), created_time,
        modified_time (datetime64[ms, UTC]), trashed, starred (boolean), parents (object, list of ids),
        web_view_link (str).

    Raises:
        TypeError, ValueError: An argument cannot be meant; nothing was sent.
        AlreadyExists: The `file_id` is taken.
        Interrupted: The connection broke for long; calling again with the same path goes on from there.

    Interface: A1 to A3.

    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b", name="table.csv")[["name", "mime_type", "size"]].values.tolist()
    [['table.csv', 'text/csv', 3]]
    """
    found = sources(source)
    if file_id is not None and len(found) != 1:
        raise ValueError(f"file_id is one id, and source has {len(found)} sources")
    body = metadata_body(metadata, creating=True)
    if file_id is not None:
        body["id"] = file_id
    sending = Sending(
        session_or_current(session), upload_type, chunk_size, mime_type, _SHOWN, progress
    )
    named = zip(found, names_for(len(found), name), strict=True)
    return for_each(FILES, named, lambda one: send(sending, one[0], one[1], body))
