"""The metadata of a file as a row of a list, as details and as a table, and the lists of recent files and folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from ...client.about import native_name
from ...client.files import list_files
from ...client.session import Session
from ...core.brand_names import NOWHERE, Names
from ...core.resources.files import File
from ...notebook.html import Markup, join_html, tag
from ...notebook.quantities import count_text, size_text
from ..widgets import ui
from ..widgets.form import copy_button

LIST_FIELDS = (
    "id,name,mimeType,size,createdTime,modifiedTime,trashed,starred,parents,webViewLink,shared,ownedByMe,"
    "description,owners(emailAddress),permissions(type,role,emailAddress,domain),viewersCanCopyContent,"
    "capabilities(canCopy,canDelete,canDownload,canEdit,canListChildren,canModifyContent,"
    "canMoveItemWithinDrive,canRename,canShare,canTrash,canUntrash)"
)
"""The fields that a list request asks for. The columns of `files()` and the details of a file use these fields."""


COLUMNS = {"name": "Name", "kind": "Type", "size": "Size", "changed": "Modified (UTC)"}


def table_row(facts: File, names: Names) -> dict[str, Any]:
    cells = (type_name(facts, names), _size(facts), minute_text(facts.get("modifiedTime")))
    return {
        "id": str(facts["id"]),
        "name": str(facts.get("name")),
        **dict(zip(("kind", "size", "changed"), cells, strict=True)),
        "folder": is_folder(facts, names),
        "note": _note(facts),
        "more": ", ".join(filter(None, cells)),
    }


def type_name(facts: File, names: Names) -> str:
    """Return the type name of a native document, or the media type of any other file."""
    media_type = str(facts.get("mimeType") or "")
    return native_name(names, media_type) if names.is_native(media_type) else media_type


def is_folder(facts: File, names: Names) -> bool:
    return facts.get("mimeType") == names.native("folder")


def minute_text(text: object) -> str:
    """Return a timestamp of the interface as text without seconds. Return an empty text for None.

    >>> minute_text("2026-01-05T09:00:00.000Z")
    '2026-01-05 09:00'
    """
    return str(text or "")[:16].replace("T", " ")


def _size(facts: File) -> str:
    return "" if facts.get("size") is None else size_text(int(facts["size"]))


def _note(facts: File) -> str:
    """Return remarks about a file as text, such as "starred, shared by me"."""
    notes = {
        "in the trash": facts.get("trashed"),
        "starred": facts.get("starred"),
        "shared by me": facts.get("shared") and facts.get("ownedByMe"),
        "of " + owner(facts): facts.get("ownedByMe") is False,
    }
    return ", ".join(words for words, applies in notes.items() if applies)


def owner(facts: File) -> str:
    """Return the e-mail address of the owner of a file, or "somebody else" if the address is missing."""
    owners = facts.get("owners") or [{}]
    return str(owners[0].get("emailAddress") or "somebody else")


def access_text(facts: File) -> str:
    """Return who has access to a file, such as "ada@svc.example (owner), anyone (reader)".

    Return an empty text if the service does not say it, as to a reader.
    """
    permissions = facts.get("permissions") or []
    who = ((grant.get("emailAddress") or grant.get("domain") or grant["type"], grant["role"]) for grant in permissions)
    return ", ".join(f"{name} ({role})" for name, role in who)


def _link(facts: File) -> Markup | str | None:
    """Return the link to the page of a file with a Copy button, or how to get a link that a browser can open."""
    url = facts.get("webViewLink")
    if url is None or url.startswith(NOWHERE):
        return url and "Call lab.serve() for a link that opens."
    return join_html(tag("a", url, href=url, target="_blank", rel="noreferrer"), " ", copy_button("Copy link", url))


def details_view(facts: File, names: Names) -> Markup:
    rows = {
        "Name": facts.get("name"),
        "Type": type_name(facts, names),
        "Size": _size(facts),
        "Created": f"{minute_text(facts.get('createdTime'))} UTC",
        "Modified": f"{minute_text(facts.get('modifiedTime'))} UTC",
        "Owner": owner(facts),
        "Access": access_text(facts),
        "Link": _link(facts),
        "Notes": _note(facts) or None,
        "Viewers": "cannot download, export or copy it" if ui.is_restricted(facts) else None,
        "Description": facts.get("description"),
        "ID": tag("code", facts["id"]),
    }
    return _table(rows, f"Details of {facts.get('name')}")


def content_note(facts: File, names: Names) -> str:
    """Return a text about the effect of replacing the content of a file."""
    if names.is_native(str(facts.get("mimeType"))):
        return "The file is a native document. The new content is converted and replaces everything in the document."
    changed = f"changed {minute_text(facts.get('modifiedTime'))} UTC"
    return (
        f"The new content overwrites the current content ({_size(facts)}, {changed}). The file keeps its id and name."
    )


def _table(rows: Mapping[str, object], caption: str) -> Markup:
    lines = join_html(
        *(tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows.items() if value)
    )
    return ui.table_region(caption, tag("table", tag("caption", caption), tag("tbody", lines), class_="svc-facts"))


class FileDetails(widgets.VBox):  # type: ignore[misc]
    """The details of a file, and a copy permission checkbox, which calls `changed` with the file and the new state."""

    def __init__(self, changed: Callable[[File, bool], None]) -> None:
        self._changed = changed
        self._file: File | None = None
        self.facts, self.viewers = widgets.HTML(), ui.viewers_switch()
        self.viewers.observe(lambda _change: self._set(), "value")
        super().__init__([self.facts, self.viewers])
        self.clear()

    def summarize(self, files: Sequence[File]) -> None:
        """Show the number and the size of several files, or a hint for an empty selection."""
        if not files:
            self.clear(tag("p", "Select a file to see its details.", class_="svc-hint"))
            return
        size = size_text(sum(int(file.get("size") or 0) for file in files))
        self.clear(tag("p", f"{count_text(len(files), 'file')} selected", tag("br"), size, role="status"))

    def clear(self, words: str | Markup = "") -> None:
        self._file = None
        self.facts.value = words
        ui.set_visible(self.viewers, False)

    def show(self, file: File, names: Names) -> None:
        """Show the details of a file, with the checkbox if the user can edit the file."""
        self._file = None
        self.viewers.value = not ui.is_restricted(file)
        self._file = file
        self.facts.value = details_view(file, names)
        ui.set_visible(self.viewers, ui.may_edit(file) and not is_folder(file, names))

    def _set(self) -> None:
        if self._file is not None and self.viewers.value == ui.is_restricted(self._file):
            self._changed(self._file, self.viewers.value)


ROOT = "root"
"""The id of the root folder."""

ROOT_FOLDER = (ROOT, "My files")

MAX_FILES = 200
"""The maximum number of files in a selection list. The functions of the package accept any file."""


def latest_files(session: Session, *facts: str, q: str = "") -> list[File]:
    """Return at most 200 files with id, name, modifiedTime and `facts`, last modified first, without trashed files."""
    fields = ",".join(("id", "name", "modifiedTime", *facts))
    query = " and ".join(filter(None, [q, "trashed = false"]))
    return list(list_files(session, q=query, order_by="modifiedTime desc", fields=fields, limit=MAX_FILES))


def folder_options(session: Session, *, without: Sequence[str]) -> list[tuple[str, str]]:
    """Return the path and the id of each folder of the user, sorted by path, except the folders with the ids `without`.

    The first is the root folder. At most 200 folders are listed.
    """
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
