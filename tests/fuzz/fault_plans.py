"""Random plans of faults, and the three things that a client does under them: upload, download, watch.

A plan never lies about success: no fault answers 200 where nothing was done, for no client could see through that.
Everything else may happen: any refusal, any cut, a 308 with any Range, and each as often as the dice say.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from svc_notebooks.client.notifications.channels import watch
from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.uploads import upload
from svc_notebooks.core.errors.errors import SvcError
from svc_notebooks.core.http.messages import Disconnected, Request, Response
from svc_notebooks.core.notifications.deliveries import RETRIED
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.contents import read_content, save_content
from tests.scripted import Q, Stream

BASE = "http://svc.test"
# Refusals after which a client rightly believes that its session, or its right to it, is gone.
LIES = frozenset({400, 403, 404, 409, 410, 416})

# -- plans -----------------------------------------------------------------------------------------------------------

ENDLESS = 100_000  # more often than anybody has patience for
MOST_TRIES = 60  # a request that brings nothing on is made again for 300 seconds, with waits of 16 seconds on average

REFUSALS = st.sampled_from([302, 304, 400, 401, 403, 404, 408, 409, 410, 412, 416, 429, 499, 500, 502, 503, 504])
WAITS = st.sampled_from(["0", "3", "soon", "-1", "Thu, 01 Jan 2026 00:01:07 GMT"])
RANGES = st.one_of(
    st.integers(0, 4 * Q).map(lambda last: {"Range": f"bytes=0-{last}"}),
    st.sampled_from([{}, {"Range": "bytes=5-9"}, {"Range": "many"}]),
)
BYTES = st.one_of(st.integers(0, 3 * Q), st.sampled_from([0, 1, Q - 1, Q, Q + 1, 2 * Q]))
ACTIONS = st.one_of(
    st.builds(lambda status: {"status": status}, REFUSALS),
    st.builds(lambda status, wait: {"status": status, "headers": {"Retry-After": wait}}, REFUSALS, WAITS),
    st.builds(lambda headers: {"status": 308, "headers": headers, "body": ""}, RANGES),
    st.builds(lambda moment: {"reset": moment}, st.sampled_from(["before", "after"])),
    st.builds(lambda size: {"cut_request_after": size}, BYTES),
    st.builds(lambda size: {"cut_response_after": size}, BYTES),
)


def steps(*operations: str) -> st.SearchStrategy[dict[str, Any]]:
    optional = {"operation": st.sampled_from(operations), "nth": st.integers(1, 5), "method": st.just("PUT")}
    aims = st.fixed_dictionaries({}, optional=optional)
    times = st.sampled_from([1, 1, 1, 2, 3, 8, ENDLESS])
    return st.fixed_dictionaries({"match": aims, "times": times, "action": ACTIONS})


def plans(*operations: str) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(steps(*operations), min_size=1, max_size=5)
    return st.fixed_dictionaries({"steps": some, "in_order": st.booleans()})


# -- a service, and a client on its clock ----------------------------------------------------------------------------


@dataclass
class Lab:
    """A service that is emptied before each run; `carry` says how requests reach it."""

    service: Service = field(default_factory=lambda: open_service(seed=3, policy=POLICY, background=False))
    base_url: str | None = None
    folder: Path = Path()
    chosen: str = ""
    requests_before: int = 0

    def begin(self, plan: dict[str, Any] | None = None) -> Session:
        """A client of an empty service in which this plan is in force."""
        self.service.clear_faults()
        self.service.reset()
        self.service.register_domain("hooks.example")
        session = self.client()
        self.chosen = str(session.call("GET", "/storage/v3/files/generateIds", query={"count": 1})["ids"][0])
        self.requests_before = self.requests
        if plan:
            self.service.add_faults(plan)
        return session

    def client(self) -> Session:
        clock, token = self.service.virtual_clock(), self.service.sign_in(token="token-of-ada")
        options = {} if self.base_url else {"handler": self.service.handle}
        options |= {"clock": clock, "sleep": clock.advance, "random": Random(1), "state_dir": self.folder / "state"}
        return Session(self.base_url or BASE, token, **options)

    @property
    def fired(self) -> list[tuple[dict[str, Any], int]]:
        """Each step's action, and how often it struck."""
        return [(step["action"], step["fired"]) for plan in self.service.fault_plans() for step in plan["steps"]]

    @property
    def struck(self) -> int:
        return sum(times for _, times in self.fired)

    @property
    def lies(self) -> int:
        return sum(times for action, times in self.fired if action.get("status") in LIES)

    @property
    def requests(self) -> int:
        return len(self.service.journal())

    def files(self) -> list[dict[str, Any]]:
        """What is there in the end, asked without faults."""
        with self.client() as session:
            return list(session.call("GET", "/storage/v3/files", query={"fields": "files(id,name,size)"})["files"])

    def content(self, file_id: str) -> bytes:
        with self.client() as session:
            return read_content(session, file_id)


