"""Measures reading one file's metadata in the sandbox: the whole call, without a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests
import responses
from requests.adapters import BaseAdapter

from bench.rounds import alternate, median_of
from bench.table import Row, at_most, compare, microseconds
from svc_notebooks.client.files import get_file
from svc_notebooks.client.session import Session
from svc_notebooks.notebook.files.files import upload
from svc_notebooks.notebook.sandbox.sandbox import sandbox

CALLS = 1000
ROUNDS = 9


class ConstantAdapter(BaseAdapter):
    """The least that an adapter can do: the same answer to everything."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = content

    def send(self, request: requests.PreparedRequest, *_: object, **options: object) -> requests.Response:
        answer = requests.Response()
        answer.status_code = 200
        answer.headers["Content-Type"] = "application/json; charset=UTF-8"
        answer.url = request.url or ""
        answer.request = request
        answer._content = self._content
        return answer

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def one_file() -> Iterator[tuple[Session, str]]:
    """A sandbox with a file in it: its session and the file's id."""
    with sandbox() as lab:
        row = upload(b"a,b\n1,2\n", name="table.csv", session=lab.session)
        yield lab.session, str(row["id"].iloc[0])


def metadata() -> Iterator[Row]:
    """Beside what `requests` costs when the other side costs nothing, and beside `responses`."""
    with one_file() as (session, file_id), responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        get_file(session, file_id)
        url = session.exchanges[-1].url
        content = session.send(session.request("GET", url.removeprefix(session.base_url))).content()
        mock.get(url, body=content, content_type="application/json; charset=UTF-8")
        costs = alternate(
            {
                "ours": median_of(lambda: get_file(session, file_id), CALLS),
                "constant": median_of(_asked_by(_with_adapter(content), url), CALLS),
                "responses": median_of(_asked_by(_signed_in(), url), CALLS),
            },
            ROUNDS,
        )
    work = "one file's metadata in the sandbox"
    constant = "requests, adapter with a constant answer"
    yield compare(work, costs["ours"], costs["constant"], constant, at_most(1.3), microseconds)
    yield compare(work, costs["ours"], costs["responses"], "responses", at_most(0.75), microseconds)


def _asked_by(web: requests.Session, url: str) -> Callable[[], Any]:
    return lambda: web.get(url).json()


def _signed_in() -> requests.Session:
    web = requests.Session()
    web.headers["Authorization"] = "Bearer bench"
    return web


def _with_adapter(content: bytes) -> requests.Session:
    web = _signed_in()
    web.mount("https://", ConstantAdapter(content))
    return web
