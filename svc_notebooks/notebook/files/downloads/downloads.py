"""Downloads the content of files, or a byte range of it, and exports native documents (A6, A7)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from ....client.downloads import downloads as client
from ....client.downloads.downloads import RangeGiven
from ....client.files import export_formats, get_file, list_children, native_name
from ....client.session import Session, SessionLike, session_or_current
from ....core.errors.errors import warn_caller
from ....core.platform import temporary_folder
from ....local.saving import DistinctPaths, make_folder
from ....local.tree import UrlFile, is_url, without_file_scheme
from ...arguments import File, files_at, flag, is_frame, one_file_at
from ...batch.batch import (
    ROW_ERRORS,
    Batch,
    Errors,
    Executor,
    Progress,
    Report,
    Resumable,
    Resume,
    RowOperation,
    batch_schema,
    row_outcomes,
    run,
)
from ...batch.progress import Counts, session_progress, showing
from ...display import listed
from ...frames import DOWNLOADS, EXPORTED, Record, Schema, camel, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....core.http.ranges import ByteRange
    from ....core.resources.files import File as FileResource
    from ....local.saving import SavedFile


def download(
    file: File,
    to: str | os.PathLike[str] | None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save the content of files and folders to disk, and list the saved files.

    The received bytes are collected in a file whose name ends in `.part`. Repeat the call after an interruption to
    continue the download. If the content was received in several pieces, its checksum is compared with the service's
    checksum (A6-06). A file at the path that has the same content already is not changed.

    A row that has the columns id, name, size, mime_type, and md5_checksum or sha256_checksum is used as it is. The
    download then sends only the request for the content, whose checksum is compared with the row's, or the request for
    the checksum if the file at the path has the size of the row. If a checksum differs, the metadata are requested,
    because the file may have changed on the service. For any other row and for a byte range they are requested first.

    A folder is saved with everything below it, once if the files in it are also given. Native documents in a folder are
    exported as docx, xlsx, pptx, svg or json. Shortcuts, and documents without an export format, are not saved. A
    UserWarning names them.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        to: The path of a file, or a folder in which each file keeps its name. None means the notebook's folder. For
            several files or a folder, with a slash at its end, and if `to` has no extension but the name of the file
            has one, `to` is a folder, and is created if necessary. A folder is not saved as an archive:
            `shutil.make_archive` makes one of the saved folder. The second file with the same name becomes
            `name (1).ext`, the third `name (2).ext`, in the order of the rows. A URL like "s3://bucket/results/" needs
            the extra `fsspec`, see docs/bulk.md.
        byte_range: The bytes to download, as (first, last) with both included, (first, None), (-100, None) for the last
            100, a slice like `slice(0, 100)`, or a str like "bytes=0-99" or "0-99". None downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive. Only the owner may do this. An
            AbusiveFileWarning names the flagged file.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: None shows a progress bar for large transfers, True always, False never. A function is called with
            (bytes done, total bytes or None) of all files.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, a file in the current folder in which the call records the files that are saved.
            The same call again saves only the others, and those that are missing on disk. See docs/bulk.md.

    Returns:
        One row for each file: id, name, path (str), size (Int64, bytes on disk), of (Int64, bytes of the whole
        content on the service), mime_type (str, of an export the media type of the export), outcome (str: saved,
        unchanged, replaced, skipped or failed), error (str), attempts (Int64), seconds (Float64). For a folder, one row
        for each file below it, in the order of the paths. path and size are missing for skipped and failed files.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.
        ContentMismatch: The service sends content of another size or checksum than the metadata have.
        Interrupted: The connection was broken for too long. Repeat the call to continue the download.

    See tests/rules.csv (A6).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.download(file, folder)[["name", "size", "outcome"]].values.tolist()
    [['hello.txt', 5, 'saved']]
    >>> svc.download(file, folder)["outcome"].item()
    'unchanged'
    """
    flag("overwrite", overwrite)
    requested, batch = client.as_range(byte_range), Batch(workers, executor, errors, resume, progress)
    session = session_or_current(session)
    ids = files_at(session, file)
    known = {} if requested else known_files(file)
    with target_of(len(ids), to, executor) as target:
        prepared = DownloadRows(session, target.path, target.new_folder, DistinctPaths(), requested)
        fields = f"{FIELDS},parents" if len(ids) > 1 else FIELDS
        read = request_metadata(session, ids, known, fields, batch, DOWNLOADS)
        metadata = [each for each in read if {*ids}.isdisjoint(each[0].get("parents") or ())]  # not in a folder of ids
        rows = list(map(target.place, prepared.rows(metadata)))
    call = partial(target.save, byte_range=requested, acknowledge_abuse=acknowledge_abuse, overwrite=overwrite)
    operation = RowOperation(
        DOWNLOADS,
        call,
        known=known_of_row,
        label=lambda n, row: row.label,
        resumable=target.resumable("download", {"byte_range": requested}),
        title=f"Download {rows[0].file.get('name')}" if len(rows) == 1 else "Download",
        size=partial(_size, byte_range=requested),
        continue_hint=CONTINUE_HINT,
    )
    result = run(operation, rows, session, batch)
    if skipped := [row.skipped for row in rows if row.skipped]:  # such as shortcuts
        warn_caller(f"not downloaded: {listed(skipped)}")
    return result


