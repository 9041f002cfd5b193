"""The files of a service as a file system of fsspec, for which pandas, Dask, DuckDB and others use URLs "svc://...".

fsspec imports this module for the first such URL. A path has the names of the folders and of the file, from the user's
top folder on. docs/bulk.md describes the paths of names that occur twice or contain a slash.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from errno import ENOTEMPTY
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, cast

from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import isfilelike

from ...client import files as client
from ...client.downloads.downloads import Download, export_target, normalize_format, read_export
from ...client.session import Session, current_session
from ...client.uploads.resumable_upload import ClientUpload
from ...client.uploads.upload_request import DEFAULT_CHUNK
from ...client.uploads.uploads import start_upload, upload
from ...core.errors.errors import NotFound
from ...core.files.query import quote
from ...core.http.ranges import ByteRange
from ...core.resources.files import File
from ...core.times import parse_time
from ..arguments import name_of_part, path_part
from ..sandbox.sandbox import new_session

_FIELDS = "id,name,mimeType,size,md5Checksum,headRevisionId,createdTime,modifiedTime,parents,shortcutDetails"

_EXPORT = re.compile(r"(?P<path>.+)\?export=(?P<format>[^/?]+)")
_WITH_ID = re.compile(r"(?P<stem>.*?) ?\(id=(?P<id>[\w-]+)\)(?P<extension>(\.[^.]*)?)", re.DOTALL)


def _part_with_id(file: File) -> str:
    """Return the part of a path that also has the id, such as "cities (id=x).csv"."""
    stem, dot, extension = path_part(file["name"]).rpartition(".")
    stem, extension = (stem, dot + extension) if stem else (dot + extension, "")
    return f"{stem} (id={file['id']}){extension}".lstrip()


# Held while a folder is looked up and created, because pyarrow writes files of a new folder in several threads.
_creating_folders = RLock()


class SvcFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """The files of the current session, or those of the service and user that `storage_options` name.

    The options are the arguments of `connect`: `base_url`, `token`, `names`, `verify`, `proxies`. Without options, and
    without a current session in this process, as in a worker of Dask, the environment has the address and the token.
    Lists of folders are not cached, so that they are always current. `rm` moves files to the trash.

    >>> import pandas as pd
    >>> lab = svc.sandbox()
    >>> pd.DataFrame({"city": ["Rome", "Oslo"]}).to_csv("svc://Data/cities.csv", index=False)
    >>> pd.read_csv("svc://Data/cities.csv")["city"].tolist()
    ['Rome', 'Oslo']
    """

    protocol = "svc"

    @property
    def session(self) -> Session:
        """The session of the options, or else the current session. Raises RuntimeError if there is none."""
        if not self.storage_options:
            try:
                return current_session()
            except RuntimeError:
                if not os.environ.get("SVC_BASE_URL"):
                    raise
        return self._own_session

    @cached_property
    def _own_session(self) -> Session:
        return new_session(**self.storage_options)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        return stripped if isinstance(stripped, list) else "/".join(filter(None, stripped.split("/")))

    # -- from paths to files

    def find_file(self, path: str) -> File:
        """Return the metadata of the file, folder or shortcut at a path.

        Raises FileNotFoundError, FileExistsError for a name of several files, and NotADirectoryError.
        """
        session = self.session
        file: File = {"id": client.ROOT, "name": "", "mimeType": session.names.native("folder")}
        parts = self._strip_protocol(path).split("/")
        for n in range(1, len(parts) + 1 if parts[0] else 0):
            folder = self._target(file)
            if not self._is_folder(folder):
                raise NotADirectoryError(f"{path!r}: {folder['name']!r} is not a folder")
            file = self._child(folder["id"], "/".join(parts[:n]))
        return file

    def _child(self, folder: str, path: str) -> File:
        """Return the file in a folder that the last part of a path names."""
        session, (prefix, slash, part) = self.session, path.rpartition("/")
        name = name_of_part(part)
        q = f"name = {quote(name)} and {quote(folder)} in parents and trashed = false"
        matches = [file for file in client.list_files(session, q=q, fields=_FIELDS) if file["name"] == name]
        if len(matches) > 1:
            paths = " or ".join(repr(prefix + slash + _part_with_id(file)) for file in matches[:2])
            raise FileExistsError(f"{path!r} is the path of {len(matches)} files; use {paths}, as in ls()")
        if matches:
            return matches[0]
        if match := _WITH_ID.fullmatch(part):
            with suppress(NotFound):
                file = client.get_file(session, match["id"], fields=f"{_FIELDS},trashed")
                folder = client.get_file(session, client.ROOT, fields="id")["id"] if folder == client.ROOT else folder
                shared = not match["stem"] and not prefix
                if not file.get("trashed") and (shared or folder in (file.get("parents") or ())):
                    return file
        raise FileNotFoundError(f"{path!r} does not exist on the service: there is no {name!r} in this folder")

    def _target(self, file: File) -> File:
        """Return the file to which a shortcut refers, and any other file unchanged. Raises FileNotFoundError."""
        if file["mimeType"] != self.session.names.native("shortcut"):
            return file
        try:
            return client.get_file(self.session, file["shortcutDetails"]["targetId"], fields=_FIELDS)
        except NotFound:
            raise FileNotFoundError(f"{file['name']!r} is a shortcut to a file that does not exist") from None

    def _is_folder(self, file: File) -> bool:
        return file["mimeType"] == self.session.names.native("folder")

    def _resolve(self, path: str) -> File:
        """Return the file or folder at a path, and for a shortcut that to which it refers."""
        return self._target(self.find_file(path))

    def _entry(self, path: str, file: File) -> dict[str, Any]:
        """Return the facts of a file as fsspec names them. A shortcut has those of its target and `islink`."""
        names, target = self.session.names, file
        with suppress(FileNotFoundError):
            target = self._target(file)
        is_folder = self._is_folder(target)
        has_size = "size" in target and not names.is_native(target["mimeType"])
        entry: dict[str, Any] = {
            "name": path,
            "type": "directory" if is_folder else "file",
            "size": 0 if is_folder else int(target["size"]) if has_size else None,
            "id": target["id"],
            "mime_type": target["mimeType"],
            "islink": file["mimeType"] == names.native("shortcut"),
        }
        times = {"created": target.get("createdTime"), "mtime": target.get("modifiedTime")}
        entry |= {key: parse_time(text).timestamp() for key, text in times.items() if text}
        return entry | ({"md5": target["md5Checksum"]} if "md5Checksum" in target else {})

    # -- reading

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        """Return the facts of the file at a path."""
        path = self._strip_protocol(path)
        exported = _EXPORT.fullmatch(path)
        return self._entry(path, self.find_file(exported["path"] if exported else path))

    def ls(self, path: str, detail: bool = True, **_options: Any) -> list[Any]:
        """List a folder. Names that occur twice have the id."""
        path = self._strip_protocol(path)
        folder = self._resolve(path)
        if not self._is_folder(folder):
            return [self.info(path) if detail else path]
        members = client.list_children(self.session, folder["id"], fields=_FIELDS)
        counts = Counter(file["name"] for file in members)
        prefix = f"{path}/" if path else ""
        parts = [path_part(file["name"]) if counts[file["name"]] == 1 else _part_with_id(file) for file in members]
        paths = [prefix + part for part in parts]
        return [self._entry(*each) for each in zip(paths, members, strict=True)] if detail else paths

    def walk(self, path: str, *args: Any, **options: Any) -> Iterator[Any]:
        """Walk through a folder, without the folders to which shortcuts refer, because these can contain the folder."""
        for root, folders, files in super().walk(path, *args, **options):
            if isinstance(folders, dict):
                for name in [name for name, entry in folders.items() if entry["islink"]]:
                    del folders[name]
            yield root, folders, files

    def glob(self, path: str, maxdepth: int | None = None, **options: Any) -> Any:
        """List the files that match a pattern, or the file whose name is the pattern itself."""
        literal = self._strip_protocol(path)
        if not self.exists(literal):
            return super().glob(path, maxdepth=maxdepth, **options)
        return {literal: self.info(literal)} if options.get("detail") else [literal]

    def created(self, path: str) -> datetime:
        """Return the time at which a file was created, in UTC."""
        return datetime.fromtimestamp(self.info(path)["created"], UTC)

    def modified(self, path: str) -> datetime:
        """Return the time at which a file was modified, in UTC."""
        return datetime.fromtimestamp(self.info(path)["mtime"], UTC)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> SvcFile:
        return SvcFile(self, path, mode, **options)

    def get_file(
        self, rpath: str, lpath: Any = None, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **options: Any
    ) -> None:
        """Save a file on disk, verified by its checksum. A broken download continues with the next call."""
        if outfile is not None or isfilelike(lpath) or _EXPORT.fullmatch(rpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile, **options)
            return
        try:
            file = self.readable_file(rpath)
        except IsADirectoryError:
            Path(lpath).mkdir(parents=True, exist_ok=True)
            return
        Path(lpath).parent.mkdir(parents=True, exist_ok=True)
        callback.set_size(int(file["size"]))
        Download(self.session, file, progress=_update(callback)).save(Path(lpath), overwrite=True)

    def readable_file(self, path: str) -> File:
        """Return the metadata of a file with content. Raises IsADirectoryError, or OSError for a native document."""
        file = self._resolve(path)
        if self._is_folder(file):
            raise IsADirectoryError(f"{path!r} is a folder")
        if "size" not in file or self.session.names.is_native(file["mimeType"]):
            native = client.native_name(self.session.names, file["mimeType"])
            formats = ", ".join(row.extension for row in client.export_formats(self.session, file["mimeType"]))
            raise OSError(f"{path!r} is a {native}; add ?export= and a format to its path ({formats})")
        return file

    def exported(self, path: str) -> bytes | None:
        """Return the export of a native document if the path ends in "?export=" and a format, or else None."""
        match = _EXPORT.fullmatch(path)
        if match is None:
            return None
        file = self._resolve(match["path"])
        chosen = export_target(self.session, file, normalize_format(match["format"]))
        return read_export(self.session, file["id"], chosen.media_type)

    # -- writing

    def upload_arguments(self, path: str, mode: str) -> dict[str, Any]:
        """Return the arguments of an upload to a path, of which the folders are created.

        Raises FileExistsError if `mode` is "create" or "xb" and the file exists, and IsADirectoryError.
        """
        path = self._strip_protocol(path)
        existing, new = self._place(path)
        if existing and mode in ("create", "xb"):
            raise FileExistsError(f"{path!r} exists on the service; nothing was written")
        if existing and self._is_folder(existing := self._target(existing)):
            raise IsADirectoryError(f"{path!r} is a folder")
        if existing:
            return {"file_id": existing["id"]}
        return {"name": new["name"], "metadata": {"parents": new["parents"]}}

    def _place(self, path: str) -> tuple[File | None, dict[str, Any]]:
        """Return the file at a path, or None, and the name and the folder of a new file. The folder is created."""
        if not path:
            return self.find_file(path), {}
        new = {"name": name_of_part(path.rpartition("/")[2]), "parents": [self._folder(self._parent(path))]}
        with suppress(FileNotFoundError):
            return self._child(new["parents"][0], path), new
        return None, new

    def _folder(self, path: str) -> str:
        """Return the id of the folder at a path, which is created with its parents if it does not exist."""
        with _creating_folders:
            existing, new = self._place(path)
            if existing is None:
                folder: Any = {**new, "mimeType": self.session.names.native("folder")}
                return client.create_file(self.session, folder)["id"]
        if not self._is_folder(target := self._target(existing)):
            raise NotADirectoryError(f"{path!r} is not a folder")
        return target["id"]

    def mkdir(self, path: str, create_parents: bool = True, **_options: Any) -> None:
        """Create a folder. Raises FileExistsError, and FileNotFoundError if its parent does not exist."""
        path = self._strip_protocol(path)
        if self.exists(path):
            raise FileExistsError(f"{path!r} exists on the service")
        if not create_parents:
            self.find_file(self._parent(path))
        self._folder(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Create a folder and its parents. Raises FileExistsError if the folder exists and `exist_ok` is False."""
        if exist_ok:
            self._folder(self._strip_protocol(path))
        else:
            self.mkdir(path)

    def put_file(
        self, lpath: str, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **_options: Any
    ) -> None:
        """Upload a file on disk. The next call resumes an upload that was interrupted."""
        if Path(lpath).is_dir():
            self.makedirs(rpath, exist_ok=True)
            return
        callback.set_size(Path(lpath).stat().st_size)
        upload(self.session, Path(lpath), progress=_update(callback), **self.upload_arguments(rpath, mode))

    def cp_file(self, path1: str, path2: str, **_options: Any) -> None:
        """Copy a file on the service. A file at the target goes to the trash."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if (content := self.exported(path1)) is not None:
            self.pipe_file(path2, content)
            return
        source = self._resolve(path1)
        if self._is_folder(source):
            self.makedirs(path2, exist_ok=True)
        else:
            replaced, metadata = self._replaceable(path2)
            if source["id"] != replaced:
                client.copy_file(self.session, source["id"], cast(File, metadata))
                self._trash(replaced)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **_options: Any) -> None:
        """Move or rename a file or folder, which keeps its id. A file at the target goes to the trash."""
        into = path2.endswith("/") or self.isdir(path2)
        for path in self.expand_path(path1):
            target = self._strip_protocol(f"{path2}/{path.rpartition('/')[2]}" if into else path2)
            file, (replaced, new) = self.find_file(path), self._replaceable(target)
            if file["id"] == replaced or path == target:
                continue
            former = ",".join({*(file.get("parents") or ())} - {*new["parents"]})
            moves = {"addParents": new["parents"][0], "removeParents": former} if former else {}
            client.update_file(self.session, file["id"], {"name": new["name"]}, query=moves)
            self._trash(replaced)

    def _replaceable(self, path: str) -> tuple[str | None, dict[str, Any]]:
        """Return the id of the file at a path, or None, and `new` of `_place`. Raises IsADirectoryError."""
        existing, new = self._place(path)
        if existing and self._is_folder(self._target(existing)):
            raise IsADirectoryError(f"{path!r} is a folder, which nothing can replace")
        return existing["id"] if existing else None, new

    def _trash(self, file_id: str | None) -> None:
        if file_id is not None:
            client.update_file(self.session, file_id, {"trashed": True}, query={"fields": "id"})

    def rmdir(self, path: str) -> None:
        """Move an empty folder to the trash. Raises OSError for a folder that is not empty."""
        if not self.isdir(path):
            raise NotADirectoryError(f"{path!r} is not a folder")
        if self.ls(path, detail=False):
            raise OSError(ENOTEMPTY, "the folder is not empty", path)
        self.rm_file(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Move files, and with `recursive` also folders, to the trash."""
        paths = self.expand_path(path, recursive=recursive and maxdepth is not None, maxdepth=maxdepth)
        for each in reversed(paths):
            if (is_folder := self.isdir(each)) and not recursive:
                raise IsADirectoryError(f"{each!r} is a folder; to move it to the trash, use recursive=True")
            if not is_folder or maxdepth is None:
                self.rm_file(each)

    def rm_file(self, path: str) -> None:
        """Move one file or folder to the trash. `untrash` of svc_notebooks restores it."""
        if not self._strip_protocol(path):
            raise ValueError("the top folder cannot be removed")
        self._trash(self.find_file(path)["id"])


