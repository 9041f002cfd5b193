"""The controls for attendees and attachments. Each has a row, and optional details below the row."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from ...client.session import Session
from ...core.errors.errors import SvcError
from ...core.resources.events import Attachment
from ...core.resources.files import File
from ...notebook.arguments import people, read_people
from ...notebook.display import tag
from ..file_browser.listing import file_line, latest_files
from ..widgets import ui
from .inputs import require_whole_number, whole_number

_HELP = "E-mail addresses with commas, semicolons or line breaks between them, also with names"
_HINT = "ada@svc.example, Bob <bob@svc.example>"


def guest_text(guests: Sequence[Mapping[str, Any]]) -> str:
    """Return guests as a list for `read_people`.

    >>> guest_text([{"email": "ada@svc.example"}, {"email": "bob@svc.example", "displayName": "Bob"}])
    'ada@svc.example, Bob <bob@svc.example>'
    """
    texts = []
    for guest in guests:
        name = guest.get("displayName")
        quoted = f'"{name}"' if name and re.search("[,;@]", name) else name
        texts.append(f"{quoted} <{guest['email']}>" if name else str(guest["email"]))
    return ", ".join(texts)


class GuestList(ui.Field):
    """A text field with a list of guests. The rows of guests with details are a control of their own, `details`.

    The kernel changes the text only if a program sets `value` or a person clicks a button, so that a person can go on
    typing.

    >>> guests = GuestList()
    >>> guests.list.value = "ada@svc.example; bob@"
    >>> guests.value, guests.rejected
    ([{'email': 'ada@svc.example'}], ['bob@'])
    """

    def __init__(self) -> None:
        self.list = ui.text_area("Guests", _HELP, hint=_HINT, rows=2)
        self.details = AttendeeRows()
        super().__init__(self.list)
        self.details.take.on_click(lambda _button: self._move_to_rows())
        self.watch(lambda: self.show_hint(f"{len(self.value)} guests" if len(self.value) > 1 else ""))

    @property
    def value(self) -> list[dict[str, Any]]:
        """The event field `attendees`: the guests of the list, then those of the rows that are not blank."""
        return [*self._listed(), *self.details.value]

    @value.setter
    def value(self, attendees: list[dict[str, Any]] | None) -> None:
        """Set the guests. If a guest has details that the list cannot show, all guests become rows."""
        guests = attendees or []
        listable = all(guest.keys() <= {"email", "displayName"} and guest.get("email") for guest in guests)
        self.details.value, self.list.value = [], guest_text(guests) if listable else ""
        if self.value != guests:
            self.details.value, self.list.value = guests, ""

    @property
    def rejected(self) -> list[str]:
        """The entries of the list that are not e-mail addresses."""
        return read_people(self.list.value)[1]

    def watch(self, changed: Callable[[], object]) -> None:
        """Call `changed` whenever the list or a row changes."""
        super().watch(changed)
        self.details.watch(changed)

    def entry_problems(self) -> Iterator[tuple[ui.Field, str]]:
        """Yield a problem if entries of the list are not e-mail addresses."""
        rejected = self.rejected
        if len(rejected) == 1:
            yield self, f"{rejected[0]} is not an e-mail address. Correct or remove it."
        elif rejected:
            yield self, f"{', '.join(rejected)} are not e-mail addresses. Correct or remove them."

    def field_at(self, path: str) -> ui.Field:
        """Return the field for a problem at a path such as attendees[1].email, which is this field or a row."""
        match = re.search(r"\[(\d+)\]", path)
        index = int(match[1]) - len(self._listed()) if match else -1
        return self if index < 0 else self.details.field(index)

    def _listed(self) -> list[dict[str, str]]:
        """Return the guests of the list, without repetitions and without guests that have a row."""
        taken = {str(guest.get("email", "")).casefold() for guest in self.details.value}
        guests = {guest["email"].casefold(): guest for guest in reversed(read_people(self.list.value)[0])}
        return [guest for key, guest in reversed(guests.items()) if key not in taken]

    def _move_to_rows(self) -> None:
        """Give each guest of the list a row. Other entries stay in the list."""
        guests = self._listed()
        self.list.value = ", ".join(self.rejected)
        self.details.replace([*self.details.rows, *(AttendeeRow(guest) for guest in guests)])
        if not guests:
            self.details.note.show_problems(["The list of guests is empty. Enter addresses there, or add a guest."])


_NO_FILES = "There is no stored file yet. Upload one with svc.upload(…), then click Refresh. A link works too."


class AttachmentRow(ui.Field):
    """A row for one attachment. `value` is the entry of the event field `attachments`."""

    def __init__(self, attachment: Attachment, name: str | None = None) -> None:
        self._attachment: Attachment = {**attachment}
        link = self.value.get("fileUrl")
        text = name or self.value.get("title") or link or "File without a link"
        super().__init__(widgets.HTML(tag("span", text, title=link)))

    @property
    def value(self) -> Attachment:
        return self._attachment


class AttachmentRows(ui.EditableRows[AttachmentRow]):
    """The rows of the attachments, a list of stored files to attach, and a text field for a link."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self.chooser = ui.dropdown("Attachments", "The stored files, last modified first")
        self.attach = ui.small_button("Attach", "Attach the selected file", self._attach)
        self.refresh = ui.small_button("Refresh", "Reload the list of files")
        self.more = ui.small_button("Add", "Attach this link and clear the field", self._attach_link)
        self.link = ui.text_field("or a link", "The URL of a file", hint="https://…")
        ui.on_change(self.notify, self.link)
        self.pick, self.other = ui.Field(self.chooser, self.attach, self.refresh), ui.Field(self.link, self.more)
        super().__init__(self.pick, self.other)

    @property
    def value(self) -> list[Attachment]:
        """The event field `attachments`, which includes the link in the text field."""
        return [*(row.value for row in self.rows), *self._link_entry()]

    @value.setter
    def value(self, attachments: list[Attachment] | None) -> None:
        self.replace([AttachmentRow(attachment) for attachment in attachments or []])

    def read(self, session: Session) -> None:
        """Fill the list with the stored files, and keep the selection. Show a service error as a hint."""
        try:
            files = latest_files(session, "webViewLink")
        except SvcError as error:
            self.pick.show_hint(f"The stored files cannot be listed; use a link. {error}")
            return
        self._files = {str(file["id"]): file for file in files}
        ui.replace_options(self.chooser, [(file_line(file), key) for key, file in self._files.items()])
        self.pick.show_hint("" if self._files else _NO_FILES)

    def field(self, index: int) -> ui.Field:
        """Return the row of the attachment with this index in `value`, or the link field for the last index."""
        return self.rows[index] if index < len(self.rows) else self.other

    def _link_entry(self) -> list[Attachment]:
        link = self.link.value.strip()
        return [{"fileUrl": link}] if link else []

    def _attach(self) -> None:
        facts = self._files.get(self.chooser.value)
        if facts is None:
            self.note.show_problems([_NO_FILES])
        else:
            self.append(AttachmentRow({"fileUrl": facts["webViewLink"]}, str(facts["name"])))

    def _attach_link(self) -> None:
        for attachment in self._link_entry():
            self.append(AttachmentRow(attachment))
        self.link.value = ""


