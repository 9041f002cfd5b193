"""Two processes on one store: nothing is lost, hidden, doubled or kept for too long."""

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from itertools import cycle
from random import Random
from threading import Event
from typing import Any

import pytest

from svc_notebooks.server.notifications.delivery_queue import MOST_LEASED
from svc_notebooks.server.store.blob_store import StoredPart
from tests.contract.apps import FORM
from tests.contract.wire import InProcess
from tests.patience import PATIENCE, until
from tests.receivers import Receiver, receiver as receiving
from tests.scale.conftest import Place, empty_database
from tests.scale.dropping_proxy import DroppingProxy, dropping_proxy
from tests.scale.workers import Worker, call, round_robin, sent, workers

pytestmark = pytest.mark.scale

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"
FULL = bool(os.environ.get("SVC_SCALE_FULL"))
"""Whether the numbers of issue 25 are reached, which takes several minutes."""


def at_once(*functions: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result() for future in [pool.submit(function) for function in functions]]


@pytest.fixture(scope="module")
def pair(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Worker]]:
    """Two processes that serve one store, for all tests that do not end a process."""
    with (
        empty_database(server) as address,
        workers(Place(address, tmp_path_factory.mktemp("pair") / "content"), 2, "t") as running,
    ):
        yield running


def test_no_update_is_lost(pair: list[Worker]) -> None:
    first, second = pair
    file = sent(first, "POST", FILES, {"name": "shared"})["id"]
    lost = 0
    for number in range(1000 if FULL else 60):
        at_once(
            lambda key=f"a{number}": sent(first, "PATCH", f"{FILES}/{file}", {"properties": {key: "1"}}),
            lambda key=f"b{number}": sent(second, "PATCH", f"{FILES}/{file}", {"properties": {key: "1"}}),
        )
        properties = sent(first, "GET", f"{FILES}/{file}?fields=properties")["properties"]
        lost += {f"a{number}", f"b{number}"} != properties.keys()
        clear = {key: None for key in properties}
        sent(second, "PATCH", f"{FILES}/{file}", {"properties": clear})

    assert lost == 0


def test_no_change_is_hidden_from_a_list_of_changes(pair: list[Worker]) -> None:
    number = 5000 if FULL else 150
    token = sent(pair[0], "GET", "/storage/v3/changes/startPageToken")["startPageToken"]

    def create(worker: Worker) -> list[str]:
        return [sent(worker, "POST", f"{FILES}?fields=id", {})["id"] for _ in range(number)]

    def follow() -> list[str]:
        seen, position = list[str](), token
        readers, rest = cycle(pair), 2 * number // 100 + 2
        while rest:
            rest -= bool(done) or len(set(seen)) == 2 * number
            page = sent(next(readers), "GET", f"/storage/v3/changes?pageToken={position}&pageSize=100")
            seen.extend(change["fileId"] for change in page["changes"])
            position = page.get("nextPageToken") or page["newStartPageToken"]
        return seen

    done: list[bool] = []
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(follow)
        created = at_once(lambda: create(pair[0]), lambda: create(pair[1]))
        done.append(True)
        seen = following.result()

    assert set(created[0] + created[1]) - set(seen) == set()


def test_no_change_is_hidden_from_an_incremental_sync(pair: list[Worker]) -> None:
    number = 300 if FULL else 40
    event = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}

    def create(worker: Worker) -> list[str]:
        return [sent(worker, "POST", EVENTS, event)["id"] for _ in range(number)]

    token = sent(pair[0], "GET", EVENTS)["nextSyncToken"]
    seen = set[str]()
    done: list[bool] = []

    def follow() -> None:
        position, last = token, False
        while not last:
            last = bool(done)
            page = sent(pair[len(seen) % 2], "GET", f"{EVENTS}?syncToken={position}&maxResults=2500")
            seen.update(each["id"] for each in page["items"])
            position = page["nextSyncToken"]

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(follow)
        created = at_once(lambda: create(pair[0]), lambda: create(pair[1]))
        done.append(True)
        following.result()

    assert set(created[0] + created[1]) - seen == set()