def _update(callback: Any) -> Callable[[int, int | None], None]:
    return lambda done, _total: callback.absolute_update(done)


class _Queue:
    """The bytes that were written and not yet read by the upload."""

    def __init__(self) -> None:
        self.data = bytearray()

    def read(self, size: int = -1, /) -> bytes:
        """Return and remove at most `size` bytes."""
        data = bytes(self.data[:size])
        del self.data[:size]
        return data


class SvcFile(AbstractBufferedFile):  # type: ignore[misc]
    """An open file. Ranges are read when they are needed, and chunks of 8 MiB are sent while the file is written.

    The new content appears when the file is closed. A `with` block that an error ends discards what was written.
    """

    DEFAULT_BLOCK_SIZE = DEFAULT_CHUNK

    def __init__(self, fs: SvcFileSystem, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> None:
        self._session, self._content = fs.session, None
        self._queue, self._written, self._upload = _Queue(), 0, None
        self.closed = True  # for __del__, if the file cannot be opened
        if mode == "rb":
            self._content = fs.exported(path)
            if self._content is None:
                self._file = fs.readable_file(path)
            size = int(self._file["size"]) if self._content is None else len(self._content)
            super().__init__(fs, path, mode, block_size or "default", **{**options, "size": size})
            return
        self._arguments = fs.upload_arguments(path, mode)
        super().__init__(fs, path, mode, DEFAULT_CHUNK, **options)
        if mode == "ab" and (file_id := self._arguments.get("file_id")):
            self.write(Download(self._session, {"id": file_id}).read())

    _content: bytes | None
    _upload: ClientUpload | None

    def _fetch_range(self, start: int, end: int) -> bytes:
        if self._content is not None:
            return self._content[start:end]
        if start >= min(end, self.size):
            return b""
        span = ByteRange(start, min(end, self.size) - 1)
        return Download(self._session, {"id": self._file["id"], "size": str(self.size)}, span).read()

    def _upload_chunk(self, final: bool = False) -> None:
        written = self.buffer.getvalue()
        self._queue.data += written
        self._written += len(written)
        if self._upload is None and not final:
            self._upload = start_upload(self._session, self._queue, chunk_size=DEFAULT_CHUNK, **self._arguments)
        # One byte more than a chunk must be there, because the end of the queue is the end of the file.
        while self._upload is not None and self._written - self._upload.stored > DEFAULT_CHUNK:
            self._upload.send_chunk()
        if final and self.autocommit:
            self.commit()

    def commit(self) -> None:
        """Send the rest, so that the file has the new content."""
        if self._upload is not None:
            self._upload.run()
        else:
            upload(self._session, bytes(self._queue.data), **self._arguments)

    def discard(self) -> None:
        """Cancel the upload, so that the file on the service stays as it was."""
        self._queue.data.clear()
        self.closed = True
        if self._upload is not None and not self._upload.done:
            self._upload.cancel()

    def __exit__(self, kind: object, *_error: object) -> None:
        if kind is not None and self.writable():
            self.discard()
        self.close()
