from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
import trustme

import svc_notebooks as svc
from svc_notebooks.core.fault_plan import PRESETS
from tests.receivers import revocation_list

Q = 262_144
CONTENT = bytes(range(256)) * 4 * 1024  # 1 MiB


@pytest.mark.spec("X-05", "X-05c")
@pytest.mark.parametrize("preset", [plan.name for plan in PRESETS])
def test_the_client_uploads_and_downloads_under_every_preset(lab, preset):
    presets = svc.fault_presets()
    assert presets["name"].tolist() == [plan.name for plan in PRESETS]
    assert presets["what"].str.len().min() > 10
    with lab.faults(preset):
        file = svc.upload(CONTENT, name="film.mp4", chunk_size=2 * Q)
        assert svc.read(file) == CONTENT

    assert svc.files()["name"].tolist() == ["film.mp4"]


@pytest.mark.spec("X-05", "X-05c")
@pytest.mark.parametrize(
    "faults, expected",
    [
        ({"operation": "files.create", "status": 503}, r"waited for the 1st request of files.create; the most similar"),
        (
            {"operation": "files.list", "nth": 3, "status": 503},
            r"the 3rd request of files.list; there was 1 such request",
        ),
        (
            {"user": "bob@svc.example", "status": 503},
            r"was GET /storage/v3/files \(files.list\), which differs in user",
        ),
        ({"cut_request_after": 10}, r"there was 1 such request, the longest with 0 bytes"),
        ({"cut_response_after": 10_000}, r"there was 1 such request, but the fault was not possible in this request"),
    ],
)
def test_a_step_that_has_not_happened_is_an_error_with_the_reason(lab, faults, expected):
    with pytest.raises(AssertionError, match=expected), lab.faults(**faults):
        svc.files()


@pytest.mark.spec("X-05", "X-05c")
def test_a_session_requests_a_fault_for_its_next_request_only(lab):
    for text in ("nap=1", {"reset": "never"}, 5):
        with pytest.raises((ValueError, TypeError), match=r"must|allowed only|can have only|is not a fault"):
            lab.session.fault(text)
    svc.files()
    assert svc.exchanges()["status"].tolist() == [200]

    lab.session.fault("reset=after")
    chosen = svc.generate_ids(1)["id"][0]
    assert svc.exchanges()["error"].notna().tolist() == [False, True, False]
    lab.session.fault({"status": 503, "headers": {"Retry-After": "9"}})
    svc.upload(b"hello", file_id=chosen)
    assert svc.exchanges()["status"].tolist()[-2:] == [503, 200]


@pytest.mark.parametrize("clock", ["virtual", "system"])
def test_a_clock_is_frozen_moved_and_set_whichever_it_is(clock):
    with svc.sandbox(clock=clock) as lab:
        stands = lab.clock.freeze()
        assert lab.clock.now() == stands
        assert lab.clock.advance("7d") == stands + timedelta(days=7)
        assert lab.clock.set(stands) == stands
        assert lab.clock.now() == stands
        assert lab.clock.set("2030-01-01T09:00:00Z") == lab.clock.now() == datetime(2030, 1, 1, 9, tzinfo=UTC)
        assert lab.clock.set("2030-06-01") == lab.clock.set("today") == datetime(2030, 6, 1, tzinfo=UTC)
        assert lab.clock.set("tomorrow 10:00") == datetime(2030, 6, 2, 10, tzinfo=UTC)
        with pytest.raises(TypeError, match="instant must be a time, not a duration"):
            lab.clock.set(timedelta(days=1))


@pytest.mark.spec("A3-13", "A3-13a", "A8-08", "A8-08b", "T-01", "T-01c")
def test_the_agenda_lists_future_and_past_events(lab):
    upload = svc.start_upload(CONTENT, name="film.mp4", chunk_size=Q)
    upload.send_chunk()
    lab.sign_in("bob@svc.example", expires_in=60)
    channel = svc.watch_changes(svc.receiver(direct=True), expires_in="10m")
    lab.deliver()
    before = lab.clock.now()

    ahead = lab.agenda()
    lab.clock.advance("8d")

    assert ahead["what"].tolist() == ["token expires", "channel expires", "upload expires"]
    assert ahead["subject"].tolist() == ["notebook", channel["id"].item(), "film.mp4"]
    assert ahead["time"].is_monotonic_increasing
    assert lab.agenda().empty
    assert lab.agenda(since=before).equals(ahead)
    assert lab.agenda(since=before, until=ahead["time"][0].isoformat())["what"].tolist() == ["token expires"]


