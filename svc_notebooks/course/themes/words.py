"""Sentences that checks have in common, and how they count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..verdict import need

if TYPE_CHECKING:
    from ..evidence import Evidence


def counted(count: int, thing: str, things: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "file"), counted(2, "file"), counted(0, "copy", "copies")
    ('1 file', '2 files', 'no copies')
    """
    return f"{count or 'no'} {thing if count == 1 else things or f'{thing}s'}"


def listed(names: Iterable[object], most: int = 5) -> str:
    """Names as people list them, the first of them.

    >>> listed(["a", "b", "c"]), listed([]), listed("abcdefgh")
    ("'a', 'b' and 'c'", 'nothing', "'a', 'b', 'c', 'd', 'e' and 3 more")
    """
    every = [repr(str(name)) for name in names]
    shown = every[:most] + ([f"{len(every) - most} more"] if len(every) > most else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing"


def the_one_file(saw: Evidence, name: str) -> Mapping[str, Any]:
    """The file of this name, which a request of the student has made. Raises NotYet for none, two, or a strange one."""
    found = saw.named(name)
    there = listed(one["name"] for one in saw.files() if not one.get("trashed"))
    need(found, f"The service has no file called {name!r}. What it has is called {there}.")
    need(len(found) == 1, f"The service has {len(found)} files called {name!r}, and one was asked for.")
    asked = saw.made(found[0]["id"])
    need(asked, f"The service has a file called {name!r}, but no request that it saw has made it.")
    return found[0]


def same_content(saw: Evidence, file: Mapping[str, Any], content: bytes, what: str) -> None:
    """The file holds these bytes. Raises NotYet."""
    found = saw.content(file["id"])
    size = counted(len(found), "byte")
    need(found == content, f"The file {file['name']!r} has {size}, and they are not those of {what}.")