_RESPONSES = (
    ("No response yet", "needsAction"),
    ("Accepted", "accepted"),
    ("Tentative", "tentative"),
    ("Declined", "declined"),
)
# The detail fields of a guest and their default values. Default values are not sent.
_DEFAULTS = {"additionalGuests": "", "comment": "", "responseStatus": "needsAction", "resource": False}
_SHOWN = ("email", "displayName", "optional", *_DEFAULTS)


class AttendeeRow(ui.Field):
    """A row for one guest. `more` contains the attendee fields without a control, which do not change."""

    def __init__(self, attendee: Mapping[str, Any] | None = None) -> None:
        fields = attendee or {}
        self.more = {key: value for key, value in fields.items() if key not in _SHOWN}
        email, name = (str(fields.get(key) or "") for key in ("email", "displayName"))
        tooltip = "The address that gets the invitation"
        self.email = ui.text_field("E-mail", tooltip, value=email, hint="ada@svc.example", style=ui.AUTO_WIDTH)
        tooltip = "The name that is shown; the service may already know it"
        self.name = ui.text_field("Name", tooltip, value=name, style=ui.AUTO_WIDTH)
        tooltip = "Whether the event can take place without this guest"
        self.optional = ui.checkbox("Optional", tooltip, value=bool(fields.get("optional")))
        tooltip = "Show or hide response, comment, additional guests and resource"
        self.toggle = ui.small_button("Details", tooltip, self._toggle)
        tooltip = "The number of people who come with the guest"
        number = ui.text_field("Additional guests", tooltip, hint="0", style=ui.AUTO_WIDTH).add_class("svc-number")
        self.details: dict[str, Any] = {
            "responseStatus": ui.dropdown("Response", "The response of the guest", _RESPONSES, style=ui.AUTO_WIDTH),
            "comment": ui.text_field("Comment", "A comment with the response", style=ui.AUTO_WIDTH),
            "additionalGuests": number,
            "resource": ui.checkbox("Resource", "A room or a device, not a person; set only when it is first added"),
        }
        self.box = widgets.HBox([*self.details.values()]).add_class("svc-line").add_class("svc-details")
        super().__init__(self.email, self.name, self.optional, self.toggle)
        self.children = [self.line, self.box, self.hint, self.note]
        require_whole_number(fields.get("additionalGuests"))
        for key, default in _DEFAULTS.items():
            setting = fields.get(key) or default
            self.details[key].value = str(setting) if key == "additionalGuests" else setting
        ui.set_visible(self.box, any(fields.get(key) for key in _DEFAULTS))

    @property
    def value(self) -> dict[str, Any]:
        texts = {"email": self.email.value.strip(), "displayName": self.name.value.strip()}
        [person] = people("email", {key: value for key, value in texts.items() if value})
        optional = {"optional": True} if self.optional.value else {}
        values = {key: control.value for key, control in self.details.items() if control.value != _DEFAULTS[key]}
        if "additionalGuests" in values:
            values["additionalGuests"] = whole_number(values["additionalGuests"])
        return {**person, **optional, **{key: value for key, value in values.items() if value is not None}, **self.more}

    @property
    def is_blank(self) -> bool:
        return not (self.value.keys() - {"optional"})

    def watch(self, changed: Callable[[], object]) -> None:
        super().watch(changed)
        ui.on_change(changed, *self.details.values())

    def _toggle(self) -> None:
        ui.set_visible(self.box, self.box.layout.display is not None)


class AttendeeRows(ui.EditableRows[AttendeeRow]):
    """The rows of guests with details, a button that adds a row, and a button that moves the listed guests to rows."""

    def __init__(self) -> None:
        tooltip = "Add a row for a guest with details"
        self.add = ui.small_button("Add guest", tooltip, lambda: self.append(AttendeeRow(), focus=True))
        self.take = ui.small_button("Edit listed guests", "Move the guests of the list to rows with details")
        super().__init__(ui.Field(ui.heading("Guest details"), self.add, self.take))

    @property
    def value(self) -> list[dict[str, Any]]:
        """The guests of the rows that are not blank, as entries of the event field `attendees`."""
        return [row.value for row in self.filled]

    @value.setter
    def value(self, attendees: list[dict[str, Any]] | None) -> None:
        self.replace([AttendeeRow(attendee) for attendee in attendees or []])
