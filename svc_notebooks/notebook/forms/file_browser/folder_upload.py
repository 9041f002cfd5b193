"""Uploads files from the person's computer to a folder, and finds existing files with the same names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ....core.files.query import quote
from ....local.paths import numbered_paths
from ...files.files import update, upload
from ...widgets.background_task import Report
from ...widgets.dialogs.replace_question import size_with_bytes
from ...widgets.upload_buffer import ChosenFile
from .details import minute_text

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File

_NAMES_PER_REQUEST = 20


@dataclass(frozen=True, slots=True)
class FolderUpload:
    """A file to upload to a folder. If `file_id` is set, the content of that file is replaced instead."""

    chosen: ChosenFile
    folder_id: str
    name: str
    file_id: str = ""

    def send(self, session: Session, report: Report) -> str:
        """Upload the file and return its id."""
        source, media_type = self.chosen.source, self.chosen.media_type(converted=False)
        if self.file_id:
            rows = update(self.file_id, source, mime_type=media_type, progress=report, session=session)
        else:
            parent, name = self.folder_id, self.name
            rows = upload(source, name=name, parent=parent, mime_type=media_type, progress=report, session=session)
        return str(rows["id"].item())


@dataclass(frozen=True, slots=True)
class FolderConflict:
    """A file to upload whose name another file of the folder has. Implements NameConflict."""

    upload: FolderUpload
    existing: File
    folder_name: str
    alternative_path: Path

    @property
    def path(self) -> Path:
        return Path(self.upload.name)

    @property
    def lines(self) -> tuple[tuple[str, object, object], ...]:
        old, new = self.existing, self.upload.chosen
        size = len(new.source) if isinstance(new.source, bytes) else new.source.stat().st_size
        return (
            ("Name", old.get("name"), new.name),
            ("Size", size_with_bytes(int(old.get("size") or 0)), size_with_bytes(size)),
            ("Modified", f"{minute_text(old.get('modifiedTime'))} UTC", ""),
            ("Type", old.get("mimeType"), new.media_type(converted=False) or "unknown"),
        )

    @property
    def place(self) -> str:
        return f"Folder: {self.folder_name}"

    @property
    def replacement(self) -> FolderUpload:
        """The upload that replaces the content of the existing file."""
        return replace(self.upload, file_id=str(self.existing["id"]))

    @property
    def second(self) -> FolderUpload:
        """The upload under the alternative name, which keeps both files."""
        return replace(self.upload, name=self.alternative_path.name)


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The ids of the uploaded files, the conflicts, and the error that ended the uploads, if any."""

    ids: tuple[str, ...] = ()
    conflicts: tuple[FolderConflict, ...] = ()
    error: Exception | None = None


def upload_free_names(
    session: Session, folder: tuple[str, str], chosen: Sequence[ChosenFile], report: Report
) -> UploadResult:
    """Upload the files whose names no file of the folder has. Return the others as conflicts."""
    folder_id, folder_name = folder
    existing = files_by_name(session, folder_id, [file.name for file in chosen])
    requests = [FolderUpload(file, folder_id, file.name) for file in chosen]
    result = send_all(session, [request for request in requests if request.name not in existing], report)
    if result.error:
        return result
    conflicts = (
        FolderConflict(request, existing[request.name], folder_name, free_name(session, folder_id, request.name))
        for request in requests
        if request.name in existing
    )
    return replace(result, conflicts=tuple(conflicts))


def send_all(session: Session, uploads: Sequence[FolderUpload], report: Report) -> UploadResult:
    """Send uploads one after the other, until one of them fails or the person cancels."""
    ids: list[str] = []
    for request in uploads:
        try:
            report(0, None)
            ids.append(request.send(session, report))
        except Exception as error:
            return UploadResult(tuple(ids), error=error)
    return UploadResult(tuple(ids))


def files_by_name(session: Session, folder_id: str, names: Sequence[str]) -> dict[str, File]:
    """Return the files of a folder that have one of these names. Folders and native documents are left out.

    Of several files with the same name, the last modified is returned.
    """
    from ....client.files import list_files

    existing: dict[str, File] = {}
    for start in range(0, len(names), _NAMES_PER_REQUEST):
        terms = " or ".join(f"name = {quote(name)}" for name in names[start : start + _NAMES_PER_REQUEST])
        query = f"{quote(folder_id)} in parents and trashed = false and ({terms})"
        fields = "id,name,mimeType,size,modifiedTime"
        for file in list_files(session, q=query, order_by="modifiedTime desc", fields=fields):
            if file.get("size") is not None:
                existing.setdefault(str(file["name"]), file)
    return existing


def free_name(session: Session, folder_id: str, name: str) -> Path:
    """Return the first of the names `name (1).ext`, `name (2).ext` and so on that no file of the folder has."""
    candidates = numbered_paths(Path(name))
    while True:
        batch = list(islice(candidates, _NAMES_PER_REQUEST))
        existing = files_by_name(session, folder_id, [path.name for path in batch])
        for path in batch:
            if path.name not in existing:
                return path
