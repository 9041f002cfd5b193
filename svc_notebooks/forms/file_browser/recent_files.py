"""Lists files for the controls of the forms: the files modified last, and the folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .details import minute_text
from .search import ROOT_FOLDER

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File

MAX_FILES = 200
"""The maximum number of files in a selection list. The functions of the package accept any file."""


def latest_files(session: Session, *facts: str, q: str = "") -> list[File]:
    """Return at most 200 files with id, name, modifiedTime and `facts`, last modified first, without trashed files."""
    from ...client.files import list_files

    fields = ",".join(("id", "name", "modifiedTime", *facts))
    query = " and ".join(filter(None, [q, "trashed = false"]))
    return list(list_files(session, q=query, order_by="modifiedTime desc", fields=fields, limit=MAX_FILES))


def folder_options(session: Session, *, without: Sequence[str]) -> list[tuple[str, str]]:
    """Return the path and the id of each folder of the user, sorted by path, except the folders with the ids `without`.

    The first is the root folder. At most 200 folders are listed.
    """
    from ...client.files import list_files

    query = f"mimeType = '{session.names.native('folder')}' and trashed = false and 'me' in writers"
    listed = list_files(session, q=query, order_by="name_natural", fields="id,name,parents", limit=MAX_FILES)
    folders = {str(folder["id"]): folder for folder in listed}
    options = sorted((_path(folders, file_id), file_id) for file_id in folders if file_id not in without)
    return [option for option in [ROOT_FOLDER[::-1], *options] if option[1] not in without]


def _path(folders: Mapping[str, File], folder_id: str) -> str:
    """Return the names of a folder and of the folders above it that are listed, such as "Data / 2026"."""
    names: list[str] = []
    while folder_id in folders and len(names) < len(folders):
        names.insert(0, str(folders[folder_id].get("name")))
        folder_id = str((folders[folder_id].get("parents") or [""])[0])
    return " / ".join(names)


def file_line(facts: File, type_name: str = "") -> str:
    """Return the name, the type name and the modification time of a file as one line of text.

    >>> file_line({"name": "plan.txt", "modifiedTime": "2026-01-05T09:00:00.000Z"})
    'plan.txt (2026-01-05 09:00 UTC)'
    """
    return f"{facts.get('name')} ({type_name + ', ' if type_name else ''}{minute_text(facts.get('modifiedTime'))} UTC)"
