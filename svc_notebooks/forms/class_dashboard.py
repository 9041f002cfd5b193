"""The dashboard of a class: who is there, who did what, requests as they come, and the actions of a teacher."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as widgets

from ..core.fault_plan import PRESETS
from ..core.platform import capabilities
from ..notebook.byte_sizes import size_text
from ..notebook.class_control import ClassControl
from ..notebook.current_session import SessionLike, session_or_current
from ..notebook.frames.frames import frame
from ..notebook.frames.schemas import STUDENTS
from ..notebook.html import tag
from .widgets.background_task import BackgroundTask
from .widgets.dialogs import Confirmation
from .widgets.field import (
    LABEL,
    count_text,
    dropdown,
    number_field,
    on_change,
    radio_buttons,
    replace_options,
    row,
    set_visible,
    text_field,
)
from .widgets.form import HANDLER_LOCK, Form, Section, preset_text

if TYPE_CHECKING:
    import pandas as pd
    from pandas import DataFrame


MAX_ROWS = 100
"""The maximum number of rows of a table on the page. `result` contains all rows."""


@dataclass(frozen=True, slots=True)
class ClassList:
    """A list of the dashboard.

    `load` returns its DataFrame for a user (None for all users), and `call` is the code of this. `columns` are the
    columns of the table with their headings. `newest_first` reverses the rows.
    """

    key: str
    title: str
    load: Callable[[ClassControl, str | None], DataFrame]
    call: Callable[[str | None], str]
    columns: dict[str, str]
    empty: str
    newest_first: bool = False


def _with_user(name: str, suffix: str = "") -> Callable[[str | None], str]:
    return lambda user: f"school.{name}({repr(user) if user else ''}){suffix}"


def _of_user(rows: DataFrame, column: str, user: str | None) -> DataFrame:
    return rows if user is None else rows[rows[column] == user].reset_index(drop=True)


def _selection(name: str, column: str) -> Callable[[str | None], str]:
    def call(user: str | None) -> str:
        return f"school.{name}()" if user is None else f"school.{name}().query({f'{column} == {user!r}'!r})"

    return call


def _errors(rows: DataFrame) -> DataFrame:
    return rows[~(rows["status"] < 400).fillna(False)].reset_index(drop=True)  # also without a status


def _headings(*names: str, **others: str) -> dict[str, str]:
    return {**{name: name.replace("_", " ").capitalize() for name in names}, **others}


_REQUESTS = _headings("time", "user", "method", "path", "status", "decided_by", "fault")

VIEWS: Sequence[ClassList] = (
    ClassList(
        "students",
        "Students",
        lambda control, user: _of_user(control.students(), "email", user),
        _selection("students", "email"),
        {
            "name": "Name",
            "last": "Last request",
            **_headings("requests", "errors", "steps", bytes="Files"),
            **_headings("channels", "operations"),
        },
        "The class has no account.",
    ),
    ClassList(
        "steps",
        "Steps of exercises",
        lambda control, user: control.steps(user),
        _with_user("steps"),
        _headings("name", title="Exercise", done="Step", text="Request", time="Time"),
        "No request belongs to a step yet.",
    ),
    ClassList(
        "requests",
        "Requests",
        lambda control, user: control.journal(user),
        _with_user("journal"),
        _REQUESTS,
        "No request yet.",
        newest_first=True,
    ),
    ClassList(
        "errors",
        "Errors",
        lambda control, user: _errors(control.journal(user)),
        _with_user("journal", '.query("not status < 400")'),
        _REQUESTS,
        "No request has failed.",
        newest_first=True,
    ),
    ClassList(
        "backups",
        "Backups",
        lambda control, user: _of_user(control.backups(), "user", user),
        _selection("backups", "user"),
        _headings("time", "user", "size", path="File on the machine of the service"),
        "No student was reset yet.",
        newest_first=True,
    ),
)


def table_of(view: ClassList, rows: DataFrame) -> DataFrame:
    """Return the table of a list: the newest rows, as texts, with headings."""
    shown = rows.iloc[::-1] if view.newest_first else rows
    shown = shown.head(MAX_ROWS).copy()
    if view.key == "steps":
        shown["done"] = shown["step"].astype(str) + " of " + shown["of"].astype(str)
    if view.key == "students":
        shown["name"] = [_name_text(student) for student in shown.itertuples()]
    for name in ("bytes", "size"):
        if name in shown:
            shown[name] = [size_text(int(size)) for size in shown[name]]
    for name in ("time", "last"):
        if name in shown:
            shown[name] = [_time_text(moment) for moment in shown[name]]
    return shown[[*view.columns]].rename(columns=view.columns)


def _name_text(student: Any) -> str:
    notes = [*(["teacher"] if student.role == "teacher" else []), *([] if student.active else ["token revoked"])]
    return f"{student.name} ({', '.join(notes)})" if notes else str(student.name)


def _time_text(moment: pd.Timestamp) -> str:
    return f"{moment:%d %b %H:%M:%S}" if moment == moment else ""  # a missing time is not equal to itself


_OUTAGE = "Break the network for all"
_PAUSE = "The clock stops for all users, and moves only with this button until the service is started again."


class StudentSection(Section):
    """The selected student, who can be reset, and the backups, which can be restored. `chooser` is above the list."""

    heading = "Reset and restore"

    def _controls(self) -> list[widgets.Widget]:
        self.chooser = dropdown("Student", "Whose rows the list has, and who is reset", [("All", "")])
        self.reset = self._button("Reset this student …", "Write a backup, then delete everything", self._reset)
        self.backup = dropdown("Backup", "The backup to restore", [("None", "")])
        self.restore = self._button("Restore …", "Restore the student of the backup", self._restore)
        self._restoring = row(self.restore)
        for widget in (self.backup, self._restoring):
            set_visible(widget, False)
        self.advice = widgets.HTML()
        self._resetting = row(self.reset)
        on_change(self._show_user, self.chooser)
        self._show_user()
        return [self.advice, self._resetting, self.backup, self._restoring]

    def _show_user(self) -> None:
        text = f"Selected: {self.chooser.label}." if self.user else "Select a student above to reset this student."
        self.advice.value = tag("p", text)
        set_visible(self._resetting, self.user is not None)

    @property
    def user(self) -> str | None:
        """The e-mail address of the selected student, or None for all students."""
        return str(self.chooser.value) or None

    def show_students(self, students: DataFrame) -> None:
        named = [(f"{student.name}, {student.email}", str(student.email)) for student in students.itertuples()]
        replace_options(self.chooser, [("All", ""), *named])

    def show_backups(self, backups: DataFrame) -> None:
        newest = backups.iloc[::-1]
        options = [
            (f"{backup.user}, {backup.time:%d %b %H:%M:%S}", str(backup.backup)) for backup in newest.itertuples()
        ]
        for widget in (self.backup, self._restoring):
            set_visible(widget, bool(options))
        replace_options(self.backup, options or [("None", "")])

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
        self.preset = dropdown("Fault", "What happens to the requests of all users", presets)
        self.seconds = number_field(60, "For seconds", "The faults end after these seconds of real time")
        self.seconds.style.description_width = LABEL["description_width"]
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.start = self._button("Start", "Activate the faults for all users", self._start)
        self.stop = self._button("End all faults", "Remove all faults", self._stop)
        on_change(self._describe, self.preset)
        self._describe()
        return [self.preset, self.seconds, self.description, row(self.start, self.stop), self.armed]

    def _describe(self) -> None:
        text = "The service closes each connection without a response. This page goes on."
        if name := self.preset.value:
            text = preset_text(name)
        self.description.value = tag("p", text, class_="svc-indented")

    def _start(self) -> None:
        name, seconds = str(self.preset.value), int(self.seconds.value)
        if seconds < 1:
            raise ValueError("For seconds must be 1 or more.")
        code = f"school.faults({name!r}, seconds={seconds})" if name else f"school.break_network({seconds})"

        control: ClassControl = self._form.control

        def action() -> DataFrame:
            return control.faults(name, seconds=seconds) if name else control.break_network(seconds)

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
        self.step = text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = self._button("Advance …", "Advance the clock for all users", self._advance)
        return [self.now, self.step, row(self.advance)]

    def show_now(self, text: str) -> None:
        self.now.value = tag("p", text)

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


_HEAD = "school = svc.class_control()\n"
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
        self._every = every
        self._loaded: _Loaded | None = None
        self.work = BackgroundTask(self._show_error)
        self.question = Confirmation(self._guard)
        self.head = widgets.HTML(tag("p", "Not loaded yet."))
        titles = [(view.title, view.key) for view in VIEWS]
        self.view_choice = radio_buttons("List", "The list that is shown", titles, "svc-across")
        self.student, self.clock, self.faults = StudentSection(self), ClassClockSection(self), ClassFaultSection(self)
        self.refresh_button = self._button("Refresh", "Load the lists now", self.refresh)
        on_change(lambda: self._guard(self._change_list), self.view_choice, self.student.chooser)
        sections = widgets.HBox([self.student, self.clock, self.faults])
        sections.add_class("svc-sections")
        self._compose(
            self.head,
            self.view_choice,
            self.student.chooser,
            self.table,
            row(self.refresh_button),
            self.status,
            self.alert,
            self.work,
            self.question,
            sections,
        )
        self._poll_task: asyncio.Task[None] | None = None
        if every is not None:
            self._start(every)

    @property
    def result(self) -> DataFrame:
        """All rows of the list that is shown, as they were loaded last."""
        return self._loaded.rows if self._loaded else frame(STUDENTS, [])

    def code(self) -> str:
        """Return the code of the last action, or without an action the code that returns the list."""
        return _HEAD + (self._last_code or self._view.call(self.student.user))

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

    def _start(self, every: float) -> None:
        """Refresh the lists repeatedly in a thread. Without an event loop or threads, load them once."""
        with suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            if capabilities().threads:
                self._poll_task = loop.create_task(self._poll_forever(every))
                return
        self._guard(self.refresh)

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

        def load(_report: object) -> _Loaded:
            return self._load(view, user)

        if not self.work.busy:
            self.work.begin("Loading", load, self._show, in_thread=True)

    def _load(self, view: ClassList, user: str | None) -> _Loaded:
        control = self.control
        lists = (control.students, control.fault_plans, control.backups, control.clock)
        return _Loaded(view, view.load(control, user), *(load() for load in lists))

    def _show(self, loaded: _Loaded) -> None:
        self._loaded = loaded
        self.student.show_students(loaded.students)
        self.student.show_backups(loaded.backups)
        self.faults.show_plans(loaded.plans)
        now = loaded.clock["now"].item()
        self.clock.show_now(f"{now:%d %b %Y %H:%M:%S} UTC")
        self.head.value = self._head_line(loaded, now)
        rows = table_of(loaded.view, loaded.rows)
        if rows.empty:
            self.table.value = tag("p", loaded.view.empty)
        else:
            self._show_table(rows)
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
