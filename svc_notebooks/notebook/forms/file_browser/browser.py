"""The file browser: go through folders, search, look at files and do with them what can be done (A4, A6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...current_session import session_or_current
from ...files.files import generate_ids
from ...frames.frames import frame
from ...frames.schemas import FILES
from ...widgets.background_task import BackgroundTask, Report, Stopped
from ...widgets.file_download import BrowserDownload, default_download
from ...widgets.form import Form
from ...widgets.html import Markup, joined, tag
from ...widgets.row_list import RowList, default_row_list
from ...widgets.styles import row
from . import actions as deeds
from .actions import FileAction
from .answers import deed_for
from .details import COLUMNS, content_note, every_field, is_folder, table_row
from .details_panel import FileDetails
from .dialogs import BUTTONS, KERNEL, QUESTIONS, ConfirmDialog, Question
from .downloads import Actions, FileDownloads
from .preview import FilePreview, look_at
from .query import ROOT, FileQuery
from .recent_files import page_of_files
from .search_bar import FileSearch

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ....core.http.messages import JSONObject

PAGE = 20
"""So many files are shown at once."""

_HOME = (ROOT, "My files")


def file_browser(*, session: Session | None = None) -> FileBrowser:
    """A list of files to go through: folders, search, details, previews, and what can be done with files.

    It downloads files or a part of them, replaces their content, and sets whether viewers may copy them. Other content
    at a path, and a file that is flagged as abusive, are asked about first; only its owner can download a flagged file.

    `browser.result` is the frame of the files that are shown, `browser.chosen` that of the chosen ones,
    `browser.code()` the call that does what was done last, `browser.last_error` the last thing that went wrong.

    Args:
        session: Whose files; None is the session that is current.

    Interface: A1, A4, A6.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"a,b", name="table.csv")
    >>> svc.file_browser()
    <FileBrowser: My files, 1 file>
    """
    return FileBrowser(session)


class FileBrowser(Form):
    """See `file_browser`. `search`, `files`, `question` and the buttons can be filled in and pressed by a program."""

    title = "File browser"

    def __init__(
        self,
        session: Session | None = None,
        make_list: Callable[[str, dict[str, str]], RowList] = default_row_list,
        make_hand_over: Callable[[Callable[[], None]], BrowserDownload] = default_download,
    ) -> None:
        super().__init__(session)
        self._path = [_HOME]
        self._pages: list[str | None] = [None]
        self._more: str | None = None
        self._found: list[JSONObject] = []
        self._last = ""
        self._looked_at: list[str] = []
        self._pressed: widgets.Button | None = None
        self._stopped = ""
        self.search, self.files = FileSearch(), make_list("Files", COLUMNS)
        self.question = ConfirmDialog(lambda asked: self._guarded(lambda: self._answered(asked)), self._back)
        self.work = BackgroundTask(self._failed)
        self.place, self.status, self.view = (widgets.HTML() for _ in range(3))
        self.about = FileDetails(lambda file, allowed: self._guarded(lambda: self._set_viewers(file, allowed)))
        self.hand_over = make_hand_over(lambda: None)
        actions = Actions(
            self._session_now, self._guarded, self._do, self._say, self._show_error, self.hand_over.save, self._back
        )
        self.downloads = FileDownloads(actions)
        self._buttons()
        self.search.watch(lambda: self._guarded(self._reset_after_fork))
        self.files.watch(self._show_chosen, self._opened, lambda: self._guarded(self._go_up))
        self.question.watch(self._show_code)
        self.question.made.generate.on_click(lambda _button: self._guarded(self._generate_id))
        self._compose(
            row(self.up, self.refresh_button, self.place),
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
            self.hand_over.widget,
        )
        self._guarded(self._list)

    def _buttons(self) -> None:
        press = self._button
        self.up = press("Up", "To the folder that this one is in", self._go_up)
        self.refresh_button = press("Refresh", "Read the list again", self.refresh)
        self.before = press("Previous", f"The {PAGE} files before these", self._page_before)
        self.next = press("Next", f"The next {PAGE} files", self._page_after)
        self.open = press("Open", "Open the chosen folder, or look at the chosen file", self._open)
        self.details = press("All fields", "Everything that the service tells of the chosen file", self._details)
        self.trash = press("Trash", "Move what is chosen to the trash", self._trash)
        self.untrash = press("Restore", "Take what is chosen out of the trash", self._untrash)
        self.ask = {key: press(words, tip, lambda key=key: self._ask(key)) for key, words, tip in BUTTONS}  # type: ignore[misc]
        changing = [self.ask[key] for key in ("replace", "rename", "copy", "share", "folder")]
        last = (self.trash, self.untrash, self.ask["delete"])
        self._actions = row(self.open, self.ask["download"], self.details, *changing, *last)

    # -- what a program sees

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self.work.busy

    @property
    def result(self) -> DataFrame:
        """The files that are shown, with the columns of `files()`."""
        return frame(FILES, self._found)

    @property
    def chosen(self) -> DataFrame:
        """The files that are chosen, with the columns of `files()`: `svc.download(browser.chosen)`."""
        return frame(FILES, self._chosen())

    @property
    def query(self) -> FileQuery:
        """What is listed: `.q` and `.order` as the interface writes them."""
        return self.search.query(self._path[-1][0])

    def code(self) -> str:
        """The call of a cell that does what was done last, or what is asked about now; else the one that lists."""
        if self.question.asked:
            try:
                return self._deed(self.question.asked).code
            except ValueError:
                pass  # not all is filled in
        return self._last or self.query.code()

    def refresh(self) -> None:
        """Read the list again, the same page of it."""
        self._list(keep=True)

    # -- listing

    def _session_now(self) -> Session:
        return session_or_current(self._session)

    def _list(self, *, keep: bool = False) -> None:
        session, query, token = self._session_now(), self.query, self._pages[-1]
        if not keep:
            self._last = ""
        self._work("Reading the list", lambda _report: page_of_files(session, query, token, PAGE), self._show_page)

    def _reset_after_fork(self) -> None:
        self._pages = [None]
        self._list()

    def _page_before(self) -> None:
        if len(self._pages) == 1:
            raise ValueError("These are the first files.")
        self._pages.pop()
        self._list()

    def _page_after(self) -> None:
        if self._more is None:
            raise ValueError("There are no more files.")
        self._pages.append(self._more)
        self._list()

    def _go_up(self) -> None:
        if len(self._path) == 1:
            raise ValueError(f"{_HOME[1]} is in no other folder.")
        self._path.pop()
        self._reset_after_fork()

    def _opened(self, file_id: str) -> None:
        found = [one for one in self._found if one["id"] == file_id]
        self._guarded(lambda: self._open_file(found[0]) if found else None)

    def _open(self) -> None:
        self._open_file(self._one())

    def _open_file(self, facts: JSONObject) -> None:
        session = self._session_now()
        if not is_folder(facts, session.names):
            self._look(facts)
            return
        self._path = [*(self._path if self.search.in_folder else [_HOME]), (str(facts["id"]), str(facts["name"]))]
        if self.search.in_folder and not self.search.words.value:
            self._reset_after_fork()
        else:
            self.search.enter()

    def _look(self, facts: JSONObject, *, acknowledge_abuse: bool = False) -> None:
        session, go_on = self._session_now(), lambda: self._look(facts, acknowledge_abuse=True)
        self._work(
            f"Fetching {facts['name']}",
            lambda _report: look_at(session, facts, acknowledge_abuse=acknowledge_abuse),
            lambda look: self._show_look(look) if look else self.downloads.ask_to_look(facts, go_on),
            long=True,
        )

    # -- what a press does

    def _work(
        self, label: str, act: Callable[[Report], Any], then: Callable[[Any], None], *, long: bool = False
    ) -> None:
        self.work.begin(label, act, then, in_thread=long or not self._session_now().in_process)

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Stopped):
            self._say(self._stopped)
        else:
            self._show_chosen()
            self._show_error(error)

    def _ask(self, key: str) -> None:
        files = self._asked_about(QUESTIONS[key])
        note = content_note(files[0], self._session_now().names) if key == "replace" else ""
        self.downloads.close_it()
        self._pressed = self.ask[key]
        names = [str(one["name"]) for one in files]
        self.question.ask(key, ", ".join(names), names[0] if key == "rename" else "", note)
        self._show_code()

    def _back(self) -> None:
        """The question is gone: the keyboard goes back to the button that had asked it."""
        if self._pressed and not self.downloads.asked:
            self._pressed.focus()
        self._show_code()

    def _answered(self, asked: Question) -> None:
        question, files = self.question, self._asked_about(asked)
        if problems := question.check(files):
            self._show_problems("Nothing was done.", problems)
            return
        if asked.key != "download":
            self._do(self._deed(asked), lambda _made: question.source.forget() if asked.key == "replace" else None)
        elif question.target.value == KERNEL:
            self.downloads.save(question.download(files))
        else:
            self.downloads.fetch(question.download(files))
        question.close_it()

    def _generate_id(self) -> None:
        self.question.made.id.value = str(generate_ids(1, session=self._session_now())["id"].item())

    def _set_viewers(self, file: Mapping[str, Any], allowed: bool) -> None:
        try:
            self._do(deeds.viewers_may(self._session_now(), file, allowed))
        except Exception:
            self._show_chosen()  # the switch shows what the service has
            raise

    def _deed(self, asked: Question) -> FileAction:
        return deed_for(asked, self.question, self._session_now(), self._asked_about(asked), self._path[-1][0])

    def _asked_about(self, asked: Question) -> list[JSONObject]:
        """The files that a question is about. Raises ValueError where too few or too many are chosen."""
        return {0: list, 1: lambda: [self._one()], None: self._some}[asked.files]()

    def _trash(self) -> None:
        self._do(deeds.trashed(self._session_now(), self._ids()))

    def _untrash(self) -> None:
        self._do(deeds.untrashed(self._session_now(), self._ids()))

    def _do(self, deed: FileAction, then: Callable[[Any], str | None] | None = None) -> None:
        """The deed, and the list as it is behind it, in one piece of work."""
        session, query, token = self._session_now(), self.query, self._pages[-1]

        def done(found: tuple[Any, JSONObject]) -> None:
            self._last = deed.code
            self._show_page(found[1])
            words = then(found[0]) if then else None
            self._say(words or deed.done)
            self._show_code()

        self._stopped = deed.stopped
        self._work(
            f"Doing {deed.code}",
            lambda report: (deed.run(report), page_of_files(session, query, token, PAGE)),
            done,
            long=deed.long,
        )

    def _details(self) -> None:
        from ....client.files import get_file

        session, facts = self._session_now(), self._one()
        file_id = str(facts["id"])
        self._last = f"svc.file({file_id!r}, fields='*')"
        self._work(
            f"Reading {facts['name']}",
            lambda _report: get_file(session, file_id, fields="*"),
            lambda found: self._show_view(every_field(found)),
        )

    # -- what is chosen

    def _chosen(self) -> list[JSONObject]:
        ids = set(self.files.ids())
        return [one for one in self._found if one["id"] in ids]

    def _some(self) -> list[JSONObject]:
        found = self._chosen()
        if not found:
            raise ValueError("No file is chosen: choose one or several in the list.")
        return found

    def _ids(self) -> list[str]:
        return [str(one["id"]) for one in self._some()]

    def _one(self) -> JSONObject:
        if len(found := self._some()) > 1:
            raise ValueError("Several files are chosen, and this is for one.")
        return found[0]

    # -- what is shown

    def _show_page(self, page: JSONObject) -> None:
        found, session = page.get("files"), self._session_now()
        self._found = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        self._more = str(page["nextPageToken"]) if page.get("nextPageToken") else None
        self.files.show([table_row(one, session.names) for one in self._found], "There is no such file here.")
        self.place.value = tag("span", tag("strong", self._where()), class_="svc-place")
        self._say(self._count())
        self._show_chosen()

    def _where(self) -> str:
        if self.search.in_folder:
            return " / ".join(name for _, name in self._path)
        return str(self.search.place.label if self.search.way.value != "q" else "what the query finds")

    def _count(self) -> str:
        first = PAGE * (len(self._pages) - 1) + 1
        more = ", and there are more" if self._more else ""
        if len(self._pages) > 1 or more:
            return f"Files {first} to {first + len(self._found) - 1}{more}"
        return deeds.counted(list(self._found))  # type: ignore[arg-type]

    def _show_chosen(self) -> None:
        chosen, ids = self._chosen(), self.files.ids()
        if ids != self._looked_at:  # what is looked at stays while the same is chosen
            self.view.value = ""
            self.hand_over.clear()
        self._looked_at = ids
        one = chosen[0] if len(chosen) == 1 else None
        several = tag("p", f"{deeds.counted(self.files.ids())} are chosen.", role="status") if chosen else ""
        self.about.show(one, self._session_now().names) if one else self.about.clear(several)
        self._show_code()

    def _show_look(self, look: FilePreview) -> None:
        self._last = look.code
        if look.view is None and self.hand_over.show(look.name, look.media_type, look.body):
            self._show_view(Markup())
        else:
            self._show_view(look.view or tag("p", f"{look.name} is a {look.media_type}: download it to look at it."))
        self._say(f"A look at {look.name}; nothing was saved.")

    def _show_view(self, view: Markup) -> None:
        self.view.value = view
        self._show_code()

    def _say(self, words: str) -> None:
        self.status.value = tag("span", words, role="status")

    def _static_view(self) -> Markup:
        """A page without a kernel shows the list."""
        return joined(
            super()._static_view(), Markup(self.result[["name", "mime_type", "size"]].to_html(index=False, border=0))
        )

    def __repr__(self) -> str:
        return f"<FileBrowser: {self._where()}, {self._count()}>"
