"""What a file browser asks before it does something: one panel, of which only the part that matters is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets as widgets

from .field import entry, show
from .labels import LABEL, labelled
from .look import row
from .markup import tag

KERNEL, BROWSER = "kernel", "browser"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: `parts` are the controls that it needs, `verb` the button that says yes."""

    key: str
    title: str
    verb: str
    parts: tuple[str, ...]
    style: str = ""


# fmt: off
QUESTIONS = {one.key: one for one in (
    Question("folder",   "A new folder in the one that is open", "Make folder", ("name",), "primary"),
    Question("rename",   "Another name",                         "Set name",    ("name",), "primary"),
    Question("copy",     "A copy of what is chosen",             "Make copy",   ("name",), "primary"),
    Question("share",    "Who else may see what is chosen",      "Give access", ("grantee", "role"), "primary"),
    Question("download", "Where to save what is chosen",         "Save",        ("target", "path"), "primary"),
    Question("delete",   "To be gone for good",                  "Delete for good", (), "danger"),
)}
# fmt: on


BUTTONS = (
    ("folder", "New folder", "Make a folder in the one that is open"),
    ("download", "Download", "Save what is chosen in the notebook folder or on this computer"),
    ("rename", "Rename", "Give the chosen file another name"),
    ("copy", "Copy", "Copy what is chosen"),
    ("share", "Share", "Let somebody else see what is chosen"),
    ("delete", "Delete", "Delete what is chosen for good, past the trash"),
)
"""The buttons that ask a question: its key, the words on the button, and its tooltip."""


class FileQuestion(widgets.VBox):  # type: ignore[misc]
    """The panel; `answered` is called with the question when a person says yes."""

    def __init__(self, answered: Callable[[Question], None], left: Callable[[], None]) -> None:
        self.asked: Question | None = None
        self._left = left
        self.head = widgets.HTML()
        self.name = entry("Name", "What it is called from then on")
        self.grantee = entry(
            "With",
            "An e-mail address; anyone; or domain: and a domain",
            hint="bob@svc.example, anyone, or domain:example.com",
        )
        self.role = widgets.RadioButtons(
            options=[("may read", "reader"), ("may comment", "commenter"), ("may change", "writer")],
            **labelled("Who then", "What they may do"),
            style=LABEL,
        )
        self.target = widgets.RadioButtons(
            options=[("a file beside the kernel", KERNEL), ("a download of this browser", BROWSER)],
            **labelled("Save as", "A file on the machine where Python runs, or one on this computer"),
            style=LABEL,
        )
        self.path = entry(
            "Path",
            "A path or a folder beside the kernel; empty: the file's name, in this folder",
            hint="as the file is called",
        )
        self.role.add_class("svc-across")
        self.yes = widgets.Button(description="Yes", tooltip="Do what is asked above")
        self.no = widgets.Button(description="Leave it", tooltip="Close this and do nothing")
        self.no.add_class("svc-cancel")
        self.yes.on_click(lambda _button: answered(self.asked) if self.asked else None)
        self.no.on_click(lambda _button: self.close_it())
        self.target.observe(lambda _change: self._adapt(), "value")
        parts = [self.name, self.grantee, self.role, self.target, self.path]
        self._parts = dict(zip(("name", "grantee", "role", "target", "path"), parts, strict=True))
        super().__init__([self.head, *parts, row(self.yes, self.no)])
        self.add_class("svc-question")
        show(self, False)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever an answer is different."""
        for control in self._parts.values():
            control.observe(lambda _change: changed(), "value")

    def ask(self, key: str, about: str, name: str = "") -> None:
        """Show a question, and bring the keyboard to it; `about` says of what."""
        self.asked = asked = QUESTIONS[key]
        self.head.value = tag("p", tag("strong", asked.title), f": {about}" if about else "", role="status")
        self.name.value = name
        self.yes.description, self.yes.button_style = asked.verb, asked.style
        self._adapt()
        show(self, True)
        (self._parts[asked.parts[0]] if asked.parts else self.no).focus()

    def close_it(self) -> None:
        """Take the question away; the keyboard goes back to where it came from."""
        if self.asked is None:
            return
        self.asked = None
        show(self, False)
        self._left()

    def _adapt(self) -> None:
        parts = self.asked.parts if self.asked else ()
        for key, control in self._parts.items():
            show(control, key in parts and (key != "path" or self.target.value == KERNEL))
