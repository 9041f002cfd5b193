"""Finds folders by their paths, and the paths of files by their folders."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..client.files import ROOT, get_file, list_files
from ..core.errors.errors import NotFound
from ..core.files.fields import composed
from ..core.files.query import quote
from ..core.resources.files import File
from .arguments import file_ids, one_id

if TYPE_CHECKING:
    from ..client.session import Session

_PAGE = 1000
_MAX_NAMESAKES = 50
"""The largest number of folders of one name that a path may lead through."""
FOLDER = "folder "
"""The argument `kind` of `files_at` for folders only."""

ESCAPED_SLASH = re.compile(r"%((?:25)*)2F")
_ID = re.compile(r"root|(?=\D*\d)[\w-]{19,}", re.ASCII)
"""A text that is sent as an id. Ids of services are long and have digits. A longer name is a path: "/name"."""
_WORD = re.compile(r"[\w-]+(@[\w.-]+)?", re.ASCII)
"""A text that may be an id if no file in the top folder has this name."""


def path_part(name: str) -> str:
    """Return the name as a part of a path, in which %2F stands for a slash.

    >>> path_part("in/out.csv"), path_part("50%2F.csv")
    ('in%2Fout.csv', '50%252F.csv')
    """
    return ESCAPED_SLASH.sub(r"%25\g<1>2F", name).replace("/", "%2F")


def name_of_part(part: str) -> str:
    """Return the name for a part of a path, which is the inverse of `path_part`."""
    return ESCAPED_SLASH.sub(lambda match: f"%{match[1][2:]}2F" if match[1] else "/", part)


def files_at(
    session: Session, value: object, argument: str = "file", kind: str = "", *, trashed: bool = False
) -> list[str]:
    """Return the ids of a file argument. A text that does not look like an id is the path of a file, like "A/b.txt".

    A word that is not a name in the top folder may be an id of another service, and is returned. `kind` is FOLDER for
    folders only. With `trashed` the file is in the trash. Raises NotFound for a path without a file, and ValueError for
    a path of several files, and for a file that is given twice.
    """
    texts = file_ids(value, argument)
    ids = [text if _ID.fullmatch(text) else _at(session, text, argument, kind, trashed=trashed) for text in texts]
    if twice := next((text for n, text in enumerate(texts) if ids[n] in ids[:n]), None):
        raise ValueError(f"{argument} has the file {twice!r} twice, under two names; name each file once")
    return ids


def one_file_at(session: Session, value: object, argument: str = "file") -> str:
    """Return the id of a file argument that has one file, which may be a path."""
    return files_at(session, one_id(value, argument), argument)[0]


def one_folder_id(session: Session, value: object, argument: str = "folder") -> str:
    """Return the id of a folder argument that has one folder. Raises ValueError for none or several."""
    folders = file_ids(value, argument)
    if len(folders) != 1:
        raise ValueError(f"{argument} has {len(folders)} files or folders; give one folder")
    return files_at(session, folders, argument, FOLDER)[0]


def _at(session: Session, path: str, argument: str, kind: str, *, trashed: bool) -> str:
    """Return the id of the file at a path. Folders of one name are all searched."""
    found, folder = [ROOT], f" and mimeType = {quote(session.names.native('folder'))}"
    parts = [part for part in path.removeprefix("svc://").split("/") if part]
    for n, part in enumerate(parts, 1):
        name, is_last = name_of_part(part), n == len(parts)
        parents = " or ".join(f"{quote(file)} in parents" for file in found)
        query = f"name = {quote(name)} and ({parents}) and trashed = {str(trashed and is_last).lower()}"
        query += "" if is_last and not kind else folder
        rows = list_files(session, q=query, order_by="createdTime", fields="id,name")
        found = [row["id"] for row in rows if composed(row["name"]) == composed(name)]
        if not found and not kind and _WORD.fullmatch(path):
            return path
        if not found:
            with suppress(NotFound):
                if kind and "/" not in path:
                    return str(get_file(session, path, fields="id")["id"])
            above = "/".join(parts[: n - 1])
            advice = f"files(folder={above or ROOT!r}) lists the files of the folder."
            advice = "files(trashed=True) lists the trash." if trashed and is_last else advice
            advice = f"create_folder({'/'.join(parts)!r}) creates it." if kind else advice
            if n == 1 and (shared := [*list_files(session, q=f"name = {quote(name)} and sharedWithMe", fields="id")]):
                advice = f"A file of this name is shared with this user; give its id: {[row['id'] for row in shared]}."
            raise NotFound(f"{argument} is {path!r}, and there is no {kind}{name!r} at this place.", advice=advice)
        if len(found) > (1 if is_last else _MAX_NAMESAKES):
            files = f"{kind.strip() or 'file'}s" if is_last else f"folders {name!r}"
            raise ValueError(f"{argument} is {path!r}, the path of {len(found)} {files}; give an id: {found[:9]}")
    return found[0]


class FolderTree:
    """All folders that a user can see. One request reads a thousand of them.

    >>> from svc_notebooks.notebook.folder_tree import FolderTree
    >>> lab = svc.sandbox()
    >>> inner = svc.create_folder("birds/2026")
    >>> tree = FolderTree(lab.session)
    >>> tree.path({"name": "may.csv", "parents": inner["id"].tolist()})
    'birds/2026/may.csv'
    """

    def __init__(self, session: Session) -> None:

        query = f"mimeType = {quote(session.names.native('folder'))}"
        folders = list_files(session, q=query, page_size=_PAGE, fields="id,name,parents")
        self._folders: dict[str, File] = {str(folder["id"]): folder for folder in folders}
        self._session = session

    def path(self, file: File) -> str:
        """Return the names of the folders above a file and its own, from the top folder, joined by slashes.

        %2F is a slash in a name. The path of a shared file begins with the first folder that this user can see.
        """
        names = [path_part(str(file.get("name")))]
        above: Collection[str] = file.get("parents") or ()
        seen: set[str] = set()
        while (folder := self._folders.get(next(iter(above), ""))) and folder["id"] not in seen:
            seen.add(folder["id"])
            names.append(path_part(str(folder.get("name"))))
            above = folder.get("parents") or ()
        return "/".join(reversed(names))

    def below(self, folders: Iterable[str]) -> set[str]:
        """Return the ids of folders and of all folders below them. The id "root" is the top folder."""

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
