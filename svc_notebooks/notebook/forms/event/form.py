"""The event form: all fields of an event, problems beside their field, a preview of the recurrence (W-03)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.errors.errors import SvcError
from ....core.events.validation import problems
from ....core.time_zones import UTC_NAME
from ...current_session import session_or_current
from ...events.body import LENIENT
from ...events.events import create_event
from ...events.records import in_zone
from ...frames.event_schemas import EVENT
from ...frames.frames import concatenated
from ...widgets.field import Field
from ...widgets.form import Form
from ...widgets.html import joined, tag
from ...widgets.styles import row, style_sheet
from .bindings import control_for
from .code import call_text
from .color_picker import chip_styles
from .controls import EventControls
from .from_event import fill_controls
from .to_arguments import body_of, read_controls

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ....core.http.messages import JSONObject

_COLUMNS = ["id", "summary", "start", "end", "time_zone", "status"]
_SAME_ZONE = "end.timeZone"
"""Unless the end has a zone of its own, one control has the zone of both times: what is wrong with it is said once."""
_SERVICE_DEFINED = "conferenceData.createRequest.conferenceSolutionKey.type"
"""The service's policy has the names that this field can have."""


def event_form(*, session: Session | None = None) -> EventForm:
    """A form for an event with all of its fields and all parameters of the request.

    Title, times, recurrence, guests, reminders and attachments are shown at once. "More options" has the end's own
    time zone, status, id, source, extended properties, conference options, the gadget and the parameters. "Details" of
    a guest are response, comment, additional guests and resource. A field without a control can be written as JSON
    under "Other fields"; a field that is set in both places is marked, and nothing is sent until one is removed.

    `form.value` is the body that would be sent, and can be set; `form.code()` is the call that does the same,
    `form.result` the frame of what was created, `form.last_error` the last thing that went wrong.

    Args:
        session: Whose calendar it is; None is the session that is current.

    See docs/rules.md#e-events (E).

    >>> lab = svc.sandbox()
    >>> form = svc.event_form()
    >>> form.value = {"summary": "Tea", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    >>> form.code()
    "svc.create_event('Tea', start='2026-11-02', end='2026-11-03')"
    """
    return EventForm(session)


