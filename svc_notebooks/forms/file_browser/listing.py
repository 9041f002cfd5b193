"""The list of files with its search, its pages and its order, and the requests that list the files (A4, `q`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import ipywidgets as widgets

from ...client.files import list_files, native_name
from ...client.json_response import read_page
from ...client.session import Session
from ...core.brand_names import IN_PROCESS_URL, Names
from ...core.files.query import quote
from ...core.resources.files import File, FileList
from ...notebook.display import Markup, count_text, join_html, size_text, tag
from ...notebook.files.search import wire_query
from ..widgets import ui
from ..widgets.background_task import LatestTask
from ..widgets.form import call_text, copy_button
from ..widgets.grid import Grid

if TYPE_CHECKING:
    from .browser import FileBrowser


# The id of the root folder.
ROOT = "root"

ROOT_FOLDER = (ROOT, "My files")

HERE, EVERYWHERE, SHARED, TRASH = "here", "everywhere", "shared", "trash"
SCOPES = (("This folder", HERE), ("All my files", EVERYWHERE), ("Shared with me", SHARED), ("Trash", TRASH))

NAME, TEXT, QUERY = "name", "fullText", "q"
FIELDS = (("Name", NAME), ("Name and description", TEXT), ("Query (q)", QUERY))

# The sort orders, which the service applies to all pages. The service cannot sort by type.
ORDERS = (
    ("Name, A to Z", "folder,name_natural"),
    ("Name, Z to A", "folder,name_natural desc"),
    ("Modified, newest first", "modifiedTime desc"),
    ("Modified, oldest first", "modifiedTime"),
    ("Size, largest first", "quotaBytesUsed desc"),
    ("Size, smallest first", "quotaBytesUsed"),
    ("Created, newest first", "createdTime desc"),
    ("Created, oldest first", "createdTime"),
)

# The sort orders of each heading of the list. The first click on a heading applies the first one.
HEADING_ORDERS = {
    "name": ("folder,name_natural", "folder,name_natural desc"),
    "changed": ("modifiedTime desc", "modifiedTime"),
    "size": ("quotaBytesUsed desc", "quotaBytesUsed"),
}


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A file search with scope, field, text and sort order. `folder` is the folder id, used only for the scope HERE."""

    scope: str = HERE
    folder: str = ROOT
    field: str = NAME
    text: str = ""
    order: str = ORDERS[0][1]

    @property
    def q(self) -> str:
        """The query text for the request parameter `q`. Names in snake_case become wire names.

        >>> FileQuery(text="bird's").q
        "'root' in parents and trashed = false and name contains 'bird\\\\'s'"
        >>> FileQuery(field="q", text="mime_type = 'text/csv'").q
        "mimeType = 'text/csv'"
        """
        text = self.text.strip()
        if self.field == QUERY and text:
            return wire_query(text)
        terms = [*_SCOPE_TERMS[self.scope]]
        if self.scope == HERE:
            terms.insert(0, f"{quote(self.folder)} in parents")
        if text and self.field != QUERY:
            terms.append(f"{self.field} contains {quote(text)}")
        return " and ".join(terms)

    @property
    def order_by(self) -> str | None:
        """The sort order, or None for a full-text search, because the service ranks its results."""
        return None if TEXT in self.q else self.order

    def code(self) -> str:
        """Return the call that lists the same files.

        >>> FileQuery(scope="trash").code()
        "svc.files('trashed = true', order_by='folder,name_natural')"
        """
        return call_text("files", [self.q], {"order_by": self.order_by} if self.order_by else {})


_SCOPE_TERMS = {
    HERE: ("trashed = false",),
    EVERYWHERE: ("trashed = false",),
    SHARED: ("sharedWithMe = true", "trashed = false"),
    TRASH: ("trashed = true",),
}


def heading_of(order: str | None) -> tuple[str, bool]:
    """Return the heading of a sort order, or an empty text if it has none, and True for a descending order.

    >>> heading_of("folder,name_natural"), heading_of("modifiedTime desc"), heading_of(None)
    (('name', False), ('changed', True), ('', False))
    """
    column = next((column for column, orders in HEADING_ORDERS.items() if order in orders), "")
    return column, bool(column and order and order.endswith(" desc"))


