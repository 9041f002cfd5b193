"""The actions of the file browser, each with the equivalent Python code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...core.http.native_formats import NATIVES
from ...notebook.files.copy import copy
from ...notebook.files.files import create_file, update
from ...notebook.files.folders import delete, move, trash, untrash
from ...notebook.files.permissions import grantees, share
from ..widgets.background_task import Report
from ..widgets.field import ARGUMENT, LABEL, Field, MoreOptions, describe, on_change, small_button, text_field
from ..widgets.upload_buffer import ChosenFile

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File


FOLDER, FILE = "folder", "file"
_TYPES = (
    ("Folder", FOLDER),
    ("Empty file", FILE),
    *((f"Native {word}", word) for word in NATIVES),
)
_ID_HINT = "Empty: the service generates one. Not for native documents."
_NATIVE = "A native document cannot have an id of your own. Remove the id, or create a folder or an empty file."


class NewFileChoice(widgets.VBox):  # type: ignore[misc]
    """The controls for the type of a new file and, under "More options", for the file id."""

    def __init__(self) -> None:
        self.type = widgets.Dropdown(
            options=_TYPES,
            **describe("Type", "A folder, a file without content, or a native document"),
            style=LABEL,
        )
        self.id = text_field("File ID", "An id from generate_ids(); repeating the request creates no second file")
        self.generate = small_button("Generate ID", "Get an unused id from the service", lambda: None)
        self.file_id = Field(self.id, self.generate, hint=_ID_HINT)
        self.more = MoreOptions(self.file_id)
        super().__init__([self.type, self.more])
        self.watch(lambda: self.file_id.show_problems(self._problems()))

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.type, self.id)

    def clear(self) -> None:
        self.type.value, self.id.value, self.more.shown = FOLDER, "", False

    def check(self) -> list[str]:
        """Show the problems of the file id beside its field, and return the problem texts."""
        problems = self._problems()
        self.file_id.show_problems(problems)
        self.more.shown = self.more.shown or bool(problems)
        return problems

    def _problems(self) -> list[str]:
        return [_NATIVE] if self.id.value.strip() and self.type.value in NATIVES else []


_RANGE_HINT = "Empty: the whole file. The first byte is 0, and the last one is included."


class ByteRangeField(Field):
    """Two text fields for a byte range. `value` is a range such as `bytes=0-99`, or None for the whole file.

    >>> part = ByteRangeField()
    >>> part.first.value, part.last.value = "10", "99"
    >>> part.value
    'bytes=10-99'
    >>> part.check([{"name": "a.txt", "size": "5"}])
    ['a.txt has 5 bytes, 0 to 4: the first byte must be 4 or less.']
    """

    def __init__(self) -> None:
        self.first = text_field("First byte", "The start of the range; the first byte of a file is 0", hint="0")
        self.last = text_field("Last byte", "The end of the range, included", hint="the end")
        super().__init__(self.first, self.last, hint=_RANGE_HINT)

    @property
    def value(self) -> str | None:
        """The byte range, or None for the whole file. Raises ValueError if the range is not valid."""
        first, last = _number("First byte", self.first.value), _number("Last byte", self.last.value)
        if first is None and last is None:
            return None
        if last is not None and last < (first or 0):
            raise ValueError("The last byte is before the first byte. Correct one of them.")
        return f"bytes={first or 0}-{'' if last is None else last}"

    def clear(self) -> None:
        self.first.value = self.last.value = ""
        self.show_problems(())

    def check(self, files: Sequence[File]) -> list[str]:
        """Show the problems of the range for these files, and return the problem texts."""
        try:
            first = int((self.value or "bytes=0-").removeprefix("bytes=").partition("-")[0])
            problems = list(_too_short(first, files)) if self.value else []
        except ValueError as error:
            problems = [str(error)]
        self.show_problems(problems)
        return problems


def _too_short(first: int, files: Sequence[File]) -> Iterator[str]:
    for facts in files:
        size = int(facts.get("size") or 0) if facts.get("size") is not None else None
        if size == 0:
            yield f"{facts.get('name')} is empty and has no byte range."
        elif size is not None and first >= size:
            count = "1 byte, number 0" if size == 1 else f"{size:,} bytes, 0 to {size - 1}"
            yield f"{facts.get('name')} has {count}: the first byte must be {size - 1} or less."


def _number(label: str, text: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{label} is {text!r}. Enter a whole number, such as 0 or 1024.")
    return int(text)


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


def new_file_action(session: Session, kind: str, name: str, parent: str, file_id: str = "") -> FileAction:
    """Return the action that creates a folder, file or native document (A4). Raises ValueError for an empty name."""
    facts: dict[str, Any] = {"name": _check_name(name)}
    if kind != FILE:
        facts["mime_type"] = session.names.native(kind)
    facts["parents"] = [parent]
    if file_id.strip():
        facts["id"] = file_id.strip()
    code = f"svc.create_file({_arguments(facts)})"
    return FileAction(
        code, lambda _report: create_file(session=session, **facts), f"Created the {kind} {name.strip()}."
    )


def rename_action(session: Session, file: str, name: str) -> FileAction:
    """Return the action that renames a file. Raises ValueError for an empty name."""
    new_name = _check_name(name)
    code = f"svc.update({file!r}, name={new_name!r})"
    return FileAction(
        code, lambda _report: update(file, name=new_name, progress=False, session=session), f"Renamed to {new_name}."
    )


def copy_action(session: Session, files: list[str], name: str) -> FileAction:
    """Return the action that copies files into their folders. Raises ValueError for a name and several files."""
    new_name = name.strip() or None
    if new_name and len(files) > 1:
        raise ValueError(f"Name is for one copy, but {len(files)} files are selected. Leave it empty.")
    code = f"svc.copy({_ids_text(files)}{f', {new_name!r}' if new_name else ''})"
    return FileAction(
        code, lambda _report: copy(files, new_name, progress=False, session=session), f"Copied {file_count(files)}."
    )


def share_action(session: Session, files: list[str], text: str, role: str) -> FileAction:
    """Return the action that shares files. Raises ValueError unless `text` has people, domains or everybody."""
    if not text.strip():
        raise ValueError('Share with is empty: enter e-mail addresses, "anyone" or "domain:example.com".')
    listed = grantees("Share with", text)
    with_ = listed if len(listed) > 1 else listed[0]
    code = f"svc.share({_ids_text(files)}, {with_!r}, role={role!r})"
    words = f"Shared {file_count(files)} with {', '.join(listed)} ({role})."
    return FileAction(code, lambda _report: share(files, with_, role=role, progress=False, session=session), words)


def move_action(session: Session, files: list[str], folder_id: str | None, path: str | None) -> FileAction:
    """Return the action that moves files to a folder, whose path is shown. Raises ValueError without a folder."""
    if folder_id is None:
        raise ValueError("Folder is empty. Select the folder to which the files are moved.")
    code, words = f"svc.move({_ids_text(files)}, to={folder_id!r})", f"Moved {file_count(files)} to {path}."
    return FileAction(code, lambda _report: move(files, to=folder_id, progress=False, session=session), words)


def trash_action(session: Session, files: list[str]) -> FileAction:
    code, words = f"svc.trash({_ids_text(files)})", f"Moved {file_count(files)} to the trash."
    return FileAction(code, lambda _report: trash(files, progress=False, session=session), words)


def untrash_action(session: Session, files: list[str]) -> FileAction:
    code, words = f"svc.untrash({_ids_text(files)})", f"Restored {file_count(files)} from the trash."
    return FileAction(code, lambda _report: untrash(files, progress=False, session=session), words)


def delete_action(session: Session, files: list[str]) -> FileAction:
    code, words = f"svc.delete({_ids_text(files)})", f"Deleted {file_count(files)} permanently."
    return FileAction(code, lambda _report: delete(files, progress=False, session=session), words)


def copy_restriction_action(session: Session, facts: File, allowed: bool) -> FileAction:
    """Return the action that sets whether viewers can download, export and copy a file."""
    file = str(facts["id"])
    fields: dict[str, Any] = {ARGUMENT: not allowed}
    code = f"svc.update({file!r}, {_arguments(fields)})"
    words = f"Viewers {'can' if allowed else 'can no longer'} download, export and copy {facts.get('name')}."
    return FileAction(code, lambda _report: update(file, progress=False, session=session, **fields), words)


def replace_content_action(session: Session, facts: File, chosen: ChosenFile) -> FileAction:
    """Return the action that replaces the content of a file, which is converted for a native document (A5-04)."""
    file, document = str(facts["id"]), session.names.is_native(str(facts.get("mimeType")))
    media_type = chosen.media_type(converted=document)
    code = f"svc.update({file!r}, {str(chosen.source)!r})"
    return FileAction(
        code if chosen.in_notebook_folder else uploaded_code([file], f"svc.update({file!r}, path)"),
        lambda report: update(file, chosen.source, mime_type=media_type, progress=report, session=session),
        f"Replaced the content of {facts.get('name')}.",
        in_thread=True,
        cancelled_message=f"Cancelled. {facts.get('name')} is unchanged.",
    )


def uploaded_code(ids: Sequence[str], call: str = "svc.upload(path)") -> str:
    """Return code for files that came from the browser, for whose content Python has no path.

    >>> print(uploaded_code(["a"]))
    # The content came from this computer. For a file in the notebook folder use svc.upload(path).
    svc.file('a')
    """
    comment = f"# The content came from this computer. For a file in the notebook folder use {call}."
    return f"{comment}\nsvc.file({_ids_text(ids)})"


def file_count(files: Sequence[object]) -> str:
    """Return the number of files as text.

    >>> file_count(["a"]), file_count(["a", "b"])
    ('1 file', '2 files')
    """
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def _check_name(name: str) -> str:
    if not name.strip():
        raise ValueError("Name is empty. Enter a name.")
    return name.strip()


def _ids_text(files: Sequence[str]) -> str:
    return repr(files[0]) if len(files) == 1 else repr([*files])


def _arguments(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
