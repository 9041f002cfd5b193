import http.client
import ssl
import time
from urllib.parse import urlsplit

import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import BadRequest, NotAllowed, NotFound
from tests.patience import PATIENCE


@pytest.fixture
def file(lab):
    return svc.upload(b"draft", name="draft.txt")


def post(rx, headers, body=b"", path=None, method="POST"):
    """Send a message as any program could."""
    parts = urlsplit(rx.address)
    context = ssl.create_default_context(cadata=rx.ca_pem)
    connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context, timeout=PATIENCE)
    try:
        connection.request(method, path or parts.path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def message_headers(channel, number, state="update", token=None):
    headers = {
        "X-Svc-Channel-ID": channel,
        "X-Svc-Message-Number": str(number),
        "X-Svc-Resource-ID": "r",
        "X-Svc-Resource-State": state,
        "X-Svc-Resource-URI": "https://svc.example/storage/v3/files/f?alt=json",
    }
    return headers | ({"X-Svc-Channel-Token": token} if token else {})


@pytest.mark.spec("A11-01", "A11-01a", "A11-01b")
def test_changes_of_a_file_arrive(lab, rx, file):
    channel = svc.watch_file(file, rx)
    assert channel[["watching", "state"]].values.tolist() == [[file["id"].item(), "active"]]
    svc.update(file, name="final.txt")
    svc.update(file, b"more")
    svc.share(file, "bob@svc.example")
    svc.share(file, "bob@svc.example", role="writer")
    svc.unshare(file, "bob@svc.example")
    svc.trash(file)
    svc.untrash(file)
    svc.delete(file)
    rx.wait_for("remove")

    messages = rx.messages()
    assert " ".join(messages["state"]) == "sync update update add update update trash untrash remove"
    assert messages["changed"].dropna().tolist() == ["properties", "content,properties", "permissions", "permissions"]
    assert messages["verified"].all()
    assert messages["number"].is_monotonic_increasing
    assert messages["channel_id"].unique().tolist() == channel["id"].tolist()


@pytest.mark.spec("A11-02", "A11-02a", "N-08", "N-08b")
def test_retries_are_seen_in_their_order(lab, rx, file):
    rx.answer_with(503, times=3)
    svc.watch_file(file, rx)
    lab.clock.advance("1m")

    assert rx.messages()[["state", "tries", "answers"]].values.tolist() == [["sync", 4, "503, 503, 503, 200"]]
    delivered = svc.notifications()
    assert delivered[["watching", "tries", "outcome"]].values.tolist() == [[file["id"].item(), 4, "delivered"]]
    assert 5 < delivered["waited"].item() < 7
    assert lab.deliveries()["outcome"].tolist() == ["retry", "retry", "retry", "delivered"]


@pytest.mark.spec("A11-02", "A11-02b")
def test_the_receiver_delays_its_responses(lab, rx):
    rx.answer_with(200, times=1, delay=0.3)
    begun = time.monotonic()
    svc.watch_changes(rx)
    lab.deliver()

    assert time.monotonic() - begun >= 0.3
    assert lab.deliveries()["outcome"].tolist() == ["delivered"]


@pytest.mark.spec("A11-01", "A11-01b")
def test_a_wrong_token_is_refused_and_kept(lab, rx):
    channel = svc.watch_changes(rx, token="right")["id"].item()
    rx.wait_for("sync")

    assert post(rx, message_headers(channel, 7, token="wrong")) == 403
    assert post(rx, message_headers(channel, 8)) == 403
    assert post(rx, message_headers(channel, 9, token="right")) == 200
    assert post(rx, message_headers("somebody else's", 2, token="x")) == 200
    verified = rx.messages()["verified"]
    assert verified.dropna().tolist() == [True, False, False, True]
    assert verified.isna().tolist() == [False] * 4 + [True]


@pytest.mark.parametrize(
    "headers, body, path, method, status",
    [
        ({}, b"", None, "POST", 400),
        ({"X-Svc-Channel-ID": "c"}, b"", None, "POST", 400),
        (message_headers("c", "seven"), b"", None, "POST", 400),
        (message_headers("c", 1), b"", "/elsewhere", "POST", 404),
        (message_headers("c", 1), b"", None, "GET", 405),
        (message_headers("c", 1), b"x" * 2_000_000, None, "POST", 413),
    ],
)
def test_a_request_that_is_not_a_message_is_refused(rx, headers, body, path, method, status):
    try:
        assert post(rx, headers, body, path, method) == status
    except (ConnectionError, ssl.SSLError):
        assert status == 413  # it may be cut off before all of it was sent
    assert len(rx.messages()) == 0


def test_headers_are_explained(rx, file):
    svc.watch_file(file, rx)
    rx.wait_for("sync")
    headers = rx.explain()

    assert headers["header"].tolist() == [
        "X-Svc-Channel-ID", "X-Svc-Message-Number", "X-Svc-Resource-ID", "X-Svc-Resource-State",
        "X-Svc-Resource-URI", "X-Svc-Channel-Expiration", "X-Svc-Channel-Token", "Content-Type", "Content-Length",
    ]  # fmt: skip
    assert headers["meaning"].str.len().min() > 10
    with pytest.raises(ValueError, match="1 message"):
        rx.explain(5)


@pytest.mark.spec("N-10", "N-10a")
def test_renewing_overlaps(lab, rx, file):
    old = svc.watch_file(file, rx)
    new = svc.renew_channel(old, expires_in="2h")
    svc.update(file, name="told once.txt")
    lab.deliver()
    assert svc.channels()["state"].tolist() == ["stopped", "active"]
    assert new["resource_id"].tolist() == old["resource_id"].tolist()
    assert (rx.messages()["state"] == "update").sum() == 1

    assert len(svc.renew_channel(new, keep_old=True)) == 1
    svc.update(file, name="told twice.txt")
    lab.deliver()
    assert (rx.messages()["state"] == "update").sum() == 3
    assert svc.stop_channel(svc.channels().iloc[1:])["stopped"].all()


@pytest.mark.spec("D-02", "D-02c")
@pytest.mark.parametrize("call", [svc.stop_channel, svc.renew_channel])
def test_a_channel_is_an_id_a_row_a_frame_or_a_list(lab, rx, call):
    opened = svc.watch_file(svc.upload([b"1", b"2", b"3", b"4", b"5", b"6"]), rx)
    ids = opened["id"].tolist()

    assert [len(call(form)) for form in (ids[0], opened.iloc[1], opened.iloc[2:4], ids[4:])] == [1, 1, 2, 2]
    assert svc.channels()["state"].tolist()[:6] == ["stopped"] * 6


def test_invalid_arguments_are_refused(lab, file):
    with pytest.raises(ValueError, match=r"call receiver\(\) first"):
        svc.watch_file(file)
    with pytest.raises(TypeError, match="receiver must be"):
        svc.watch_file(file, 5)
    with pytest.raises(NotAllowed, match="not registered"):
        svc.watch_file(file, "https://evil.example/in")
    with pytest.raises(BadRequest, match="HTTPS"):
        svc.watch_file(file, "http://evil.example/in")
    with pytest.raises(ValueError, match="expires_in must be a timedelta"):
        svc.watch_changes(svc.receiver(direct=True), expires_in="soon")
    with pytest.raises(ValueError, match="was not opened by this session"):
        svc.stop_channel("unknown")
    with pytest.raises(NotFound):
        svc.watch_file("unknown", svc.receiver(direct=True))


def test_changes_continue_where_they_ended(lab):
    assert len(svc.changes()) == 0
    first = svc.upload(b"1", name="first")
    assert svc.changes()["name"].tolist() == ["first"]
    assert len(svc.changes()) == 0
    svc.delete(first)
    changes = svc.changes()
    assert changes[["file_id", "removed"]].values.tolist() == [[first["id"].item(), True]]
    assert svc.changes("1").equals(changes)
    assert changes.attrs["page_token"] == "3"
    with pytest.raises(BadRequest):
        svc.changes("99")
