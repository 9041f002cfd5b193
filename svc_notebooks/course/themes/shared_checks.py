"""Functions that several exercise checks share, which test requirements and format messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..definition import Part, list_text, quantity, require
from ..evidence import as_object

if TYPE_CHECKING:
    from ...core.resources.files import File
    from ..evidence import Evidence, RecordedRequest


def length(number: float, unit: str) -> str:
    """Return a number with three digits and its unit in the singular or plural.

    >>> length(1, "second"), length(1.25, "second"), length(39, "hour")
    ('1 second', '1.25 seconds', '39 hours')
    """
    return f"{number:.3g} {unit if number == 1 else f'{unit}s'}"


def require_any(evidence: Evidence, requests: list[RecordedRequest], does: str) -> list[RecordedRequest]:
    """Return the requests. Raises CheckFailedError if there is none. `does` is what one of them must do."""
    require(requests, f"The service received {quantity(len(evidence.requests), 'request')}, and none of them {does}")
    return requests


def require_file(evidence: Evidence, name: str, *, native: str = "") -> File:
    """Return the file with this name. Raises CheckFailedError unless the student created exactly one such file.

    The file must not be in the trash and not be shared. It must be a file with content, or a native document whose media
    type ends in `native`.
    """
    creates = evidence.requests_of("files.create", "files.copy", "upload.session")
    require_any(evidence, creates, "creates a file. Look at svc.exchanges(): an upload is a POST request.")
    live, named = evidence.live_files, [file for file in evidence.files if file["name"] == name]
    files = [file for file in named if file in live]
    seen = f"Its files are called {list_text(file['name'] for file in live)}." if live else "It has no files."
    why = " The file of this name is in the trash." if named else _unfinished_upload(evidence)
    require(files, f"The service has no file named {name!r}.{why} {seen}")
    require(len(files) == 1, f"The service has {len(files)} files called {name!r} instead of one. Look at svc.files().")
    file = files[0]
    was_created = evidence.creations_of(file["id"])
    require(was_created, f"The service has a file called {name!r}, but no recorded request created it.")
    media_type = file["mimeType"]
    kind = f"a {native} of the service" if native else "a file with content"
    right = media_type.endswith(f".{native}") if native else ".svc-apps." not in media_type
    require(right, f"The file {name!r} has the type {media_type}, which is not {kind}.")
    require(not file.get("shared"), f"The file {name!r} is shared, and the task does not ask you to share it.")
    return file


def _unfinished_upload(evidence: Evidence) -> str:
    """Return a sentence about the last upload session of the student if it was cancelled or not finished, else ""."""
    sessions = [request for request in evidence.succeeded("files.create") if request.upload_type == "resumable"]
    if not sessions:
        return ""
    session_id = sessions[-1].session_id
    requests = [request for request in evidence.requests_of("upload.session") if request.session_id == session_id]
    if any(request.method == "DELETE" for request in requests):
        return " The upload session was cancelled with DELETE."
    finished = any(request.status in (200, 201) for request in requests)
    return "" if finished else " An upload session was opened and not finished: it has no file before its last byte."


def read_object(evidence: Evidence, name: str, members: str) -> dict[str, Any]:
    """Return the JSON object in the file of this name. Raises CheckFailedError as `require_file` does, and for others."""
    content = as_object(evidence.content(require_file(evidence, name)["id"]))
    require(content, f"{name} is not a JSON object {members}.")
    return content


def named_file(evidence: Evidence) -> File:
    """Return the file called given.name. Raises CheckFailedError as `require_file` does."""
    return require_file(evidence, evidence.values["name"])


def require_same_content(evidence: Evidence, file: File, content: bytes, owner: str = "given.content") -> None:
    """Raise CheckFailedError unless the file has this content. `owner` is the name of the content in the message."""
    stored = evidence.content(file["id"])
    size = quantity(len(stored), "byte")
    require(
        stored == content,
        f"The content of the file {file['name']!r} ({size}) differs from {owner}. Compare them with svc.read.",
    )


def require_no_updates(evidence: Evidence, file: File, advice: str) -> None:
    """Raise CheckFailedError if a request changed the file, or it is a copy. `advice` says what to do."""
    copied = any(request.operation == "files.copy" for request in evidence.creations_of(file["id"]))
    require(not copied, f"The file is a copy of another file: {advice}.")
    count = len(evidence.updates_of(file["id"]))
    message = (
        f"The file was changed after its creation ({quantity(count, 'update')}): {advice}. Look at svc.exchanges()."
    )
    require(not count, message)


_UPLOAD = ("files.create", "upload.session")
NAME = Part("a file called given.name", named_file, operations=_UPLOAD)
CONTENT = Part(
    "the content of given.content",
    lambda evidence: require_same_content(evidence, named_file(evidence), evidence.values["content"]),
    operations=_UPLOAD,
)
"""The parts of every exercise that ends with a file `given.name` with the content `given.content`."""
