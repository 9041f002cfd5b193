"""The notification panel opens and stops channels, sets the responses of the receiver, and shows messages (W-04)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets as widgets

from ..client.notifications.channels import Channel, registry_of
from ..client.session import Session, SessionLike
from ..core.errors.errors import SvcError
from ..core.notifications.channels import MAX_ID_LENGTH, MAX_TOKEN_LENGTH
from ..core.platform import capabilities
from ..notebook.display import Markup, count_text, tag
from ..notebook.frames import MESSAGES, frame
from ..notebook.notifications.channels import renew_channel, stop_channel, watch_changes, watch_file
from ..notebook.notifications.receiver import MAX_SHOWN, Receiver, headings, message_line, receiver
from ..notebook.sandbox.sandbox import sandbox_of
from .file_browser.listing import file_line, latest_files
from .widgets import ui
from .widgets.background_task import running_loop
from .widgets.form import Form

if TYPE_CHECKING:
    from pandas import DataFrame


# The value that stands for the change log in the list of files.
CHANGES = ""

_CHANNEL_ID = "Channel ID"
# The field of an error that the functions raise before a request, by the first word of its text.
_FIELDS_OF_ERRORS = {"token": "token", "receiver": "address"}

_LABELS = {"id": _CHANNEL_ID, "token": "Token", "expiration": "Expires", "address": "Address"}
_ANY_ADDRESS = "https://hooks.example.com/notifications"
_NEW_ID = f"At most {MAX_ID_LENGTH} characters that were never used before; empty: a UUID is generated"
_TOKEN_HINT = (
    f"At most {MAX_TOKEN_LENGTH} characters that every message has; empty: generated for the receiver of this kernel,"
    " which verifies it, and none for others"
)
_ADDRESS_HINT = "Empty: a receiver in this kernel"
_TOKEN_HINT_ELSEWHERE = f"At most {MAX_TOKEN_LENGTH} characters that every message has; empty: none"
_ASK_TOKEN = 'getpass("Channel token: ")'


# The status, the count and the delay for each call of `answer_with`.
Responses: TypeAlias = "tuple[tuple[int, int | None, float], ...]"

RESPONSES: tuple[tuple[str, Responses], ...] = (
    ("200 (delivered)", ((200, None, 0),)),
    ("503 twice, then 200", ((200, None, 0), (503, 2, 0))),
    ("503 always (given up)", ((503, None, 0),)),
    ("404 (failed)", ((404, None, 0),)),
    ("102 only (delivered)", ((102, None, 0),)),
    ("200 after 3 seconds", ((200, None, 3),)),
)


class WatchControls(widgets.VBox):  # type: ignore[misc]
    """The controls for a new notification channel. `in_kernel` is True for a sandbox in this kernel."""

    def __init__(self, *, in_kernel: bool) -> None:
        self._in_kernel = in_kernel
        tooltip = "The change log or a file, last modified first"
        self.target = ui.dropdown("Watch", tooltip, [("Change log (all my files)", CHANGES)])
        self.refresh = ui.button("Refresh", "Reload the lists of files and channels")
        self.channel_id = ui.SingleField(
            ui.text_field(_CHANNEL_ID, "The id of the channel, which every message has", hint="generated")
        )
        label = ui.describe("Token", "A text that the receiver compares; not a credential")
        self.token = ui.SingleField(widgets.Password(continuous_update=False, style=ui.LABEL, **label))
        tooltip = "The lifetime of the channel, or the date and time at which it ends"
        self.ends = ui.SingleField(ui.text_field("Expires", tooltip, hint="Default; 2h, 7d, or 2026-11-30T18:00Z"))
        tooltip = "The https URL of a receiver whose domain is registered with the service"
        self.address = ui.SingleField(ui.text_field("Address", tooltip, hint=_ANY_ADDRESS))
        self.channel_id.show_hint(_NEW_ID)
        self.address.show_hint(_ADDRESS_HINT if in_kernel else "")
        self.token.show_hint(_TOKEN_HINT if in_kernel else _TOKEN_HINT_ELSEWHERE)
        tooltip = "The responses of the receiver in this kernel to the next messages"
        self.responses = ui.radio_buttons("Responses", tooltip, RESPONSES)
        counted = (self.channel_id.control, self.token.control, self.ends.control)
        ui.set_visible(self.responses, in_kernel)
        self.more = ui.MoreOptions(self.channel_id, self.token, self.ends, counted=counted)
        super().__init__([ui.row(self.target, self.refresh), self.address, self.responses, self.more])
        self.add_class("svc-fields")
        self.add_class("svc-channel")
        # The field of each channel property, by the name of the property in the interface.
        self.fields = {"id": self.channel_id, "token": self.token, "expiration": self.ends, "address": self.address}

    def show_problem(self, name: str, text: str) -> None:
        """Show a problem beside the field of its property, and remove the problems of all other fields."""
        for key, field in self.fields.items():
            field.show_problems([text.replace(f"{key}: ", f"{_LABELS[key]}: ", 1)] if key == name else [])
        self.more.shown = self.more.shown or name in ("id", "token", "expiration")

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.target, self.responses)
        for field in self.fields.values():
            field.watch(changed)

    def arguments(self) -> dict[str, str]:
        """Return the arguments of `watch_file`, except the receiver."""
        named = {"channel_id": self.channel_id.value, "token": self.token.value}
        return {name: value for name, value in named.items() if value} | self.expiration()

    def expiration(self) -> dict[str, str]:
        """Return the argument `expires_in` of `watch_file`, for a date `expiration`, or no argument for the default."""
        text = str(self.ends.value).strip()
        return {"expiration" if "-" in text else "expires_in": text} if text else {}

    def read(self, session: Session) -> dict[str, str]:
        """Fill the list of files, and return the file names by id."""
        files = latest_files(session)
        options = [(file_line(file), str(file["id"])) for file in files]
        ui.replace_options(self.target, [self.target.options[0], *options])
        return {str(file["id"]): str(file.get("name")) for file in files}

    @property
    def address_elsewhere(self) -> str | None:
        """Return the address of an external receiver, or None if the receiver in this kernel is used."""
        address = str(self.address.value).strip()
        return None if self._in_kernel and not address else address

    def code(self) -> str:
        """Return the code that opens the channel. The code prompts for the token, which is not shown."""
        lines = ["from getpass import getpass"] if self.token.value else []
        address = self.address_elsewhere
        lines += ["rx = svc.receiver()"] if address is None else []
        to = "rx" if address is None else repr(address)
        if address is None and self.responses.index:
            for status, times, delay in self.responses.value:
                more = (f", times={times}" if times else "") + (f", delay={delay:g}" if delay else "")
                if status != 200 or more:
                    lines.append(f"rx.answer_with({status}{more})")
        shown = [f"{name}={_ASK_TOKEN if name == 'token' else repr(value)}" for name, value in self.arguments().items()]
        first = "watch_changes(" if self.target.value == CHANGES else f"watch_file({self.target.value!r}, "
        return "\n".join([*lines, f"channel = svc.{first}{', '.join([to, *shown])})"])


_FROZEN = "The clock of the sandbox is frozen. Retries happen when it advances, as with lab.clock.advance('10s')."


def watch_panel(*, session: SessionLike = None) -> WatchPanel:
    """Return a panel that opens and stops notification channels, and shows their messages when they arrive.

    `panel.result` is the DataFrame of the messages, `panel.code()` is the code that opens the same channel,
    `panel.receiver` is the receiver (created with the first channel), `panel.last_error` is the last error.

    Args:
        session: The session whose files are watched. None stands for the current session. Only a sandbox can reach a
            receiver in this kernel. For an external service, enter the address of a receiver.

    See tests/rules.csv (A8 to A11).

    >>> lab = svc.sandbox()
    >>> svc.watch_panel()
    <WatchPanel: no channel, no message>
    """
    return WatchPanel(session)


class WatchPanel(Form):
    """The form that `watch_panel` returns. A program can set `controls` and click the buttons."""

    title = "Notification panel"
    instead = "svc.watch_file(file, svc.receiver()) and svc.notifications()"

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self.receiver: Receiver | None = None
        self._names: dict[str, str] = {}
        self._lab = sandbox_of(self.session)
        self._loop = running_loop()
        self.controls = WatchControls(in_kernel=self._lab is not None)
        self.watch = self._button("Watch", "Open a channel; its first message is sync", self._open, "primary")
        self.stop = self._button("Stop", "Stop the channel that is selected below", self._stop)
        self.renew = self._button("Renew", "Open a new channel for the selected one, then stop that", self._renew)
        tooltip = "The channels of this session; Stop and Renew apply to the selected one"
        self.chosen = ui.radio_buttons("Channels", tooltip)
        self.lines = widgets.VBox()
        self._line_of: dict[int, widgets.HTML] = {}
        self.controls.refresh.on_click(lambda _button: self._guard(self.refresh))
        self.controls.watch(self._update)
        self.controls.responses.observe(lambda _change: self._guard(self._set_responses), "value")
        self._guard(self._read)
        self._update()
        buttons = ui.row(self.watch, self.stop, self.renew)
        is_frozen = self._lab is not None and self._lab.clock.is_virtual
        hint = widgets.HTML(tag("p", _FROZEN, class_="svc-hint") if is_frozen else "")
        self._compose(self.controls, buttons, self.chosen, hint, self.status, self.alert, self.table, self.lines)
        self._show()

    @property
    def result(self) -> DataFrame:
        """The messages that were received, with the columns of `Receiver.messages()`."""
        return self.receiver.messages() if self.receiver else frame(MESSAGES, [])

    def code(self) -> str:
        return self.controls.code()

    def close(self) -> None:
        if self.receiver:
            self.receiver.close()
        super().close()

    def _update(self) -> None:
        """Remove the problems of the previous channel after a change of a control, and show the code."""
        self.controls.show_problem("", "")
        self._show_code()

    def _read(self) -> None:
        self._names |= self.controls.read(self.session)

    def refresh(self) -> None:
        self._deliver_in_browser()
        self._read()
        self._show()

    def _open(self) -> None:
        target = self.controls.target.value
        try:
            channel = self._open_channel(target)
        except (SvcError, ValueError) as error:
            name = getattr(error, "location", None) or _FIELDS_OF_ERRORS.get(str(error).split()[0], "expiration")
            if name not in self.controls.fields:
                raise
            self.controls.show_problem(name, str(error))
            self._clear_status()
            self._show_error(error)
            self.alert.value = tag("p", "No channel was opened. See the message beside the field.", role="alert")
            return
        self.controls.show_problem("", "")
        self._show_status(f"Watching {self._target_name(target)}; the service sends sync.")
        self._deliver_in_browser()
        self._show(channel["id"].item())

    def _open_channel(self, target: str) -> DataFrame:
        arguments: dict[str, Any] = {**self.controls.arguments(), "session": self.session}
        address: Receiver | str | None = self.controls.address_elsewhere
        if address is None and self.receiver is None:
            self.receiver = receiver(session=self.session)
            self.receiver.listen(self._on_message)
            self._set_responses()
        to = self.receiver if address is None else address
        return watch_changes(to, **arguments) if target == CHANGES else watch_file(target, to, **arguments)

    def _on_message(self) -> None:
        """Show the messages in the thread of the event loop, or at once without a loop."""
        if self._loop is None:
            self._show()
        else:
            with suppress(RuntimeError):  # the kernel shuts down
                self._loop.call_soon_threadsafe(self._show)

    def _set_responses(self) -> None:
        for status, times, delay in self.controls.responses.value if self.receiver else ():
            self.receiver.answer_with(status, times=times, delay=delay)  # type: ignore[union-attr]

    def _stop(self) -> None:
        channel = self._selected_channel()
        stop_channel(channel.id, session=self.session)
        self._show_status(f"Stopped: no more notifications about {self._target_name(channel.file)}.")
        self._show()

    def _renew(self) -> None:
        channel = self._selected_channel()
        ends: dict[str, Any] = self.controls.expiration()
        renewed = renew_channel(channel.id, **ends, session=self.session)
        self._show_status("Renewed: a new channel replaces it.")
        self._deliver_in_browser()
        self._show(renewed["id"].item())

    def _deliver_in_browser(self) -> None:
        """Deliver the notifications that are due. Without threads, the service does not deliver them by itself."""
        if self._lab and not capabilities().threads:
            self._lab.deliver()

    def _selected_channel(self) -> Channel:
        known = registry_of(self.session).channels
        if self.chosen.value not in known:
            raise ValueError("No channel is selected. Open one with Watch.")
        return known[self.chosen.value]

    def _show(self, choose: str | None = None) -> None:
        session = self.session
        known, now = registry_of(session).channels, session.clock.now()
        before = choose or self.chosen.value
        self.chosen.options = [(self._line(channel, channel.state(now)), channel.id) for channel in known.values()]
        self.chosen.value = before if before in known else next(iter(known), None)
        self.chosen.layout.display = None if known else "none"
        watched = {channel.id: self._target_name(channel.file) for channel in known.values()}
        messages = self.receiver.received() if self.receiver else []
        self.table.value = headings(messages)
        shown = range(max(0, len(messages) - MAX_SHOWN), len(messages))
        # Each message has its own widget, so that messages stay expanded when a new message arrives.
        lines = [self._line_of.setdefault(n, widgets.HTML(layout={"margin": "0"})) for n in shown]
        for line, message in zip(lines, messages[shown.start :], strict=True):
            line.value = message_line(message, session.names, watched)
        self.lines.children = tuple(lines)  # JupyterLab draws widgets again after an insertion, so new ones come last

    def _line(self, channel: Channel, state: str) -> str:
        ends = f" until {channel.expiration:%d %b, %H:%M:%S}" if channel.expiration and state == "active" else ""
        return f"{self._target_name(channel.file)}: {state}{ends}"

    def _target_name(self, file: str | None) -> str:
        return self._names.get(file, f"file {file}") if file else "the change log"

    def _static_view(self) -> Markup:
        self._show()  # messages that arrived while a cell runs are otherwise shown after its end
        return super()._static_view()

    def _summary(self) -> str:
        channels = len(registry_of(self.session).channels)
        messages = len(self.result)
        channel = count_text(channels, "channel") if channels else "no channel"
        return f"<WatchPanel: {channel}, {count_text(messages, 'message') if messages else 'no message'}>"
