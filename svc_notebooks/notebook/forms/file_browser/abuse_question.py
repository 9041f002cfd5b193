"""Asks a person to confirm the download of a file that the service has flagged as abusive (A6-04a)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....core.errors.errors import NotAllowed
from ...widgets.dialogs.confirmation import Confirmation
from .details import owner

if TYPE_CHECKING:
    from ....core.resources.files import File

_REASON = "cannotDownloadAbusiveFile"
_WARNING = (
    "The service found malware or spam in it. Opening it can harm this computer and its data.",
    "Only the owner can download it. Continue only if you know its content.",
)


def is_flagged(error: Exception) -> bool:
    """Return whether the service has refused to send a file because the file is flagged as abusive."""
    return isinstance(error, NotAllowed) and error.reason == _REASON


def is_owned(facts: File) -> bool:
    """Return whether the user of the session owns the file. Only the owner can download a flagged file."""
    return facts.get("ownedByMe") is not False


def refusal_message(facts: File) -> str:
    """Return the error message for a user who does not own the flagged file."""
    words = f"{facts.get('name')} was flagged as abusive, because the service found malware or spam in it."
    return f"{words} Only its owner, {owner(facts)}, can download it."


def ask_about_abuse(
    question: Confirmation,
    files: Sequence[File],
    verb: str,
    *,
    confirmed: Callable[[], None],
    cancelled: Callable[[], None],
) -> None:
    """Ask about the download of flagged files, then call `confirmed` or `cancelled`. `verb` is a button label."""
    names = ", ".join(str(facts.get("name")) for facts in files)
    title = (
        f"{len(files)} files were flagged as abusive: {names}" if len(files) > 1 else f"{names} was flagged as abusive"
    )
    question.ask(f"{title}.", verb, *_WARNING, confirmed=confirmed, cancelled=cancelled)
