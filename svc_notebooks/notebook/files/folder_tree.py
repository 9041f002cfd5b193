"""The folders of a user by their parents, with which files get paths and are found below a folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ...core.files.query import quote
from ...core.resources.files import File

if TYPE_CHECKING:
    from ...client.session import Session

_PAGE = 1000


class FolderTree:
    """All folders that a user can see. One request reads a thousand of them.

    >>> from svc_notebooks.notebook.files.folder_tree import FolderTree
    >>> lab = svc.sandbox()
    >>> inner = svc.create_folder("birds/2026")
    >>> tree = FolderTree(lab.session)
    >>> tree.path({"name": "may.csv", "parents": inner["id"].tolist()})
    'birds/2026/may.csv'
    """

    def __init__(self, session: Session) -> None:
        from ...client.files import list_files

        query = f"mimeType = {quote(session.names.native('folder'))}"
        folders = list_files(session, q=query, page_size=_PAGE, fields="id,name,parents")
        self._folders: dict[str, File] = {str(folder["id"]): folder for folder in folders}
        self._session = session

    def path(self, file: File) -> str:
        """Return the names of the folders above a file and its own, from the top folder, joined by slashes.

        The path of a shared file begins with the first folder that this user can see.
        """
        names = [str(file.get("name"))]
        above: Collection[str] = file.get("parents") or ()
        seen: set[str] = set()
        while (folder := self._folders.get(next(iter(above), ""))) and folder["id"] not in seen:
            seen.add(folder["id"])
            names.append(str(folder.get("name")))
            above = folder.get("parents") or ()
        return "/".join(reversed(names))

    def below(self, folders: Iterable[str]) -> set[str]:
        """Return the ids of folders and of all folders below them. The id "root" is the top folder."""
        from ...client.files import ROOT, get_file

        children: dict[str, list[str]] = {}
        for folder_id, folder in self._folders.items():
            for parent in folder.get("parents") or ():
                children.setdefault(parent, []).append(folder_id)
        waiting = [str(get_file(self._session, ROOT, fields="id")["id"]) if id == ROOT else id for id in folders]
        ids: set[str] = set()
        while waiting:
            folder_id = waiting.pop()
            if folder_id not in ids:
                ids.add(folder_id)
                waiting += children.get(folder_id, ())
        return ids