class EventForm(Form):
    """See `event_form`. `controls` and the button can be filled in and pressed by a program."""

    title = "Event form"

    def __init__(self, session: Session | None = None) -> None:
        super().__init__(session)
        self.add_class("svc-event")
        self._created: list[DataFrame] = []
        self._updating = False
        self._found_problems: list[tuple[Field | None, str]] = []
        self.controls = EventControls()
        self._read_lists()
        self.controls.begin(session_or_current(session).clock.now())
        self.draft = read_controls(self.controls)
        self.create = self._button("Create", "Put the event into the calendar", self._create, "primary")
        self.status = widgets.HTML()
        self.controls.other_fields.move.on_click(lambda _button: self._guarded(self._move_json_to_controls))
        self.controls.attachments.refresh.on_click(lambda _button: self._guarded(self._read_lists))
        self.controls.watch(lambda: self._guarded(self._update))
        sheet = style_sheet("event_form.css", chip_styles())
        self._compose(sheet, self.controls, row(self.create), self.status, self.alert, self.table)
        self._update()

    # -- what a program sees

    @property
    def value(self) -> JSONObject:
        """The body of the request, as the controls say it."""
        return body_of(self.draft)

    @value.setter
    def value(self, event: JSONObject) -> None:
        self._updating = True
        try:
            fill_controls(self.controls, event, lambda: body_of(read_controls(self.controls)))
            self.controls.more.reveal()
        finally:
            self._updating = False
            self._update()

    @property
    def result(self) -> DataFrame:
        """The events that this form has created, with the columns of `create_event()`, in their zone or in UTC."""
        zones = {str(frame["start"].dt.tz) for frame in self._created}
        name = zones.pop() if len(zones) == 1 else UTC_NAME
        return in_zone(concatenated(EVENT, [in_zone(frame.copy(), name) for frame in self._created]), name)

    def code(self) -> str:
        """The call of a cell that does what the form is set to do."""
        return call_text(self.draft.arguments)

    # -- what a change does

    def _update(self) -> None:
        """Everything anew: what is wrong, what the recurrence comes to, and the code."""
        if self._updating:
            return
        self._updating = True
        try:
            self.controls.update_dependents()
            self.draft = read_controls(self.controls)
            self._show_field_problems(self._problems())
            self.controls.show_recurrence(self.draft.lines, self.draft.plan)
            self._show_code()
        finally:
            self._updating = False

    def _problems(self) -> list[tuple[Field | None, str]]:
        """What the form knows to be wrong; what it cannot even say comes first."""
        already_reported = {field for field, _ in self.draft.problems}
        skipped = {_SERVICE_DEFINED, *(() if self.draft.has_end_zone else (_SAME_ZONE,))}
        rows = [row for row in problems(self.value, LENIENT) if row.location not in skipped]
        found_problems = [(self._field(row.location), row.message) for row in rows]
        return [*self.draft.problems, *(problem for problem in found_problems if problem[0] not in already_reported)]

    def _field(self, path: str | None) -> Field | None:
        return control_for(self.controls, path)

    def _show_field_problems(self, problems: list[tuple[Field | None, str]]) -> None:
        self._found_problems = problems
        for field in self.controls.fields():
            field.show_problems(words for problem_field, words in problems if problem_field is field)

    # -- what a press does

    def _move_json_to_controls(self) -> None:
        """The fields of the JSON replace those of the controls; what no control can have stays in the JSON."""
        fields = self.controls.other_fields.value
        self.controls.other_fields.value = {}
        self._update()
        self.value = {**self.value, **fields}

    def _create(self) -> None:
        self._update()
        self.status.value = ""
        if self._found_problems:
            self._show_not_created()
            return
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            try:
                made = create_event(**self.draft.arguments, session=session_or_current(self._session))
            except SvcError as error:
                self._show_refusal(error)
            else:
                self._show_created(made, [str(row.message) for row in shown])

    def _show_not_created(self) -> None:
        """What has no field is said here; all of it is in `last_error`."""
        self.controls.more.reveal()
        without_field = [words for field, words in self._found_problems if field is None]
        marked = sum(bool(field.problems) for field in self.controls.fields())
        fields = f"{'1 field needs' if marked == 1 else f'{marked} fields need'} fixing: it says there why."
        all_texts = " ".join(words for _, words in self._found_problems)
        self._show_alert(ValueError(f"Nothing was created. {all_texts}"), *([fields] if marked else []), *without_field)

    def _show_refusal(self, error: SvcError) -> None:
        """What the service refuses stands beside its field."""
        field = self._field(error.location)
        if field is None:
            raise error
        field.show_problems([str(error)])
        self.controls.more.reveal()
        self._show_alert(error, "It says beside the field why.")

    def _show_alert(self, error: Exception, *words: str) -> None:
        self._show_error(error)
        self.alert.value = tag("p", " ".join(["Nothing was created.", *words]), role="alert", class_="svc-answer")
        self._focus_first_problem()

    def _show_created(self, made: DataFrame, notes: list[str]) -> None:
        self._created.append(made)
        self._show_table(self.result[_COLUMNS])
        link, name = str(made["html_link"].item()), self.draft.arguments.get("summary") or "the event"
        opened = tag("a", "Open it", href=link, target="_blank", rel="noopener")
        kernel = session_or_current(self._session).in_process  # where no browser comes
        there = "Its page opens in a browser while lab.serve() carries the sandbox." if kernel else opened
        noted = joined(*(tag("p", f"Note: {note}.") for note in notes))
        self.status.value = tag("div", tag("p", joined(f"Created: {name}. ", there)), noted, role="status")

    def _read_lists(self) -> None:
        self.controls.read(session_or_current(self._session))

    def __repr__(self) -> str:
        count = len(self._created)
        words = "nothing created yet" if not count else f"{count} event{'' if count == 1 else 's'} created"
        return f"<EventForm: {words}>"