class FileSearch(widgets.HBox):  # type: ignore[misc]
    """The search controls. `query` returns the search that the controls describe.

    >>> search = FileSearch()
    >>> search.text.value = "birds"
    >>> search.query("root").q
    "'root' in parents and trashed = false and name contains 'birds'"
    """

    def __init__(self) -> None:
        self.scope = ui.dropdown("Location", "Where to search", SCOPES, style=ui.AUTO_WIDTH)
        self.field = ui.dropdown("Search in", "The field that is searched", FIELDS, style=ui.AUTO_WIDTH)
        self.text = ui.text_field(
            "Search", "The list is updated while you type", hint="empty: all files", style=ui.AUTO_WIDTH
        )
        self.text.continuous_update = True  # a letter that arrives late lists the files once more, which does no harm
        self.order = ui.dropdown("Sort by", "The order of the files", ORDERS, style=ui.AUTO_WIDTH)
        super().__init__([self.scope, self.field, self.text, self.order])
        self.add_class("svc-filters")
        self._silent = False
        self._changed: Callable[[bool], None] = lambda _typed: None
        self.field.observe(lambda _change: self._update_controls(), "value")
        for control in self.children:
            control.observe(lambda change: self._notify(change["owner"] is self.text), "value")

    def __call__(self, text: str) -> None:
        """Search for a text. An empty text lists all files."""
        self.text.value = text

    def watch(self, changed: Callable[[bool], None]) -> None:
        """Call `changed` for each change, with True for a letter that a person has typed."""
        self._changed = changed

    def _notify(self, typed: bool) -> None:
        if not self._silent:
            self._changed(typed)

    def query(self, folder: str) -> FileQuery:
        """Return the search that the controls describe. `folder` is the id of the open folder."""
        return FileQuery(self.scope.value, folder, self.field.value, self.text.value, self.order.value)

    def sort_by(self, column: str) -> None:
        """Sort by a heading of the list. The second call for the same heading reverses the order."""
        first, second = HEADING_ORDERS[column]
        self.order.value = second if self.order.value == first else first

    def _update_controls(self) -> None:
        """Show the controls that belong to the searched field.

        A query contains its own conditions, and is not valid before it is complete. The service sorts the results of a
        full-text search itself.
        """
        hint = "starred = true and name contains 'a'; then press Enter" if self.field.value == QUERY else ""
        with self.text.hold_sync():  # a page that gets a message about the text field restores its last sent text
            self.text.continuous_update = self.field.value != QUERY
            self.text.placeholder = hint or "empty: all files"
        ui.set_visible(self.scope, self.field.value != QUERY)
        ui.set_visible(self.order, self.field.value != TEXT)

    def reset(self) -> None:
        """Reset the controls, so that all files in the open folder are listed. Call the watcher once."""
        self._silent = True
        self.field.value, self.text.value, self.scope.value = NAME, "", HERE
        self._silent = False
        self._notify(False)

    @property
    def in_folder(self) -> bool:
        return bool(self.scope.value == HERE and self.field.value != QUERY)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for one page of the files that match a query. The token of the first page is None."""

    query: FileQuery
    token: str | None
    size: int

    def send(self, session: Session) -> FileList:
        """Return the page, with the fields that the list and the details show."""
        fields = f"nextPageToken,files({LIST_FIELDS})"
        asked = {"q": self.query.q, "orderBy": self.query.order_by, "pageSize": self.size, "pageToken": self.token}
        page = session.call("GET", session.names.path("files"), query=asked | {"fields": fields})
        read_page(page, FileList, session.base_url, "files", fields)
        return cast("FileList", page)


# The number of files on a page, until a person chooses another one.
PAGE_SIZE = 50

PAGE_SIZES = (20, PAGE_SIZE, 100, 200, 500)


class Pager(widgets.HBox):  # type: ignore[misc]
    """Goes through the pages of a list. `token` is the token of the current page, `size` the number of its rows.

    >>> pager = Pager()
    >>> pager.show(3, None); pager.text
    '3 files'
    """

    def __init__(self) -> None:
        self._tokens: list[str | None] = [None]
        self._next_token: str | None = None
        self._count = 0
        self.previous = ui.button("Previous", "Show the previous page", icon="chevron-left")
        self.next = ui.button("Next", "Show the next page", icon="chevron-right")
        self.range = widgets.HTML()
        self.page_size = ui.dropdown("Files per page", "The length of a page", PAGE_SIZES, style=ui.AUTO_WIDTH)
        self.page_size.value = PAGE_SIZE
        super().__init__([self.previous, self.range, self.next, self.page_size])
        self.add_class("svc-buttons")
        self.add_class("svc-pager")
        self.show(0, None)

    def watch(self, turn: Callable[[Callable[[], None]], None]) -> None:
        """Call `turn` with the method that goes to another page when a person asks for the page."""
        self.previous.on_click(lambda _button: turn(self.back))
        self.next.on_click(lambda _button: turn(self._forward))
        self.page_size.observe(lambda _change: turn(self.restart), "value")

    @property
    def token(self) -> str | None:
        return self._tokens[-1]

    @property
    def size(self) -> int:
        return int(self.page_size.value)

    @property
    def is_first(self) -> bool:
        return len(self._tokens) == 1

    def restart(self) -> None:
        """Go to the first page without a request."""
        self._tokens, self._next_token = [None], None

    def back(self) -> None:
        """Go to the previous page without a request. Raises ValueError on the first page."""
        if self.is_first:
            raise ValueError("This is the first page.")
        self._tokens.pop()
        self._next_token = None

    def show(self, count: int, next_token: str | None) -> None:
        """Show the position of a page with `count` rows. `next_token` is the page token of the next page, if any."""
        self._count, self._next_token, self._has_more = count, next_token, next_token is not None
        self.previous.disabled, self.next.disabled = self.is_first, next_token is None
        self.range.value = tag("span", self.text, role="status", class_="svc-range")

    @property
    def text(self) -> str:
        """The position of the page in the list, such as "51-62 of 62"."""
        if self.is_first and not self._has_more:
            return count_text(self._count, "file")
        before = self.size * (len(self._tokens) - 1)
        last = before + self._count
        return f"{before + 1:,}\N{EN DASH}{last:,} of {'more than ' * self._has_more}{last:,}"

    def _forward(self) -> None:
        if self._next_token is None:
            raise ValueError("There is no next page, or the page is loading.")
        self._tokens.append(self._next_token)
        self._next_token = None


_TYPING_PAUSE = 0.25  # the seconds after the last typed letter of a search until the list is loaded

_EMPTY_FOLDER = "This folder is empty. Drop files here to upload them."
_NO_MATCH = "No files."
_NOT_LISTED = "The files could not be listed."


class FileListing:
    """Lists the files of a folder or of a search, one page at a time. `browser` places its widgets."""

    def __init__(self, browser: FileBrowser) -> None:
        self._browser = browser
        self._folders = [ROOT_FOLDER]
        self._page: list[File] = []
        self._shown: PageRequest | None = None
        self._to_select: list[str] = []
        self._navigating = self._showing = False
        self._loader = LatestTask(self._on_failure)
        self.search, self.files, self.pager = FileSearch(), Grid("Files", COLUMNS), Pager()
        self.location = widgets.HTML()
        self.search.watch(browser._guarded(lambda typed: self._restart(_TYPING_PAUSE if typed else 0)))
        self.pager.watch(browser._guarded(self._turn))
        opened, up = browser._guarded(self._open_row), browser._guarded(self.go_up)
        self.files.watch(self._on_selection, opened, up, self.search.sort_by, browser._on_key)

    @property
    def busy(self) -> bool:
        return self._loader.busy

    @property
    def page(self) -> list[File]:
        """The files of the current page."""
        return self._page

    @property
    def selection(self) -> list[File]:
        """The selected files, from top to bottom."""
        ids = set(self.files.ids())
        return [file for file in self._page if file["id"] in ids]

    def require_selection(self) -> list[File]:
        """Return the selected files. Raises ValueError if no file is selected."""
        if not (files := self.selection):
            raise ValueError("No file is selected. Select one or more in the list.")
        return files

    def require_one(self) -> File:
        """Return the selected file. Raises ValueError if no file or several files are selected."""
        if len(files := self.require_selection()) > 1:
            raise ValueError("Several files are selected. Select one.")
        return files[0]

    @property
    def folder(self) -> tuple[str, str]:
        """The id and the name of the open folder."""
        return self._folders[-1]

    @property
    def at_root(self) -> bool:
        """True if the open folder has no parent folder."""
        return len(self._folders) == 1

    @property
    def query(self) -> FileQuery:
        return self.search.query(self.folder[0])

    @property
    def request(self) -> PageRequest:
        """The request for the current page."""
        return PageRequest(self.query, self.pager.token, self.pager.size)

    @property
    def location_text(self) -> str:
        if self.search.in_folder:
            return " / ".join(name for _, name in self._folders)
        return str(self.search.scope.label if self.search.field.value != "q" else "Search results")

    def load(self, *, delay: float = 0) -> None:
        """List the current page, after a person has gone there."""
        self._navigating = True
        self._browser._last_code = ""  # it was about the files listed before
        self._browser._clear_messages()
        self._load(delay)

    def refresh(self, *, select: Sequence[str] = ()) -> None:
        """List the current page again, because its files may have changed. Select the files with these ids."""
        self._to_select = [*select]
        self._load(0)

    def close(self) -> None:
        """Drop the running request."""
        self._loader.cancel()

    def go_up(self) -> None:
        """List the parent folder. Raises ValueError in the root folder."""
        if self.at_root:
            raise ValueError(f"{ROOT_FOLDER[1]} has no parent folder.")
        self._folders.pop()
        self._restart()

    def open_file(self, facts: File) -> None:
        """List a folder, or show a preview of any other file."""
        if not is_folder(facts, self._browser.session.names):
            self._browser._preview(facts)
            return
        parents = self._folders if self.search.in_folder else [ROOT_FOLDER]
        self._folders = [*parents, (str(facts["id"]), str(facts["name"]))]
        if self.search.in_folder and not self.search.text.value:
            self._restart()
        else:
            self.search.reset()

    def show_changes(self, request: PageRequest, page: FileList) -> None:
        """Show a page that was requested after a change of files. List the current page if a person has gone there."""
        if request == self.request:
            self._loader.cancel()
            self._show(request, page)
        else:
            self._load(0)

    def _restart(self, delay: float = 0) -> None:
        self.pager.restart()
        self.load(delay=delay)

    def _turn(self, go: Callable[[], None]) -> None:
        go()
        self.load()

    def _on_selection(self) -> None:
        if not self._showing:
            self._browser._on_selection()

    def _open_row(self, file_id: str) -> None:
        for file in self._page:
            if file["id"] == file_id:
                self.open_file(file)

    def _load(self, delay: float) -> None:
        session, request = self._browser.session, self.request
        self._loader.begin(
            lambda: request.send(session),
            lambda page: self._show(request, page),
            in_thread=not session.in_process,
            delay=delay,
        )

    def _show(self, request: PageRequest, page: FileList) -> None:
        files, order = page.get("files") or [], request.query.order_by
        if not files and not self.pager.is_first:  # the last file of the last page is gone
            self.pager.back()
            self._load(0)
            return
        self._shown = request
        self.pager.show(len(files), page.get("nextPageToken"))
        column, descending = heading_of(order)
        self.files.sortable = [*HEADING_ORDERS] if order else []
        self.files.order = {"column": column, "descending": descending}
        self._show_rows(files, _EMPTY_FOLDER if self.search.in_folder and not self.search.text.value else _NO_MATCH)

    def _show_rows(self, files: list[File], empty_message: str) -> None:
        names = self._browser.session.names
        self._page = files
        self._showing = True  # the events of the list are about the person's selection only
        self.files.show([table_row(file, names) for file in files], empty_message)
        if selected := [file["id"] for file in files if file["id"] in self._to_select]:
            self.files.chosen = selected
        self._showing, self._to_select = False, []
        self.location.value = tag("span", tag("strong", self.location_text), class_="svc-place")
        self._browser._show_selection()
        if self._navigating:  # the pressed button may have become disabled
            self.files.focus_if_lost()
        self._navigating = False

    def _on_failure(self, error: Exception) -> None:
        """Show the error of a list request. Remove the files of another list."""
        if self.request != self._shown:
            self._shown = None
            self.pager.restart()
            self.pager.show(0, None)
            self._show_rows([], _NOT_LISTED)
        self._browser._on_error(error)


# -- the metadata of a file as a row, as details and as a table, and the lists of recent files and folders


# The fields that a list request asks for. The columns of `files()` and the details of a file use these fields.
LIST_FIELDS = (
    "id,name,mimeType,size,createdTime,modifiedTime,trashed,starred,parents,webViewLink,shared,ownedByMe,"
    "description,owners(emailAddress),permissions(type,role,emailAddress,domain),viewersCanCopyContent,"
    "capabilities(canCopy,canDelete,canDownload,canEdit,canListChildren,canModifyContent,"
    "canMoveItemWithinDrive,canRename,canShare,canTrash,canUntrash)"
)


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
    if url is None or url.startswith(IN_PROCESS_URL):
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
    return ui.facts_table(rows, f"Details of {facts.get('name')}")


NEW_DOCUMENT_CONTENT = (
    "The file is a native document. The new content is converted and replaces everything in the document."
)
_KEPT = "The file keeps its id and name."


def content_note(facts: File, names: Names) -> str:
    """Return a text about the effect of replacing the content of a file."""
    if names.is_native(str(facts.get("mimeType"))):
        return NEW_DOCUMENT_CONTENT
    changed = f"changed {minute_text(facts.get('modifiedTime'))} UTC"
    return f"The new content overwrites the current content ({_size(facts)}, {changed}). {_KEPT}"


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


# The maximum number of files in a selection list. The functions of the package accept any file.
MAX_FILES = 200


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
