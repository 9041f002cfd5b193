"""Prepares the files of a download with their paths on disk, and saves one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...batch.batch import Batch, batch_schema
from ...batch.counts import Counts
from ...batch.progress import session_progress, showing
from ...batch.row_call import ROW_ERRORS, Report
from ...batch.workers import row_outcomes
from ...frames.frames import frame

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.ranges import ByteRange
    from ....core.resources.files import File
    from ....local.paths import DistinctPaths
    from ....local.saving import SavedFile
    from ...frames.frames import Record, Schema

GOING_ON = "run the cell again to go on"
"""How to go on after an interrupt, because a file that is complete is not saved again."""

Metadata: TypeAlias = "tuple[File, Exception | None]"
"""The metadata of a file, or only its id and the error of the request."""


class DownloadRow(NamedTuple):
    """A file of a download, which is saved at `path`.

    `export` is the media type of an export, and None to save the content. Without a path nothing is saved, because the
    file has an `error`, or because it has no content, as `skipped` says. `label` names the file in error messages.
    """

    file: File
    label: str
    path: Path | None = None
    export: str | None = None
    error: Exception | None = None
    skipped: str = ""


def request_metadata(
    session: Session, ids: Sequence[str], known: Mapping[str, File], fields: str, batch: Batch, schema: Schema
) -> Iterator[Metadata]:
    """Return an iterator over the metadata of the files, which are requested for those that are not in `known`.

    Raises an error that concerns all files. Its attribute `result` is an empty frame with the columns of `schema`.
    """
    missing = [file_id for file_id in ids if file_id not in known]
    results: dict[str, Metadata] = {file_id: (file, None) for file_id, file in known.items()}
    shown = None if len(missing) > 1 and batch.progress is not False else False
    progress = session_progress(session, Counts(len(missing), "files"), "Read metadata", shown)
    outcomes = row_outcomes(
        partial(_request, fields=fields),
        session,
        range(len(missing)),
        missing.__getitem__,
        progress.reports,
        progress.draw,
        workers=batch.workers,
        executor=batch.executor,
    )
    with showing(progress), closing(outcomes):
        for n, (record, error, *_) in outcomes:
            progress.end(n, failed=error is not None)
            if error is not None and not isinstance(error, ROW_ERRORS):
                vars(error)["result"] = frame(batch_schema(schema), [])
                raise error
            results[missing[n]] = ({"id": missing[n], **(record or {})}, error)  # type: ignore[typeddict-item]
    return map(results.__getitem__, ids)


def _request(session: Session, file_id: str, report: Report, fields: str) -> Record:
    from ....client.files import get_file

    return get_file(session, file_id, fields=fields)


@dataclass(slots=True)
class DownloadRows:
    """Gives each file of a download, and each file in its folders, a path below `target`.

    `new_folder` is True if `target` is a folder to create.
    """

    session: Session
    target: Path
    new_folder: bool
    paths: DistinctPaths
    byte_range: ByteRange | None = None
    folders: dict[Path, OSError | None] = field(default_factory=dict)
    """The folders on disk that are created if necessary, each with the error if it cannot be created."""
    in_folder: bool | None = None
    """True if files get their names in the folder `target`, and None before the first file."""

    def rows(self, files: Iterable[Metadata]) -> Iterator[DownloadRow]:
        """Yield the rows in the order of the files, and those in a folder in the order of their paths."""
        for n, (file, error) in enumerate(files):
            if error is None and file.get("mimeType") == self.session.names.native("folder"):
                yield from self._folder_rows(file)
            elif error is None:
                yield self.file_row(file, n, str(file.get("name") or file["id"]))
            else:
                yield DownloadRow(file, f"row {n}", error=error)

    def file_row(self, file: File, n: int, name: str, export: str | None = None) -> DownloadRow:
        """Return the row number `n` for a file, which gets `name` in the folder `target`, or the path `target`."""
        from ....client.downloads.downloads import check_destination, safe_name

        if self.in_folder is None:
            try:
                self.in_folder = self.new_folder or check_destination(self.target).is_dir()
            except OSError as error:
                return DownloadRow(file, f"row {n}", error=error)
        path = self.target / safe_name(name) if self.in_folder else self.target
        return self._row(file, f"row {n}", self.paths.claim(path), export)

    def _folder_rows(self, folder: File) -> Iterator[DownloadRow]:
        from ....client.downloads.tree_download import list_remote_tree

        if self.byte_range is not None:
            raise ValueError(f"byte_range is for files, and {folder.get('name')!r} is a folder")
        tree = list_remote_tree(self.session, folder, self.target, self.paths)
        for path in tree.folders:
            if error := self._folder_error(path):
                yield DownloadRow(folder, str(path), error=error)
        for file in tree.files:
            if file.skipped:
                yield DownloadRow(file.metadata, str(file.path), skipped=f"{file.path} ({file.skipped})")
            else:
                yield self._row(
                    file.metadata, str(file.path), file.path, None if file.export is None else file.export.media_type
                )

    def _row(self, file: File, label: str, path: Path, export: str | None = None) -> DownloadRow:
        if error := self._folder_error(path.parent):
            return DownloadRow(file, label, error=error)
        return DownloadRow(file, label, path, export)

    def _folder_error(self, folder: Path) -> OSError | None:
        """Create a folder if necessary. Returns the error if it cannot be created."""
        from ....local.saving import make_folder

        if folder not in self.folders:
            self.folders[folder] = None
            try:
                make_folder(folder)
            except OSError as error:
                self.folders[folder] = error
        return self.folders[folder]


def save_row(
    session: Session,
    row: DownloadRow,
    report: Report,
    byte_range: ByteRange | None = None,
    *,
    acknowledge_abuse: bool = False,
    overwrite: bool = False,
) -> Record:
    """Save the file of a row and return its record. An error gets the metadata of the file as its attribute `file`."""
    from ....client.downloads.downloads import save_known
    from ....client.downloads.exports import save_export

    try:
        if row.error is not None:
            raise row.error
        if row.path is None:
            return {**known_of_row(row), "outcome": "skipped"}
        if row.export is not None:
            saved = save_export(session, row.file["id"], row.export, row.path, progress=report, overwrite=overwrite)
            return {**_record(row.file, saved), "mimeType": row.export}
        saved = save_known(
            session,
            row.file,
            row.path,
            byte_range=byte_range,
            acknowledge_abuse=acknowledge_abuse,
            progress=report,
            overwrite=overwrite,
        )
    except ROW_ERRORS as error:
        vars(error)["file"] = row.file
        raise
    return _record(row.file, saved)


def label_of_row(n: int, row: DownloadRow) -> str:
    """Return the name of a row in error messages."""
    return row.label


def known_of_row(row: DownloadRow) -> Record:
    """Return what is known of a file that was not saved."""
    return {**row.file, "size": None, "of": row.file.get("size")}


def _record(file: File, saved: SavedFile) -> Record:
    return {**file, "path": str(saved.path), "size": saved.size, "outcome": saved.outcome, "of": file.get("size")}
