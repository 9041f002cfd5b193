"""The file browser, in which a person browses folders, and searches, previews and changes files (A4, A6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...current_session import session_or_current
from ...files.files import generate_ids
from ...frames.frames import frame
from ...frames.schemas import FILES
from ...widgets.background_task import BackgroundTask, Report, Stopped
from ...widgets.file_download import BrowserDownload, default_download
from ...widgets.form import Form
from ...widgets.html import Markup, join_html, tag
from ...widgets.row_list import RowList, default_row_list
from ...widgets.styles import row
from . import actions
from .actions import FileAction
from .details import COLUMNS, FileDetails, content_note, every_field, is_folder, table_row
from .dialogs import BUTTONS, KERNEL, QUESTIONS, ConfirmDialog, Question, action_for
from .downloads import Actions, FileDownloads
from .preview import FilePreview, fetch_preview
from .recent_files import page_of_files
from .search import ROOT, FileQuery, FileSearch

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ....core.resources.files import File, FileList

PAGE_SIZE = 20
"""The number of files on a page."""

_ROOT_FOLDER = (ROOT, "My files")


def file_browser(*, session: Session | None = None) -> FileBrowser:
    """Return a form that lists files, with folders, search, details, previews and actions.

    The form downloads files or byte ranges, replaces content, and sets whether viewers can copy a file. The form asks
    for confirmation before it overwrites a local file, and before it downloads a file that is flagged as abusive. Only
    the owner can download a flagged file.

    `browser.result` is the DataFrame of the listed files, `browser.chosen` is the DataFrame of the selected files,
    `browser.code()` is the call for the last action, `browser.last_error` is the last error.

    Args:
        session: The session whose files are shown. None stands for the current session.

    See docs/rules.md#a1-simple-upload (A1), docs/rules.md#a4-metadata (A4) and docs/rules.md#a6-download (A6).

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"a,b", name="table.csv")
    >>> svc.file_browser()
    <FileBrowser: My files, 1 file>
    """
    return FileBrowser(session)


class FileBrowser(Form):
    """The form that `file_browser` returns. A program can set `search`, `files` and `question`, and click buttons."""

    title = "File browser"

    def __init__(
        self,
        session: Session | None = None,
        make_list: Callable[[str, dict[str, str]], RowList] = default_row_list,
        make_download: Callable[[Callable[[], None]], BrowserDownload] = default_download,
    ) -> None:
        super().__init__(session)
        self._folders = [_ROOT_FOLDER]
        self._page_tokens: list[str | None] = [None]
        self._next_page_token: str | None = None
        self._files: list[File] = []
        self._last_code = self._cancelled_message = ""
        self._previewed_ids: list[str] = []
        self._asking_button: widgets.Button | None = None
        self.search, self.files = FileSearch(), make_list("Files", COLUMNS)
        self.question = ConfirmDialog(
            lambda question: self._guard(lambda: self._on_answer(question)), self._focus_button
        )
        self.work = BackgroundTask(self._on_error)
        self.location, self.status, self.view = (widgets.HTML() for _ in range(3))
        self.about = FileDetails(lambda file, allowed: self._guard(lambda: self._set_viewers(file, allowed)))
        self.browser_download = make_download(lambda: None)
        run, messages = (self._session_now, self._guard, self._run_action), (self._show_status, self._show_error)
        self.downloads = FileDownloads(Actions(*run, *messages, self.browser_download.save, self._focus_button))
        self._buttons()
        self.search.watch(lambda: self._guard(self._list_from_start))
        self.files.watch(self._show_selection, self._open_row, lambda: self._guard(self._go_up))
        self.question.watch(self._on_question_change)
        self.question.made.generate.on_click(lambda _button: self._guard(self._generate_id))
        self._compose(
            row(self.up, self.refresh_button, self.location),
            self.search,
            self.files,
            row(self.before, self.next, self.status),
            self._actions,
            self.question,
            self.downloads,
            self.work,
            self.alert,
            self.about,
            self.view,
            self.browser_download,
        )
        self._guard(self._list)

    def _buttons(self) -> None:
        press = self._button
        self.up = press("Up", "Go to the parent folder", self._go_up)
        self.refresh_button = press("Refresh", "Reload the list", self.refresh)
        self.before = press("Previous", f"Show the previous {PAGE_SIZE} files", self._previous_page)
        self.next = press("Next", f"Show the next {PAGE_SIZE} files", self._next_page)
        self.open = press(
            "Open",
            "Open the folder or preview the file",
            lambda: self._open_file(self._require_one()),
        )
        self.details = press("All fields", "Show all metadata of the selected file", self._details)
        self.trash = press("Trash", "Move the files to the trash", lambda: self._act(actions.trash_action))
        self.untrash = press("Restore", "Restore the files from the trash", lambda: self._act(actions.untrash_action))
        self.ask = {key: press(words, tip, lambda key=key: self._ask(key)) for key, words, tip in BUTTONS}  # type: ignore[misc]
        changing = [self.ask[key] for key in ("replace", "rename", "copy", "share", "folder")]
        last = (self.trash, self.untrash, self.ask["delete"])
        self._actions = row(self.open, self.ask["download"], self.details, *changing, *last)

    @property
    def busy(self) -> bool:
        return self.work.busy

    @property
    def result(self) -> DataFrame:
        """The files of the current page of the list, with the columns of `files()`."""
        return frame(FILES, self._files)

    @property
    def chosen(self) -> DataFrame:
        """The selected files, with the columns of `files()`, as in `svc.download(browser.chosen)`."""
        return frame(FILES, self._chosen_files())

    @property
    def query(self) -> FileQuery:
        """The query that lists the files. `query.q` and `query.order_by` are parameters of the list request."""
        return self.search.query(self._folders[-1][0])

    def code(self) -> str:
        """Return the code of the open dialog, or else of the last action, or else the call that lists the files."""
        if self.question.question:
            try:
                return self._action(self.question.question).code
            except ValueError:
                pass  # the dialog is incomplete
        return self._last_code or self.query.code()

    def refresh(self) -> None:
        self._list(keep=True)

    def _session_now(self) -> Session:
        return session_or_current(self._session)

    def _list(self, *, keep: bool = False) -> None:
        session, query, token = self._session_now(), self.query, self._page_tokens[-1]
        self._last_code = self._last_code if keep else ""
        self._run("Loading the list", lambda _report: page_of_files(session, query, token, PAGE_SIZE), self._show_page)

    def _list_from_start(self) -> None:
        self._page_tokens = [None]
        self._list()

    def _previous_page(self) -> None:
        if len(self._page_tokens) == 1:
            raise ValueError("This is the first page.")
        self._page_tokens.pop()
        self._list()

    def _next_page(self) -> None:
        if self._next_page_token is None:
            raise ValueError("This is the last page.")
        self._page_tokens.append(self._next_page_token)
        self._list()

    def _go_up(self) -> None:
        if len(self._folders) == 1:
            raise ValueError(f"{_ROOT_FOLDER[1]} has no parent folder.")
        self._folders.pop()
        self._list_from_start()

    def _open_row(self, file_id: str) -> None:
        matches = [file for file in self._files if file["id"] == file_id]
        self._guard(lambda: self._open_file(matches[0]) if matches else None)

    def _open_file(self, facts: File) -> None:
        session = self._session_now()
        if not is_folder(facts, session.names):
            self._preview(facts)
            return
        parents = self._folders if self.search.in_folder else [_ROOT_FOLDER]
        self._folders = [*parents, (str(facts["id"]), str(facts["name"]))]
        if self.search.in_folder and not self.search.text.value:
            self._list_from_start()
        else:
            self.search.reset()

    def _preview(self, facts: File, *, acknowledge_abuse: bool = False) -> None:
        session, resume = self._session_now(), lambda: self._preview(facts, acknowledge_abuse=True)
        self._run(
            f"Loading {facts['name']}",
            lambda _report: fetch_preview(session, facts, acknowledge_abuse=acknowledge_abuse),
            lambda preview: self._show_preview(preview) if preview else self.downloads.ask_to_preview(facts, resume),
            long=True,
        )

    def _run(
        self, label: str, act: Callable[[Report], Any], then: Callable[[Any], None], *, long: bool = False
    ) -> None:
        self.work.begin(label, act, then, in_thread=long or not self._session_now().in_process)

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, Stopped):
            self._show_status(self._cancelled_message)
        else:
            self._show_selection()
            self._show_error(error)

    def _ask(self, key: str) -> None:
        files = self._files_for(QUESTIONS[key])
        note = content_note(files[0], self._session_now().names) if key == "replace" else ""
        self.downloads.dismiss()
        self._show_status(self._count_text())
        self._asking_button = self.ask[key]
        names = [str(file["name"]) for file in files]
        self.question.ask(key, ", ".join(names), names[0] if key == "rename" else "", note)
        self._show_code()

    def _on_question_change(self) -> None:
        """Remove the error about the previous input of the dialog."""
        self._show_error(None)
        self._show_code()

    def _focus_button(self) -> None:
        """Focus the button that opened the dialog."""
        if self._asking_button and not self.downloads.is_open:
            self._asking_button.focus()
        self._show_code()

    def _on_answer(self, question: Question) -> None:
        dialog, files = self.question, self._files_for(question)
        if problems := dialog.check(files):
            self._show_problems("Nothing was done.", problems)
            return
        if question.key != "download":
            forget = dialog.source.forget if question.key == "replace" else lambda: None
            self._run_action(self._action(question), lambda _result: forget())
        elif dialog.target.value == KERNEL:
            self.downloads.save(dialog.download(files))
        else:
            self.downloads.fetch(dialog.download(files))
        dialog.dismiss()

    def _generate_id(self) -> None:
        self.question.made.id.value = str(generate_ids(1, session=self._session_now())["id"].item())

    def _set_viewers(self, file: File, allowed: bool) -> None:
        try:
            self._run_action(actions.copy_restriction_action(self._session_now(), file, allowed))
        except Exception:
            self._show_selection()  # reset the switch
            raise

    def _action(self, question: Question) -> FileAction:
        return action_for(question, self.question, self._session_now(), self._files_for(question), self._folders[-1][0])

    def _files_for(self, question: Question) -> list[File]:
        """Return the selected files for a dialog. Raises ValueError for a wrong number of selected files."""
        return {0: list, 1: lambda: [self._require_one()], None: self._require_selection}[question.files]()

    def _act(self, action: Callable[[Session, list[str]], FileAction]) -> None:
        ids = [str(file["id"]) for file in self._require_selection()]
        self._run_action(action(self._session_now(), ids))

    def _run_action(self, action: FileAction, then: Callable[[Any], str | None] | None = None) -> None:
        """Run an action and reload the list. `then` converts the value of the action to a status text or None."""
        session, query, token = self._session_now(), self.query, self._page_tokens[-1]

        def on_done(results: tuple[Any, FileList]) -> None:
            self._last_code = action.code
            self._show_page(results[1])
            words = then(results[0]) if then else None
            self._show_status(words or action.message)
            self._show_code()

        self._cancelled_message = action.cancelled_message
        self._run(
            f"Running {action.code}",
            lambda report: (action.run(report), page_of_files(session, query, token, PAGE_SIZE)),
            on_done,
            long=action.in_thread,
        )

    def _details(self) -> None:
        from ....client.files import get_file

        session, facts = self._session_now(), self._require_one()
        file_id = str(facts["id"])
        self._last_code = f"svc.file({file_id!r}, fields='*')"
        self._run(
            f"Loading {facts['name']}",
            lambda _report: get_file(session, file_id, fields="*"),
            lambda fields: self._show_view(every_field(fields)),
        )

    def _chosen_files(self) -> list[File]:
        ids = set(self.files.ids())
        return [file for file in self._files if file["id"] in ids]

    def _require_selection(self) -> list[File]:
        chosen = self._chosen_files()
        if not chosen:
            raise ValueError("No file is selected. Select one or more in the list.")
        return chosen

    def _require_one(self) -> File:
        if len(files := self._require_selection()) > 1:
            raise ValueError("Several files are selected. Select one.")
        return files[0]

    def _show_page(self, page: FileList) -> None:
        session = self._session_now()
        self._files = page.get("files") or []
        self._next_page_token = page.get("nextPageToken")
        self.files.show([table_row(file, session.names) for file in self._files], "No files.")
        self.location.value = tag("span", tag("strong", self._location_text()), class_="svc-place")
        self._show_status(self._count_text())
        self._show_selection()

    def _location_text(self) -> str:
        if self.search.in_folder:
            return " / ".join(name for _, name in self._folders)
        return str(self.search.scope.label if self.search.field.value != "q" else "Search results")

    def _count_text(self) -> str:
        first = PAGE_SIZE * (len(self._page_tokens) - 1) + 1
        more = " of more" if self._next_page_token else ""
        if len(self._page_tokens) > 1 or more:
            return f"Files {first} to {first + len(self._files) - 1}{more}"
        return actions.file_count(list(self._files))  # type: ignore[arg-type]

    def _show_selection(self) -> None:
        chosen, ids = self._chosen_files(), self.files.ids()
        if ids != self._previewed_ids:  # keep the preview while the selection is the same
            self.view.value = ""
            self.browser_download.clear()
        self._previewed_ids = ids
        single = chosen[0] if len(chosen) == 1 else None
        several = tag("p", f"{actions.file_count(self.files.ids())} selected", role="status") if chosen else ""
        self.about.show(single, self._session_now().names) if single else self.about.clear(several)
        self._show_code()

    def _show_preview(self, preview: FilePreview) -> None:
        self._last_code = preview.code
        if preview.view is None and self.browser_download.show(preview.name, preview.media_type, preview.body):
            self._show_view(Markup())
        else:
            words = f"{preview.name} is of type {preview.media_type} and has no preview. Download it."
            self._show_view(preview.view or tag("p", words))
        self._show_status(f"Preview of {preview.name}; nothing was saved.")

    def _show_view(self, view: Markup) -> None:
        self.view.value = view
        self._show_code()

    def _show_status(self, words: str) -> None:
        self.status.value = tag("span", words, role="status")

    def _static_view(self) -> Markup:
        return join_html(
            super()._static_view(), Markup(self.result[["name", "mime_type", "size"]].to_html(index=False, border=0))
        )

    def __repr__(self) -> str:
        return f"<FileBrowser: {self._location_text()}, {self._count_text()}>"
