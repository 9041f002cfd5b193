"""Fetches the content for a file preview, which is an export of a native document or the content of another file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors.caller_warning import suppress_abuse_warning
from ...core.errors.errors import NotAllowed
from ...core.http.native_formats import CSV, HTML, PDF, PNG, SVG, TEXT
from ...notebook.byte_sizes import size_text
from ...notebook.files.downloads.downloads import read
from ...notebook.html import Markup, tag
from ..widgets.preview import MAX_SIZE, MAX_TEXT, preview
from .downloads import is_flagged

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File

_PREFERRED = (HTML, CSV, SVG, PNG, TEXT)
"""The export formats for previews in order of preference. A preview uses the first format that the document offers."""


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The content for a preview. `code` is the call that fetches the same content."""

    name: str
    code: str
    media_type: str
    body: bytes

    @property
    def view(self) -> Markup | None:
        """The content as HTML, or None for a PDF file, which only the browser can show."""
        shown = preview(self.media_type, self.body)
        if shown is None and self.media_type.startswith("text/"):
            shown = preview(TEXT, self.body)
        if shown is not None or self.media_type == PDF:
            return shown
        text = "has no preview. Download it and open it in another program."
        return tag("p", f"{self.name} ({self.media_type}) {text}")


def fetch_preview(session: Session, facts: File, *, acknowledge_abuse: bool = False) -> FilePreview | None:
    """Return the preview of a file, or None if the service refuses a flagged file. Raises ValueError above MAX_SIZE."""
    media_type = str(facts.get("mimeType") or "")
    if session.names.is_native(media_type):
        return _export(session, facts, media_type)
    try:
        return _read(session, facts, media_type, acknowledge_abuse=acknowledge_abuse)
    except NotAllowed as error:
        if is_flagged(error):
            return None
        raise


def _export(session: Session, facts: File, media_type: str) -> FilePreview:
    from ...client.about import export_formats
    from ...client.downloads.exports import read_export

    formats = {row.media_type: row for row in export_formats(session, media_type)}
    chosen = next(
        (formats[media_type_name] for media_type_name in _PREFERRED if media_type_name in formats),
        next(iter(formats.values()), None),
    )
    name, file_id = str(facts.get("name")), str(facts["id"])
    if chosen is None:
        return FilePreview(name, f"svc.file({file_id!r})", media_type, b"")
    code = f"svc.export({file_id!r}, {chosen.extension!r})"
    return FilePreview(name, code, chosen.media_type, read_export(session, file_id, chosen.media_type))


@suppress_abuse_warning()
def _read(session: Session, facts: File, media_type: str, *, acknowledge_abuse: bool) -> FilePreview:
    name, file_id, size = str(facts.get("name")), str(facts["id"]), int(facts.get("size") or 0)
    text = media_type.startswith("text/") and media_type not in (HTML, CSV)
    if size > MAX_SIZE and not text:
        raise ValueError(
            f"{name} has {size_text(size)}; more than {size_text(MAX_SIZE)} are not shown on a page: download it."
        )
    range_text = f"0-{MAX_TEXT - 1}" if text and size > MAX_TEXT else None
    byte_range = f"bytes={range_text}" if range_text else None
    options = [f"byte_range={byte_range!r}"] if byte_range else []
    options += ["acknowledge_abuse=True"] if acknowledge_abuse else []
    body = read(file_id, byte_range=byte_range, acknowledge_abuse=acknowledge_abuse, session=session)
    return FilePreview(name, f"svc.read({', '.join([repr(file_id), *options])})", media_type, body)
