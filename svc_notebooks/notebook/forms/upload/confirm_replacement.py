"""Asks before the content of an existing file is replaced: which file, and by what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...widgets.dialogs.confirmation import Confirmation
from ...widgets.dialogs.replace_question import comparison_table, size_with_bytes
from ..file_browser.details import minute_text

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File

_BINARY = "The new content overwrites the old one. The file keeps its id."
_DOCUMENT = "The file is a native document. The new content is converted and replaces everything in the document."


@dataclass(frozen=True, slots=True)
class ContentReplacement:
    """The new content, with the name, the size and the media type of its source. `name` is a new name of the file."""

    source: str
    size: int | None
    media_type: str
    name: str = ""


def read_facts(session: Session, file_id: str) -> File:
    """Return the metadata of the file. Raises NotFound."""
    from ....client.files import get_file

    return get_file(session, file_id, fields="id,name,mimeType,size,modifiedTime")


def ask_to_replace(
    question: Confirmation,
    facts: Mapping[str, Any],
    content: ContentReplacement,
    *,
    document: bool,
    confirmed: Callable[[], None],
    cancelled: Callable[[], None],
) -> None:
    """Show the old and the new content of the file side by side."""
    name, size, media_type = str(facts.get("name")), facts.get("size"), str(facts.get("mimeType") or "unknown")
    lines = (
        ("Name", name, content.name or name),
        ("Content from", "", content.source),
        ("Size", "" if size is None else size_with_bytes(int(size)), "" if document else size_with_bytes(content.size)),
        ("Type", media_type, media_type if document else content.media_type),
        ("Modified", f"{minute_text(facts.get('modifiedTime'))} UTC", ""),
        ("File ID", str(facts["id"]), "the same"),
    )
    question.ask(
        f"Replace the content of {name}?",
        "Replace content",
        _DOCUMENT if document else _BINARY,
        facts=comparison_table(f"Compare {name}", ("Now", "After the upload"), lines),
        confirmed=confirmed,
        cancelled=cancelled,
    )
