from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from svc_notebooks.client.uploads.uploads import resume_upload, start_upload
from svc_notebooks.core.errors.errors import ContentMismatch, SessionExpired
from svc_notebooks.core.http.messages import Response
from tests.patience import PATIENCE
from tests.scripted import Q, Shelf, Stream, envelope, session_for

CONTENT = bytes(range(256)) * (2 * Q // 256) + b"end"


def test_a_cancel_ends_the_run_of_another_thread_after_its_step():
    shelf = Shelf()
    begun = start_upload(session_for(shelf), CONTENT, chunk_size=Q)

    def cancelled_meanwhile(shelf, request):
        cancels.append(pool.submit(begun.cancel))
        assert begun._cancelling.wait(PATIENCE)
        return shelf.act(request)

    cancels = []
    shelf.faults["PUT"] = [cancelled_meanwhile]
    with ThreadPoolExecutor(1) as pool, pytest.raises(SessionExpired, match="Another thread"):
        begun.run()

    assert cancels[0].result()["status"] == 499
    assert [row["action"] for row in begun.history] == ["begin", "send", "cancel"]
    assert shelf.files == {}


def test_an_upload_whose_session_another_upload_uses_is_an_error():
    session = session_for(Shelf())
    first = start_upload(session, CONTENT, chunk_size=Q)
    first.send_chunk()
    second = resume_upload(session, str(first.session_uri), CONTENT, chunk_size=Q)
    second.send_chunk()

    with pytest.raises(ContentMismatch) as caught:
        first.status()

    assert str(caught.value) == (
        f"The service reports more stored bytes (bytes=0-{2 * Q - 1}) than this upload has sent: another thread or"
        " process sends to the same upload session, or the report is wrong. Wait for the other upload and check the"
        " file, or start a new upload."
    )
    assert second.run()["size"] == str(len(CONTENT))
    assert first.resume() == second.file


def test_a_thread_waits_for_the_current_step_of_another():
    """The status query of a second thread is sent after the chunk, not in the middle of it."""
    shelf, inside = Shelf(), Event()
    begun = start_upload(session_for(shelf), Stream(CONTENT), size=len(CONTENT), chunk_size=Q)

    def ask():
        inside.set()
        return begun.status()

    def meanwhile(shelf, request):
        questions.append(pool.submit(ask))
        assert inside.wait(PATIENCE)
        return shelf.act(request)

    questions = []
    shelf.faults["PUT"] = [meanwhile]
    with ThreadPoolExecutor(1) as pool:
        begun.send_chunk()
        assert questions[0].result(PATIENCE)["stored"] == Q

    assert [row["action"] for row in begun.history] == ["begin", "send", "ask"]


def test_a_token_that_another_thread_has_renewed_is_used():
    barrier, tokens = Barrier(2), []

    def token():
        tokens.append(f"token{len(tokens)}")
        return tokens[-1]

    def handle(request):
        if request.headers["Authorization"] == "Bearer token0":
            barrier.wait(PATIENCE)
            return Response(401, body=envelope(401, "authError"))
        return Response(200, body=b'{"id": "x"}')

    session = session_for(handle, token=token)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(session.call, ["GET"] * 2, ["/x"] * 2)) == [{"id": "x"}] * 2
    assert tokens == ["token0", "token1"]
