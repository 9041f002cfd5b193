"""The rarely used fields of an upload, which are copy restriction, media type, file id and other metadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ....core.files.fields import is_media_type
from ...files.metadata import metadata_body
from ...frames.frames import camel
from ...widgets.copy_restriction import ARGUMENT, FIELD, is_restricted, viewers_switch
from ...widgets.field import Field, SingleField, on_change, set_visible, small_button, text_area, text_field
from ...widgets.more_options import MoreOptions

if TYPE_CHECKING:
    from ....core.resources.files import File

_EXAMPLE = '{"starred": true}'
_ON = "Default: on. Off: only people who can edit the file."
_ID = "Empty: the service generates one. With an id, a repeated upload creates no second file."
_CONVERTED = "A converted file cannot have an id of your own. Remove the id, or do not convert the file."
_OTHER_CONTROLS = {"name": "Name", "id": "File ID", FIELD: "the switch above"}
"""The metadata fields that have their own controls, and the names of these controls."""


class UploadOptions(MoreOptions):
    """The rarely used fields of the upload form. `arguments` returns the metadata that the fields set."""

    def __init__(self) -> None:
        self._existing: tuple[Any, bool] = (None, False)
        self.viewers = SingleField(viewers_switch())
        self.viewers.show_hint(_ON)
        self.media_type = SingleField(
            text_field("Media type", "The Content-Type of the upload", hint="empty: from the name of the file")
        )
        self.id = text_field("File ID", "An id from generate_ids() for one new file")
        self.generate = small_button("Generate ID", "Get an unused id from the service", lambda: None)
        self.file_id = Field(self.id, self.generate, hint=_ID)
        self.metadata = SingleField(
            text_area("Metadata (JSON)", "More fields of every file, as a JSON object", hint=_EXAMPLE, rows=2)
        )
        super().__init__(self.viewers, self.media_type, self.file_id, self.metadata)

    @property
    def fields(self) -> tuple[Field, ...]:
        return (self.viewers, self.media_type, self.file_id, self.metadata)

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.viewers.control, self.media_type.control, self.id, self.metadata.control)

    def set_existing(self, facts: File | None) -> None:
        """Show the copy restriction of an existing file. None stands for new files."""
        followed = (facts or {}).get("id"), is_restricted(facts or {})
        if followed != self._existing:  # keep a switch that was set for the same file
            self._existing = followed
            self.viewers.value = not self._restricted
        set_visible(self.file_id, facts is None)

    @property
    def _restricted(self) -> bool:
        return self._existing[1]

    def arguments(self) -> dict[str, Any]:
        """Return the metadata as arguments of `update`. Raises ValueError for metadata that is not a JSON object."""
        restricted = not self.viewers.value
        return {**({ARGUMENT: restricted} if restricted != self._restricted else {}), **self._metadata()}

    def _metadata(self) -> dict[str, Any]:
        text = self.metadata.value.strip()
        try:
            fields = json.loads(text) if text else {}
        except ValueError as error:
            raise ValueError(f"This is not valid JSON ({error}): enter an object such as {_EXAMPLE}.") from None
        if not isinstance(fields, dict):
            raise ValueError(f"This must be a JSON object, like {_EXAMPLE}.")
        return fields

    def problems(self, files: int, *, converted: bool, existing: bool) -> Iterator[tuple[Field, str]]:
        """Yield the fields with their problems. `files` is the number of selected files."""
        if self.id.value.strip() and not existing:
            if files > 1:
                yield self.file_id, f"An id is for one file, but {files} are selected. Remove the id."
            if converted:
                yield self.file_id, _CONVERTED
        media_type = self.media_type.value.strip()
        if media_type and not is_media_type(media_type):
            yield self.media_type, f"{media_type} is not a media type. Enter one such as text/csv."
        yield from ((self.metadata, words) for words in self._metadata_problems(creating=not existing))

    def _metadata_problems(self, *, creating: bool) -> Iterator[str]:
        try:
            further = self._metadata()
            metadata_body(further, creating=creating)
        except (ValueError, TypeError) as error:
            yield str(error)
            return
        for key in map(camel, further):
            if key in _OTHER_CONTROLS:
                yield f"{key} has its own control. Use {_OTHER_CONTROLS[key]} and remove it here."