def _size(row: DownloadRow, byte_range: ByteRange | None) -> int | None:
    """Return the number of bytes that a row saves, or None if it is not known, as for an export."""
    if row.path is None:
        return 0
    size = None if row.file.get("size") is None else int(row.file["size"])
    span = byte_range.resolve(size) if byte_range and size is not None else None
    return span.size if span else size


def read(
    file: File,
    *,
    format: str | None = None,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    session: SessionLike = None,
) -> bytes:
    """Download the content of one file, or a byte range of the content, and return the bytes.

    The size is compared with the metadata of the file, which are requested if `file` is not a row with id, name, size
    and mime_type, or if the content is not that of the row. If the row has md5_checksum or sha256_checksum, as a row of
    `upload()` does, the checksum is compared, too.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, or a DataFrame of one row.
        format: The format of the export of a native document, like "pdf", as for `export`. None reads the content.
        byte_range: The bytes to download, like (0, 99) with both included. `download` lists the other forms. None
            downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive, as for `download`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        BadRequest: The content has no byte in this range, or the document does not have this format.
        ContentMismatch: The service sends content of another size or checksum than the metadata have.

    See tests/rules.csv (A6).

    >>> lab = svc.sandbox()
    >>> svc.read(svc.upload(b"hello, you"), byte_range=(0, 4))
    b'hello'
    """

    session, requested = session_or_current(session), client.as_range(byte_range)
    file_id = one_file_at(session, file)
    if format is not None:
        if byte_range is not None:
            raise ValueError("byte_range is for the content of a file; leave it out if you give a format")
        name = client.normalize_format(format)
        document = get_file(session, file_id, fields="id,name,mimeType")
        return client.read_export(session, file_id, client.export_target(session, document, name).media_type)
    known = known_files(file, checksum=False).get(file_id) or get_file(session, file_id, fields="size")
    return client.Download(session, {**known, "id": file_id}, requested, acknowledge_abuse).read()


