"""The controls of the class dashboard for one student, for faults and for the clock."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....core.faults.presets import PRESETS
from ...widgets.field import LABEL, describe, number_field, set_visible, text_field
from ...widgets.html import tag
from ...widgets.styles import row

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...class_control import ClassControl

Run = Callable[[str, Callable[[], Any], Callable[[Any], str]], None]
"""A function that runs an action. Its arguments are the equivalent code, the action, and a function that returns the
message about the result of the action."""

_OUTAGE = "Break the network for all"
_PAUSE = "The clock stops for all users, and moves only with this button until the service is started again."


class ClassSection(widgets.VBox):  # type: ignore[misc]
    """A heading and controls. `button` creates a button from a label, a tooltip and a click handler."""

    heading = ""

    def __init__(
        self, control: ClassControl, run: Run, button: Callable[..., widgets.Button], ask: Callable[..., None]
    ) -> None:
        self._control, self._run, self._button, self._ask = control, run, button, ask
        super().__init__([widgets.HTML(tag("h4", self.heading, class_="svc-head")), *self._controls()])

    @abstractmethod
    def _controls(self) -> list[widgets.Widget]:
        """Return the controls of the section, from top to bottom."""


class StudentSection(ClassSection):
    """The selected student, who can be reset, and the backups, which can be restored. `chooser` is above the list."""

    heading = "Reset and restore"

    def _controls(self) -> list[widgets.Widget]:
        self.chooser = widgets.Dropdown(
            options=[("All", "")], **describe("Student", "Whose rows the list has, and who is reset"), style=LABEL
        )
        self.reset = self._button("Reset this student …", "Write a backup, then delete everything", self._reset)
        self.backup = widgets.Dropdown(
            options=[("None", "")], **describe("Backup", "The backup to restore"), style=LABEL
        )
        self.restore = self._button("Restore …", "Restore the student of the backup", self._restore)
        self._restoring = row(self.restore)
        for widget in (self.backup, self._restoring):
            set_visible(widget, False)
        self.advice = widgets.HTML()
        self._resetting = row(self.reset)
        self.chooser.observe(lambda _change: self._show_user(), "value")
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
        _set_options(self.chooser, [("All", ""), *named])

    def show_backups(self, backups: DataFrame) -> None:
        newest = backups.iloc[::-1]
        options = [
            (f"{backup.user}, {backup.time:%d %b %H:%M:%S}", str(backup.backup)) for backup in newest.itertuples()
        ]
        for widget in (self.backup, self._restoring):
            set_visible(widget, bool(options))
        _set_options(self.backup, options or [("None", "")])

    def _reset(self) -> None:
        user = self.user
        if user is None:
            return
        self._ask(
            f"Reset {user}?",
            "Reset",
            "All files, uploads and events of this student are deleted, and the channels are stopped. Before that, the"
            " service writes a backup file, from which you can restore everything except running channels.",
            confirmed=lambda: self._run(
                f"school.reset({user!r})",
                lambda: self._control.reset(user),
                lambda done: f"Reset {user}: {done['files'].item()} files. The backup is {done['path'].item()}",
            ),
        )

    def _restore(self) -> None:
        backup = str(self.backup.value)
        label = str(self.backup.label)
        self._ask(
            f"Restore {label}?",
            "Restore",
            "The student gets the files, uploads and events of this backup. What the student has now is written to"
            " another backup file, and then deleted.",
            confirmed=lambda: self._run(
                f"school.restore({backup!r})",
                lambda: self._control.restore(backup),
                lambda done: (
                    f"Restored {done['user'].item()}: {done['files'].item()} files. The state before is in"
                    f" {done['path'].item()}"
                ),
            ),
        )


class ClassFaultSection(ClassSection):
    """The faults that all users meet."""

    heading = "Faults for all"

    def _controls(self) -> list[widgets.Widget]:
        self.preset = widgets.Dropdown(
            options=[(_OUTAGE, ""), *((preset.name, preset.name) for preset in PRESETS)],
            **describe("Fault", "What happens to the requests of all users"),
            style=LABEL,
        )
        self.seconds = number_field(60, "For seconds", "The faults end after these seconds of real time")
        self.seconds.style.description_width = LABEL["description_width"]
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.start = self._button("Start", "Activate the faults for all users", self._start)
        self.stop = self._button("End all faults", "Remove all faults", self._stop)
        self.preset.observe(lambda _change: self._describe(), "value")
        self._describe()
        return [self.preset, self.seconds, self.description, row(self.start, self.stop), self.armed]

    def _describe(self) -> None:
        text = "The service closes each connection without a response. This page goes on."
        if name := self.preset.value:
            preset = next(preset for preset in PRESETS if preset.name == name)
            text = f"{preset.teaches}. In turn: {'; '.join(preset.descriptions())}."
        self.description.value = tag("p", text, class_="svc-indented")

    def _start(self) -> None:
        name, seconds = str(self.preset.value), int(self.seconds.value)
        if seconds < 1:
            raise ValueError("For seconds must be 1 or more.")
        code = f"school.faults({name!r}, seconds={seconds})" if name else f"school.break_network({seconds})"

        def action() -> DataFrame:
            return self._control.faults(name, seconds=seconds) if name else self._control.break_network(seconds)

        self._run(code, action, lambda _plans: f"Started for {seconds} seconds: {self.preset.label}.")

    def _stop(self) -> None:
        self._run("school.clear_faults()", self._control.clear_faults, lambda _plans: "All faults have ended.")

    def show_plans(self, plans: DataFrame) -> None:
        lines = [
            tag("li", f"{plan.preset if isinstance(plan.preset, str) else _OUTAGE}: {plan.does}, {plan.fired} times")
            for plan in plans.itertuples()
        ]
        self.armed.value = tag("ul", *lines) if lines else tag("p", "No fault is active.")


class ClassClockSection(ClassSection):
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
        self._ask(
            f"Advance the clock by {step}?",
            "Advance",
            _PAUSE,
            confirmed=lambda: self._run(
                f"school.advance({step!r})",
                lambda: self._control.advance(step),
                lambda clock: f"The clock was advanced by {step} to {clock['now'].item():%d %b %Y %H:%M:%S} UTC.",
            ),
        )


def _set_options(chooser: widgets.Dropdown, options: list[tuple[str, str]]) -> None:
    """Set the options of a list, and keep the selected value if it still exists."""
    if list(chooser.options) == options:
        return
    before = chooser.value
    chooser.options = options
    if before in [value for _, value in options]:
        chooser.value = before
