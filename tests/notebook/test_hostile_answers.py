"""A service that lies in one field of an answer: a public function returns, or raises one SvcError and nothing else."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Request, Response
from tests.closing import end_deliveries
from tests.scripted import Time

LIES: list[Any] = [
    5, -1, "x", "", [], {}, True, 1e300, float("nan"), 10**30, "9" * 5000, [1], {"a": {}}, [[]], "\x1b[31m\n",
    "2026-99-99T00:00:00Z", "0001-01-01T00:00:00+14:00", None,
]  # fmt: skip
WHOLE_ANSWERS = [
    b"", b"[]", b"null", b"{}", b'{"id": 5}', b'{"id": "x"}', b'{"ok": true}', b"<html>", b"\xff", b"[" * 50_000,
]  # fmt: skip
IDS = {"id", "fileId", "resourceId", "nextPageToken"}
BAD_IDS = ["\ud800", "a\0b", "\x1b[31m", "../x", "x" * 5000, "\u202ex"]
ICAL = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1@x\r\nDTSTART:20261102T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
EVENT = {"start": "2026-11-02T10:00Z", "end": "2026-11-02T11:00Z"}
CALLS: dict[str, Callable[[Any, Path], object]] = {
    "upload": lambda made, folder: svc.upload(b"abc", name="x"),
    "media upload": lambda made, folder: svc.upload(b"abc"),
    "resumable upload": lambda made, folder: svc.upload(b"abc", upload_type="resumable"),
    "update": lambda made, folder: svc.update(made.file, b"new"),
    "new fields": lambda made, folder: svc.update(made.file, description="d"),
    "create_file": lambda made, folder: svc.create_file(name="n"),
    "generate_ids": lambda made, folder: svc.generate_ids(3),
    "file": lambda made, folder: svc.file(made.file),
    "trash": lambda made, folder: svc.trash(made.file),
    "files": lambda made, folder: svc.files(fields="*"),
    "move": lambda made, folder: svc.move(made.file, made.folder),
    "copy": lambda made, folder: svc.copy(made.file),
    "token_info": lambda made, folder: svc.token_info(),
    "share": lambda made, folder: svc.share(made.file, "eve@svc.example"),
    "permissions": lambda made, folder: svc.permissions(made.file),
    "unshare": lambda made, folder: svc.unshare(made.file, "bob@svc.example"),
    "delete": lambda made, folder: svc.delete(made.file),
    "untrash": lambda made, folder: svc.untrash(made.file),
    "create_folder": lambda made, folder: svc.create_folder("new"),
    "export": lambda made, folder: svc.export(made.document, "txt", folder),
    "import_formats": lambda made, folder: svc.import_formats(),
    "stop_channel": lambda made, folder: svc.stop_channel(svc.watch_file(made.file, "https://x.example/")),
    "renew_channel": lambda made, folder: svc.renew_channel(svc.watch_file(made.file, "https://x.example/")),
    "delete_event": lambda made, folder: svc.delete_event(made.event),
    "create_calendar": lambda made, folder: svc.create_calendar("New"),
    "share_calendar": lambda made, folder: svc.share_calendar("primary", "bob@svc.example"),
    "free_busy": lambda made, folder: svc.free_busy("primary", time_min="2026-11-02", time_max="2026-11-04"),
    "import_events": lambda made, folder: svc.import_events(ICAL),
    "download": lambda made, folder: svc.download(made.file, folder),
    "download of a folder": lambda made, folder: svc.download(made.folder, folder),
    "read": lambda made, folder: svc.read(made.file),
    "read_frame": lambda made, folder: svc.read_frame(made.file),
    "about": lambda made, folder: svc.about(),
    "export_formats": lambda made, folder: svc.export_formats(),
    "watch_file": lambda made, folder: svc.watch_file(made.file, "https://x.example/"),
    "watch_changes": lambda made, folder: svc.watch_changes("https://x.example/"),
    "changes": lambda made, folder: svc.changes("1"),
    "create_event": lambda made, folder: svc.create_event("E", **EVENT),
    "create_events": lambda made, folder: svc.create_events(pd.DataFrame([EVENT])),
    "event": lambda made, folder: svc.event(made.event),
    "update_event": lambda made, folder: svc.update_event(made.event, summary="z"),
    "events": lambda made, folder: svc.events(),
    "instances": lambda made, folder: svc.instances(made.event),
    "calendars": lambda made, folder: svc.calendars(),
    "event_colors": lambda made, folder: svc.event_colors(),
    "free_times": lambda made, folder: svc.free_times("primary"),
    "calendar_permissions": lambda made, folder: svc.calendar_permissions(),
    "unshare_calendar": lambda made, folder: svc.unshare_calendar("primary", "eve@svc.example"),
    "export_events": lambda made, folder: svc.export_events(to=folder),
}
NEED_A_KIND = ("move", "read_frame")
"""The functions that raise ValueError if the file of an argument is not a folder, or not a table."""


@dataclass
class Liar:
    """Passes requests on, and changes the JSON answer number `answer` at `path`, or the whole answer if that is ()."""

    lab: Any
    answer: int = 0
    path: tuple[Any, ...] = ()
    lie: Any = None
    seen: list[Any] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        response = self.lab.service.handle(request)
        content, value, status = response.content(), None, response.status
        with suppress(ValueError):
            value = json.loads(content)
        if not isinstance(value, dict) and status != 204:
            return Response(status, response.headers, content)
        self.seen.append(value)
        if len(self.seen) == self.answer:
            content = (
                self.lie if isinstance(self.lie, bytes) else json.dumps(changed(value, self.path, self.lie)).encode()
            )
            status = 200 if status == 204 else status
        return Response(status, response.headers.plus(("Content-Length", str(len(content)))), content)


def changed(value: Any, path: tuple[Any, ...], lie: Any) -> Any:
    if path:
        with suppress(LookupError):
            value[path[0]] = changed(value[path[0]], path[1:], lie)
        return value
    return lie


def paths(value: Any, start: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield start
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    few = 1 if isinstance(value, list) else 70 if len(start) < 3 else 3
    for name, member in islice(members, few):
        yield from paths(member, (*start, name))


@pytest.fixture(scope="module")
def made() -> Iterator[SimpleNamespace]:
    """A sandbox with a file in a folder, and a recurring event, in the state to which each call returns."""
    with svc.sandbox() as lab:
        lab.register_domain("x.example")
        folder = svc.create_folder("folder")["id"].item()
        file = svc.upload(b"a,b\n1,2\n", name="a.csv", parent=folder)["id"].item()
        document = svc.upload(b"x", name="a.txt", convert_to="document")["id"].item()
        svc.share(file, "bob@svc.example")
        svc.share_calendar("primary", "eve@svc.example")
        more = {"attendees": ["bob@svc.example"], "recurrence": "daily, 3 times"}
        event = svc.create_event("Tea", **EVENT, time_zone="UTC", **more)
        ids = {"file": file, "folder": folder, "document": document, "event": event["id"].item()}
        yield SimpleNamespace(lab=lab, **ids, state=lab.snapshot())


@pytest.fixture(autouse=True)
def _deliveries_end() -> Iterator[None]:
    yield
    end_deliveries()


@pytest.mark.parametrize("function", CALLS)
def test_a_lie_in_a_field_is_an_error_of_the_service_or_of_no_matter(made, function: str, tmp_path: Path) -> None:
    def call(liar: Liar, number: int) -> str:
        made.lab.restore(made.state)
        (folder := tmp_path / str(number)).mkdir()
        time = Time()
        options = {"retry": RetryRule(patience=3), "clock": time, "sleep": time.sleep}
        session = Session("https://sandbox.svc.example", made.lab.service.sign_in(), handler=liar, **options)
        with warnings.catch_warnings(action="ignore"):
            try:
                with session:
                    CALLS[function](made, folder)
            except svc.SvcError as error:
                return str(error)
            except ValueError:
                assert function in NEED_A_KIND
        return ""

    honest = Liar(made.lab)
    assert call(honest, 0) == ""
    places = [(n, path) for n, value in enumerate(honest.seen, 1) for path in paths(value)]
    lies = [(n, path, LIES[k % len(LIES)]) for k, (n, path) in enumerate(places)]
    wrong: list[Any] = [(n + 1, (), lie) for n in range(len(honest.seen)) for lie in WHOLE_ANSWERS]
    wrong += [(n, path, lie) for n, path in places if path and path[-1] in IDS for lie in BAD_IDS]

    outcomes = [call(Liar(made.lab, *lie), number) for number, lie in enumerate(lies, 1)]
    refusals = [call(Liar(made.lab, *lie), number) for number, lie in enumerate(wrong, len(lies) + 1)]

    assert max(map(len, outcomes), default=0) < 2600
    assert all(refusals) or function == "resumable upload"  # which asks again for the file
    assert not honest.seen or any("not an answer of this service" in outcome for outcome in outcomes)


@pytest.mark.parametrize(
    "call, problem",
    [
        (lambda session: svc.upload(b"abc", session=session), "stored 999 bytes, but the upload has 3"),
        (lambda session: svc.copy("f0" * 10, session=session), "the copy has the id of the original"),
        (lambda session: svc.changes("1", session=session), "a change has no fileId"),
    ],
    ids=["upload", "copy", "changes"],
)
def test_an_answer_that_contradicts_the_request_is_refused(call: Callable[[Session], object], problem: str) -> None:
    answer = {"id": "f0" * 10, "name": "x", "size": "999", "changes": [{"removed": True}], "newStartPageToken": "2"}
    session = Session("https://a.example", handler=lambda request: Response(200, body=json.dumps(answer).encode()))

    with pytest.raises(svc.SvcError, match=problem):
        call(session)
