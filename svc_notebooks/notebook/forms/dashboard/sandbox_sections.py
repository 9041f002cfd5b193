"""The hands of a sandbox as parts of a form: the clock, faults, limits, snapshots, people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets as widgets

from ....core.faults.presets import PRESETS
from ...widgets.field import LABEL, labelled, number_field, text_field
from ...widgets.html import tag
from ...widgets.styles import row

if TYPE_CHECKING:
    from ...sandbox.sandbox import Sandbox

Do: TypeAlias = Callable[[str, Callable[[], Any], str], None]
"""Does something: the call of a cell that does it, the thing itself, and what to say afterwards."""

_SCOPES = (
    ("everything", ""),
    ("read files: storage.readonly", "storage.readonly"),
    ("only files made or opened by this application: storage.file", "storage.file"),
    ("only the metadata of files: storage.metadata.readonly", "storage.metadata.readonly"),
)


class Section(widgets.VBox):  # type: ignore[misc]
    """A heading and what belongs to it; `guard` runs what a button does, and tells what goes wrong."""

    def __init__(self, heading: str, *parts: widgets.Widget) -> None:
        super().__init__([widgets.HTML(tag("h4", heading, class_="svc-head")), *parts])

    def look(self, lab: Sandbox) -> None:
        """Show how it stands now."""


def press(text: str, tooltip: str, pressed: Callable[[], None], style: str = "") -> widgets.Button:
    """A button of a section."""
    made = widgets.Button(description=text, tooltip=tooltip, button_style=style)
    made.on_click(lambda _button: pressed())
    return made


class ClockSection(Section):
    """Moves the clock, or stops it."""

    def __init__(self, lab: Sandbox, do: Do, guard: Callable[[Callable[[], None]], None]) -> None:
        self.now = widgets.HTML()
        self.step = text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = press("Advance", "What is due on the way happens at its time", lambda: guard(self._advance))
        self.freeze = press("Freeze", "Let a running clock stand still from now on", lambda: guard(self._freeze))
        self._lab, self._do = lab, do
        super().__init__("Clock", self.now, self.step, row(self.advance, self.freeze))

    def _advance(self) -> None:
        step = self.step.value.strip()
        self._do(f"lab.clock.advance({step!r})", lambda: self._lab.clock.advance(step), f"The clock went on by {step}.")

    def _freeze(self) -> None:
        self._do("lab.clock.freeze()", self._lab.clock.freeze, "The clock stands still.")

    def look(self, lab: Sandbox) -> None:
        """What time it is."""
        runs = "stands still" if lab.clock.is_virtual else "runs"
        self.now.value = tag("p", f"{lab.clock.now():%Y-%m-%d %H:%M:%S} UTC; it {runs}.")


class FaultSection(Section):
    """Arms and disarms plans of faults."""

    def __init__(self, lab: Sandbox, do: Do, guard: Callable[[Callable[[], None]], None]) -> None:
        self.preset = widgets.Dropdown(
            options=[(one.name, one.name) for one in PRESETS],
            **labelled("Fault preset", "A plan of what goes wrong; each step happens once and is over"),
            style=LABEL,
        )
        self.teaches, self.armed = widgets.HTML(), widgets.HTML()
        self.arm = press("Arm", "From now on it goes wrong as planned", lambda: guard(self._arm))
        self.disarm = press("Disarm all", "Nothing goes wrong any more", lambda: guard(self._disarm))
        self._lab, self._do = lab, do
        self.preset.observe(lambda _change: self._teach(), "value")
        super().__init__("Faults", self.preset, self.teaches, row(self.arm, self.disarm), self.armed)
        self._teach()

    def _teach(self) -> None:
        chosen = next(one for one in PRESETS if one.name == self.preset.value)
        self.teaches.value = tag(
            "p", f"{chosen.teaches}. In turn: {'; '.join(chosen.descriptions())}.", class_="svc-indented"
        )

    def _arm(self) -> None:
        name = self.preset.value
        self._do(
            f"with lab.faults({name!r}):\n    ...  # what is to go wrong",
            lambda: self._lab.service.add_faults({"preset": name}),
            f"Armed: {name}.",
        )

    def _disarm(self) -> None:
        self._do(
            "lab.service.clear_faults()",
            self._lab.service.clear_faults,
            "Nothing is armed.",
        )

    def look(self, lab: Sandbox) -> None:
        """Which faults are in force, and how often each has happened."""
        rows = lab.fault_plans()
        if rows.empty:
            self.armed.value = tag("p", "No fault is armed.")
            return
        lines = [
            tag("li", f"{one.preset!s}: {one.does!s}, at {one.waits_for!s} (happened {one.fired!s} of {one.times!s})")
            for one in rows.itertuples()
        ]
        self.armed.value = tag("ul", *lines)


class LimitSection(Section):
    """So many requests of a user, and no more."""

    def __init__(self, lab: Sandbox, do: Do, guard: Callable[[Callable[[], None]], None]) -> None:
        self.user = text_field(
            "User", "Whose requests are counted; empty: the sandbox's own user", hint="ada@svc.example"
        )
        self.requests = number_field(10, "Requests at most", "How many are answered")
        self.per = text_field("Within", "A number and s, m, h or d", value="60s")
        self.set = press("Set limit", "What is beyond it is refused with 403 and Retry-After", lambda: guard(self._set))
        self.lift = press("Lift limit", "As many requests as one likes", lambda: guard(self._lift))
        self.limits = widgets.HTML()
        self._lab, self._do = lab, do
        super().__init__("Limits", self.user, self.requests, self.per, row(self.set, self.lift), self.limits)
        self.requests.style.description_width = LABEL["description_width"]

    def _whose(self) -> str | None:
        return str(self.user.value).strip() or None

    def _set(self) -> None:
        user, most, per = self._whose(), int(self.requests.value), self.per.value.strip()
        code = (
            f"lab.limit({user!r}, requests={most}, per={per!r})" if user else f"lab.limit(requests={most}, per={per!r})"
        )
        self._do(code, lambda: self._lab.limit(user, most, per), f"At most {most} requests within {per}.")

    def _lift(self) -> None:
        user = self._whose()
        self._do(f"lab.limit({repr(user) if user else ''})", lambda: self._lab.limit(user), "The limit is lifted.")

    def look(self, lab: Sandbox) -> None:
        """Which limits there are, and what is spent of them."""
        lines = [
            tag("li", f"{one.user!s}: {one.spent!s} of {one.requests!s} requests spent within {one.per!s} seconds")
            for one in lab.limits().itertuples()
        ]
        self.limits.value = tag("ul", *lines) if lines else tag("p", "No limit is set.")


class SnapshotSection(Section):
    """Keeps the whole state, and brings it back."""

    def __init__(self, lab: Sandbox, do: Do, guard: Callable[[Callable[[], None]], None]) -> None:
        self.kept = widgets.Dropdown(
            options=[("none taken yet", "")], **labelled("Snapshot", "What to go back to"), style=LABEL
        )
        self.take = press(
            "Take snapshot", "Keep the whole state of the service as it is now", lambda: guard(self._take)
        )
        self.restore = press("Go back", "Put the service back into that state", lambda: guard(self._restore))
        self._lab, self._do = lab, do
        self._names: dict[str, str] = {}
        super().__init__("Snapshots", self.kept, row(self.take, self.restore))

    def _take(self) -> None:
        def take() -> None:
            key = self._lab.snapshot()
            self._names[key] = f"{len(self._names) + 1}, of {self._lab.clock.now():%Y-%m-%d %H:%M:%S} UTC"
            self.kept.options = [(words, one) for one, words in self._names.items()]
            self.kept.value = key

        self._do("before = lab.snapshot()", take, "Kept: the state as it is now.")

    def _restore(self) -> None:
        key = str(self.kept.value)
        if not key:
            raise ValueError("No snapshot was taken yet.")
        self._do("lab.restore(before)", lambda: self._lab.restore(key), f"Restored: snapshot {self._names[key]}.")


class PeopleSection(Section):
    """Signs in as somebody; `signed_in` is told the session and who that is."""

    def __init__(
        self, lab: Sandbox, do: Do, guard: Callable[[Callable[[], None]], None], signed_in: Callable[[Any, str], None]
    ) -> None:
        self.user = text_field("E-mail", "Who is unknown is made", value="bob@svc.example")
        self.scopes = widgets.Dropdown(options=_SCOPES, **labelled("May", "What the token allows"), style=LABEL)
        self.sign_in = press("Sign in", "The other tabs are this person's from then on", lambda: guard(self._sign_in))
        self._lab, self._do, self._signed_in = lab, do, signed_in
        super().__init__("People", self.user, self.scopes, row(self.sign_in))

    def _sign_in(self) -> None:
        user, scopes = self.user.value.strip(), [self.scopes.value] if self.scopes.value else None
        if "@" not in user:
            raise ValueError(f"E-mail is {user!r}: write an address, like bob@svc.example.")
        given = f", scopes={scopes!r}" if scopes else ""
        session = self._lab.sign_in(user, scopes=scopes)
        self._do(
            f"session = lab.sign_in({user!r}{given})\nsvc.dashboard(session=session)",
            lambda: self._signed_in(session, user),
            f"Signed in as {user}.",
        )
