"""What an upload form asks: which files, what they become, how they go; and the call that says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from .convert_choice import ConvertChoice
from .field import entry
from .file_choice import Chosen, FileChoice
from .labels import LABEL, labelled
from .metadata import metadata_body
from .schemas import FILES
from .sizes import KIB, MIB

if TYPE_CHECKING:
    from ..client.session import Session
    from ..client.uploads import Order
    from ..core.wire import JSONObject

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
)
DEFAULT_CHUNK = 8 * MIB


class UploadControls(widgets.VBox):  # type: ignore[misc]
    """The controls, with a label and a tooltip each; `orders` checks them, `code` says them in Python."""

    def __init__(self, make_files: Callable[[], FileChoice] = FileChoice) -> None:
        self.files = make_files()
        self.upload_type = widgets.RadioButtons(
            options=UPLOAD_TYPES,
            **labelled("Upload type", "How the files go over the wire"),
            style=LABEL,
        )
        self.chunk_size = widgets.Dropdown(
            options=CHUNK_SIZES,
            value=DEFAULT_CHUNK,
            **labelled(
                "Chunk size", "Bytes in each request of a resumable upload; choosing another makes auto resumable"
            ),
            style=LABEL,
        )
        self.name = entry("Name", "What to call the file; for one file only", hint="as the file is called")
        self.metadata = entry(
            "Metadata (JSON)", "Further fields of every file, as a JSON object", hint='{"starred": true}'
        )
        self.convert = ConvertChoice()
        super().__init__([self.files, self.convert, self.upload_type, self.chunk_size, self.name, self.metadata])

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        for control in (self.upload_type, self.chunk_size, self.name, self.metadata):
            control.observe(lambda _change: changed(), "value")
        self.convert.watch(changed)
        self.files.watch(changed)

    def orders(self, session: Session) -> list[Order]:
        """The uploads that are meant, checked. Raises ValueError or TypeError; nothing is sent."""
        from ..client.uploads import prepare

        metadata = metadata_body(self._metadata(), creating=True)
        return [
            prepare(
                session,
                one.source,
                name=name,
                mime_type=self.convert.type_of(one),
                metadata=metadata,
                file_id=None,
                upload_type=self.upload_type.value,
                chunk_size=self._chunk(),
                size=None,
                query={"fields": ",".join(FILES.keys)},
                **self.convert.arguments(),
            )
            for one, name in self._named(self.files.chosen())
        ]

    def _named(self, chosen: list[Chosen]) -> list[tuple[Chosen, str | None]]:
        name = self.name.value.strip()
        if name and len(chosen) > 1:
            raise ValueError(f"Name is for one file, and {len(chosen)} are chosen: leave it empty.")
        if self.upload_type.value == "media":
            return [(one, name or None) for one in chosen]
        return [(one, name or self.convert.name_of(one)) for one in chosen]

    def _metadata(self) -> JSONObject | None:
        text = self.metadata.value.strip()
        if not text:
            return None
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ValueError(f'Metadata is no JSON ({error}): write it like {{"starred": true}}.') from None
        if not isinstance(found, dict):
            raise ValueError('Metadata must be a JSON object, like {"starred": true}.')
        return found

    def _chunk(self) -> int | None:
        """None unless it matters; as in `upload`, choosing one makes an automatic upload resumable."""
        chosen = int(self.chunk_size.value)
        matters = {"resumable": True, "auto": chosen != DEFAULT_CHUNK}
        return chosen if matters.get(self.upload_type.value) else None

    def code(self) -> str:
        """The call of a cell that does the same.

        >>> UploadControls().code()
        "svc.upload('...')"
        """
        names = self.files.names()
        source = repr(names[0]) if len(names) == 1 else repr(names) if names else "'...'"
        given = {
            **self.convert.arguments(),
            "name": self.name.value.strip() or None,
            "upload_type": None if self.upload_type.value == "auto" else self.upload_type.value,
            "chunk_size": self._chunk(),
            "metadata": self._metadata_text(),
        }
        arguments = [source, *(f"{key}={value!r}" for key, value in given.items() if value is not None)]
        return f"svc.upload({', '.join(arguments)})"

    def _metadata_text(self) -> Any:
        try:
            return self._metadata()
        except ValueError:
            return None
