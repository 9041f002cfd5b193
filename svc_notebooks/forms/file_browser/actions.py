"""The actions of the file browser, each with the equivalent Python code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...notebook.files.copy import copy
from ...notebook.files.files import create_file, update
from ...notebook.files.folders import delete, move, trash, untrash
from ...notebook.files.permissions import grantees, share
from ..widgets.background_task import Report
from ..widgets.field import ARGUMENT, count_text
from ..widgets.file_picker import ChosenFile
from ..widgets.form import call_text

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File


FOLDER, FILE = "folder", "file"


@dataclass(frozen=True, slots=True)
class FileAction:
    """An action on files. `code` is the equivalent Python code, `run` performs the action.

    Messages are shown after the action or its cancellation. `in_thread` is True if many bytes can be transferred.
    """

    code: str
    run: Callable[[Report], Any]
    message: str
    in_thread: bool = False
    cancelled_message: str = "Cancelled. The part that was downloaded is kept: the same download resumes there."


def _call(session: Session, message: str, function: Callable[..., Any], *positional: Any, **named: Any) -> FileAction:
    """Return the action that calls a public function without a progress bar."""
    quiet = {} if function is create_file else {"progress": False}
    return FileAction(
        call_text(function.__name__, positional, named),
        lambda _report: function(*positional, **named, **quiet, session=session),
        message,
    )


def _one_or_all(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else [*values]


def new_file_action(session: Session, kind: str, name: str, parent: str, file_id: str = "") -> FileAction:
    """Return the action that creates a folder, file or native document (A4). Raises ValueError for an empty name."""
    facts: dict[str, Any] = {"name": _check_name(name)}
    if kind != FILE:
        facts["mime_type"] = session.names.native(kind)
    facts["parents"] = [parent]
    if file_id.strip():
        facts["id"] = file_id.strip()
    return _call(session, f"Created the {kind} {name.strip()}.", create_file, **facts)


def rename_action(session: Session, file: str, name: str) -> FileAction:
    """Return the action that renames a file. Raises ValueError for an empty name."""
    new_name = _check_name(name)
    return _call(session, f"Renamed to {new_name}.", update, file, name=new_name)


def copy_action(session: Session, files: list[str], name: str) -> FileAction:
    """Return the action that copies files into their folders. Raises ValueError for a name and several files."""
    new_name = name.strip()
    if new_name and len(files) > 1:
        raise ValueError(f"Name is for one copy, but {len(files)} files are selected. Leave it empty.")
    message = f"Copied {count_text(len(files), 'file')}."
    return _call(session, message, copy, _one_or_all(files), *([new_name] if new_name else []))


def share_action(session: Session, files: list[str], text: str, role: str) -> FileAction:
    """Return the action that shares files. Raises ValueError unless `text` has people, domains or everybody."""
    if not text.strip():
        raise ValueError('Share with is empty: enter e-mail addresses, "anyone" or "domain:example.com".')
    listed = grantees("Share with", text)
    message = f"Shared {count_text(len(files), 'file')} with {', '.join(listed)} ({role})."
    return _call(session, message, share, _one_or_all(files), _one_or_all(listed), role=role)


def move_action(session: Session, files: list[str], folder_id: str | None, path: str | None) -> FileAction:
    """Return the action that moves files to a folder, whose path is shown. Raises ValueError without a folder."""
    if folder_id is None:
        raise ValueError("Folder is empty. Select the folder to which the files are moved.")
    message = f"Moved {count_text(len(files), 'file')} to {path}."
    return _call(session, message, move, _one_or_all(files), to=folder_id)


def trash_action(session: Session, files: list[str]) -> FileAction:
    return _call(session, f"Moved {count_text(len(files), 'file')} to the trash.", trash, _one_or_all(files))


def untrash_action(session: Session, files: list[str]) -> FileAction:
    return _call(session, f"Restored {count_text(len(files), 'file')} from the trash.", untrash, _one_or_all(files))


def delete_action(session: Session, files: list[str]) -> FileAction:
    return _call(session, f"Deleted {count_text(len(files), 'file')} permanently.", delete, _one_or_all(files))


def copy_restriction_action(session: Session, facts: File, allowed: bool) -> FileAction:
    """Return the action that sets whether viewers can download, export and copy a file."""
    message = f"Viewers {'can' if allowed else 'can no longer'} download, export and copy {facts.get('name')}."
    return _call(session, message, update, str(facts["id"]), **{ARGUMENT: not allowed})


def replace_content_action(session: Session, facts: File, chosen: ChosenFile) -> FileAction:
    """Return the action that replaces the content of a file, which is converted for a native document (A5-04)."""
    file, document = str(facts["id"]), session.names.is_native(str(facts.get("mimeType")))
    media_type = chosen.media_type(converted=document)
    action = FileAction(
        call_text("update", [file, str(chosen.source)], {}),
        lambda report: update(file, chosen.source, mime_type=media_type, progress=report, session=session),
        f"Replaced the content of {facts.get('name')}.",
        in_thread=True,
        cancelled_message=f"Cancelled. {facts.get('name')} is unchanged.",
    )
    if chosen.in_notebook_folder:
        return action
    return replace(action, code=uploaded_code([file], f"svc.update({file!r}, path)"))


def uploaded_code(ids: Sequence[str], call: str = "svc.upload(path)") -> str:
    """Return code for files that came from the browser, for whose content Python has no path.

    >>> print(uploaded_code(["a"]))
    # The content came from this computer. For a file in the notebook folder use svc.upload(path).
    svc.file('a')
    """
    comment = f"# The content came from this computer. For a file in the notebook folder use {call}."
    return f"{comment}\n{call_text('file', [_one_or_all(ids)], {})}"


def _check_name(name: str) -> str:
    if not name.strip():
        raise ValueError("Name is empty. Enter a name.")
    return name.strip()
