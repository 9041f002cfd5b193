import asyncio

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.forms.watch_panel import RESPONSES
from tests.patience import PATIENCE


@pytest.fixture
def file(lab):
    return svc.upload(b"draft", name="draft <b>.txt")


@pytest.fixture
def panel(lab, file):
    panel = svc.watch_panel()
    yield panel
    panel.close()


def choose(panel, file):
    panel.controls.target.value = file["id"].item()


def shown(panel):
    return panel.table.value + "".join(line.value for line in panel.lines.children)


def states(panel):
    panel.receiver.wait_for()  # delivers, and waits for the panel
    return panel.result["state"].tolist()


@pytest.mark.spec("W-04", "W-04a", "W-04b")
def test_a_channel_is_opened_and_its_messages_are_shown(panel, lab, file):
    choose(panel, file)
    panel.watch.click()
    svc.update(file, name="final.txt")

    assert panel.last_error is None
    assert states(panel) == ["sync", "update"]
    assert "2 messages" in panel.table.value
    assert "properties" in panel.lines.children[1].value
    assert "what happened to the resource" in panel.lines.children[0].value
    assert "X-Svc-Message-Number: 1" in panel.lines.children[0].value
    assert [label for label, _ in panel.chosen.options] == ["draft <b>.txt: active until 05 Jan, 10:00:00"]
    assert "<b>.txt" not in shown(panel), "a file's name is no markup"
    assert repr(panel) == "<WatchPanel: 1 channel, 2 messages>"


@pytest.mark.spec("W-04", "W-04a")
def test_the_change_log_is_preselected_and_a_channel_is_renewed_and_stopped(panel, lab, file):
    panel.watch.click()
    assert states(panel) == ["sync"]
    panel.controls.ends.value = "2h"
    panel.renew.click()
    labels = [label for label, _ in panel.chosen.options]
    assert labels == ["the change log: stopped", "the change log: active until 05 Jan, 11:00:00"]
    assert panel.chosen.value == svc.channels()["id"].iloc[-1]

    assert states(panel) == ["sync", "sync"]
    panel.stop.click()
    svc.update(file, name="nobody is told.txt")
    assert states(panel) == ["sync", "sync"]
    assert [label for label, _ in panel.chosen.options] == ["the change log: stopped"] * 2
    assert "Stopped" in panel.status.value
    panel.stop.click()
    assert 'role="alert"' in panel.alert.value
    assert "NotFound" in panel.alert.value
    assert panel.status.value == "", "it was stopped by the press before this one"


@pytest.mark.spec("W-04", "W-04a")
def test_the_code_does_what_the_panel_does(panel, lab, file):
    choose(panel, file)
    panel.controls.ends.value = "10m"
    panel.controls.responses.value = RESPONSES[1][1]

    assert panel.code().splitlines() == [
        "rx = svc.receiver()",
        "rx.answer_with(503, times=2)",
        f"channel = svc.watch_file('{file['id'].item()}', rx, expires_in='10m')",
    ]
    space = {"svc": svc}
    exec(panel.code(), space)
    with space["rx"]:
        assert space["channel"]["watching"].tolist() == file["id"].tolist()


@pytest.mark.spec("W-04", "W-04b")
def test_a_message_keeps_its_widget_when_others_arrive(panel, file):
    panel.watch.click()
    assert states(panel) == ["sync"]
    (first,) = panel.lines.children
    before = first.value
    for n in range(60):
        svc.update(file, name=f"{n}.txt")

    assert len(states(panel)) == 61
    assert len(panel.lines.children) == 50
    assert first.value == before, "the browser leaves it as it was, unfolded or not"
    assert "61 messages; the last 50 are shown" in panel.table.value


@pytest.mark.spec("A11-01", "A11-01b", "W-04", "W-04b")
def test_messages_appear_while_the_kernel_is_busy(lab, file):
    async def look():
        panel = svc.watch_panel()
        panel.watch.click()
        while "sync" not in shown(panel):
            await asyncio.sleep(0.05)
        panel.close()

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