def export(
    file: File,
    format: str,
    to: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save native documents as files of another format, and list the saved files.

    The received bytes are collected in a file whose name ends in `.part`, which is renamed when the export is complete.
    A file at the path is not changed if it is the same export already. The dates in the metadata of an export do not
    count as a difference, because some services write the time of the export.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        format: An extension ("pdf", ".docx"), a title ("MS Word") or a media type of `export_formats(file)`.
        to: The path of a file, or a folder in which an export gets the document's name and the format's extension.
            None means the notebook's folder. For several files, with a slash at its end, and without an extension, `to`
            is a folder, and is created if necessary. The second export with the same name becomes `name (1).ext`, the
            third `name (2).ext`, in the order of the rows. A URL needs the extra `fsspec`, as for `download`.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: True shows a progress bar. A function is called with (bytes done, total bytes or None).
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, a file in the current folder in which the call records the files that are saved.
            The same call again saves only the others, and those that are missing on disk. See docs/bulk.md.

    Returns:
        One row for each file: id, name (str, the document's name), path (str), size (Int64, bytes on disk),
        mime_type (str, the media type of the export), outcome (str: saved, unchanged, replaced or failed), error (str),
        attempts (Int64), seconds (Float64). path, size and mime_type are missing for failed files.

    Raises:
        TypeError, ValueError: An argument is not valid, no document has this format, or the extension of `to` means
            another format; nothing was sent.
        BadRequest: This document does not have this format. The message lists the formats of the document.
        NotAllowed: The file is not a native document (use `download`), or the export would be too large.
        NotFound: The file does not exist, or this user may not see it.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.

    See tests/rules.csv (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> saved = svc.export(table, "tsv", folder)
    >>> (folder / "table.tsv").read_text(), saved["mime_type"].item(), saved["outcome"].item()
    ('a\\tb\\n', 'text/tab-separated-values', 'saved')
    """
    flag("overwrite", overwrite)
    batch = Batch(workers, executor, errors, resume, progress)
    session, format_name = session_or_current(session), client.normalize_format(format)
    ids = files_at(session, file)
    with target_of(len(ids), to, executor) as target:
        if not (target.new_folder or target.path.is_dir()):
            client.check_extension(target.path, format_name)
        prepared = DownloadRows(session, target.path, target.new_folder, DistinctPaths())
        metadata = request_metadata(session, ids, {}, "id,name,mimeType,modifiedTime", batch, EXPORTED)
        rows = [target.place(_export_row(prepared, n, *each, format_name)) for n, each in enumerate(metadata)]
    operation = RowOperation(
        EXPORTED,
        partial(target.save, overwrite=overwrite),
        known=lambda row: {"id": row.file["id"], "name": row.file.get("name")},
        label=lambda n, row: row.label,
        resumable=target.resumable("export", {"format": format_name}),
        title=f"Export {rows[0].file.get('name')}" if len(rows) == 1 else "Export",
        unit="documents",
        continue_hint=CONTINUE_HINT,
    )
    return run(operation, rows, session, batch)


def _export_row(
    prepared: DownloadRows, n: int, file: FileResource, error: Exception | None, format_name: str
) -> DownloadRow:

    if error is None:
        try:
            target = client.export_target(prepared.session, file, format_name)
        except ROW_ERRORS as refused:
            error = refused
        else:
            path_name = client.export_name(str(file.get("name") or file["id"]), target)
            return prepared.file_row(file, n, path_name, export=target.media_type)
    return DownloadRow(file, f"row {n}", error=error)


# -- reads the metadata of files from the rows of a file argument, so that a call need not request them again


_NEEDED = ("id", "name", "size", "mime_type")
# The columns with checksums, and their numbers of hexadecimal digits.
_CHECKSUMS = {"sha256_checksum": 64, "md5_checksum": 32}


def known_files(file: Any, *, checksum: bool = True) -> dict[str, FileResource]:
    """Return the metadata by file id of the rows that have an id, a name, a size, a media type and a checksum.

    If `checksum` is False, a row needs no checksum.

    >>> row = {"id": "a", "name": "a.txt", "size": 1, "mime_type": "text/plain", "md5_checksum": "0" * 32}
    >>> known_files([row, {"id": "b", "name": "b.txt"}, "c"])["a"]["size"]
    '1'
    """
    return {row["id"]: row for row in _known(file) if not checksum or row.keys() & {"md5Checksum", "sha256Checksum"}}


def _known(value: Any) -> Iterator[FileResource]:
    if isinstance(value, str):
        return
    if is_frame(value):
        columns = [column for column in (*_NEEDED, *_CHECKSUMS) if column in value.columns]
        if {*_NEEDED} <= {*columns}:
            for cells in zip(*(value[column].tolist() for column in columns), strict=True):
                yield from _known_row(dict(zip(columns, cells, strict=True)))
    elif (
        isinstance(value, Mapping) or hasattr(value, "_fields") or (hasattr(value, "index") and hasattr(value, "keys"))
    ):
        row = value._asdict() if hasattr(value, "_asdict") else value
        yield from _known_row({column: row[column] for column in (*_NEEDED, *_CHECKSUMS) if column in row})
    elif isinstance(value, Iterable):
        for member in value:
            yield from _known(member)


def _known_row(row: Mapping[str, Any]) -> Iterator[FileResource]:
    """Yield the metadata in a row as a resource of the interface, unless a value is missing or not valid."""
    checksums = {
        camel(column): row[column]
        for column, digits in _CHECKSUMS.items()
        if isinstance(row.get(column), str) and len(row[column]) == digits
    }
    is_text = all(isinstance(row.get(column), str) and row[column] for column in ("id", "name", "mime_type"))
    size = str(row.get("size"))
    if is_text and size.isdecimal():
        known = {"id": row["id"], "name": row["name"], "size": size, "mimeType": row["mime_type"], **checksums}
        yield cast("FileResource", known)


# The fields of the metadata of a file that is saved.
FIELDS = "id,name,size,headRevisionId,mimeType,trashed,createdTime,modifiedTime,ownedByMe"

# The export formats of documents in a folder. These formats keep the most, and can be converted to documents again.
_IN_FOLDERS = ("docx", "xlsx", "pptx", "svg", "json")

_ARCHIVES = frozenset((".7z", ".bz2", ".gz", ".rar", ".tar", ".tbz2", ".tgz", ".txz", ".xz", ".zip", ".zst"))


# -- the folder or the URL to which downloads and exports are saved


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
                outcome = url.save(content, overwrite=overwrite, same=client.same_export if row.export else None)
        except ROW_ERRORS as error:
            vars(error)["file"] = row.file
            raise
        return {**record, "path": url.url, "outcome": outcome}


@contextmanager
def target_of(count: int, to: str | os.PathLike[str] | None, executor: Executor | None) -> Iterator[Target]:
    """Return the target of `count` files. Its temporary folder exists until the context ends.

    Raises ValueError for several files if `to` is not a folder, and the errors of `UrlFile`.
    """
    to = without_file_scheme(to)
    if not is_url(to):
        path = Path() if to is None else Path(to).expanduser()
        is_folder, has_slash = path.is_dir(), to is not None and os.fspath(to).endswith(("/", os.sep))
        if count > 1 and not is_folder and (path.exists() or (path.suffix and not has_slash)):
            raise ValueError(f"to is {str(to)!r}; for {count} files it must be a folder")
        if executor is not None and not isinstance(executor, ThreadPoolExecutor):
            path = path.absolute()  # the current folder of another process may be another one
        yield Target(path, new_folder=not is_folder and (count > 1 or has_slash))
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


# How to go on after an interrupt, because a file that is complete is not saved again.
CONTINUE_HINT = "run the cell again to go on"

# The metadata of a file, or only its id and the error of the request.
Metadata: TypeAlias = "tuple[FileResource, Exception | None]"


class DownloadRow(NamedTuple):
    """A file of a download, which is saved at `path`.

    `export` is the media type of an export, and None to save the content. Without a path nothing is saved, because the
    file has an `error`, or because it has no content, as `skipped` says. `label` names the file in error messages.
    """

    file: FileResource
    label: str
    path: Path | None = None
    export: str | None = None
    error: Exception | None = None
    skipped: str = ""


def request_metadata(
    session: Session, ids: Sequence[str], known: Mapping[str, FileResource], fields: str, batch: Batch, schema: Schema
) -> Iterator[Metadata]:
    """Return an iterator over the metadata of the files, which are requested for those that are not in `known`.

    Raises an error that concerns all files. Its attribute `result` is an empty frame with the columns of `schema`.
    """
    missing = [file_id for file_id in ids if file_id not in known]
    results: dict[str, Metadata] = {file_id: (file, None) for file_id, file in known.items()}
    shown = None if len(missing) > 1 and batch.progress is not False else False
    progress = session_progress(session, Counts(len(missing), "files"), "Read metadata", shown)
    numbers, workers = range(len(missing)), (batch.workers, batch.executor)
    outcomes = row_outcomes(partial(_request, fields=fields), session, numbers, missing.__getitem__, progress, *workers)
    with showing(progress), closing(outcomes):
        for n, (record, error, *_) in outcomes:
            progress.end(n, failed=error is not None)
            if error is not None and not isinstance(error, ROW_ERRORS):
                vars(error)["result"] = frame(batch_schema(schema), [])
                raise error
            results[missing[n]] = ({"id": missing[n], **(record or {})}, error)  # type: ignore[typeddict-item]
    return map(results.__getitem__, ids)


def _request(session: Session, file_id: str, report: Report, fields: str) -> Record:
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
    # The folders on disk that are created if necessary, each with the error if it cannot be created.
    folders: dict[Path, OSError | None] = field(default_factory=dict)
    # True if files get their names in the folder `target`, and None before the first file.
    in_folder: bool | None = None

    def rows(self, files: Iterable[Metadata]) -> Iterator[DownloadRow]:
        """Yield the rows in the order of the files, and those in a folder in the order of their paths."""
        for n, (file, error) in enumerate(files):
            if error is None and file.get("mimeType") == self.session.names.native("folder"):
                yield from self._folder_rows(file)
            elif error is None:
                yield self.file_row(file, n, str(file.get("name") or file["id"]))
            else:
                yield DownloadRow(file, f"row {n}", error=error)

    def file_row(self, file: FileResource, n: int, name: str, export: str | None = None) -> DownloadRow:
        """Return the row number `n` for a file, which gets `name` in the folder `target`, or the path `target`."""

        if self.in_folder is None:
            try:
                self.in_folder = self.new_folder or client.target_path(self.target, name) != self.target
            except OSError as error:
                return DownloadRow(file, f"row {n}", error=error)
        path = self.target / client.safe_name(name) if self.in_folder else self.target
        return self._with_folder(DownloadRow(file, f"row {n}", self.paths.claim(path), export))

    def _folder_rows(self, folder: FileResource) -> Iterator[DownloadRow]:
        if self.byte_range is not None:
            raise ValueError(f"byte_range is for files, and {folder.get('name')!r} is a folder")
        if not self.new_folder and self.target.suffix.lower() in _ARCHIVES and not self.target.is_dir():
            raise ValueError(
                f"to is {self.target.name!r}, and {folder.get('name')!r} is a folder, which is saved as a folder; give"
                " the name of a folder, and shutil.make_archive makes an archive of it"
            )
        pending = [(folder, self.paths.claim(self.target / client.safe_name(str(folder.get("name")))))]
        listed, rows = {folder["id"]}, list[DownloadRow]()
        for above, path in pending:  # which grows
            trashed = bool(above.get("trashed"))
            for file in list_children(self.session, above["id"], fields=FIELDS, trashed=trashed):
                row = self._row_in(path, file)
                if row.path is None or file.get("mimeType") != self.session.names.native("folder"):
                    rows.append(row)
                elif file["id"] not in listed:  # a folder can be in several folders, or contain itself
                    listed.add(file["id"])
                    pending.append((file, row.path))
        for _, path in pending:
            if error := self._folder_error(path):
                yield DownloadRow(folder, str(path), error=error)
        yield from map(self._with_folder, sorted(rows, key=lambda row: Path(row.label)))

    def _row_in(self, folder: Path, file: FileResource) -> DownloadRow:
        """Return the row of a file in a folder on disk. A second file of the same name gets the path `name (1)`."""
        names, name, media_type = self.session.names, str(file.get("name") or file["id"]), str(file.get("mimeType"))
        if not names.is_native(media_type) or media_type == names.native("folder"):
            path = self.paths.claim(folder / client.safe_name(name))
            return DownloadRow(file, str(path), path)
        formats = export_formats(self.session, media_type)
        if not formats:
            path = folder / client.safe_name(name)
            return DownloadRow(file, str(path), skipped=f"{path} (a {native_name(names, media_type)})")
        export = next(filter(None, (client.choose(formats, extension) for extension in _IN_FOLDERS)), formats[0])
        path = self.paths.claim(folder / client.export_name(name, export))
        return DownloadRow(file, str(path), path, export.media_type)

    def _with_folder(self, row: DownloadRow) -> DownloadRow:
        """Create the folder of a row if necessary. The row has the error if it cannot be created."""
        error = self._folder_error(row.path.parent) if row.path else None
        return row._replace(path=None, export=None, error=error) if error else row

    def _folder_error(self, folder: Path) -> OSError | None:
        """Create a folder if necessary. Returns the error if it cannot be created."""
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

    try:
        if row.error is not None:
            raise row.error
        if row.path is None:
            return {**known_of_row(row), "outcome": "skipped"}
        if row.export is not None:
            saved = client.save_export(
                session, row.file["id"], row.export, row.path, progress=report, overwrite=overwrite
            )
            return {**_record(row.file, saved), "mimeType": row.export}
        download = client.Download(session, row.file, byte_range, acknowledge_abuse, report)
        saved = download.save(row.path, overwrite=overwrite)
    except ROW_ERRORS as error:
        vars(error)["file"] = row.file
        raise
    return _record(row.file, saved)


def known_of_row(row: DownloadRow) -> Record:
    """Return what is known of a file that was not saved."""
    return {**row.file, "size": None, "of": row.file.get("size")}


def _record(file: FileResource, saved: SavedFile) -> Record:
    return {**file, "path": str(saved.path), "size": saved.size, "outcome": saved.outcome, "of": file.get("size")}
