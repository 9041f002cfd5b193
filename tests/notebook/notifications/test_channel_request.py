import json
from datetime import UTC, datetime

import pandas as pd
import pytest

import svc_notebooks as svc

OWN = "the-access-token-of-this-session"


@pytest.fixture
def rx(lab):
    with svc.receiver(direct=True) as rx:
        yield rx


@pytest.fixture
def file(lab):
    return svc.upload(b"draft", name="draft.txt")


@pytest.fixture(params=["file", "changes"])
def watch(request, lab, file):
    return (
        (lambda *args, **options: svc.watch_file(file, *args, **options))
        if request.param == "file"
        else (svc.watch_changes)
    )


@pytest.mark.spec("A8-06")
def test_a_token_that_begins_like_a_credential_is_refused(lab, rx, watch):
    before = len(lab.session.exchanges)
    for token in ("Bearer abc", "bearer abc", "BEARER  abc", " Bearer abc", "Bearer\tabc", "bEaReR a b"):
        with pytest.raises(ValueError, match=r"^token begins with 'Bearer '") as refused:
            watch(rx, token=token)
        assert "abc" not in str(refused.value)

    assert len(lab.session.exchanges) == before, "nothing was sent"
    assert len(svc.channels()) == 0


@pytest.mark.spec("A8-06")
@pytest.mark.parametrize("credential", [OWN, lambda: OWN], ids=["a text", "a function"])
def test_the_access_token_of_the_session_is_refused(lab, file, credential):
    lab.service.sign_in(token=OWN)
    session = svc.Session("https://sandbox.svc.example", credential, handler=lab.service.handle)

    for call in (svc.watch_changes, lambda *args, **options: svc.watch_file(file, *args, **options)):
        with pytest.raises(ValueError, match=r"^token is the access token of this session") as refused:
            call("https://hooks.example/in", token=f"{OWN} ", session=session)

    assert OWN not in str(refused.value)
    assert len(session.exchanges) == 0, "nothing was sent"


@pytest.mark.spec("N-05", "N-05b", "A8-01", "A8-01a", "A8-01b", "A8-06")
def test_the_frame_has_the_kind_and_the_masked_token_and_an_empty_token_is_none(lab, rx, watch):
    channel = watch(rx, token="")
    messages = rx.wait_for("sync")
    assert "X-Svc-Channel-Token" not in rx.explain()["header"].tolist()
    assert messages["token"].isna().all()
    assert channel["token"].isna().all()
    assert rx.check_token(None)
    assert messages["verified"].tolist() == [True]

    channel = watch(rx, token="ponds of the north")
    for row in (channel, svc.channels().tail(1)):
        assert row[["kind", "token"]].values.tolist() == [["api#channel", "pond… (18 characters)"]]
    assert {channel.dtypes[name] for name in ("kind", "token")} == {channel.dtypes["id"]}


@pytest.mark.spec("N-07", "N-07a", "N-07b", "N-07c")
def test_the_frames_of_messages_have_type_and_length_of_the_body(lab, rx, file):
    svc.watch_file(file, rx)
    lab.deliver()
    svc.watch_changes(rx)
    lab.deliver()

    for messages in (rx.messages(), svc.notifications()):
        assert messages["content_type"].str.contains("json").all()
        assert messages["content_length"].tolist() == [0, len('{"kind": "svc#changes"}')]
        assert messages.dtypes["content_length"] == "Int64"
    headers = rx.explain(0).set_index("header")["value"]
    assert "json" in headers["Content-Type"]
    assert headers["Content-Length"] == "0"
    assert rx.explain(1).set_index("header")["value"]["Content-Length"] == "23"


MOMENT = datetime(2026, 1, 5, 9, 30, 0, 123_000, UTC)
MILLIS = 1_767_605_400_123


@pytest.mark.spec("A8-07", "A8-07a")
@pytest.mark.parametrize(
    "expiration, expected",
    [
        (MILLIS, MILLIS),
        (str(MILLIS), str(MILLIS)),
        (MOMENT, MILLIS),
        (pd.Timestamp(MOMENT), MILLIS),
        ("2026-01-05T10:30:00.123+01:00", MILLIS),
    ],
    ids=["number", "text of a number", "datetime", "Timestamp", "ISO 8601"],
)
def test_an_expiration_is_sent_to_the_millisecond(rx, watch, expiration, expected):
    channel = watch(rx, expiration=expiration)

    assert json.loads(svc.exchange().request_body)["expiration"] == expected
    assert channel["expiration"].item() == pd.Timestamp(MOMENT)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"expiration": "soon"}, ValueError, "expiration is 'soon'"),
        ({"expiration": "2026-01-05 10:00"}, ValueError, "with its zone"),
        ({"expiration": datetime(2026, 1, 5)}, ValueError, "with its zone"),  # noqa: DTZ001 -- that is the mistake
        ({"expiration": "2026-01-05"}, ValueError, "with its zone"),
        ({"expiration": True}, TypeError, "expiration must be"),
        ({"expiration": 1.5}, TypeError, "expiration must be"),
        ({"expiration": MILLIS, "expires_in": "1h"}, ValueError, "expires_in and expiration"),
        ({"channel_type": 5}, TypeError, "channel_type must be"),
    ],
)
def test_an_invalid_expiration_is_refused_before_it_is_sent(lab, rx, watch, options, error, words):
    before = len(lab.session.exchanges)

    with pytest.raises(error, match=words):
        watch(rx, **options)

    assert len(lab.session.exchanges) == before
