"""Functions that several exercise checks share, which test requirements and format messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..definition import require

if TYPE_CHECKING:
    from ..evidence import Evidence, RecordedRequest


def quantity(count: int, thing: str, things: str = "") -> str:
    """Return a number with a noun in the singular or plural. `things` is an irregular plural.

    >>> quantity(1, "file"), quantity(2, "file"), quantity(0, "copy", "copies")
    ('1 file', '2 files', 'no copies')
    """
    return f"{count or 'no'} {thing if count == 1 else things or f'{thing}s'}"


def length(number: float, unit: str) -> str:
    """Return a number with three digits and its unit in the singular or plural.

    >>> length(1, "second"), length(1.25, "second"), length(39, "hour")
    ('1 second', '1.25 seconds', '39 hours')
    """
    return f"{number:.3g} {unit if number == 1 else f'{unit}s'}"


def list_text(names: Iterable[object], maximum: int = 5) -> str:
    """Return up to `maximum` names as an English list, followed by the number of further names.

    >>> list_text(["a", "b", "c"]), list_text([]), list_text("abcdefgh")
    ("'a', 'b' and 'c'", 'nothing', "'a', 'b', 'c', 'd', 'e' and 3 more")
    """
    texts = [repr(str(name)) for name in names]
    shown = texts[:maximum] + ([f"{len(texts) - maximum} more"] if len(texts) > maximum else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing"


def require_creations(evidence: Evidence) -> list[RecordedRequest]:
    """Return the requests that create a file. Raises CheckFailedError if there is none."""
    created = evidence.requests_of("files.create")
    require(
        created,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them creates a file."
        " Look at svc.exchanges(): an upload is a POST request.",
    )
    return created


def require_single_file(evidence: Evidence, name: str) -> Mapping[str, Any]:
    """Return the file with this name. Raises CheckFailedError unless the student created exactly one such file."""
    files = evidence.files_with_name(name)
    others = [file["name"] for file in evidence.files() if not file.get("trashed")]
    seen = f"Its files are called {list_text(others)}." if others else "It has no files."
    require(files, f"The service has no file named {name!r}. {seen}")
    require(len(files) == 1, f"The service has {len(files)} files called {name!r} instead of one. Look at svc.files().")
    creations = evidence.creations_of(files[0]["id"])
    require(creations, f"The service has a file called {name!r}, but no recorded request created it.")
    return files[0]


def require_same_content(evidence: Evidence, file: Mapping[str, Any], content: bytes, owner: str) -> None:
    """Raise CheckFailedError unless the file has this content. `owner` is the name of the content in the message."""
    stored = evidence.content(file["id"])
    size = quantity(len(stored), "byte")
    require(
        stored == content,
        f"The content of the file {file['name']!r} ({size}) differs from {owner}. Compare them with svc.read.",
    )


def require_no_updates(evidence: Evidence, advice: str) -> None:
    """Raise CheckFailedError if a request changed a file. `advice` is the end of the message, which says what to do."""
    updates = evidence.requests_of("files.update")
    require(
        not updates,
        f"The file was changed after its creation ({quantity(len(updates), 'update')}): {advice}. Look at svc.exchanges().",
    )


def require_only_stars(evidence: Evidence) -> None:
    """Raise CheckFailedError if an update changed another field than `starred`."""
    for request in evidence.requests_of("files.update"):
        if not request.succeeded:  # the service may have refused it before it read the body
            continue
        fields = sorted(request.request_json)
        require(
            fields == ["starred"],
            f"An update changed {list_text(fields)}. Change only the field `starred` of the files.",
        )
