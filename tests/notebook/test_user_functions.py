"""Functions of users that this package calls: errors, slow functions and wrong arguments change no delivery."""

from threading import Event

import pytest

import svc_notebooks as svc
from tests.patience import PATIENCE


def fail(*_):
    raise LookupError("a mistake of the user")


@pytest.fixture(params=[True, False], ids=["direct", "https"])
def rx(request, lab):
    with svc.receiver(direct=request.param) as rx:
        yield rx


def test_a_listener_gets_each_message_as_a_row_of_notifications(lab, rx):
    messages, calls = [], []
    rx.listen(messages.append)
    stop = rx.listen(lambda: calls.append("without an argument"))
    file = svc.upload(b"x")
    svc.watch_file(file, rx)
    rx.wait_for("sync")
    stop()
    svc.update(file, description="changed")
    rx.wait_for("update")

    assert [list(message.index) for message in messages] == [list(svc.notifications().columns)] * 2
    assert [message["state"] for message in messages] == ["sync", "update"]
    assert [message["watching"] for message in messages] == file["id"].tolist() * 2
    assert len(calls) == 1


def test_a_listener_that_fails_shows_its_traceback_and_delivers(lab, rx, capsys):
    rx.listen(fail)
    svc.watch_changes(rx)
    rx.wait_for("sync")
    svc.notifications()

    shown = capsys.readouterr().err
    assert "in fail" in shown
    assert "a mistake of the user" in shown
    assert "inbox.py" not in shown
    assert lab.deliveries()[["status", "outcome"]].values.tolist() == [[200, "delivered"]]


def test_the_response_does_not_wait_for_a_slow_listener(lab, rx):
    is_free, seen = Event(), []

    def wait(message):
        assert is_free.wait(PATIENCE)
        seen.append(message["number"])

    rx.listen(wait)
    svc.watch_changes(rx)
    svc.upload(b"x")
    lab.deliver()
    outcomes, before = lab.deliveries()["outcome"].tolist(), list(seen)
    is_free.set()
    rx.wait_for("change")

    assert before == []
    assert outcomes == ["delivered"] * 2
    assert seen == svc.notifications()["number"].tolist()


def test_a_progress_function_that_fails_is_shown_once_and_the_transfer_goes_on(lab, capsys):
    sizes = [
        svc.upload(bytes(3_000_000), chunk_size=1_048_576, upload_type="resumable", progress=fail)["size"].item(),
        svc.start_upload(b"four").run(progress=fail)["size"].item(),
        *svc.upload([b"1", b"22"], name=["a", "b"], workers=2, progress=fail)["size"],
    ]

    assert sizes == [3_000_000, 4, 1, 2]
    assert capsys.readouterr().err.count("LookupError: a mistake of the user") == 3


class NoWorkers:
    def submit(self):
        """Take no function."""


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: svc.upload(b"x", progress=lambda: None), "progress must be a function of (done, total), but <lambda>"),
        (lambda: svc.upload([b"x"], executor=NoWorkers()), "executor.submit must be a function of (function, *"),
        (lambda: svc.connect("http://localhost:1", token=str.join), "token must be a function without arguments, but"),
        (lambda: svc.receiver(direct=True).listen(divmod), "listener must be a function of (message), but divmod"),
        (lambda: svc.receiver(direct=True).listen("print"), "listener must be a function of the message, not str"),
    ],
)
def test_a_function_with_other_arguments_is_refused_before_anything_is_sent(lab, call, message):
    with pytest.raises(TypeError) as raised:
        call()

    assert str(raised.value).startswith(message)
    assert svc.files().empty
