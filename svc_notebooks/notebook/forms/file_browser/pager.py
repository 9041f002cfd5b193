"""The pages of the file list: the buttons that go to them, their size, and the total number of files."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, describe
from ...widgets.html import tag

PAGE_SIZE = 50
"""The number of files on a page, until a person chooses another one."""

PAGE_SIZES = (20, PAGE_SIZE, 100, 200, 500)


class Pager(widgets.HBox):  # type: ignore[misc]
    """Goes through the pages of a list. `token` is the token of the current page, `size` the number of its rows.

    >>> pager = Pager()
    >>> pager.show(3, None); pager.text
    '3 files'
    """

    def __init__(self) -> None:
        self._tokens: list[str | None] = [None]
        self._next_token: str | None = None
        self._loading = False
        self._count = 0
        self._total: int | None = None
        self._counted = 0
        self.previous = widgets.Button(description="Previous", icon="chevron-left", tooltip="Show the previous page")
        self.next = widgets.Button(description="Next", icon="chevron-right", tooltip="Show the next page")
        self.range = widgets.HTML()
        self.page_size = widgets.Dropdown(
            options=PAGE_SIZES, value=PAGE_SIZE, **describe("Files per page", "The length of a page"), style=AUTO_WIDTH
        )
        super().__init__([self.previous, self.range, self.next, self.page_size])
        self.add_class("svc-buttons")
        self.add_class("svc-pager")
        self.show(0, None)

    def watch(self, turned: Callable[[], None], guard: Callable[[Callable[[], None]], None]) -> None:
        """Call `turned` when another page is to be listed. `guard` runs the handlers and shows their errors."""
        self.previous.on_click(lambda _button: guard(lambda: self._turn_back(turned)))
        self.next.on_click(lambda _button: guard(lambda: self._turn(turned)))
        self.page_size.observe(lambda _change: guard(lambda: self._resize(turned)), "value")

    @property
    def token(self) -> str | None:
        return self._tokens[-1]

    @property
    def size(self) -> int:
        return int(self.page_size.value)

    @property
    def is_first(self) -> bool:
        return len(self._tokens) == 1

    @property
    def complete(self) -> bool:
        """True if all files are on the current page."""
        return self.is_first and self._next_token is None

    @property
    def needs_count(self) -> bool:
        """True if the number of files on all pages is not known."""
        return self._total is None and not self._counted

    def restart(self) -> None:
        """Go to the first page without a request."""
        self._tokens, self._loading = [None], True

    def forget_total(self) -> None:
        """Forget the number of files on all pages, because it may have changed."""
        self._total, self._counted = None, 0

    def back(self) -> None:
        """Go to the previous page without a request. Raises ValueError on the first page."""
        if self.is_first:
            raise ValueError("This is the first page.")
        self._tokens.pop()
        self._loading = True

    def stop_waiting(self) -> None:
        """Take clicks on Next again, after the request for a page has failed."""
        self._loading = False

    def show(self, count: int, next_token: str | None) -> None:
        """Show the position of a page with `count` rows. `next_token` is the page token of the next page, if any."""
        self._count, self._next_token, self._loading = count, next_token, False
        self.previous.disabled, self.next.disabled = self.is_first, next_token is None
        if next_token is None:
            self._total = self._before + count
        self._show_range()

    def show_total(self, counted: int, *, complete: bool = True) -> None:
        """Show the number of files on all pages. `complete` is False if there are more than were counted."""
        self._counted = counted
        self._total = counted if complete else None
        self._show_range()

    @property
    def text(self) -> str:
        """The position of the page in the list, such as "1-50 of 312"."""
        if self.complete:
            return "1 file" if self._count == 1 else f"{self._count} files"
        last = self._before + self._count
        total = f"{self._total:,}" if self._total is not None else f"more than {max(last, self._counted):,}"
        return f"{self._before + 1:,}\N{EN DASH}{last:,} of {total}"

    @property
    def _before(self) -> int:
        return self.size * (len(self._tokens) - 1)

    def _show_range(self) -> None:
        self.range.value = tag("span", self.text, role="status", class_="svc-range")

    def _turn(self, turned: Callable[[], None]) -> None:
        if self._loading:
            raise ValueError("The page is loading. Click Next when it is shown.")
        if self._next_token is None:
            raise ValueError("This is the last page.")
        self._tokens.append(self._next_token)
        self._loading = True
        turned()

    def _turn_back(self, turned: Callable[[], None]) -> None:
        self.back()
        turned()

    def _resize(self, turned: Callable[[], None]) -> None:
        self.restart()
        turned()
