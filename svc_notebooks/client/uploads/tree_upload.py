"""Uploads the files of local folders into folders of the same names. A repeated upload sends only the new files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePosixPath
from typing import NamedTuple

from ...core.files.fields import composed
from ...core.resources.files import File
from ...local.tree import LocalFile
from ..files import create_file, generate_ids, has_content_of, list_children
from ..session import Session
from .idempotent_creation import find_or_upload, with_generated_id
from .sources import Progress
from .upload_request import UploadArguments, UploadRequest, is_document, prepare
from .uploads import execute

# The outcomes of a file. "unchanged" means that the folder had a file of the same name with the same content.
#
# "uploaded beside" means that the folder has a file of the same name with other content, which is "replaced" by an
# upload that overwrites.
UPLOADED, BESIDE, REPLACED, UNCHANGED = "uploaded", "uploaded beside", "replaced", "unchanged"

_IDS = 100  # the number of file ids that are generated in one request. With an id the client can repeat a lost request.


class TreeUpload:
    """Plans the upload of files into folders below the folder `top`, with the same arguments for every file.

    An existing folder of the same name is used again, the oldest if there are several. Names that differ only in their
    Unicode form are the same, so two such folders on disk become one. A file of the same name with other content is
    kept, and the new file is put beside it, unless `overwrites` is True. Converted files are always uploaded,
    because a document has no checksum to compare. `arguments.query` must select the fields id, name, mimeType, size
    and createdTime.
    """

    def __init__(self, session: Session, top: str, arguments: UploadArguments, *, overwrites: bool = False) -> None:
        self._session = session
        self._overwrites = overwrites
        self._arguments = arguments
        self._fields = (arguments.query or {})["fields"]
        self._folders = {PurePosixPath(): top}
        self._children: dict[str, dict[str, list[File]]] = {}
        self._new_ids = chain.from_iterable(generate_ids(session, _IDS) for _ in count())
        arguments = replace(arguments, metadata=self._metadata(PurePosixPath()))
        if arguments.convert_to == "auto":  # which depends on the type of each file
            arguments = replace(arguments, convert_to=None, ocr_language=None)
        prepare(session, b"", arguments)  # raises for arguments that are not valid for any file

    def folder(self, path: PurePosixPath) -> str:
        """Return the id of the folder at a path of the tree. The folder is created if it does not exist."""
        key = PurePosixPath(composed(str(path)))
        if key not in self._folders:
            parent = self.folder(path.parent)
            self._folders[key] = self.existing_folder(parent, path.name) or self._create_folder(parent, path.name)
        return self._folders[key]

    def existing_folder(self, parent: str, name: str) -> str | None:
        """Return the id of the oldest folder of this name in a folder, or None."""
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
                children.setdefault(composed(str(file.get("name"))), []).append(file)
        return self._children[folder].get(composed(name), [])

    def plan(self, file: LocalFile) -> TreeFile:
        """Return what `upload_tree_file` needs to upload a file of the tree. Its folder is created if necessary."""
        if file.error is not None:
            return TreeFile(file, self._arguments)
        folder, name = self.folder(file.relative.parent), file.relative.name
        arguments = replace(
            self._arguments,
            name=None if name == file.path.name else name,
            metadata=self._metadata(file.relative.parent),
        )
        declared = str((self._arguments.metadata or {}).get("mimeType"))
        converts = self._arguments.convert_to is not None or is_document(self._session, declared)
        named = () if converts else self._named(folder, name)
        folder_type = self._session.names.native("folder")
        files = tuple(existing for existing in named if existing.get("mimeType") != folder_type)
        return TreeFile(file, arguments, files, overwrites=self._overwrites)

    def _metadata(self, path: PurePosixPath) -> Mapping[str, object]:
        return {**(self._arguments.metadata or {}), "parents": [self.folder(path)]}


class TreeFile(NamedTuple):
    """A file of a tree, and how it is uploaded.

    `candidates` are the files of the same name that were in the folder before, of which `overwrites` replaces the
    content of the last one. `new_id` is an id for the new file, or an empty str.
    """

    file: LocalFile
    arguments: UploadArguments
    candidates: tuple[File, ...] = ()
    new_id: str = ""
    overwrites: bool = False


def upload_tree_file(
    session: Session, planned: TreeFile, progress: Progress | None = None, *, repeated: bool = False
) -> tuple[File, str]:
    """Upload a file of a tree, and return its metadata and the outcome.

    `repeated` is True if an earlier call may have uploaded the file with the same `new_id`. Raises SvcError, OSError
    or, if the file has no possible conversion, ValueError.
    """
    file = planned.file
    if file.error is not None:
        raise file.error
    for existing in planned.candidates:
        is_candidate = existing.get("size") == str(file.size)
        if is_candidate and has_content_of(session, existing["id"], file.path, size=file.size):
            return existing, UNCHANGED
    request = prepare(session, file.path, planned.arguments)
    if planned.overwrites and planned.candidates:
        return execute(session, new_content_of(planned.candidates[-1]["id"], request), progress), REPLACED
    outcome = BESIDE if planned.candidates else UPLOADED
    if planned.new_id:
        request = with_generated_id(session, request, planned.new_id)
    if repeated:
        return find_or_upload(session, request, lambda: execute(session, request, progress)), outcome
    return execute(session, request, progress), outcome


def new_content_of(file_id: str, request: UploadRequest) -> UploadRequest:
    """Return an upload of the same source as the new content of an existing file, which keeps its name and folder."""
    kept = {key: value for key, value in request.metadata.items() if key not in ("id", "name", "parents")}
    return replace(request, file_id=file_id, metadata=kept)
