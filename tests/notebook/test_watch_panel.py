"""The notification panel without a browser: controls are set, buttons are pressed, real HTTPS carries the messages."""

import asyncio

import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.watch_controls import ANSWERS


@pytest.fixture
def file(lab):
    return svc.upload(b"draft", name="draft <b>.txt")


@pytest.fixture
def panel(lab, file):
    panel = svc.watch_panel()
    yield panel
    panel.close()


def choose(panel, file):
    panel.controls.what.value = file["id"].item()


def shown(panel):
    return panel.table.value + "".join(line.value for line in panel.lines.children)


def states(panel, lab):
    lab.deliver()
    return panel.result["state"].tolist()


@pytest.mark.spec("W-04a", "W-04b")
def test_a_channel_is_opened_and_its_messages_are_shown(panel, lab, file):
    choose(panel, file)
    panel.watch.click()
    svc.update(file, name="final.txt")

    assert panel.last_error is None
    assert states(panel, lab) == ["sync", "update"]
    assert "2 messages" in panel.table.value
    assert "properties" in panel.lines.children[1].value
    assert "what happened to it" in panel.lines.children[0].value
    assert "X-Svc-Message-Number: 1" in panel.lines.children[0].value
    assert [label for label, _ in panel.chosen.options] == ["draft <b>.txt: active until 05 Jan, 10:00:00"]
    assert "<b>.txt" not in shown(panel), "a file's name is no markup"
    assert repr(panel) == "<WatchPanel: 1 channel, 2 messages>"


@pytest.mark.spec("W-04a")
def test_a_channel_of_a_cell_has_the_name_of_its_file_too(panel, lab, file):
    later = svc.upload(b"more", name="later.txt")
    with svc.receiver() as rx:
        for one in (file, later):
            svc.watch_file(one, rx)
        panel.controls.refresh.click()

    lines = [label for label, _ in panel.chosen.options]
    assert [line.partition(":")[0] for line in lines] == ["draft <b>.txt", "later.txt"]


@pytest.mark.spec("W-04a")
def test_the_change_log_is_chosen_first_and_a_channel_is_stopped(panel, lab, file):
    panel.watch.click()
    assert states(panel, lab) == ["sync"]
    panel.stop.click()
    svc.update(file, name="nobody is told.txt")

    assert states(panel, lab) == ["sync"]
    assert [label for label, _ in panel.chosen.options] == ["the change log: stopped"]
    assert "Stopped" in panel.status.value
    panel.stop.click()
    assert 'role="alert"' in panel.alert.value
    assert "NotFound" in panel.alert.value
    assert panel.status.value == "", "it was stopped by the press before this one"


@pytest.mark.spec("W-04b", "A11-02a")
def test_the_receiver_answers_as_chosen_and_the_clock_brings_the_retries(panel, lab, file):
    panel.controls.answers.value = ANSWERS[1]
    panel.watch.click()
    lab.deliver()
    assert panel.result["answers"].tolist() == ["503"]
    panel.steps[0].click()

    assert panel.result["answers"].tolist() == ["503, 503, 200"]
    assert "It is 09:00:10 UTC" in panel.status.value


@pytest.mark.spec("W-04a")
def test_refresh_shows_which_channels_have_ended(panel, lab):
    panel.watch.click()
    lab.clock.advance("2h")
    panel.controls.refresh.click()

    assert [label for label, _ in panel.chosen.options] == ["the change log: expired"]


@pytest.mark.spec("W-04a")
def test_renewing_opens_another_one(panel, lab):
    panel.watch.click()
    panel.controls.lives.value = "2h"
    panel.renew.click()

    assert [label for label, _ in panel.chosen.options] == [
        "the change log: stopped",
        "the change log: active until 05 Jan, 11:00:00",
    ]
    assert panel.chosen.value == svc.channels()["id"].iloc[-1]


@pytest.mark.spec("W-04a")
def test_the_code_does_what_the_panel_does(panel, lab, file):
    choose(panel, file)
    panel.controls.lives.value = "10m"
    panel.controls.answers.value = ANSWERS[1]

    assert panel.code().splitlines() == [
        "rx = svc.receiver()",
        "rx.answer_with(503, times=2)",
        f"channel = svc.watch_file('{file['id'].item()}', rx, expires_in='10m')",
    ]
    space = {"svc": svc}
    exec(panel.code(), space)
    with space["rx"]:
        assert space["channel"]["watching"].tolist() == file["id"].tolist()


@pytest.mark.spec("W-04b")
def test_a_line_stays_what_it_is_while_others_come(panel, lab, file):
    panel.watch.click()
    lab.deliver()
    (first,) = panel.lines.children
    before = first.value
    for n in range(60):
        svc.update(file, name=f"{n}.txt")
    lab.deliver()

    assert len(panel.result) == 61
    assert len(panel.lines.children) == 50
    assert first.value == before, "the browser leaves it as it was, unfolded or not"
    assert "61 messages; the last 50 are shown" in panel.table.value


def test_pressing_without_a_channel_is_answered_in_words(panel):
    panel.stop.click()

    assert "No channel is chosen: open one with Watch." in panel.alert.value


def test_a_page_without_a_kernel_shows_the_call(panel):
    bundle = panel._repr_mimebundle_()

    assert "svc.watch_changes(rx)" in bundle["text/html"]
    assert bundle["text/plain"] == "<WatchPanel: no channel, no message>"


@pytest.mark.spec("A11-01b", "W-04b")
def test_messages_appear_while_the_kernel_does_something_else(lab, file):
    async def look():
        panel = svc.watch_panel()
        panel.watch.click()
        for _ in range(200):
            if "sync" in shown(panel):
                break
            await asyncio.sleep(0.05)
        found = shown(panel)
        panel.close()
        return found

    assert "sync" in asyncio.run(look())


def test_a_service_elsewhere_is_given_an_address(lab):
    with lab.serve() as server:
        svc.connect(server.base_url, lab.service.sign_in())
        panel = svc.watch_panel()
        assert panel.controls.address.layout.display is None
        panel.watch.click()
        assert "https" in panel.alert.value or "address" in panel.alert.value
        lab.service.register_domain("hooks.example")
        panel.controls.address.value = "https://hooks.example/in"
        panel.watch.click()
        assert len(svc.channels()) == 1
        assert panel.code() == "channel = svc.watch_changes('https://hooks.example/in')"
