"""The requests of the file list: one page of files, and the number of files on all pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .details import LIST_FIELDS

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import FileList
    from .search import FileQuery

_IDS_PER_REQUEST = 1000
_MAX_COUNT_REQUESTS = 20


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for one page of the files that match a query. The token of the first page is None."""

    query: FileQuery
    token: str | None
    size: int

    def send(self, session: Session) -> FileList:
        """Return the page, with the fields that the list and the details show."""
        fields = f"nextPageToken,files({LIST_FIELDS})"
        return self._list(session, fields, self.token, self.size, order=self.query.order_by)

    def count(self, session: Session, is_current: Callable[[], bool]) -> tuple[int, bool]:
        """Count the files on all pages. Return the number, and False if there are more than were counted.

        The interface has no total, so the ids of the files are listed, at most 20,000 of them. Counting ends early
        when `is_current` returns False.
        """
        counted, token = 0, None
        for _ in range(_MAX_COUNT_REQUESTS):
            page = self._list(session, "nextPageToken,files(id)", token, _IDS_PER_REQUEST)
            counted += len(page.get("files") or ())
            token = page.get("nextPageToken")
            if token is None or not is_current():
                break
        return counted, token is None

    def _list(
        self, session: Session, fields: str, token: str | None, size: int, *, order: str | None = None
    ) -> FileList:
        query = {"q": self.query.q, "orderBy": order, "pageSize": size, "pageToken": token}
        return cast("FileList", session.call("GET", session.names.path("files"), query=query | {"fields": fields}))