@contextmanager
def killing(running: list[Worker], seconds: float) -> Iterator[list[int]]:
    """Kill the second worker and start it again and again during a `with` block. The list has the ids of the killed."""
    done, killed = Event(), list[int]()

    def kill_and_restart() -> None:
        while not done.wait(seconds):
            killed.append(running[1].process_id)
            running[1].kill()
            running[1].start()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(kill_and_restart)
        try:
            yield killed
        finally:
            done.set()
            future.result()
            running[1].close()


def test_the_chunks_of_an_upload_reach_different_processes(each_place: Place) -> None:
    random = Random(0)
    with workers(each_place, 2, "t") as running, round_robin(running) as address:
        for _ in range(200 if FULL else 8):
            content = random.randbytes(random.randrange(2 * CHUNK, 5 * CHUNK))

            assert upload(address, content, is_killed=False) == {"md5Checksum": hashlib.md5(content).hexdigest()}


def test_uploads_go_on_while_a_process_is_killed_again_and_again(each_place: Place) -> None:
    number, random = 2000 if FULL else 12, Random(1)
    contents = [random.randbytes(random.randrange(2 * CHUNK, 4 * CHUNK)) for _ in range(min(number, 30))]
    rows = list[dict[str, str]]()
    with workers(each_place, 2, "t") as running, round_robin(running) as address:
        with killing(running, 5 if FULL else 1) as killed:
            while len(rows) < number or len(killed) < 2:
                rows.append(upload(address, contents[len(rows) % len(contents)]))
        listed = sent(running[0], "GET", f"{FILES}?pageSize=1000&fields=files(id,md5Checksum)")["files"]
    print(f"{len(rows)} uploads, {len(killed)} kills")

    checksums = [hashlib.md5(content).hexdigest() for content in contents]
    assert [row["md5Checksum"] for row in rows] == [checksums[each % len(contents)] for each in range(len(rows))]
    assert len(listed) == min(len(rows), 1000)


CHUNK = 262_144


def upload(address: str, content: bytes, *, is_killed: bool = True) -> dict[str, str]:
    """Upload a file in chunks, and ask for the stored bytes after a request without a response of a killed process."""
    _, headers, _ = answered(lambda: call(address, "POST", "/upload/storage/v3/files?uploadType=resumable", {}))
    size = len(content)
    target, offset = "/upload/" + headers["Location"].partition("/upload/")[2], 0
    while True:
        block = content[offset : offset + CHUNK]
        span = f"bytes {offset}-{offset + len(block) - 1}/{size}"
        try:
            status, headers, body = call(address, "PUT", target, block, Content_Range=span)
        except (OSError, HTTPException):
            assert is_killed
            query = partial(call, address, "PUT", target, b"", Content_Range=f"bytes */{size}")
            status, headers, body = answered(query)
        if status == 200:
            file = f"{FILES}/{json.loads(body)['id']}?fields=md5Checksum"
            row: dict[str, str] = answered(partial(sent, address, "GET", file))
            return row
        assert status == 308, (status, body)
        stored = int(headers["Range"].rpartition("-")[2]) + 1 if headers["Range"] else 0
        assert is_killed or stored == offset + len(block)
        offset = stored


def answered(request: Callable[[], Any]) -> Any:
    """Send a request until a process responds."""
    for _ in range(1000):
        try:
            return request()
        except (OSError, HTTPException):
            continue
    raise AssertionError("no process responds")


def test_a_request_that_claimed_a_session_earlier_cannot_change_it(place: Place) -> None:
    with place.opened(shared=True) as first, place.opened(shared=True) as second:
        first.sign_in(token="t")
        stores = [service._context.store for service in (first, second)]
        wire = InProcess(first, "http://svc.test")
        key = wire.begin({"name": "x"}).partition("upload_id=")[2].partition("&")[0]
        early = stores[0].upload_sessions.claim(key)
        late = stores[1].upload_sessions.claim(key)
        assert early
        assert late

        assert not stores[0].upload_sessions.save(early._replace(stored=1))
        assert stores[1].upload_sessions.save(late._replace(stored=2))
        assert stores[0].upload_sessions.get(key).stored == 2


