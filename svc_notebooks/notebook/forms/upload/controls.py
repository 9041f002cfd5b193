"""The controls of the upload form, which return the upload requests and the equivalent call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...byte_sizes import KIB, MIB
from ...files.upload_requests import new_content, new_files
from ...widgets.field import LABEL, Field, SingleField, describe, on_change, set_visible, text_field
from ...widgets.file_picker import FileChoice
from ...widgets.upload_buffer import ChosenFile
from .conversion import ConvertChoice
from .destination import UploadDestination
from .options import UploadOptions

if TYPE_CHECKING:
    from ....client.session import Session
    from ....client.uploads.request import UploadArguments, UploadRequest

UPLOAD_TYPES = (
    ("auto: by size and metadata", "auto"),
    ("media: the content alone, without a name", "media"),
    ("multipart: metadata and content in one request", "multipart"),
    ("resumable: in chunks, can be cancelled and resumed", "resumable"),
)
CHUNK_SIZES = (
    ("256 KiB", 256 * KIB),
    ("1 MiB", MIB),
    ("8 MiB", 8 * MIB),
    ("32 MiB", 32 * MIB),
    ("the whole file in one request", -1),
)
DEFAULT_CHUNK = 8 * MIB
_CHUNKED = ("auto", "resumable")
_MEDIA_ONLY = "A media upload has no name, id, conversion or metadata. Select multipart."


class UploadControls(widgets.VBox):  # type: ignore[misc]
    """The controls of the upload form. `requests` returns the upload requests, `code` returns the equivalent call."""

    def __init__(self, make_files: Callable[[], FileChoice] = FileChoice) -> None:
        self.files, self.destination, self.convert = make_files(), UploadDestination(), ConvertChoice()
        self.upload_type = SingleField(
            widgets.RadioButtons(
                options=UPLOAD_TYPES, **describe("Upload type", "The protocol of the upload"), style=LABEL
            )
        )
        self.chunk_size = widgets.Dropdown(
            options=CHUNK_SIZES,
            value=DEFAULT_CHUNK,
            **describe(
                "Chunk size",
                "The bytes in each request of a resumable upload; with another than the default, auto means resumable",
            ),
            style=LABEL,
        )
        self.name = SingleField(
            text_field("Name", "The name of the uploaded file; for one file only", hint="the name of the file")
        )
        self.options = UploadOptions()
        where = (self.files, self.destination, self.name, self.convert)
        super().__init__([*where, self.upload_type, self.chunk_size, self.options])
        self.add_class("svc-fields")
        self.destination.watch(self._on_destination)
        self.upload_type.watch(self._update_visibility)
        self._on_destination()
        self.watch(self._check)

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.upload_type.control, self.chunk_size, self.name.control)
        for part in (self.files, self.destination, self.convert, self.options):
            part.watch(changed)

    def _on_destination(self) -> None:
        existing = self.destination.existing
        self.convert.set_destination(existing=existing, document=self.destination.document)
        self.options.set_existing(self.destination.facts)
        self.name.control.placeholder = "the current name" if existing else "the name of the file"
        self._update_visibility()

    def _update_visibility(self) -> None:
        set_visible(self.chunk_size, self.upload_type.value in _CHUNKED)

    def _check(self) -> None:
        self.check()

    def check(self) -> list[str]:
        """Show each problem beside its field, and return the problem texts."""
        problems = list(self._problems())
        for field in (self.name, self.upload_type, *self.options.fields):
            field.show_problems([words for problem_field, words in problems if problem_field is field])
        if any(place in self.options.fields for place, _ in problems):
            self.options.shown = True
        return [words for _, words in problems]

    def _problems(self) -> Iterator[tuple[Field, str]]:
        files, existing = len(self.files.names()), self.destination.existing
        name = self.name.value.strip()
        if name and files > 1:
            yield self.name, f"Name is for one file, but {files} are selected. Leave it empty."
        wrong = list(self.options.problems(files, converted=self.convert.converted, existing=existing))
        yield from wrong
        is_media = self.upload_type.value == "media" and not wrong
        if is_media and (self._metadata() or self.convert.arguments().get("convert_to") or self._file_id()):
            yield self.upload_type, _MEDIA_ONLY

    def requests(self, session: Session) -> list[UploadRequest]:
        """Return the upload requests, without sending a request. Raises ValueError or TypeError for invalid input."""
        if not self.destination.existing:
            return [
                request
                for chosen_file in self.files.read_files()
                for request in self._new_file_requests(session, chosen_file)
            ]
        chosen, existing = self.files.single(), self.destination.facts
        if existing is None:
            raise ValueError("No existing file is selected. Select one, or upload a new file.")
        return new_content(
            session, [str(existing["id"])], chosen.source, self._upload_arguments(chosen), self._metadata()
        )

    def forget(self) -> None:
        """Remove the uploaded files from the list, and clear the file id, because the id is now in use."""
        self.files.forget()
        self.options.id.value = ""

    def _new_file_requests(self, session: Session, chosen_file: ChosenFile) -> list[UploadRequest]:
        name = self.name.value.strip()
        if not name and self.upload_type.value != "media":
            name = self.convert.name_of(chosen_file)
        arguments = self._upload_arguments(chosen_file)
        return new_files(
            session,
            chosen_file.source,
            arguments,
            name=name or None,
            file_id=self._file_id(),
            metadata=self._metadata(),
        )

    def _upload_arguments(self, chosen_file: ChosenFile) -> UploadArguments:
        from ....client.uploads.request import UploadArguments

        return UploadArguments(
            **self.convert.arguments(),
            mime_type=self._media_type() or self.convert.media_type_of(chosen_file),
            upload_type=self.upload_type.value,
            chunk_size=self._chunk(),
        )

    def _metadata(self) -> dict[str, Any]:
        name = self.name.value.strip()
        return {**self.options.arguments(), **({"name": name} if name else {})}

    def _media_type(self) -> str | None:
        return self.options.media_type.value.strip() or None

    def _file_id(self) -> str | None:
        return None if self.destination.existing else self.options.id.value.strip() or None

    def _chunk(self) -> int | None:
        """Return the chunk size, or None if the chunk size has no effect on this upload."""
        chosen = int(self.chunk_size.value)
        matters = {"resumable": True, "auto": chosen != DEFAULT_CHUNK}
        return chosen if matters.get(self.upload_type.value) else None

    def code(self) -> str:
        """Return the equivalent call of `upload` or `update`.

        >>> UploadControls().code()
        "svc.upload('...')"
        """
        names = self.files.names()
        source = repr(names[0]) if len(names) == 1 else repr(names) if names else "'...'"
        arguments = {
            **self.convert.arguments(),
            "name": self.name.value.strip() or None,
            "mime_type": self._media_type(),
            "file_id": self._file_id(),
            "upload_type": None if self.upload_type.value == "auto" else self.upload_type.value,
            "chunk_size": self._chunk(),
        }
        metadata = {} if self.options.metadata.problems else self.options.arguments()
        if self.destination.existing:
            file = repr((self.destination.facts or {}).get("id", "..."))
            return _call_code(f"svc.update({file}, {source}", {**arguments, **metadata})
        return _call_code(f"svc.upload({source}", {**arguments, "metadata": metadata or None})


def _call_code(start: str, arguments: dict[str, Any]) -> str:
    keywords = [f"{key}={value!r}" for key, value in arguments.items() if value is not None]
    return f"{', '.join([start, *keywords])})"
