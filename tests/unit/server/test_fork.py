import gc
import os
import socket
from random import Random

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.client.upload_journal import UploadJournal
from svc_notebooks.client.uploads.uploads import start_upload, upload
from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.platform import remove_with, temporary_folder
from svc_notebooks.course.evidence import RequestRecorder
from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel
from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.processes import forked, held, living_child
from tests.scripted import Q, Shelf, session_for

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # Python 3.12 warns of threads
]


@pytest.fixture
def service():
    with open_service(seed=0, background=False) as service:
        yield service


@pytest.fixture
def session(service, tmp_path):
    with SocketServer(service) as server:
        token = service.sign_in()
        session = Session(server.base_url, lambda: token, state_dir=tmp_path / "state")
        session.call("GET", "/storage/v3/files")
        yield session
        session.close()


def open_connections(session: Session) -> list:
    return [connection for origin in session._transport._origins.values() for connection in origin.idle]


def open_ports(session: Session) -> list[tuple[str, int]]:
    return [connection.sock.getsockname() for connection in open_connections(session)]


def test_a_child_opens_connections_of_its_own(session):
    before = open_ports(session)

    def ports():
        unused = len(open_connections(session))
        session.call("GET", "/storage/v3/files")
        return unused, open_ports(session)

    unused, theirs = forked(ports)
    session.call("GET", "/storage/v3/files")

    assert unused == 0
    assert len(theirs) == 1
    assert theirs != before
    assert open_ports(session) == before, "the parent's connection was ended"


def test_locks_that_another_thread_holds_are_free_in_the_child(session):
    begun = start_upload(session, bytes(2 * Q), chunk_size=Q)
    manager = session._transport._adapter.poolmanager
    locks = (session.exchanges._lock, session._credential._lock, session.pending._lock, begun._lock)

    def work():
        return begun.status()["status"], upload(session, b"x", name="x", chunk_size=Q)["name"]

    with held(*locks, manager.pools.lock):
        assert forked(work) == (308, "x")


def test_children_draw_other_numbers_than_their_parent_and_each_other():
    session = session_for(Shelf(), random=Random(7))

    drawn = [forked(lambda: session.random.getrandbits(128)) for _ in range(3)]
    drawn.append(session.random.getrandbits(128))

    assert len(set(drawn)) == 4


@pytest.mark.spec("A3-25")
def test_an_unfinished_upload_stays_the_parents(tmp_path):
    """A child that closes its copy, or begins the same upload, takes neither the lock nor the record away."""
    source = tmp_path / "a.bin"
    source.write_bytes(bytes(2 * Q))
    session = session_for(Shelf(), state_dir=tmp_path / "state")
    begun = start_upload(session, source, chunk_size=Q)
    begun.send_chunk()

    def work():
        made = upload(session, source, chunk_size=Q)
        begun.cancel()
        return made["size"], session.pending.claim(session.pending.all()[0].key)

    assert forked(work) == (str(2 * Q), None)
    assert [entry.session_uri for entry in session.pending.all()] == [begun.session_uri]
    assert UploadJournal(tmp_path / "state").claim(session.pending.all()[0].key) is None


def test_nothing_hangs_where_a_thread_of_the_parent_is_in_the_service(service):
    session = Session("https://svc.local", service.sign_in(), handler=service.handle, clock=service.clock)
    recorder = RequestRecorder(service)
    locks = [service._context.store.database.lock, service._journal._lock, service._faults.values._lock]
    locks += [service._rate_limiter._windows._lock, session.exchanges._lock, recorder._lock]

    with held(*locks):
        errors = [
            forked(lambda: session.call("GET", "/storage/v3/files")),
            forked(lambda: recorder.handle(session.request("GET", "/storage/v3/files"))),
        ]

    assert [type(error) for error in errors] == [Unsupported, Unsupported]


def test_a_server_that_stops_is_gone_though_a_child_lives(service):
    server = SocketServer(service).start()
    place = ("127.0.0.1", int(server.base_url.rpartition(":")[2]))
    idle = socket.create_connection(place)
    idle.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
    assert idle.recv(65_536)

    with living_child():
        assert forked(server.stop) is None
        with socket.create_connection(place) as other:  # the child's stop() has ended nothing
            other.sendall(b"GET /x HTTP/1.0\r\nHost: x\r\n\r\n")
            assert other.recv(65_536)
        server.stop()

        while idle.recv(65_536):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place)
    idle.close()


def test_a_folder_is_removed_by_the_process_that_made_it_alone(tmp_path):
    class Owner:
        pass

    owner, folder = Owner(), tmp_path / "made"
    folder.mkdir()
    remove_with(owner, folder)

    def work():
        nonlocal owner
        del owner
        gc.collect()

    with temporary_folder("svc-test-") as other:
        forked(work)
        assert folder.exists()
        del owner
        assert not folder.exists()
        assert other.exists()
    assert not other.exists()


def test_a_child_can_make_a_sandbox_while_a_thread_of_its_parent_makes_one():
    with held(kernel._lock):
        assert forked(lambda: svc.sandbox().session.base_url).startswith("https://")
