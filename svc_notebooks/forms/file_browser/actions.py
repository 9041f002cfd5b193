"""The actions of the file browser, each with the equivalent Python code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...notebook.files.files import create_file, update
from ..widgets.background_task import Report
from ..widgets.file_picker import ChosenFile
from ..widgets.form import call_text

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File


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


def call_action(
    session: Session, message: str, function: Callable[..., Any], *positional: Any, **named: Any
) -> FileAction:
    """Return the action that calls a public function without a progress bar."""
    quiet = {} if function is create_file else {"progress": False}
    return FileAction(
        call_text(function.__name__, positional, named),
        lambda _report: function(*positional, **named, **quiet, session=session),
        message,
    )


def one_or_all(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else [*values]


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
    return f"{comment}\n{call_text('file', [one_or_all(ids)], {})}"
