import json

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.dashboard.exchange_panel import WirePanel


@pytest.fixture
def panel(lab):
    svc.create_file(name="notes")
    svc.files()
    svc.generate_ids(1)
    with pytest.raises(svc.NotFound):
        svc.file("nowhere-0" * 3)
    panel = WirePanel()
    panel.saved = []
    panel.browser_download.save = lambda *file: panel.saved.append(file)
    yield panel
    assert panel.last_error is None or panel.expected_error
    panel.close()


@pytest.fixture(autouse=True)
def _errors(monkeypatch):
    monkeypatch.setattr(WirePanel, "expected_error", False, raising=False)


def listed(panel):
    return [row["asked"] for row in panel.rows.rows]


def select(panel, *numbers):
    panel.rows.chosen = [str(n) for n in numbers]


def run(panel):
    """Return the value of the equivalent code."""
    *lines, last = panel.code().splitlines()
    names = {"svc": svc}
    exec("\n".join(lines), names)
    return eval(last, names)


@pytest.mark.parametrize(
    "method, status, path, numbers",
    [
        ("", "", "", [4, 3, 2, 1]),
        ("POST", "", "", [1]),
        ("GET", "2xx", "", [3, 2]),
        ("", "4xx, 308", "", [4]),
        ("", "404", "", [4]),
        ("", "-", "", []),
        ("", "", "GenerateIds", [3]),
        ("", "", "count=1", [3]),
    ],
)
def test_the_list_is_filtered(panel, method, status, path, numbers):
    fields = panel.filter
    fields.method.value, fields.status.value, fields.path.value = method, status, path

    assert [int(text.partition(":")[0]) for text in listed(panel)] == numbers
    assert panel.result["n"].tolist() == numbers[::-1]
    assert run(panel)["n"].tolist() == numbers[::-1]


@pytest.mark.parametrize(
    "view, words",
    [("curl", "curl -X POST"), ("python", "import requests"), ("diagram", "Diagram with the requests before it")],
)
def test_views_have_a_copy_button(panel, view, words):
    select(panel, 1)
    panel.view_format.value = view

    assert words in panel.view.value
    assert ">Copy</button>" in panel.view.value
    assert panel.code() == f"svc.exchange(1).{view}()"


def test_texts_of_others_are_escaped(lab):
    svc.create_file(name="<img src=x onerror=alert(1)>")
    panel = WirePanel()
    select(panel, 1)
    panel.resend_button.click()

    for view in ("http", "curl", "python", "diagram", "difference"):
        panel.view_format.value = view
        assert "<img" not in panel.view.value
    panel.close()


def test_resend_shows_the_new_exchange_and_the_difference(panel):
    select(panel, 3)

    panel.resend_button.click()

    assert panel.rows.ids() == ["5", "3"]
    assert panel.view_format.value == "difference"
    assert panel.code() == "old = svc.exchange(3)\nnew = old.resend()\nsvc.compare_exchanges(old, new)"
    assert svc.exchange(5).url == svc.exchange(3).url


def test_an_edited_request_is_sent(panel):
    select(panel, 1)
    panel.edit_button.click()
    editor = panel.editor
    assert editor.method.value == "POST"
    assert editor.url.value.startswith("/storage/v3/files?fields=name,size")
    assert editor.body.value == '{"name": "notes"}'
    assert "Authorization" not in editor.headers.value

    editor.url.value = "/storage/v3/files?fields=name"
    editor.headers.value += "\nX-Trace: 7"
    editor.body.value = '{"name": "other"}'
    editor.send.click()

    new = svc.exchange()
    assert (new.n, new.status) == (5, 200)
    assert dict(new.request_headers)["X-Trace"] == "7"
    assert json.loads(new.response_body) == {"name": "other"}
    assert "fields=name" in panel.view.value
    assert "+  &quot;name&quot;: &quot;other&quot;" in panel.view.value
    assert editor.edited is None
    assert len(run(panel)) == len(svc.compare_exchanges(svc.exchange(1), new))


def test_an_invalid_header_line_keeps_what_was_typed(panel):
    panel.expected_error = True
    select(panel, 2)
    panel.edit_button.click()
    panel.editor.headers.value = "Accept: */*\nno colon"
    panel.editor.send.click()

    assert "Line 2 of the headers" in panel.alert.value
    assert panel.editor.headers.value == "Accept: */*\nno colon"
    assert len(svc.exchanges()) == 4


def test_a_body_that_was_not_recorded_must_be_entered(lab):
    svc.upload(bytes(5000), name="zeros.bin")
    panel = WirePanel()
    select(panel, 1)
    panel.edit_button.click()
    panel.editor.send.click()

    assert "The body of exchange 1 was not recorded. Enter a body." in panel.alert.value
    assert len(svc.exchanges()) == 1
    panel.close()


def test_a_secret_that_was_removed_from_a_body_must_be_entered(lab):
    svc.watch_changes(svc.receiver(direct=True), token="the-secret-of-both")
    panel = WirePanel()
    select(panel, svc.exchanges(path="watch")["n"].item())
    count = len(svc.exchanges())
    panel.edit_button.click()
    panel.editor.body.value = panel.editor.body.value.replace('{"', '{ "')
    panel.editor.send.click()

    assert "body still has [redacted]" in panel.alert.value
    assert len(svc.exchanges()) == count
    panel.close()


def test_the_listed_exchanges_are_saved_as_an_archive(panel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel.filter.status.value = "4xx"
    panel.har_button.click()

    name, media_type, body = panel.saved.pop()
    assert (name, media_type) == ("exchanges.har", "application/json")
    assert [entry["response"]["status"] for entry in json.loads(body)["log"]["entries"]] == [404]
    assert run(panel)["exchanges"].tolist() == [1]
