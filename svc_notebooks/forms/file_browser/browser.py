"""The file browser, in which a person browses folders, and searches, previews and changes files (A4, A6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets as widgets

from ...client.session import SessionLike
from ...notebook.arguments import file_ids, files_at, one_folder_id
from ...notebook.display import Markup, count_text, join_html, tag
from ...notebook.files.files import update
from ...notebook.files.folders import trash, untrash
from ...notebook.frames import FILES, frame
from ..widgets import ui
from ..widgets.background_task import BackgroundTask, Report, Stopped
from ..widgets.file_picker import BrowserFiles, DownloadWidget
from ..widgets.form import Form
from .actions import FileAction, FolderUploads, call_action, one_or_all
from .downloads import KERNEL, QUESTIONS, ConfirmDialog, FileDownloads, FilePreview, Question, action_for, fetch_preview
from .listing import TRASH, FileDetails, FileListing, FileQuery, access_text, content_note, folder_options

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.files import File, FileList


Condition: TypeAlias = "Callable[[Sequence[File]], bool]"


def _is_single(files: Sequence[File]) -> bool:
    return len(files) == 1


def _may(capability: str, *, one: bool = False) -> Condition:
    """Return the condition that the service allows an action for at least one of the files, or for the only file."""
    return lambda files: any(_allows(file, capability) for file in files) and (len(files) == 1 or not one)


def _can_replace(files: Sequence[File]) -> bool:
    """Return whether the user can replace the content of the only selected file. Folders have no content."""
    return len(files) == 1 and _allows(files[0], "canModifyContent") and not _is_folder(files[0])


def _is_folder(file: File) -> bool:
    return (file.get("capabilities") or {}).get("canListChildren") is True


def _can_download(files: Sequence[File]) -> bool:
    """Return whether a file has content, or is a folder, which is downloaded with everything below it."""
    return any(_allows(file, "canDownload") or _is_folder(file) for file in files)


def _can_trash(files: Sequence[File]) -> bool:
    return any(_allows(file, "canTrash") and not file.get("trashed") for file in files)


def _allows(file: File, capability: str) -> bool:
    """Return False if the service says that the user cannot do this with the file."""
    return dict(file.get("capabilities") or {}).get(capability) is not False


@dataclass(frozen=True, slots=True)
class ToolbarAction:
    """An action of the toolbar. `condition` returns whether it is possible for the selected files."""

    key: str
    text: str
    icon: str
    tooltip: str
    condition: Condition | None


# fmt: off
_ACTIONS = (
    ToolbarAction("folder",   "New",      "plus",        "Create a folder, a file or a native document here", None),
    ToolbarAction("open",     "Open",     "folder-open", "Open the folder or preview the file", _is_single),
    ToolbarAction("download", "Download", "download",    "Save the selected files", _can_download),
    ToolbarAction("rename",   "Rename",   "edit",        "Rename the selected file", _may("canRename", one=True)),
    ToolbarAction("share",    "Share",    "share-alt",   "Share the files with somebody", _may("canShare")),
    ToolbarAction("trash",    "Trash",    "trash",       "Move the files to the trash", _can_trash),
    ToolbarAction("untrash",  "Restore",  "undo",        "Restore the files from the trash", _may("canUntrash")),
)
_MENU = (
    ToolbarAction("move",     "Move",            "arrow-right", "Move to a folder", _may("canMoveItemWithinDrive")),
    ToolbarAction("copy",     "Copy",            "copy",        "Copy the selected files", _may("canCopy")),
    ToolbarAction("replace",  "Replace content", "upload",      "Upload new content for the file", _can_replace),
    ToolbarAction("delete",   "Delete",          "times",       "Delete the files permanently", _may("canDelete")),
)
# fmt: on


class FileToolbar(widgets.HBox):  # type: ignore[misc]
    """The buttons of the actions. `buttons` has them by key. A click calls `pressed` with the key.

    `focus_lost` is called after the button that was pressed last has become disabled, because a disabled button has
    no keyboard focus.
    """

    def __init__(self, upload: widgets.Widget, pressed: Callable[[str], None], focus_lost: Callable[[], None]) -> None:
        self._focus_lost = focus_lost
        self._last_pressed = ""
        actions = (*_ACTIONS, *_MENU)
        self._conditions = {action.key: action.condition for action in actions}
        self.buttons = {action.key: ui.button(action.text, action.tooltip, icon=action.icon) for action in actions}
        self.menu = ui.Menu("More", "Further actions", [self.buttons[action.key] for action in _MENU])
        for key, action_button in self.buttons.items():  # after the menu, whose handler moves the focus to itself
            action_button.on_click(lambda _button, key=key: self._press(key, pressed))
        super().__init__([upload, *(self.buttons[action.key] for action in _ACTIONS), self.menu])
        self.add_class("svc-buttons")
        self.add_class("svc-toolbar")

    def show(self, files: Sequence[File], *, in_folder: bool, in_trash: bool) -> None:
        """Enable the buttons of the possible actions for the selected files, and show Restore instead of Trash."""
        restoring = in_trash or any(file.get("trashed") for file in files)
        ui.set_visible(self.buttons["trash"], not restoring)
        ui.set_visible(self.buttons["untrash"], restoring)
        for key, condition in self._conditions.items():
            self.buttons[key].disabled = not (condition(files) if condition else in_folder)
        if self._last_pressed and self.buttons[self._last_pressed].disabled:
            self._last_pressed = ""
            self._focus_lost()

    def focus(self, key: str) -> None:
        """Focus a button, or the menu that has the button."""
        target = self.buttons[key]
        (self.menu.button if target in self.menu.items else target).focus()

    def _press(self, key: str, pressed: Callable[[str], None]) -> None:
        self._last_pressed = key
        pressed(key)


_KEYS = {"Delete": "trash", "F2": "rename"}  # the action of each key that a person presses in the list

_NO_FOLDER = "Open a folder to upload files to it."


def file_browser(*, session: SessionLike = None) -> FileBrowser:
    """Return a form that lists files, with folders, search, details, previews and actions.

    A click on a heading sorts the list. The search updates the list while a person types. Letters typed in the list go
    to the next name that begins with them. Files dropped on the form are uploaded to the open folder. A file of the
    same name is replaced only after a question.

    The form downloads files or byte ranges, replaces content, and sets whether viewers can copy a file. The form asks
    for confirmation before it overwrites a local file, and before it downloads a file that is flagged as abusive. Only
    the owner can download a flagged file.

    `browser.result` is the DataFrame of the listed files, `browser.selection` is the DataFrame of the selected files,
    which a program can set (to names, ids, paths or rows of the list),
    `browser.code()` is the call for the last action, `browser.last_error` is the last error.

    In a program, a method does what a button and its dialog do with the selected files, and raises the error that the
    browser shows: `open()`, `download(to)`, `rename(name)`, `share(with_, role=...)`, `move(to)`, `copy(name)`,
    `trash()`, `untrash()` and `delete()`.

    Args:
        session: The session whose files are shown. None stands for the current session.

    See tests/rules.csv (A1, A4, A6).

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"a,b", name="table.csv")
    >>> browser = svc.file_browser()
    >>> browser.selection = made
    >>> browser.rename("counts.csv")
    >>> browser.share("bob@svc.example", role="writer")
    >>> browser.result["name"].tolist(), browser
    (['counts.csv'], <FileBrowser: My files, 1 file>)
    """
    return FileBrowser(session)


class FileBrowser(Form):
    """The form that `file_browser` returns. A program can call `search("birds")`, and set `selection` to listed files.

    The methods `share` to `delete` need no click. They fill and confirm the dialog of a button.
    """

    title = "File browser"
    instead = "svc.files(), svc.download(file) and svc.upload(path)"

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self.add_class("svc-browser")
        self._cancelled_message = self._asking_key = ""
        self._selected_ids: list[str] = []
        self.question = ConfirmDialog(self._guarded(self._on_answer), self._focus_button)
        self.work = BackgroundTask(self._on_error)
        self.view = widgets.HTML()
        self.status.add_class("svc-status")
        self.about = FileDetails(self._guarded(self._set_viewers))
        self.browser_download = DownloadWidget()
        self.downloads = FileDownloads(self)
        self.listing = FileListing(self)
        self.search, self.files, self.location = self.listing.search, self.listing.files, self.listing.location
        self.picker = BrowserFiles("Upload", ".svc-browser")
        self.uploads = FolderUploads(self.picker, self)
        self._buttons()
        self.question.watch(self._on_question_change)
        self.question.no.on_click(lambda _button: self._show_error(None))
        beside = widgets.Box([widgets.VBox([self.files, self.listing.pager]), self.about])  # or below, on narrow pages
        beside.add_class("svc-side-by-side")
        self._compose(
            ui.style_sheet("file_browser.css"),
            ui.row(self.up, self.refresh_button, self.location),
            self.search,
            self.toolbar,
            self.question,
            self.downloads,
            self.uploads,
            self.work,
            self.alert,
            self.status,
            beside,
            self.view,
            self.browser_download,
        )
        self._guard(self.refresh)

    def _buttons(self) -> None:
        self.up = self._button("Up", "Go to the parent folder", self.listing.go_up, icon="arrow-up")
        self.refresh_button = self._button("Refresh", "Reload the list", self._refresh_list, icon="refresh")
        self.before, self.next = self.listing.pager.previous, self.listing.pager.next
        self.toolbar = FileToolbar(self.picker, self._press, self.files.focus_if_lost)
        buttons = {key: self._callable(button) for key, button in self.toolbar.buttons.items()}
        self._callable(self.question.yes)
        self.open = buttons["open"]
        self.trash, self.untrash = buttons["trash"], buttons["untrash"]
        for each in (self.open, self.trash, self.untrash):
            each.select = lambda files: setattr(self, "selection", files)
        self.ask = {key: buttons[key] for key in QUESTIONS}

    @property
    def busy(self) -> bool:
        return self.work.busy or self.listing.busy or self.uploads.busy

    @property
    def result(self) -> DataFrame:
        """The files of the current page of the list, with the columns of `files()`."""
        return frame(FILES, self.listing.page)

    @property
    def selection(self) -> DataFrame:
        """The selected files, with the columns of `files()`, as in `svc.download(browser.selection)`."""
        return frame(FILES, self.listing.selection)

    @selection.setter
    def selection(self, files: Any) -> None:
        page, ids = self.listing.page, list[str]()
        listed = {file["id"] for file in page}
        for text in file_ids(files, "selection"):
            named = [file["id"] for file in page if text == file["name"]]
            if len(named) > 1 and text not in listed:
                raise ValueError(f"{len(named)} files in the list have the name {text!r}; select a row or an id")
            ids += [text] if text in listed else named or files_at(self.session, text, "selection")
        if hidden := {*ids} - listed:
            text = f"selection has {count_text(len(hidden), 'file')} not in the list"
            raise ValueError(f"{text}; browser.open('Data') lists a folder, and browser.search('birds') searches")
        self.files.chosen = ids

    def fill(self, *unnamed: Any, **values: Any) -> None:
        """Set the controls of the list, as in `browser.fill(search="birds")`, and those of the open dialog.

        `browser.selection` selects files. The errors are those of the other forms.
        """
        dialog = [self.question] if self.question.question else []
        self._set_controls([*dialog, self.search, self.listing.pager, self.about], unnamed, values, "browser.fill")

    @property
    def query(self) -> FileQuery:
        """The query that lists the files. `query.q` and `query.order_by` are parameters of the list request."""
        return self.listing.query

    def code(self) -> str:
        """Return the code of the open dialog, otherwise of the last action, otherwise the code that lists the files."""
        if self.question.question:
            try:
                return self._action(self.question.question).code
            except ValueError:
                pass  # the dialog is incomplete
        return self._last_code or self.query.code()

    def share(self, with_: str | Iterable[str], role: str = "reader") -> None:
        """Share the selected files with people. `with_` and `role` are the same as for `svc.share`."""
        self._confirm("share", share_with=with_ if isinstance(with_, str) else ", ".join(with_), role=role)

    def download(self, to: str | PathLike[str] = "", *, byte_range: str = "") -> None:
        """Save the selected files in the notebook folder, or at the path `to`.

        Raises ValueError if the browser then asks about an existing file with other content, which is not overwritten.
        """
        self._confirm("download", save_as=KERNEL, path=to, byte_range=byte_range)
        if self.downloads.replace.is_open:
            conflict = self.downloads.replace.conflicts[0]
            raise ValueError(
                f"{conflict.path.name} exists with other content; browser.downloads.replace.replace() overwrites it, "
                f"browser.downloads.replace.keep() saves {conflict.alternative_path.name}"
            )

    def rename(self, name: str) -> None:
        """Rename the selected file."""
        self._confirm("rename", name=name)

    def move(self, to: Any) -> None:
        """Move the selected files to a folder, which is an id, a name, a path or a row."""
        self._confirm("move", folder=one_folder_id(self.session, to, "to"))

    def copy(self, name: str = "") -> None:
        """Copy the selected files. A name is for one copy."""
        self._confirm("copy", name=name)

    def delete(self) -> None:
        """Delete the selected files permanently, without a question."""
        self._confirm("delete")

    def _confirm(self, key: str, **values: Any) -> None:
        """Press a button, fill its dialog and confirm it. Raises the error that the form shows."""
        self.ask[key]()
        self._set_controls([self.question], (), values)
        self.question.yes()

    def refresh(self) -> None:
        """Reload the current page of the list."""
        self.listing.refresh()

    def close(self) -> None:
        self.listing.close()
        super().close()

    def _refresh_list(self) -> None:
        self._clear_status()
        self.refresh()

    def _clear_messages(self) -> None:
        """Remove the messages about the files that were listed or selected before."""
        self._show_error(None)
        self._clear_status()

    def _on_selection(self) -> None:
        self._clear_messages()
        self._show_selection()

    def _on_key(self, key: str) -> None:
        pressed = self.toolbar.buttons[_KEYS[key]]
        if not pressed.disabled:
            pressed.click()

    def _preview(self, facts: File) -> None:
        session, label = self.session, f"Loading {facts['name']}"
        self._run(label, lambda _report: fetch_preview(session, facts), self._show_preview, long=True)

    def _press(self, key: str) -> None:
        simple: dict[str, Callable[[], None]] = {
            "open": lambda: self.listing.open_file(self.listing.require_one()),
            "trash": lambda: self._act(trash, "Moved {} to the trash."),
            "untrash": lambda: self._act(untrash, "Restored {} from the trash."),
        }
        self._guard(simple.get(key) or (lambda: self._ask(key)))

    def _run(
        self, label: str, act: Callable[[Report], Any], then: Callable[[Any], None], *, long: bool = False
    ) -> None:
        self.work.begin(label, act, then, in_thread=long or not self.session.in_process)

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, Stopped):
            self._show_status(self._cancelled_message)
        else:
            self._show_selection()  # also resets the switch of viewers
            self._show_failure(error)

    def _ask(self, key: str) -> None:
        files = self._files_for(QUESTIONS[key])
        note = content_note(files[0], self.session.names) if key == "replace" else ""
        if key == "share":
            note = "; ".join(f"{file['name']}: {text}" for file in files if (text := access_text(file)))
            note = note and f"Access to {note}."
        if key == "move":
            self.question.folder.options = self._folder_options(files)
            self.question.folder.value = None  # the person selects the folder
        self.downloads.dismiss()
        self._clear_status()
        self._asking_key = key
        names = [str(file["name"]) for file in files]
        self.question.ask(key, ", ".join(names), names[0] if key == "rename" else "", note)
        self._show_code()

    def _on_question_change(self) -> None:
        """Remove the error about the previous input of the dialog."""
        self._show_error(None)
        self._show_code()

    def _folder_options(self, files: Sequence[File]) -> list[tuple[str, str]]:
        here = [self.listing.folder[0]] if self.search.in_folder else []
        options = folder_options(self.session, without=[*here, *(str(file["id"]) for file in files)])
        if not options:
            raise ValueError("There is no other folder to move to. Create one with New.")
        return options

    def _focus_button(self) -> None:
        """Focus the button that opened the dialog, after the dialog was closed."""
        if self._asking_key and not self.downloads.is_open:
            self.toolbar.focus(self._asking_key)
        self._show_code()

    def _on_answer(self, question: Question) -> None:
        dialog, files = self.question, self._files_for(question)
        if question.key == "download":
            self.downloads.begin(dialog.download(files))
        else:
            forget = dialog.source.forget if question.key == "replace" else lambda: None
            self._run_action(self._action(question), lambda _result: forget())
        if not self.alert.value:  # after an error the dialog stays
            dialog.dismiss()

    def _set_viewers(self, file: File, allowed: bool) -> None:
        message = f"Viewers {'can' if allowed else 'can no longer'} download, export and copy {file.get('name')}."
        restriction = {ui.ARGUMENT: not allowed}
        self._run_action(call_action(self.session, message, update, str(file["id"]), **restriction))

    def _action(self, question: Question) -> FileAction:
        files, folder_id = self._files_for(question), self.listing.folder[0]
        return action_for(question, self.question, self.session, files, folder_id)

    def _files_for(self, question: Question) -> list[File]:
        """Return the selected files for a dialog. Raises ValueError for a wrong number of selected files."""
        if question.files == 0:
            return []
        return [self.listing.require_one()] if question.files == 1 else self.listing.require_selection()

    def _act(self, function: Callable[..., Any], message: str) -> None:
        """Call a function for the selected files. The message has their number."""
        ids = [str(file["id"]) for file in self.listing.require_selection()]
        text = message.format(count_text(len(ids), "file"))
        self._run_action(call_action(self.session, text, function, one_or_all(ids)))

    def _run_action(self, action: FileAction, then: Callable[[Any], str | None] | None = None) -> None:
        """Run an action and reload the list. `then` converts the value of the action to a status text or None."""
        session, request = self.session, self.listing.request

        def on_done(results: tuple[Any, FileList]) -> None:
            self._last_code = action.code
            self.listing.show_changes(request, results[1])
            words = then(results[0]) if then else None
            self._show_status(words or action.message)
            self._show_code()

        self._cancelled_message = action.cancelled_message
        self._run(
            f"Running {action.code}",
            lambda report: (action.run(report), request.send(session)),
            on_done,
            long=action.in_thread,
        )

    def _on_uploaded(self, words: str, ids: Sequence[str], code: str) -> None:
        """Show the uploaded files in the list. Select them, unless an open dialog is about the selected files."""
        self._last_code = code or self._last_code
        self.listing.refresh(select=() if self.question.question else ids)
        self._show_status(words)
        self._show_code()
        self.files.focus_if_lost()

    def _show_selection(self) -> None:
        files, names = self.listing.selection, self.session.names
        ids = [str(file["id"]) for file in files]
        if ids != self._selected_ids:  # a preview and a dialog are about the files selected before
            self.view.value = ""
            self.browser_download.clear()
            self.question.discard()
        self._selected_ids = ids
        self.up.disabled = self.listing.at_root
        self.picker.refusal = "" if self.search.in_folder else _NO_FOLDER
        self.toolbar.show(files, in_folder=self.search.in_folder, in_trash=self.search.scope.value == TRASH)
        self.about.show(files[0], names) if len(files) == 1 else self.about.summarize(files)
        self._show_code()

    def _show_preview(self, preview: FilePreview) -> None:
        name, media_type, view = preview.name, preview.media_type, preview.view
        if view is None and not self.browser_download.show(name, media_type, preview.body):
            view = tag("p", f"{name} ({media_type}) has no preview. Download it and open it in another program.")
        self.view.value = view or ""
        self._last_code = preview.code
        self._show_code()
        self._show_status(f"Preview of {name}; nothing was saved.")

    def _static_view(self) -> Markup:
        table = self.result[["name", "mime_type", "size"]].to_html(index=False, border=0)
        return join_html(super()._static_view(), Markup(table))

    def _summary(self) -> str:
        return f"<FileBrowser: {self.listing.location_text}, {self.listing.pager.text}>"