def test_a_revoked_token_is_refused_by_the_other_process(pair: list[Worker]) -> None:
    first, second = pair
    token = sent(first, "POST", "/_control/tokens", {"user": "bob@svc.example"})["access_token"]
    assert call(second, "GET", FILES, token=token)[0] == 200
    assert call(first, "POST", "/revoke", f"token={token}".encode(), Content_Type=FORM["Content-Type"])[0] == 200

    assert call(second, "GET", FILES, token=token)[0] == 401


def test_the_start_of_a_process_keeps_the_unfinished_parts_of_another(each_place: Place) -> None:
    with each_place.opened(shared=True) as first:
        writer = first._context.content.parts.writer()
        writer.write(b"half")
        with each_place.opened(shared=True):
            writer.write(b" whole")
            part = StoredPart(writer.commit(), writer.size, writer.checksum)

        assert b"".join(first._context.content.parts.read(part, 0, 10)) == b"half whole"


def test_a_download_goes_on_when_another_process_deletes_the_file(each_place: Place) -> None:
    with each_place.opened(shared=True) as first, each_place.opened(shared=True) as second:
        wire, other = InProcess(first, "http://svc.test"), InProcess(second, "http://svc.test")
        file = wire.create(b"kept")
        content = first._context.store.files.get(file["id"]).content
        reader = first._context.content.read(content, 0, 4)
        other.send("DELETE", f"{FILES}/{file['id']}")

        assert b"".join(reader) == b"kept"
        assert len(each_place.execute("SELECT part FROM svc_discarded")) == 1
        each_place.execute("UPDATE svc_discarded SET since = since - interval '2 hours'")
        gone = wire.create(b"gone")
        wire.send("DELETE", f"{FILES}/{gone['id']}")
        assert len(list(first._context.content.parts.listed())) == 1


def test_a_snapshot_is_refused(place: Place) -> None:
    with workers(place, 1, "t") as (worker,):
        status, _, text = call(worker, "POST", "/_control/snapshot", {})

    assert status == 400
    assert "several processes share this store" in json.loads(text)["error"]["message"]


def test_a_process_that_shares_and_one_that_does_not_exclude_each_other(place: Place) -> None:
    with place.opened(shared=True), pytest.raises(OSError, match="in use by another service"):
        place.opened()


def watched_files(running: list[Worker], receiver: Receiver, number: int) -> list[str]:
    """Create files and watch each of them."""
    sent(running[0], "POST", "/_control/domains", {"domain": "localhost"})
    sent(running[0], "POST", "/_control/trust", {"ca_pem": receiver.ca_pem})
    files = [sent(running[0], "POST", FILES, {})["id"] for _ in range(number)]
    for number, file in enumerate(files):
        body = {"id": f"c{number}", "type": "web_hook", "address": receiver.address}
        sent(running[number % len(running)], "POST", f"{FILES}/{file}/watch", body)
    return files


def numbers_by_channel(arrived: Iterable[tuple[str | None, int]]) -> list[list[int]]:
    """Return the numbers of the messages of each channel, in the order in which they arrived."""
    numbers: dict[str | None, list[int]] = {}
    for channel, number in arrived:
        numbers.setdefault(channel, []).append(number)
    return list(numbers.values())


def test_every_message_is_sent_once_and_in_order(pair: list[Worker]) -> None:
    channels, changes = (100, 10) if FULL else (12, 8)
    with receiving() as receiver:
        files = watched_files(pair, receiver, channels)

        def change(worker: Worker) -> None:
            for number in range(changes):
                for file in files:
                    sent(worker, "PATCH", f"{FILES}/{file}", {"description": f"{number}"})

        at_once(lambda: change(pair[0]), lambda: change(pair[1]))
        receiver.wait_for(channels * (2 * changes + 1))
    numbers = numbers_by_channel(arrived_at(receiver))

    assert {len(each) for each in numbers} == {2 * changes + 1}
    assert all(each == sorted(set(each)) for each in numbers)


