"""Lists the files below a folder of the service, and chooses the path on disk and the format of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...core.http.native_formats import ExportFormat
from ...core.resources.files import File
from ...local.saving import DistinctPaths
from ..about import export_formats, native_name
from ..files import list_children
from ..session import Session
from .downloads import safe_name
from .exports import choose, export_name

FIELDS = "id,name,size,headRevisionId,mimeType,trashed,createdTime,modifiedTime,ownedByMe"
"""The fields of the files in a `RemoteTree`."""

_FORMATS = ("docx", "xlsx", "pptx", "svg", "json")
"""The export formats of documents in a folder. These formats keep the most, and can be converted to documents again."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of the service with its path on disk.

    `export` is the format of a native document, and None for other files. `skipped` says why a file cannot be saved.
    """

    metadata: File
    path: Path
    export: ExportFormat | None = None
    skipped: str = ""


@dataclass(slots=True)
class RemoteTree:
    """The folders (paths on disk, parents first) and the files of a tree."""

    folders: list[Path] = field(default_factory=list)
    files: list[RemoteFile] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The size of all files in bytes, without native documents, whose size is not known before the export."""
        return sum(int(file.metadata.get("size") or 0) for file in self.files)


def list_remote_tree(session: Session, folder: File, target: Path, paths: DistinctPaths) -> RemoteTree:
    """Return everything below a folder of the service, which is saved in the local folder `target`.

    A second file or folder of the same name gets the path `name (1)`, in the order of creation. A folder that is in
    several folders of the tree, or contains itself, is listed once.
    """
    tree, listed = RemoteTree(), set[str]()
    pending = [(folder, paths.claim(target / safe_name(str(folder.get("name")))))]
    while pending:
        folder, path = pending.pop(0)
        listed.add(folder["id"])
        tree.folders.append(path)
        for file in list_children(session, folder["id"], fields=FIELDS, trashed=bool(folder.get("trashed"))):
            member = _remote_file(session, file, path, paths)
            if file.get("mimeType") != session.names.native("folder"):
                tree.files.append(member)
            elif file["id"] not in listed:
                listed.add(file["id"])
                pending.append((file, member.path))
    tree.files.sort(key=lambda file: file.path)
    return tree


def _remote_file(session: Session, file: File, folder: Path, paths: DistinctPaths) -> RemoteFile:
    name, media_type = str(file.get("name") or file["id"]), str(file.get("mimeType"))
    if not session.names.is_native(media_type) or media_type == session.names.native("folder"):
        return RemoteFile(file, paths.claim(folder / safe_name(name)))
    if export := _default_format(session, media_type):
        return RemoteFile(file, paths.claim(folder / export_name(name, export)), export)
    return RemoteFile(file, folder / safe_name(name), skipped=f"a {native_name(session.names, media_type)}")


def _default_format(session: Session, native_type: str) -> ExportFormat | None:
    """Return the format of `_FORMATS` that the service offers for a native type, else its first format, else None."""
    formats = export_formats(session, native_type)
    preferred = (choose(formats, extension) for extension in _FORMATS)
    return next((row for row in preferred if row), formats[0] if formats else None)
