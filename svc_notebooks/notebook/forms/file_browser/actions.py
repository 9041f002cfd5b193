"""What a file browser can do to files: the call of a cell that does it, and how it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...files.copy import copy
from ...files.files import create_file, delete, trash, untrash, update
from ...files.permissions import checked_grantee, share
from ...widgets.background_task import Report
from ...widgets.copy_restriction import ARGUMENT
from ...widgets.file_picker import ChosenFile
from .new_file import FILE

if TYPE_CHECKING:
    from ....client.session import Session


@dataclass(frozen=True, slots=True)
class FileAction:
    """Something to be done: `code` says it in Python, `run` does it, `done` tells it in words afterwards.

    `long`: it may move many bytes, so it runs in a thread; `stopped` is shown when it is cancelled.
    """

    code: str
    run: Callable[[Report], Any]
    done: str
    long: bool = False
    stopped: str = "Cancelled. The part that was downloaded is kept: the same download resumes there."


def new_file(session: Session, kind: str, name: str, parent: str, file_id: str = "") -> FileAction:
    """A folder, an empty file or a native document in a folder; metadata alone (A4)."""
    facts: dict[str, Any] = {"name": _named(name)}
    if kind != FILE:
        facts["mime_type"] = session.names.native(kind)
    facts["parents"] = [parent]
    if file_id.strip():
        facts["id"] = file_id.strip()
    code = f"svc.create_file({_arguments(facts)})"
    return FileAction(code, lambda _report: create_file(session=session, **facts), f"Made the {kind} {name.strip()}.")


def rename(session: Session, file: str, name: str) -> FileAction:
    """Another name for one file."""
    given = _named(name)
    code = f"svc.update({file!r}, name={given!r})"
    return FileAction(code, lambda _report: update(file, name=given, session=session), f"It is called {given} now.")


def copies(session: Session, files: list[str], name: str) -> FileAction:
    """Copies beside the files; a name is for one file only."""
    given = name.strip() or None
    if given and len(files) > 1:
        raise ValueError(f"Name is for one copy, and {len(files)} files are chosen: leave it empty.")
    code = f"svc.copy({_these(files)}{f', {given!r}' if given else ''})"
    return FileAction(code, lambda _report: copy(files, given, session=session), f"Copied {counted(files)}.")


def shared(session: Session, files: list[str], grantee: str, role: str) -> FileAction:
    """A role for somebody."""
    given = grantee.strip()
    if not given:
        raise ValueError('With is empty: write an e-mail address, "anyone" or "domain:example.com".')
    checked_grantee("With", given)
    code = f"svc.share({_these(files)}, {given!r}, role={role!r})"
    words = f"Shared {counted(files)} with {given} ({role})."
    return FileAction(code, lambda _report: share(files, given, role=role, session=session), words)


def trashed(session: Session, files: list[str]) -> FileAction:
    """Into the trash."""
    code, words = f"svc.trash({_these(files)})", f"Moved {counted(files)} to the trash."
    return FileAction(code, lambda _report: trash(files, session=session), words)


def untrashed(session: Session, files: list[str]) -> FileAction:
    """Out of the trash."""
    code, words = f"svc.untrash({_these(files)})", f"Took {counted(files)} out of the trash."
    return FileAction(code, lambda _report: untrash(files, session=session), words)


def deleted(session: Session, files: list[str]) -> FileAction:
    """Away for good."""
    code, words = f"svc.delete({_these(files)})", f"Deleted {counted(files)} for good."
    return FileAction(code, lambda _report: delete(files, session=session), words)


def viewers_may(session: Session, facts: Mapping[str, Any], allowed: bool) -> FileAction:
    """Whether viewers may download, export and copy a file."""
    file = str(facts["id"])
    fields: dict[str, Any] = {ARGUMENT: not allowed}
    code = f"svc.update({file!r}, {_arguments(fields)})"
    words = f"Viewers {'may' if allowed else 'may no longer'} download, export and copy {facts.get('name')}."
    return FileAction(code, lambda _report: update(file, session=session, **fields), words)


def content_replaced(session: Session, facts: Mapping[str, Any], chosen: ChosenFile) -> FileAction:
    """Other content in a file; a native document converts it (A5-04)."""
    file, document = str(facts["id"]), session.names.is_native(str(facts.get("mimeType")))
    media_type = chosen.media_type(converted=document)
    return FileAction(
        f"svc.update({file!r}, {chosen.name!r})",
        lambda report: update(file, chosen.source, mime_type=media_type, progress=report, session=session),
        f"Replaced the content of {facts.get('name')}.",
        long=True,
        stopped=f"Cancelled. {facts.get('name')} is unchanged.",
    )


def counted(files: list[str]) -> str:
    """How many files, in words.

    >>> counted(["a"]), counted(["a", "b"])
    ('1 file', '2 files')
    """
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def _named(name: str) -> str:
    if not name.strip():
        raise ValueError("Name is empty: write one.")
    return name.strip()


def _these(files: list[str]) -> str:
    return repr(files[0]) if len(files) == 1 else repr(files)


def _arguments(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())