def test_an_external_service_needs_an_address(lab):
    with lab.serve() as server:
        svc.connect(server.base_url, lab.service.sign_in())
        panel = svc.watch_panel()
        assert panel.controls.address.layout.display is None
        panel.watch.click()
        assert panel.controls.address.problems
        assert "No channel was opened" in panel.alert.value
        assert "empty: none<" in panel.controls.token.hint.value
        lab.service.register_domain("hooks.example")
        panel.controls.address.value = "https://hooks.example/in"
        panel.watch.click()
        assert len(svc.channels()) == 1
        assert panel.code() == "channel = svc.watch_changes('https://hooks.example/in')"


TOKEN = "ponds of the north"


@pytest.mark.spec("A8-02", "A8-02c", "A8-06", "A8-07", "A8-07a", "W-04", "W-04a")
@pytest.mark.parametrize("watched", ["file", "changes"])
def test_id_token_and_expiration_are_sent(panel, lab, file, watched):
    if watched == "file":
        choose(panel, file)
    panel.controls.channel_id.value = "my-channel"
    panel.controls.token.value = TOKEN
    panel.controls.ends.value = "2026-01-05T09:30:15Z"
    panel.watch.click()
    panel.receiver.wait_for()  # delivers, and waits for the panel

    assert panel.last_error is None
    opened = svc.channels().iloc[-1]
    assert opened["id"] == "my-channel"
    assert opened["watching"] == (file["id"].item() if watched == "file" else "changes")
    assert opened["expiration"] == pd.Timestamp("2026-01-05 09:30:15", tz="UTC")
    assert panel.receiver.check_token(TOKEN)
    assert panel.result["verified"].tolist() == [True]


@pytest.mark.spec("W-04", "W-04b", "A8-06")
def test_the_token_is_in_no_message_and_in_no_code(panel, lab, file, monkeypatch):
    panel.controls.token.value = TOKEN
    panel.watch.click()
    panel.receiver.wait_for()  # delivers, and waits for the panel

    texts = [panel.code(), panel.code_area.value, shown(panel), repr(panel), str(panel._repr_mimebundle_())]
    texts += [panel.result.to_csv(), svc.exchange().http(), svc.exchange().curl()]
    assert [text for text in texts if TOKEN in text] == []
    assert "X-Svc-Channel-Token: pond… (18 characters)" in shown(panel)
    monkeypatch.setattr("getpass.getpass", lambda prompt: TOKEN)
    space = {"svc": svc}
    exec(panel.code(), space)
    with space["rx"] as rx:
        rx.wait_for("sync", channel=space["channel"]["id"].item())
        assert rx.check_token(TOKEN), "the call that is shown asks for the token, and does the same"


@pytest.mark.spec("A8-02", "A8-02c", "A8-06", "A8-07", "A8-07a", "W-04", "W-04a")
@pytest.mark.parametrize(
    "field, value, words",
    [
        ("channel_id", "x" * 65, "at most 64 characters"),
        ("token", "x" * 257, "at most 256 characters"),
        ("token", "BEARER abc", "token begins with"),
        ("ends", "soon", "expires_in must be"),
        ("ends", "2020-01-01T09:00Z", "expected a time in the future"),
    ],
    ids=["a long id", "a long token", "a credential", "no time", "in the past"],
)
def test_a_problem_is_shown_at_its_field(panel, field, value, words):
    marked = getattr(panel.controls, field)
    marked.value = value
    panel.watch.click()

    assert words in marked.problems[0]
    assert [checked_field.problems != () for checked_field in panel.controls.fields.values()].count(True) == 1
    assert "No channel was opened" in panel.alert.value
    assert words in str(panel.last_error)
    assert svc.channels().empty
    assert "abc" not in panel.alert.value + marked.note.value


@pytest.mark.spec("A8-02", "A8-02c", "W-04", "W-04a")
def test_an_error_of_the_service_is_shown_at_its_field(panel):
    panel.controls.channel_id.value = "once"
    panel.watch.click()
    panel.watch.click()
    assert "not unique" in panel.controls.channel_id.problems[0]
    assert "No channel was opened" in panel.alert.value

    panel.controls.channel_id.value = ""
    assert panel.controls.channel_id.problems == ()
    panel.watch.click()
    assert panel.alert.value == ""
    assert len(svc.channels()) == 2