@pytest.mark.spec("N-11")
def test_a_fork_sends_no_notifications(lab):
    rx = svc.receiver()
    svc.watch_changes(rx)
    rx.wait_for("sync")
    svc.create_file(name="queued, perhaps")
    copy = lab.fork()

    svc.create_file(name="only there", session=copy.session)
    copy.clock.advance("1d")

    assert svc.channels(session=copy.session)["state"].tolist() in ([], ["stopped"])
    rx.wait_for("change")
    assert rx.messages()["number"].is_unique
    assert copy.deliveries().empty


def test_a_sandbox_is_saved_and_opened(lab, tmp_path):
    file = svc.upload(CONTENT, name="film.mp4")
    lab.clock.advance("3h")
    path = lab.save(tmp_path / "lesson.svc")
    assert lab.save(path) == path  # unchanged

    with svc.open_sandbox(path) as again:
        assert svc.current_session() is again.session
        assert svc.read(file) == CONTENT
        assert again.clock.now() == lab.clock.now()
    assert svc.current_session() is lab.session


@pytest.mark.spec("A8-05")
def test_a_registered_domain_lets_channels_use_its_addresses_unless_it_is_invalid(lab):
    address = "https://hooks.example:8443/in"
    with pytest.raises(svc.NotAllowed, match=r"lab\.register_domain"):
        svc.watch_changes(address)
    for name in (
        *("", " ", "https://hooks.example/in", "hooks.example:8443", "*", "two words", "a,b", "hooks..example"),
        *("-a.example", "1:2:3", f"{'a' * 64}.example", ".".join(["a"] * 127) + ".example", "hooks.example\n.other"),
        *("x" * 10_000, "a@b.example", "ü" * 10_000, "bücher..example"),
    ):
        with pytest.raises(ValueError, match="is not a domain: expected a host name or IP address alone") as caught:
            lab.register_domain(name)
        assert len(str(caught.value)) < 300
    assert len(lab.domains()) == 0

    assert lab.register_domain(" Hooks.Example. ")["domain"].tolist() == ["hooks.example"]
    assert svc.watch_changes(address)["address"].tolist() == [address]


def test_the_registered_domains_are_a_frame_those_of_the_policy_first():
    with svc.sandbox(policy=svc.Policy(verified_domains=("z.example", "b.example"))) as lab:
        for name in ("Bücher.Example", "b.example", "a.example", "127.0.0.1", "[::1]", "a.example"):
            registered = lab.register_domain(name)
    own = ["127.0.0.1", "::1", "a.example", "xn--bcher-kva.example"]
    assert registered["domain"].tolist() == ["z.example", "b.example", *own]
    with svc.sandbox() as lab:
        assert lab.domains().dtypes.astype(str).to_dict() == registered.dtypes.astype(str).to_dict()
        assert len(lab.domains()) == 0


@pytest.mark.spec("A8-04", "A8-04b")
def test_deliveries_use_the_authorities_and_the_revocation_lists_that_a_cell_adds(lab, tmp_path):
    authority = trustme.CA()
    leaf, files = authority.issue_cert("localhost"), (tmp_path / "certificate.pem", tmp_path / "key.pem")
    leaf.cert_chain_pems[0].write_to_path(str(files[0]))
    leaf.private_key_pem.write_to_path(str(files[1]))

    def last_error():
        with svc.receiver(certificate=files) as rx:
            svc.watch_changes(rx)
            lab.deliver()
        return lab.deliveries()["error"].iloc[-1]

    assert "the certificate authority is not trusted" in last_error()
    lab.trust(authority.cert_pem.bytes().decode())
    assert pd.isna(last_error())
    lab.trust(revocation_list(authority, leaf))
    assert "uses a revoked certificate" in last_error()
