"""The folder or the URL to which downloads and exports are saved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ....core.processes import temporary_folder
from ....local.url_files import UrlFile, is_url, without_file_scheme
from ...arguments import is_new_folder, target_path
from ...batch.resume import Resumable
from ...batch.row_call import ROW_ERRORS
from .rows import DownloadRow, save_row

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.ranges import ByteRange
    from ...batch.row_call import Report
    from ...batch.workers import Executor
    from ...frames.frames import Record


@dataclass(frozen=True, slots=True)
class Target:
    """The path of a folder or a file on disk. `new_folder` is True for a folder to create.

    If `url` is given, the files are saved at this URL instead of `folder`, a temporary folder that contains `path`. The
    rows of a download then get paths in the temporary folder, and keep the names that they would have on disk.
    """

    path: Path
    new_folder: bool
    url: str = ""
    folder: Path = Path()

    def place(self, row: DownloadRow) -> DownloadRow:
        """Return a row whose texts name the URL instead of the temporary folder."""
        if not self.url:
            return row
        folder, url = f"{self.folder}{os.sep}", self.url
        return row._replace(label=row.label.replace(folder, url), skipped=row.skipped.replace(folder, url))

    def resumable(self, function: str, arguments: Mapping[str, Any]) -> Resumable[DownloadRow]:
        """Return how a ledger records the rows: by file, version of the file and path.

        A file that is missing on disk, or has another size, is saved again.
        """
        return Resumable(function, arguments, identity=self._identity, is_done=self._is_saved)

    def _identity(self, row: DownloadRow) -> list[object]:
        versions = ("headRevisionId", "sha256Checksum", "md5Checksum", "modifiedTime")
        version = next(filter(None, map(row.file.get, versions)), None)
        path = None if row.path is None else self._url(row.path) or str(row.path.absolute())
        return [row.file["id"], version, row.export, path]

    def _is_saved(self, row: DownloadRow, record: Record) -> bool:
        if row.path is None or self.url:
            return True
        return row.path.is_file() and row.path.stat().st_size == record["size"]

    def _url(self, path: Path) -> str:
        """Return the URL of a path in the temporary folder, or an empty str if there is no URL."""
        return self.url and self.url + path.relative_to(self.folder).as_posix()

    def save(
        self, session: Session, row: DownloadRow, report: Report, byte_range: ByteRange | None = None, **options: Any
    ) -> Record:
        """Save the file of a row and return its record. The arguments and the errors are those of `save_row`.

        For a URL, the complete content is saved in a temporary folder first.
        """
        if not self.url or row.path is None:
            return save_row(session, row, report, byte_range, **options)
        url = UrlFile(self._url(row.path))
        overwrite = options.pop("overwrite", False)
        size = None if row.export or byte_range or row.file.get("size") is None else int(row.file["size"])
        try:
            url.check(size, overwrite=overwrite)
            with temporary_folder("svc-") as folder:
                content = folder / row.path.name
                record = save_row(session, row._replace(path=content), report, byte_range, **options)
                outcome = url.save(content, overwrite=overwrite, same=_same_export if row.export else None)
        except ROW_ERRORS as error:
            vars(error)["file"] = row.file
            raise
        return {**record, "path": url.url, "outcome": outcome}


def _same_export(first: Path, second: Path) -> bool:
    from ....client.downloads.export_comparison import same_export

    return same_export(first, second)


@contextmanager
def target_of(count: int, to: str | os.PathLike[str] | None, executor: Executor | None) -> Iterator[Target]:
    """Return the target of `count` files. Its temporary folder exists until the context ends.

    Raises ValueError for several files if `to` is not a folder, and the errors of `UrlFile`.
    """
    to = without_file_scheme(to)
    if not is_url(to):
        path = target_path(count, to)
        if executor is not None and not isinstance(executor, ThreadPoolExecutor):
            path = path.absolute()  # the current folder of another process may be another one
        yield Target(path, is_new_folder(count, to))
        return
    is_folder = to.endswith("/") or UrlFile(to).is_folder()
    if count > 1 and not is_folder and PurePosixPath(to).suffix:
        raise ValueError(f"to is {to!r}; for {count} files it must be a folder")
    with temporary_folder("svc-") as folder:
        if is_folder or count > 1:
            yield Target(folder, True, to if to.endswith("/") else f"{to}/", folder)
        else:
            above, slash, file_name = to.rpartition("/")
            yield Target(folder / file_name, False, above + slash, folder)
