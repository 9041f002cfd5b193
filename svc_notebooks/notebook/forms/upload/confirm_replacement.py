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
    """What is to be uploaded: the name of its source, its size in bytes and its type; `name` is the file's new one."""

    source: str
    size: int | None
    media_type: str
    name: str = ""


def stored_facts(session: Session, file_id: str) -> File:
    """The present facts of the file, for the question. Raises NotFound."""
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
    """Name the file, and show its old and its new content side by side."""
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
