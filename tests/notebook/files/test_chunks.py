import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.client.events.events import list_event_pages
from svc_notebooks.client.files import list_file_pages
from svc_notebooks.client.session import Session
from svc_notebooks.core.http.messages import Request, Response
from svc_notebooks.notebook.frames import FILES, concatenate, frame

NAMES = [f"{n}.txt" for n in range(7)]


@pytest.fixture
def lab() -> Iterator[svc.Sandbox]:
    with svc.sandbox() as lab:
        svc.upload([b"x"] * len(NAMES), name=NAMES)
        yield lab


def test_chunks_have_the_rows_numbers_and_columns_of_the_whole_list(lab: svc.Sandbox) -> None:
    whole = svc.files(order_by="name")
    chunks = list(svc.files(order_by="name", chunksize=3))

    assert [len(chunk) for chunk in chunks] == [3, 3, 1]
    assert [chunk.index[0] for chunk in chunks] == [0, 3, 6]
    assert all(chunk.dtypes.equals(whole.dtypes) for chunk in chunks)
    pd.testing.assert_frame_equal(pd.concat(chunks), whole)
    assert [len(chunk) for chunk in svc.files(chunksize=3, limit=6)] == [3, 3]
    assert [len(chunk) for chunk in svc.files(name="*.txt", chunksize=2, limit=3)] == [2, 1]
    for conditions in ({"name": "none"}, {"name": []}, {"limit": 0}):
        (chunk,) = svc.files(chunksize=3, **conditions)
        assert chunk.empty
        assert chunk.dtypes.equals(whole.dtypes)
    for chunksize, error in ((0, ValueError), ("3", TypeError)):
        with pytest.raises(error, match="chunksize"):
            svc.files(chunksize=chunksize)


def test_closing_the_chunks_stops_the_requests(lab: svc.Sandbox) -> None:
    before = len(svc.exchanges())
    chunks = svc.files(chunksize=2)
    next(chunks)

    chunks.close()

    assert list(chunks) == []
    assert len(svc.exchanges()) - before == 2  # of four pages


class Pages:
    """A service with three pages of files or events, which notes the thread of each request."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.second = threading.Event()
        self.session = Session("https://svc.test", handler=self._handle)
        self.session.in_process = False  # as over a socket

    def _handle(self, request: Request) -> Response:
        self.threads.append(threading.current_thread().name)
        if len(self.threads) == 2:
            self.second.set()
        number, key = len(self.threads), "items" if request.path.endswith("/events") else "files"
        token = f', "nextPageToken": "{number}"' if number < 3 else ""
        return Response(200, body=f'{{"{key}": [{{"id": "{number}"}}]{token}}}'.encode())


LISTS: dict[str, Callable[[Session], Generator[list[Any], None, None]]] = {
    "files": lambda session: list_file_pages(session, ahead=True),
    "events": lambda session: list_event_pages(session, "primary", {}),
}


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
def test_the_next_page_is_requested_while_a_page_is_used(listed):
    service = Pages()
    pages = listed(service.session)

    assert next(pages) == [{"id": "1"}]
    assert service.second.wait(10)
    assert list(pages) == [[{"id": "2"}], [{"id": "3"}]]
    assert len(set(service.threads[1:])) == 1
    assert service.threads[0] == threading.current_thread().name != service.threads[1]


def test_no_page_is_requested_ahead_beyond_the_limit_or_after_the_end() -> None:
    service = Pages()

    assert list(list_file_pages(service.session, limit=2, ahead=True)) == [[{"id": "1"}], [{"id": "2"}]]
    assert len(service.threads) == 2


def test_a_name_that_arrow_cannot_store_does_not_change_the_dtype_of_a_long_list() -> None:
    joined = concatenate(FILES, [frame(FILES, [{"name": "a"}]), frame(FILES, [{"name": "\ud800"}])])

    assert joined["name"].tolist() == ["a", "\ud800"]
    assert joined.dtypes.astype(str).to_dict() == FILES.dtypes
