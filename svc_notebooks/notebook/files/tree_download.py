"""Saves files and folders of the service on disk, for `download`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ...core.errors.caller_warning import warn_caller
from ..batch import ROW_ERRORS
from .interrupts import explaining_download
from .progress import Progress, Report, reporting

if TYPE_CHECKING:
    from ...client.downloads.tree_download import RemoteFile
    from ...client.session import Session
    from ...core.http.ranges import ByteRange
    from ...core.resources.files import File
    from ...local.paths import DistinctPaths
    from ...local.saving import SavedFile
    from ..frames.frames import Record

_BAR_MIN_FILES = 50
"""The number of files from which the download of a folder gets a progress bar by default, however small they are."""

_MAX_NAMED = 5


class SaveStep(NamedTuple):
    """One file of a download, whose `save` saves the file and returns its row. `label` names the file in errors."""

    file: File
    label: str
    save: Callable[[], Record]

    def run(self) -> Record:
        """Save the file and return its row. An error gets the metadata of the file as its attribute `file`."""
        try:
            return self.save()
        except ROW_ERRORS as error:
            vars(error)["file"] = self.file
            raise


@dataclass(slots=True)
class Downloads:
    """Saves files, and folders with everything below them, below the path `target`.

    `new_folder` is True if `target` is a folder to create.
    """

    session: Session
    target: Path
    paths: DistinctPaths
    byte_range: ByteRange | None
    new_folder: bool
    acknowledge_abuse: bool
    overwrite: bool
    progress: Progress
    skipped: list[str] = field(default_factory=list)

    def steps(self, ids: Sequence[str]) -> Generator[SaveStep, None, None]:
        """Yield a step for each file. The metadata of a file are requested before its step."""
        from ...client.downloads.tree_download import FIELDS
        from ...client.files import get_file

        for n, file_id in enumerate(ids):
            try:
                file = get_file(self.session, file_id, fields=FIELDS)
            except ROW_ERRORS as error:
                yield SaveStep({"id": file_id}, f"row {n}", partial(_fail, error))
                continue
            if file.get("mimeType") == self.session.names.native("folder"):
                yield from self._folder_steps(file)
            else:
                yield SaveStep(file, f"row {n}", partial(self._save_file, file))

    def _folder_steps(self, folder: File) -> Iterator[SaveStep]:
        from ...client.downloads.tree_download import list_remote_tree
        from ...local.saving import make_folder

        if self.byte_range is not None:
            raise ValueError(f"byte_range is for files, and {folder.get('name')!r} is a folder")
        tree = list_remote_tree(self.session, folder, self.target, self.paths)
        for path in tree.folders:
            try:
                make_folder(path)
            except OSError as error:
                yield SaveStep(folder, str(path), partial(_fail, error))
        done = 0
        shown = True if self.progress is None and len(tree.files) >= _BAR_MIN_FILES else self.progress
        with reporting(shown, f"Download {folder.get('name')}", tree.size) as report:
            for file in tree.files:
                save = partial(self._save_member, file, report, done, tree.size)
                yield SaveStep(file.metadata, str(file.path), save)
                done += int(file.metadata.get("size") or 0)
                report(done, tree.size)

    def _save_file(self, file: File) -> Record:
        from ...client.downloads.downloads import save_content
        from ...local.saving import make_folder

        if self.new_folder:
            make_folder(self.target)
        size = int(file["size"]) if file.get("size") is not None else None
        span = self.byte_range.resolve(size) if self.byte_range and size is not None else None
        with (
            reporting(self.progress, f"Download {file.get('name')}", span.size if span else size) as report,
            explaining_download(report) as report,
        ):
            saved = save_content(
                self.session,
                file["id"],
                self.target,
                byte_range=self.byte_range,
                acknowledge_abuse=self.acknowledge_abuse,
                progress=report,
                overwrite=self.overwrite,
                paths=self.paths,
            )
        return _record(file, saved)

    def _save_member(self, file: RemoteFile, report: Report, before: int, total: int) -> Record:
        """Save a file of a folder and return its row. `before` is the number of bytes of the earlier files."""
        from ...local.existing_file import check_path
        from ...local.saving import make_folder

        if file.skipped:
            self.skipped.append(f"{file.path} ({file.skipped})")
            return {**file.metadata, "size": None, "of": file.metadata.get("size"), "outcome": "skipped"}
        make_folder(file.path.parent)
        check_path(file.path, overwrite=True)  # raises for a folder, which would get the file
        with explaining_download(report) as report:
            report(before, total)
            return self._save_content_or_export(file, lambda done, _size: report(before + done, total))

    def _save_content_or_export(self, file: RemoteFile, report: Report) -> Record:
        from ...client.downloads.downloads import save_content
        from ...client.downloads.exports import save_export

        file_id, path = file.metadata["id"], file.path
        if file.export is None:
            saved = save_content(
                self.session,
                file_id,
                path,
                acknowledge_abuse=self.acknowledge_abuse,
                progress=report,
                overwrite=self.overwrite,
            )
            return _record(file.metadata, saved)
        media_type = file.export.media_type
        saved = save_export(self.session, file_id, media_type, path, name=path.name, overwrite=self.overwrite)
        return {**_record(file.metadata, saved), "mimeType": media_type}

    def warn_of_skipped(self) -> None:
        """Warn of the files that cannot be saved, such as shortcuts."""
        if self.skipped:
            more = f" and {len(self.skipped) - _MAX_NAMED} more" if len(self.skipped) > _MAX_NAMED else ""
            warn_caller(f"not downloaded: {', '.join(self.skipped[:_MAX_NAMED])}{more}")


def _fail(error: Exception) -> NoReturn:
    raise error


def _record(file: File, saved: SavedFile) -> Record:
    saved_fields = {"path": str(saved.path), "size": saved.size, "outcome": saved.outcome}
    return {**file, **saved_fields, "of": file.get("size")}
