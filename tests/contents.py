"""Reads and saves the content of a file of which only the id is known, with the downloads of the client."""

import os
from pathlib import Path
from typing import Any

from svc_notebooks.client.downloads.downloads import FACTS, Download, RangeGiven, as_range
from svc_notebooks.client.files import get_file
from svc_notebooks.client.session import Session
from svc_notebooks.core.resources.files import File
from svc_notebooks.local.saving import SavedFile


def read_content(
    session: Session, file_id: str, *, size: int | None = None, byte_range: RangeGiven = None, **options: Any
) -> bytes:
    file: File = get_file(session, file_id, fields="size") if size is None else {"size": str(size)}
    return Download(session, {**file, "id": file_id}, as_range(byte_range), **options).read()


def save_content(
    session: Session,
    file_id: str,
    to: str | os.PathLike[str],
    *,
    byte_range: RangeGiven = None,
    overwrite: bool = False,
    **options: Any,
) -> SavedFile:
    facts = get_file(session, file_id, fields=FACTS)
    target = Path(to) / str(facts.get("name")) if Path(to).is_dir() else Path(to)
    return Download(session, {**facts, "id": file_id}, as_range(byte_range), **options).save(
        target, overwrite=overwrite
    )
