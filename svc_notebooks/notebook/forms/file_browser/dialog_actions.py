"""Maps an answered dialog of the file browser to the action it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import actions
from .actions import FileAction
from .dialogs import KERNEL, ConfirmDialog, Question
from .download_results import fetch_action, save_action

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject


def action_for(
    question: Question, dialog: ConfirmDialog, session: Session, chosen: Sequence[JSONObject], folder: str
) -> FileAction:
    """Return the action of a dialog for the selected files in a folder. Raises ValueError for missing input."""
    files = [str(file["id"]) for file in chosen]
    match question.key:
        case "folder":
            made = dialog.made
            return actions.new_file_action(session, made.type.value, dialog.name.value, folder, made.id.value)
        case "rename":
            return actions.rename_action(session, files[0], dialog.name.value)
        case "copy":
            return actions.copy_action(session, files, dialog.name.value)
        case "share":
            return actions.share_action(session, files, dialog.grantee.value, dialog.role.value)
        case "replace":
            return actions.replace_content_action(session, chosen[0], dialog.source.single())
        case "download" if dialog.target.value == KERNEL:
            return save_action(session, [dialog.download(chosen)])
        case "download":
            return fetch_action(session, [dialog.download(chosen)])
    return actions.delete_action(session, files)
