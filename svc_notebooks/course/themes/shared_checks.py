"""Functions that several exercise checks share, which test requirements and format messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..check_result import require

if TYPE_CHECKING:
    from ..evidence import Evidence


def quantity(count: int, thing: str, things: str = "") -> str:
    """Return a number with a noun in the singular or plural. `things` is an irregular plural.

    >>> quantity(1, "file"), quantity(2, "file"), quantity(0, "copy", "copies")
    ('1 file', '2 files', 'no copies')
    """
    return f"{count or 'no'} {thing if count == 1 else things or f'{thing}s'}"


def list_text(names: Iterable[object], maximum: int = 5) -> str:
    """Return up to `maximum` names as an English list, followed by the number of further names.

    >>> list_text(["a", "b", "c"]), list_text([]), list_text("abcdefgh")
    ("'a', 'b' and 'c'", 'nothing', "'a', 'b', 'c', 'd', 'e' and 3 more")
    """
    texts = [repr(str(name)) for name in names]
    shown = texts[:maximum] + ([f"{len(texts) - maximum} more"] if len(texts) > maximum else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing"


def require_single_file(evidence: Evidence, name: str) -> Mapping[str, Any]:
    """Return the file with this name. Raises CheckFailedError unless the student created exactly one such file."""
    files = evidence.files_with_name(name)
    other_names = list_text(file["name"] for file in evidence.files() if not file.get("trashed"))
    require(files, f"The service has no file called {name!r}. What it has is called {other_names}.")
    require(len(files) == 1, f"The service has {len(files)} files called {name!r}, and one was asked for.")
    creations = evidence.creations_of(files[0]["id"])
    require(creations, f"The service has a file called {name!r}, but no request that it saw has made it.")
    return files[0]


def require_same_content(evidence: Evidence, file: Mapping[str, Any], content: bytes, owner: str) -> None:
    """Raise CheckFailedError unless the file has this content. `owner` is the name of the content in the message."""
    stored = evidence.content(file["id"])
    size = quantity(len(stored), "byte")
    require(stored == content, f"The file {file['name']!r} has {size}, and they are not those of {owner}.")
