"""The query and the order of the file browser, as the interface writes them (A4, `q`)."""

from __future__ import annotations

from dataclasses import dataclass

HERE, EVERYWHERE, SHARED, TRASH = "here", "everywhere", "shared", "trash"
SCOPES = (
    ("This folder", HERE),
    ("All my files", EVERYWHERE),
    ("Shared with me", SHARED),
    ("Trash", TRASH),
)

NAME, TEXT, QUERY = "name", "fullText", "q"
FIELDS = (
    ("Name", NAME),
    ("Name and description", TEXT),
    ("Query (q)", QUERY),
)

ORDERS = (
    ("Folders first, then name", "folder,name"),
    ("Last modified", "modifiedTime desc"),
    ("Last created", "createdTime desc"),
    ("Largest", "quotaBytesUsed desc"),
)

ROOT = "root"
"""The folder that all of a person's files are in."""


@dataclass(frozen=True, slots=True)
class FileQuery:
    """The scope, the field and the text of a search, and the order of its result.

    `folder` is used with the scope HERE.
    """

    scope: str = HERE
    folder: str = ROOT
    field: str = NAME
    text: str = ""
    order: str = ORDERS[0][1]

    @property
    def q(self) -> str:
        """The query of the interface.

        A query that a person has written is not changed.

        >>> FileQuery(text="bird's").q
        "'root' in parents and trashed = false and name contains 'bird\\\\'s'"
        >>> FileQuery(field="q", text="starred = true").q
        'starred = true'
        """
        text = self.text.strip()
        if self.field == QUERY and text:
            return text
        terms = [*_SCOPE_TERMS[self.scope]]
        if self.scope == HERE:
            terms.insert(0, f"{quote(self.folder)} in parents")
        if text and self.field != QUERY:
            terms.append(f"{self.field} contains {quote(text)}")
        return " and ".join(terms)

    @property
    def order_by(self) -> str | None:
        """The order. None for a full-text search, which the service ranks itself."""
        return None if TEXT in self.q else self.order

    def code(self) -> str:
        """Return the call that lists the same files.

        >>> FileQuery(scope="trash").code()
        "svc.files('trashed = true', order_by='folder,name')"
        """
        order = f", order_by={self.order_by!r}" if self.order_by else ""
        return f"svc.files({self.q!r}{order})"


_SCOPE_TERMS = {
    HERE: ("trashed = false",),
    EVERYWHERE: ("trashed = false",),
    SHARED: ("sharedWithMe = true", "trashed = false"),
    TRASH: ("trashed = true",),
}


def quote(text: str) -> str:
    """Return a text as a string of the query language."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
