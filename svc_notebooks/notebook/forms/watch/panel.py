"""The notification panel opens and stops channels, sets the responses of the receiver, and shows messages (W-04)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....client.notifications.channels import Channel, registry_of
from ....core.errors.errors import SvcError
from ....core.platform import capabilities
from ...current_session import SessionLike, session_or_current
from ...frames.frames import frame
from ...frames.schemas import MESSAGES
from ...notifications.channels import renew_channel, stop_channel, watch_changes, watch_file
from ...notifications.message_view import MAX_SHOWN, headings, message_line
from ...notifications.open_receiver import receiver
from ...notifications.receiver import Receiver
from ...sandbox.sandbox import sandbox_of
from ...widgets.field import LABEL, describe
from ...widgets.form import Form
from ...widgets.html import Markup, tag
from ...widgets.styles import row
from .controls import CHANGES, WatchControls

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.notifications.inbox import Received
    from ....client.session import Session
    from ....core.brand_names import Names

_STEPS = (("10 seconds later", "10s"), ("1 hour later", "1h"))


def watch_panel(*, session: SessionLike = None) -> WatchPanel:
    """Return a panel that opens and stops notification channels, and shows their messages when they arrive.

    `panel.result` is the DataFrame of the messages, `panel.code()` is the code that opens the same channel,
    `panel.receiver` is the receiver (created with the first channel), `panel.last_error` is the last error.

    Args:
        session: The session whose files are watched. None stands for the current session. Only a sandbox can reach a
            receiver in this kernel. For an external service, enter the address of a receiver.

    See docs/rules.md#a8-watch-a-file (A8 to A11).

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
        self.steps: list[widgets.Button] = []
        self._names: dict[str, str] = {}
        self._lab = sandbox_of(session_or_current(session))
        self._later = _loop_caller()
        self.controls = WatchControls()
        self.watch = self._button("Watch", "Open a channel; its first message is sync", self._open, "primary")
        self.stop = self._button("Stop", "Stop the channel that is selected below", self._stop)
        self.renew = self._button("Renew", "Open a new channel for the selected one, then stop that", self._renew)
        self.chosen = widgets.RadioButtons(
            **describe("Channels", "The channels of this session; Stop and Renew apply to the selected one"),
            style=LABEL,
        )
        self.status = widgets.HTML()
        self.lines = widgets.VBox()
        self._line_of: dict[int, widgets.HTML] = {}
        self.controls.refresh.on_click(lambda _button: self._guard(self.refresh))
        self.controls.watch(self._update)
        self.controls.responses.observe(lambda _change: self._guard(self._set_responses), "value")
        self._guard(self._read)
        self._update()
        buttons = row(self.watch, self.stop, self.renew)
        self._compose(
            self.controls, buttons, self.chosen, *self._clock_buttons(), self.status, self.alert, self.table, self.lines
        )
        self._show()

    @property
    def result(self) -> DataFrame:
        """The messages that were received, with the columns of `Receiver.messages()`."""
        return self.receiver.messages() if self.receiver else frame(MESSAGES, [])

    def code(self) -> str:
        return self.controls.code(in_kernel=self._lab is not None)

    def close(self) -> None:
        if self.receiver:
            self.receiver.close()
        super().close()

    def _update(self) -> None:
        session = session_or_current(self._session)
        self.controls.explain_limits(self._lab.service.policy if self._lab else None)
        self.controls.show_problems(self.controls.problems(session))
        self._show_code()

    def _show_refusal(self, error: Exception) -> None:
        self._clear_status()
        self._show_error(error)
        self.alert.value = tag("p", "No channel was opened. See the message beside the field.", role="alert")

    def _read(self) -> None:
        self._names |= self.controls.read(session_or_current(self._session), in_kernel=self._lab is not None)

    def refresh(self) -> None:
        self._deliver_in_browser()
        self._read()
        self._show()

    def _open(self) -> None:
        session, target = session_or_current(self._session), self.controls.target.value
        problems = self.controls.problems(session)
        self.controls.show_problems(problems)
        if problems:
            self._show_refusal(ValueError(" ".join(problems.values())))
            return
        try:
            channel = self._open_channel(session, target)
        except SvcError as error:
            if error.location not in self.controls.fields():
                raise
            self.controls.show_problems({error.location: str(error)})
            self._show_refusal(error)
            return
        self._show_status(f"Watching {self._target_name(target)}; the service sends sync.")
        self._deliver_in_browser()
        self._show(channel["id"].item())

    def _open_channel(self, session: Session, target: str) -> DataFrame:
        arguments: dict[str, Any] = self.controls.arguments()
        if target == CHANGES:
            return watch_changes(self._address(session), **arguments, session=session)
        return watch_file(target, self._address(session), **arguments, session=session)

    def _address(self, session: Session) -> Receiver | str:
        address = self.controls.address_elsewhere(in_kernel=self._lab is not None)
        if address is not None:
            return address
        if self.receiver is None:
            self.receiver = receiver(session=session)
            self.receiver.listen(lambda: self._later(self._show))
            self._set_responses()
        return self.receiver

    def _set_responses(self) -> None:
        for status, times, delay in self.controls.responses.value.plan if self.receiver else ():
            self.receiver.answer_with(status, times=times, delay=delay)  # type: ignore[union-attr]

    def _stop(self) -> None:
        channel = self._selected_channel()
        stop_channel(channel.id, session=session_or_current(self._session))
        self._show_status(f"Stopped: no more notifications about {self._target_name(channel.file)}.")
        self._show()

    def _renew(self) -> None:
        channel = self._selected_channel()
        ends: dict[str, Any] = self.controls.ends.arguments
        renewed = renew_channel(channel.id, **ends, session=session_or_current(self._session))
        self._show_status("Renewed: a new channel replaces it.")
        self._deliver_in_browser()
        self._show(renewed["id"].item())

    def _deliver_in_browser(self) -> None:
        """Deliver the notifications that are due. Without threads, the service does not deliver them by itself."""
        if self._lab and not capabilities().threads:
            self._lab.deliver()

    def _selected_channel(self) -> Channel:
        known = registry_of(session_or_current(self._session)).channels
        if self.chosen.value not in known:
            raise ValueError("No channel is selected. Open one with Watch.")
        return known[self.chosen.value]

    def _clock_buttons(self) -> list[widgets.Widget]:
        """Return buttons that advance a frozen sandbox clock, or an empty list if the clock is not frozen."""
        if self._lab is None or not self._lab.clock.is_virtual:
            return []
        label = widgets.HTML(tag("span", "The clock of the sandbox is frozen; retries happen when it advances:"))
        self.steps = [
            self._button(words, f"Advance the clock by {step}", self._advance(step)) for words, step in _STEPS
        ]
        return [row(label, *self.steps)]

    def _advance(self, step: str) -> Callable[[], None]:
        def move() -> None:
            lab = self._lab
            if lab:
                now = lab.service.virtual_clock().advance(step)
                self._show_status(f"Clock: {now:%H:%M:%S} UTC on {now:%d %B %Y}.")
            self._show()

        return move

    def _show(self, choose: str | None = None) -> None:
        session = session_or_current(self._session)
        known, now = registry_of(session).channels, session.clock.now()
        before = choose or self.chosen.value
        self.chosen.options = [(self._line(channel, channel.state(now)), channel.id) for channel in known.values()]
        self.chosen.value = before if before in known else next(iter(known), None)
        self.chosen.layout.display = None if known else "none"
        watched = {channel.id: self._target_name(channel.file) for channel in known.values()}
        self._show_messages(self.receiver.received() if self.receiver else [], session.names, watched)

    def _show_messages(self, messages: list[Received], names: Names, watched: dict[str, str]) -> None:
        """Show each message in its own widget, so that messages stay expanded when a new message arrives."""
        self.table.value = headings(messages)
        shown = range(max(0, len(messages) - MAX_SHOWN), len(messages))
        lines = [self._line_of.setdefault(n, widgets.HTML(layout={"margin": "0"})) for n in shown]
        for line, message in zip(lines, messages[shown.start :], strict=True):
            line.value = message_line(message, names, watched)
        self.lines.children = tuple(lines)  # JupyterLab draws widgets again after an insertion, so new ones come last

    def _line(self, channel: Channel, state: str) -> str:
        ends = f" until {channel.expiration:%d %b, %H:%M:%S}" if channel.expiration and state == "active" else ""
        return f"{self._target_name(channel.file)}: {state}{ends}"

    def _target_name(self, file: str | None) -> str:
        return self._names.get(file, f"file {file}") if file else "the change log"

    def _clear_status(self) -> None:
        self.status.value = ""

    def _show_status(self, words: str) -> None:
        self.status.value = tag("p", words, role="status", style="margin: 2px")

    def _static_view(self) -> Markup:
        self._show()  # messages that arrived while a cell runs are otherwise shown after its end
        return super()._static_view()

    def _summary(self) -> str:
        channels = len(registry_of(session_or_current(self._session)).channels)
        return f"<WatchPanel: {_count_text(channels, 'channel')}, {_count_text(len(self.result), 'message')}>"


def _count_text(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count < 2 else 's'}"


def _loop_caller() -> Callable[[Callable[[], None]], None]:
    """Return a function that calls its argument in the event loop thread. Without a loop, the call is immediate."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return lambda act: act()

    def later(act: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the kernel shuts down
            loop.call_soon_threadsafe(act)

    return later
