"""The controls for a new notification channel, and the equivalent code that opens the channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets as widgets

from ....core.clock import to_millis
from ....core.errors.catalogue import ApiError
from ....core.notifications.channels import MAX_ID_LENGTH, MAX_TOKEN_LENGTH, check_channel
from ...notifications.channel_request import channel_token, expiration_time
from ...widgets.field import (
    AUTO_WIDTH,
    LABEL,
    Field,
    SingleField,
    describe,
    number_field,
    on_change,
    set_visible,
    text_field,
)
from ...widgets.more_options import MoreOptions
from ...widgets.styles import row
from ..file_browser.recent_files import file_line, latest_files

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject
    from ....core.policy import Policy

DEFAULT, AFTER, AT = "default", "after", "at"
_CHOICES = (("Default", DEFAULT), ("After a time", AFTER), ("At a date and time", AT))
_UNITS = (("seconds", "s"), ("minutes", "m"), ("hours", "h"), ("days", "d"))
_SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}


class ChannelEnd(Field):
    """The controls for the expiration of a channel. Dates and times are in UTC."""

    def __init__(self) -> None:
        self.choice = widgets.Dropdown(options=_CHOICES, **describe("Expires", "When the channel ends"), style=LABEL)
        self.count = number_field(2, "after", "The lifetime of the channel")
        self.unit = widgets.Dropdown(
            options=_UNITS, value="h", **describe("unit", "The unit of the lifetime"), style=AUTO_WIDTH
        )
        self.day = widgets.DatePicker(**describe("on", "The date on which the channel ends, in UTC"), style=AUTO_WIDTH)
        self.clock = widgets.TimePicker(
            step=1, **describe("at (UTC)", "The time of day at which the channel ends, in UTC"), style=AUTO_WIDTH
        )
        super().__init__(self.choice, self.count, self.unit, self.day, self.clock)
        on_change(self._update_visibility, self.choice)
        self._update_visibility()

    @property
    def arguments(self) -> dict[str, str]:
        """A dict with `expires_in` or `expiration`, or {} for the default. Raises ValueError for an invalid value."""
        if self.choice.value == AFTER:
            if self.count.value < 1:
                raise ValueError(f"Expires after {self.count.value}: enter a whole number of 1 or more.")
            return {"expires_in": f"{self.count.value}{self.unit.value}"}
        if self.choice.value == AT:
            if self.day.value is None or self.clock.value is None:
                raise ValueError("Enter the date and the time at which the channel ends.")
            moment = datetime.combine(self.day.value, self.clock.value.replace(tzinfo=None), UTC)
            return {"expiration": moment.isoformat()}
        return {}

    def explain_limits(self, policy: Policy | None, *, of_changes: bool) -> None:
        """Show the limits of the channel lifetime as a hint. `policy` is None for an external service."""
        if policy is None:
            self.show_hint("The service may end a channel sooner; the list of channels has the actual time.")
            return
        most = policy.max_changes_channel_lifetime if of_changes else policy.max_file_channel_lifetime
        lifetime = policy.channel_lifetime
        default = "Default: the channel does not end" if lifetime is None else f"Default: {_length_text(lifetime)}"
        watched = "the change log" if of_changes else "a file"
        self.show_hint(f"{default}. At most {_length_text(most)} for {watched}; a later end is shortened to that.")

    def _update_visibility(self) -> None:
        for control in (self.count, self.unit):
            set_visible(control, self.choice.value == AFTER)
        for control in (self.day, self.clock):
            set_visible(control, self.choice.value == AT)


def _length_text(seconds: float) -> str:
    """Return a duration in its largest whole unit.

    >>> _length_text(3600), _length_text(604800), _length_text(90)
    ('1 hour', '7 days', '90 seconds')
    """
    unit, size = next((unit, size) for unit, size in _SECONDS.items() if seconds % size == 0 or size == 1)
    count = seconds / size
    return f"{count:g} {unit}{'' if count == 1 else 's'}"


CHANGES = ""
"""The value that stands for the change log in the list of files."""

_CHANNEL_ID = "Channel ID"
_LABELS = {"id": _CHANNEL_ID, "token": "Token", "expiration": "Expires", "address": "Address"}
_ANY_ID, _ANY_ADDRESS = "id", "https://hooks.example.com/notifications"
_NEW_ID = f"At most {MAX_ID_LENGTH} characters that were never used before; empty: a UUID is generated"
_TOKEN_HINT = (
    f"At most {MAX_TOKEN_LENGTH} characters that every message has; empty: generated for the receiver of this kernel,"
    " which verifies it, and none for others"
)
_ADDRESS_HINT = "Empty: a receiver in this kernel"
_TOKEN_HINT_ELSEWHERE = f"At most {MAX_TOKEN_LENGTH} characters that every message has; empty: none"
_ASK_TOKEN = 'getpass("Channel token: ")'


class ResponsePreset(NamedTuple):
    """A sequence of receiver responses. `plan` has the status, count and delay for each call of `answer_with`."""

    words: str
    plan: tuple[tuple[int, int | None, float], ...]


RESPONSES = (
    ResponsePreset("200 (delivered)", ((200, None, 0),)),
    ResponsePreset("503 twice, then 200", ((200, None, 0), (503, 2, 0))),
    ResponsePreset("503 always (given up)", ((503, None, 0),)),
    ResponsePreset("404 (failed)", ((404, None, 0),)),
    ResponsePreset("102 only (delivered)", ((102, None, 0),)),
    ResponsePreset("200 after 3 seconds", ((200, None, 3),)),
)


class ChannelOptions(MoreOptions):
    """The controls for rarely used channel properties, which are the id, the token and the expiration."""

    def __init__(self, channel_id: SingleField, token: SingleField, ends: ChannelEnd) -> None:
        self._controls = (channel_id.control, token.control, ends.choice)
        self._unset = tuple(control.value for control in self._controls)
        super().__init__(channel_id, token, ends)
        on_change(self.update_label, *self._controls)

    def _count_set(self) -> int:
        return sum(control.value != unset for control, unset in zip(self._controls, self._unset, strict=True))


class WatchControls(widgets.VBox):  # type: ignore[misc]
    """The controls for a new notification channel."""

    def __init__(self) -> None:
        self.target = widgets.Dropdown(
            options=[("Change log (all my files)", CHANGES)],
            **describe("Watch", "The change log or a file, last modified first"),
            style=LABEL,
        )
        self.refresh = widgets.Button(description="Refresh", tooltip="Reload the lists of files and channels")
        self.channel_id = SingleField(
            text_field(_CHANNEL_ID, "The id of the channel, which every message has", hint="generated")
        )
        self.token = SingleField(
            widgets.Password(
                continuous_update=False,
                style=LABEL,
                **describe("Token", "A text that the receiver compares; not a credential"),
            )
        )
        self.ends = ChannelEnd()
        self.address = SingleField(
            text_field(
                "Address",
                "The https URL of a receiver whose domain is registered with the service",
                hint=_ANY_ADDRESS,
            )
        )
        self.channel_id.show_hint(_NEW_ID)
        self.responses = widgets.RadioButtons(
            options=[(preset.words, preset) for preset in RESPONSES],
            **describe("Responses", "The responses of the receiver in this kernel to the next messages"),
            style=LABEL,
        )
        self.more = ChannelOptions(self.channel_id, self.token, self.ends)
        super().__init__([row(self.target, self.refresh), self.address, self.responses, self.more])
        self.add_class("svc-fields")
        self.add_class("svc-channel")

    def fields(self) -> dict[str, Field]:
        """Return the field of each channel property, by the name of the property in the interface."""
        return {"id": self.channel_id, "token": self.token, "expiration": self.ends, "address": self.address}

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """Show each problem beside the field of its property, and remove the problems of all other fields."""
        for name, field in self.fields().items():
            text = problems.get(name, "")
            if text.startswith(f"{name}: "):
                text = text.replace(name, _LABELS[name], 1)
            field.show_problems([text] if text else [])
        if problems.keys() - {"address"}:
            self.more.shown = True

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.target, self.responses)
        for field in self.fields().values():
            field.watch(changed)

    def problems(self, session: Session) -> dict[str, str]:
        """Return the problems of the controls by property name. A missing address is not a problem."""
        wrong: dict[str, str] = {}
        ends: int | str | None = None
        try:
            ends = expiration_time(session, **{"expires_in": None, "expiration": None, **self.ends.arguments})
        except ValueError as error:
            wrong["expiration"] = str(error)
        try:
            channel_token(session, self.token.value)
        except ValueError as error:
            wrong["token"] = str(error)
        body: JSONObject = {
            "id": self.channel_id.value or _ANY_ID,
            "type": "web_hook",
            "address": self.address.value.strip() or _ANY_ADDRESS,
            "token": self.token.value,
            "expiration": ends,
        }
        return {**_service_problems(body, to_millis(session.clock.now())), **wrong}

    def arguments(self) -> dict[str, str]:
        """Return the arguments of `watch_file`, except the receiver. Raises ValueError for an invalid expiration."""
        named = {"channel_id": self.channel_id.value, "token": self.token.value}
        return {name: value for name, value in named.items() if value} | self.ends.arguments

    def read(self, session: Session, *, in_kernel: bool) -> dict[str, str]:
        """Fill the list of files, and return the file names by id. `in_kernel` is True for a sandbox in this kernel."""
        files = latest_files(session)
        before = self.target.value
        self.target.options = [self.target.options[0], *((file_line(file), str(file["id"])) for file in files)]
        if before in [value for _, value in self.target.options]:
            self.target.value = before
        self.address.show_hint(_ADDRESS_HINT if in_kernel else "")
        set_visible(self.responses, in_kernel)
        self.token.show_hint(_TOKEN_HINT if in_kernel else _TOKEN_HINT_ELSEWHERE)
        return {str(file["id"]): str(file.get("name")) for file in files}

    def explain_limits(self, policy: Policy | None) -> None:
        """Show the lifetime limits for a channel on the selected file or on the change log."""
        self.ends.explain_limits(policy, of_changes=self.target.value == CHANGES)

    def address_elsewhere(self, *, in_kernel: bool) -> str | None:
        """Return the address of an external receiver, or None if the receiver in this kernel is used."""
        address = str(self.address.value).strip()
        return None if in_kernel and not address else address

    def code(self, *, in_kernel: bool) -> str:
        """Return the code that opens the channel. The code prompts for the token, which is not shown."""
        lines = ["from getpass import getpass"] if self.token.value else []
        address = self.address_elsewhere(in_kernel=in_kernel)
        lines += ["rx = svc.receiver()"] if address is None else []
        to = "rx" if address is None else repr(address)
        if address is None and self.responses.value is not RESPONSES[0]:
            for status, times, delay in self.responses.value.plan:
                more = (f", times={times}" if times else "") + (f", delay={delay:g}" if delay else "")
                if status != 200 or more:
                    lines.append(f"rx.answer_with({status}{more})")
        shown = self._shown_arguments()
        if self.target.value == CHANGES:
            lines.append(f"channel = svc.watch_changes({to}{shown})")
        else:
            lines.append(f"channel = svc.watch_file({self.target.value!r}, {to}{shown})")
        return "\n".join(lines)

    def _shown_arguments(self) -> str:
        try:
            arguments = self.arguments()
        except ValueError:
            return ", ..."  # the field shows the problem
        shown = {name: _ASK_TOKEN if name == "token" else repr(value) for name, value in arguments.items()}
        return "".join(f", {name}={value}" for name, value in shown.items())


def _service_problems(body: JSONObject, now: int) -> dict[str, str]:
    """Return the problems that the service would report for a watch request, by the names of the properties."""
    try:
        check_channel(body, now=now)
    except ApiError as error:
        return {str(row.location): row.message for row in error.rows}
    return {}
