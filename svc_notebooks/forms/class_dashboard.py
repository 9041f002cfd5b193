"""The dashboard of a class: who is there, who did what, requests as they come, and the actions of a teacher."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as widgets

from ..client.session import SessionLike, session_or_current
from ..core.fault_plan import PRESETS
from ..notebook.class_control import ClassControl
from ..notebook.display import count_text, size_text, tag
from ..notebook.frames import STUDENTS, frame
from .widgets import ui
from .widgets.background_task import BackgroundTask, can_run_in_background
from .widgets.dialogs import Confirmation
from .widgets.form import HANDLER_LOCK, Form, Section, preset_text

if TYPE_CHECKING:
    from pandas import DataFrame


# The maximum number of rows of a table on the page. `result` contains all rows.
MAX_ROWS = 100


@dataclass(frozen=True, slots=True)
class ClassList:
    """A list of the dashboard, which the method `method` of ClassControl returns.

    `columns` are the columns of the table. The rows of a user have the e-mail address in
    `user_column`; with "", the method selects them, and with None they are about all users. `newest_first` reverses the
    rows.
    """

    key: str
    title: str
    method: str
    empty: str
    columns: str
    user_column: str | None = ""
    newest_first: bool = True

    def load(self, control: ClassControl, user: str | None) -> DataFrame:
        """Return the rows of a user, or of all users for None."""
        method = getattr(control, self.method)
        rows: DataFrame = method(user) if self.user_column == "" else method()
        if self.user_column and user:
            rows = rows[rows[self.user_column] == user]
        if self.key == "errors":
            rows = rows[~(rows["status"] < 400).fillna(False)]  # also without a status
        return rows.reset_index(drop=True)

    def code(self, user: str | None) -> str:
        """Return the code that returns the same rows."""
        condition = "not status < 400" if self.key == "errors" else ""
        if self.user_column and user:
            condition = f"{self.user_column} == {user!r}"
        user = user if self.user_column == "" else None
        return f"school.{self.method}({repr(user) if user else ''})" + (f".query({condition!r})" if condition else "")


_STUDENTS = "name last requests errors steps bytes channels operations"
_REQUESTS = "time user method path status decided_by fault"
_ANSWERS = "question answer right students"

VIEWS = (
    ClassList("students", "Students", "students", "The class has no account.", _STUDENTS, "email", newest_first=False),
    ClassList("steps", "Steps of exercises", "steps", "No step yet.", "name title done text time", newest_first=False),
    ClassList("predictions", "Predictions", "predictions", "No prediction.", _ANSWERS, None, newest_first=False),
    ClassList("requests", "Requests", "journal", "No request yet.", _REQUESTS),
    ClassList("errors", "Errors", "journal", "No request has failed.", _REQUESTS),
    ClassList("backups", "Backups", "backups", "No student was reset yet.", "time user size path", "user"),
)
# The headings of columns whose names do not say what they have.
_HEADINGS = {"last": "Last request", "bytes": "Files", "title": "Exercise", "done": "Step", "text": "Request"}


def table_of(view: ClassList, rows: DataFrame) -> DataFrame:
    """Return the table of a list, with the newest rows."""
    shown = rows.iloc[::-1] if view.newest_first else rows
    shown = shown.head(MAX_ROWS).copy()
    if view.key == "steps":
        shown["done"] = shown["step"].astype(str) + " of " + shown["of"].astype(str)
    if view.key == "students":
        shown["name"] = [_name_text(student) for student in shown.itertuples()]
    for name in ("bytes", "size"):
        if name in shown:
            shown[name] = [size_text(int(size)) for size in shown[name]]
    return shown[view.columns.split()].rename(columns=_HEADINGS)


def _name_text(student: Any) -> str:
    notes = [*(["teacher"] if student.role == "teacher" else []), *([] if student.active else ["token revoked"])]
    return f"{student.name} ({', '.join(notes)})" if notes else str(student.name)


_OUTAGE = "Break the network for all"
_PAUSE = "The clock stops for all users, and moves only with this button until the service is started again."


class StudentSection(Section):
    """The selected student, who can be reset, and the backups, which can be restored. `chooser` is above the list."""

    heading = "Reset and restore"

    def _controls(self) -> list[widgets.Widget]:
        self.chooser = ui.dropdown("Student", "Whose rows the list has, and who is reset", [("All", "")])
        self.reset = self._button("Reset this student …", "Write a backup, then delete everything", self._reset)
        self.backup = ui.dropdown("Backup", "The backup to restore", [("None", "")])
        self.restore = self._button("Restore …", "Restore the student of the backup", self._restore)
        for widget in (self.backup, self.restore):
            ui.set_visible(widget, False)
        self.advice = widgets.HTML()
        ui.on_change(self._show_user, self.chooser)
        self._show_user()
        return [self.advice, ui.row(self.reset), self.backup, ui.row(self.restore)]

    def _show_user(self) -> None:
        text = f"Selected: {self.chooser.label}." if self.user else "Select a student above to reset this student."
        self.advice.value = tag("p", text)
        ui.set_visible(self.reset, self.user is not None)

    @property
    def user(self) -> str | None:
        """The e-mail address of the selected student, or None for all students."""
        return str(self.chooser.value) or None

    def show(self, students: DataFrame, backups: DataFrame) -> None:
        """Fill the lists of students and of backups."""
        named = [(f"{student.name}, {student.email}", str(student.email)) for student in students.itertuples()]
        ui.replace_options(self.chooser, [("All", ""), *named])
        options = [
            (f"{row.user}, {row.time:%d %b %H:%M:%S}", str(row.backup)) for row in backups.iloc[::-1].itertuples()
        ]
        for widget in (self.backup, self.restore):
            ui.set_visible(widget, bool(options))
        ui.replace_options(self.backup, options or [("None", "")])

    def _reset(self) -> None:
        user = self.user
        if user is None:
            return
        self._form._ask(
            f"Reset {user}?",
            "Reset",
            "All files, uploads and events of this student are deleted, and the channels are stopped. Before that, the"
            " service writes a backup file, from which you can restore everything except running channels.",
            f"school.reset({user!r})",
            lambda: self._form.control.reset(user),
            lambda done: f"Reset {user}: {done['files'].item()} files. The backup is {done['path'].item()}.",
        )

    def _restore(self) -> None:
        backup = str(self.backup.value)
        label = str(self.backup.label)
        self._form._ask(
            f"Restore {label}?",
            "Restore",
            "The student gets the files, uploads and events of this backup. What the student has now is written to"
            " another backup file, and then deleted.",
            f"school.restore({backup!r})",
            lambda: self._form.control.restore(backup),
            lambda done: (
                f"Restored {done['user'].item()}: {done['files'].item()} files. The state before is in"
                f" {done['path'].item()}."
            ),
        )


class ClassFaultSection(Section):
    """The faults that all users meet."""

    heading = "Faults for all"

    def _controls(self) -> list[widgets.Widget]:
        presets = [(_OUTAGE, ""), *((preset.name, preset.name) for preset in PRESETS)]
        self.preset = ui.dropdown("Fault", "What happens to the requests of all users", presets)
        tooltip = "The faults end after these seconds of real time"
        self.seconds = ui.number_field(60, "For seconds", tooltip, style=ui.LABEL)
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.start = self._button("Start", "Activate the faults for all users", self._start)
        self.stop = self._button("End all faults", "Remove all faults", self._stop)
        ui.on_change(self._describe, self.preset)
        self._describe()
        return [self.preset, self.seconds, self.description, ui.row(self.start, self.stop), self.armed]

    def _describe(self) -> None:
        outage = "The service closes each connection without a response. This page goes on."
        text = preset_text(self.preset.value) if self.preset.value else outage
        self.description.value = tag("p", text, class_="svc-indented")

    def _start(self) -> None:
        name, seconds = str(self.preset.value), int(self.seconds.value)
        if seconds < 1:
            raise ValueError("For seconds must be 1 or more.")
        control: ClassControl = self._form.control
        if name:
            code, action = f"school.faults({name!r}, {seconds=})", partial(control.faults, name, seconds=seconds)
        else:
            code, action = f"school.break_network({seconds})", partial(control.break_network, seconds)
        self._run(code, action, lambda _plans: f"Started for {seconds} seconds: {self.preset.label}.")

    def _stop(self) -> None:
        self._run("school.clear_faults()", self._form.control.clear_faults, lambda _plans: "All faults have ended.")

    def show_plans(self, plans: DataFrame) -> None:
        lines = [
            tag("li", f"{plan.preset if isinstance(plan.preset, str) else _OUTAGE}: {plan.does}, {plan.fired} times")
            for plan in plans.itertuples()
        ]
        self.armed.value = tag("ul", *lines) if lines else tag("p", "No fault is active.")


class ClassClockSection(Section):
    """The clock of the service."""

    heading = "Clock of the service"

    def _controls(self) -> list[widgets.Widget]:
        self.now = widgets.HTML()
        self.step = ui.text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = self._button("Advance …", "Advance the clock for all users", self._advance)
        return [self.now, self.step, ui.row(self.advance)]

    def _advance(self) -> None:
        step = self.step.value.strip()
        self._form._ask(
            f"Advance the clock by {step}?",
            "Advance",
            _PAUSE,
            f"school.advance({step!r})",
            lambda: self._form.control.advance(step),
            lambda clock: f"The clock was advanced by {step} to {clock['now'].item():%d %b %Y %H:%M:%S} UTC.",
        )


_PRESENT_SECONDS = 300


def class_dashboard(*, every: float | None = 2, session: SessionLike = None) -> ClassDashboard:
    """Return a page for the teacher of a class: who is there, who did what, requests and errors as they come.

    Its buttons reset a student after writing a backup, restore a backup, inject faults for all users, and advance the
    clock. `board.result` is the DataFrame of the list, `board.code()` the code of the last action or of the list,
    `board.last_error` the last error. The page loads its lists in a thread, so that cells can run meanwhile.

    Args:
        every: The seconds between two refreshes. None: only the button Refresh loads the lists.
        session: The session with the token of a teacher. None stands for the current session.

    >>> session = svc.connect("http://127.0.0.1:8300", token="svc.of-a-teacher")
    >>> svc.class_dashboard(every=None)
    <ClassDashboard: 0 accounts>
    """
    return ClassDashboard(session, every)


class _Loaded(NamedTuple):
    """What one refresh has loaded from the service."""

    view: ClassList
    rows: DataFrame
    students: DataFrame
    plans: DataFrame
    backups: DataFrame
    clock: DataFrame


class ClassDashboard(Form):
    """The form that `class_dashboard` returns. `control` is the ClassControl whose methods its buttons call."""

    title = "Class dashboard"
    instead = "svc.class_control(), such as svc.class_control().students()"

    def __init__(self, session: SessionLike = None, every: float | None = 2) -> None:
        super().__init__(session_or_current(session))
        self.control = ClassControl(session_or_current(session))
        self._loaded: _Loaded | None = None
        self.work = BackgroundTask(self._show_failure)
        self.question = Confirmation(self._guard)
        self.head = widgets.HTML(tag("p", "Not loaded yet."))
        titles = [(view.title, view.key) for view in VIEWS]
        self.view_choice = ui.radio_buttons("List", "The list that is shown", titles, "svc-across")
        self.student, self.clock, self.faults = StudentSection(self), ClassClockSection(self), ClassFaultSection(self)
        self.refresh_button = self._button("Refresh", "Load the lists now", self.refresh)
        ui.on_change(lambda: self._guard(self._change_list), self.view_choice, self.student.chooser)
        sections = widgets.HBox([self.student, self.clock, self.faults]).add_class("svc-sections")
        self._compose(
            self.head,
            self.view_choice,
            self.student.chooser,
            self.table,
            ui.row(self.refresh_button),
            self.status,
            self.alert,
            self.work,
            self.question,
            sections,
        )
        self._poll_task: asyncio.Task[None] | None = None
        if every is not None and can_run_in_background():
            self._poll_task = asyncio.ensure_future(self._poll_forever(every))
        elif every is not None:
            self._guard(self.refresh)

    @property
    def result(self) -> DataFrame:
        """All rows of the list that is shown, as they were loaded last."""
        return self._loaded.rows if self._loaded else frame(STUDENTS, [])

    def code(self) -> str:
        """Return the code of the last action, or without an action the code that returns the list."""
        return "school = svc.class_control()\n" + (self._last_code or self._view.code(self.student.user))

    def refresh(self) -> None:
        """Load the lists from the service, and show them."""
        self._show(self._load(self._view, self.student.user))

    def close(self) -> None:
        """End the refreshes and remove the form."""
        if self._poll_task:
            self._poll_task.cancel()
        super().close()

    @property
    def _view(self) -> ClassList:
        return next(view for view in VIEWS if view.key == self.view_choice.value)

    # -- refreshes

    async def _poll_forever(self, every: float) -> None:
        while True:
            await self._poll()
            await asyncio.sleep(every)

    async def _poll(self) -> None:
        """Load the lists in a thread, and show them unless another list was selected meanwhile."""
        view, user = self._view, self.student.user
        try:
            loaded = await asyncio.to_thread(self._load, view, user)
        except Exception as error:
            self.head.value = tag("p", f"The lists are not up to date: {error}", role="alert")
            self.last_error = error
            return
        with HANDLER_LOCK:
            if (view, user) == (self._view, self.student.user) and not self.work.busy:
                self._show(loaded)

    def _change_list(self) -> None:
        """Load the list that was selected, in a thread if possible."""
        self._last_code = ""
        self._show_code()
        view, user = self._view, self.student.user

        if not self.work.busy:
            self.work.begin("Loading", lambda _report: self._load(view, user), self._show, in_thread=True)

    def _load(self, view: ClassList, user: str | None) -> _Loaded:
        control = self.control
        rows, students = view.load(control, user), control.students()
        return _Loaded(view, rows, students, control.fault_plans(), control.backups(), control.clock())

    def _show(self, loaded: _Loaded) -> None:
        self._loaded = loaded
        self.student.show(loaded.students, loaded.backups)
        self.faults.show_plans(loaded.plans)
        now = loaded.clock["now"].item()
        self.clock.now.value = tag("p", f"{now:%d %b %Y %H:%M:%S} UTC")
        self.head.value = self._head_line(loaded, now)
        self._show_table(table_of(loaded.view, loaded.rows), loaded.view.empty)
        self._show_code()

    def _head_line(self, loaded: _Loaded, now: Any) -> str:
        students = loaded.students
        present = int(((now - students["last"]).dt.total_seconds() <= _PRESENT_SECONDS).sum())
        requests, errors = int(students["requests"].sum()), int(students["errors"].sum())
        text = (
            f"{count_text(len(students), 'account')}, {present} with a request in the last 5 minutes."
            f" {count_text(requests, 'request')}, {count_text(errors, 'error')}. Times are in UTC."
        )
        if len(loaded.rows) > MAX_ROWS:
            text += f" The list has {len(loaded.rows):,} rows, of which {MAX_ROWS} are shown."
        return tag("p", text)

    # -- actions

    def _ask(
        self, title: str, verb: str, text: str, code: str, action: Callable[[], Any], message: Callable[[Any], str]
    ) -> None:
        """Ask before an action that `_run` runs."""
        self._clear_status()
        self.question.ask(title, verb, text, confirmed=lambda: self._run(code, action, message), cancelled=lambda: None)

    def _run(self, code: str, action: Callable[[], Any], message: Callable[[Any], str]) -> None:
        """Run an action in a thread, then load the lists and show a message about the result."""
        view, user = self._view, self.student.user

        def act(_report: object) -> tuple[Any, _Loaded]:
            done = action()
            return done, self._load(view, user)

        def on_done(outcome: tuple[Any, _Loaded]) -> None:
            done, loaded = outcome
            self._last_code = code
            self._show(loaded)
            self._show_status(message(done))

        self._clear_status()
        self.work.begin(f"Running {code}", act, on_done, in_thread=True)

    def _summary(self) -> str:
        accounts = len(self._loaded.students) if self._loaded else 0
        return f"<ClassDashboard: {count_text(accounts, 'account')}>"
