"""Uploads the files of local folders into folders of the same names. A repeated upload sends only the new files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from unicodedata import normalize

from ...core.resources.files import File
from ...local.tree import LocalFile
from ..files import create_file, generate_ids, has_content_of, list_children
from ..session import Session
from .native_types import is_document
from .prepare import SIMPLE_LIMIT, execute, prepare
from .request import UploadArguments
from .sources import Progress

UPLOADED, UNCHANGED = "uploaded", "unchanged"
"""The outcomes of a file. "unchanged" means that the folder had a file of the same name with the same content."""

_IDS = 100
"""The number of file ids that are generated in one request. With an id the client can repeat a lost request."""


class TreeUpload:
    """Uploads files into folders below the folder `top`, with the same arguments for every file.

    An existing folder of the same name is used again, the oldest if there are several. An existing file is never
    changed. A file of the same name with other content is kept, and the new file is put beside it. Converted files are
    always uploaded, because a document has no checksum to compare. `arguments.query` must select the fields id, name,
    mimeType, size and createdTime.
    """

    def __init__(self, session: Session, top: str, arguments: UploadArguments) -> None:
        self._session = session
        self._arguments = arguments
        self._fields = (arguments.query or {})["fields"]
        self._folders = {PurePosixPath(): top}
        self._children: dict[str, dict[str, list[File]]] = {}
        self._new_ids = self._generate_ids()
        self._check_arguments()

    def _check_arguments(self) -> None:
        """Raise TypeError or ValueError for arguments that are not valid for any file, before anything is sent."""
        arguments = replace(self._arguments, metadata=self._metadata(PurePosixPath(), ""))
        if arguments.convert_to == "auto":  # which depends on the type of each file
            arguments = replace(arguments, convert_to=None, ocr_language=None)
        prepare(self._session, b"", arguments)

    def _generate_ids(self) -> Iterator[str]:
        while True:
            yield from generate_ids(self._session, _IDS)

    def folder(self, path: PurePosixPath) -> str:
        """Return the id of the folder at a path of the tree. The folder is created if it does not exist."""
        if path not in self._folders:
            parent = self.folder(path.parent)
            self._folders[path] = self._existing_folder(parent, path.name) or self._create_folder(parent, path.name)
        return self._folders[path]

    def _existing_folder(self, parent: str, name: str) -> str | None:
        folder_type = self._session.names.native("folder")
        matches = (file["id"] for file in self._named(parent, name) if file.get("mimeType") == folder_type)
        return next(matches, None)

    def _create_folder(self, parent: str, name: str) -> str:
        folder: File = {
            "id": next(self._new_ids),
            "name": name,
            "mimeType": self._session.names.native("folder"),
            "parents": [parent],
        }
        create_file(self._session, folder, query={"fields": "id"})
        self._children[folder["id"]] = {}
        return folder["id"]

    def _named(self, folder: str, name: str) -> list[File]:
        """Return the files and folders of this name in a folder, as they were before this upload, oldest first."""
        if folder not in self._children:
            children = self._children[folder] = {}
            for file in list_children(self._session, folder, fields=self._fields):
                children.setdefault(_key(str(file.get("name"))), []).append(file)
        return self._children[folder].get(_key(name), [])

    def upload(self, file: LocalFile, progress: Progress | None = None) -> tuple[File, str]:
        """Upload a file of the tree, and return its metadata and the outcome.

        Raises SvcError, OSError or, if the file has no possible conversion, ValueError.
        """
        if file.error is not None:
            raise file.error
        folder = self.folder(file.relative.parent)
        if existing := self._same_file(folder, file):
            return existing, UNCHANGED
        name = file.relative.name
        arguments = replace(
            self._arguments,
            name=None if name == file.path.name else name,
            metadata=self._metadata(file.relative.parent, self._new_id(file)),
        )
        return execute(self._session, prepare(self._session, file.path, arguments), progress), UPLOADED

    def _same_file(self, folder: str, file: LocalFile) -> File | None:
        if self._converts:
            return None
        for existing in self._named(folder, file.relative.name):
            same_size = existing.get("size") == str(file.size)
            if same_size and has_content_of(self._session, existing["id"], file.path, size=file.size):
                return existing
        return None

    @property
    def _converts(self) -> bool:
        declared = (self._arguments.metadata or {}).get("mimeType")
        return self._arguments.convert_to is not None or is_document(self._session, str(declared))

    def _new_id(self, file: LocalFile) -> str:
        """Return an id with which a small upload can be repeated, or an empty str for conversions and large files.

        A resumable upload can be repeated without an id, and with one it would not be found in the journal again.
        """
        return "" if self._converts or file.size > SIMPLE_LIMIT else next(self._new_ids)

    def _metadata(self, path: PurePosixPath, new_id: str) -> Mapping[str, object]:
        metadata = {**(self._arguments.metadata or {}), "parents": [self._folders[path]]}
        return {**metadata, "id": new_id} if new_id else metadata


def _key(name: str) -> str:
    """Return a file name in the Unicode form in which names are compared, because macOS decomposes letters."""
    return normalize("NFC", name)
