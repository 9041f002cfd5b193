"""What is to be done when a person has answered the question of a file browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import actions as deeds
from .actions import FileAction
from .dialogs import KERNEL, ConfirmDialog, Question
from .saving import fetched, saved

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject


def deed_for(
    asked: Question, given: ConfirmDialog, session: Session, chosen: Sequence[JSONObject], folder: str
) -> FileAction:
    """The deed that an answer means, for the chosen files in this folder. Raises ValueError for what is missing."""
    files = [str(one["id"]) for one in chosen]
    match asked.key:
        case "folder":
            made = given.made
            return deeds.new_file(session, made.kind.value, given.name.value, folder, made.id.value)
        case "rename":
            return deeds.rename(session, files[0], given.name.value)
        case "copy":
            return deeds.copies(session, files, given.name.value)
        case "share":
            return deeds.shared(session, files, given.grantee.value, given.role.value)
        case "replace":
            return deeds.content_replaced(session, chosen[0], given.source.single())
        case "download" if given.target.value == KERNEL:
            return saved(session, [given.download(chosen)])
        case "download":
            return fetched(session, [given.download(chosen)])
    return deeds.deleted(session, files)