POLICY = Policy(takeover_after=0.05, channel_lifetime=86_400.0)

# -- upload ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Upload:
    size: int
    kind: str
    source: str
    chunks: int
    generated_id: bool
    plan: dict[str, Any]

    @property
    def content(self) -> bytes:
        return Random(self.size).randbytes(self.size)

    @property
    def most_requests(self) -> int:
        """What an undisturbed upload asks, and a look at what is there: no fault costs more than to begin anew."""
        chunks = 1 if self.chunks < 0 else -(-self.size // (self.chunks * Q))
        return 1 + self.chooses if self.kind != "resumable" else 3 + self.chooses + chunks

    @property
    def chooses(self) -> bool:
        """Whether the id is chosen before; a simple upload has nowhere to say it."""
        return self.generated_id and self.kind != "media"

    def source_of(self, folder: Path) -> Any:
        if self.source == "path":
            path = folder / "a.bin"
            if not path.exists():  # written again it would be another source
                path.write_bytes(self.content)
            return path
        return Stream(self.content) if self.source == "stream" else self.content

    def send(self, lab: Lab, session: Session) -> dict[str, Any]:
        options: dict[str, Any] = {"upload_type": self.kind, "name": None if self.kind == "media" else "a.bin"}
        if self.kind == "resumable":
            options["chunk_size"] = self.chunks * Q if self.chunks > 0 else -1
        if self.chooses:
            options["metadata"] = {"id": lab.chosen}
        return dict(upload(session, self.source_of(lab.folder), **options))


UPLOADS = st.builds(
    Upload,
    st.one_of(st.integers(0, 4 * Q), st.sampled_from([0, 1, Q, Q + 1, 2 * Q])),
    st.sampled_from(["media", "multipart", "resumable", "resumable", "resumable"]),
    st.sampled_from(["bytes", "path", "stream"]),
    st.sampled_from([-1, 1, 2, 3]),
    st.booleans(),
    plans("files.create", "upload.session", "files.get"),
)


def run_upload(lab: Lab, upload: Upload) -> str:
    """One upload under its plan, and once more without it where it failed. What became of it, in a word."""
    session = lab.begin(upload.plan)
    error = _error_of(lambda: upload.send(lab, session))
    _check_bound(lab, upload.most_requests)
    lies = lab.lies
    lab.service.clear_faults()
    if error is not None:
        _go_on(lab, upload)
    _check_files(lab, upload, lab.files(), lies)
    return "success" if error is None else type(error).__name__


def _error_of(act: Callable[[], object]) -> SvcError | None:
    """What a person is told; nothing else than an SvcError may come out, and it has to say something."""
    failure: SvcError | None = None
    try:
        act()
    except SvcError as error:
        failure = error
    assert failure is None or len(str(failure)) > 10
    return failure


def _check_bound(lab: Lab, whole: int) -> None:
    request_count = lab.requests - lab.requests_before
    assert request_count <= (1 + min(lab.struck, MOST_TRIES)) * whole, f"{request_count} after {lab.struck} faults"


def _go_on(lab: Lab, upload: Upload) -> None:
    """As the error says: the same call again; of one request, of a stream and with an id chosen, look first."""
    if lab.files() and (upload.kind != "resumable" or upload.source == "stream" or upload.chooses):
        return
    file = upload.send(lab, lab.client())
    assert lab.content(file["id"]) == upload.content


def _check_files(lab: Lab, upload: Upload, files: list[dict[str, Any]], lies: int) -> None:
    """One file, unless a refusal made the client believe that it had nothing yet."""
    assert 1 <= len(files) <= 1 + (0 if upload.chooses else lies), [file["id"] for file in files]
    for file in files:
        assert lab.content(file["id"]) == upload.content
    assert not upload.chooses or files[0]["id"] == lab.chosen


# -- download --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Download:
    size: int
    first: int | None
    count: int
    to_disk: bool
    plan: dict[str, Any]

    @property
    def content(self) -> bytes:
        return Random(self.size).randbytes(self.size)

    @property
    def expected(self) -> bytes:
        return self.content if self.first is None else self.content[self.first : self.first + self.count]

    def fetch(self, session: Session, file_id: str, folder: Path) -> bytes:
        byte_range = None if self.first is None else (self.first, self.first + self.count - 1)
        if not self.to_disk:
            return read_content(session, file_id, byte_range=byte_range)
        target = folder / "down.bin"
        target.unlink(missing_ok=True)
        return save_content(session, file_id, target, byte_range=byte_range).path.read_bytes()


@st.composite
def _downloads(draw: st.DrawFn) -> Download:
    size = draw(st.one_of(st.integers(1, 4 * Q), st.sampled_from([1, Q, 2 * Q])))
    first = draw(st.none() | st.integers(0, size - 1))
    count = draw(st.integers(1, size - (first or 0)))
    return Download(size, first, count, draw(st.booleans()), draw(plans("files.get")))


DOWNLOADS = _downloads()


def run_download(lab: Lab, download: Download) -> str:
    """One download under its plan, and the same call again where it failed."""
    session = lab.begin()
    file_id = upload(session, download.content, upload_type="media")["id"]
    lab.requests_before = lab.requests
    lab.service.add_faults(download.plan)
    got: list[bytes] = []
    error = _error_of(lambda: got.append(download.fetch(session, str(file_id), lab.folder)))
    _check_bound(lab, 3)
    lab.service.clear_faults()
    if error is not None:
        assert not (lab.folder / "down.bin").exists(), "what is not whole is not there"
        got.append(download.fetch(lab.client(), str(file_id), lab.folder))
    assert got[-1] == download.expected
    return "success" if error is None else type(error).__name__


# -- watch -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Watch:
    """How often a file changes under a channel, and what the receiver answers."""

    changes: int
    answers: tuple[int, ...]
    plan: dict[str, Any]


WATCHES = st.builds(
    Watch,
    st.integers(0, 6),
    st.lists(st.sampled_from([0, 102, 200, 201, 204, 301, 400, 404, 410, 500, 502, 503, 504]), max_size=12).map(tuple),
    plans("files.watch", "files.update", "channels.stop"),
)
ADDRESS = "https://hooks.example/in"


class Receiver:
    """Answers as it was told, then 200; 0 hangs up."""

    def __init__(self, answers: tuple[int, ...]) -> None:
        self._answers: Iterator[int] = iter(answers)
        self.tries: list[tuple[str, int, str, int]] = []

    def __call__(self, request: Request) -> Response:
        status, headers = next(self._answers, 200), request.headers
        number = int(headers["X-Svc-Message-Number"])
        self.tries.append((headers["X-Svc-Channel-ID"], number, headers["X-Svc-Resource-State"], status))
        if not status:
            raise Disconnected("the receiver hung up")
        return Response(status)


def run_watch(lab: Lab, plan: Watch) -> str:
    """A channel and changes under a plan: what is told is what happened, in order, and nothing twice."""
    session = lab.begin()
    file_id = str(session.call("POST", "/storage/v3/files", body={"name": "watched"})["id"])
    receiver = Receiver(plan.answers)
    lab.service.receive_at(ADDRESS, receiver)
    before = lab.requests
    lab.service.add_faults(plan.plan)
    opened: list[str] = []
    error = _error_of(lambda: opened.append(_open(session, file_id)))
    for n in range(plan.changes):
        error = _error_of(lambda n=n: _rename(session, file_id, n)) or error
    calls = 6 + plan.changes
    assert lab.requests - before <= min(calls + 2 * lab.struck, calls * MOST_TRIES)
    settled = bool(opened) and not _struck_while_stopping(lab)
    lab.service.clear_faults()
    if not opened:
        opened.append(_open(lab.client(), file_id))
    lab.service.deliver()
    lab.service.virtual_clock().advance(600)
    received = len(receiver.tries)
    _rename(lab.client(), file_id, 99)
    lab.service.deliver()
    lab.service.virtual_clock().advance(600)
    _check_told(lab, receiver, opened[-1])
    assert not settled or {name for name, *_ in receiver.tries[received:]} == {opened[-1]}, "on one channel, not on two"
    return "success" if error is None else type(error).__name__


def _struck_while_stopping(lab: Lab) -> bool:
    return any(row["operation"] == "channels.stop" and row["fault"] for row in lab.service.journal())


def _open(session: Session, file_id: str) -> str:
    return watch(session, file_id, {"address": ADDRESS}).id


def _rename(session: Session, file_id: str, n: int) -> None:
    session.call("PATCH", f"/storage/v3/files/{file_id}", body={"name": f"n{n}"})


def _check_told(lab: Lab, receiver: Receiver, channel: str) -> None:
    mine = [(number, state, status) for name, number, state, status in receiver.tries if name == channel]
    numbers = [number for number, _, _ in mine]
    assert numbers == sorted(numbers), "in order"
    assert mine[0][:2] == (1, "sync"), "the first message says that the channel is there"
    assert all(state == "update" for number, state, _ in mine if number > 1)
    for (first, _, status), (second, _, _) in pairwise(mine):
        assert first != second or status in RETRIED, "told again only where the receiver asked for it"
    assert max(map(numbers.count, numbers)) <= lab.service.policy.delivery_attempts
    gaps = len(set(numbers)) - 1
    done = [row for row in lab.service.journal() if row["operation"] == "files.update" and row["status"] == 200]
    watched = [row for row in lab.service.journal() if row["operation"] == "files.watch" and row["status"] == 200]
    opened = max(row["n"] for row in watched)
    assert gaps == len([row for row in done if row["n"] > opened]), "every change since, once"