def test_each_message_arrives_in_order_while_a_process_is_killed_again_and_again(place: Place) -> None:
    channels, changes, rounds = 1000 if FULL else 40, 4, 0
    with receiving() as receiver, workers(place, 2, "t") as running, killing(running, 5 if FULL else 2) as killed:
        files = watched_files(running[:1], receiver, channels)
        while rounds < changes or len(killed) < 2:
            rounds += 1
            for file in files:
                sent(running[0], "PATCH", f"{FILES}/{file}", {"description": f"{rounds}"})
        with receiver.arrived:
            expected = channels * (rounds + 1)
            complete = receiver.arrived.wait_for(lambda: len(set(arrived_at(receiver))) == expected, PATIENCE)
    arrived = arrived_at(receiver)
    twice = len(arrived) - len(set(arrived))
    print(f"{len(arrived)} messages of {channels} channels, {twice} of them again, {len(killed)} kills")

    assert complete
    assert all(numbers == sorted(numbers) for numbers in numbers_by_channel(arrived))
    assert twice <= len(killed) * MOST_LEASED


def arrived_at(receiver: Receiver) -> list[tuple[str | None, int]]:
    """Return the channel and the number of each message."""
    return [(request.channel_id, request.number) for request in list(receiver.requests)]


@contextmanager
def stopped(process: Worker, _: DroppingProxy) -> Iterator[None]:
    os.kill(process.process_id, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.process_id, signal.SIGCONT)


@contextmanager
def cut_off(_: Worker, network: DroppingProxy) -> Iterator[None]:
    with network.dropping():
        yield


@pytest.mark.parametrize("hanging", [stopped, cut_off])
def test_a_process_that_hangs_does_not_stop_the_writes_of_another(place: Place, hanging) -> None:
    """A process that hangs at a random moment may have the lock of the database. Its transaction then ends."""
    random, lost, slowest = Random(51), [], 0.0

    def create(worker: Worker, until: Event) -> list[str]:
        answers = iter(lambda: until.is_set() or call(worker, "POST", FILES, {"name": "load"}), True)
        return [json.loads(body)["id"] for status, _, body in answers if status == 200]

    with (
        dropping_proxy(place.address) as network,
        workers(place._replace(address=network.address), 1, "t") as (hangs,),
        workers(place, 1, "t") as (other,),
        ThreadPoolExecutor(4) as pool,
    ):
        for _ in range(20 if FULL else 4):
            enough = Event()
            load = [pool.submit(create, hangs, enough) for _ in range(4)]
            enough.wait(random.uniform(0, 0.3))
            with hanging(hangs, network):
                for _ in range(3):
                    begun = time.monotonic()
                    sent(other, "POST", FILES, {"name": "other"})
                    slowest = max(slowest, time.monotonic() - begun)
                assert call(other, "GET", "/readyz")[0] == 200
                enough.set()
            made = [file for future in load for file in future.result()]
            lost += [file for file in made if call(other, "GET", f"{FILES}/{file}")[0] != 200]
            until(lambda: call(hangs, "GET", "/readyz")[0] == 200)
            sent(hangs, "POST", FILES, {"name": "again"})
    print(f"the slowest write of the other process took {slowest:.1f} s")
    assert lost == []


def test_a_transaction_that_stands_still_ends(place: Place) -> None:
    with workers(place, 1, "t") as (worker,), place.opened(shared=True) as own:
        with pytest.raises(OSError, match="ended the connection"), own.monitor.store.exclusive():
            sent(worker, "POST", FILES, {"name": "after the lock has gone"})
        assert own.monitor.problems(PATIENCE) == {}
