"""The sections of the sandbox panel for clock, faults, limits, snapshots and accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets as widgets

from ....core.faults.presets import PRESETS
from ...widgets.field import LABEL, describe, number_field, text_field
from ...widgets.html import tag
from ...widgets.styles import row

if TYPE_CHECKING:
    from ...sandbox.sandbox import Sandbox

RunAction: TypeAlias = Callable[[str, Callable[[], Any], str], None]
"""Does something: the call of a cell that does it, the thing itself, and what to say afterwards."""

_SCOPES = (
    ("All scopes", ""),
    ("storage.readonly: read files", "storage.readonly"),
    ("storage.file: only files that this application created or opened", "storage.file"),
    ("storage.metadata.readonly: only the metadata of files", "storage.metadata.readonly"),
)


class Section(widgets.VBox):  # type: ignore[misc]
    """A heading with its controls. `guard` runs a handler and shows its errors."""

    def __init__(self, heading: str, *parts: widgets.Widget) -> None:
        super().__init__([widgets.HTML(tag("h4", heading, class_="svc-head")), *parts])

    def update(self, lab: Sandbox) -> None:
        """Show the present state."""


def section_button(text: str, tooltip: str, pressed: Callable[[], None], style: str = "") -> widgets.Button:
    """A button of a section."""
    button = widgets.Button(description=text, tooltip=tooltip, button_style=style)
    button.on_click(lambda _button: pressed())
    return button


class ClockSection(Section):
    """Advances or freezes the clock."""

    def __init__(self, lab: Sandbox, do: RunAction, guard: Callable[[Callable[[], None]], None]) -> None:
        self.now = widgets.HTML()
        self.step = text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = section_button(
            "Advance", "Advance the clock; due events happen at their time", lambda: guard(self._advance)
        )
        self.freeze = section_button("Freeze", "Stop the clock", lambda: guard(self._freeze))
        self._lab, self._do = lab, do
        super().__init__("Clock", self.now, self.step, row(self.advance, self.freeze))

    def _advance(self) -> None:
        step = self.step.value.strip()
        self._do(
            f"lab.clock.advance({step!r})", lambda: self._lab.clock.advance(step), f"The clock was advanced by {step}."
        )

    def _freeze(self) -> None:
        self._do("lab.clock.freeze()", self._lab.clock.freeze, "The clock is frozen.")

    def update(self, lab: Sandbox) -> None:
        """Show the time."""
        state = "is frozen" if lab.clock.is_virtual else "is running"
        self.now.value = tag("p", f"{lab.clock.now():%Y-%m-%d %H:%M:%S} UTC; the clock {state}.")


class FaultSection(Section):
    """Arms and disarms fault plans."""

    def __init__(self, lab: Sandbox, do: RunAction, guard: Callable[[Callable[[], None]], None]) -> None:
        self.preset = widgets.Dropdown(
            options=[(preset.name, preset.name) for preset in PRESETS],
            **describe("Fault preset", "A plan of faults; each step happens once"),
            style=LABEL,
        )
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.arm = section_button("Arm", "Activate the faults", lambda: guard(self._arm))
        self.disarm = section_button("Disarm all", "Deactivate all faults", lambda: guard(self._disarm))
        self._lab, self._do = lab, do
        self.preset.observe(lambda _change: self._show_preset(), "value")
        super().__init__("Faults", self.preset, self.description, row(self.arm, self.disarm), self.armed)
        self._show_preset()

    def _show_preset(self) -> None:
        selected = next(preset for preset in PRESETS if preset.name == self.preset.value)
        self.description.value = tag(
            "p", f"{selected.teaches}. In turn: {'; '.join(selected.descriptions())}.", class_="svc-indented"
        )

    def _arm(self) -> None:
        name = self.preset.value
        self._do(
            f"with lab.faults({name!r}):\n    ...  # requests that meet the faults",
            lambda: self._lab.service.add_faults({"preset": name}),
            f"Armed: {name}.",
        )

    def _disarm(self) -> None:
        self._do(
            "lab.service.clear_faults()",
            self._lab.service.clear_faults,
            "All faults are disarmed.",
        )

    def update(self, lab: Sandbox) -> None:
        """Show the armed faults, and how often each has happened."""
        rows = lab.fault_plans()
        if rows.empty:
            self.armed.value = tag("p", "No fault is armed.")
            return
        lines = [
            tag(
                "li",
                f"{plan.preset!s}: {plan.does!s}, at {plan.waits_for!s} (happened {plan.fired!s} of {plan.times!s})",
            )
            for plan in rows.itertuples()
        ]
        self.armed.value = tag("ul", *lines)


class LimitSection(Section):
    """Limits the number of requests of a user."""

    def __init__(self, lab: Sandbox, do: RunAction, guard: Callable[[Callable[[], None]], None]) -> None:
        self.user = text_field(
            "User", "The user whose requests are counted; empty: the first user of the sandbox", hint="ada@svc.example"
        )
        self.requests = number_field(10, "Max. requests", "The number of requests that are allowed")
        self.per = text_field("Within", "A number and s, m, h or d", value="60s")
        self.set = section_button(
            "Set limit", "Refuse further requests with 403 and Retry-After", lambda: guard(self._set_limit)
        )
        self.remove = section_button("Remove limit", "Allow any number of requests", lambda: guard(self._remove_limit))
        self.limits = widgets.HTML()
        self._lab, self._do = lab, do
        super().__init__("Limits", self.user, self.requests, self.per, row(self.set, self.remove), self.limits)
        self.requests.style.description_width = LABEL["description_width"]

    def _user_or_none(self) -> str | None:
        return str(self.user.value).strip() or None

    def _set_limit(self) -> None:
        user, maximum, per = self._user_or_none(), int(self.requests.value), self.per.value.strip()
        code = (
            f"lab.limit({user!r}, requests={maximum}, per={per!r})"
            if user
            else f"lab.limit(requests={maximum}, per={per!r})"
        )
        self._do(code, lambda: self._lab.limit(user, maximum, per), f"At most {maximum} requests within {per}.")

    def _remove_limit(self) -> None:
        user = self._user_or_none()
        self._do(f"lab.limit({repr(user) if user else ''})", lambda: self._lab.limit(user), "The limit was removed.")

    def update(self, lab: Sandbox) -> None:
        """Show the limits, and how much of them is used."""
        lines = [
            tag(
                "li",
                f"{limit.user!s}: {limit.spent!s} of {limit.requests!s} requests spent within {limit.per!s} seconds",
            )
            for limit in lab.limits().itertuples()
        ]
        self.limits.value = tag("ul", *lines) if lines else tag("p", "No limit is set.")


class SnapshotSection(Section):
    """Saves and restores the state of the service."""

    def __init__(self, lab: Sandbox, do: RunAction, guard: Callable[[Callable[[], None]], None]) -> None:
        self.chooser = widgets.Dropdown(
            options=[("No snapshot", "")], **describe("Snapshot", "The snapshot to restore"), style=LABEL
        )
        self.take = section_button("Take snapshot", "Save the state of the service", lambda: guard(self._take))
        self.restore = section_button("Restore", "Restore the state of the service", lambda: guard(self._restore))
        self._lab, self._do = lab, do
        self._names: dict[str, str] = {}
        super().__init__("Snapshots", self.chooser, row(self.take, self.restore))

    def _take(self) -> None:
        def take() -> None:
            key = self._lab.snapshot()
            self._names[key] = f"{len(self._names) + 1}, of {self._lab.clock.now():%Y-%m-%d %H:%M:%S} UTC"
            self.chooser.options = [(words, snapshot_id) for snapshot_id, words in self._names.items()]
            self.chooser.value = key

        self._do("before = lab.snapshot()", take, "Snapshot saved.")

    def _restore(self) -> None:
        key = str(self.chooser.value)
        if not key:
            raise ValueError("There is no snapshot to restore.")
        self._do("lab.restore(before)", lambda: self._lab.restore(key), f"Restored: snapshot {self._names[key]}.")


class PeopleSection(Section):
    """Signs in to an account. `signed_in` is called with the session and the e-mail address."""

    def __init__(
        self,
        lab: Sandbox,
        do: RunAction,
        guard: Callable[[Callable[[], None]], None],
        signed_in: Callable[[Any, str], None],
    ) -> None:
        self.user = text_field("E-mail", "The account; an unknown one is created", value="bob@svc.example")
        self.scopes = widgets.Dropdown(
            options=_SCOPES, **describe("Scopes", "The scopes of the access token"), style=LABEL
        )
        self.sign_in = section_button("Sign in", "Use this account in the other tabs", lambda: guard(self._sign_in))
        self._lab, self._do, self._signed_in = lab, do, signed_in
        super().__init__("Accounts", self.user, self.scopes, row(self.sign_in))

    def _sign_in(self) -> None:
        user, scopes = self.user.value.strip(), [self.scopes.value] if self.scopes.value else None
        if "@" not in user:
            raise ValueError(f"E-mail is {user!r}: enter an address such as bob@svc.example.")
        scopes_argument = f", scopes={scopes!r}" if scopes else ""
        session = self._lab.sign_in(user, scopes=scopes)
        self._do(
            f"session = lab.sign_in({user!r}{scopes_argument})\nsvc.dashboard(session=session)",
            lambda: self._signed_in(session, user),
            f"Signed in as {user}.",
        )
