"""The controls for the attachments of an event. An attachment is a stored file or a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.errors.errors import SvcError
from ...widgets.field import LABEL, EditableRows, Field, describe, small_button, text_field
from ...widgets.html import tag
from ..file_browser.recent_files import file_line, latest_files

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.events import Attachment
    from ....core.resources.files import File

_NO_FILES = "There is no stored file yet. Upload one with svc.upload(…), then click Refresh. A link works too."


class AttachmentRow(Field):
    """A row for one attachment. `value` is the entry of the event field `attachments`."""

    def __init__(self, attachment: Attachment, name: str | None = None) -> None:
        self.value: Attachment = {**attachment}
        link = self.value.get("fileUrl")
        super().__init__(
            widgets.HTML(tag("span", name or self.value.get("title") or link or "File without a link", title=link))
        )


class AttachmentRows(EditableRows[AttachmentRow]):
    """The rows of the attachments, a list of stored files to attach, and a text field for a link."""

    def __init__(self) -> None:
        super().__init__(lambda row: False)
        self._files: dict[str, File] = {}
        self.chooser = widgets.Dropdown(**describe("Attachments", "The stored files, last modified first"), style=LABEL)
        self.attach = small_button("Attach", "Attach the selected file", self._attach)
        self.refresh = widgets.Button(description="Refresh", tooltip="Reload the list of files")
        self.refresh.add_class("svc-small")
        self.more = small_button("Add", "Attach this link and clear the field", self._keep_link)
        self.link = text_field("or a link", "The URL of a file", hint="https://…")
        self.link.observe(lambda _change: self.notify(), "value")
        self.pick, self.other = Field(self.chooser, self.attach, self.refresh), Field(self.link, self.more)
        self.children = [self.pick, self.other, self.box, self.note]

    @property
    def value(self) -> list[Attachment]:
        """The event field `attachments`, which includes the link in the text field."""
        return [*(row.value for row in self.rows), *self._link_entry()]

    @value.setter
    def value(self, attachments: list[Attachment] | None) -> None:
        self.clear()
        for attachment in attachments or []:
            self.append(AttachmentRow(attachment))

    def read(self, session: Session) -> None:
        """Fill the list with the stored files, and keep the selection. Show a service error as a hint."""
        try:
            files = latest_files(session, "webViewLink")
        except SvcError as error:
            self.pick.show_hint(f"The stored files cannot be listed; use a link. {error}")
            return
        before = self.chooser.value
        self._files = {str(file["id"]): file for file in files}
        self.chooser.options = [(file_line(file), key) for key, file in self._files.items()]
        self.chooser.value = before if before in self._files else next(iter(self._files), None)
        self.pick.show_hint("" if self._files else _NO_FILES)

    def field(self, index: int) -> Field:
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

    def _keep_link(self) -> None:
        if all(self.append(AttachmentRow(attachment)) for attachment in self._link_entry()):
            self.link.value = ""
