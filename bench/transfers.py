"""256 MiB between this process and one served process: up by ours and by stock clients, down by ours and curl."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from bench import peers, processes
from bench.processes import MIB, TOKEN, Served, big_file, folder
from bench.rounds import Costs, Run, Stopwatch, alternate, timed
from bench.table import Row, at_least, at_most, compare, milliseconds, rate
from svc_notebooks.client.files import delete_file
from svc_notebooks.client.session import Session
from svc_notebooks.client.uploads.uploads import start_upload, upload
from tests.contents import save_content

SIZE = 256
ROUNDS, MORE_ROUNDS = 9, 15  # more on a disk, whose waits differ
SERVICES = 3  # for small chunks, because two processes with the same code can differ by a tenth
LARGE = 8 * MIB
SMALL = 256 * 1024

GOOGLE_API = "google-api-python-client"
GOOGLE_MEDIA = "google-resumable-media"


def upload_in_large_chunks() -> Iterator[Row]:
    """Chunks of the default size."""
    costs = _uploads(LARGE, MORE_ROUNDS, on_disk=True)
    work, ours, show = f"upload {SIZE} MiB in 8 MiB chunks", costs["ours"], rate(SIZE)
    yield compare(work, ours, costs["bare"], "one bare streamed PUT, requests", at_least(0.9), show)
    tuned = compare(work, ours, costs["tuned"], "the same, http.client with 1 MiB blocks", at_least(0.8), show)
    yield replace(tuned, goal="", held="")
    yield compare(work, ours, costs[GOOGLE_API], GOOGLE_API, at_least(1.5), show)
    yield compare(work, ours, costs[GOOGLE_MEDIA], GOOGLE_MEDIA, at_least(0.9), show)


def upload_in_small_chunks() -> Iterator[Row]:
    """The smallest chunks that the interface allows: 1024 requests. The rounds belong to several services.

    Not on a disk: the time that ext4 takes to make a file grows by milliseconds with the files that were deleted
    lately, every round deletes a thousand, and no client is the better for that.
    """
    services = [_uploads(SMALL, ROUNDS, on_disk=False) for _ in range(SERVICES)]
    costs = {name: tuple(cost for rounds in services for cost in rounds[name]) for name in services[0]}
    work, ours, show = f"upload {SIZE} MiB in 256 KiB chunks", costs["ours"], rate(SIZE)
    yield compare(work, ours, costs[GOOGLE_MEDIA], GOOGLE_MEDIA, at_least(2), show)
    yield compare(work, ours, costs[GOOGLE_API], GOOGLE_API, at_least(1.3), show)


@contextmanager
def _stored(*, on_disk: bool) -> Iterator[tuple[Served, Path]]:
    """A service that keeps everything in a folder, and another folder beside that."""
    with ExitStack() as stack:
        directory = stack.enter_context(folder(on_disk=on_disk))
        yield stack.enter_context(processes.ours(directory / "store")), directory


def _uploads(chunk: int, rounds: int, *, on_disk: bool) -> dict[str, Costs]:
    with _stored(on_disk=on_disk) as (served, directory):
        path = big_file(directory, SIZE)
        uploaders = {
            "ours": peers.ours(served, directory / "state", chunk),
            GOOGLE_API: peers.google_api_client(served, chunk),
            GOOGLE_MEDIA: peers.google_resumable_media(served, chunk),
        }
        if chunk == LARGE:  # they send one request, whatever the size of the chunks
            uploaders |= {"bare": peers.streamed_put(served), "tuned": peers.tuned_put(served)}
        session = Session(served.base_url, TOKEN)
        runs = {name: _uploading(uploader, path, session) for name, uploader in uploaders.items()}
        return alternate(runs, rounds)


def _uploading(send: peers.Uploader, path: Path, session: Session) -> Run:
    """The cost of an upload; what it made is deleted on nobody's time."""

    def run() -> float:
        watch = Stopwatch()
        file_id = send(path)
        cost = watch.stop()
        delete_file(session, file_id)
        return cost

    return run


def resumed_upload() -> Iterator[Row]:
    """The second half of an upload, and the comparison of the digest of the service with one of the whole file."""
    with _stored(on_disk=True) as (served, directory):
        path = big_file(directory, SIZE)
        session = Session(served.base_url, TOKEN, state_dir=directory / "state")
        algorithms = ("sha256", "sha256", "sha1", "md5")  # one of ours, and the three that the service computes
        costs = alternate(
            {"ours": _resuming(session, path), "hashlib": timed(lambda: [_digest(path, name) for name in algorithms])},
            ROUNDS,
        )
    work, name = f"resume an upload of {SIZE} MiB at its half", "hashing alone, four digests of hashlib"
    yield compare(work, costs["ours"], costs["hashlib"], name, at_most(1.5), milliseconds)


def _resuming(session: Session, path: Path) -> Run:
    """The cost of what is left after half of the chunks. What it made is deleted on nobody's time."""

    def run() -> float:
        begun = start_upload(session, path)
        for _ in range(SIZE * MIB // LARGE // 2):
            begun.send_chunk()
        watch = Stopwatch()
        file = upload(session, path)
        cost = watch.stop()
        delete_file(session, file["id"])
        return cost

    return run


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def download_to_disk() -> Iterator[Row]:
    """The same file to the same disk."""
    with _stored(on_disk=True) as (served, directory):
        session = Session(served.base_url, TOKEN, state_dir=directory / "state")
        file_id = peers.ours(served, directory / "state", LARGE)(big_file(directory, SIZE))
        url = f"{served.base_url}/storage/v3/files/{file_id}?alt=media"
        target = directory / "copy"
        command = ["curl", "--silent", "--fail", "-H", f"Authorization: Bearer {TOKEN}", "-o", str(target), url]
        costs = alternate(
            {
                "ours": _fresh(timed(lambda: save_content(session, file_id, target)), target),
                "curl": _fresh(timed(lambda: subprocess.run(command, check=True)), target),
            },
            ROUNDS,
        )
    yield compare(f"download {SIZE} MiB to disk", costs["ours"], costs["curl"], "curl", at_least(1.1), rate(SIZE))


def _fresh(run: Run, target: Path) -> Run:
    """Run, and leave no target behind: the next one finds an empty place."""

    def fresh() -> float:
        cost = run()
        assert target.stat().st_size == SIZE * MIB
        target.unlink()
        return cost

    return fresh
